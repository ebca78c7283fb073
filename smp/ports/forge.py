"""Where finished work goes: GitHub, GitLab, or a plain git remote."""

from __future__ import annotations

import abc

from smp.domain.handoffs import BranchChange, FileConflict, PullRequest, PushedBranch
from smp.domain.sandboxes import ChangedFile
from smp.domain.swarms import BranchClash, SwarmBranch


class Forge(abc.ABC):
    @abc.abstractmethod
    def conflicts(self, change: BranchChange, files: tuple[ChangedFile, ...]) -> tuple[FileConflict, ...]:
        """Files that cannot be merged into the present base branch, with their hunks; empty when it merges."""

    @abc.abstractmethod
    def clashes(self, branches: tuple[SwarmBranch, ...]) -> tuple[BranchClash, ...]:
        """Pairs of published branches that do not merge with one another, in the order given; nothing is changed.

        Only two that touch the same part of a file are tried, and of those that clash in a file no more than connect them:
        two that both clash there with others are in one group already.

        Raises:
            ForgeFailed: A commit is not there.
        """

    @abc.abstractmethod
    def push(self, change: BranchChange, files: tuple[ChangedFile, ...]) -> PushedBranch:
        """Commit the files on the change's branch and push it; no pull request. What `publish` does first.

        Raises:
            ForgeFailed: Refused; the message says what to check.
            ForgeBusy: Unreachable or in trouble; the same call may succeed later.
        """

    @abc.abstractmethod
    def publish(self, change: BranchChange, files: tuple[ChangedFile, ...]) -> PullRequest:
        """Commit the files on the change's branch, push it, open (or find again) its pull request.

        Never touches the user's working tree, index, HEAD or hooks. Repeating gives the same branch and pull request.

        Raises:
            ForgeFailed: Refused; the message says what to check.
            ForgeBusy: Unreachable or in trouble; the same call may succeed later.
        """
