"""From a path to a file: crates by their `Cargo.toml`, modules by the `mod` declarations that lead to them."""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Mapping
from typing import Any

from smp.domain.ids import FilePath
from smp.domain.source import ImportDecl
from smp.languages.base import Module, Resolver

_PLACES = ("src/bin", "examples", "tests", "benches")
_CRATES = "crates of "
_STD = frozenset({"std", "core", "alloc", "proc_macro", "test"})
MAX_MODULES = 64
"""Depth of modules."""


def is_configuration(path: FilePath) -> bool:
    """Whether a file describes crates."""
    return path.rpartition("/")[2] == "Cargo.toml"


class CrateResolver(Resolver):
    """Modules of one state of the repository."""

    def __init__(self, kinds: Mapping[FilePath, str], configs: Mapping[FilePath, bytes]) -> None:
        self._files = frozenset(str(path) for path in kinds)
        self._manifests: dict[str, dict[str, Any]] = {}
        for path in sorted(configs):
            try:
                self._manifests[posixpath.dirname(path)] = tomllib.loads(
                    configs[path].decode("utf-8", errors="replace")
                )
            except (tomllib.TOMLDecodeError, RecursionError):
                continue
        self._libraries: dict[str, str] = {}
        self._roots: dict[str, str] = {}
        for folder in self._manifests:
            self._find_roots(folder)
        if not self._manifests:
            self._roots.update({f: "" for f in self._files if posixpath.basename(f) in ("lib.rs", "main.rs")})
        self._children: dict[str, dict[str, str]] = {}
        self._parents: dict[str, str] = {}
        for file in sorted(self._files, key=lambda f: (f not in self._roots, posixpath.basename(f) != "lib.rs", f)):
            self._adopt(file, kinds[FilePath(file)])

    def _find_roots(self, folder: str) -> None:
        """Files of a package at which crates begin: file → folder of its manifest."""
        manifest = self._manifests[folder]
        package = manifest.get("package")
        if not isinstance(package, dict):
            return
        library = manifest.get("lib", {})
        placed = posixpath.normpath(posixpath.join(folder, str(library.get("path", "src/lib.rs"))))
        if placed in self._files:
            self._roots[placed] = folder
            self._libraries[str(package.get("name", ""))] = placed
            if library.get("name"):
                self._libraries[str(library["name"])] = placed
        given = [posixpath.join(folder, "src/main.rs"), posixpath.join(folder, "build.rs")]
        for kind in ("bin", "test", "example", "bench"):
            listed = manifest.get(kind, [])
            entries = [entry for entry in (listed if isinstance(listed, list) else ()) if isinstance(entry, dict)]
            given += [posixpath.join(folder, str(entry["path"])) for entry in entries if "path" in entry]
        for file in self._files:
            inner = posixpath.relpath(file, folder) if folder else file
            place = next((p for p in _PLACES if inner.startswith(p + "/")), None)
            rest = inner[len(place) + 1 :].split("/") if place is not None else []
            if len(rest) == 1 or (len(rest) == 2 and rest[1] == "main.rs"):
                given.append(file)
        for file in given:
            file = posixpath.normpath(file)
            if file in self._files:
                self._roots.setdefault(file, folder)

    def _adopt(self, file: str, declared: str) -> None:
        """Finds the files of the modules that a file declares."""
        folder, name = posixpath.split(file)
        own = folder if file in self._roots or name == "mod.rs" else posixpath.join(folder, name.removesuffix(".rs"))
        for entry in declared.split(",") if declared else ():
            module, _, path = entry.partition("=")
            inner = module.replace(".", "/")
            places = [f"{own}/{inner}.rs", f"{own}/{inner}/mod.rs"]
            if path:
                places = [posixpath.join(folder, path), posixpath.join(own, path)]
            for place in places:
                found = posixpath.normpath(place)
                if found in self._files and found != file:
                    self._children.setdefault(file, {})[module] = found
                    self._parents.setdefault(found, file)
                    break

    # Answers ---------------------------------------------------------------------------------------------------------

    def module(self, importer: FilePath, declaration: ImportDecl) -> Module:
        parts = declaration.module.split("::")
        start = self._start(importer, parts)
        if isinstance(start, Module):
            return start
        file, position = start
        while position < len(parts):
            inner = ""
            for end in range(position + 1, len(parts) + 1):  # a module in a module that is written in place
                inner = self._children.get(file, {}).get(".".join(parts[position:end]), "")
                if inner:
                    position = end
                    break
            if not inner:
                return Module(kind="missing") if declaration.name == "*" else Module(kind="file", path=FilePath(file))
            file = inner
        return Module(kind="file", path=FilePath(file))

    def _start(self, importer: FilePath, parts: list[str]) -> Module | tuple[str, int]:
        """Where a path begins, and how many of its parts that took."""
        if parts[0] == "crate":
            return self._root(importer), 1
        if parts[0] == "self":
            return importer, 1
        if parts[0] == "super":
            file, position = str(importer), 0
            while position < len(parts) and parts[position] == "super":
                file = self._parents.get(file, "")
                position += 1
                if not file:
                    return Module(kind="missing")
            return file, position
        if parts[0] in self._children.get(importer, {}):
            return importer, 0
        library = self._library(importer, parts[0])
        if library:
            return library, 1
        return Module(kind="external", dotted=".".join(parts))

    def _root(self, file: str) -> str:
        for _ in range(MAX_MODULES):
            above = self._parents.get(file)
            if above is None or file in self._roots:
                return file
            file = above
        return file

    def _library(self, importer: str, name: str) -> str:
        """The root of a crate of the repository by the name under which a file knows it."""
        folder = self._roots.get(self._root(importer), "")
        manifest = self._manifests.get(folder, {})
        package = manifest.get("package", {})
        if isinstance(package, dict) and str(package.get("name", "")).replace("-", "_") == name:
            return self._libraries.get(str(package.get("name", "")), "")
        for listed, entry in self._dependencies(manifest):
            if listed.replace("-", "_") != name:
                continue
            real = str(entry.get("package", listed)) if isinstance(entry, dict) else listed
            if isinstance(entry, dict) and "path" in entry:
                placed = posixpath.normpath(posixpath.join(folder, str(entry["path"])))
                inner = self._manifests.get("" if placed == "." else placed, {}).get("package", {})
                return self._libraries.get(str(inner.get("name", real)), "")
            return self._libraries.get(real, "")
        return next((root for listed, root in self._libraries.items() if listed.replace("-", "_") == name), "")

    def _dependencies(self, manifest: dict[str, Any]) -> list[tuple[str, Any]]:
        tables = [manifest.get(kind, {}) for kind in ("dependencies", "dev-dependencies", "build-dependencies")]
        targets = manifest.get("target", {})
        for target in targets.values() if isinstance(targets, dict) else ():
            if isinstance(target, dict):
                tables += [target.get(kind, {}) for kind in ("dependencies", "dev-dependencies")]
        return [entry for table in tables if isinstance(table, dict) for entry in table.items()]

    def submodule(self, parent: Module, name: str) -> Module | None:
        if parent.kind == "namespace":
            root = parent.path.removeprefix(_CRATES)
            library = self._library(root, name)
            if library:
                return Module(kind="file", path=FilePath(library))
            manifest = self._manifests.get(self._roots.get(root, ""), {})
            known = any(listed.replace("-", "_") == name for listed, _ in self._dependencies(manifest))
            return Module(kind="external", dotted=name) if known or name in _STD else None
        found = self._children.get(parent.path, {}).get(name)
        return Module(kind="file", path=FilePath(found)) if found else None

    def scope(self, path: FilePath) -> tuple[Module, ...]:
        """The crates that a file knows by name."""
        return (Module(kind="namespace", path=FilePath(_CRATES + self._root(path))),)
