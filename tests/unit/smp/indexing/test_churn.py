"""What the history of a repository says about the nodes of today."""

from __future__ import annotations

from typing import Any

import pytest

from smp.domain.ids import NodeId
from smp.indexing.churn import carry_forward
from smp.ports.source_tree import Hunk


@pytest.mark.parametrize(
    ("line", "hunk", "becomes"),
    [
        (5, Hunk(9, 1, 9, 3), 5),
        (10, Hunk(9, 1, 9, 3), 12),
        (9, Hunk(9, 1, 9, 3), 9),
        (10, Hunk(8, 4, 8, 1), 8),
        (12, Hunk(8, 4, 8, 1), 9),
        (5, Hunk(5, 0, 6, 2), 5),
        (6, Hunk(5, 0, 6, 2), 8),
        (3, Hunk(3, 2, 2, 0), 2),
        (5, Hunk(3, 2, 2, 0), 3),
        (1, Hunk(1, 1, 0, 0), 1),
    ],
)
def test_lines_are_carried_through_later_edits(line: int, hunk: Hunk, becomes: int) -> None:
    assert carry_forward(line, [hunk]) == becomes


def changes(bench: Any, name: str) -> int:
    return len(bench.store.history(NodeId(name), since=""))


@pytest.fixture
def aged(bench: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Three commits of one file, an hour apart: everything; `b` alone; lines above and in `a`."""
    texts = [
        "def a:\n  x()\ndef b:\n  x()\ndef c:\n  x()\n",
        "def a:\n  x()\ndef b:\n  y()\n  y()\ndef c:\n  x()\n",
        "# one\n# two\n# three\ndef a:\n  z()\ndef b:\n  y()\n  y()\ndef c:\n  x()\n",
    ]
    for hour, text in enumerate(texts):
        bench.write(m_py=text)
        moment = bench.clock.now().replace(hour=0).timestamp() - 86_400 + hour * 3600
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{int(moment)} +0000")
        bench.commit(f"number {hour}")
    return bench


def test_a_commit_counts_for_the_nodes_whose_lines_it_touched(aged: Any) -> None:
    aged.indexer.refresh()
    counted = {name: changes(aged, f"function:m.py#{name}") for name in "abc"}
    assert counted == {"a": 2, "b": 2, "c": 1}
    assert changes(aged, "file:m.py") == 3


def test_the_history_is_read_once_and_not_again(aged: Any) -> None:
    aged.indexer.refresh()
    aged.write(m_py="def a:\n")
    aged.indexer.refresh()
    assert changes(aged, "function:m.py#a") == 3
    assert aged.store.history(NodeId("function:m.py#b"), since="")[0].event == "deleted"


def test_no_window_no_history(aged: Any) -> None:
    store, indexer = aged.another_process(SMP_INDEX_HISTORY_DAYS="0")
    indexer.refresh()
    assert store.history(NodeId("function:m.py#a"), since="") == ()


def test_changes_are_outside_edits(aged: Any) -> None:
    aged.indexer.refresh()
    newest = aged.store.history(NodeId("function:m.py#a"), since="")[0]
    assert (newest.event, newest.agent, newest.session) == ("modified", None, None)
    assert newest.at.endswith("Z")
