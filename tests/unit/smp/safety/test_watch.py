"""The watcher tells the sessions that an outside edit concerns, and lets the index follow."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from smp.domain.ids import FilePath
from smp.domain.notifications import ConflictDetected, Notification
from smp.domain.sessions import SessionMode
from smp.indexing.pipeline import Indexer
from smp.ports.notifier import Notifier
from smp.ports.source_tree import SourceTree
from smp.safety.sessions import SessionService
from smp.safety.watch import Watcher


class Recorder:
    """An indexer with some stale files, a session of one scope, and what was told to whom."""

    def __init__(self, *, stale: tuple[str, ...], scope: tuple[str, ...], mode: SessionMode) -> None:
        self.stale = stale
        self.session = SimpleNamespace(mode=mode, scope=scope)
        self.published: list[Notification] = []
        self.refreshed = 0

    def stale_among(self, paths: frozenset[FilePath]) -> tuple[FilePath, ...]:
        return tuple(FilePath(path) for path in self.stale if path in paths)

    def ensure_fresh(self) -> None:
        self.refreshed += 1

    def follow(self, paths: tuple[FilePath, ...]) -> None:
        assert paths
        self.refreshed += 1

    def active(self) -> tuple[SimpleNamespace, ...]:
        return (self.session,)

    def publish(self, notification: Notification) -> None:
        self.published.append(notification)

    def watcher(self) -> Watcher:
        return Watcher(
            sources=cast("SourceTree", self),
            indexer=cast("Indexer", self),
            sessions=cast("SessionService", self),
            notifier=cast("Notifier", self),
        )


def changed(*paths: str) -> frozenset[FilePath]:
    return frozenset(FilePath(path) for path in paths)


def test_an_edit_in_the_scope_of_a_write_session_is_reported_and_indexed() -> None:
    world = Recorder(stale=("a.py", "b.py"), scope=("a.py",), mode=SessionMode.WRITE)
    world.watcher().on_change(changed("a.py", "b.py"))
    assert world.published == [ConflictDetected(file=FilePath("a.py"))]
    assert world.refreshed == 1


@pytest.mark.parametrize("scope", [("src/a.py",), ("src/",)])
def test_a_deletion_counts_and_folders_cover_their_files(scope: tuple[str, ...]) -> None:
    world = Recorder(stale=("src/a.py",), scope=scope, mode=SessionMode.WRITE)
    world.watcher().on_change(changed("src/a.py"))
    assert world.published == [ConflictDetected(file=FilePath("src/a.py"))]


def test_a_read_session_is_not_disturbed() -> None:
    world = Recorder(stale=("a.py",), scope=("a.py",), mode=SessionMode.READ)
    world.watcher().on_change(changed("a.py"))
    assert (world.published, world.refreshed) == ([], 1)


def test_what_the_index_has_already_is_no_outside_edit() -> None:
    world = Recorder(stale=(), scope=("a.py",), mode=SessionMode.WRITE)
    world.watcher().on_change(changed("a.py"))
    assert (world.published, world.refreshed) == ([], 0)


def test_another_commit_is_brought_in_though_no_file_has_changed() -> None:
    world = Recorder(stale=(), scope=(), mode=SessionMode.READ)
    world.watcher().on_change(frozenset())
    assert (world.published, world.refreshed) == ([], 1)
