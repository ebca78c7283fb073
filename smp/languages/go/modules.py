"""From an import path to the files of a package: modules by their `go.mod`, replacements, workspaces, `internal`."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Mapping

from smp.domain.ids import FilePath
from smp.domain.source import ImportDecl
from smp.languages.base import Module, Resolver

_MODULE = re.compile(r"^\s*module\s+(\S+)", re.MULTILINE)
_REPLACE = re.compile(r"^\s*(?:replace\s+)?(\S+)(?:\s+v\S+)?\s+=>\s+(\.\S*)", re.MULTILINE)
_TEST = "_test.go"


def is_configuration(path: FilePath) -> bool:
    """Whether a file says which modules there are."""
    return path.rpartition("/")[2] in ("go.mod", "go.work")


class PackageResolver(Resolver):
    """Packages of one state of the repository."""

    def __init__(self, kinds: Mapping[FilePath, str], configs: Mapping[FilePath, bytes]) -> None:
        self._kinds = kinds
        self._folders: dict[str, list[FilePath]] = {}
        for path in sorted(kinds):
            self._folders.setdefault(posixpath.dirname(path), []).append(path)
        self._modules: dict[str, str] = {}
        self._replaced: dict[str, str] = {}
        for path in sorted(configs):
            text = configs[path].decode("utf-8", errors="replace")
            text = re.sub(r"//.*", "", text)
            folder = posixpath.dirname(path)
            found = _MODULE.search(text) if path.endswith("go.mod") else None
            if found is not None:
                self._modules.setdefault(found[1].strip('"'), folder)
            for name, target in _REPLACE.findall(text):
                self._replaced.setdefault(name, posixpath.normpath(posixpath.join(folder, target)))
        self._modules = dict(sorted(self._modules.items(), key=lambda entry: -len(entry[0])))

    def module(self, importer: FilePath, declaration: ImportDecl) -> Module:
        path = declaration.module
        if path.startswith(("./", "../")):
            folder: str | None = posixpath.normpath(posixpath.join(posixpath.dirname(importer), path))
        else:
            folder = self._folder(path)
        if folder is None:
            return Module(kind="external", dotted=path)
        if not _may_import(importer, folder):
            return Module(kind="missing")
        files = self._package_files(folder)
        if not files:
            return Module(kind="missing")
        return Module(kind="package", path=FilePath(folder or "."), files=files)

    def _folder(self, path: str) -> str | None:
        """The folder that an import path names; None outside the repository."""
        for table in (self._replaced, self._modules):
            for name, folder in table.items():
                if path == name or path.startswith(name + "/"):
                    inner = posixpath.normpath(posixpath.join(folder, path[len(name) :].lstrip("/")))
                    return "" if inner == "." else inner
        if not self._modules and f"src/{path}" in self._folders:
            return f"src/{path}"
        return None

    def _package_files(self, folder: str) -> tuple[FilePath, ...]:
        """What an importer gets: no tests; of several packages in a folder the one with most files, a program last."""
        files = [path for path in self._folders.get(folder, ()) if not path.endswith(_TEST)]
        counts = Counter(self._kinds[path] for path in files)
        if not counts:
            return ()
        name = min(counts, key=lambda each: (each in ("main", "documentation", ""), -counts[each], each))
        return tuple(path for path in files if self._kinds[path] == name)

    def submodule(self, parent: Module, name: str) -> Module | None:
        return None

    def scope(self, path: FilePath) -> tuple[Module, ...]:
        """The file's own package; tests see the package's other tests as well."""
        folder, name = posixpath.dirname(path), self._kinds.get(path, "")
        test = path.endswith(_TEST)
        files = tuple(
            other
            for other in self._folders.get(folder, ())
            if self._kinds[other] == name and (test or not other.endswith(_TEST))
        )
        label = f"{folder or '.'}:{name}" + ("+test" if test else "")
        return (Module(kind="package", path=FilePath(label), files=files),)


def _may_import(importer: str, folder: str) -> bool:
    """`internal` is for what lies beside or below it."""
    parts = folder.split("/")
    if "internal" not in parts:
        return True
    last = len(parts) - 1 - parts[::-1].index("internal")
    around = "/".join(parts[:last])
    return not around or importer.startswith(around + "/")
