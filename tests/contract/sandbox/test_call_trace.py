"""Calls between functions of the checkout, as they ran: who, whom, how often. With every interpreter that is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.adapters.sandbox_bubblewrap.interpreters import ask, find_interpreter
from smp.domain.ids import CommitSha, SandboxId, SessionId
from smp.domain.sandboxes import Execution, Limits, Sandbox, SandboxSpec, TracerName
from smp.ports.sandbox_driver import SandboxDriver
from smp.settings import Settings

pytestmark = pytest.mark.sandbox

CASES = Path(__file__).with_name("trace_cases.txt")
EXPECTED = {
    ("main", "Shape.__init__"): 3,
    ("main", "Square.__init__"): 1,
    ("Square.__init__", "Shape.__init__"): 1,
    ("main", "Square.area"): 1,
    ("main", "Shape.area"): 1,
    ("Square.area", "helper"): 1,
    ("Shape.area", "helper"): 1,
    ("main", "Shape.side"): 2,
    ("main", "Shape.make"): 2,
    ("Shape.make", "Shape.__init__"): 2,
    ("main", "Shape.unit"): 1,
    ("main", "Shape.__call__"): 1,
    ("main", "Shape.__getattr__"): 1,
    ("main", "decorated"): 0,
    ("main", "deco.<locals>.wrapper"): 4,
    ("deco.<locals>.wrapper", "decorated"): 4,
    ("decorated", "helper"): 4,
    ("main", "cached"): 2,
    ("main", "numbers"): 2,
    ("numbers", "helper"): 5,
    ("main", "chained"): 1,
    ("chained", "numbers"): 1,
    ("main", "make.<locals>.inner"): 3,
    ("make.<locals>.inner", "helper"): 3,
    ("main", "make"): 1,
    ("main", "use"): 2,
    ("use", "helper"): 1,
    ("main.<locals>.<lambda>", "patched"): 1,
    ("use", "main.<locals>.<lambda>"): 1,
    ("main", "patched"): 1,
    ("main", "sort_key"): 6,
    ("main", "fib"): 1,
    ("fib", "fib"): 14,
    ("main", "work"): 0,
    ("work", "helper"): 200,
    ("main", "amain"): 1,
    ("amain", "co"): 3,
    ("co", "helper"): 3,
    ("main", "in_child"): 7,
    ("<module>", "in_script"): 11,
    ("main", "managed"): 1,
    ("managed", "helper"): 1,
    ("main", "boom"): 1,
    ("boom", "boom"): 2,
}


def interpreters() -> list[object]:
    """The one that would be chosen, and the platform's own where it is another."""
    chosen = find_interpreter("", Path("/nonexistent"), lambda _: None)
    own = ask("/usr/bin/python3")
    found = [chosen] if own is None or own.executable == chosen.executable else [chosen, own]
    return [pytest.param(one.executable, id=f"python{one.version}") for one in found]


@pytest.fixture
def repo(commit_files: Callable[[dict[str, str]], Path]) -> Path:
    return commit_files({"cases.py": CASES.read_text(), "pytest.ini": "[pytest]\n", "test_cases.py": TEST})


TEST = """
import cases

def setup_module(module):
    cases.helper(0)

def test_area():
    assert cases.Shape(2).area() == 4
"""


@pytest.fixture(params=interpreters())
def driver(settings: Settings, request: pytest.FixtureRequest) -> BubblewrapDriver:
    from msgspec.structs import replace

    chosen = replace(settings, sandbox=replace(settings.sandbox, python=request.param))
    return BubblewrapDriver(chosen, SystemClock())


@pytest.fixture
def traced(driver: SandboxDriver, head: CommitSha) -> Callable[..., Execution]:
    def run(command: str, *, tracer: TracerName | None = TracerName.MONITORING, trace: bool = True) -> Execution:
        spec = SandboxSpec(
            sandbox_id=SandboxId(SystemClock().fresh_id("box")),
            session_id=SessionId("ses_test"),
            commit_sha=head,
            tracer=tracer,
        )
        box: Sandbox = driver.spawn(spec)
        try:
            return driver.execute(box, command, limits=Limits(), trace=trace)
        finally:
            driver.destroy(box)

    return run


def pairs(done: Execution) -> dict[tuple[str, str], int]:
    """Counts by names; comprehensions, which are frames of their own before Python 3.12, under what they are in."""
    assert done.trace is not None
    found: Counter[tuple[str, str]] = Counter()
    for call in done.trace.calls:
        if not call.callee.qualname.endswith("comp>"):
            found[call.caller.qualname.removesuffix(".<locals>.<listcomp>"), call.callee.qualname] += call.count
    return found


def test_every_call_is_counted_under_its_caller(traced: Callable[..., Execution]) -> None:
    done = traced("python cases.py")
    assert done.exit_code == 0, done.stderr
    found = pairs(done)
    assert {pair: found.get(pair, 0) for pair in EXPECTED} == EXPECTED
    assert done.trace is not None
    assert done.trace.tracer == "monitoring"
    assert done.trace.processes == 3  # itself, a fork, a subprocess
    files = {frame.file for call in done.trace.calls for frame in (call.caller, call.callee)}
    assert files == {"cases.py", "script.py"}


def test_lines_are_those_of_the_definition_with_its_decorators(traced: Callable[..., Execution]) -> None:
    done = traced("python cases.py")
    lines = CASES.read_text().splitlines()
    assert done.trace is not None
    by_name = {call.callee.qualname: call.callee.first_line for call in done.trace.calls}
    assert lines[by_name["decorated"] - 1] == "@deco"
    assert lines[by_name["Shape.area"] - 1].strip() == "def area(self):"


def test_a_test_has_no_caller_but_calls(traced: Callable[..., Execution]) -> None:
    found = pairs(traced("python -m pytest -q"))
    assert found == {
        ("setup_module", "helper"): 1,
        ("test_area", "Shape.__init__"): 1,
        ("test_area", "Shape.area"): 1,
        ("Shape.area", "helper"): 1,
        ("<module>", "deco"): 1,
    }


def test_an_interpreter_without_environment_is_traced_only_when_it_has_the_variable(
    traced: Callable[..., Execution],
) -> None:
    assert pairs(traced("cd / && python -I -c 'import sys; sys.path.insert(0, \"/work\"); import cases'"))
    assert pairs(traced("env -u SMP_TRACE python cases.py >/dev/null")) == {}


def test_nothing_is_traced_when_not_asked_for(traced: Callable[..., Execution]) -> None:
    assert traced("python cases.py; env | grep SMP_TRACE", tracer=None).trace is None
    assert traced("python cases.py", trace=False).trace is None


def test_a_program_that_ends_hard_is_traced(traced: Callable[..., Execution]) -> None:
    script = "import cases, os, sys; exec(compile('def go():\\n    cases.helper(1)\\ngo()', '/work/x.py', 'exec')); "
    assert pairs(traced(f'python -c "{script} os._exit(0)"'))["go", "helper"] == 1
    assert pairs(traced(f"python -c \"{script} os.execv('/bin/true', ['true'])\""))["go", "helper"] == 1


def test_a_forged_trace_is_left_out(traced: Callable[..., Execution]) -> None:
    done = traced(
        'cd /smp/trace && echo \'{"frames": [], "calls": [[0, 1, 1]]}\' > a.json && echo garbage > b.json && '
        "ln -s /etc/passwd c.json && cd /work && python cases.py"
    )
    assert done.exit_code == 0
    assert pairs(done)["main", "fib"] == 1
