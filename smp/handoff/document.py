"""The pull request as a reader meets it: Markdown with what changed, what was seen, and what was proved. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from smp.domain.handoffs import ReviewRequest
from smp.domain.ids import CommitSha, FilePath, NodeId
from smp.domain.mutants import IntegrityReport, MutantStatus
from smp.domain.records import KnownAboutFile
from smp.domain.sandboxes import ChangedFile, ExecutionRecord
from smp.domain.sessions import Session
from smp.handoff.clean_text import bounded, counted, issue_line, prose
from smp.handoff.structural_diff import StructuralDiff
from smp.handoff.surroundings import Reach, known_section, reach_section

MAX_PICTURE_NODES = 30
"""A larger picture says less than the list above it."""
_MAX_ROWS = 50
_MAX_COMMAND = 200


class Sections(Struct, frozen=True, kw_only=True):
    """Which parts the caller wants; the files, the tests and the issues are always there."""

    structural_diff: bool = True
    runtime_edges: bool = True
    mutation_score: bool = True
    execution_log: bool = True


class RuntimeEdge(Struct, frozen=True, kw_only=True):
    """Calls observed in the box. `is_new`: nobody had seen that call before."""

    source: NodeId
    target: NodeId
    count: int
    is_new: bool


def write_document(
    *,
    session: Session,
    base_sha: CommitSha,
    issue_refs: tuple[str, ...],
    files: tuple[ChangedFile, ...],
    diff: StructuralDiff,
    runtime: tuple[RuntimeEdge, ...],
    reports: tuple[IntegrityReport, ...],
    reviews: tuple[ReviewRequest, ...],
    executions: tuple[ExecutionRecord, ...],
    reach: Reach,
    known: tuple[KnownAboutFile, ...],
    include: Sections,
) -> str:
    """The same arguments give the same text: no clock, no random order. At most `MAX_CHARACTERS`; see `bounded`."""
    parts = [_head(session, base_sha, issue_refs, reviews, _counts(files, diff, reports)), _files(files)]
    if include.structural_diff:
        seen = runtime if include.runtime_edges else ()
        parts += [_structure(diff), _picture(diff, seen, reach), reach_section(reach)]
    if include.runtime_edges:
        parts.append(_runtime(runtime))
    parts.append(_tests(reports, files))
    if include.mutation_score:
        parts.append(_mutation(reports))
    parts.append(known_section(known))
    if include.execution_log:
        parts.append(_executions(executions))
    return bounded(parts)


def _counts(files: tuple[ChangedFile, ...], diff: StructuralDiff, reports: tuple[IntegrityReport, ...]) -> str:
    """What a reviewer wants to know first, in one line."""
    judged = [report for report in reports if not report.nothing_to_judge]
    total = sum(report.mutants_total for report in judged)
    proved = f"{counted(sum(report.tests_passed for report in judged), 'test')} passed"
    if total:
        proved += f", {sum(report.mutants_killed for report in judged)} of {counted(total, 'mutant')} killed"
    changed = (
        f"{counted(len(diff.added), 'definition')} added, {len(diff.modified)} modified, {len(diff.removed)} removed"
    )
    return (
        f"{counted(len(files), 'file')}; {changed}; {proved if judged else 'nothing for the integrity gate to judge'}."
    )


def _head(
    session: Session,
    base_sha: CommitSha,
    issue_refs: tuple[str, ...],
    reviews: tuple[ReviewRequest, ...],
    counts: str,
) -> list[str]:
    rows = [
        counts,
        "",
        f"- Task: {prose(session.task)}",
        f"- Agent: `{session.agent_id}`, session `{session.id}`, audit `{session.audit_id}`",
    ]
    rows.append(f"- Base: `{base_sha}`")
    if issue_refs:
        rows.append(f"- {issue_line(issue_refs)}")
    rows += [
        f"- Review: {review.status.value} by `{review.reviewer_agent}` (`{review.id}`)"
        + (f": {prose(review.comments)}" if review.comments else "")
        for review in reviews
    ]
    return [*rows, ""]


def _files(files: tuple[ChangedFile, ...]) -> list[str]:
    return ["## Files", "", *_listed(f"- `{file.path}`{' (deleted)' if _is_gone(file) else ''}" for file in files), ""]


def _is_gone(file: ChangedFile) -> bool:
    return file.content is None and file.link is None


def _structure(diff: StructuralDiff) -> list[str]:
    lines = ["## Structural diff", ""]
    lines += [f"{len(diff.added)} added, {len(diff.modified)} modified, {len(diff.removed)} removed, "
              f"{len(diff.signatures)} with another signature; {counted(len(diff.calls_added), 'call')} added, "
              f"{len(diff.calls_removed)} removed.", ""]  # fmt: skip
    for word, ids in (("added", diff.added), ("modified", diff.modified), ("removed", diff.removed)):
        lines += _listed(f"- {word}: `{node_id}`" for node_id in ids)
    lines += _listed(f"- signature: `{one.before}` → `{one.after}`" for one in diff.signatures)
    lines += _listed(f"- call added: `{a}` → `{b}`" for a, b in diff.calls_added)
    lines += _listed(f"- call removed: `{a}` → `{b}`" for a, b in diff.calls_removed)
    return [*lines, ""]


def _picture(diff: StructuralDiff, runtime: tuple[RuntimeEdge, ...], reach: Reach) -> list[str]:
    """A Mermaid graph of the changed definitions, their callers, and the calls that came, went, or were seen."""
    edges = [(a, b, "-->|new|") for a, b in diff.calls_added] + [(a, b, "-.->|gone|") for a, b in diff.calls_removed]
    drawn = {(a, b) for a, b, _ in edges}
    changed = {*diff.added, *diff.modified, *diff.removed}
    edges += [
        (edge.source, edge.target, f"==>|ran {edge.count}x|")
        for edge in runtime
        if (edge.source, edge.target) not in drawn and changed & {edge.source, edge.target}
    ]
    drawn = {(a, b) for a, b, _ in edges}
    nodes = _ends(changed, edges)
    callers = [(a, b, "-->") for a, b in reach.direct if (a, b) not in drawn]
    # The callers come whole or not at all: half of them would look like all.
    if len(_ends(changed, [*edges, *callers])) <= MAX_PICTURE_NODES:
        edges += callers
        nodes = _ends(changed, edges)
    if not nodes or len(nodes) > MAX_PICTURE_NODES:
        return []
    names = {node: f"n{index}" for index, node in enumerate(nodes)}
    lines = ["```mermaid", "flowchart LR"]
    lines += [f'  {names[node]}["{_label(node)}"]' for node in nodes]
    lines += [f"  {names[a]} {arrow} {names[b]}" for a, b, arrow in edges]
    for style, ids, colour in (
        ("added", diff.added, "#d4f7d4"), ("modified", diff.modified, "#fff2cc"), ("removed", diff.removed, "#f8d7da")
    ):  # fmt: skip
        if ids:
            lines += [
                f"  classDef {style} fill:{colour},color:#000",
                f"  class {','.join(names[i] for i in ids)} {style}",
            ]
    return ["### Changed call graph", "", *lines, "```", ""]


def _ends(changed: set[NodeId], edges: list[tuple[NodeId, NodeId, str]]) -> list[NodeId]:
    return sorted(changed | {node for a, b, _ in edges for node in (a, b)})


def _label(node: NodeId) -> str:
    text = node.partition(":")[2]
    return re.sub(r'["<>\[\]{}|`\n]', "'", text)


def _runtime(runtime: tuple[RuntimeEdge, ...]) -> list[str]:
    new = [edge for edge in runtime if edge.is_new]
    lines = [
        "## Runtime edges",
        "",
        f"{counted(len(runtime), 'call')} between known nodes seen in this box, {len(new)} for the first time.",
        "",
    ]
    shown = sorted(runtime, key=lambda edge: (not edge.is_new, edge.source, edge.target))
    lines += _listed(
        f"- `{edge.source}` → `{edge.target}` ({edge.count}x{', new' if edge.is_new else ''})" for edge in shown
    )
    return [*lines, ""]


def _tests(reports: tuple[IntegrityReport, ...], files: tuple[ChangedFile, ...]) -> list[str]:
    lines = ["## Tests", ""]
    judged = [report for report in reports if not report.nothing_to_judge]
    lines += [
        f"The integrity gate had nothing to judge: tests apart, no changed file defines functions it can judge. {_line(report.test_output)}"
        for report in reports
        if report.nothing_to_judge
    ]
    if not judged:
        return [*lines, ""]
    lines += ["| target | tests | passed | failed | coverage |", "|---|---|---|---|---|"]
    for report in judged:
        delta = "not measurable" if report.coverage_delta_pct is None else f"{report.coverage_delta_pct:+.2f} points"
        lines.append(
            f"| `{report.target_file}` | `{report.test_file}` | {report.tests_passed} | {report.tests_failed} | {delta} |"
        )
    named = {path for report in judged for path in (report.target_file, report.test_file)}
    rest = [path for path in files_of(files) if path not in named]
    if rest:
        lines += ["", "Not judged by the integrity gate:", "", *_listed(f"- `{path}`" for path in rest)]
    return [*lines, ""]


def _mutation(reports: tuple[IntegrityReport, ...]) -> list[str]:
    lines = ["## Mutation testing", ""]
    judged = [report for report in reports if not report.nothing_to_judge]
    if not judged:
        return [*lines, "No mutants were made: there was nothing to judge.", ""]
    for report in judged:
        lines.append(
            f"- `{report.target_file}`: score {report.mutation_score:.2f} ({report.mutants_killed} of {report.mutants_total} "
            f"killed, {report.mutants_timed_out} of them by time-out; {report.mutants_equivalent} equivalent, "
            f"{report.mutants_not_covered} not reached); verdict `{report.id}`"
        )
        lines += _listed(
            f"  - survived, declared equivalent: line {outcome.mutant.line} `{_line(outcome.mutant.original)}` → "
            f"`{_line(outcome.mutant.mutated)}`: {prose(outcome.reason)}"
            for outcome in report.outcomes
            if outcome.reason is not None
        )
        lines += _listed(
            f"  - survived: line {outcome.mutant.line} `{_line(outcome.mutant.original)}` → `{_line(outcome.mutant.mutated)}`"
            + (f"; `{outcome.test}` should have seen it" if outcome.test else "")
            for outcome in report.outcomes
            if outcome.status is MutantStatus.SURVIVED
        )
    return [*lines, ""]


def _executions(executions: tuple[ExecutionRecord, ...]) -> list[str]:
    lines = ["## Execution log", ""]
    if not executions:
        return [*lines, "No command was run in the box besides the verification.", ""]
    lines += ["<details>", f"<summary>{counted(len(executions), 'command')}</summary>", ""]
    lines += ["| command | exit | ms | blocked |", "|---|---|---|---|"]
    for record in executions[-_MAX_ROWS:]:
        done = record.execution
        blocked = ", ".join(f"{block.host}:{block.port}" for block in done.network_blocks) or "-"
        ended = "timed out" if done.timed_out else str(done.exit_code)
        lines.append(f"| {_code(record.command)} | {ended} | {done.duration_ms:.0f} | {blocked} |")
    return [*lines, "", "</details>", ""]


def _code(command: str) -> str:
    text = _line(command)
    text = text if len(text) <= _MAX_COMMAND else f"{text[:_MAX_COMMAND]}…"
    return f"`{text.replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def _line(text: str) -> str:
    return " ".join(text.split())


def _listed(lines: Iterable[str]) -> list[str]:
    given = list(lines)
    rest = len(given) - _MAX_ROWS
    return given if rest <= 0 else [*given[:_MAX_ROWS], f"- … and {rest} more"]


def files_of(files: tuple[ChangedFile, ...]) -> tuple[FilePath, ...]:
    """Paths of a change set, sorted."""
    return tuple(sorted(file.path for file in files))
