"""Rust as a `Language`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis, FileSummary
from smp.languages.base import Language, Resolver, Tables
from smp.languages.declared import clean_comment, text_of
from smp.languages.recovery import parse
from smp.languages.rust.declarations import FileWalk
from smp.languages.rust.macros import parser
from smp.languages.rust.modules import CrateResolver, is_configuration
from smp.languages.rust.tables import TABLES

_BEGINNING = re.compile(
    rb"^(?:pub\b|fn\b|async fn|unsafe |const |static |struct |enum |union |trait |impl\b|mod |use |type |macro_rules!|extern |#\[)",
    re.MULTILINE,
)


class Rust(Language):
    """See the package."""

    name = "rust"
    family = "rust"
    suffixes = (".rs",)

    def analyse(self, path: FilePath, content: bytes) -> FileAnalysis:
        root, shown = parse(parser(), content, _BEGINNING)
        walk = FileWalk(path, root)
        walk.walk(len(content))
        first = [text_of(child) for child in root.children[:40] if child.type.endswith("comment")]
        docstring = "\n".join(clean_comment(text) for text in first if text.startswith(("//!", "/*!"))).strip() or None
        tests = path.startswith("tests/") or "/tests/" in path or "/benches/" in path
        return walk.analysis(
            content,
            walk.survey,
            shown=shown,
            role="test" if tests else "source",
            docstring=docstring,
            documented=walk.documented,
        )

    def wants_config(self, path: FilePath) -> bool:
        return is_configuration(path)

    def resolver(self, files: Mapping[FilePath, FileSummary], configs: Mapping[FilePath, bytes]) -> Resolver:
        return CrateResolver({path: summary.module_kind for path, summary in files.items()}, configs)

    def tables(self) -> Tables:
        return TABLES
