"""Statements compiled by themselves give the code that the whole module gives, and only then can be swapped into it."""

from __future__ import annotations

import importlib
import types
from typing import Any

import pytest

from smp.adapters.mutator_native import NativeMutator
from smp.domain.ids import FilePath
from tests.builders.folder_boxes import INSIDE

SOURCE = '''\
"""Module."""
from __future__ import annotations
import base64, functools
try:
    import json as text
except ImportError:
    text = None

LIMIT = 3; SPARE = "äöü"

"""A text that is no docstring."""


@functools.lru_cache(
    maxsize=2)
def coded(value, most=LIMIT):
    return base64.b64encode(text.dumps(value).encode()) if most > 1 else None


class Outer(dict):
    """Docstring."""

    size = 4

    @property
    @functools.wraps(coded)
    def area(self):
        return self.size * self.__hidden()

    def __hidden(self):
        return super().__len__() + \\
            1

    class Inner:
        async def later(self, *, n: int = 2):
            """Says when."""
            def soon():
                return n + 1
            return [soon() for _ in range(n)]


if LIMIT > 2:
    def extra(): return not LIMIT
'''


@pytest.fixture
def code(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(INSIDE))
    return importlib.import_module("mutation_code")


def functions(code: Any, whole: types.CodeType) -> set[tuple[object, ...]]:
    """Identities of all code below a module's, classes apart: a class compiled for one of its methods holds no other."""
    found: set[tuple[object, ...]] = set()
    for inner in code.nested(whole):
        if inner.co_flags & 0x2:  # CO_NEWLOCALS: a function, not a class body
            found.add(code.identity(inner))
        found |= functions(code, inner)
    return found


def test_functions_compiled_alone_are_those_of_the_module(code: Any) -> None:
    source = SOURCE.encode()
    whole = code.compile_quietly(source, "mod.py")
    statements = code.Statements(source, "mod.py", whole)
    parts = [statements.part(one, source[one.start : one.end]) for one in statements.found if one.line > 2]
    assert None not in parts
    assert set().union(*(functions(code, part) for part in parts)) == functions(code, whole)


def test_a_mutant_compiled_alone_is_the_one_compiled_with_its_file(code: Any) -> None:
    source = SOURCE.encode()
    whole = code.compile_quietly(source, "mod.py")
    statements = code.Statements(source, "mod.py", whole)
    mutants = NativeMutator().enumerate(FilePath("mod.py"), source, lines=None)
    assert len(mutants) > 20
    for mutant in mutants:
        before, after = statements.compiled(mutant.start_byte, mutant.end_byte, mutant.mutated)
        mutated = source[: mutant.start_byte] + mutant.mutated.encode() + source[mutant.end_byte :]
        wanted = functions(code, code.compile_quietly(mutated, "mod.py")) - functions(code, whole)
        assert functions(code, after) - functions(code, before) == wanted, (mutant.line, mutant.mutated)


@pytest.mark.parametrize(
    "source", [b"def f():\r\n    return 1\r\n", "# coding: latin-1\ndef f():\n    return 'é'\n".encode("latin-1")]
)
def test_files_whose_offsets_are_counted_otherwise_are_compiled_whole(code: Any, source: bytes) -> None:
    whole = code.compile_quietly(source, "mod.py")
    place = source.index(b"return")
    before, after = code.Statements(source, "mod.py", whole).compiled(place, place + 6, "return 2;")
    assert before is whole
    assert code.nested(after)[0].co_consts[1] == 2
