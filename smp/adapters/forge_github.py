"""GitHub by PyGithub: the branch goes by git, its pull request is found by the branch, or opened, or brought up to date.

Every step is found again by what it left behind, so a call that died anywhere can be repeated.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import requests
from github import Auth, BadAttributeException, Github, GithubException, RateLimitExceededException
from github.PullRequest import PullRequest as GithubPullRequest

from smp.domain.handoffs import BranchChange, PushedBranch
from smp.handoff.code_hosts import Refusal
from smp.handoff.hosted_forge import MAX_TITLE, HostedForge

_UNPROCESSABLE = 422


class GithubForge(HostedForge):
    """See the module."""

    kind = "github"

    def ensure(self, change: BranchChange, pushed: PushedBranch) -> tuple[int, str]:
        client = Github(
            auth=Auth.Token(self.token),
            base_url=self.host.api_url,
            timeout=self.timeout,
            user_agent="smp",
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
            lazy=True,
        )
        title = change.title[:MAX_TITLE]
        try:
            repo = client.get_repo(self.host.project)
            owner = self.host.project.split("/", 1)[0]

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
