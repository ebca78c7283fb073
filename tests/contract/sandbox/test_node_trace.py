"""Calls between functions of the checkout under Node: who, whom, how often; and that nothing else changes by being watched."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.domain.ids import CommitSha, SandboxId, SessionId
from smp.domain.sandboxes import Execution, Limits, SandboxSpec, TracerName
from smp.settings import Settings

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(shutil.which("node") is None, reason="Node is missing; install it: apt-get install nodejs"),
]

CASES = Path(__file__).parent / "node_trace"
EXPECTED = {
    ("<module>", "main"): 1,
    ("main", "constructor"): 1,
    ("constructor", "constructor"): 1,
    ("constructor", "made"): 2,
    ("made", "made"): 1,
    ("main", "area"): 1,
    ("area", "square"): 1,
    ("main", "unit"): 1,
    ("unit", "constructor"): 1,
    ("main", "reveal"): 1,
    ("reveal", "#hidden"): 1,
    ("#hidden", "helper"): 1,
    ("main", "numbers"): 1,
    ("numbers", "helper"): 6,
    ("main", "chained"): 1,
    ("chained", "numbers"): 2,
    ("chained", "helper"): 1,
    ("main", "guarded"): 1,
    ("guarded", "cleanup"): 1,
    ("main", "caught"): 1,
    ("caught", "boom"): 1,
    ("boom", "boom"): 2,
    ("caught", "helper"): 2,
    ("main", "fib"): 1,
    ("fib", "fib"): 14,
    ("main", "make"): 1,
    ("main", "inner"): 2,
    ("inner", "helper"): 2,
    ("main", "use"): 2,
    ("use", "helper"): 1,
    ("use", "two"): 1,
    ("two", "square"): 1,
    ("square", "helper"): 4,
    ("main", "defaults"): 1,
    ("defaults", "helper"): 2,
    ("main", "overflow"): 1,
    ("overflow", "deep"): 1,
    ("overflow", "helper"): 1,
    ("main", "get"): 1,
    ("main", "post"): 1,
    ("main", "put"): 1,
    ("get", "helper"): 1,
    ("post", "helper"): 1,
    ("put", "helper"): 1,
    ("main", "tagged"): 1,
    ("main", "amain"): 1,
    ("amain", "co"): 4,
    ("co", "helper"): 14,
    ("amain", "fails"): 1,
    ("amain", "agen"): 1,
    ("agen", "agen2"): 1,
    ("agen", "later"): 1,
    ("agen", "helper"): 2,
    ("amain", "helper"): 4,
    ("main", "gather"): 1,
    ("gather", "co"): 3,
    ("<anonymous>", "helper"): 1,
    ("main", "stackLine"): 1,
    ("<module>", "go"): 2,
    ("go", "helper"): 2,
    ("<module>", "lazy"): 1,
    ("lazy", "here"): 1,
    ("<module>", "inWorker"): 1,
    ("inWorker", "helper"): 1,
}
UNTOLD = {"deep", "sortKey", "sloppy"}
"""The first's count depends on the size of the stack, the second's on the sorting, and the third cannot be traced."""


@pytest.fixture
def repo(commit_files: Callable[[dict[str, str]], Path]) -> Path:
    return commit_files({path.name: path.read_text() for path in sorted(CASES.iterdir())})


@pytest.fixture
def run(settings: Settings, head: CommitSha) -> Callable[..., Execution]:
    def execute(
        command: str, tracer: TracerName | None = TracerName.MONITORING, environment: dict[str, str] | None = None
    ) -> Execution:
        chosen = replace(settings, sandbox=replace(settings.sandbox, environment=environment or {}))
        driver = BubblewrapDriver(chosen, SystemClock())
        spec = SandboxSpec(
            sandbox_id=SandboxId(SystemClock().fresh_id("box")),
            session_id=SessionId("ses_test"),
            commit_sha=head,
            tracer=tracer,
        )
        box = driver.spawn(spec)
        try:
            done = driver.execute(box, command, limits=Limits())
        finally:
            driver.destroy(box)
        assert done.exit_code == 0, done.stderr
        return done

    return execute


def pairs(done: Execution) -> Counter[tuple[str, str]]:
    assert done.trace is not None
    found: Counter[tuple[str, str]] = Counter()
    for call in done.trace.calls:
        found[call.caller.qualname.removeprefix("?."), call.callee.qualname.removeprefix("?.")] += call.count
    return found


def test_every_call_is_counted_under_its_caller(run: Callable[..., Execution]) -> None:
    done = run("node cases.cjs")
    found = {pair: count for pair, count in pairs(done).items() if pair[1] not in UNTOLD}
    assert found == {pair: count for pair, count in EXPECTED.items() if pair[1] not in UNTOLD}
    assert done.trace is not None
    assert done.trace.processes == 2  # itself and its child; the worker is a thread of that one
    assert done.trace.lost_calls == 3  # a function beside a variable of its name, in each of three readings of the file


def test_counts_are_those_of_the_engine(run: Callable[..., Execution]) -> None:
    plain = run("NODE_V8_COVERAGE=$SMP_OUT node -e 'require(\"./cases.cjs\").main()'", tracer=None)
    (coverage,) = (json.loads(content) for content in plain.outputs.values())
    script = next(one for one in coverage["result"] if one["url"].endswith("/cases.cjs"))
    source = (CASES / "cases.cjs").read_text()
    steps = set(re.findall(r"function\* (\w+)", source))  # the engine counts each making of a generator, not its start
    engine: Counter[str] = Counter()
    for function in script["functions"]:
        name = function["functionName"].removeprefix("get ")
        # A constructor has its class's name there.
        engine["constructor" if name in ("Shape", "Square") else name] += function["ranges"][0]["count"]
    ours: Counter[str] = Counter()
    for (_, callee), count in pairs(run("node -e 'require(\"./cases.cjs\").main()'")).items():
        ours[callee] += count
    told = {name: count for name, count in ours.items() if name not in steps | UNTOLD}
    assert told == {name: engine[name] for name in told}
    assert {name for name in engine if name not in told and engine[name]} <= steps | UNTOLD | {"", "main"}


def test_files_and_lines_are_those_of_the_source(run: Callable[..., Execution]) -> None:
    done = run("node cases.cjs")
    lines = (CASES / "cases.cjs").read_text().splitlines()
    assert done.trace is not None
    callees = {(call.callee.file, call.callee.qualname): call.callee.first_line for call in done.trace.calls}
    assert lines[callees["cases.cjs", "?.fib"] - 1].startswith("const fib =")
    assert lines[callees["cases.cjs", "?.area"] - 1].strip().startswith("get area()")
    assert callees["late.mjs", "?.here"] == 2


def test_code_behind_a_loader_is_found_by_its_source_map(run: Callable[..., Execution]) -> None:
    done = run("node --import ./strip.mjs shop.mts")
    assert done.trace is not None
    shown = {
        (call.caller.qualname, call.callee.qualname, call.callee.first_line): call.count
        for call in done.trace.calls
        if call.callee.file == "shop.mts"
    }
    assert shown == {
        ("<module>", "?.main", 21): 1,
        ("?.main", "?.add", 9): 2,
        ("?.main", "?.total", 14): 1,
        ("?.<anonymous>", "?.price", 19): 2,
    }


def test_a_function_says_what_was_written(run: Callable[..., Execution]) -> None:
    program = "console.log(String((a) => a), Function.prototype.toString.toString(), (function f(a, b = 1) {}).length)"
    watched, plain = run(f"node -e '{program}'"), run(f"node -e '{program}'", tracer=None)
    assert (watched.stdout, watched.stderr) == (plain.stdout, plain.stderr)


def test_options_for_node_of_the_settings_stay_in_force(run: Callable[..., Execution]) -> None:
    program = "require('./late.cjs').go(); console.log(Error.stackTraceLimit)"
    written = "echo 'function step() {} exports.go = () => step();' > late.cjs"
    done = run(f'{written}; node -e "{program}"', environment={"NODE_OPTIONS": "--stack-trace-limit=3"})
    assert (done.stdout, pairs(done)) == ("3\n", {("go", "step"): 1})


def test_a_worker_that_is_terminated_has_left_its_counts(run: Callable[..., Execution]) -> None:
    program = (
        "const { Worker, isMainThread, parentPort } = require('worker_threads');"
        "function step() {} function work() { step(); }"
        "if (isMainThread) { const one = new Worker(__filename); one.on('message', () => one.terminate()); }"
        "else { work(); parentPort.postMessage(1); setInterval(() => {}, 1000); }"
    )
    assert pairs(run(f'echo "{program}" > threads.cjs && node threads.cjs'))["work", "step"] == 1
