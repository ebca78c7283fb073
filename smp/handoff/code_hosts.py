"""Which code host a repository has, with what token, and how patiently it is asked.

What is decided here, once for all hosts:

* where a token goes: to the host of the remote, or to one that the environment names; never where a committed `smp.toml` says;
* what is waited for: a full rate limit and a host in trouble, within bounds; everything else is an error at once;
* what an error says: what to do next, and never the token.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import NoReturn, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

from smp.domain.errors import ForgeBusy, ForgeFailed, Invalid
from smp.settings import ForgeSettings

MAX_WAIT_SECONDS = 30.0
"""For one answer; a longer wait is the caller's to make, who is told how long."""
ATTEMPTS = 3
_MAX_TOKEN = 4096
_SCP = re.compile(r"^(?:[^@/\s]+@)?(?P<host>[A-Za-z0-9._-]+):(?!/)(?P<path>\S+)$")
_HERE = frozenset({"127.0.0.1", "localhost", "::1"})

T = TypeVar("T")


class HostKind(StrEnum):
    GIT = "git"
    GITHUB = "github"
    GITLAB = "gitlab"


_NAMES = {HostKind.GIT: "git", HostKind.GITHUB: "GitHub", HostKind.GITLAB: "GitLab"}
TOKEN_VARIABLES = {
    HostKind.GITHUB: ("SMP_GITHUB_TOKEN", "GITHUB_TOKEN"),
    HostKind.GITLAB: ("SMP_GITLAB_TOKEN",),
}
"""The first that is set counts; the first one with `_FILE` behind it names a file that holds the token."""


class CodeHost(Struct, frozen=True, kw_only=True):
    """A repository's host.

    Attributes:
        api_url, project: Empty for plain git.
        explicit: Named by the settings, not guessed from the remote.
        is_remote: The remote is on the same host, so that the token may be used to push.
        missing: What to do before pull requests can be opened; empty when nothing is missing.
    """

    kind: HostKind
    api_url: str = ""
    project: str = ""
    explicit: bool = False
    is_remote: bool = False
    missing: str = ""

    @property
    def name(self) -> str:
        """As people write it."""
        return _NAMES[self.kind]


def find_host(settings: ForgeSettings, remote_url: str | None, environ: Mapping[str, str]) -> CodeHost:
    """The host of a repository.

    Raises:
        Invalid: A setting cannot be used; the message names it.
    """
    remote = _remote(remote_url or "")
    kind = _kind(remote[0] if remote else "") if settings.kind == "auto" else HostKind(settings.kind)
    explicit = settings.kind != "auto"
    if kind is HostKind.GIT:
        return CodeHost(kind=kind, explicit=explicit)
    api_url = settings.url.rstrip("/") or (_api(kind, *remote) if remote else "")
    project = settings.project.strip("/") or (remote[1] if remote else "")
    usable = bool(api_url) and re.fullmatch(r"[^/\s]+(/[^/\s]+)+", project) is not None
    if not usable and not explicit:
        return CodeHost(kind=HostKind.GIT)
    if not usable:
        raise Invalid(
            f"the remote does not say which {_NAMES[kind]} project this is; set `url` and `project` in [forge]",
            path="forge",
        )
    is_remote = _trusted(api_url, remote[0] if remote else "", environ)
    return CodeHost(
        kind=kind,
        api_url=api_url,
        project=project,
        explicit=explicit,
        is_remote=is_remote,
        missing=""
        if read_token(kind, environ)
        else f"set {TOKEN_VARIABLES[kind][0]}, or {TOKEN_VARIABLES[kind][0]}_FILE",
    )


def read_token(kind: HostKind, environ: Mapping[str, str]) -> str:
    """The token of a host; empty when there is none.

    Raises:
        Invalid: The secret file cannot be read, or holds something else.
    """
    first, *others = TOKEN_VARIABLES[kind]
    if environ.get(first):
        return environ[first].strip()
    place = environ.get(f"{first}_FILE")
    if not place:
        return next((environ[name].strip() for name in others if environ.get(name)), "")
    try:
        token = Path(place).expanduser().read_text("utf-8")[: _MAX_TOKEN + 1].strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "not text"
        raise Invalid(
            f"{first}_FILE cannot be read: {reason}; name a file that holds the token alone", path="forge"
        ) from error
    if not token or len(token) > _MAX_TOKEN or len(token.split()) != 1:
        raise Invalid(f"{first}_FILE does not hold a token; write the token into it, and nothing else", path="forge")
    return token


class Refusal(Exception):
    """What a host answered instead of what it was asked; adapters turn their library's exceptions into this.

    Attributes:
        status: HTTP's; None when there was no answer.
        said: The host's own words.
        retry_after_s: Seconds that it asks to wait for its rate limit; None when that is not the matter.
    """

    def __init__(self, status: int | None, said: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(said)
        self.status = status
        self.said = said
        self.retry_after_s = retry_after_s


class Asking:
    """Asks one host, in the name of one token. Not for several threads."""

    def __init__(self, host: CodeHost, token: str, *, pause: Callable[[float], None]) -> None:
        self._host, self._token, self._pause = host, token, pause

    def __call__(self, step: Callable[[], T]) -> T:
        """Run a step that may be repeated as a whole.

        Args:
            step: Raises `Refusal`.

        Raises:
            ForgeFailed: It was refused.
            ForgeBusy: It is still in trouble after the last attempt, or asks for a longer wait than is made here.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return step()
            except Refusal as refusal:
                wait = _wait(refusal, attempt)
                if wait is None or attempt == ATTEMPTS:
                    self._fail(refusal)
                self._pause(wait)
        raise AssertionError("the last attempt returns or raises")

    def require_token(self) -> None:
        """Raises ForgeFailed when there is none: before anything is published."""
        if not self._token:
            raise ForgeFailed(
                f'no token for {self._host.name}: {self._host.missing}, or set `kind = "git"` in [forge] to push the branch alone'
            )

    def _fail(self, refusal: Refusal) -> NoReturn:
        said = self._clean(refusal.said)
        what = f"the branch is pushed, but {self._host.name} {_advice(refusal, self._host, said)}"
        # Without its cause: the library's exception holds headers and a body that nobody has cleaned.
        what = f"{what}; then repeat, which goes on from there"
        if _may_pass(refusal):
            raise ForgeBusy(what, retry_after_s=refusal.retry_after_s, status=refusal.status) from None
        raise ForgeFailed(what, status=refusal.status) from None

    def _clean(self, text: str) -> str:
        line = " ".join((text.replace(self._token, "***") if self._token else text).split())
        return line[:300] or "no reason"


def _advice(refusal: Refusal, host: CodeHost, said: str) -> str:
    variable = TOKEN_VARIABLES[host.kind][0]
    status = refusal.status
    if status is None:
        return f"cannot be reached ({said}); check {host.api_url} and the network"
    if refusal.retry_after_s is not None:
        return f"has no requests left for this token; wait {refusal.retry_after_s:.0f} s"
    if status == 401:
        return f"does not accept the token (401); set a valid one in {variable}"
    if status == 403:
        return f"forbids this (403: {said}); give the token the right to write pull requests of {host.project}"
    if status == 404:
        return f"knows no project {host.project!r} that the token may see (404); check `project` in [forge] and the token's rights"
    if status >= 500:
        return f"is in trouble ({status}); wait for it"
    return f"does not take the pull request ({status}: {said}); mend that"


def _may_pass(refusal: Refusal) -> bool:
    """Whether the same request may be taken later: no answer, a full rate limit, or a host in trouble."""
    return refusal.status is None or refusal.retry_after_s is not None or refusal.status >= 500


def _wait(refusal: Refusal, attempt: int) -> float | None:
    """Seconds; None when waiting will not help, or for too long."""
    if refusal.retry_after_s is not None:
        return refusal.retry_after_s if refusal.retry_after_s <= MAX_WAIT_SECONDS else None
    return float(attempt) if _may_pass(refusal) else None


def _remote(url: str) -> tuple[str, str, str] | None:
    """(host, project, authority for the web) of a remote; None for a path on this machine."""
    if "://" in url:
        parts = urlsplit(url)
        host, path = parts.hostname or "", parts.path
        if parts.scheme not in {"http", "https", "ssh", "git"} or not host:
            return None
        port = parts.port if parts.scheme in {"http", "https"} else None
        authority = f"{host}:{port}" if port else host
    else:
        found = _SCP.match(url)
        if found is None:
            return None
        host, path, authority = found["host"].lower(), found["path"], found["host"].lower()
    return host, path.strip("/").removesuffix(".git"), authority


def _kind(host: str) -> HostKind:
    """By the host's name: `github.com`, `gitlab.com`, and companies' `github.…` and `gitlab.…`."""
    labels = host.split(".")
    for kind in (HostKind.GITHUB, HostKind.GITLAB):
        if len(labels) > 1 and (labels[0] == kind.value or host.endswith(f".{kind.value}.com")):
            return kind
    return HostKind.GIT


def _api(kind: HostKind, host: str, project: str, authority: str) -> str:
    if kind is HostKind.GITLAB:
        return "https://gitlab.com" if host.endswith("gitlab.com") else f"https://{authority}"
    return "https://api.github.com" if host.endswith("github.com") else f"https://{authority}/api/v3"


def _trusted(api_url: str, remote_host: str, environ: Mapping[str, str]) -> bool:
    """Whether the API is on the remote's host.

    Raises:
        Invalid: It is elsewhere and the environment does not say so, or would be asked without encryption.
    """
    parts = urlsplit(api_url)
    host = parts.hostname or ""
    if parts.scheme != "https" and not (parts.scheme == "http" and host in _HERE):
        raise Invalid(f"[forge] url {api_url!r} is not https; a token is not sent in the clear", path="forge.url")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise Invalid(
            "[forge] url may hold no user, password or query; tokens come from the environment", path="forge.url"
        )
    related = (
        host in {remote_host, f"api.{remote_host}"}
        or {host, remote_host} <= {"api.github.com", "ssh.github.com"}
        or ({host, remote_host} <= {"gitlab.com", "altssh.gitlab.com"})
    )
    if not related and environ.get("SMP_FORGE_URL", "").rstrip("/") != api_url:
        raise Invalid(
            f"[forge] url is on {host!r}, the remote is not; set it by SMP_FORGE_URL, so that no repository decides where "
            "your token goes",
            path="forge.url",
        )
    return related
