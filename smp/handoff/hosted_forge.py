"""A forge whose pull requests live on a code host: git pushes the branch, the host's API finds or opens its request."""

from __future__ import annotations

import abc
import time
from collections.abc import Callable

from smp.domain.handoffs import BranchChange, FileConflict, PullRequest, PushedBranch
from smp.domain.sandboxes import ChangedFile
from smp.domain.swarms import BranchClash, SwarmBranch
from smp.handoff.code_hosts import Asking, CodeHost
from smp.ports.forge import Forge

TIMEOUT_SECONDS = 15
MAX_TITLE = 250


class HostedForge(Forge, abc.ABC):
    """Keeps no connection and no state of its own; safe from several threads.

    kind: Of host, as ids of pull requests name it.
    """

    kind: str

    def __init__(
        self,
        host: CodeHost,
        token: str,
        branches: Forge,
        *,
        pause: Callable[[float], None] = time.sleep,
        timeout_seconds: int = TIMEOUT_SECONDS,
    ) -> None:
        """branches: Pushes them. pause: Waits some seconds. timeout_seconds: For one answer of the host."""
        self.host, self.token, self.timeout = host, token, timeout_seconds
        self._branches, self._pause = branches, pause

    def conflicts(self, change: BranchChange, files: tuple[ChangedFile, ...]) -> tuple[FileConflict, ...]:
        """See the port; git computes them."""
        return self._branches.conflicts(change, files)

    def clashes(self, branches: tuple[SwarmBranch, ...]) -> tuple[BranchClash, ...]:
        """See the port; git finds them."""
        return self._branches.clashes(branches)

    def push(self, change: BranchChange, files: tuple[ChangedFile, ...]) -> PushedBranch:
        """See the port."""
        return self._branches.push(change, files)

    def publish(self, change: BranchChange, files: tuple[ChangedFile, ...]) -> PullRequest:
        """See the port."""
        asking = Asking(self.host, self.token, pause=self._pause)
        asking.require_token()
        pushed = self._branches.push(change, files)
        number, url = asking(lambda: self.ensure(change, pushed))
        return PullRequest(
            id=f"pr_{self.kind}_{number}",
            branch=pushed.branch,
            base_sha=change.base_sha,
            head_sha=pushed.head_sha,
            files_changed=tuple(sorted(file.path for file in files)),
            url=url,
        )

    @abc.abstractmethod
    def ensure(self, change: BranchChange, pushed: PushedBranch) -> tuple[int, str]:
        """Find the open request of a branch and bring it up to date, or open one.

        Returns:
            Its number and its address.

        Raises:
            Refusal: The host said no, or nothing that can be understood.
        """
