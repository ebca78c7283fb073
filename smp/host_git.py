"""git on the host, on a repository that nobody vouches for.

A checkout may come from anywhere, `.git` included, and git's own configuration names programs: `git status` runs filters
and the file-system monitor, a merge its drivers, a push its hooks. What the *repository's* configuration (scopes `local`
and `worktree`, what they include too) says in such keys is here as if it were not written; what the user's own says
(`system`, `global`) stands, so that an installed git-lfs still works. The overrides travel as `GIT_CONFIG_COUNT`, whose keys are
never parsed, rather than as `-c`, which a `=` in the name of a filter would split elsewhere (git-config(1)).
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from smp.domain.errors import Invalid, Unavailable

_ALWAYS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotepath": "false",
    "commit.gpgSign": "false",
    "push.gpgSign": "false",
    "log.showSignature": "false",
    "diff.external": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.ext.allow": "never",
    # a submodule's own configuration would be read by a git of its own, which no override of ours reaches
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "push.recurseSubmodules": "no",
    "diff.ignoreSubmodules": "all",
    "status.submoduleSummary": "false",
}
_NEUTRAL = (
    (r"filter\..*\.(clean|smudge|process)", ""),
    (r"filter\..*\.required", "false"),
    (r"diff\..*\.(command|textconv)", ""),
    (r"merge\..*\.driver", "git merge-file --marker-size=%L %A %O %B"),
    (r"submodule\..*\.(ignore)", "all"),
    (r"core\.sshcommand", "ssh"),
    (r"core\.askpass", ""),
    (r"core\.alternaterefscommand", "true"),
    (r"gpg\.(.*\.)?program", "gpg"),
    (r"gpg\.ssh\.defaultkeycommand", ""),
    (r"http\.(.*\.)?sslverify", "true"),
    (r"protocol\.(.*\.)?allow", "user"),
)
"""Keys, as git lists them, by which a repository would run a program or weaken a connection; what they are when unsaid."""
_ENDS = {
    "push": ("--receive-pack=git-receive-pack",),
    "fetch": ("--upload-pack=git-upload-pack",),
    "ls-remote": ("--upload-pack=git-upload-pack",),
}
"""What a remote is served by: of `remote.<name>.uploadpack` git takes the first, so that only the command line overrides it."""
_SERVED_BY = re.compile(r"remote\..*\.uploadpack", re.DOTALL)
_LAZY = re.compile(r"remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone", re.DOTALL)
_HELPER = re.compile(r"credential\.(.*\.)?helper", re.DOTALL)
_RULES = tuple((re.compile(pattern, re.DOTALL), neutral) for pattern, neutral in _NEUTRAL)
_REPOSITORY = frozenset({"local", "worktree"})
_TIMEOUT_S = 30

Entry = tuple[str, str, str]
"""scope, key, value"""


class HostGit:
    """Commands of git for one repository; safe to share between threads."""

    def __init__(self, repo: Path, *, trusted: bool = False) -> None:
        """
        Args:
            repo: Where the commands run: a work tree, or a folder that is to become one.
            trusted: Also when somebody else owns it (`safe.directory`).
        """
        self._repo = repo
        self._always = _ALWAYS | ({"safe.directory": str(repo)} if trusted else {})
        self._known: tuple[object, tuple[tuple[str, str], ...]] | None = None

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Of a git process: ours, without what would point git elsewhere, with the overrides.

        Args:
            more: Further variables; they win.

        Raises:
            Unavailable: git is missing, too old to be overridden, or does not answer (`backend` = `git`).
            Invalid: There is no such folder, or a partial clone that names the program it fetches with (`path` = `repo`).
        """
        settings = _as_variables((*self._overrides(), *self._always.items()))
        return _plain_environment() | settings | dict(more or {})

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        more: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        timeout_s: float = 120,
        umask: int = -1,
    ) -> subprocess.CompletedProcess[bytes]:
        """One command to its end, whatever its exit code.

        Args:
            arguments: Behind `git`.
            more: Further variables of the environment.
            cwd: Where, if not in the repository.
            umask: Of what it writes; -1 for this process's own.

        Raises:
            Unavailable, Invalid: As `environment`.
            subprocess.TimeoutExpired: It took longer; the process is gone.
        """
        try:
            return subprocess.run(
                ["git", *_with_ends(arguments)],
                cwd=cwd or self._repo,
                env=self.environment(more),
                input=stdin,
                capture_output=True,
                timeout=timeout_s,
                check=False,
                umask=umask,
            )
        except FileNotFoundError as error:
            raise self._missing(error) from error

    def _overrides(self) -> tuple[tuple[str, str], ...]:
        """What undoes the repository's configuration as it is now."""
        stamp = self._stamp()
        if self._known is not None and stamp is not None and self._known[0] == stamp:
            return self._known[1]
        entries = self._listed()
        self._refuse_lazy(entries)
        included = any(scope in _REPOSITORY and key.startswith(("include.", "includeif.")) for scope, key, _ in entries)
        pairs = undoing(entries)
        self._known = None if stamp is None or included else (stamp, pairs)
        return pairs

    def _listed(self) -> list[Entry]:
        variables = _plain_environment() | _as_variables(self._always.items())
        try:
            done = subprocess.run(
                ["git", "config", "--list", "--show-scope", "-z"],
                cwd=self._repo,
                env=variables,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except FileNotFoundError as error:
            raise self._missing(error) from error
        except subprocess.TimeoutExpired as error:
            raise Unavailable(f"git config took more than {_TIMEOUT_S} s; repeat the call", backend="git") from error
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip() or "no message"
            raise Unavailable(f"git cannot read its configuration: {said}; mend it and repeat", backend="git")
        entries = _entries(done.stdout)
        if not any(scope == "command" for scope, _, _ in entries):
            raise Unavailable(
                "this git cannot be told to ignore what a repository configures; install git 2.31 or newer",
                backend="git",
            )
        return entries

    def _refuse_lazy(self, entries: list[Entry]) -> None:
        """Of a partial clone git fetches what is missing by itself, with a command line that is not ours."""
        keys = [key for scope, key, _ in entries if scope in _REPOSITORY]
        served = next((key for key in keys if _SERVED_BY.fullmatch(key)), None)
        if served is not None and any(_LAZY.fullmatch(key) for key in keys):
            raise Invalid(
                f"this partial clone names a program to fetch with ({served}), which a repository may not; "
                f"look at it, then take it out: git config --unset {served}",
                path="repo",
            )

    def _missing(self, error: FileNotFoundError) -> Unavailable | Invalid:
        if error.filename == "git" or self._repo.is_dir():
            return Unavailable("git is not installed or not on PATH; install it: apt-get install git", backend="git")
        return Invalid(f"{str(self._repo)!r} is no folder; name the root of a checkout", path="repo")

    def _stamp(self) -> object | None:
        """Of every file that the listing reads, but included ones; None where that cannot be said."""
        folder = self._repo / ".git"
        home = Path.home()
        xdg = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        files = (
            folder / "config",
            folder / "config.worktree",
            Path("/etc/gitconfig"),
            home / ".gitconfig",
            xdg / "git" / "config",
        )
        try:
            if not folder.is_dir():
                return None  # a linked work tree, or none: rare enough to ask each time
            return tuple(_file_stamp(file) for file in files)
        except OSError:
            return None


def undoing(entries: list[Entry]) -> tuple[tuple[str, str], ...]:
    """Settings that make what a repository says in dangerous keys as if it were unsaid.

    Args:
        entries: The whole configuration, in git's order.
    """
    own = {key: value for scope, key, value in entries if scope not in _REPOSITORY}
    pairs: dict[str, str] = {}
    helpers = False
    for scope, key, _ in entries:
        if scope not in _REPOSITORY:
            continue
        helpers = helpers or _HELPER.fullmatch(key) is not None
        for pattern, neutral in _RULES:
            if pattern.fullmatch(key):
                pairs[key] = own.get(key, neutral)
    found = list(pairs.items())
    if helpers:  # they add up: an empty one forgets those before it
        found.append(("credential.helper", ""))
        found += [(key, value) for scope, key, value in entries if scope not in _REPOSITORY and _HELPER.fullmatch(key)]
    return tuple(found)


def _with_ends(arguments: tuple[str, ...]) -> list[str]:
    for place, word in enumerate(arguments):
        if word in _ENDS:
            return [*arguments[: place + 1], *_ENDS[word], *arguments[place + 1 :]]
        if not word.startswith("-") and (place == 0 or arguments[place - 1] != "-c"):
            break
    return list(arguments)


def _entries(raw: bytes) -> list[Entry]:
    fields = raw.decode("utf-8", "surrogateescape").split("\0")
    found = []
    for scope, pair in zip(fields[0::2], fields[1::2], strict=False):
        key, _, value = pair.partition("\n")
        found.append((scope, key, value))
    return found


def _plain_environment() -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k == "GIT_SSH_COMMAND"}
    # of core.gitProxy the first is taken, so that no later one overrides it; this does
    ours = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_PROXY_COMMAND": "", "LC_ALL": "C"}
    return inherited | ours


def _as_variables(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    listed = list(pairs)
    found = {"GIT_CONFIG_COUNT": str(len(listed))}
    for number, (key, value) in enumerate(listed):
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return found


def _file_stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        seen = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return (seen.st_mtime_ns, seen.st_size, seen.st_ino)
