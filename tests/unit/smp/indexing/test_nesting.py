"""What is nested beyond reason is read as blank, and nothing else."""

from __future__ import annotations

import pytest

from smp.domain.ids import FilePath
from smp.indexing.analyse import analyse
from smp.indexing.nesting import MAX_NESTED, without_depths
from smp.languages.nodes import hash_bytes


@pytest.mark.parametrize("depth", [0, 1, MAX_NESTED])
def test_what_is_within_the_bound_stays(depth: int) -> None:
    content = b"{\n" * depth + b"x" + b"}" * depth
    assert without_depths(content) == (content, None)


def test_only_what_lies_deeper_is_blank_and_every_byte_keeps_its_place() -> None:
    around = b"{" * MAX_NESTED + b"a %s b %s c" + b"}" * MAX_NESTED
    content = around % (b"{x\n{y}}", b"{z}")
    found, damage = without_depths(content)
    assert found == around % (b"  \n    ", b"   ")
    assert damage is not None
    assert damage.line == 1


def test_a_part_that_never_ends_is_blank_to_the_end() -> None:
    found, damage = without_depths(b"a\n" + b"{\n" * (MAX_NESTED + 2) + b"x")
    assert found == b"a\n" + b"{\n" * MAX_NESTED + b" \n \n "
    assert damage is not None
    assert damage.line == MAX_NESTED + 2


def test_definitions_around_the_depth_are_kept_and_the_line_of_it_is_told() -> None:
    depth = MAX_NESTED * 2
    content = b"function before() {}\n" + b"function f() {\n" * depth + b"}\n" * depth + b"function after() {}\n"
    found = analyse(FilePath("deep.ts"), content)
    names = [node.qualname for node in found.nodes[1:]]
    assert {"before", "f", "f.f", "after"} <= set(names)
    assert MAX_NESTED + 1 < len(names) < MAX_NESTED + 5
    assert MAX_NESTED + 2 in [one.line for one in found.damage if "braces nested" in one.message]
    assert found.nodes[0].source_hash == hash_bytes(content)
