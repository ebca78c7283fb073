import { Misunderstood, Unreachable } from "./errors.js";
import type { Notification } from "./protocol.js";
import { pause, waits } from "./waiting.js";

/** A notification; `cursor` is where to go on (`after`) once it has been dealt with. */
export interface Notice {
  readonly kind: "notice";
  readonly cursor: number;
  readonly body: Notification;
}

/** The feed no longer reaches back to where the client was: what lay between is gone. */
export interface Missed {
  readonly kind: "missed";
  readonly cursor: number;
  readonly after: number;
  readonly oldest: number;
}

/** Where a feed that was asked for from now on begins. */
interface Begun {
  readonly kind: "begun";
  readonly cursor: number;
}

/** A WebSocket class, such as that of the package `ws`. */
export type SocketConstructor = new (url: URL, protocols: string[]) => WebSocket;

export interface NotificationOptions {
  /** Begin behind this cursor; left out: from now on. */
  readonly after?: number;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
  /** For Node 20 without `--experimental-websocket`. */
  readonly webSocket?: SocketConstructor;
}

const SUBPROTOCOL = "smp";

/**
 * Notices as they come, for ever. The first connection must succeed; later ones are made again from the last cursor.
 *
 * @throws Unreachable The first connection fails, or this platform has no WebSocket.
 */
export async function* listen(
  url: URL,
  token: string | undefined,
  options: NotificationOptions,
): AsyncGenerator<Notice | Missed, void, undefined> {
  const Socket = options.webSocket ?? (globalThis.WebSocket as SocketConstructor | undefined);
  if (Socket === undefined)
    throw new Unreachable("this platform has no WebSocket: run node --experimental-websocket, or pass one as webSocket");
  let cursor = options.after;
  let cameIn = false;
  let delays = waits(Infinity);
  while (!options.signal?.aborted) {
    url.searchParams.set("after", cursor === undefined ? "now" : String(cursor));
    const socket = new Socket(url, protocolsOf(token));
    try {
      for await (const text of framesOf(socket, options.signal)) {
        if (text === OPENED) {
          cameIn = true;
          delays = waits(Infinity);
          continue;
        }
        const found = readFrame(text);
        if (found === undefined) continue;
        cursor = found.cursor;
        if (found.kind !== "begun") yield found;
      }
    } finally {
      socket.close();
    }
    if (options.signal?.aborted) return;
    if (!cameIn) throw new Unreachable(`no answer from ${url.href}; is the server running, and the token right?`);
    await pause(delays.next().value ?? 0, options.signal);
  }
}

/** What a text frame says; undefined for what this version does not know. */
export function readFrame(text: string): Notice | Missed | Begun | undefined {
  let frame: { method?: string; params?: Record<string, unknown> } | null;
  try {
    frame = JSON.parse(text) as typeof frame;
  } catch {
    throw new Misunderstood("not a notification: no JSON");
  }
  const params = frame?.params;
  if (params === undefined) return undefined;
  const { cursor, after, oldest } = params;
  if (frame?.method === "smp/notifications/begun" && typeof cursor === "number") return { kind: "begun", cursor };
  if (frame?.method === "smp/notifications/missed" && typeof after === "number" && typeof oldest === "number")
    return { kind: "missed", cursor: oldest - 1, after, oldest };
  if (frame?.method === "smp/notification" && typeof cursor === "number")
    return { kind: "notice", cursor, body: params as unknown as Notification };
  return undefined;
}

/** A browser cannot send a header with a WebSocket: the token travels as an offered subprotocol. */
function protocolsOf(token: string | undefined): string[] {
  if (token === undefined) return [SUBPROTOCOL];
  const packed = btoa(token).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return [SUBPROTOCOL, `${SUBPROTOCOL}.bearer.${packed}`];
}

const OPENED = Symbol("opened");

/** Text frames of a socket, led by OPENED; ends when the connection does, or the signal is aborted. */
async function* framesOf(
  socket: WebSocket,
  signal: AbortSignal | undefined,
): AsyncGenerator<string | typeof OPENED, void, undefined> {
  const waiting: (string | typeof OPENED)[] = [];
  let ended = false;
  let wake: () => void = () => undefined;
  const add = (frame: string | typeof OPENED): void => {
    waiting.push(frame);
    wake();
  };
  const end = (): void => {
    ended = true;
    wake();
  };
  socket.addEventListener("open", () => add(OPENED));
  socket.addEventListener("message", (event: MessageEvent) => {
    if (typeof event.data === "string") add(event.data);
  });
  socket.addEventListener("close", end);
  socket.addEventListener("error", end);
  signal?.addEventListener("abort", end);
  try {
    for (;;) {
      const frame = waiting.shift();
      if (frame !== undefined) yield frame;
      else if (ended || signal?.aborted) return;
      else
        await new Promise<void>((done) => {
          wake = done;
        });
    }
  } finally {
    signal?.removeEventListener("abort", end);
  }
}
