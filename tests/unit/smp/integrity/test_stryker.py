"""A report that Stryker 9.6.1 wrote, as outcomes; its file holds a letter that is two bytes and one column."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from smp.domain.errors import SandboxFailed
from smp.domain.ids import FilePath
from smp.domain.mutants import MutantStatus
from smp.integrity.stryker import StrykerMutant, outcomes

REPORT = json.loads((Path(__file__).parent / "stryker_report.json").read_text("utf-8"))["files"]["src/price.js"]
SOURCE = REPORT["source"].encode()
TARGET, TEST = FilePath("src/price.js"), FilePath("test/price.test.js")


def _read(mutants: list[dict[str, object]], source: bytes = SOURCE) -> list[tuple[int, str, str, MutantStatus]]:
    found = outcomes(msgspec.convert(mutants, tuple[StrykerMutant, ...]), TARGET, source, TEST, first_index=3)
    assert [one.mutant.index for one in found] == list(range(3, 3 + len(found)))
    assert all(source[one.mutant.start_byte : one.mutant.end_byte].decode() == one.mutant.original for one in found)
    return [(one.mutant.line, one.mutant.original, one.mutant.mutated, one.status) for one in found]


def test_each_mutant_has_its_bytes_in_the_order_of_the_file() -> None:
    killed, survived = MutantStatus.KILLED, MutantStatus.SURVIVED
    block = SOURCE.decode()[SOURCE.decode().index("{") : SOURCE.decode().index("}") + 1]
    assert _read(REPORT["mutants"]) == [
        (1, block, "{}", killed),
        (2, "percent > 100", "false", survived),
        (2, "percent > 100", "true", killed),
        (2, "percent > 100", "percent <= 100", killed),
        (2, "percent > 100", "percent >= 100", survived),
        (2, '"é: more than all"', '""', survived),
        (3, "(cents * percent) / 100", "cents * percent * 100", killed),
        (3, "cents * percent", "cents / percent", killed),
        (4, "cents - off", "cents + off", killed),
    ]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("Timeout", MutantStatus.TIMEOUT),
        ("NoCoverage", MutantStatus.NOT_COVERED),
        ("CompileError", MutantStatus.INVALID),
        ("RuntimeError", MutantStatus.INVALID),
        ("Ignored", MutantStatus.INVALID),
    ],
)
def test_every_status_of_the_schema_is_known(said: str, status: MutantStatus) -> None:
    assert _read([{**REPORT["mutants"][0], "status": said}])[0][3] is status


@pytest.mark.parametrize("said", ["Pending", "Strange"])
def test_a_mutant_without_a_verdict_is_no_verdict(said: str) -> None:
    with pytest.raises(SandboxFailed, match="verify again"):
        _read([{**REPORT["mutants"][0], "status": said}])


def test_columns_are_those_of_javascript() -> None:
    source = "const a = '😀é' + b;\n".encode()
    place = {"start": {"line": 1, "column": 11}, "end": {"line": 1, "column": 20}}
    one: dict[str, object] = {
        "mutatorName": "ArithmeticOperator",
        "replacement": "'😀é' - b",
        "status": "Killed",
        "location": place,
    }
    assert _read([one], source)[0][1] == "'😀é' + b"
