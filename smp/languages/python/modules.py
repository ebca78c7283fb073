"""Stratum 0: which file a Python module name means.

Source roots are the folders from which absolute imports are looked up: the repository itself, `src`, what configuration
names, and for a script the folder it lies in. A root that is named by configuration comes before one that is guessed.
"""

from __future__ import annotations

import configparser
import tomllib
from collections.abc import Mapping

from smp.domain.ids import FilePath
from smp.domain.source import FileSummary, ImportDecl
from smp.languages.base import Module, Resolver

_CONFIG_NAMES = frozenset({"pyproject.toml", "setup.cfg", "pytest.ini", "tox.ini", "setup.py"})


def is_python_config(path: FilePath) -> bool:
    """Whether a file may say where modules are looked up."""
    return path.rpartition("/")[2] in _CONFIG_NAMES


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


class PythonResolver(Resolver):
    """Modules of one state of a repository."""

    def __init__(self, files: Mapping[FilePath, FileSummary], configs: Mapping[FilePath, bytes]) -> None:
        self._files = frozenset(files)
        self._folders: set[str] = set()
        for path in self._files:
            folder = _folder(path)
            while folder and folder not in self._folders:
                self._folders.add(folder)
                folder = _folder(folder)
        self._roots = self._find_roots(configs)
        self._tops = self._top_names()
        self._memo: dict[tuple[str, str], Module] = {}

    def _find_roots(self, configs: Mapping[FilePath, bytes]) -> tuple[str, ...]:
        named: list[str] = []
        for path in sorted(configs):
            if is_python_config(path):
                base = _folder(path)
                for entry in _configured_roots(path, configs[path]):
                    cleaned = entry.strip().removeprefix("./").rstrip("/")
                    if ".." in cleaned or cleaned.startswith("/"):
                        continue
                    folder = base if cleaned in ("", ".") else _join(base, cleaned)
                    if folder in self._folders or folder == "":
                        named.append(folder)
                guesses = (_join(base, "src"), _join(base, "lib"), base)
                named += [guess for guess in guesses if guess in self._folders or guess == ""]
        named += [guess for guess in ("src", "lib", "") if guess in self._folders or guess == ""]
        # A root inside a package would make its modules importable under two names; configuration may say so, guesses not.
        return tuple(dict.fromkeys(named))

    def _top_names(self) -> frozenset[str]:
        """First parts of names that the project itself provides."""
        tops: set[str] = set()
        for root in self._roots:
            prefix = root + "/" if root else ""
            for path in self._files:
                if path.startswith(prefix):
                    tops.add(path[len(prefix) :].partition("/")[0].partition(".")[0])
        return frozenset(tops)

    def _file_for(self, base: str) -> FilePath | None:
        """The file of a module whose path without suffix is given: package before module, source before stub."""
        for candidate in (f"{base}/__init__.py", f"{base}.py", f"{base}/__init__.pyi", f"{base}.pyi", f"{base}.pyw"):
            if candidate in self._files:
                return FilePath(candidate)
        return None

    def _at(self, base: str, root: str) -> Module | None:
        found = self._file_for(base)
        if found is not None:
            stub = None
            if found.endswith(".py"):
                candidate = found[:-3] + ".pyi"
                stub = FilePath(candidate) if candidate in self._files else None
            return Module(kind="file", path=found, types=stub, parents=self._parents(base, root))
        if base in self._folders:
            return Module(kind="namespace", path=FilePath(base), parents=self._parents(base, root))
        return None

    def _parents(self, base: str, root: str) -> tuple[FilePath, ...]:
        parents = []
        folder = _folder(base)
        while folder and folder != root and len(folder) > len(root):
            found = f"{folder}/__init__.py"
            if found in self._files:
                parents.append(FilePath(found))
            folder = _folder(folder)
        return tuple(reversed(parents))

    def module(self, importer: FilePath, declaration: ImportDecl) -> Module:
        if declaration.level:
            return self._relative(importer, declaration.module, declaration.level)
        return self._absolute(importer, declaration.module)

    def root(self, importer: FilePath, declaration: ImportDecl) -> Module:
        return self._absolute(importer, declaration.module.partition(".")[0])

    def _relative(self, importer: FilePath, name: str, level: int) -> Module:
        folder = _folder(importer)
        for _ in range(level - 1):
            folder = _folder(folder)
        base = _join(folder, name.replace(".", "/")) if name else folder
        if not base:
            return Module(kind="namespace", path=FilePath(""))
        return self._at(base, _folder(base.partition("/")[0])) or Module(kind="missing", dotted="." * level + name)

    def _absolute(self, importer: FilePath, dotted: str) -> Module:
        folder = _folder(importer)
        key = (folder, dotted)
        known = self._memo.get(key)
        if known is None:
            known = self._memo[key] = self._look_up(folder, dotted)
        return known

    def _look_up(self, folder: str, dotted: str) -> Module:
        tail = dotted.replace(".", "/")
        namespace: Module | None = None
        for root in self._search_path(folder):
            found = self._at(_join(root, tail), root)
            if found is None:
                continue
            if found.kind == "file":
                return found
            namespace = namespace or found
        if namespace is not None and self._holds_python(namespace.path):
            return namespace
        top = dotted.partition(".")[0]
        if top in self._tops and self._own_package(folder, top):
            return Module(kind="missing", dotted=dotted)
        return Module(kind="external", dotted=dotted)

    def _search_path(self, folder: str) -> list[str]:
        """Folders from which a file in `folder` imports: its own when it is no package, then the roots.

        A file inside a package does not see its siblings by their bare names; a script does. Enclosing folders that hold
        a package root of their own (a project in a sub-folder without configuration) come last.
        """
        path = []
        if f"{folder}/__init__.py" not in self._files:
            path.append(folder)
        path += self._roots
        top = folder
        while top and f"{top}/__init__.py" in self._files:
            top = _folder(top)
        path.append(top)
        return list(dict.fromkeys(path))

    def _own_package(self, folder: str, top: str) -> bool:
        return any(
            f"{_join(root, top)}/__init__.py" in self._files or f"{_join(root, top)}.py" in self._files
            for root in self._search_path(folder)
        )

    def _holds_python(self, folder: str) -> bool:
        prefix = folder + "/"
        return any(path.startswith(prefix) for path in self._files)

    def submodule(self, parent: Module, name: str) -> Module | None:
        if parent.kind == "file":
            if not parent.path.endswith(("/__init__.py", "/__init__.pyi")) and parent.path not in (
                "__init__.py",
                "__init__.pyi",
            ):
                return None
            base = _folder(parent.path)
        elif parent.kind == "namespace":
            base = parent.path
        elif parent.kind == "external":
            return Module(kind="external", dotted=f"{parent.dotted}.{name}")
        else:
            return None
        found = self._at(_join(base, name), "")
        if found is None:
            return None
        inner = (parent.path,) if parent.kind == "file" else ()
        return Module(kind=found.kind, path=found.path, types=found.types, parents=(*parent.parents, *inner))

    def fixture_files(self, path: FilePath) -> tuple[FilePath, ...]:
        found = [path]
        folder = _folder(path)
        while True:
            candidate = _join(folder, "conftest.py")
            if candidate in self._files and candidate != path:
                found.append(FilePath(candidate))
            if not folder:
                return tuple(found)
            folder = _folder(folder)


def _configured_roots(path: FilePath, content: bytes) -> list[str]:
    name = path.rpartition("/")[2]
    text = content.decode("utf-8", "replace")
    if name == "pyproject.toml":
        try:
            return _toml_roots(tomllib.loads(text))
        except (tomllib.TOMLDecodeError, RecursionError):
            return []
    if name in ("setup.cfg", "pytest.ini", "tox.ini"):
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        try:
            parser.read_string(text)
        except configparser.Error:
            return []
        found: list[str] = []
        for section in ("tool:pytest", "pytest"):
            found += parser.get(section, "pythonpath", fallback="").split()
        for line in parser.get("options", "package_dir", fallback="").splitlines():
            key, _, folder = line.partition("=")
            if not key.strip() and folder.strip():
                found.append(folder.strip())
        where = parser.get("options.packages.find", "where", fallback="")
        return found + ([where] if where else [])
    return []


def _toml_roots(document: Mapping[str, object]) -> list[str]:
    found: list[str] = []
    pytest_options = _table(document, "tool", "pytest", "ini_options")
    entry = pytest_options.get("pythonpath")
    if isinstance(entry, str):
        found += entry.split()
    found += _texts(entry)
    setuptools = _table(document, "tool", "setuptools")
    folders = _table(setuptools, "package-dir")
    top = folders.get("")
    if isinstance(top, str):
        found.append(top)
    found += _texts(_table(setuptools, "packages", "find").get("where"))
    packages = _table(document, "tool", "poetry").get("packages")
    for package in packages if isinstance(packages, list) else ():
        if isinstance(package, dict) and isinstance(package.get("from"), str):
            found.append(str(package["from"]))
    wheel = _table(document, "tool", "hatch", "build", "targets", "wheel")
    found += [_folder(entry) for entry in _texts(wheel.get("packages")) if "/" in entry]
    found += _texts(_table(document, "tool", "pyright").get("extraPaths"))
    found += _texts(_table(document, "tool", "ty", "environment").get("root"))
    mypy_path = _table(document, "tool", "mypy").get("mypy_path")
    if isinstance(mypy_path, str):
        found += mypy_path.replace(",", ":").split(":")
    return found


def _table(document: Mapping[str, object], *keys: str) -> Mapping[str, object]:
    here: object = document
    for key in keys:
        here = here.get(key) if isinstance(here, Mapping) else None
    return here if isinstance(here, Mapping) else {}


def _texts(value: object) -> list[str]:
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []
