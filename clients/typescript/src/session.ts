import { CallFailed } from "./errors.js";
import { Calls, OF_A_SESSION, type CloseResult, type Methods, type OpenParams, type SafetyOpenResult } from "./protocol.js";

/** What a session is opened with; `mode` is `write` when left out. */
export type SessionOptions = Omit<OpenParams, "mode"> & Partial<Pick<OpenParams, "mode">>;

const ENDED = new Set([-32003, -32004]);

/** An open session: every call gets its id where it takes one. */
export class Session extends Calls<"session_id"> {
  private ending: Promise<CloseResult> | undefined;

  constructor(
    private readonly client: Calls,
    readonly opened: SafetyOpenResult,
  ) {
    super();
  }

  get id(): string {
    return this.opened.session_id;
  }

  override call<M extends keyof Methods>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]> {
    return this.client.call(method, OF_A_SESSION.has(method) ? { session_id: this.id, ...params } : params);
  }

  /** End it; a second call answers what the first one did. */
  close(status: "completed" | "aborted" | "rolled_back" = "completed"): Promise<CloseResult> {
    this.ending ??= this.sessionClose({ session_id: this.id, status });
    return this.ending;
  }

  /** End it, unless something in it (a hand-over, `sessionClose`) has done so. */
  async closeUnlessEnded(): Promise<void> {
    try {
      await this.close();
    } catch (error) {
      if (!(error instanceof CallFailed && ENDED.has(error.code))) throw error;
    }
  }
}
