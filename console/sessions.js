// @ts-check
/** Sessions as they run: who, where in the nine steps, what is locked, and each step of one. */
import { figuresList, h, moment, nodeLink, nodeList, replace, table } from "./dom.js";
import { evidenceParts } from "./evidence.js";
import { call } from "./rpc.js";

const PHASES = ["open", "spawn", "guard", "dryrun", "execute", "verify", "update", "handoff", "close"];
/**
 * What of the audit shows that a phase was reached.
 * @type {Record<string, string>}
 */
const METHODS = { open: "smp/session/open", spawn: "smp/sandbox/spawn", guard: "smp/guard/check", dryrun: "smp/dryrun", execute: "smp/sandbox/execute", verify: "smp/verify/integrity", update: "smp/update", handoff: "smp/handoff/pr", close: "smp/session/close" };
/** @type {Record<string, string>} */
const TONE = { active: "warn", completed: "good", aborted: "bad", rolled_back: "quiet", expired: "bad" };

/** @returns {Promise<import("./main.js").Page>} */
export async function sessionsPage() {
  const body = h("div");
  const draw = async () => {
    const found = await call("smp/operations/sessions", { limit: 200 });
    const active = found.sessions.filter((one) => one.status === "active");
    const locks = active.flatMap((one) => one.locks.map((lock) => [nodeLink(lock.file), sessionLink(one), one.agent_id, moment(lock.expires_at)]));
    replace(
      body,
      h("h1", {}, "Sessions"),
      figuresList({ open: active.length, "of all": found.total, "files locked": locks.length, boxes: active.filter((one) => one.sandbox_id !== null).length }),
      found.runs_known ? null : h("p", { class: "quiet" }, "Temporal does not answer, so that no phase of a durable run is shown; ", h("code", {}, "smp temporal start"), " starts one here."),
      table(["session", "agent", "task", "status", "phase", "opened", "expires or ended"], found.sessions.map((one) => [
        sessionLink(one), one.agent_id, one.task, h("span", { class: `tag ${TONE[one.status] ?? ""}` }, one.status.replaceAll("_", " ")), one.phase ?? "", moment(one.opened_at), moment(one.closed_at ?? one.expires_at)]), "No session was ever opened here."),
      h("h2", {}, "Locks"), table(["file", "session", "agent", "until"], locks, "No file is locked."));
  };
  await draw();
  return { title: "Sessions", body, moved: draw };
}

/** @param {import("../clients/typescript/src/protocol.js").SessionResult} session */
function sessionLink(session) {
  return h("a", { href: `#/session/${encodeURIComponent(session.session_id)}`, class: "code" }, session.session_id);
}

/** Where the change went: a link for what a browser can open. @param {string | null} address */
function place(address) {
  if (address === null) return null;
  return /^https?:/.test(address) ? h("a", { href: address }, "pull request") : h("span", {}, `pushed to ${address}`);
}

/** @param {string} id @returns {Promise<import("./main.js").Page>} */
export async function sessionPage(id) {
  const body = h("div");
  const draw = async () => {
    const [{ session, steps }, evidence] = await Promise.all([call("smp/operations/steps", { session_id: id }), call("smp/operations/evidence", { session_id: id })]);
    const taken = new Set(steps.map((step) => step.method));
    replace(
      body,
      h("h1", {}, session.task),
      h("p", { class: "quiet" }, `${session.session_id} · ${session.agent_id} · ${session.mode}, ${session.concurrency} · at ${(session.commit_sha ?? "no commit").slice(0, 10)}`,
        evidence.run_page === null ? null : " · ", evidence.run_page === null ? null : h("a", { href: evidence.run_page }, "its run in Temporal"),
        evidence.pull_request === null ? null : " · ", place(evidence.pull_request)),
      h("ol", { class: "steps", "aria-label": "Steps of a session" }, PHASES.map((phase) => {
        const done = taken.has(METHODS[phase]);
        return h("li", { class: done ? "done" : "" }, phase, h("span", { hidden: true }, done ? " done" : " not done"));
      })),
      figuresList({ status: session.status.replaceAll("_", " "), phase: session.phase ?? "—", box: session.sandbox_id ?? "none", opened: moment(session.opened_at), [session.closed_at === null ? "expires" : "ended"]: moment(session.closed_at ?? session.expires_at) }),
      h("h2", {}, "May write"), nodeList(session.scope, "Nothing."),
      ...evidenceParts(evidence),
      h("h2", {}, "Audit"),
      table(["#", "when", "step", "on", "verdict", "more"], steps.map((step) => [step.seq, moment(step.at), h("code", {}, step.method), h("span", { class: "code" }, step.target ?? step.files.join(", ")), step.result ?? "", step.detail ?? ""]), "No step yet."));
  };
  await draw();
  return { title: id, body, moved: draw };
}
