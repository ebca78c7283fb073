"""Thirty seeded edits of a real package: the index that follows them is the one that is made of the tree from nothing.

`tests/soak/test_incremental.py` takes 500 on three repositories.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.incremental_world import open_world
from tests.builders.real_sources import installed_package

STEPS = 30
SEED = 4


@pytest.mark.slow
def test_an_index_that_follows_edits_is_the_index_of_the_tree(tmp_path: Path) -> None:
    world = open_world(installed_package("h11", tmp_path), tmp_path / "scratch", SEED)
    kinds: set[str] = set()
    for _ in range(STEPS):
        before = dict(world.editor.tree)
        edit = world.step()
        kinds.add(edit.kind)
        world.check(edit, before=before)
    world.following.close()
    assert len(kinds) >= STEPS // 3, "the seed draws few kinds of edits"
