"""Stryker's report as outcomes of the gate (mutation-testing-report-schema, version 1 and 2: `MutantResult`)."""

from __future__ import annotations

from msgspec import Struct

from smp.domain.errors import SandboxFailed
from smp.domain.ids import FilePath, NodeId
from smp.domain.mutants import Mutant, MutantOutcome, MutantStatus

_STATUS = {
    "Killed": MutantStatus.KILLED,
    "Survived": MutantStatus.SURVIVED,
    "Timeout": MutantStatus.TIMEOUT,
    "NoCoverage": MutantStatus.NOT_COVERED,
    # what cannot be compiled or run, and what a comment in the source excludes, says nothing about the tests
    "CompileError": MutantStatus.INVALID,
    "RuntimeError": MutantStatus.INVALID,
    "Ignored": MutantStatus.INVALID,
}


class Position(Struct, frozen=True):
    """line, column: From 1; columns in UTF-16 code units, as JavaScript counts."""

    line: int
    column: int


class Location(Struct, frozen=True):
    """end is behind the last character."""

    start: Position
    end: Position


class StrykerMutant(Struct, frozen=True, rename="camel"):
    """One mutant of a report; what it says besides is passed over."""

    mutator_name: str
    location: Location
    status: str
    replacement: str = ""


def outcomes(
    report: tuple[StrykerMutant, ...], target: FilePath, source: bytes, test: FilePath, *, first_index: int = 0
) -> tuple[MutantOutcome, ...]:
    """The mutants of a target with what became of them, in the order of the file: by place, operator and text.

    Args:
        source: The bytes that Stryker mutated. test: The file whose tests judged.
        first_index: Index of the first one.

    Raises:
        SandboxFailed: A status that is none of the schema's, or one without a verdict.
    """
    lines = source.split(b"\n")
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line) + 1)

    def place(position: Position) -> int:
        text = lines[position.line - 1].decode("utf-8", "surrogateescape")
        before = text.encode("utf-16-le", "surrogatepass")[: 2 * (position.column - 1)]
        return begins[position.line - 1] + len(
            before.decode("utf-16-le", "surrogatepass").encode("utf-8", "surrogateescape")
        )

    found = []
    for one in report:
        if one.status not in _STATUS:
            raise SandboxFailed(f"Stryker has no verdict on a mutant of {target!r} ({one.status}); verify again")
        start, end = place(one.location.start), place(one.location.end)
        found.append((one.location.start.line, start, end, one.mutator_name, one.replacement, _STATUS[one.status]))
    return tuple(
        MutantOutcome(
            mutant=Mutant(
                index=number,
                file=target,
                node_id=NodeId(""),
                line=line,
                operator=operator,
                original=source[start:end].decode("utf-8", "replace"),
                mutated=text,
                start_byte=start,
                end_byte=end,
            ),
            status=status,
            test=test if status in (MutantStatus.KILLED, MutantStatus.SURVIVED) else None,
        )
        for number, (line, start, end, operator, text, status) in enumerate(sorted(found), first_index)
    )
