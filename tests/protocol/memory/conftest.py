"""A real git repository of three Python files, indexed for real into the memory stores."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from smp.adapters.analytics_igraph import IgraphAnalytics
from smp.adapters.memory import MemoryStore, MemoryVectorIndex
from smp.adapters.sources_git import GitSourceTree
from smp.domain.errors import LockConflict, SessionNotFound
from smp.domain.ids import FilePath
from smp.indexing.pipeline import FileChange, Indexer, UpdateReport
from smp.ports.notifier import Notice, Notifier
from smp.rpc.dispatcher import Dispatcher
from smp.rpc.methods import METHOD_GROUPS
from smp.rpc.registry import MethodRegistry
from smp.settings import load_settings
from tests.builders.read_platform import OneWay, StoppedClock, read_platform

FILES = {
    "shop/__init__.py": "",
    "shop/money.py": "def round_cents(value: float) -> int:\n    return int(value + 0.5)\n",
    "shop/cart.py": "from shop.money import round_cents\n\n\ndef total(prices):\n    return round_cents(sum(prices))\n",
}
LOCKED = FilePath("shop/locked.py")


class TickingClock(StoppedClock):
    """A second later each time it is asked."""

    def __init__(self) -> None:
        self._asked = 0

    def now(self) -> datetime:
        self._asked += 1
        return super().now() + timedelta(seconds=self._asked)


class NoNotices(Notifier):
    def publish(self, notification: object) -> None: ...

    def after(self, cursor: int, *, limit: int = 1000) -> tuple[Notice, ...]:
        return ()

    def latest(self) -> int:
        return 0


class OneSession:
    """`ses_open` pushes to the shared graph; `shop/locked.py` is locked by another one."""

    def __init__(self, store: MemoryStore, indexer: Indexer) -> None:
        self._store = store
        self._indexer = indexer

    def graph_for(self, session_id: str | None) -> MemoryStore:
        if session_id not in (None, "ses_open"):
            raise SessionNotFound(str(session_id))
        return self._store

    def refuse_locked(self, files: Iterable[FilePath]) -> None:
        if LOCKED in files:
            raise LockConflict(LOCKED, held_by_session="ses_other", held_by_agent="coder")

    def update(self, session_id: str, changes: tuple[FileChange, ...], *, method: str) -> UpdateReport:
        self.graph_for(session_id)
        return self._indexer.update(changes)

    def note_read(self, session_id: str, *, method: str, files: tuple[FilePath, ...]) -> None: ...

    def overlay(self, session_id: str) -> tuple[FileChange, ...]:
        return ()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """The working tree; the files are committed."""
    root = tmp_path / "repo"
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.com")
    for arguments in (("init", "-q"), ("add", "."), (*identity, "commit", "-q", "-m", "first")):
        subprocess.run(("git", "-C", str(root), *arguments), check=True)
    return root


@pytest.fixture
def dispatcher(repo: Path, tmp_path: Path) -> Dispatcher:
    settings = load_settings(repo, data_dir=tmp_path / "data", environ={})
    settings = msgspec.structs.replace(settings, index=msgspec.structs.replace(settings.index, workers=1))
    store = MemoryStore()
    sources = GitSourceTree(settings)
    indexer = Indexer(
        settings=settings,
        clock=TickingClock(),
        sources=sources,
        graph=store,
        metadata=store,
        cache=store,
        telemetry=store,
        vectors=MemoryVectorIndex(),
        embedder=OneWay(),
        analytics=IgraphAnalytics(),
        notifier=NoNotices(),
    )
    indexer.refresh()
    services = msgspec.structs.replace(
        read_platform(""),
        settings=settings,
        sources=sources,
        graph=store,
        metadata=store,
        telemetry=store,
        indexer=indexer,
        sessions=cast("Any", OneSession(store, indexer)),
    )
    return Dispatcher(MethodRegistry(METHOD_GROUPS), services)
