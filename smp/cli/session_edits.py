"""What `smp session run --edits F` takes: a JSON file of edits, or a unified diff.

JSON is `{"steps": [{"summary": "…", "edits": [{"file": "a.py", "content": "…", "intended_change": "modify_function:f"}]}]}`,
one step, or a bare list of edits; `content: null` deletes. A diff is applied to the commit by git itself, in an index and
object directory of its own: neither the working tree nor the repository's own files are touched.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from smp.domain.errors import Invalid
from smp.domain.ids import CommitSha, FilePath
from smp.domain.runs import Edit, EditList, EditStep
from smp.host_git import HostGit

EMPTY_TREE_MODE = "000000"


def read_edits(path: Path, *, repo: Path, commit: CommitSha) -> EditStep | EditList:
    """The edits of a file.

    Raises:
        Invalid: It cannot be read, is neither form, or the diff does not apply; the message says what to do.
    """
    try:
        body = path.read_bytes()
    except OSError as error:
        raise Invalid(f"cannot read the edits {str(path)!r}: {error.strerror}", path="edits") from error
    if body.lstrip()[:1] in (b"{", b"["):
        return _from_json(body, path)
    return EditStep(edits=_from_diff(body, path, repo=repo, commit=commit), summary=path.name)


def as_list(parts: Sequence[EditStep | EditList]) -> EditList:
    """Several files of edits as the steps of one agent, in order."""
    steps: list[EditStep] = []
    for part in parts:
        steps += part.steps if isinstance(part, EditList) else [part]
    return EditList(steps=tuple(steps))


class _Steps(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    steps: tuple[EditStep, ...]


def _from_json(body: bytes, path: Path) -> EditStep | EditList:
    try:
        shape = msgspec.json.decode(body)
        if isinstance(shape, list):
            return EditStep(edits=msgspec.convert(shape, tuple[Edit, ...]), summary=path.name)
        if isinstance(shape, dict) and "steps" in shape:
            return EditList(steps=msgspec.convert(shape, _Steps).steps)
        return msgspec.convert(shape, EditStep)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise Invalid(
            f"the edits {str(path)!r} are not understood: {error}; see docs/workflows.md", path="edits"
        ) from error


def _from_diff(body: bytes, path: Path, *, repo: Path, commit: CommitSha) -> tuple[Edit, ...]:
    with tempfile.TemporaryDirectory(prefix="smp-edits-") as scratch:
        git = _Git(repo, Path(scratch))
        git.run("read-tree", commit)
        applied = git.try_run("apply", "--cached", "--whitespace=nowarn", "-", stdin=body)
        if applied.returncode != 0:
            words = applied.stderr.decode("utf-8", "replace").strip().splitlines()
            why = words[0].removeprefix("error: ") if words else "git apply refused it"
            raise Invalid(
                f"the diff {str(path)!r} does not apply to {commit[:12]}: {why}; make it anew with git diff",
                path="edits",
            )
        changed = git.run("diff-index", "--cached", "--no-renames", "-z", commit).decode("utf-8", "surrogateescape")
        fields = changed.split("\0")
        edits = [_edit(git, meta, name, path) for meta, name in zip(fields[0::2], fields[1::2], strict=False)]
    if not edits:
        raise Invalid(f"the diff {str(path)!r} changes nothing", path="edits")
    return tuple(edits)


def _edit(git: _Git, meta: str, name: str, path: Path) -> Edit:
    """From one line of `git diff-index`: `:<old mode> <new mode> <old blob> <new blob> <status>`."""
    new_mode, new_blob = meta.split()[1], meta.split()[3]
    if new_mode == EMPTY_TREE_MODE:
        return Edit(file=FilePath(name), content=None)
    try:
        return Edit(file=FilePath(name), content=git.run("cat-file", "blob", new_blob).decode())
    except UnicodeDecodeError as error:
        raise Invalid(
            f"the diff {str(path)!r} changes {name!r}, which is not UTF-8 text; let an agent command make that change",
            path="edits",
        ) from error


class _Git:
    """git on a repository's objects, writing nothing into it."""

    def __init__(self, repo: Path, scratch: Path) -> None:
        objects = scratch / "objects"
        objects.mkdir()
        self._host = HostGit(repo)
        common = self._host.run("rev-parse", "--path-format=absolute", "--git-common-dir")
        if common.returncode != 0:
            raise Invalid(f"{str(repo)!r} is no git repository; make one with git init and a first commit", path="repo")
        self._own = {
            "GIT_INDEX_FILE": str(scratch / "index"),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.fsdecode(common.stdout.rstrip(b"\n")) + "/objects",
        }

    def try_run(self, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return self._host.run(*arguments, stdin=stdin, more=self._own)

    def run(self, *arguments: str) -> bytes:
        done = self.try_run(*arguments)
        if done.returncode != 0:
            words = done.stderr.decode("utf-8", "replace").strip()
            raise Invalid(f"git {arguments[0]} failed: {words[:300]}", path="repo")
        return done.stdout
