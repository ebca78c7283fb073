"""The family as `Language`s: one file → analysis, stratum 0 over the family's files, tables."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis, FileSummary, ImportDecl
from smp.languages.base import Language, Module, Resolver, Tables
from smp.languages.ecmascript.analysis import analyse
from smp.languages.ecmascript.calls import MODULE_VALUE
from smp.languages.ecmascript.grammar import JAVASCRIPT_SUFFIXES, TYPESCRIPT_SUFFIXES
from smp.languages.ecmascript.packages import is_manifest
from smp.languages.ecmascript.resolve import ModuleResolver, Outcome, Resolved
from smp.languages.ecmascript.tables import TABLES
from smp.languages.ecmascript.tsconfig import is_configuration

_SCRIPTS = (*JAVASCRIPT_SUFFIXES, *TYPESCRIPT_SUFFIXES)


class EcmaScriptResolver(Resolver):
    """Modules of the family; answers from the list of files and the configuration."""

    def __init__(self, files: Mapping[FilePath, FileSummary], configs: Mapping[FilePath, bytes]) -> None:
        self._kinds = {path: summary.module_kind for path, summary in files.items()}
        self._modules = ModuleResolver(frozenset(files), {str(path): content for path, content in configs.items()})

    def module(self, importer: FilePath, declaration: ImportDecl) -> Module:
        required = declaration.name == MODULE_VALUE
        found = self._modules.resolve(importer, declaration.module, required=required)
        return _module(found, declaration.module)

    def declaration_file(self, path: FilePath) -> FilePath | None:
        found = self._modules.declaration_of(path)
        return FilePath(found) if found else None

    def submodule(self, parent: Module, name: str) -> Module | None:
        """The module itself where it is asked for as a value and exports no such value.

        `require` of an ECMAScript module, or of one that fills `exports` name by name, gives the whole of it; so does a default
        import of such a CommonJS module (`esModuleInterop`).
        """
        if name == MODULE_VALUE or (name == "default" and self._kind(parent.path) == "commonjs"):
            return parent
        return None

    def _kind(self, path: FilePath) -> str:
        """How a file is a module: by what it uses, else by its suffix or the nearest manifest."""
        return self._kinds.get(path) or self._modules.module_type(path)


def _module(found: Resolved, specifier: str) -> Module:
    if found.outcome is Outcome.FILE:
        types = FilePath(found.types) if found.types else None
        return Module(kind="file", path=FilePath(found.path), types=types)
    if found.outcome is Outcome.EXTERNAL:
        same = specifier.startswith(found.package)
        return Module(kind="external", dotted=specifier if same else found.package)
    suffix = posixpath.splitext(specifier.partition("?")[0])[1]
    if suffix and suffix not in _SCRIPTS and suffix[1:].isalpha():
        # A style sheet, a picture, data: a file that is there, but no program.
        return Module(kind="external", dotted=specifier)
    return Module(kind="missing")


class EcmaScript(Language):
    """What the dialects share."""

    family = "ecmascript"

    def analyse(self, path: FilePath, content: bytes) -> FileAnalysis:
        return analyse(path, content, language=self.name)

    def wants_config(self, path: FilePath) -> bool:
        return is_configuration(path) or is_manifest(path)

    def resolver(self, files: Mapping[FilePath, FileSummary], configs: Mapping[FilePath, bytes]) -> Resolver:
        return EcmaScriptResolver(files, configs)

    def tables(self) -> Tables:
        return TABLES
