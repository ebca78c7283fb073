"""What every driver shares whose boxes are folders (`state.py`): checkout, change set, reading, writing, removing, reaping.

Such a box outlives the process that made it; how a command enters it is the driver's own.
"""

from __future__ import annotations

import abc
import functools
import platform
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from smp.adapters.sandbox_bubblewrap.checkout import (
    Repository,
    find_repository,
    give_tree,
    make_git_dir,
    make_lower,
    prune_lowers,
)
from smp.adapters.sandbox_bubblewrap.inside import copy_inside
from smp.adapters.sandbox_bubblewrap.interpreters import Interpreter
from smp.adapters.sandbox_bubblewrap.layers import make_layer
from smp.adapters.sandbox_bubblewrap.limits import (
    Rights,
    present_rights,
    remove_groups,
    remove_orphaned_groups,
    stale_groups,
)
from smp.adapters.sandbox_bubblewrap.once import remove_tree, storage_errors
from smp.adapters.sandbox_bubblewrap.overlay import OverlayFiles
from smp.adapters.sandbox_bubblewrap.requirements import read_requirements
from smp.adapters.sandbox_bubblewrap.state import BoxFolder
from smp.domain.errors import SandboxFailed, SandboxNotFound
from smp.domain.ids import CommitSha, FilePath, SandboxId
from smp.domain.sandboxes import ChangedFile, Sandbox, SandboxSpec, SandboxStatus
from smp.ports.call_tracer import CallTracer
from smp.ports.clock import Clock
from smp.ports.sandbox_driver import SandboxDriver
from smp.settings import Settings

_LOWER_UNUSED_S = 7 * 24 * 3600.0


class FolderDriver(SandboxDriver):
    """Safe to use from several threads and processes at once; one command at a time in each box."""

    name: str

    def __init__(
        self, settings: Settings, clock: Clock, rights: Rights | None = None, *, tracer: CallTracer | None = None
    ) -> None:
        """`tracer`: counts calls from outside; without it `monitoring` is all there is."""
        self._settings = settings
        self._clock = clock
        self._boxes = settings.data_dir / "boxes"
        self._rights = rights or present_rights()
        self._uid = self._rights.uid
        self._tracer = tracer

    def spawn(self, spec: SandboxSpec, progress: Callable[[str], None] | None = None) -> Sandbox:
        folder = BoxFolder(self._boxes, spec.sandbox_id)
        if folder.exists():
            return folder.read().box
        interpreter = self._prepare(spec, progress or _silent)
        repository = self._repository
        lower = make_lower(self._boxes, repository, spec.commit_sha, owner=self._uid)
        if interpreter is not None:
            self._layer(lower, interpreter, progress or _silent)
        box = Sandbox(
            spec=spec,
            status=SandboxStatus.READY,
            driver=self.name,
            state_dir=str(folder.path),
            host=platform.node(),
            spawned_at=self._clock.now(),
        )
        with storage_errors("cannot make the box"):
            folder.path.mkdir(mode=0o755, exist_ok=True)
            with folder.held():
                if folder.exists():
                    return folder.read().box
                remove_tree(folder.layer)
                for path in (folder.layer, folder.upper, folder.work):
                    path.mkdir(mode=0o755)
                index = lower.with_name(f"{spec.commit_sha}.index")
                make_git_dir(folder.upper / ".git", repository, spec.commit_sha, index)
                if self._uid is not None:
                    give_tree(folder.upper, self._uid)
                folder.save(box)
        return box

    @abc.abstractmethod
    def _prepare(self, spec: SandboxSpec, progress: Callable[[str], None]) -> Interpreter | None:
        """See to it that such a box can be had, before anything is made.

        Returns:
            The Python whose packages the box gets; None: it gets none.

        Raises:
            SandboxFailed: It cannot.
        """

    def changes(self, box: Sandbox) -> tuple[ChangedFile, ...]:
        with self._files(box) as files:
            return files.changes()

    def read(self, box: Sandbox, paths: Iterable[FilePath]) -> tuple[ChangedFile, ...]:
        with self._files(box) as files:
            return tuple(files.read(path) for path in paths)

    def write(self, box: Sandbox, files: Iterable[ChangedFile]) -> None:
        with self._files(box) as overlay:
            overlay.write(tuple(files), limit_bytes=box.spec.limits.disk_mb << 20)

    def destroy(self, box: Sandbox) -> int:
        try:
            folder = self._folder(box)
            with folder.held():
                return self._remove(folder)
        except SandboxNotFound:
            return 0

    def reap(self, keep: frozenset[str]) -> tuple[str, ...]:
        gone = []
        standing: set[str] = set()
        for path in sorted(self._boxes.glob("box_*")):
            folder = BoxFolder(self._boxes, SandboxId(path.name))
            try:
                record = folder.read()
            except SandboxNotFound:
                record = None
            if record is not None and (path.name in keep or folder.busy() or record.owner.alive()):
                standing.add(record.box.spec.commit_sha)
            elif record is not None or _older_than_an_hour(path):  # without a record, someone may be making it
                self._remove(folder)
                gone.append(folder.id)
        if self._rights.groups is not None:
            remove_orphaned_groups(self._rights.groups)
        prune_lowers(self._boxes, frozenset(standing), unused_s=_LOWER_UNUSED_S)
        return tuple(gone)

    def lower(self, commit: CommitSha) -> str:
        return str(make_lower(self._boxes, self._repository, commit, owner=self._uid))

    @functools.cached_property
    def _repository(self) -> Repository:
        return find_repository(self._settings.repo)

    @property
    def _inside(self) -> Path:
        return copy_inside(self._settings.cache_dir)

    def _layer(self, lower: Path, interpreter: Interpreter, progress: Callable[[str], None]) -> Path:
        if self._settings.sandbox.setup:
            raise SandboxFailed(
                f"[sandbox] setup is not supported by the {self.name} driver; name packages in [sandbox] requirements"
            )
        wanted = read_requirements(lower, self._settings.sandbox.requirements)
        for line in wanted.left_out:
            progress(f"left out of the box's packages: {line}")
        return make_layer(self._settings.cache_dir, interpreter, wanted.lines, progress)

    def _folder(self, box: Sandbox) -> BoxFolder:
        return BoxFolder(self._boxes, box.spec.sandbox_id)

    def _files(self, box: Sandbox) -> OverlayFiles:
        folder = self._folder(box)
        return OverlayFiles(folder, lambda: Path(self.lower(folder.read().box.spec.commit_sha)), owner=self._uid)

    def _remove(self, folder: BoxFolder) -> int:
        groups = self._rights.groups
        if groups is not None:
            for name in stale_groups(groups, f"{folder.id}-"):
                remove_groups({f"{parent}/{name}": {} for parent in groups.folders()})
        with storage_errors("cannot remove the box"):
            return remove_tree(folder.path)


def _older_than_an_hour(path: Path) -> bool:

    try:
        return time.time() - path.stat().st_mtime > 3600
    except OSError:
        return False


def _silent(_: str) -> None:
    return None
