"""An index that was killed at any moment is whole after the next start, and was never half: SIGKILL, seeded moments."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.builders.command_line import command
from tests.builders.incremental_world import Index, differences
from tests.builders.real_sources import installed_package

KILLS = int(os.environ.get("SMP_KILLS", "4"))
SEED = 11


def contents_of(repo: Path, data: Path) -> tuple[bool, dict[str, dict[str, object]]]:
    """Whether an index says that it is built, and what it holds; nothing is brought up to date."""
    index = Index(repo, data, None)
    try:
        return index.indexer.state().built_at is not None, index.contents()
    finally:
        index.close()


def refreshed(repo: Path, data: Path) -> dict[str, dict[str, object]]:
    index = Index(repo, data, None)
    try:
        index.indexer.refresh()
        return index.contents()
    finally:
        index.close()


@pytest.mark.slow
def test_the_next_start_completes_what_a_kill_has_cut_off(tmp_path: Path) -> None:
    repo = installed_package("h11", tmp_path)
    rng = random.Random(SEED)
    whole = refreshed(repo, tmp_path / "whole")
    started = time.monotonic()
    subprocess.run([*command("index", repo=repo), "--data-dir", str(tmp_path / "timed")], check=True)
    takes = time.monotonic() - started
    for kill in range(KILLS):
        data = tmp_path / f"data{kill}"
        if kill % 2:  # an older index is there: it stays, or the new one does
            (repo / "h11" / "__init__.py").rename(repo / "h11" / "aside.py")
            before = refreshed(repo, data)
            (repo / "h11" / "aside.py").rename(repo / "h11" / "__init__.py")
        child = subprocess.Popen(
            [*command("index", repo=repo), "--data-dir", str(data)],
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        time.sleep(takes * rng.uniform(0.2, 1.0))  # the moment of the kill, which no outcome depends on
        child.send_signal(signal.SIGKILL)
        child.wait()
        built, left = contents_of(repo, data)
        if kill % 2:
            assert not differences(left, before) or not differences(left, whole), "half of a change was stored"
        else:
            assert not differences(left, whole) if built else not left["node"], "complete was said of half an index"
        assert differences(refreshed(repo, data), whole) == []
