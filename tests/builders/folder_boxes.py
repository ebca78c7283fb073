"""Boxes that are plain folders, and a git repository to make them from: for tests of what runs in a box, not of the box.

No isolation whatever; commands run as this user. The real driver has its own contract suite.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from smp.domain.errors import SandboxNotFound
from smp.domain.ids import AgentId, AuditId, CommitSha, FilePath, SessionId
from smp.domain.sandboxes import ChangedFile, Execution, Limits, NetworkBlock, Sandbox, SandboxSpec, SandboxStatus
from smp.domain.sessions import Concurrency, SafetyLevel, Session, SessionMode, SessionStatus
from smp.ports.sandbox_driver import Capabilities, SandboxDriver

INSIDE = Path(__file__).resolve().parents[2] / "smp" / "sandboxes" / "inside"
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
_LEFT_OUT = {".git", "__pycache__", ".pytest_cache"}


def git(folder: Path, *arguments: str, stdin: str | None = None) -> str:
    """Run git with an identity of its own and nobody's configuration."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, env=env, check=True, capture_output=True, text=True, input=stdin
    )
    return done.stdout.strip()


def make_repository(folder: Path, files: Mapping[str, str]) -> CommitSha:
    """A repository with one commit on `main`."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    write_files(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return CommitSha(git(folder, "rev-parse", "HEAD"))


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def make_session(commit: CommitSha, *, scope: tuple[str, ...] = ("src/", "tests/")) -> Session:
    return Session(
        id=SessionId("ses_0123456789abcdef"),
        agent_id=AgentId("coder"),
        task="repair the prices",
        scope=tuple(FilePath(path) for path in scope),
        mode=SessionMode.WRITE,
        concurrency=Concurrency.MVCC,
        status=SessionStatus.ACTIVE,
        safety_level=SafetyLevel.STANDARD,
        commit_sha=commit,
        opened_at=START,
        expires_at=START + timedelta(hours=1),
        ttl_seconds=3600,
        audit_id=AuditId("aud_0123456789abcdef"),
        driver="rpc:coder",
    )


class FolderDriver(SandboxDriver):
    """`spawn` exports a commit into a folder; `commands` keeps what was executed."""

    def __init__(self, repo: Path, boxes: Path) -> None:
        self._repo, self._boxes = repo, boxes
        self.commands: list[str] = []
        self.python = sys.executable

    def capabilities(self) -> Capabilities:
        return Capabilities(driver="folder", available=True)

    def spawn(self, spec: SandboxSpec, progress: Callable[[str], None] | None = None) -> Sandbox:
        self._export(spec.commit_sha, self._boxes / spec.sandbox_id)
        return Sandbox(
            spec=spec,
            status=SandboxStatus.READY,
            driver="folder",
            state_dir=str(self._boxes / spec.sandbox_id),
            host="here",
            spawned_at=START,
        )

    def execute(
        self,
        box: Sandbox,
        command: str,
        *,
        limits: Limits,
        heartbeat: Callable[[], None] | None = None,
        trace: bool = True,
        blocked: Callable[[NetworkBlock], None] | None = None,
    ) -> Execution:
        self.commands.append(command)
        command = command.replace("python /opt/smp", f"{self.python} {INSIDE}", 1)
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as out:
            env = {**os.environ, "SMP_OUT": out, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
            env.pop("PYTEST_ADDOPTS", None)
            done = subprocess.run(["sh", "-c", command], cwd=self._folder(box), env=env, capture_output=True, text=True)
            outputs = {file.name: file.read_bytes() for file in Path(out).iterdir()}
        spent_ms = (time.monotonic() - started) * 1000
        return Execution(
            exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr, duration_ms=spent_ms, outputs=outputs
        )

    def changes(self, box: Sandbox) -> tuple[ChangedFile, ...]:
        now, base = _files(self._folder(box)), _files(Path(self.lower(box.spec.commit_sha)))
        paths = sorted(path for path in now.keys() | base.keys() if now.get(path) != base.get(path))
        return tuple(ChangedFile(path=FilePath(path), content=now.get(path)) for path in paths)

    def read(self, box: Sandbox, paths: Iterable[FilePath]) -> tuple[ChangedFile, ...]:
        folder = self._folder(box)
        return tuple(
            ChangedFile(path=path, content=(folder / path).read_bytes() if (folder / path).is_file() else None)
            for path in paths
        )

    def write(self, box: Sandbox, files: Iterable[ChangedFile]) -> None:
        for file in files:
            path = self._folder(box) / file.path
            if file.content is None:
                path.unlink(missing_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.content)

    def destroy(self, box: Sandbox) -> int:
        shutil.rmtree(box.state_dir, ignore_errors=True)
        return 0

    def reap(self, keep: frozenset[str]) -> tuple[str, ...]:
        return ()

    def lower(self, commit: CommitSha) -> str:
        folder = self._boxes / f"lower-{commit}"
        if not folder.exists():
            self._export(commit, folder)
        return str(folder)

    def living(self) -> list[str]:
        return sorted(path.name for path in self._boxes.iterdir() if not path.name.startswith("lower-"))

    def _folder(self, box: Sandbox) -> Path:
        if not Path(box.state_dir).is_dir():
            raise SandboxNotFound(box.spec.sandbox_id)
        return Path(box.state_dir)

    def _export(self, commit: CommitSha, folder: Path) -> None:
        folder.mkdir(parents=True)
        archive = subprocess.run(["git", "archive", commit], cwd=self._repo, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not _LEFT_OUT & set(path.relative_to(folder).parts)
    }
