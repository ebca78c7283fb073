"""What was written onto a definition stays with it: through edits, renames and moves of its file."""

from __future__ import annotations

from typing import Any

import pytest

from smp.domain.graph import Scope
from smp.domain.ids import NodeId
from smp.query.enrichment import annotate

ONE = "def one:\n  two()\n"
TWO = "def two:\n"


def note(bench: Any, node_id: str) -> tuple[str | None, tuple[str, ...]] | None:
    found = bench.store.enrichments([NodeId(node_id)]).get(node_id)
    return (found.description, found.tags) if found else None


@pytest.fixture
def noted(bench: Any) -> Any:
    """`two` of a.py is described and tagged."""
    bench.write(a_py=ONE + TWO, b_py="def other:\n")
    bench.commit()
    bench.indexer.refresh()
    (node,) = (node for node in bench.store.scan(Scope()) if node.id == "function:a.py#two")
    annotate(bench.store, node, description="why", tags=("core",), force=True, now="2026-01-01T00:00:00Z")
    return bench


def test_it_survives_an_edit_and_is_stale_for_nobody(noted: Any) -> None:
    noted.write(a_py=ONE + "def two:\n  one()\n")
    noted.indexer.refresh()
    assert note(noted, "function:a.py#two") == ("why", ("core",))


@pytest.mark.parametrize("by_git", [True, False])
def test_it_goes_along_with_its_file(noted: Any, by_git: bool) -> None:
    (noted.root / "sub").mkdir()
    if by_git:
        noted.git("mv", "a.py", "sub/c.py")
    else:
        (noted.root / "a.py").rename(noted.root / "sub" / "c.py")
    noted.indexer.refresh()
    assert note(noted, "function:sub/c.py#two") == ("why", ("core",))
    assert note(noted, "function:sub/c.py#one") == (None, ())


def test_it_goes_along_although_it_was_edited_on_the_way(noted: Any) -> None:
    (noted.root / "a.py").unlink()
    noted.write(c_py=ONE + "def two:\n  other()\n")
    noted.indexer.refresh()
    assert note(noted, "function:c.py#two") == ("why", ("core",))


def test_it_goes_along_into_another_file_alone(noted: Any) -> None:
    noted.write(a_py=ONE, b_py="def other:\n" + TWO)
    noted.indexer.refresh()
    assert note(noted, "function:b.py#two") == ("why", ("core",))


def test_between_several_nothing_is_guessed(noted: Any) -> None:
    (noted.root / "a.py").unlink()
    noted.write(c_py=TWO, d_py=TWO)
    noted.indexer.refresh()
    assert note(noted, "function:c.py#two") == (None, ())
    assert note(noted, "function:d.py#two") == (None, ())


def test_a_branch_that_has_it_elsewhere_and_back(noted: Any) -> None:
    noted.git("checkout", "-q", "-b", "side")
    noted.git("mv", "a.py", "moved.py")
    noted.commit()
    noted.indexer.refresh()
    assert note(noted, "function:moved.py#two") == ("why", ("core",))
    noted.git("checkout", "-q", "main")
    noted.indexer.refresh()
    assert note(noted, "function:a.py#two") == ("why", ("core",))
