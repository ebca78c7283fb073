"""The compiler options that decide where a module specifier leads: `paths`, `baseUrl`, `rootDirs`, output folders.

Given the paths and contents of a repository's configuration files. The nearest `tsconfig.json` (or `jsconfig.json`)
above a file governs it; one that only lists `references` hands over to the first referenced project that holds the file.
Every path in an `Options` is repository-relative.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from smp.languages.ecmascript.jsonc import as_text, as_texts, read_object

_NAMES = ("tsconfig.json", "jsconfig.json")
_EXTENDS_LIMIT = 16


class PathAlias(Struct, frozen=True):
    """One entry of `paths`: a pattern with at most one `*`, and where it may lead, in order."""

    pattern: str
    targets: tuple[str, ...]


class Options(Struct, frozen=True, kw_only=True):
    """Resolution options of one project.

    Attributes:
        path: The configuration file; None where no file governs.
        base_url: Folder that bare specifiers may be relative to; None when not set.
        out_dir: Where the build goes, and root_dir: what it is made from; None when not set.
    """

    path: str | None = None
    base_url: str | None = None
    aliases: tuple[PathAlias, ...] = ()
    root_dirs: tuple[str, ...] = ()
    out_dir: str | None = None
    root_dir: str | None = None
    jsx: str | None = None


NO_OPTIONS = Options()


def join(folder: str, relative: str) -> str | None:
    """A repository-relative path, `.` for the root itself; None when it leaves the repository."""
    path = posixpath.normpath(posixpath.join(folder or ".", relative))
    return None if path == ".." or path.startswith(("../", "/")) else path


def is_configuration(path: str) -> bool:
    """True for files that the options of a project may come from."""
    name = posixpath.basename(path)
    return name.endswith(".json") and ("tsconfig" in name or "jsconfig" in name)


class Projects:
    """The TypeScript projects of a repository. Pure: answers depend on the files given alone."""

    def __init__(self, configs: Mapping[str, bytes]) -> None:
        self._configs = {path: content for path, content in configs.items() if is_configuration(path)}
        self._raw: dict[str, dict[str, Any]] = {}
        self._options: dict[str, Options] = {}
        self._nearest: dict[str, str | None] = {}

    def governing(self, path: str) -> Options:
        """The options that apply to a file; `NO_OPTIONS` where none do."""
        config = self._nearest_config(posixpath.dirname(path))
        return NO_OPTIONS if config is None else self.options(self._project_of(config, path, depth=0))

    def options(self, config: str) -> Options:
        """The options of a configuration file, what it extends included."""
        if config not in self._options:
            self._options[config] = self._merge(config, depth=0)
        return self._options[config]

    def project_in(self, folder: str) -> Options:
        """The options of the project whose configuration lies in this folder."""
        for name in _NAMES:
            path = join(folder, name)
            if path in self._configs:
                return self.options(path)
        return NO_OPTIONS

    def _read(self, config: str) -> dict[str, Any]:
        if config not in self._raw:
            self._raw[config] = read_object(self._configs.get(config))
        return self._raw[config]

    def _nearest_config(self, folder: str) -> str | None:
        if folder not in self._nearest:
            found = next((name for name in (posixpath.join(folder, n) for n in _NAMES) if name in self._configs), None)
            if found is None and folder:
                found = self._nearest_config(posixpath.dirname(folder))
            self._nearest[folder] = found
        return self._nearest[folder]

    def _project_of(self, config: str, path: str, *, depth: int) -> str:
        """The project that compiles a file: a solution file lists others and holds no file itself."""
        raw = self._read(config)
        references = raw.get("references")
        if not isinstance(references, list) or depth > _EXTENDS_LIMIT or self._includes(config, raw, path):
            return config
        for reference in references:
            target = self._reference(config, reference)
            if target is None or target == config:
                continue
            deeper = self._project_of(target, path, depth=depth + 1)
            if self._includes(deeper, self._read(deeper), path):
                return deeper
        return config

    def _reference(self, config: str, reference: object) -> str | None:
        text = as_text(reference.get("path")) if isinstance(reference, dict) else None
        target = join(posixpath.dirname(config), text) if text else None
        if target is None or target in self._configs:
            return target
        inner = join(target, "tsconfig.json")
        return inner if inner in self._configs else None

    def _includes(self, config: str, raw: dict[str, Any], path: str) -> bool:
        folder = posixpath.dirname(config)
        files, include = raw.get("files"), raw.get("include")
        if isinstance(files, list) and any(join(folder, item) == path for item in as_texts(files)):
            return True
        if include is None:
            inside = not folder or path.startswith(folder + "/")
            return not isinstance(files, list) and inside and not self._excluded(folder, raw, path)
        matched = any(_matches(folder, pattern, path) for pattern in as_texts(include))
        return matched and not self._excluded(folder, raw, path)

    def _excluded(self, folder: str, raw: dict[str, Any], path: str) -> bool:
        return any(_matches(folder, pattern, path) for pattern in as_texts(raw.get("exclude")))

    def _merge(self, config: str, *, depth: int) -> Options:
        """Own options over inherited ones; paths stay relative to the file that wrote them, as the compiler has it."""
        raw = self._read(config)
        folder = posixpath.dirname(config)
        base = NO_OPTIONS
        if depth < _EXTENDS_LIMIT:
            for text in as_texts(raw.get("extends")):
                parent = self._extended(folder, text)
                if parent is not None and parent != config:
                    base = _overlay(base, self._merge(parent, depth=depth + 1))
        options = raw.get("compilerOptions")
        own = options if isinstance(options, dict) else {}
        base_url = _folder_option(folder, own.get("baseUrl"))
        origin = base_url or (base.base_url if "baseUrl" not in own else None) or folder or "."
        return _overlay(
            base,
            Options(
                path=config,
                base_url=base_url,
                aliases=_aliases(origin, own.get("paths")),
                root_dirs=tuple(d for d in (_folder_option(folder, t) for t in as_texts(own.get("rootDirs"))) if d),
                out_dir=_folder_option(folder, own.get("outDir")),
                root_dir=_folder_option(folder, own.get("rootDir")),
                jsx=as_text(own.get("jsx")),
            ),
        )

    def _extended(self, folder: str, text: str) -> str | None:
        """A configuration named by a relative path; one from an installed package is not part of the repository."""
        if not text.startswith("."):
            return None
        target = join(folder, text)
        if target is None or target in self._configs:
            return target
        candidates = (f"{target}.json", posixpath.join(target, "tsconfig.json"))
        return next((path for path in candidates if path in self._configs), None)


def _overlay(base: Options, own: Options) -> Options:
    return Options(
        path=own.path or base.path,
        base_url=own.base_url or base.base_url,
        aliases=own.aliases or base.aliases,
        root_dirs=own.root_dirs or base.root_dirs,
        out_dir=own.out_dir or base.out_dir,
        root_dir=own.root_dir or base.root_dir,
        jsx=own.jsx or base.jsx,
    )


def _folder_option(folder: str, value: object) -> str | None:
    text = as_text(value)
    return join(folder, text.replace("${configDir}", ".")) if text is not None else None


def _aliases(origin: str, value: object) -> tuple[PathAlias, ...]:
    """Most specific first, as the compiler matches: without a star, then by the longest text before the star."""
    if not isinstance(value, dict):
        return ()
    aliases = []
    for pattern, targets in value.items():
        placed = (join(origin, text.replace("${configDir}", ".")) for text in as_texts(targets))
        aliases.append(PathAlias(pattern, tuple(target for target in placed if target is not None)))
    aliases.sort(key=lambda alias: ("*" in alias.pattern, -len(alias.pattern.partition("*")[0]), alias.pattern))
    return tuple(aliases)


def _matches(folder: str, pattern: str, path: str) -> bool:
    """An `include` pattern: `**/` is any depth, `*` and `?` stay inside a name; a bare folder means all below it."""
    placed = join(folder, pattern)
    if placed is None:
        return False
    if placed == ".":
        return True
    if not any(mark in posixpath.basename(placed) for mark in "*?."):
        placed = posixpath.join(placed, "**/*")
    expression = re.escape(placed).replace(r"\*\*/", "(?:.*/)?").replace(r"\*\*", ".*")
    expression = expression.replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    return re.fullmatch(expression, path) is not None
