"""Long runs of comments are parsed in time that grows with their length, and nothing moves."""

from __future__ import annotations

import pytest

from smp.languages.python.grammar import parse


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("indent", [b"", b"    "])
def test_what_follows_a_long_run_of_comments_keeps_its_place(indent: bytes, newline: bytes) -> None:
    comments = (indent + b"# a licence, or code that somebody kept" + newline) * 20_000
    source = b"def f():" + newline + comments + b"    return 1" + newline + b"def g(): pass" + newline
    functions = [node for node in parse(source).root_node.children if node.type == "function_definition"]
    assert [(node.start_byte, node.start_point.row) for node in functions] == [(0, 0), (source.index(b"def g"), 20_002)]


def test_a_short_run_of_comments_stays_in_the_tree() -> None:
    root = parse(b"# one\n" * 199 + b"x = 1\n").root_node
    assert sum(node.type == "comment" for node in root.children) == 199
