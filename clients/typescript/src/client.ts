import { CallFailed, Misunderstood, Unreachable } from "./errors.js";
import { listen, type Missed, type Notice, type NotificationOptions } from "./notifications.js";
import { Calls, READING, type Methods } from "./protocol.js";
import { Session, type SessionOptions } from "./session.js";
import { pause, waits } from "./waiting.js";

/** How a client reaches its server. */
export interface ClientOptions {
  /** The server's token, or one that `smp token` issued to an agent. */
  readonly token?: string;
  /** How long a call may take; 900,000 when left out: a suite in a sandbox takes minutes. */
  readonly timeoutMs?: number;
  /** Instead of the platform's own. */
  readonly fetch?: typeof fetch;
}

interface ErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: Record<string, unknown>;
}

const ATTEMPTS = 5;
const TIMEOUT_MS = 900_000;

/** The server did not take the call: it stops, or is not there. */
class NotTaken extends Error {}

/** One repository's server. */
export class Client extends Calls {
  private readonly base: URL;
  private readonly options: ClientOptions;
  private number = 0;

  /** @param url Such as `http://127.0.0.1:8420`. */
  constructor(url: string | URL, options: ClientOptions = {}) {
    super();
    this.base = new URL(url);
    if (this.base.protocol !== "http:" && this.base.protocol !== "https:")
      throw new TypeError(`${String(url)} is no address of a server; give one like http://127.0.0.1:8420`);
    if (!this.base.pathname.endsWith("/")) this.base.pathname += "/";
    this.options = options;
  }

  /**
   * Call any method. What only reads is sent again when the connection breaks, five times at most; what writes never is.
   *
   * @throws CallFailed, Unreachable, Misunderstood
   */
  async call<M extends keyof Methods>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]> {
    const request = JSON.stringify({ jsonrpc: "2.0", id: ++this.number, method, params });
    const delays = waits(ATTEMPTS - 1);
    for (;;) {
      try {
        return (await this.send(request)) as Methods[M]["result"];
      } catch (error) {
        if (!(error instanceof NotTaken)) throw error;
        const delay = READING.has(method) ? delays.next() : { done: true as const, value: undefined };
        if (delay.done) throw new Unreachable(`no answer from ${this.base.href}: ${error.message}; is it running (smp serve)?`);
        await pause(delay.value);
      }
    }
  }

  private async send(body: string): Promise<unknown> {
    const token = this.options.token;
    let answer: Response;
    let text: string;
    try {
      answer = await (this.options.fetch ?? fetch)(new URL("rpc", this.base), {
        method: "POST",
        body,
        headers: { "content-type": "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
        signal: AbortSignal.timeout(this.options.timeoutMs ?? TIMEOUT_MS),
      });
      text = await answer.text();
    } catch (error) {
      if (error instanceof DOMException && error.name === "TimeoutError")
        throw new Unreachable(`no answer from ${this.base.href} within the time that a call may take`);
      throw new NotTaken(reasonOf(error));
    }
    if (answer.status === 503) throw new NotTaken(text.trim());
    if (answer.status === 401 || answer.status === 403) throw new CallFailed(-32015, text.trim());
    if (answer.status === 413) throw new CallFailed(-32016, text.trim());
    return resultOf(answer.status, text);
  }

  /** Open a session, hand it to `work`, and close it: completed, or aborted when `work` throws. */
  async session<T>(options: SessionOptions, work: (session: Session) => Promise<T>): Promise<T> {
    const opened = await this.sessionOpen({ mode: "write", ...options });
    const session = new Session(this, opened);
    let result: T;
    try {
      result = await work(session);
    } catch (error) {
      await session.close("aborted").catch(() => undefined); // what went wrong in the block matters more
      throw error;
    }
    await session.closeUnlessEnded();
    return result;
  }

  /** What the server tells on its own, from now on or from behind a cursor; a connection that breaks is made again. */
  notifications(options: NotificationOptions = {}): AsyncGenerator<Notice | Missed, void, undefined> {
    const url = new URL("ws", this.base);
    url.protocol = url.protocol.replace("http", "ws");
    return listen(url, this.options.token, options);
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error && cause.message) return cause.message;
  return error instanceof Error ? error.message : String(error);
}

function resultOf(status: number, text: string): unknown {
  let answer: { result?: unknown; error?: ErrorObject };
  try {
    answer = JSON.parse(text) as typeof answer;
  } catch {
    throw new Misunderstood(`HTTP ${status} and no JSON; is this an SMP server?`);
  }
  if (typeof answer === "object" && answer !== null) {
    if (answer.error !== undefined) throw new CallFailed(answer.error.code, answer.error.message, answer.error.data);
    if (answer.result !== undefined) return answer.result;
  }
  throw new Misunderstood(`HTTP ${status} and an answer without result and error; is this an SMP server?`);
}
