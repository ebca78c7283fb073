"""A plain git remote: the branch is pushed, the pull request is a document.

Commits are made from objects: a temporary index, `hash-object`, `commit-tree`. The user's working tree, index, HEAD,
hooks and remote-tracking branches stay as they are; what changes is the object store and the branch `smp/<session>`.
The remote is pushed to before the local branch is set, and only over what this forge itself had put there, so that a
call that died half-way can be repeated and somebody else's commit on the branch is never lost.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from smp.domain.errors import ForgeBusy, ForgeFailed, Invalid, Unavailable
from smp.domain.handoffs import BranchChange, ConflictHunk, FileConflict, PullRequest, PushedBranch
from smp.domain.ids import CommitSha, FilePath
from smp.domain.sandboxes import ChangedFile
from smp.domain.swarms import BranchClash, SwarmBranch
from smp.handoff.overlaps import Groups, candidates, not_by_lines, touched
from smp.host_git import HostGit
from smp.ports.forge import Forge
from smp.settings import Settings

REMOTE = "origin"
_LOCAL_SECONDS = 120
_NETWORK_SECONDS = 300
_SETTINGS = ("-c", "core.autocrlf=false")
_PASSING = re.compile(
    r"could not resolve host|failed to connect|connection (?:timed out|refused|reset|closed)|operation timed out|early eof"
    r"|returned error: (?:429|5\d\d)|no route to host|network is unreachable|temporary failure in name resolution",
    re.IGNORECASE,
)
"""Complaints of git about a remote that may answer later. Git gives them no code; its messages are asked for in English."""
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
_MARKER_SIZE = 43
"""Longer than any line of equal signs that people write under headings."""
_MARKERS = re.compile(rb"^(<{43}|\|{43}|={43}|>{43})(?: |\r?$)")

_FROM_ENVIRONMENT = (
    """!f() { test "$1" = get && printf 'username=%s\\npassword=%s\\n' "$SMP_PUSH_USER" "$SMP_PUSH_TOKEN"; }; f"""
)
"""What git runs as credential helper; the secret is in its environment."""
_PRIVATE = re.compile(
    r"(?P<scheme>https://)(?:[^/@\s]+@)?(?P<host>[^/@\s]+)|(?P<plain>http://)(?P<here>(?:127\.0\.0\.1|localhost)(?::\d+)?)(?=/)"
)
"""Remotes that a secret may be sent to: encrypted, or on this machine."""


class GitForge(Forge):
    """Keeps no state of its own; git's own locks order concurrent calls."""

    def __init__(self, settings: Settings, *, user: str = "", token: str = "") -> None:
        """user, token: Offered to an https remote that takes no credential of the user's own; passed by environment, so
        that no process list shows them, and past the user's credential helpers, which would store them."""
        self._repo = settings.repo
        self._host = HostGit(settings.repo)
        self._user, self._token = user, token

    def conflicts(self, change: BranchChange, files: tuple[ChangedFile, ...]) -> tuple[FileConflict, ...]:
        """See the port. The base branch is the remote's branch of the name that is checked out, else its default
        branch; without a remote the local branch."""
        theirs = self._base_tip()
        if theirs is None or theirs == change.base_sha:
            return ()
        ours = self._commit(change, files)
        names = self._unmergeable(ours, theirs, tuple(file.path for file in files))
        return tuple(
            FileConflict(file=name, hunks=hunks)
            for name in sorted(names)
            if (hunks := self._hunks(name, change.base_sha, ours, theirs, certain=names[name]))
        )

    def clashes(self, branches: tuple[SwarmBranch, ...]) -> tuple[BranchClash, ...]:
        """See the port. What one of the two deletes and the other changes clashes too."""
        for branch in branches:
            if not self._obtained(branch):
                raise ForgeFailed(
                    f"commit {branch.head_sha!r} of session {branch.session_id} is not in this repository; "
                    f"git fetch {REMOTE} smp/{branch.session_id} and repeat",
                    branch=f"smp/{branch.session_id}",
                )
        shared = self._shared(branches)
        whole = not_by_lines(self._git, shared)
        changes = [
            {file: change for file, change in touched(self._git, branch, whole).items() if file in branch.files}
            for branch in branches
        ]
        found, groups = [], Groups()
        for first, second, common in candidates(changes):
            if groups.joined(first, second, common):
                continue
            one, other = branches[first], branches[second]
            names = self._unmergeable(one.head_sha, other.head_sha, common)
            files = tuple(
                name
                for name, certain in sorted(names.items())
                if certain or self._hunks(name, one.base_sha, one.head_sha, other.head_sha, certain=False)
            )
            if files:
                found.append(BranchClash(sessions=(one.session_id, other.session_id), files=files))
                groups.join(first, second, files)
        return tuple(found)

    def _obtained(self, branch: SwarmBranch) -> bool:
        """Whether the commit is here; one that another host has pushed is fetched, without a ref of its own."""
        if self._rev(f"{branch.head_sha}^{{commit}}") is None and self.remote_url() is not None:
            ref = f"refs/heads/smp/{branch.session_id}"
            with contextlib.suppress(ForgeFailed):
                self._network("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", REMOTE, ref)
        return self._rev(f"{branch.head_sha}^{{commit}}") is not None

    @staticmethod
    def _shared(branches: tuple[SwarmBranch, ...]) -> tuple[FilePath, ...]:
        """Files that more than one of them changes."""
        counts = Counter(file for branch in branches for file in branch.files)
        return tuple(sorted(file for file, count in counts.items() if count > 1))

    def publish(self, change: BranchChange, files: tuple[ChangedFile, ...]) -> PullRequest:
        """See the port; errors are those of `push`."""
        pushed = self.push(change, files)
        return PullRequest(
            id=f"pr_git_{pushed.head_sha[:10]}",
            branch=pushed.branch,
            base_sha=change.base_sha,
            head_sha=pushed.head_sha,
            files_changed=tuple(sorted(file.path for file in files)),
            url=pushed.url,
        )

    def push(self, change: BranchChange, files: tuple[ChangedFile, ...]) -> PushedBranch:
        """See the port.

        Raises:
            Invalid: The base commit is unknown (`path` = `base_sha`).
        """
        if not files:
            raise Invalid(
                "nothing changed, so there is nothing to publish; write the change into the box first",
                path="sandbox_id",
            )
        ref = f"refs/heads/{change.branch}"
        if self._git("symbolic-ref", "-q", "HEAD", check=False).stdout.decode().strip() == ref:
            raise ForgeFailed(
                f"branch {change.branch!r} is checked out; switch to another branch and repeat", branch=change.branch
            )
        head = self._commit(change, files)
        before = self._rev(ref)
        url = self.remote_url()
        base = self._push(ref, head, before) if url is not None else self._checked_out()
        if before != head:
            done = self._git("update-ref", ref, head, before or "", check=False)
            if done.returncode:
                raise ForgeFailed(
                    f"branch {change.branch!r} cannot be set: {_message(done.stderr)}", branch=change.branch
                )
        return PushedBranch(
            branch=change.branch,
            head_sha=head,
            base_branch=base.removeprefix("refs/heads/") if base.startswith("refs/heads/") else "",
            url=_CREDENTIALS.sub("", url) if url is not None else str(self._repo),
        )

    def _commit(self, change: BranchChange, files: tuple[ChangedFile, ...]) -> CommitSha:
        base = self._rev(f"{change.base_sha}^{{commit}}")
        if base is None:
            raise Invalid(f"no commit {change.base_sha!r} in this repository", path="base_sha")
        with tempfile.TemporaryDirectory(prefix="smp-index-") as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            self._git("read-tree", base, env=index)
            # Deletions first: a folder may have become a file.
            ordered = sorted(files, key=lambda one: (one.content is not None or one.link is not None, one.path))
            entries = b"".join(self._entry(file) for file in ordered)
            self._git("update-index", "-z", "--index-info", env=index, stdin=entries)
            tree = self._git("write-tree", env=index).stdout.decode().strip()
        name = re.sub(r"[<>\n\r\0]", "", change.author) or "smp"
        email = f"{re.sub(r'[^A-Za-z0-9._-]', '-', name)}@smp.invalid"
        when = f"{int(change.authored_at.timestamp())} +0000"
        identity = {
            "GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email, "GIT_AUTHOR_DATE": when,
            "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": email, "GIT_COMMITTER_DATE": when,
        }  # fmt: skip
        message = "\n".join([change.title, "", *change.trailers, ""]).encode()
        made = self._git("commit-tree", tree, "-p", base, "-F", "-", env=identity, stdin=message)
        return CommitSha(made.stdout.decode().strip())

    def _entry(self, file: ChangedFile) -> bytes:
        path = file.path.encode("utf-8", "surrogateescape")
        if file.link is not None:
            content, mode = os.fsencode(file.link), "120000"
        elif file.content is None:
            return b"0 " + b"0" * 40 + b"\t" + path + b"\0"
        else:
            content, mode = file.content, "100755" if file.mode & 0o100 else "100644"
        blob = self._git("hash-object", "-w", "--stdin", "--no-filters", stdin=content).stdout.decode().strip()
        return f"{mode} {blob}\t".encode() + path + b"\0"

    def remote_url(self) -> str | None:
        """Where `push` goes, as configured, credentials and all; None without a remote."""
        found = self._git("remote", "get-url", "--push", REMOTE, check=False)
        return found.stdout.decode().strip() or None if found.returncode == 0 else None

    def _base_tip(self) -> CommitSha | None:
        if self.remote_url() is None:
            return self._rev("HEAD^{commit}")
        tips, ref = self._listed()
        if ref not in tips:
            return None
        tip = CommitSha(tips[ref])
        if self._rev(f"{tip}^{{commit}}") is None:
            self._network("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", REMOTE, ref)
        return tip

    def _checked_out(self) -> str:
        return self._git("symbolic-ref", "-q", "HEAD", check=False).stdout.decode().strip()

    def _listed(self, *refs: str) -> tuple[dict[str, str], str]:
        """The remote's tips by ref, and the ref of the base branch (`HEAD` when it points nowhere)."""
        name = self._checked_out()
        listed = self._network("ls-remote", "--symref", REMOTE, "HEAD", *([name] if name else []), *refs)
        rows = [line.split("\t", 1) for line in listed.splitlines() if "\t" in line]
        tips = {ref: sha for sha, ref in rows if not sha.startswith("ref: ")}
        default = next((sha.removeprefix("ref: ") for sha, ref in rows if sha.startswith("ref: ")), "HEAD")
        if "HEAD" in tips:
            tips.setdefault(default, tips["HEAD"])
        return tips, name if name in tips else default

    def _push(self, ref: str, head: CommitSha, before: CommitSha | None) -> str:
        """Returns the base branch's ref."""
        tips, base = self._listed(ref)
        present = tips.get(ref, "")
        if present == head:
            return base
        if present not in {"", before or ""}:
            raise ForgeFailed(
                f"somebody else has pushed to {ref.removeprefix('refs/heads/')!r} on {REMOTE}; "
                "fetch and merge that branch, or hand off from a new session",
                branch=ref.removeprefix("refs/heads/"),
            )
        self._network("push", "--quiet", "--no-verify", f"--force-with-lease={ref}:{present}", REMOTE, f"{head}:{ref}")
        return base

    def _unmergeable(self, ours: str, theirs: str, changed: tuple[FilePath, ...]) -> dict[FilePath, bool]:
        """Files that may not merge; True where git is certain, False where only a merge of the file will tell."""
        done = self._git("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs, check=False)
        if done.returncode == 0:
            return {}
        if done.returncode == 1:
            names = done.stdout.split(b"\0")[1:]
            return {FilePath(os.fsdecode(name)): True for name in names if name}
        return dict.fromkeys(changed, False)  # git before 2.38 has no such merge

    def _hunks(self, path: FilePath, base: str, ours: str, theirs: str, *, certain: bool) -> tuple[ConflictHunk, ...]:
        contents = [self._blob(commit, path) for commit in (ours, base, theirs)]
        mine, old, other = contents
        whole = (ConflictHunk(start_line=1, ours=_decoded(mine), theirs=_decoded(other)),)
        if mine == other or (not certain and old == other):
            return ()
        if mine is None or other is None or any(b"\0" in (content or b"") for content in contents):
            return whole
        with tempfile.TemporaryDirectory(prefix="smp-merge-") as folder:
            files = [Path(folder) / name for name in ("ours", "base", "theirs")]
            for file, content in zip(files, contents, strict=True):
                file.write_bytes(content or b"")
            merged = self._git(
                "merge-file",
                "-p",
                "--diff3",
                f"--marker-size={_MARKER_SIZE}",
                *(str(file) for file in files),
                check=False,
            )
        hunks = _parsed_hunks(merged.stdout, (old or b"").splitlines(keepends=True))
        return hunks or (whole if certain else ())

    def _blob(self, commit: str, path: FilePath) -> bytes | None:
        found = self._git("cat-file", "blob", f"{commit}:{path}", check=False)
        return found.stdout if found.returncode == 0 else None

    def _rev(self, name: str) -> CommitSha | None:
        found = self._git("rev-parse", "--verify", "--quiet", name, check=False)
        return CommitSha(found.stdout.decode().strip()) if found.returncode == 0 else None

    def _network(self, *arguments: str) -> str:
        done = self._git(*arguments, check=False, seconds=_NETWORK_SECONDS)
        place = _PRIVATE.match(self.remote_url() or "") if done.returncode and self._token else None
        if place is not None:
            helper = f"credential.{place['scheme'] or place['plain']}{place['host'] or place['here']}.helper"
            offered = ("-c", "credential.helper=", "-c", f"{helper}=", "-c", f"{helper}={_FROM_ENVIRONMENT}")
            secret = {"SMP_PUSH_USER": self._user, "SMP_PUSH_TOKEN": self._token}
            done = self._git(*arguments, options=offered, env=secret, check=False, seconds=_NETWORK_SECONDS)
        if done.returncode:
            said = _message(done.stderr)
            raise (ForgeBusy if _PASSING.search(said) else ForgeFailed)(
                f"git {arguments[0]} failed: {said}; "
                f"check `git {arguments[0]}` with remote {REMOTE!r} by hand, then repeat",
                remote=REMOTE,
            )
        return done.stdout.decode("utf-8", "replace")

    def _git(
        self,
        *arguments: str,
        options: tuple[str, ...] = (),
        env: dict[str, str] | None = None,
        stdin: bytes = b"",
        check: bool = True,
        seconds: int = _LOCAL_SECONDS,
    ) -> subprocess.CompletedProcess[bytes]:
        try:
            done = self._host.run(*_SETTINGS, *options, *arguments, stdin=stdin, more=env, timeout_s=seconds)
        except Unavailable as error:
            raise ForgeFailed(error.message) from error
        except subprocess.TimeoutExpired as error:
            raise ForgeBusy(
                f"git {arguments[0]} did not end within {seconds} s; check the remote and repeat"
            ) from error
        if check and done.returncode:
            raise ForgeFailed(f"git {arguments[0]} failed: {_message(done.stderr)}")
        return done


def _message(stderr: bytes) -> str:
    """The last lines of git's complaint, without user names and passwords of URLs."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return _CREDENTIALS.sub("", "; ".join(lines[-4:]))[:1000] or "no message"


def _decoded(content: bytes | None) -> str:
    return "" if content is None else content.decode("utf-8", "replace")


def _parsed_hunks(merged: bytes, base: list[bytes]) -> tuple[ConflictHunk, ...]:
    """The conflicts of a diff3-style merge, each at its line of the base file."""
    hunks: list[ConflictHunk] = []
    part, at = "", 0
    parts: dict[str, list[bytes]] = {}
    names = {b"<": "ours", b"|": "base", b"=": "theirs"}
    for line in merged.splitlines(keepends=True):
        marker = _MARKERS.match(line)
        sign = marker.group(1)[:1] if marker else b""
        if sign == b"<" and not part:
            parts, part = {"ours": [], "base": [], "theirs": []}, "ours"
        elif sign in names and part:
            part = names[sign]
        elif sign == b">" and part:
            at = _position(base, parts["base"], at)
            text = {name: b"".join(parts[name]).decode("utf-8", "replace") for name in ("ours", "theirs")}
            hunks.append(ConflictHunk(start_line=at + 1, ours=text["ours"], theirs=text["theirs"]))
            at, part = at + len(parts["base"]), ""
        elif part:
            parts[part].append(line)
    return tuple(hunks)


def _position(base: list[bytes], block: list[bytes], start: int) -> int:
    if not block:
        return start
    size = len(block)
    return next((at for at in range(start, len(base) - size + 1) if base[at : at + size] == block), start)
