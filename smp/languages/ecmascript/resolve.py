"""From a module specifier to a file of the repository, an external package, or nothing.

Takes the list of all files and the contents of the configuration files; opens nothing, so a huge or binary file that
an import names costs no more than its path. The order of the rules is the compiler's (TypeScript, "moduleResolution"
`bundler`) with one exception: where both a build and its source are in the repository, the source wins.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping
from enum import StrEnum

from msgspec import Struct

from smp.languages.ecmascript.builtins import NODE_MODULES
from smp.languages.ecmascript.packages import Package, Packages, entry_targets, private_targets
from smp.languages.ecmascript.tsconfig import Options, Projects, join

_TYPESCRIPT_ORDER = (".ts", ".tsx", ".mts", ".cts")
_JAVASCRIPT_ORDER = (".js", ".jsx", ".mjs", ".cjs")
_DECLARATION_ORDER = (".d.ts", ".d.mts", ".d.cts")
# What a written suffix may stand for: TypeScript sources import the name of the file they become.
_SUBSTITUTES = {
    ".js": (".ts", ".tsx", ".js", ".jsx", ".d.ts"),
    ".jsx": (".tsx", ".jsx", ".d.ts"),
    ".mjs": (".mts", ".mjs", ".d.mts"),
    ".cjs": (".cts", ".cjs", ".d.cts"),
}
_BUILD_FOLDERS = ("dist", "build", "lib", "out", "output", "esm", "cjs", "es", "types", "typings")
_SOURCE_FOLDERS = ("src", "source", "lib")


class Outcome(StrEnum):
    """What a specifier turned out to be."""

    FILE = "file"
    EXTERNAL = "external"
    MISSING = "missing"


class Resolved(Struct, frozen=True):
    """Where a specifier leads.

    Attributes:
        path: The file that runs (for FILE), else empty.
        types: A declaration file beside it that gives its types; empty when the file speaks for itself.
        package: Name of the package for EXTERNAL (`node:fs` for the platform's own).
    """

    outcome: Outcome
    path: str = ""
    types: str = ""
    package: str = ""


_MISSING = Resolved(Outcome.MISSING)


class ModuleResolver:
    """Resolution over one state of a repository. Pure: same files and configurations, same answers."""

    def __init__(self, files: Collection[str], configs: Mapping[str, bytes]) -> None:
        self._files = files
        self._projects = Projects(configs)
        self._packages = Packages(configs)
        self._memo: dict[tuple[str, str, bool, bool], Resolved] = {}

    def resolve(self, importer: str, specifier: str, *, required: bool = False) -> Resolved:
        """What a specifier means in a file; `required` where it is the argument of `require`."""
        folder = posixpath.dirname(importer)
        typed = importer.endswith(_TYPESCRIPT_ORDER)
        key = (folder, specifier, required, typed)
        if key not in self._memo:
            self._memo[key] = self._resolve(importer, specifier, required=required, typed=typed)
        return self._memo[key]

    def declaration_of(self, path: str) -> str:
        """The declaration file beside a JavaScript file; empty if there is none."""
        return self._with_types(path).types

    def module_type(self, path: str) -> str:
        """`module` or `commonjs` by suffix or the nearest manifest; empty where neither says."""
        if path.endswith((".mjs", ".mts")):
            return "module"
        if path.endswith((".cjs", ".cts")):
            return "commonjs"
        package = self._packages.enclosing(path)
        return package.module_type if package is not None else ""

    def _resolve(self, importer: str, specifier: str, *, required: bool, typed: bool) -> Resolved:
        bare = specifier.partition("?")[0]  # bundlers take a query (`./x?worker`) for the same file
        if bare.startswith(("./", "../", "/")) or bare in (".", ".."):
            return self._relative(importer, bare, typed=typed)
        if bare.startswith(("node:", "bun:", "data:", "http:", "https:")) or not bare:
            return Resolved(Outcome.EXTERNAL, package=bare)
        if bare.startswith("#"):
            found = self._private(importer, bare, required=required, typed=typed)
            if found is not None:
                return found
        options = self._projects.governing(importer)
        found = self._aliased(options, bare, typed=typed)
        if found is not None:
            return found
        if bare.split("/", 1)[0] in NODE_MODULES:
            return Resolved(Outcome.EXTERNAL, package=f"node:{bare}")
        if options.base_url is not None:
            found = self._load(join(options.base_url, bare), typed=typed)
            if found is not None:
                return found
        return self._package(importer, bare, required=required, typed=typed)

    def _relative(self, importer: str, specifier: str, *, typed: bool) -> Resolved:
        folder = posixpath.dirname(importer)
        target = join(folder, specifier) if not specifier.startswith("/") else None
        found = self._load(target, typed=typed)
        if found is not None:
            return found
        for sibling in self._overlaid(importer, target):
            found = self._load(sibling, typed=typed)
            if found is not None:
                return found
        return _MISSING

    def _overlaid(self, importer: str, target: str | None) -> tuple[str, ...]:
        """The same place under the other `rootDirs`, which the compiler treats as one folder."""
        roots = self._projects.governing(importer).root_dirs if target is not None else ()
        for root in roots:
            if target is not None and (target == root or target.startswith(root + "/")):
                rest = target[len(root) :].lstrip("/")
                return tuple(posixpath.normpath(posixpath.join(other, rest)) for other in roots if other != root)
        return ()

    def _aliased(self, options: Options, specifier: str, *, typed: bool) -> Resolved | None:
        for alias in options.aliases:
            prefix, star, suffix = alias.pattern.partition("*")
            if star:
                fits = len(specifier) >= len(prefix) + len(suffix)
                if not (fits and specifier.startswith(prefix) and specifier.endswith(suffix)):
                    continue
                middle = specifier[len(prefix) : len(specifier) - len(suffix)]
            elif specifier == alias.pattern:
                middle = ""
            else:
                continue
            for target in alias.targets:
                found = self._load(join("", target.replace("*", middle, 1)), typed=typed)
                if found is not None:
                    return found
        return None

    def _private(self, importer: str, specifier: str, *, required: bool, typed: bool) -> Resolved | None:
        package = self._packages.enclosing(importer)
        targets = private_targets(package, specifier, required=required) if package is not None else None
        for target in targets or ():
            assert package is not None
            if not target.startswith("."):
                return self._package(importer, target, required=required, typed=typed)
            found = self._entry(package, target, typed=typed)
            if found is not None:
                return found
        return None

    def _package(self, importer: str, specifier: str, *, required: bool, typed: bool) -> Resolved:
        parts = specifier.split("/")
        length = 2 if specifier.startswith("@") and len(parts) > 1 else 1
        name, subpath = "/".join(parts[:length]), "/".join(parts[length:])
        package = self._packages.named(name, importer)
        if package is None:
            return Resolved(Outcome.EXTERNAL, package=name)
        targets = entry_targets(package, subpath, required=required)
        if targets is None:
            return _MISSING
        for target in targets:
            found = self._entry(package, target, typed=typed)
            if found is not None:
                return found
        for guess in ("src/index", "index", "lib/index", "src/main") if not subpath else (f"src/{subpath}",):
            found = self._load(join(package.folder, guess), typed=typed)
            if found is not None:
                return found
        return _MISSING

    def _entry(self, package: Package, target: str, *, typed: bool) -> Resolved | None:
        """A target of a manifest: the source it is built from where that is in the repository, else itself."""
        placed = join(package.folder, target)
        if placed is None:
            return None
        for source in self._sources_of(package, placed):
            found = self._load(source, typed=True)
            if found is not None:
                return found
        return self._load(placed, typed=typed)

    def _sources_of(self, package: Package, placed: str) -> tuple[str, ...]:
        """Paths the compiler, or a common layout, would have made a build output from."""
        stem = _without_suffix(placed)
        candidates: list[str] = []
        options = self._projects.project_in(package.folder)
        if options.out_dir and placed.startswith(options.out_dir + "/"):
            rest = stem[len(options.out_dir) + 1 :]
            roots = (options.root_dir or posixpath.join(package.folder, "src"), posixpath.join(package.folder, "src"))
            candidates.extend(posixpath.normpath(posixpath.join(root, rest)) for root in roots)
        inner = stem[len(package.folder) + 1 :] if package.folder else stem
        parts = inner.split("/")
        built = 0
        while built < len(parts) - 1 and parts[built] in _BUILD_FOLDERS:
            built += 1
        for depth in range(built, 0, -1):
            rest = "/".join(parts[depth:])
            candidates.extend(posixpath.join(package.folder, source, rest) for source in _SOURCE_FOLDERS)
            candidates.append(posixpath.join(package.folder, rest))
        return tuple(candidate for candidate in candidates if candidate != stem)

    def _load(self, target: str | None, *, typed: bool) -> Resolved | None:
        """A path without its suffix, a file, or a folder with a manifest or an index."""
        if target is None:
            return None
        found = self._file(target, typed=typed)
        if found is not None:
            return found
        package = self._packages.at(target)
        if package is not None:
            for entry in entry_targets(package, "", required=not typed) or ():
                found = self._entry(package, entry, typed=typed) if posixpath.normpath(entry) != "." else None
                if found is not None:
                    return found
        return self._file(posixpath.normpath(posixpath.join(target, "index")), typed=typed)

    def _file(self, target: str, *, typed: bool) -> Resolved | None:
        stem, suffix = posixpath.splitext(target)
        if suffix in _SUBSTITUTES:
            if not typed and target in self._files:
                return self._with_types(target)
            for substitute in _SUBSTITUTES[suffix]:
                if stem + substitute in self._files:
                    return self._with_types(stem + substitute)
        if suffix and target in self._files:
            return self._with_types(target)
        order = _TYPESCRIPT_ORDER + _JAVASCRIPT_ORDER if typed else _JAVASCRIPT_ORDER + _TYPESCRIPT_ORDER
        for extension in order + _DECLARATION_ORDER:
            if target + extension in self._files:
                return self._with_types(target + extension)
        return None

    def _with_types(self, path: str) -> Resolved:
        """A JavaScript file with the declaration file that lies beside it."""
        if path.endswith(_JAVASCRIPT_ORDER):
            stem = posixpath.splitext(path)[0]
            for extension in _DECLARATION_ORDER:
                if stem + extension in self._files:
                    return Resolved(Outcome.FILE, path, types=stem + extension)
        return Resolved(Outcome.FILE, path)


def _without_suffix(path: str) -> str:
    for suffix in (*_DECLARATION_ORDER, *_TYPESCRIPT_ORDER, *_JAVASCRIPT_ORDER):
        if path.endswith(suffix):
            return path[: -len(suffix)]
    return path
