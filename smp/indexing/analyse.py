"""One file → its nodes, structural edges, damage, and the summary that linking reads. Pure; knows no other file."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from smp.domain.ids import FilePath
from smp.domain.source import ANALYSIS_FORMAT, Damage, FileAnalysis, FileSummary
from smp.indexing.bodies import with_bodies
from smp.indexing.nesting import without_depths
from smp.languages.nodes import config_node, file_node, hash_bytes, is_config
from smp.languages.registry import language_of, languages

__all__ = ["ANALYSIS_FORMAT", "Damage", "FileAnalysis", "FileSummary", "analyse", "wants_config"]


def analyse(path: FilePath, content: bytes) -> FileAnalysis:
    """Read one file.

    Args:
        path: Decides the language, by its name.
        content: Bytes as stored; never decoded as a whole.

    Returns:
        For a file of a known language its nodes and summary; for a configuration file a Config node; for any other file
        a File node without language. A file that does not parse keeps every definition outside the damage.
    """
    language = language_of(path)
    if language is not None:
        shallow, deep = without_depths(content)
        analysis = with_bodies(language.analyse(path, shallow), shallow)
        if deep is not None:
            head = msgspec.structs.replace(analysis.nodes[0], source_hash=hash_bytes(content))
            analysis = msgspec.structs.replace(analysis, nodes=(head, *analysis.nodes[1:]))
        return _with_damage(analysis, (deep, language.undecodable(content)))
    node = config_node(path, content) if is_config(path) else file_node(path, content, language=None)
    return FileAnalysis(path=path, language=None, nodes=(node,))


def _with_damage(analysis: FileAnalysis, found: Iterable[Damage | None]) -> FileAnalysis:
    known = [one for one in found if one is not None]
    if not known:
        return analysis
    damage = sorted((*analysis.damage, *known), key=lambda one: (one.line, one.message))
    return msgspec.structs.replace(analysis, damage=tuple(damage))


def wants_config(path: FilePath) -> bool:
    """Whether `link` must be given the content of this file in `configs`."""
    return any(language.wants_config(path) for language in languages())
