"""How nodes, edges and enrichments lie in the tables: the columns that are searched; for the rest see `domain.packing`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from smp.domain.graph import EdgeKind, Scope
from smp.domain.packing import KINDS

KIND_NUMBER = {kind: number for number, kind in enumerate(KINDS)}
RUNTIME = KIND_NUMBER[EdgeKind.CALLS_RUNTIME]

VARIABLES = 30_000
"""Parameters of one statement; SQLite allows 32,766 since 3.32."""


def chunks(values: Iterable[object], *, fixed: int = 0) -> Iterator[tuple[str, list[object]]]:
    """`?,?,…` and the values for it, as often as needed to stay under SQLite's bound.

    Args:
        fixed: Number of other parameters of the statement.
    """
    everything = list(values)
    size = VARIABLES - fixed
    for start in range(0, len(everything), size):
        part = everything[start : start + size]
        yield ",".join("?" * len(part)), part


def scope_condition(scope: Scope, column: str) -> tuple[str, list[object]]:
    """SQL that holds for places inside a scope, with its parameters; `1` for the full scope."""
    if scope.kind == "full" or not scope.prefix:
        return "1", []
    if scope.kind == "file":
        return f"{column} = ?", [scope.prefix]
    # '0' follows '/' in ASCII, so the range holds exactly what starts with "prefix/"
    return f"({column} = ? OR ({column} >= ? AND {column} < ?))", [scope.prefix, scope.prefix + "/", scope.prefix + "0"]
