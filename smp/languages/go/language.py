"""Go as a `Language`."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

import tree_sitter
import tree_sitter_go

from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis, FileSummary
from smp.languages.base import Language, Resolver, Tables
from smp.languages.declared import documentation, text_of
from smp.languages.go.declarations import FileWalk
from smp.languages.go.modules import PackageResolver, is_configuration
from smp.languages.go.tables import TABLES
from smp.languages.recovery import parse

_GENERATED = re.compile(rb"^// Code generated .* DO NOT EDIT\.$", re.MULTILINE)
_BEGINNING = re.compile(rb"^(?:func|type|var|const|import)\b", re.MULTILINE)
_HEAD = 2000
"""Bytes in which the mark of generated code is looked for."""


@functools.cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_go.language()))


class Go(Language):
    """See the package."""

    name = "go"
    family = "go"
    suffixes = (".go",)

    def analyse(self, path: FilePath, content: bytes) -> FileAnalysis:
        root, shown = parse(_parser(), content, _BEGINNING, b"package p\n")
        walk = FileWalk(path, root)
        walk.walk(len(content))
        clause = next((child for child in root.named_children if child.type == "package_clause"), None)
        name = next((text_of(child) for child in clause.named_children), "") if clause is not None else ""
        walk.b.module_kind = name
        docstring = documentation(clause, lambda text: not text.startswith("//go:"))[0] if clause is not None else None
        role = "test" if path.endswith("_test.go") else "generated" if _GENERATED.search(content[:_HEAD]) else "source"
        return walk.analysis(
            content,
            walk.survey,
            shown=shown,
            role=role,
            docstring=docstring,
            documented=walk.documented,
        )

    def wants_config(self, path: FilePath) -> bool:
        return is_configuration(path)

    def resolver(self, files: Mapping[FilePath, FileSummary], configs: Mapping[FilePath, bytes]) -> Resolver:
        return PackageResolver({path: summary.module_kind for path, summary in files.items()}, configs)

    def tables(self) -> Tables:
        return TABLES
