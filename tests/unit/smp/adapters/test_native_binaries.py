"""Functions of native programs, found by symbols and lines; files that lie about themselves are passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from smp.adapters.sandbox_bubblewrap.tracing import built_programs
from smp.adapters.tracer_ebpf.binaries import NativeFunction, Program, native_calls, read_program
from smp.domain.traces import CallObservation, Frame


def function(address: int, name: str = "") -> NativeFunction:
    frame = Frame(file="a.c", qualname=f"?.{name}", first_line=address)
    return NativeFunction(address=address, size=16, offset=address, frame=frame)


FIRST, SECOND = function(0x100), function(0x120)
PROGRAM = Program(path="a", functions=(FIRST, SECOND))


@pytest.mark.parametrize(
    ("address", "found"),
    [(0xFF, None), (0x100, FIRST), (0x10F, FIRST), (0x110, None), (0x12F, SECOND), (0x130, None)],
)
def test_an_address_belongs_to_the_function_whose_bytes_it_is_in(address: int, found: NativeFunction | None) -> None:
    assert PROGRAM.at(address) == found


def test_the_caller_is_where_the_call_returns_to_before_and_behind_the_callee() -> None:
    probed = {7: (PROGRAM, FIRST), 8: (PROGRAM, SECOND)}
    backwards = (0x105 - 0x120) & ((1 << 64) - 1)
    assert native_calls([(7, 0x25, 2), (8, backwards, 3), (8, 0x9000, 5)], probed) == [
        CallObservation(caller=SECOND.frame, callee=FIRST.frame, count=2),
        CallObservation(caller=FIRST.frame, callee=SECOND.frame, count=3),
    ]


def test_a_call_that_does_not_return_is_of_the_function_that_ends_with_it() -> None:
    assert native_calls([(8, 0x110 - 0x120, 1)], {8: (PROGRAM, SECOND)})[0].caller == FIRST.frame


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF\x02\x01\x01" + b"\xff" * 200, b"#!/bin/sh\n"])
def test_what_is_no_program_is_passed_over(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "program"
    path.write_bytes(content)
    assert read_program(str(path), 10) is None
    assert read_program(str(tmp_path / "absent"), 10) is None


def test_programs_of_a_box_are_its_executable_files_and_no_links(tmp_path: Path) -> None:
    for name, content, mode in (
        ("build/tool", b"\x7fELF..", 0o755),
        ("build/tool.o", b"\x7fELF..", 0o644),
        ("run.sh", b"#!/bin/sh", 0o755),
        (".git/tool", b"\x7fELF..", 0o755),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode)
    (tmp_path / "link").symlink_to("build/tool")
    assert built_programs(tmp_path) == (str(tmp_path / "build/tool"),)
