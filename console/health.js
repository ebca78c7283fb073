// @ts-check
/** How good the memory is: freshness, coverage of the metadata, what is not linked, where it is hot. */
import { figuresList, h, nodeLink, nodeList, replace, table } from "./dom.js";
import { call } from "./rpc.js";

/** @returns {Promise<import("./main.js").Page>} */
export async function healthPage() {
  const body = h("div");
  const draw = async () => {
    const [status, report, hot] = await Promise.all([call("smp/enrich/status", { scope: "full" }), call("smp/linker/report", {}), call("smp/telemetry/hot", { min_changes: 1, min_callers: 1 })]);
    const state = report.index_state;
    replace(
      body,
      h("h1", {}, "Health"),
      figuresList({ commit: (state?.commit ?? "none").slice(0, 10), "dirty files": state?.dirty_count ?? 0, "stale files": state?.stale_count ?? 0, definitions: status.total_nodes.toLocaleString(), "with a docstring": status.has_docstring.toLocaleString(), "calls out of the project": report.external_count.toLocaleString(), "calls not resolved": report.unresolved_count.toLocaleString() }),
      h("div", { class: "columns" },
        h("section", {}, h("h2", {}, "Changed since the commit"), nodeList(state?.dirty ?? [], "Nothing.")),
        h("section", {}, h("h2", {}, "Changed since they were indexed"), nodeList(state?.stale ?? [], "Nothing: every answer is of the present text.")),
        h("section", {}, h("h2", {}, "Why calls are not resolved"), table(["reason", "#calls"], Object.entries(count(report.unresolved.map((one) => one.reason.replaceAll("_", " ")))), "All are.")),
        report.not_linked.length === 0 ? null : h("section", {}, h("h2", {}, "Languages of which only definitions are known"), table(["language", "#files"], report.not_linked.map((one) => [one.language, one.files]), ""))),
      h("h2", {}, "Hot: changes often, and much depends on it"),
      table(["node", "#heat", "#changes", "#callers"], hot.hot_nodes.slice(0, 40).map((one) => [nodeLink(one.node_id), one.heat_score, one.changes_in_window, one.caller_count]), "Nothing."));
  };
  await draw();
  return { title: "Health", body, moved: draw };
}

/** @param {readonly string[]} words @returns {Record<string, number>} */
function count(words) {
  /** @type {Record<string, number>} */
  const found = {};
  for (const word of words) found[word] = (found[word] ?? 0) + 1;
  return found;
}
