"""The kernel's tracer and the one in the process see the same calls, with every version of CPython that both know."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.adapters.sandbox_bubblewrap.eval_probe import FILE, OFFSETS
from smp.adapters.sandbox_bubblewrap.inside import copy_inside
from smp.adapters.sandbox_bubblewrap.interpreters import TRACED, ask, find_interpreter
from smp.adapters.sandbox_bubblewrap.limits import present_rights
from smp.adapters.tracer_ebpf.tracer import EbpfTracer
from smp.domain.errors import SandboxFailed
from smp.domain.ids import CommitSha, SandboxId, SessionId
from smp.domain.sandboxes import Execution, Limits, SandboxSpec, TracerName
from smp.domain.traces import Frame, Trace
from smp.settings import Settings

pytestmark = pytest.mark.sandbox

HERE = Path(__file__).parent
TRACER = EbpfTracer()
Run = Callable[..., Execution]


def interpreters() -> list[object]:
    """One of each version that both tracers know, as far as the machine has them."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = {}
    for major, minor in TRACED:
        for path in sorted(pyenv.glob(f"{major}.{minor}.*/bin/python3")):
            found[f"{major}.{minor}"] = str(path)
    chosen = find_interpreter("", Path("/nonexistent"), lambda _: None)
    if not found and chosen.numbers() in TRACED:
        found[chosen.version] = chosen.executable
    return [pytest.param(path, id=f"python{version}") for version, path in found.items()]


@pytest.fixture(scope="module")
def tracer() -> Iterator[EbpfTracer]:
    """Skips where the kernel's tracer cannot be had, with the reason."""
    if os.geteuid() != 0 or TRACER.missing():
        pytest.skip(TRACER.missing())
    yield TRACER
    TRACER.close()


@pytest.fixture
def repo(commit_files: Callable[[dict[str, str]], Path]) -> Path:
    return commit_files(
        {
            "cases.py": (HERE / "trace_cases.txt").read_text(),
            "odd.sh": "#!/opt/venv/bin/python\nprint(1)\n",
            "pytest.ini": "[pytest]\n",
            "many.py": (HERE / "trace_cases_many.txt").read_text(),
            "test_many.py": "import many\n\n\ndef test_all():\n    many.main()\n",
            "lib/site-packages/foreign.py": "def through(function, *given):\n    return function(*given)\n",
        }
    )


@pytest.fixture(params=interpreters())
def driver(settings: Settings, request: pytest.FixtureRequest, tracer: EbpfTracer) -> BubblewrapDriver:
    chosen = replace(settings, sandbox=replace(settings.sandbox, python=request.param))
    return BubblewrapDriver(chosen, SystemClock(), tracer=tracer)


@pytest.fixture
def run(driver: BubblewrapDriver, head: CommitSha) -> Run:
    def execute(command: str, chosen: TracerName = TracerName.EBPF) -> Execution:
        spec = SandboxSpec(
            sandbox_id=SandboxId(SystemClock().fresh_id("box")),
            session_id=SessionId("ses_test"),
            commit_sha=head,
            tracer=chosen,
        )
        box = driver.spawn(spec)
        try:
            done = driver.execute(box, command, limits=Limits())
        finally:
            driver.destroy(box)
        assert done.exit_code == 0, done.stderr
        return done

    return execute


def counts(trace: Trace | None) -> dict[tuple[Frame, Frame], int]:
    assert trace is not None
    return Counter({(call.caller, call.callee): call.count for call in trace.calls})


@pytest.mark.parametrize("command", ["python many.py", "python -m pytest -q && python -I cases.py"])
def test_both_see_the_same_calls(run: Run, command: str) -> None:
    theirs = run(command, TracerName.MONITORING).trace
    ours = run(command).trace
    assert ours is not None
    assert theirs is not None
    assert (ours.tracer, ours.lost_calls, ours.missed_processes, ours.failed) == ("ebpf", 0, 0, "")
    assert set(counts(ours)) == set(counts(theirs))
    exact = {(call.caller, call.callee) for call in ours.calls if not call.lower_bound}
    assert {pair: count for pair, count in counts(ours).items() if pair in exact} == {
        pair: count for pair, count in counts(theirs).items() if pair in exact
    }
    assert all(count <= counts(theirs)[pair] for pair, count in counts(ours).items())
    assert ours.processes == theirs.processes


def test_what_ran_without_the_tracer_is_counted(run: Run) -> None:
    trace = run("env -u SMP_TRACE python cases.py; python -S cases.py; env -i /work/odd.sh").trace
    assert trace is not None
    assert [call.callee.qualname for call in trace.calls] == ["in_script"]  # a subprocess of the second, without its -S
    assert (trace.processes, trace.missed_processes) == (1, 4)  # two, the first one's subprocess, and the script


def test_a_killed_process_still_counts(run: Run) -> None:
    code = "import cases, os, signal; exec('def go():\\n cases.helper(1)'); go(); os.kill(os.getpid(), signal.SIGKILL)"
    found = counts(run(f'python -c "{code}" || true').trace)
    names = {(one.qualname, two.qualname): count for (one, two), count in found.items()}
    assert names == {("<module>", "deco"): 1}


def test_boxes_do_not_see_each_other(run: Run, driver: BubblewrapDriver, tracer: EbpfTracer) -> None:
    with ThreadPoolExecutor(2) as pool:
        commands = (
            "python -c 'import cases; cases.fib(5)'",
            "python -c 'import cases; cases.use({1: cases.helper}, 1)'",
        )
        traces = [done.trace for done in pool.map(run, commands)]
    callees = [{call.callee.qualname for call in trace.calls} for trace in traces if trace is not None]
    assert callees == [{"deco", "fib"}, {"deco", "helper"}]


def test_a_dead_helper_is_said_and_replaced(run: Run, tracer: EbpfTracer, driver: BubblewrapDriver) -> None:
    pid = tracer.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert run("python -c 'import cases; cases.fib(5)'").trace == run("python -c 'import cases; cases.fib(5)'").trace
    with tracer.watch(*watched_group(driver)) as watch:
        assert tracer.pid not in (None, pid)
        os.kill(tracer.pid or 0, signal.SIGKILL)
        trace = watch.trace()
    assert (trace.calls, trace.failed.startswith("the tracing helper died")) == ((), True)


def watched_group(driver: BubblewrapDriver) -> tuple[str, str, dict[str, int]]:
    """Any group and a file with the probe's bytes."""
    groups = present_rights().groups
    assert groups is not None
    return groups.gate, str(copy_inside(driver._settings.cache_dir) / FILE), OFFSETS


def test_nothing_is_left_in_the_kernel_when_the_helper_is_killed(tracer: EbpfTracer, driver: BubblewrapDriver) -> None:
    with tracer.watch(*watched_group(driver)):
        held = descriptors(tracer.pid or 0)
        assert sum("perf_event" in name for name in held) >= len(OFFSETS)
        assert any("bpf-prog" in name for name in held)
        assert bpf_links_on_disk() == []
    tracer.close()
    assert tracer.pid is None


def test_the_helper_ends_with_a_killed_owner(tracer: EbpfTracer) -> None:
    program = (
        "import time; from smp.adapters.tracer_ebpf.tracer import EbpfTracer; tracer = EbpfTracer(); "
        "assert not tracer.missing(); print(tracer.pid, flush=True); time.sleep(600)"
    )
    owner = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    helper = os.pidfd_open(int(owner.stdout.readline()))
    owner.kill()
    owner.wait()
    owner.stdout.close()
    ended = select.poll()
    ended.register(helper, select.POLLIN)
    assert ended.poll(30_000)
    os.close(helper)


def descriptors(pid: int) -> list[str]:
    return [os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir()]


def bpf_links_on_disk() -> list[Path]:
    """What outlives the process that made it: pinned objects. Probes and programs hang on its descriptors alone."""
    pinned = Path("/sys/fs/bpf")
    return list(pinned.rglob("smp*")) if pinned.is_dir() else []


def test_an_unknown_version_is_refused_with_the_way_out(
    settings: Settings, head: CommitSha, tracer: EbpfTracer
) -> None:
    chosen = replace(settings, sandbox=replace(settings.sandbox, python="/usr/bin/python3"))
    driver = BubblewrapDriver(chosen, SystemClock(), tracer=tracer)
    spec = SandboxSpec(
        sandbox_id=SandboxId("box_x"), session_id=SessionId("ses_x"), commit_sha=head, tracer=TracerName.EBPF
    )
    found = ask("/usr/bin/python3")
    if found is not None and found.numbers() in TRACED:
        driver.destroy(driver.spawn(spec))
        return
    with pytest.raises(SandboxFailed, match=r"3\.12 and 3\.13.*tracer = .monitoring."):
        driver.spawn(spec)
