"""GitLab by python-gitlab: the branch goes by git, its merge request is found by the branch, or opened, or brought up to date.

Every step is found again by what it left behind, so a call that died anywhere can be repeated.
"""

from __future__ import annotations

from typing import Any

import requests
from gitlab import Gitlab
from gitlab.exceptions import GitlabError
from gitlab.v4.objects import Project, ProjectMergeRequest

from smp.domain.handoffs import BranchChange, PushedBranch
from smp.handoff.code_hosts import Refusal
from smp.handoff.hosted_forge import MAX_TITLE, HostedForge

_ALREADY_OPEN = 409
_TOO_MANY = 429


class GitlabForge(HostedForge):
    """See the module."""

    kind = "gitlab"

    def ensure(self, change: BranchChange, pushed: PushedBranch) -> tuple[int, str]:
        last = _LastAnswer()
        with requests.Session() as session:
            session.hooks["response"].append(last.note)
            client = Gitlab(
                self.host.api_url,
                private_token=self.token,
                timeout=self.timeout,
                user_agent="smp",
                keep_base_url=True,
                session=session,
            )
            try:
                project = client.projects.get(self.host.project, lazy=True)
                return _find_or_open(project, change, pushed)
            except GitlabError as error:
                raise last.refusal(error) from None
            except requests.RequestException as error:
                raise Refusal(None, type(error).__name__) from None


def _find_or_open(project: Project, change: BranchChange, pushed: PushedBranch) -> tuple[int, str]:
    wanted = {"title": change.title[:MAX_TITLE], "description": change.body}
    found = _open_one(project, pushed.branch)
    if found is None:
        try:
            made = project.mergerequests.create(
                {"source_branch": pushed.branch, "target_branch": pushed.base_branch, **wanted}, obey_rate_limit=False
            )
            return made.iid, made.web_url
        except GitlabError as error:
            # Opened by somebody else since it was looked for, or refused for another reason.
            found = _open_one(project, pushed.branch) if error.response_code == _ALREADY_OPEN else None
            if found is None:
                raise
    if {name: getattr(found, name) or "" for name in wanted} != wanted:
        for name, value in wanted.items():
            setattr(found, name, value)
        found.save(obey_rate_limit=False)
    return found.iid, found.web_url


def _open_one(project: Project, branch: str) -> ProjectMergeRequest | None:
    listed = project.mergerequests.list(
        state="opened", source_branch=branch, page=1, per_page=1, get_all=False, obey_rate_limit=False
    )
    return next(iter(listed), None)


class _LastAnswer:
    """Remembers what the library's exceptions leave out: how long the host asks to wait."""

    def __init__(self) -> None:
        self._retry_after = ""

    def note(self, response: requests.Response, *_: Any, **__: Any) -> None:
        self._retry_after = response.headers.get("Retry-After", "")

    def refusal(self, error: GitlabError) -> Refusal:
        status = error.response_code or 500
        wait = None
        if status == _TOO_MANY:
            wait = float(self._retry_after) if self._retry_after.isdecimal() else 60.0
        return Refusal(status, str(error.error_message), retry_after_s=wait)
