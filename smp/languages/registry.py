"""The explicit list of languages, and look-up by name and by file name."""

from __future__ import annotations

import importlib
from functools import cache

from smp.domain.ids import FilePath
from smp.languages.base import Language

LANGUAGES: tuple[tuple[str, str], ...] = (
    ("smp.languages.python", "Python"),
    ("smp.languages.javascript", "JavaScript"),
    ("smp.languages.typescript", "TypeScript"),
    ("smp.languages.java.language", "Java"),
    ("smp.languages.go", "Go"),
    ("smp.languages.csharp.language", "CSharp"),
    ("smp.languages.c", "C"),
    ("smp.languages.cpp", "Cpp"),
    ("smp.languages.outline.language", "Ruby"),
    ("smp.languages.outline.language", "Php"),
    ("smp.languages.outline.language", "Kotlin"),
    ("smp.languages.outline.language", "Swift"),
    ("smp.languages.outline.language", "Scala"),
    ("smp.languages.outline.language", "Bash"),
    ("smp.languages.outline.language", "Lua"),
    ("smp.languages.rust", "Rust"),
)
"""(module, class) of each language; imported when first needed, for grammars are costly to load. Add a line to add one."""


@cache
def languages() -> tuple[Language, ...]:
    """All languages, in the order of `LANGUAGES`."""
    return tuple(getattr(importlib.import_module(module), name)() for module, name in LANGUAGES)


@cache
def _by_suffix() -> dict[str, Language]:
    return {suffix: language for language in languages() for suffix in language.suffixes}


def language_of(path: FilePath) -> Language | None:
    """The language of a file by its name; None if no language claims it."""
    name = path.rpartition("/")[2].lower()
    table = _by_suffix()
    start = name.find(".", 1)
    while start != -1:
        found = table.get(name[start:])
        if found is not None:
            return found
        start = name.find(".", start + 1)
    return None


def language_named(name: str) -> Language | None:
    """The language with this name."""
    return next((language for language in languages() if language.name == name), None)
