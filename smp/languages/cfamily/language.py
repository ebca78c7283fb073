"""The family as `Language`s."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis, FileSummary
from smp.languages.base import Language, Resolver, Tables
from smp.languages.cfamily.analysis import analyse
from smp.languages.cfamily.includes import COMPILATION_DATABASE
from smp.languages.cfamily.resolve import NameResolver
from smp.languages.cfamily.tables import TABLES


class CFamily(Language):
    """What C and C++ share: a `.h` is either, by what it contains."""

    family = "c"

    def analyse(self, path: FilePath, content: bytes) -> FileAnalysis:
        return analyse(path, content)

    def wants_config(self, path: FilePath) -> bool:
        return posixpath.basename(path) == COMPILATION_DATABASE

    def resolver(self, files: Mapping[FilePath, FileSummary], configs: Mapping[FilePath, bytes]) -> Resolver:
        return NameResolver(files, configs)

    def tables(self) -> Tables:
        return TABLES
