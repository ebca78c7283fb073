"""What a tracer costs: our two, coverage.py and cProfile on the same programs, in the same kind of box.

    python tests/benchmarks/bench_tracers.py [--rounds N]

Two programs, each of which counts its own processor time: `calls` calls an empty function of the checkout in a loop, so that
the difference is the price of one call; `library` parses and unparses a module of the standard library, so that the price of
code is seen that is not of the checkout. Rounds alternate between the tools and the least of each counts.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from msgspec.structs import replace

from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.adapters.tracer_ebpf.tracer import EbpfTracer
from smp.domain.ids import CommitSha, SandboxId, SessionId
from smp.domain.sandboxes import Limits, SandboxSpec, TracerName
from smp.settings import load_settings

PROGRAM = """
import ast, inspect, sys, time, textwrap

def empty(x):
    return x

def calls(n):
    for i in range(n):
        empty(i)

def library(n):
    text = inspect.getsource(textwrap)
    for i in range(n):
        ast.unparse(ast.parse(text))

def main():
    work, n = {"calls": (calls, 200_000), "library": (library, 4)}[sys.argv[1]]
    work(n // 100 + 1)
    began = time.process_time()
    work(n)
    print("took", (time.process_time() - began) / n * 1e9)

main()
"""
PROFILER = """
import runpy, sys, threading
counts = {}
def on_call(frame, event, argument):
    if event == "call":
        caller = frame.f_back
        pair = caller and caller.f_code, frame.f_code
        counts[pair] = counts.get(pair, 0) + 1
sys.argv = sys.argv[1:]
threading.setprofile(on_call)
sys.setprofile(on_call)
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""The least that counts pairs by `sys.setprofile`."""
TOOLS = {
    "nothing": ("python bench.py", None),
    "monitoring": ("python bench.py", TracerName.MONITORING),
    "ebpf": ("python bench.py", TracerName.EBPF),
    "sys.setprofile": ("python profiler.py bench.py", None),
    "coverage.py": ("python -m coverage run --source=/work bench.py", None),
    "coverage.py sysmon": ("COVERAGE_CORE=sysmon python -m coverage run --source=/work bench.py", None),
    "cProfile": ("python -m cProfile bench.py", None),
}
"""Those above coverage.py tell who called whom."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    tracer = EbpfTracer()
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder)
        (repo / "bench.py").write_text(PROGRAM)
        (repo / "profiler.py").write_text(PROFILER)
        (repo / "requirements.txt").write_text("coverage\n")
        for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm1"]):
            subprocess.run(["git", *command], cwd=repo, check=True)
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True).stdout
        settings = load_settings(repo)
        driver = BubblewrapDriver(settings, SystemClock(), tracer=tracer)
        tools = dict(TOOLS)
        if "ebpf" not in driver.capabilities().tracers:
            print(f"ebpf cannot be measured here: {tracer.missing()}")
            del tools["ebpf"]
        measure(driver, CommitSha(head.strip()), tools, rounds)
    tracer.close()


def measure(
    driver: BubblewrapDriver, head: CommitSha, tools: dict[str, tuple[str, TracerName | None]], rounds: int
) -> None:
    """Print a line per tool."""
    least: dict[tuple[str, str], float] = {}
    for _ in range(rounds):
        for program in ("calls", "library"):
            for name, (command, tracer) in tools.items():
                took = run(driver, head, command.replace("bench.py", f"bench.py {program}"), tracer)
                least[name, program] = min(took, least.get((name, program), took))
    print(f"{'':<20}{'ns a call':>10}{'more':>8}{'library':>10}")
    base = least["nothing", "calls"], least["nothing", "library"]
    for name in tools:
        call, library = least[name, "calls"], least[name, "library"]
        print(f"{name:<20}{call:>10.0f}{call - base[0]:>8.0f}{library / base[1]:>9.2f}x")


def run(driver: BubblewrapDriver, head: CommitSha, command: str, tracer: TracerName | None) -> float:
    """Nanoseconds of processor time for one round of the program's work."""
    spec = SandboxSpec(
        sandbox_id=SandboxId(SystemClock().fresh_id("box")),
        session_id=SessionId("ses_bench"),
        commit_sha=head,
        tracer=tracer,
    )
    box = driver.spawn(spec)
    try:
        done = driver.execute(box, command, limits=replace(Limits(), cpu_pct=100))
    finally:
        driver.destroy(box)
    line = next((line for line in done.stdout.splitlines() if line.startswith("took ")), None)
    if line is None:
        raise SystemExit(f"{command}: {done.stderr[-500:]}")
    return float(line.split()[1])


if __name__ == "__main__":
    main()
