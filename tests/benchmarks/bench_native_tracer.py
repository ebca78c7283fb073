"""What the kernel's tracer costs a native program: a loop in C calls a function that does next to nothing.

    python tests/benchmarks/bench_native_tracer.py [--rounds N]    # needs root, BCC, kernel 6.6 and gcc

The program counts its own processor time. Rounds alternate and the least of each counts.
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
#include <stdio.h>
#include <time.h>
enum { CALLS = 1000000 };
static volatile int seen;
static __attribute__((noinline)) void step(int x) { seen ^= x; }
int main(void) {
    for (int i = 0; i < CALLS; i++) step(i);
    printf("took %.1f\\n", (double)clock() / CLOCKS_PER_SEC * 1e9 / CALLS);
    return 0;
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    tracer = EbpfTracer()
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder)
        (repo / "bench.c").write_text(PROGRAM)
        for step in (["init", "-q"], ["add", "-A"], ["-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm1"]):
            subprocess.run(["git", *step], cwd=repo, check=True)
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True).stdout
        driver = BubblewrapDriver(load_settings(repo), SystemClock(), tracer=tracer)
        if "ebpf" not in driver.capabilities().tracers:
            raise SystemExit(f"ebpf cannot be measured here: {tracer.missing()}")
        least: dict[TracerName | None, float] = {}
        for _ in range(rounds):
            for chosen in (None, TracerName.EBPF):
                took = run(driver, CommitSha(head.strip()), chosen)
                least[chosen] = min(took, least.get(chosen, took))
    tracer.close()
    print(f"{'':<10}{'ns a call':>11}")
    for chosen, took in least.items():
        print(f"{chosen or 'nothing':<10}{took:>11.1f}")


def run(driver: BubblewrapDriver, head: CommitSha, tracer: TracerName | None) -> float:
    """Nanoseconds of processor time for one call."""
    spec = SandboxSpec(
        sandbox_id=SandboxId(SystemClock().fresh_id("box")),
        session_id=SessionId("ses_bench"),
        commit_sha=head,
        tracer=tracer,
    )
    limits = replace(Limits(), cpu_pct=100)
    box = driver.spawn(spec)
    try:
        driver.execute(box, "gcc -g -O1 bench.c -o bench", limits=limits)
        done = driver.execute(box, "./bench", limits=limits)
    finally:
        driver.destroy(box)
    if not done.stdout.startswith("took "):
        raise SystemExit(done.stderr[-500:])
    return float(done.stdout.split()[1])


if __name__ == "__main__":
    main()
