/** Client of SMP: typed calls over HTTP, notifications over WebSocket, in Node 20 and in browsers. */
export { Client, type ClientOptions } from "./client.js";
export { CallFailed, ClientError, Misunderstood, Unreachable } from "./errors.js";
export { type Missed, type Notice, type NotificationOptions, type SocketConstructor } from "./notifications.js";
export { Session, type SessionOptions } from "./session.js";
export * from "./protocol.js";
