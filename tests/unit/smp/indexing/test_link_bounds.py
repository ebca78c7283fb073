"""A file whose flow is beyond the bound keeps what is certain, and takes nothing from the others."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from smp.domain.graph import Edge, EdgeKind, UnresolvedReason
from smp.domain.ids import FilePath
from smp.indexing.analyse import analyse
from smp.indexing.link import link
from smp.indexing.linking import solver

CALLER = "from lib import ready\n\ndef go():\n    return ready()\n"
LIBRARY = "def ready():\n    return steady()\n\ndef steady():\n    return 1\n" + "\n".join(
    f"def f{index}(x):\n    return f{index - 1 if index else 0}(x) or ready()" for index in range(40)
)


def edges_of(sources: dict[str, str]) -> Mapping[FilePath, tuple[Edge, ...]]:
    files = {FilePath(path): analyse(FilePath(path), text.encode()) for path, text in sources.items()}
    return link(files, configs={}).edges


def calls(edges: tuple[Edge, ...], kind: EdgeKind) -> list[Edge]:
    return [edge for edge in edges if edge.kind is kind]


def test_beyond_the_bound_calls_are_unresolved_and_imports_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = edges_of({"lib.py": LIBRARY, "app.py": CALLER})
    assert len(calls(whole[FilePath("lib.py")], EdgeKind.CALLS_STATIC)) > 40
    monkeypatch.setattr(solver, "MAX_FIRED", 30)
    bounded = edges_of({"lib.py": LIBRARY, "app.py": CALLER})
    library = bounded[FilePath("lib.py")]
    assert calls(library, EdgeKind.CALLS_STATIC) == []
    assert {edge.reason for edge in calls(library, EdgeKind.CALLS_UNRESOLVED)} <= {
        UnresolvedReason.DYNAMIC,
        UnresolvedReason.NOT_IN_IMPORTS,
    }
    assert calls(bounded[FilePath("app.py")], EdgeKind.IMPORTS) == calls(whole[FilePath("app.py")], EdgeKind.IMPORTS)


def test_the_order_of_files_does_not_decide_who_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "MAX_FIRED", 30)
    forward = edges_of({"lib.py": LIBRARY, "app.py": CALLER})
    backward = edges_of({"app.py": CALLER, "lib.py": LIBRARY})
    assert forward == backward
