"""An index that follows edits is the index of the tree, thing for thing: 500 edits of three real repositories.

    SMP_SOAK_SEED=n python -m pytest tests/soak/test_incremental.py     # another walk

`tests/unit/smp/indexing/test_follows_edits.py` takes 30 steps on a smaller one in `make test`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.builders.incremental_world import open_world
from tests.builders.real_sources import ATTRS, FLASK, RXJS, Corpus, check_out

SEED = int(os.environ.get("SMP_SOAK_SEED", "20"))
UNMEMOISED = 25
"""Every so many steps the index from nothing reads and parses every file itself, in worker processes."""

pytestmark = pytest.mark.slow


@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    ("corpus", "steps"), [(FLASK, 170), (ATTRS, 170), (RXJS, 160)], ids=lambda one: getattr(one, "name", "")
)
def test_following_edits_gives_the_index_of_the_tree(corpus: Corpus, steps: int, tmp_path: Path) -> None:
    world = open_world(check_out(corpus, tmp_path), tmp_path / "scratch", SEED)
    for step in range(steps):
        before = dict(world.editor.tree)
        edit = world.step()
        print(f"{corpus.name} {step}: {edit.kind} {sorted(edit.writes)[:3]}", flush=True)
        world.check(edit, before=before)
        if step % UNMEMOISED == UNMEMOISED - 1:
            assert world.from_nothing(memo=False) == world.from_nothing()
    world.following.close()
