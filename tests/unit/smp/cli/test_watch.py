"""`smp watch`: what changes on disk is in the index soon after, one line a burst."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from smp.cli.watch import gather
from smp.domain.ids import FilePath
from tests.builders.command_line import Checkout, command

SECONDS = 60


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "repo", {"a.py": "def one(): ...\n"})


class Lines:
    """What a process prints, a JSON object a line."""

    def __init__(self, stream: IO[str]) -> None:
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            self._lines.put(line)

    def until(self, wanted: Any) -> dict[str, Any]:
        """The first report of which `wanted` is true."""
        while True:
            report: dict[str, Any] = json.loads(self._lines.get(timeout=SECONDS))
            if wanted(report):
                return report


@pytest.fixture
def lines(checkout: Checkout) -> Iterator[Lines]:
    process = subprocess.Popen(command("watch", "--json", repo=checkout.root), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield Lines(process.stdout)
    process.terminate()
    process.wait(SECONDS)
    process.stdout.close()


def test_edits_deletes_branches_and_commits_arrive(checkout: Checkout, lines: Lines) -> None:
    lines.until(lambda report: report["files"] == 1)
    for number in range(20):
        checkout.write(f"pkg/m{number}.py", f"def f{number}(): ...\n")
    lines.until(lambda report: report["files"] == 21)
    (checkout.root / "pkg" / "m3.py").unlink()
    lines.until(lambda report: report["files"] == 20)
    checkout.git("checkout", "-q", "-b", "side")
    checkout.git("add", "-A")
    checkout.git("commit", "-q", "-m", "more")
    commit = checkout.git("rev-parse", "HEAD").strip()
    lines.until(lambda report: report["commit_sha"] == commit and report["files"] == 20)
    checkout.git("checkout", "-q", "main")
    assert lines.until(lambda report: report["files"] == 1)["commit_sha"] != commit


def test_a_burst_is_gathered_and_the_next_is_not_lost() -> None:
    news: queue.SimpleQueue[frozenset[FilePath]] = queue.SimpleQueue()
    for name in ("a", "b"):
        news.put(frozenset({FilePath(name)}))
    assert gather(news) == {"a", "b"}
    news.put(frozenset({FilePath("c")}))
    assert gather(news) == {"c"}
