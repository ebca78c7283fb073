"""What lies around a change: who calls what was changed, and what was known about its files. Pure but for the graph it reads."""

from __future__ import annotations

from msgspec import Struct

from smp.domain.graph import CALLS, Direction
from smp.domain.ids import NodeId
from smp.domain.records import KnownAboutFile
from smp.handoff.clean_text import counted
from smp.handoff.structural_diff import StructuralDiff
from smp.ports.graph_store import GraphStore

HOPS = 3
_MAX_ROWS = 20


class Reach(Struct, frozen=True, kw_only=True):
    """The blast radius.

    Attributes:
        direct: (caller, changed definition), sorted; callers that were changed themselves are left out.
        further: How many more definitions call those, within `HOPS` calls.
    """

    direct: tuple[tuple[NodeId, NodeId], ...] = ()
    further: int = 0


def reach_of(graph: GraphStore, diff: StructuralDiff) -> Reach:
    """Callers of what was there before and was modified or removed."""
    changed = {*diff.modified, *diff.removed}
    if not changed:
        return Reach()
    callers = {
        (edge.source, edge.target)
        for edge in graph.edges(sorted(changed), kinds=CALLS, direction=Direction.INCOMING)
        if edge.target is not None and edge.source not in changed
    }
    near = changed | {source for source, _ in callers}
    walked = graph.walk(sorted(changed), hops=HOPS, kinds=CALLS, direction=Direction.INCOMING)
    return Reach(direct=tuple(sorted(callers)), further=sum(step.node.id not in near for step in walked))


def reach_section(reach: Reach) -> list[str]:
    """Markdown."""
    sources = {source for source, _ in reach.direct}
    files = {source.partition(":")[2].partition("#")[0] for source in sources}
    lines = [
        "## Blast radius", "",
        f"What was modified or removed is called by {counted(len(sources), 'unchanged definition')} in {counted(len(files), 'file')}; {reach.further} more "
        f"within {HOPS} calls.", "",
    ]  # fmt: skip
    return [*lines, *_rows([f"- `{source}` → `{target}`" for source, target in reach.direct]), ""]


def known_section(known: tuple[KnownAboutFile, ...]) -> list[str]:
    """Markdown; nothing where no session has left a record of these files."""
    rows = []
    for one in known:
        fixed = sum(bool(one.fixed_by.get(failure)) for failure in one.failures)
        rows.append(
            f"- `{one.file}`: {counted(len(one.episodes), 'earlier session')}, {counted(len(one.failures), 'known failure')}"
            + (f" ({fixed} with a rule that mended them)" if one.failures else "")
            + (f"; rules {', '.join(f'`{rule}`' for rule in one.rules[:5])}" if one.rules else "")
        )
    return ["## What was known about these files", "", *_rows(rows), ""] if rows else []


def _rows(lines: list[str]) -> list[str]:
    rest = len(lines) - _MAX_ROWS
    return lines if rest <= 0 else [*lines[:_MAX_ROWS], f"- … and {rest} more"]
