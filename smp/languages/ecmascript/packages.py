"""`package.json`: names, workspaces, and what `exports`, `imports`, `main` and `types` lead to.

Given the configuration files of a repository; answers are repository-relative paths as the manifest writes them. Whether
a file is really there is the caller's question: a manifest usually names build output, which no repository holds.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml  # type: ignore[import-untyped]
from msgspec import Struct

from smp.languages.ecmascript.jsonc import as_text, as_texts, read_object
from smp.languages.ecmascript.tsconfig import join

MANIFEST = "package.json"
PNPM_WORKSPACE = "pnpm-workspace.yaml"
LERNA = "lerna.json"
_DEPENDENCIES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
# Conditions that name sources come first: an edge has to end at the code people edit, not at its build.
CONDITIONS_IMPORT = ("source", "development", "import", "module", "node", "browser", "default", "require", "types")
CONDITIONS_REQUIRE = ("source", "development", "require", "node", "browser", "default", "import", "types")


class Package(Struct, frozen=True, kw_only=True):
    """A package of the repository, `folder` empty at the root."""

    folder: str
    manifest: dict[str, Any]

    @property
    def name(self) -> str | None:
        """The name it is imported by."""
        return as_text(self.manifest.get("name"))

    @property
    def module_type(self) -> str:
        """`module` or `commonjs`, empty when the manifest does not say."""
        return as_text(self.manifest.get("type")) or ""


def is_manifest(path: str) -> bool:
    """True for files that say what packages the repository has."""
    return posixpath.basename(path) in (MANIFEST, PNPM_WORKSPACE, LERNA)


class Packages:
    """The packages of a repository. Pure: answers depend on the files given alone."""

    def __init__(self, configs: Mapping[str, bytes]) -> None:
        self._packages: dict[str, Package] = {}
        self._workspace_globs: dict[str, tuple[str, ...]] = {}
        self._enclosing: dict[str, Package | None] = {}
        for path in sorted(configs):
            folder, name = posixpath.split(path)
            if name == MANIFEST:
                manifest = read_object(configs[path])
                self._packages[folder] = Package(folder=folder, manifest=manifest)
                self._add_globs(folder, _workspace_patterns(manifest))
            elif name == LERNA:
                self._add_globs(folder, as_texts(read_object(configs[path]).get("packages")))
            elif name == PNPM_WORKSPACE:
                self._add_globs(folder, _pnpm_patterns(configs[path]))
        self._by_name: dict[str, list[Package]] = {}
        for package in self._packages.values():
            if package.name:
                self._by_name.setdefault(package.name, []).append(package)

    def enclosing(self, path: str) -> Package | None:
        """The package a file belongs to: the nearest manifest above it."""
        folder = posixpath.dirname(path)
        if folder not in self._enclosing:
            found = self._packages.get(folder)
            if found is None and folder:
                found = self.enclosing(folder)
            self._enclosing[folder] = found
        return self._enclosing[folder]

    def at(self, folder: str) -> Package | None:
        """The package whose manifest lies in this folder."""
        return self._packages.get("" if folder == "." else folder)

    def named(self, name: str, importer: str) -> Package | None:
        """The package of the repository that a bare name means for an importing file; None for installed ones.

        It must be a sibling in one workspace, the importer's own package, or a dependency given as a folder.
        """
        own = self.enclosing(importer)
        if own is not None and own.name == name:
            return own
        linked = self._linked(own, name) if own is not None else None
        if linked is not None:
            return linked
        for package in self._by_name.get(name, ()):
            for root, globs in self._workspace_globs.items():
                inside = not root or importer.startswith(root + "/")
                if inside and _is_member(root, globs, package.folder):
                    return package
        return None

    def _linked(self, own: Package, name: str) -> Package | None:
        for field in _DEPENDENCIES:
            table = own.manifest.get(field)
            version = as_text(table.get(name)) if isinstance(table, dict) else None
            protocol, colon, target = (version or "").partition(":")
            if colon and protocol in ("file", "link", "portal"):
                folder = join(own.folder, target)
                return self.at(folder) if folder is not None else None
        return None

    def _add_globs(self, root: str, patterns: Iterable[str]) -> None:
        self._workspace_globs[root] = self._workspace_globs.get(root, ()) + tuple(patterns)


def entry_targets(package: Package, subpath: str, *, required: bool) -> tuple[str, ...] | None:
    """Where a package's entry leads, best first, relative to the package.

    Args:
        subpath: Empty for the package itself, else the part after its name.
        required: Asked by `require` rather than `import`.

    Returns:
        Empty when the manifest says nothing; None when `exports` hides the entry.
    """
    conditions = CONDITIONS_REQUIRE if required else CONDITIONS_IMPORT
    if "exports" in package.manifest:
        key = f"./{subpath}" if subpath else "."
        table = package.manifest["exports"]
        if not (isinstance(table, dict) and any(entry.startswith(".") for entry in table)):
            table = {".": table}
        return _select(table, key, conditions)
    if subpath:
        return (subpath,)
    fields = ("source", "main", "types", "typings") if required else ("source", "module", "main", "types", "typings")
    return tuple(text for text in (as_text(package.manifest.get(field)) for field in fields) if text)


def private_targets(package: Package, specifier: str, *, required: bool) -> tuple[str, ...] | None:
    """Where a `#name` leads by the `imports` of its package; None when it is not there."""
    table = package.manifest.get("imports")
    conditions = CONDITIONS_REQUIRE if required else CONDITIONS_IMPORT
    return _select(table, specifier, conditions) if isinstance(table, dict) else None


def _select(table: dict[str, Any], key: str, conditions: tuple[str, ...]) -> tuple[str, ...] | None:
    if key in table and "*" not in key:
        found = _targets(table[key], conditions)
        return found or None
    patterns = sorted((p for p in table if p.count("*") == 1), key=lambda p: (-len(p.partition("*")[0]), -len(p), p))
    for pattern in patterns:
        prefix, _, suffix = pattern.partition("*")
        long_enough = len(key) > len(prefix) + len(suffix)
        if long_enough and key.startswith(prefix) and key.endswith(suffix):
            middle = key[len(prefix) : len(key) - len(suffix)]
            found = tuple(target.replace("*", middle) for target in _targets(table[pattern], conditions))
            return found or None
    return None


def _targets(value: object, conditions: tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list):
        return tuple(target for item in value for target in _targets(item, conditions))
    if isinstance(value, dict):
        return tuple(t for name in conditions if name in value for t in _targets(value[name], conditions))
    return ()


def _workspace_patterns(manifest: dict[str, Any]) -> tuple[str, ...]:
    workspaces = manifest.get("workspaces")
    return as_texts(workspaces.get("packages") if isinstance(workspaces, dict) else workspaces)


def _pnpm_patterns(content: bytes) -> tuple[str, ...]:
    try:
        value = yaml.safe_load(content)
    except yaml.YAMLError:
        return ()
    return as_texts(value.get("packages")) if isinstance(value, dict) else ()


def _is_member(root: str, globs: tuple[str, ...], folder: str) -> bool:
    relative = folder[len(root) + 1 :] if root and folder.startswith(root + "/") else folder
    if root and relative == folder:
        return False
    kept = [glob for glob in globs if not glob.startswith("!")]
    dropped = [glob[1:] for glob in globs if glob.startswith("!")]
    return any(_glob_matches(g, relative) for g in kept) and not any(_glob_matches(g, relative) for g in dropped)


def _glob_matches(pattern: str, folder: str) -> bool:
    text = pattern.removeprefix("./").rstrip("/")
    expression = re.escape(text).replace(r"\*\*/", "(?:.*/)?").replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
    return re.fullmatch(expression, folder) is not None
