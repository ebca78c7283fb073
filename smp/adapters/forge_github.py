"""GitHub by PyGithub: the branch goes by git, its pull request is found by the branch, or opened, or brought up to date.

Every step is found again by what it left behind, so a call that died anywhere can be repeated.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import requests
from github import Auth, BadAttributeException, Github, GithubException, RateLimitExceededException
from github.PullRequest import PullRequest as GithubPullRequest

from smp.domain.handoffs import BranchChange, FileConflict, PullRequest, PushedBranch
from smp.domain.sandboxes import ChangedFile
from smp.domain.swarms import BranchClash, SwarmBranch
from smp.handoff.code_hosts import Asking, CodeHost, Refusal
from smp.ports.forge import Forge

TIMEOUT_SECONDS = 15
_MAX_TITLE = 250
_UNPROCESSABLE = 422


class GithubForge(Forge):
    """Keeps no connection and no state of its own; safe from several threads."""

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
        self._host, self._token, self._branches = host, token, branches
        self._pause, self._timeout = pause, timeout_seconds

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
        asking = Asking(self._host, self._token, pause=self._pause)
        asking.require_token()
        pushed = self._branches.push(change, files)
        number, url = asking(lambda: self._ensure(change, pushed))
        return PullRequest(
            id=f"pr_github_{number}",
            branch=pushed.branch,
            base_sha=change.base_sha,
            head_sha=pushed.head_sha,
            files_changed=tuple(sorted(file.path for file in files)),
            url=url,
        )

    def _ensure(self, change: BranchChange, pushed: PushedBranch) -> tuple[int, str]:
        client = Github(
            auth=Auth.Token(self._token),
            base_url=self._host.api_url,
            timeout=self._timeout,
            user_agent="smp",
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
            lazy=True,
        )
        title = change.title[:_MAX_TITLE]
        try:
            repo = client.get_repo(self._host.project)
            owner = self._host.project.split("/", 1)[0]

            def open_one() -> GithubPullRequest | None:
                return next(iter(repo.get_pulls(state="open", head=f"{owner}:{pushed.branch}")), None)

            found = open_one()
            if found is None:
                try:
                    made = repo.create_pull(base=pushed.base_branch, head=pushed.branch, title=title, body=change.body)
                    return made.number, made.html_url
                except GithubException as error:
                    # Opened by somebody else since it was looked for, or refused for another reason.
                    found = open_one() if error.status == _UNPROCESSABLE else None
                    if found is None:
                        raise
            if (found.title, found.body or "") != (title, change.body):
                found.edit(title=title, body=change.body)
            return found.number, found.html_url
        except GithubException as error:
            raise _refusal(error) from None
        except (BadAttributeException, TypeError, KeyError) as error:
            # What the library does with a proxy's page in place of an answer.
            raise Refusal(None, f"an answer that is no pull request: {type(error).__name__}") from None
        except requests.RequestException as error:
            raise Refusal(None, type(error).__name__) from None
        finally:
            client.close()


def _refusal(error: GithubException) -> Refusal:
    headers = error.headers or {}
    return Refusal(error.status, _words(error.data), retry_after_s=_retry_after(error, headers))


def _words(answer: object) -> str:
    """GitHub's message with what it found wrong."""
    if not isinstance(answer, dict):
        return str(answer or "")
    errors = answer.get("errors")
    details = [
        str(one.get("message") or f"{one.get('field')}: {one.get('code')}") if isinstance(one, dict) else str(one)
        for one in (errors if isinstance(errors, list) else [])
    ]
    return "; ".join([str(answer.get("message", "")), *details])


def _retry_after(error: GithubException, headers: dict[str, str]) -> float | None:
    """Seconds until the rate limit is over, by GitHub's own clock; None when it is not about a limit."""
    asked = headers.get("retry-after", "")
    if error.status not in {403, 429}:
        return None
    if asked.isdecimal():
        return float(asked)
    used_up = headers.get("x-ratelimit-remaining") == "0" or isinstance(error, RateLimitExceededException)
    reset = headers.get("x-ratelimit-reset", "")
    if used_up and reset.isdecimal() and "date" in headers:
        here = parsedate_to_datetime(headers["date"])
        return max(0.0, (datetime.fromtimestamp(int(reset), UTC) - here).total_seconds())
    # GitHub's advice where it gives no time: "wait for at least one minute".
    return 60.0 if used_up or error.status == 429 else None
