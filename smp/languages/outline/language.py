"""The languages that are read and not linked."""

from __future__ import annotations

from collections.abc import Mapping

from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis, FileSummary, ImportDecl
from smp.languages.base import Language, Module, Resolver, Tables
from smp.languages.outline import shapes
from smp.languages.outline.analysis import analyse

_NOTHING_KNOWN = Tables()


class _NoModules(Resolver):
    """Leads nowhere; no file of these languages is linked."""

    def module(self, importer: FilePath, declaration: ImportDecl) -> Module:
        return Module(kind="missing")

    def submodule(self, parent: Module, name: str) -> Module | None:
        return None


class Outlined(Language):
    """Definitions and file structure by a table; no calls."""

    shape: shapes.Shape
    links = False

    def __init__(self) -> None:
        self.name = self.family = self.shape.name
        self.suffixes = self.shape.suffixes

    def analyse(self, path: FilePath, content: bytes) -> FileAnalysis:
        return analyse(path, content, self.shape)

    def wants_config(self, path: FilePath) -> bool:
        return False

    def resolver(self, files: Mapping[FilePath, FileSummary], configs: Mapping[FilePath, bytes]) -> Resolver:
        return _NoModules()

    def tables(self) -> Tables:
        return _NOTHING_KNOWN


class Ruby(Outlined):
    """Ruby."""

    shape = shapes.RUBY


class Php(Outlined):
    """PHP."""

    shape = shapes.PHP


class Kotlin(Outlined):
    """Kotlin."""

    shape = shapes.KOTLIN


class Swift(Outlined):
    """Swift."""

    shape = shapes.SWIFT


class Scala(Outlined):
    """Scala."""

    shape = shapes.SCALA


class Bash(Outlined):
    """Shell scripts."""

    shape = shapes.BASH


class Lua(Outlined):
    """Lua."""

    shape = shapes.LUA
