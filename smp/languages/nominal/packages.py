"""Packages and namespaces over files: what an import means, and which names a file sees without one.

A resolver may read `FileSummary.module_kind` only, so that a walk writes there what is asked of the file: its packages, the
types at its top, the packages it imports whole, and those it imports for every file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from smp.domain.ids import FilePath
from smp.domain.source import FileSummary, ImportDecl
from smp.languages.base import Module, Resolver

_PARTS, _NAMES = "|", ","


class Header(Struct, frozen=True):
    """What a file says of itself. packages: an empty text is the nameless one."""

    packages: tuple[str, ...] = ("",)
    types: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    everywhere: tuple[str, ...] = ()

    def text(self) -> str:
        """As it stands in `module_kind`."""
        return _PARTS.join(
            _NAMES.join(dict.fromkeys(part)) for part in (self.packages, self.types, self.whole, self.everywhere)
        )


def header_of(text: str) -> Header:
    """Reads a `module_kind`."""
    parts = [tuple(part.split(_NAMES)) if part else () for part in text.split(_PARTS)]
    parts += [()] * (4 - len(parts))
    return Header(parts[0] or ("",), parts[1], parts[2], parts[3])


class PackageResolver(Resolver):
    """Answers from what files say of themselves.

    nearest: Of several files that provide a type of the same full name (modules of one build) the nearest to the asking file
    is meant; otherwise all are (parts of one type).
    """

    def __init__(self, files: Mapping[FilePath, FileSummary], *, nearest: bool) -> None:
        self.headers = {path: header_of(files[path].module_kind) for path in sorted(files)}
        self.packages: dict[str, list[FilePath]] = {}
        self.providers: dict[tuple[str, str], list[FilePath]] = {}
        for path, header in self.headers.items():
            for package in header.packages:
                self.packages.setdefault(package, []).append(path)
                for name in header.types:
                    self.providers.setdefault((package, name), []).append(path)
        self.parents = {above for package in self.packages for above in _above(package)}
        self.everywhere = tuple(dict.fromkeys(name for header in self.headers.values() for name in header.everywhere))
        self._nearest = nearest
        self._twice = {package for (package, _), found in self.providers.items() if len(found) > 1 and nearest}

    def module(self, importer: FilePath, declaration: ImportDecl) -> Module:
        package, name = declaration.module, declaration.name
        if name and name != "*":
            found = self._chosen(importer, self.providers.get((package, name), []))
            if len(found) == 1:
                return Module(kind="file", path=found[0])
            if found:
                return Module(kind="package", path=FilePath(package), files=tuple(found))
        if package in self.packages:
            return self._package(importer, package) if name in ("", "*") else Module(kind="missing")
        if package in self.parents and name in ("", "*"):
            return Module(kind="namespace", path=FilePath(package))
        return Module(kind="external", dotted=package)

    def _package(self, importer: FilePath, name: str) -> Module:
        files = self.packages[name]
        if name in self._twice:
            files = [
                path
                for path in files
                if not self.headers[path].types
                or any(path in self._chosen(importer, self.providers[name, of]) for of in self.headers[path].types)
            ]
        return Module(kind="package", path=FilePath(name), files=tuple(files))

    def _chosen(self, importer: FilePath, found: list[FilePath]) -> list[FilePath]:
        if len(found) < 2 or not self._nearest:
            return found
        shared = {path: _shared(importer, path) for path in found}
        best = max(shared.values())
        return [path for path in found if shared[path] == best]

    def submodule(self, parent: Module, name: str) -> Module | None:
        inner = f"{parent.path}.{name}" if parent.path else name
        if inner in self.packages:
            return Module(kind="package", path=FilePath(inner), files=tuple(self.packages[inner]))
        return Module(kind="namespace", path=FilePath(inner)) if inner in self.parents else None

    def scope(self, path: FilePath) -> tuple[Module, ...]:
        header = self.headers.get(path, Header())
        names = [*self.own(header), *header.whole, *self.everywhere]
        return tuple(self._package(path, name) for name in dict.fromkeys(names) if name in self.packages)

    def own(self, header: Header) -> Iterable[str]:
        """The packages whose names a file sees because it is in them."""
        return header.packages


class NamespaceResolver(PackageResolver):
    """Packages that contain each other: what is inside one sees the names of those around it."""

    def scope(self, path: FilePath) -> tuple[Module, ...]:
        header = self.headers.get(path, Header())
        names = dict.fromkeys([*self.own(header), *header.whole, *self.everywhere])
        found = [Module(kind="namespace")]  # the root: the outermost names of namespaces
        for name in reversed(names):
            if name in self.packages:
                found.insert(0, self._package(path, name))
            elif name in self.parents:
                found.insert(0, Module(kind="namespace", path=FilePath(name)))
        return tuple(found)

    def own(self, header: Header) -> Iterable[str]:
        return [name for package in header.packages for name in (package, *reversed(_above(package)), "")]


def _above(package: str) -> list[str]:
    parts = package.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def _shared(one: str, other: str) -> int:
    """How many leading folders two paths share."""
    count = 0
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        count += 1
    return count
