// @ts-check
/** What a session did: commands in its box and what they were refused, mutants and what became of them, the change itself. */
import { figuresList, h, moment, table } from "./dom.js";

/** @typedef {import("../clients/typescript/src/protocol.js").EvidenceResult} Evidence */
/** @typedef {import("../clients/typescript/src/protocol.js").VerdictResult} Verdict */
/** @typedef {import("../clients/typescript/src/protocol.js").MutantResult} Mutant */

/** @type {Record<string, string>} */
const MUTANT = { killed: "noticed", timeout: "noticed (it ran too long)", survived: "not noticed", not_covered: "no test runs this line", equivalent: "changes nothing", invalid: "does not compile" };
/** @type {Record<string, string>} */
const FAILURE = { SURVIVING_MUTANT: "a mutant survived", MISSING_AST_ASSERT: "assertions are missing", TESTS_FAILING: "tests fail" };

/** @param {Evidence} evidence @returns {HTMLElement[]} */
export function evidenceParts(evidence) {
  const blocked = evidence.commands.flatMap((command) => command.network_blocks.map((block) => [
    h("span", { class: "code" }, `${block.host}:${block.port}`), block.address ?? "", block.protocol ?? "", block.process ?? "", block.reason.replaceAll("_", " "), moment(command.started_at)]));
  return [
    h("h2", {}, "Change"), diffView(evidence.diff, evidence.diff_truncated),
    h("h2", {}, "Integrity gate"),
    ...(evidence.verdicts.length === 0 ? [h("p", { class: "quiet" }, "The gate was not asked yet.")] : evidence.verdicts.map(verdictView)),
    h("h2", {}, "Commands in the box"),
    table(["command", "ended", "#ms", "#calls seen", "#new", "#blocked", "when"], evidence.commands.map((one) => [
      h("code", { class: "command" }, one.command), h("span", { class: one.exit_code === 0 ? "" : "bad" }, one.ending), Math.round(one.duration_ms), one.calls, one.new_calls, one.network_blocks.length, moment(one.started_at)]), "Nothing has run yet."),
    h("h2", {}, "Blocked connections"),
    table(["to", "address", "protocol", "process", "why", "when"], blocked, "Nothing tried to leave the box."),
  ];
}

/** A unified diff. @param {readonly string[]} lines @param {boolean} truncated */
export function diffView(lines, truncated) {
  if (lines.length === 0) return h("p", { class: "quiet" }, "Nothing differs from the commit, or what did is gone.");
  const shown = lines.map((line) => h("span", { class: kindOf(line) }, `${line}\n`));
  if (truncated) shown.push(h("span", { class: "quiet" }, "… and more\n"));
  return h("pre", { class: "diff", tabindex: "0", role: "region", "aria-label": "Diff" }, shown);
}

/** @param {string} line */
function kindOf(line) {
  if (line.startsWith("+++") || line.startsWith("---")) return "name";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : line.startsWith("@@") ? "quiet" : "";
}

/** @param {Verdict} verdict */
function verdictView(verdict) {
  const judged = verdict.mutants.filter((one) => one.status !== "invalid");
  const weak = judged.filter((one) => one.status === "survived");
  return h("section", { class: "verdict" },
    h("p", {}, h("span", { class: `tag ${verdict.status === "passed" ? "good" : "bad"}` }, verdict.status === "passed" ? "passed" : FAILURE[verdict.failure_code ?? ""] ?? "failed"), " ",
      verdict.target_file === "" ? "no code to judge" : h("span", { class: "code" }, `${verdict.target_file} by ${verdict.test_file}`)),
    figuresList({ tests: `${verdict.tests_passed} passed, ${verdict.tests_failed} failed`, mutants: `${verdict.mutants_killed} of ${verdict.mutants_total} noticed`, coverage: verdict.coverage_delta_pct === null ? "not measured" : `${verdict.coverage_delta_pct >= 0 ? "+" : ""}${verdict.coverage_delta_pct.toFixed(1)} points` }),
    verdict.functions.length > 0 ? table(["no result reaches an assertion of"], verdict.functions.map((one) => [h("span", { class: "code" }, one)]), "") : null,
    strip(judged),
    weak.length === 0 ? null : table(["#line", "was", "became", "kind", "should have been noticed by"], weak.map((one) => [
      one.line, h("code", {}, one.original), h("code", {}, one.mutated), one.operator.replaceAll("_", " "), one.test ?? ""]), ""));
}

/** A cell for each mutant, in the order of the source: where tests are weak shows as a patch. @param {readonly Mutant[]} mutants */
function strip(mutants) {
  if (mutants.length === 0) return null;
  return h("ol", { class: "mutants", "aria-label": "Mutants, in the order of the source" }, mutants.map((one) => {
    const words = `line ${one.line}: ${one.original} → ${one.mutated}: ${one.reason === null ? MUTANT[one.status] : `declared equivalent, ${one.reason}`}`;
    return h("li", { class: one.status, title: words }, h("span", { class: "unseen" }, words));
  }));
}
