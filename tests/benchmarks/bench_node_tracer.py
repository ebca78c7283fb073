"""What the tracer of Node costs: beside V8's own coverage, which counts without callers, on the same program in the same kind of box.

    python tests/benchmarks/bench_node_tracer.py [--rounds N]

A loop calls a function of the checkout that does next to nothing; the program counts its own processor time, so that the
difference is the price of one call. `start` is the processor time of a whole process that does nothing. Rounds alternate
between the tools and the least of each counts.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from msgspec.structs import replace

from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.domain.ids import CommitSha, SandboxId, SessionId
from smp.domain.sandboxes import Limits, SandboxSpec, TracerName
from smp.settings import load_settings

PROGRAM = """
let seen = 0;
function step(x) { seen ^= x; return x; }
async function later(x) { await null; return x; }
function calls(n) { for (let i = 0; i < n; i++) step(i); }
async function awaits(n) { for (let i = 0; i < n; i++) await later(i); }
async function main() {
  const [work, n] = { calls: [calls, 5_000_000], awaits: [awaits, 500_000], start: [() => 0, 1] }[process.argv[2]];
  await work(n / 10);
  const began = process.cpuUsage();
  await work(n);
  const took = process.argv[2] === 'start' ? process.cpuUsage() : process.cpuUsage(began);
  console.log('took', (took.user + took.system) * 1000 / n);
}
main();
"""
TOOLS: dict[str, tuple[str, TracerName | None]] = {
    "nothing": ("node bench.cjs", None),
    "monitoring": ("node bench.cjs", TracerName.MONITORING),
    "V8 coverage": ("NODE_V8_COVERAGE=$SMP_OUT node bench.cjs", None),
}
PROGRAMS = ("calls", "awaits", "start")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder)
        (repo / "bench.cjs").write_text(PROGRAM)
        for step in (["init", "-q"], ["add", "-A"], ["-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm1"]):
            subprocess.run(["git", *step], cwd=repo, check=True)
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True).stdout
        driver = BubblewrapDriver(load_settings(repo), SystemClock())
        least: dict[tuple[str, str], float] = {}
        for _ in range(rounds):
            for program in PROGRAMS:
                for name, (command, tracer) in TOOLS.items():
                    took = run(driver, CommitSha(head.strip()), f"{command} {program}", tracer)
                    least[name, program] = min(took, least.get((name, program), took))
    print(f"{'':<14}{'ns a call':>11}{'ns an await':>13}{'start, ms':>11}")
    for name in TOOLS:
        call, wait, start = (least[name, program] for program in PROGRAMS)
        print(f"{name:<14}{call:>11.1f}{wait:>13.0f}{start / 1e6:>11.0f}")


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
