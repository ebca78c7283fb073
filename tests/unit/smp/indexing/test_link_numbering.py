"""Ops keep their numbers from version to version of a file."""

from __future__ import annotations

import msgspec

from smp.domain.ids import FilePath
from smp.domain.source import FileSummary, Op
from smp.indexing.analyse import analyse
from smp.indexing.linking.numbering import EMPTY, OPERANDS, renumber, written_in

SOURCE = (
    "import os\nfrom a import b\n\nclass Box(b):\n    size: int = 0\n    def put(self, x, *more):\n        self.held = [x, *more]\n"
    "        return self\n\ndef first(box: Box):\n    return box.put(b(1)).held\n\ndef last():\n    with first(Box()) as got:\n"
    "        return {'got': got, **got}\n"
)


def summary(text: str) -> FileSummary:
    found = analyse(FilePath("m.py"), text.encode()).summary
    assert found is not None
    return found


def test_every_kind_of_op_says_what_its_operands_are() -> None:
    assert OPERANDS.keys() == {int(op) for op in Op}


def test_a_function_put_in_the_middle_leaves_all_others_their_numbers() -> None:
    old = summary(SOURCE)
    new = summary(SOURCE.replace("def first", "def added(y):\n    return y.z(y)\n\ndef first"))
    numbers = renumber(old, new)
    assert sorted(set(numbers)) == sorted(numbers)
    assert set(range(len(old.ops))) <= set(numbers)
    written = written_in(numbers, max(numbers) + 1, new)
    kept = [at for at, op in enumerate(old.ops) if op[0] == Op.CALL]
    assert [len(written.ops[at]) for at in kept] == [len(old.ops[at]) for at in kept]
    assert all(written.ops[at][0] == Op.CALL for at in kept)


def test_what_is_gone_leaves_an_empty_place() -> None:
    old = summary(SOURCE)
    new = summary(SOURCE.partition("def last")[0])
    numbers = renumber(old, new)
    size = max(len(old.ops), max(numbers) + 1)
    written = written_in(numbers, size, new)
    assert len(new.ops) < size
    assert len([op for op in written.ops if op != EMPTY]) == len([op for op in new.ops if op != EMPTY])


def test_other_numbers_and_back_is_the_same_file() -> None:
    old = summary(SOURCE)
    size = len(old.ops)
    there = [size - 1 - at for at in range(size)]
    again = written_in(there, size, written_in(there, size, old))
    assert msgspec.json.encode(again) == msgspec.json.encode(old)
