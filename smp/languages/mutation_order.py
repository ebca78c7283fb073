"""From changes that a language's rules propose to mutants: in the order of the file, numbered, with their bytes."""

from __future__ import annotations

from collections.abc import Iterable

from tree_sitter import Node

from smp.domain.ids import FilePath, NodeId
from smp.domain.mutants import Mutant

Change = tuple[Node, str, str]
"""What is replaced, the operator, the replacement."""


def ordered_mutants(
    path: FilePath, source: bytes, changes: Iterable[Change], lines: frozenset[int] | None
) -> tuple[Mutant, ...]:
    """Mutants sorted by (line, column, operator, replacement), on these lines (all when None); `node_id` is left empty."""
    found = {
        (node.start_point[0] + 1, node.start_point[1], operator, mutated, node.end_byte - node.start_byte)
        for node, operator, mutated in changes
    }
    starts = _line_starts(source)
    mutants: list[Mutant] = []
    for line, column, operator, mutated, length in sorted(found):
        if lines is not None and line not in lines:
            continue
        start = starts[line - 1] + column
        mutants.append(
            Mutant(
                index=len(mutants),
                file=path,
                node_id=NodeId(""),
                line=line,
                operator=operator,
                original=source[start : start + length].decode("utf-8", "replace"),
                mutated=mutated,
                start_byte=start,
                end_byte=start + length,
            )
        )
    return tuple(mutants)


def _line_starts(source: bytes) -> list[int]:
    starts = [0]
    at = source.find(b"\n")
    while at >= 0:
        starts.append(at + 1)
        at = source.find(b"\n", at + 1)
    return starts
