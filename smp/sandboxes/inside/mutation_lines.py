"""The lines of one file that run, by `sys.monitoring` (CPython 3.12+) or `sys.settrace`.

Runs inside a box, standard library only, beside `mutation_runner.py`.
"""

from __future__ import annotations

import ast
import os
import sys
import threading
import types


class LineRecorder:
    """The lines of one file that run between start and stop, in every thread; `calls` counts functions entered, of any file."""

    TOOL = 4  # free for general use: 0, 1, 2 and 5 are set aside for debuggers, coverage, profilers, optimisers

    def __init__(self, target: str) -> None:
        self.target = target
        self.seen: set[int] = set()
        self.matches: dict[str, bool] = {}
        self.monitoring = getattr(sys, "monitoring", None)
        self.is_started = False
        self.calls = 0

    def is_target(self, filename: str) -> bool:
        if filename not in self.matches:
            self.matches[filename] = os.path.realpath(filename) == self.target
        return self.matches[filename]

    def start(self) -> None:
        self.seen = set()
        self.calls = 0
        self.is_started = True
        if self.monitoring:
            self.monitoring.use_tool_id(self.TOOL, "smp-lines")
            self.monitoring.register_callback(self.TOOL, self.monitoring.events.LINE, self.on_line)
            self.monitoring.register_callback(self.TOOL, self.monitoring.events.PY_START, self.on_start)
            self.monitoring.set_events(self.TOOL, self.monitoring.events.LINE | self.monitoring.events.PY_START)
            self.monitoring.restart_events()
        else:
            threading.settrace(self.on_call)
            sys.settrace(self.on_call)

    def stop(self) -> set[int]:
        if not self.is_started:
            return self.seen
        self.is_started = False
        if self.monitoring:
            self.monitoring.set_events(self.TOOL, 0)
            self.monitoring.register_callback(self.TOOL, self.monitoring.events.LINE, None)
            self.monitoring.register_callback(self.TOOL, self.monitoring.events.PY_START, None)
            self.monitoring.free_tool_id(self.TOOL)
        else:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
        return self.seen

    def on_line(self, code: types.CodeType, line: int) -> object:
        if self.is_target(code.co_filename):
            self.seen.add(line)
        return self.monitoring.DISABLE

    def on_start(self, code: types.CodeType, offset: int) -> None:
        self.calls += 1

    def on_call(self, frame, event, argument):
        self.calls += 1
        return self.on_frame_line if self.is_target(frame.f_code.co_filename) else None

    def on_frame_line(self, frame, event, argument):
        if event == "line":
            self.seen.add(frame.f_lineno)
        return self.on_frame_line


def executable_lines(code: types.CodeType) -> set[int]:
    """Lines that a run can reach, in a module's code and all code nested in it."""
    lines = {line for *_, line in code.co_lines() if line}
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            lines |= executable_lines(inner)
    return lines


def statement_starts(source: bytes) -> dict[int, int]:
    """First line of the innermost statement (of a compound one: of its head) that a line belongs to.

    The interpreter reports no event for a line whose constants were folded into a neighbour's.
    """
    starts: dict[int, int] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno
            starts.update(dict.fromkeys(range(node.lineno, last + 1), node.lineno))
    return starts
