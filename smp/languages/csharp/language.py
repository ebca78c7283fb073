"""C# as a `Language`."""

from __future__ import annotations

from collections.abc import Mapping

from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis, FileSummary
from smp.languages.base import Language, Resolver, Tables
from smp.languages.csharp.analysis import analyse
from smp.languages.csharp.tables import TABLES
from smp.languages.nominal.packages import NamespaceResolver


class CSharp(Language):
    """C#, up to the present version of its grammar."""

    name = "csharp"
    family = "csharp"
    suffixes = (".cs",)

    def analyse(self, path: FilePath, content: bytes) -> FileAnalysis:
        return analyse(path, content)

    def wants_config(self, path: FilePath) -> bool:
        return False

    def resolver(self, files: Mapping[FilePath, FileSummary], configs: Mapping[FilePath, bytes]) -> Resolver:
        return NamespaceResolver(files, nearest=False)

    def tables(self) -> Tables:
        return TABLES
