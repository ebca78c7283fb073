// @ts-check
/** A definition or a file: its text, who calls it and what it calls, tests, heat, what broke here before, and what a change would touch. */
import { figuresList, h, moment, nodeLink, nodeList, table } from "./dom.js";
import { call } from "./rpc.js";

/** @typedef {import("./rpc.js").Methods} Results */
/** @typedef {Results["smp/trace"]["result"]} Trace */

const LINES = 400;
const DIRECTIONS = /** @type {const} */ (["incoming", "outgoing"]);

/** @param {string} reference @returns {Promise<import("./main.js").Page>} */
export async function nodePage(reference) {
  const { entity } = await call("smp/navigate", { query: reference });
  const isFile = entity.type === "File";
  const file = entity.file ?? (isFile ? entity.name : null);
  const [source, context, observed, unresolved, tests, heat, callers, callees] = await Promise.all([
    file === null ? null : call("smp/operations/source", isFile ? { file_path: file, last: LINES } : { file_path: file, first: Math.max(entity.start_line, 1), last: entity.end_line || entity.start_line || 1 }),
    file === null ? null : call("smp/context", { file_path: file, max_tokens: 8000 }),
    call("smp/linker/runtime", { node_id: entity.id }),
    file === null ? null : call("smp/linker/report", { scope: `file:${file}` }),
    call("smp/trace", { start: entity.id, relationship: "TESTS", direction: "incoming", depth: 1 }),
    call("smp/telemetry/node", { node_id: entity.id }),
    ...DIRECTIONS.map((direction) => call("smp/trace", { start: entity.id, relationship: "CALLS", direction, depth: 1 })),
  ]);
  const open = unresolved === null ? [] : unresolved.unresolved.filter((one) => isFile || one.caller === entity.id);
  const body = h("div", {},
    h("h1", {}, h("span", { class: "tag quiet" }, entity.type), " ", entity.signature ?? entity.name),
    file === null ? null : h("p", { class: "code" }, isFile ? file : nodeLink(file), isFile ? "" : `:${entity.start_line}–${entity.end_line}`),
    entity.purpose === null ? null : h("p", {}, entity.purpose),
    figuresList({
      ...(isFile && context !== null ? { "reached by an edit": context.summary.blast_radius, "most complex": context.summary.max_complexity } : { "called by": callers.nodes.length, calls: callees.nodes.length, "seen to call": observed.runtime_callees.length }),
      unresolved: open.length, heat: isFile && context !== null ? context.summary.heat_score : heat.heat_score, ...(context === null ? {} : { "risk of an edit": context.summary.risk_level }) }),
    impactForm(entity.id),
    h("div", { class: "columns" },
      isFile && context !== null ? fileSections(context) : definitionSections(callers, callees, observed),
      h("section", {}, h("h2", {}, "Calls without a proved target"),
        table(["name", "why", "may be"], open.slice(0, 60).map((one) => [h("code", {}, one.to_name), one.reason.replaceAll("_", " "), h("span", {}, one.candidates.slice(0, 4).map((node) => h("div", {}, nodeLink(node))))]), "None.")),
      h("section", {}, h("h2", {}, "Tests that reach it"), nodeList(isFile && context !== null ? context.summary.test_files : tests.nodes.map((node) => node.id).filter((id) => id !== entity.id), "None is known.")),
      h("section", {}, h("h2", {}, "History"), historyOf(heat)),
      context?.known === undefined ? null : h("section", {}, h("h2", {}, "What broke here before"), knownOf(context.known))),
    source === null ? null : h("h2", {}, "Source"),
    source === null ? null : sourceList(source),
    source !== null && isFile && source.lines.length === LINES ? h("p", { class: "quiet" }, `The first ${LINES} lines.`) : null);
  return { title: entity.name, body };
}

/** @param {Results["smp/context"]["result"]} context */
function fileSections(context) {
  const definitions = [...context.defines.classes.map((one) => ({ ...one, shown: `class ${one.name}` })), ...context.defines.functions.map((one) => ({ ...one, shown: one.signature ?? one.name }))];
  definitions.sort((a, b) => a.start_line - b.start_line);
  return [
    h("section", {}, h("h2", {}, "Defines"), table(["#line", "definition"], definitions.map((one) => [one.start_line, nodeLink(one.id, one.shown)]), "Nothing.")),
    h("section", {}, h("h2", {}, "Imports"), nodeList(context.imports.map((one) => one.file), "Nothing of the project.")),
    h("section", {}, h("h2", {}, "Imported by"), nodeList(context.imported_by.map((one) => one.file), "Nothing in the project.")),
  ];
}

/** @param {Trace} callers @param {Trace} callees @param {Results["smp/linker/runtime"]["result"]} observed */
function definitionSections(callers, callees, observed) {
  const seen = observed.runtime_callees.map((one) => [nodeLink(one.node_id), one.call_count, one.was_static_unresolved ? h("span", { class: "tag warn" }, "not in the source") : null]);
  return [
    h("section", {}, h("h2", {}, "Called by"), nodeList(callers.nodes.map((node) => node.id), "Nothing in the project.")),
    h("section", {}, h("h2", {}, "Calls"), nodeList(callees.nodes.map((node) => node.id), "Nothing in the project.")),
    h("section", {}, h("h2", {}, "Seen to call in runs"), table(["callee", "#calls", ""], seen, "No traced run has entered it.")),
  ];
}

/** @param {Results["smp/telemetry/node"]["result"]} heat */
function historyOf(heat) {
  const rows = heat.history.slice(0, 12).map((one) => [moment(one.timestamp), one.event, one.agent ?? "outside of a session"]);
  return h("div", {}, h("p", {}, `${heat.total_changes} changes in the window, ${heat.stability}.`), rows.length === 0 ? null : table(["when", "what", "who"], rows, ""));
}

/** @param {import("../clients/typescript/src/protocol.js").KnownResult} known */
function knownOf(known) {
  const rows = known.failures.map((failure) => [failure, known.seen_counts[failure] ?? 1, (known.fixed_by[failure] ?? []).join(", ")]);
  return table(["failure", "#episodes", "fixed by"], rows, "Nothing on record.");
}

/** @typedef {Results["smp/impact"]["params"]["change_type"]} Change */

/** @param {string} node */
function impactForm(node) {
  const result = h("div", { "aria-live": "polite" });
  const ask = async (/** @type {Change} */ change) => {
    result.replaceChildren(h("p", { class: "quiet" }, "…"));
    const found = await call("smp/impact", { entity: node, change_type: change });
    const severity = found.severity === "high" ? "bad" : found.severity === "medium" ? "warn" : "good";
    result.replaceChildren(
      h("p", {}, h("span", { class: `tag ${severity}` }, found.severity), ` ${found.affected_files.length} files; ${found.transitive_functions} functions in ${found.transitive_files} files farther on.`),
      table(["touched", "by"], found.affected_functions.slice(0, 60).map((one) => [nodeLink(one.id), one.relationship]), "Nothing else is touched."));
  };
  const button = (/** @type {Change} */ change, /** @type {string} */ words) => h("button", { type: "button", onclick: () => ask(change).catch((error) => result.replaceChildren(h("p", { class: "bad" }, error.message))) }, words);
  return h("div", {}, h("div", { class: "bar" }, h("span", {}, "What if its"), button("signature_change", "signature changes"), button("delete", "definition is deleted"), button("move", "file moves")), result);
}

/** @param {Results["smp/operations/source"]["result"]} source */
function sourceList(source) {
  const list = h("ol", { start: source.first }, source.lines.map((line) => h("li", { class: "code" }, line)));
  return h("div", { class: "source", tabindex: "0", role: "region", "aria-label": `Source of ${source.file_path}` }, list);
}
