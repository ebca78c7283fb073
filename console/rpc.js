// @ts-check
/** The server: calls over `rpc`, notices over `ws`. A token, where one is wanted, is asked for once a tab. */
import { byId } from "./dom.js";

/** @typedef {import("../clients/typescript/src/protocol.js").Methods} Methods */
/** @typedef {import("../clients/typescript/src/protocol.js").Notification & {cursor: number}} Notice */

const KEPT = "smp.token";
let number = 0;
/** @type {Promise<void> | null} */
let asking = null;

/** What the server refused; `code` as in docs/protocol.md. */
export class CallFailed extends Error {
  /** @param {number} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/**
 * Call a method.
 * @template {keyof Methods} M
 * @param {M} method
 * @param {Methods[M]["params"]} params
 * @returns {Promise<Methods[M]["result"]>}
 */
export async function call(method, params) {
  const token = sessionStorage.getItem(KEPT);
  const reply = await fetch("rpc", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(token === null ? {} : { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ jsonrpc: "2.0", id: ++number, method, params }),
  }).catch(() => {
    throw new Error("the server does not answer; is smp serve still running?");
  });
  if (reply.status === 401) {
    await ask();
    return call(method, params);
  }
  if (!reply.ok) throw new Error((await reply.text()).trim() || `HTTP ${reply.status}`);
  const answer = await reply.json();
  if (answer.error !== undefined) throw new CallFailed(answer.error.code, answer.error.message);
  return answer.result;
}

/** Ask the reader for a token; several calls that are refused at once ask once. */
function ask() {
  asking ??= new Promise((done) => {
    const dialog = /** @type {HTMLDialogElement} */ (byId("token"));
    const field = /** @type {HTMLInputElement} */ (dialog.querySelector("input"));
    dialog.addEventListener("close", () => {
      sessionStorage.setItem(KEPT, field.value);
      field.value = "";
      asking = null;
      done();
    }, { once: true });
    dialog.showModal();
  });
  return asking;
}

/**
 * Notices, for as long as the page is open; a connection that breaks is made again where it was.
 * @param {(notice: Notice) => void} told
 * @param {(connected: boolean) => void} changed
 */
export function listen(told, changed) {
  let cursor = "now";
  let wait = 250;
  const connect = () => {
    const url = new URL("ws", location.href);
    url.protocol = url.protocol.replace("http", "ws");
    url.searchParams.set("after", cursor);
    const token = sessionStorage.getItem(KEPT);
    const packed = token === null ? [] : [`smp.bearer.${btoa(token).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`];
    const socket = new WebSocket(url, ["smp", ...packed]);
    socket.addEventListener("open", () => {
      wait = 250;
      changed(true);
    });
    socket.addEventListener("message", (event) => {
      const { method, params } = JSON.parse(event.data);
      if (method === "smp/notifications/missed") cursor = String(params.oldest - 1);
      else if (params?.cursor !== undefined) cursor = String(params.cursor);
      if (method === "smp/notification") told(params);
    });
    socket.addEventListener("close", () => {
      changed(false);
      setTimeout(connect, wait);
      wait = Math.min(wait * 2, 10_000);
    });
  };
  connect();
}
