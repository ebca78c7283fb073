// @ts-check
/** Swarms: which there are, and the board of one. */
import { figuresList, h, moment, replace, table } from "./dom.js";
import { call } from "./rpc.js";

/** @type {Record<string, string>} */
const TONE = { completed: "good", running: "warn", waiting: "quiet", conflicts: "warn", partial: "warn" };
const EVERY_MS = 3000;

/** @returns {Promise<import("./main.js").Page>} */
export async function swarmsPage() {
  const found = await call("smp/operations/swarms", { limit: 200 });
  const body = h("div", {}, h("h1", {}, "Swarms"),
    table(["swarm", "run", "started", "ended", ""], found.swarms.map((one) => [
      h("a", { href: `#/swarm/${encodeURIComponent(one.swarm_id)}`, class: "code" }, one.swarm_id), tag(one.status), moment(one.started_at), one.closed_at === null ? "" : moment(one.closed_at), h("a", { href: one.run_page }, "in Temporal")]),
    "No swarm ran here yet; smp swarm run FILE starts one."));
  return { title: "Swarms", body };
}

/** @param {string} id @returns {Promise<import("./main.js").Page>} */
export async function swarmPage(id) {
  const body = h("div");
  let timer = 0;
  const draw = async () => {
    clearTimeout(timer);
    const swarm = await call("smp/operations/swarm", { swarm_id: id });
    const names = new Map(swarm.rows.map((row) => [row.session_id, row.name]));
    const done = swarm.rows.filter((row) => row.status === "completed").length;
    replace(body,
      h("h1", {}, "Swarm"), h("p", { class: "quiet" }, id, " · ", h("a", { href: swarm.run_page }, "its run in Temporal")),
      figuresList({ status: swarm.status, tasks: swarm.rows.length, completed: done, "sent back": swarm.rows.reduce((sum, row) => sum + row.loops, 0), "files that clash": swarm.conflicts.length }),
      h("ol", { class: "board", "aria-label": "Tasks" }, swarm.rows.map((row) => h("li", { class: TONE[row.status] ?? "bad" },
        h("strong", {}, row.name), row.known ? h("a", { href: `#/session/${encodeURIComponent(row.session_id)}`, class: "code" }, row.session_id) : h("span", { class: "code quiet" }, row.session_id),
        h("span", {}, row.status === "running" && row.phase !== null ? `running: ${row.phase}` : row.status.replaceAll("_", " "), row.reason === "" ? "" : ` (${row.reason.replaceAll("_", " ")})`, row.loops > 0 ? `, sent back ${row.loops}×` : ""),
        row.branch === null ? null : h("span", { class: "code" }, row.branch)))),
      swarm.merge_order.length === 0 ? null : h("h2", {}, "Merge in this order"),
      swarm.merge_order.length === 0 ? null : h("ol", {}, swarm.merge_order.map((session) => h("li", {}, names.get(session) ?? session))),
      swarm.phase !== "closed" ? null : h("h2", {}, "Files that clash"),
      swarm.phase !== "closed" ? null : table(["file", "changed by"], swarm.conflicts.map((one) => [h("span", { class: "code" }, one.file), one.sessions.map((session) => names.get(session) ?? session).join(", ")]), "Every branch merges with every other."));
    if (swarm.phase !== "closed") timer = setTimeout(() => void draw(), EVERY_MS);
  };
  await draw();
  return { title: id, body, moved: draw, left: () => clearTimeout(timer) };
}

/** @param {string} status */
function tag(status) {
  return h("span", { class: `tag ${TONE[status] ?? "bad"}` }, status.replaceAll("_", " "));
}
