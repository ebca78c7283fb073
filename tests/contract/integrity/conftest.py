"""A gate over folder boxes: `gate(files)` gives a `Gate` on a repository with these files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from smp.adapters.memory import MemoryStore
from smp.adapters.mutator_native import NativeMutator
from smp.adapters.sessions_sqlite.artifacts import SqliteArtifactStore
from smp.domain.ids import FilePath, SandboxId
from smp.domain.mutants import IntegrityReport
from smp.domain.sandboxes import ChangedFile, Sandbox, SandboxSpec
from smp.domain.sessions import Session
from smp.integrity.verdict import IntegrityService
from smp.ports.clock import Clock
from smp.settings import load_settings
from tests.builders.folder_boxes import START, FolderDriver, make_repository, make_session

HEADER = {"pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['src']\n", ".gitignore": "__pycache__/\n"}


class RisingClock(Clock):
    """A second later at each look."""

    def __init__(self) -> None:
        self.looks = 0

    def now(self) -> datetime:
        self.looks += 1
        return START + timedelta(seconds=self.looks)

    def fresh_id(self, prefix: str) -> str:
        self.looks += 1
        return f"{prefix}_{self.looks:016d}"


@dataclass
class Gate:
    driver: FolderDriver
    service: IntegrityService
    session: Session
    box: Sandbox
    target: str = "src/prices.py"
    test: str = "tests/test_prices.py"
    commands_before: int = field(default=0)

    def verify(self, **options: object) -> IntegrityReport:
        return self.service.verify(self.session, self.box, self.target, self.test, **options)  # type: ignore[arg-type]

    def write(self, path: str, text: str | None) -> None:
        content = None if text is None else text.encode()
        self.driver.write(self.box, [ChangedFile(path=FilePath(path), content=content)])

    def text(self, path: str) -> str:
        return (Path(self.box.state_dir) / path).read_text("utf-8")


@pytest.fixture
def gate(tmp_path: Path) -> Callable[[Mapping[str, str]], Gate]:
    def make(files: Mapping[str, str]) -> Gate:
        commit = make_repository(tmp_path / "repo", {**HEADER, **files})
        driver = FolderDriver(tmp_path / "repo", tmp_path / "boxes")
        settings = load_settings(tmp_path / "repo", data_dir=tmp_path / "data", environ={})
        store = MemoryStore()
        service = IntegrityService(
            settings=settings,
            clock=RisingClock(),
            driver=driver,
            artifacts=SqliteArtifactStore(settings),
            graph=store,
            metadata=store,
            mutator=NativeMutator(),
        )
        session = make_session(commit)
        spec = SandboxSpec(sandbox_id=SandboxId("box_0123456789abcdef"), session_id=session.id, commit_sha=commit)
        return Gate(driver=driver, service=service, session=session, box=driver.spawn(spec))

    return make
