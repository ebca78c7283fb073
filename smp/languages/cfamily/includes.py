"""Which file of the project an `#include` means."""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Iterator, Mapping

from smp.domain.ids import FilePath

COMPILATION_DATABASE = "compile_commands.json"
_FLAGS = ("-I", "-iquote", "-isystem", "-idirafter", "/I")


class IncludePaths:
    """Looks includes up: beside the including file, in the include paths of a compilation database, in folders named
    `include`, from the root, and last as the only file of the project whose path ends so."""

    def __init__(self, files: frozenset[FilePath], configs: Mapping[FilePath, bytes]) -> None:
        self._files = files
        self._roots: list[str] = []
        for path in sorted(configs):
            if posixpath.basename(path) == COMPILATION_DATABASE:
                self._roots += [root for root in _database_roots(path, configs[path], files) if root not in self._roots]
        named = sorted(
            {root for path in files for root in _include_folders(path)}, key=lambda root: (root.count("/"), root)
        )
        self._roots += [root for root in (*named, "") if root not in self._roots]
        self._endings: dict[str, list[FilePath]] = {}
        for path in sorted(files):
            self._endings.setdefault(posixpath.basename(path), []).append(path)
        self._known: dict[tuple[str, str], FilePath | None] = {}

    def find(self, importer: FilePath, written: str) -> FilePath | None:
        """The file, or None for one outside of the project."""
        key = (posixpath.dirname(importer), written)
        if key not in self._known:
            self._known[key] = self._find(key[0], written)
        return self._known[key]

    def _find(self, folder: str, written: str) -> FilePath | None:
        name = written[1:-1].strip().replace("\\", "/")
        if not name or name.startswith("/"):
            return None
        if written.startswith('"'):
            beside = _inside(folder, name)
            if beside in self._files:
                return FilePath(beside)
        for root in self._roots:
            path = _inside(root, name)
            if path in self._files:
                return FilePath(path)
        if written.startswith("<") and "/" not in name:
            return None  # a library's header of the same name is as likely
        wanted = posixpath.normpath(name).lstrip("./")
        fitting = [
            path
            for path in self._endings.get(posixpath.basename(name), ())
            if path == wanted or path.endswith("/" + wanted)
        ]
        return fitting[0] if len(fitting) == 1 else None


def _inside(folder: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(folder, name)) if folder else posixpath.normpath(name)


def _include_folders(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1]
    for at, part in enumerate(parts):
        if part in ("include", "includes", "inc"):
            yield "/".join(parts[: at + 1])


def _database_roots(path: str, content: bytes, files: frozenset[FilePath]) -> list[str]:
    """Include paths of a compilation database, as folders of the repository. The paths in it are of the machine that wrote it:
    the compiled files, which the repository has too, tell where its root was."""
    try:
        entries = json.loads(content)
    except (ValueError, RecursionError):
        return []
    found: list[str] = []
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
            continue
        folder = str(entry.get("directory") or posixpath.dirname(path))
        root = _repository_root(posixpath.join(folder, entry["file"]), files)
        for flag in _include_flags(entry):
            whole = posixpath.normpath(posixpath.join(folder, flag))
            if root is not None and (whole + "/").startswith(root):
                relative = whole[len(root) :]
            elif root is None and not whole.startswith("/"):
                relative = whole
            else:
                continue
            if relative not in found and relative != ".":
                found.append(relative)
    return found


def _repository_root(compiled: str, files: frozenset[FilePath]) -> str | None:
    """What stands in front of the longest part of a path that is a file of the repository."""
    parts = posixpath.normpath(compiled).split("/")
    for at in range(len(parts)):
        if "/".join(parts[at:]) in files:
            return "/".join(parts[:at]) + "/" if at else ""
    return None


def _include_flags(entry: Mapping[str, object]) -> Iterator[str]:
    listed = entry.get("arguments")
    if isinstance(listed, list):
        words = [str(word) for word in listed]
    else:
        try:
            words = shlex.split(str(entry.get("command") or ""))
        except ValueError:
            return
    for at, word in enumerate(words):
        for flag in _FLAGS:
            if word == flag and at + 1 < len(words):
                yield words[at + 1]
            elif word.startswith(flag) and len(word) > len(flag) and flag in ("-I", "/I", "-isystem", "-iquote"):
                yield word[len(flag) :]
