"""The merge order comes from the graph, the clashes from the forge, in that order."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from temporalio.testing import ActivityEnvironment

from activities import contract
from activities.swarms import SwarmActivities
from smp.domain.ids import CommitSha, FilePath, SessionId
from smp.domain.swarms import BranchClash, SwarmBranch, SwarmConflict
from smp.settings import Settings
from tests.builders.graph_text import build_store
from tests.builders.session_world import ManualClock

if TYPE_CHECKING:
    from smp.services import Services

GRAPH = """
file src/base.py
file src/top.py
file src/apart.py
src/top.py IMPORTS src/base.py
"""


def _branch(name: str, *files: str) -> SwarmBranch:
    return SwarmBranch(
        session_id=SessionId(name),
        base_sha=CommitSha("a" * 40),
        head_sha=CommitSha(name[0] * 40),
        files=tuple(FilePath(file) for file in files),
    )


def test_what_others_import_is_first_and_the_forge_is_asked_in_that_order(tmp_path: Path) -> None:
    asked: list[SessionId] = []

    def clashes(branches: tuple[SwarmBranch, ...]) -> tuple[BranchClash, ...]:
        asked.extend(branch.session_id for branch in branches)
        return (BranchClash(sessions=(branches[1].session_id, branches[2].session_id), files=(FilePath("docs.md"),)),)

    store = build_store(GRAPH)
    services = cast(
        "Services",
        SimpleNamespace(
            settings=Settings(repo=tmp_path, data_dir=tmp_path, cache_dir=tmp_path),
            clock=ManualClock(),
            graph=store,
            telemetry=store,
            handoff=SimpleNamespace(clashes=clashes),
        ),
    )
    branches = (
        _branch("top", "src/top.py", "docs.md"),
        _branch("apart", "src/apart.py"),
        _branch("base", "src/base.py"),
    )
    step = contract.MergeStep(key="k", branches=branches)
    merged: contract.Merged = ActivityEnvironment().run(SwarmActivities(services).merge, step)
    assert merged.order == ("apart", "base", "top")
    assert asked == ["apart", "base", "top"]
    assert merged.conflicts == (
        SwarmConflict(file=FilePath("docs.md"), sessions=(SessionId("base"), SessionId("top"))),
    )
