"""Boxes: a copy-on-write checkout at a commit, limits, no way out."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable

from msgspec import Struct

from smp.domain.ids import CommitSha, FilePath
from smp.domain.sandboxes import ChangedFile, Execution, Limits, NetworkBlock, Sandbox, SandboxSpec


class Capabilities(Struct, frozen=True, kw_only=True):
    """What a driver can do on this host; `missing` says, per lacking capability, the command that installs it."""

    driver: str
    available: bool
    copy_on_write: bool = False
    memory_limit: str = "none"
    egress: str = "none"
    tracers: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class SandboxDriver(abc.ABC):
    @abc.abstractmethod
    def capabilities(self) -> Capabilities:
        """Probed by trying, not by reading version numbers; cached per process."""

    @abc.abstractmethod
    def spawn(self, spec: SandboxSpec, progress: Callable[[str], None] | None = None) -> Sandbox:
        """Make (or find again, by its id) the box.

        Raises:
            SandboxFailed: The driver cannot; the message names the missing piece and the command that installs it.
        """

    @abc.abstractmethod
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
        """Run `sh -c command` in the checkout; everything it started is dead on return.

        Args:
            heartbeat: Called at least once a second while the command runs; an exception from it kills the command.
            blocked: Called while the command runs, once per refused target, soon after the first attempt at it. What is known
                later only is in the execution alone.

        Raises:
            SandboxNotFound: The box is gone.
            SandboxFailed: The box cannot be entered.
        """

    @abc.abstractmethod
    def changes(self, box: Sandbox) -> tuple[ChangedFile, ...]:
        """The change set against the commit, sorted by path; `.git`, caches and ignored files left out."""

    @abc.abstractmethod
    def read(self, box: Sandbox, paths: Iterable[FilePath]) -> tuple[ChangedFile, ...]:
        """Files as the box sees them; missing ones have content None."""

    @abc.abstractmethod
    def write(self, box: Sandbox, files: Iterable[ChangedFile]) -> None:
        """Write, replace or delete files in the checkout; all or nothing. Repeating is harmless."""

    @abc.abstractmethod
    def destroy(self, box: Sandbox) -> int:
        """Kill what runs, unmount, remove; returns bytes freed. A box that is gone is no error."""

    @abc.abstractmethod
    def reap(self, keep: frozenset[str]) -> tuple[str, ...]:
        """Destroy boxes of this host that are not to be kept and have no living owner; returns their ids."""

    @abc.abstractmethod
    def lower(self, commit: CommitSha) -> str:
        """Host path of the read-only checkout of a commit; made on first use."""
