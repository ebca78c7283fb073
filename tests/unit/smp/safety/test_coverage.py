"""Coverage reports: lcov and Cobertura, file names as tools write them, functions by their lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smp.domain.errors import Invalid
from smp.domain.graph import Node, NodeKind
from smp.domain.ids import FilePath, NodeId
from smp.domain.metadata import Metadata
from smp.safety import coverage
from smp.safety.coverage import function_pct, hits_of, parse_report

LCOV = b"""TN:
SF:src/shop/money.py
FN:4,rounded
DA:4,3
DA:6,0
DA:7,2,checksum
end_of_record
SF:/build/checkout/src/shop/cart.py
DA:1,1
end_of_record
"""
COBERTURA = b"""<?xml version="1.0"?>
<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">
<coverage><sources><source>src</source></sources><packages><package name="shop"><classes>
<class name="money" filename="shop/money.py"><methods><method name="rounded"><lines><line number="6" hits="0"/></lines></method>
</methods><lines><line number="4" hits="3"/><line number="6" hits="2"/></lines></class>
</classes></package></packages></coverage>"""


def a_function(start: int, end: int, *decorators: str) -> Node:
    return Node(
        id=NodeId("function:a.py#f"),
        kind=NodeKind.FUNCTION,
        name="f",
        qualname="f",
        start_line=start,
        end_line=end,
        metadata=Metadata(decorators=decorators),
    )


def test_lcov_lines_are_read_per_file() -> None:
    report = parse_report(LCOV, path="p")
    assert report["src/shop/money.py"] == {4: 3, 6: 0, 7: 2}
    assert report["/build/checkout/src/shop/cart.py"] == {1: 1}


def test_cobertura_lines_are_read_and_the_best_count_of_a_line_wins() -> None:
    assert parse_report(COBERTURA, path="p") == {"shop/money.py": {4: 3, 6: 2}}


@pytest.mark.parametrize(
    ("report", "file"),
    [
        (LCOV, "src/shop/money.py"),
        (LCOV, "src/shop/cart.py"),
        (COBERTURA, "src/shop/money.py"),
        (b"SF:.\\src\\shop\\money.py\nDA:1,1\nend_of_record", "src/shop/money.py"),
    ],
)
def test_a_file_is_found_under_the_name_its_tool_gave_it(report: bytes, file: str) -> None:
    assert hits_of(parse_report(report, path="p"), FilePath(file))


def test_the_longest_tail_wins_and_another_file_of_the_same_name_does_not_answer() -> None:
    report = parse_report(b"SF:a/x.py\nDA:1,1\nend_of_record\nSF:/r/b/x.py\nDA:1,0\nend_of_record", path="p")
    assert hits_of(report, FilePath("b/x.py")) == {1: 0}
    assert hits_of(report, FilePath("c/x.py")) is None
    assert hits_of(report, FilePath("c/y.py")) is None


def test_the_header_line_does_not_count_as_executed_code() -> None:
    assert function_pct({1: 1, 2: 0, 3: 0}, a_function(1, 3)) == 0
    assert function_pct({1: 1, 2: 1, 3: 0, 4: 0}, a_function(1, 4, "@cached")) == 0
    assert function_pct({1: 1, 2: 1, 3: 0}, a_function(1, 3)) == 50


def test_a_function_on_one_line_is_measured_by_that_line() -> None:
    assert function_pct({5: 2}, a_function(5, 5)) == 100


def test_an_unmeasured_function_has_no_percentage() -> None:
    assert function_pct({50: 1}, a_function(1, 3)) is None


@pytest.mark.parametrize(
    "body", [b"", b"hello", b"<coverage", b"<coverage/>", b"\xff\xfe\x00", b"SF:\nDA:1,1\n", b"{}"]
)
def test_what_is_no_report_is_invalid_and_says_what_is(body: bytes) -> None:
    with pytest.raises(Invalid, match=r"coverage report") as refused:
        parse_report(body, path="coverage_report")
    assert refused.value.path == "coverage_report"


def test_xml_that_expands_entities_is_refused() -> None:
    bomb = b'<!DOCTYPE c [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><coverage>&b;</coverage>'
    with pytest.raises(Invalid):
        parse_report(bomb, path="p")


def test_an_oversized_report_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    # 64 MB of bytes would make the suite slow; the bound is the only thing that is looked at.
    monkeypatch.setattr(coverage, "MAX_REPORT_BYTES", 10)
    with pytest.raises(Invalid, match="larger than 10 bytes"):
        parse_report(LCOV, path="p")


@given(st.dictionaries(st.integers(8, 43), st.integers(0, 2), min_size=1, max_size=20))
def test_percentages_lie_between_0_and_100_and_are_0_exactly_when_no_body_line_ran(hits: dict[int, int]) -> None:
    pct = function_pct(hits, a_function(10, 40))
    inside = {line: count for line, count in hits.items() if 10 <= line <= 40}
    body = [count for line, count in inside.items() if line > 10] or list(inside.values())
    assert (pct is None) == (not body)
    if pct is not None:
        assert 0 <= pct <= 100
        assert (pct == 0) == (not any(body))
