"""What every mutator promises, and the native one's mutants of Python."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smp.adapters.mutator_native import NativeMutator
from smp.domain.errors import Invalid
from smp.domain.ids import FilePath
from smp.domain.mutants import Mutant
from smp.ports.mutator import Mutator

PATH = FilePath("src/a.py")
MUTATOR: Mutator = NativeMutator()


def mutants(source: str) -> list[Mutant]:
    return list(MUTATOR.enumerate(PATH, textwrap.dedent(source).encode(), lines=None))


def pairs(source: str) -> set[tuple[str, str]]:
    return {(one.original, one.mutated.strip()) for one in mutants(source)}


EVERYTHING = '''
import functools
LIMIT = 3
def f(a, b=1, *, c="x"):
    """Doc."""
    if a < b and not c or a is not None:
        a += 1
        raise ValueError("text %s" % a)
    for x in range(3):
        b = x if a else -x
    del a
    g(a)
    return a[1:2] == 3.5, True
class K(Base[int]):
    size: int = 4
    async def m(self):
        await self.go()
        return self.size @ 2 if self else None
'''


def test_order_and_indices_are_those_of_the_file() -> None:
    found = mutants(EVERYTHING)
    assert [one.index for one in found] == list(range(len(found)))
    assert [one.line for one in found] == sorted(one.line for one in found)
    assert found == mutants(EVERYTHING)


def test_every_mutant_compiles_differs_and_keeps_the_lines() -> None:
    source = EVERYTHING.encode()
    for one in MUTATOR.enumerate(PATH, source, lines=None):
        changed = MUTATOR.apply(source, one)
        assert source[one.start_byte : one.end_byte].decode() == one.original
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
        assert changed.count(b"\n") == source.count(b"\n")


def test_all_operators_are_there() -> None:
    assert {one.operator for one in mutants(EVERYTHING)} >= {
        "comparison", "boundary", "boolean", "arithmetic", "constant", "return_value", "statement_deletion"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", {("<", ">="), ("<", "<=")}),
        ("x = a == b", {("==", "!=")}),
        ("x = a is  not b", {("is  not", "is")}),
        ("x = a not in b", {("not in", "in")}),
        ("x = a and b", {("and", "or")}),
        ("x = a // b", {("//", "/")}),
        ("x = -a", {("-a", "a")}),
        ("x = 0x10", {("0x10", "17")}),
        ("x = 1.5", {("1.5", "2.5")}),
        ("x = ''", {("''", "'XX'")}),
        ("x = b'ab'", {("b'ab'", "b''")}),
        ("if a:\n    pass", {("a", "(not (a))")}),
        ("while not a:\n    pass", {("not a", "(a)")}),
        ("def f():\n    return a", {("a", "None")}),
        ("def f():\n    g()", {("g()", "pass")}),
        ("def f(a):\n    a.b = a", {("a.b = a", "pass")}),
        ("def f(a):\n    a = b", {("a = b", "pass")}),
    ],
)
def test_what_is_changed_into_what(source: str, expected: set[tuple[str, str]]) -> None:
    assert pairs(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""Doc."""',
        "def f():\n    'Doc.'",
        "class A:\n    'Doc.'\n    x: 'B'",
        "x: int | None",
        "def f(a: 'A | 3') -> Literal[3]: ...",
        "type A = int | str",
        "X = Foo | Bar",
        "if TYPE_CHECKING:\n    X = 1",
        "if typing.TYPE_CHECKING:\n    X = 1",
        "if __name__ == '__main__':\n    main(3)",
        "from a import b\nimport c",
        "@overload\ndef f(a=1): ...",
        "@abc.abstractmethod\ndef f():\n    return g(1)",
        "@lru_cache(maxsize=3)\ndef f(): ...",
        "T = TypeVar('T', bound='A')",
        "__all__ = ['a']",
        "def f():\n    x = a",
        "def f():\n    logger.info('a', 3)",
        "assert a < 3",
    ],
)
def test_what_no_test_could_notice_is_left_alone(source: str) -> None:
    assert pairs(source) == set()


def test_the_text_of_an_error_stays_but_the_error_may_go() -> None:
    assert pairs("def f():\n    raise ValueError('a' + 'b')") == {("raise ValueError('a' + 'b')", "pass")}


def test_only_the_asked_lines_are_changed() -> None:
    source = b"a = 1\nb = 2\nc = 3\n"
    assert [one.original for one in MUTATOR.enumerate(PATH, source, lines=frozenset({2}))] == ["2"]


@pytest.mark.parametrize(
    "source",
    [b"\xef\xbb\xbfx = 1\r\ny = 2\r\n", "x = 'ä'\ny = 2\n".encode(), b"# coding: latin-1\nx = '\xe4'\ny = 2\n"],
)
def test_bytes_beside_a_mutant_stay_as_they_are(source: bytes) -> None:
    two = next(one for one in MUTATOR.enumerate(PATH, source, lines=None) if one.original == "2")
    assert MUTATOR.apply(source, two) == source.replace(b"y = 2", b"y = 3")


def test_a_damaged_file_gives_the_mutants_of_what_is_whole() -> None:
    assert ("1", "2") in pairs("x = 1\ndef f(:\n    return 2\n")


def test_a_file_in_another_language_is_refused_with_the_way_out() -> None:
    with pytest.raises(Invalid, match=r"\.py"):
        MUTATOR.enumerate(FilePath("a.xyz"), b"", lines=None)


@given(st.text(alphabet="abf(x):=<>+-*/ \n\t'\"and not[]{}#0.", max_size=120))
def test_any_text_is_taken(text: str) -> None:
    source = text.encode()
    for one in MUTATOR.enumerate(PATH, source, lines=None):
        assert source[: one.start_byte] + one.original.encode() + source[one.end_byte :] == source
