"""Both tracers see the same calls in the test suites of real packages, and in the sample with the container of services."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.adapters.tracer_ebpf.tracer import EbpfTracer
from smp.domain.ids import CommitSha, SandboxId, SessionId
from smp.domain.sandboxes import Execution, Limits, SandboxSpec, TracerName
from smp.domain.traces import Frame
from smp.settings import load_settings
from tests.builders.real_sources import Corpus, check_out, commit_all

pytestmark = pytest.mark.slow
BOOKSHOP = (
    Path(os.environ.get("SMP_SHARED", Path(__file__).parents[3] / "shared")) / "conformance/fixtures/bookshop/repo"
)
ITSDANGEROUS = Corpus(
    registry="pypi",
    name="itsdangerous",
    version="2.2.0",
    archive="itsdangerous-2.2.0.tar.gz",
    sha256="e0050c0b7da1eea53ffaf149c0cfbb5c6e2e2b69c4bef22c81fa6eb73e5f6173",
    keep=("src", "tests", "pyproject.toml"),
)
CLICK = Corpus(
    registry="pypi",
    name="click",
    version="8.2.1",
    archive="click-8.2.1.tar.gz",
    sha256="27c491cc05d968d271d5a1db13e3b5a184636d9d930f148c50b038f0d0646202",
    keep=("src", "tests", "docs", "pyproject.toml"),
)
COMMAND = "python -m pytest -q -k 'not echo_via_pager'"
"""click's tests of a pager race with the pager: which of them pass differs from run to run."""
Calls = dict[tuple[Frame, Frame], int]


def bookshop(folder: Path) -> Path:
    root = folder / "bookshop"
    shutil.copytree(BOOKSHOP, root)
    commit_all(root, init=True)
    return root


CASES: dict[str, tuple[Callable[[Path], Path], tuple[str, ...]]] = {
    "itsdangerous": (lambda folder: check_out(ITSDANGEROUS, folder), ("pytest", "freezegun")),
    "click": (lambda folder: check_out(CLICK, folder), ("pytest<9",)),
    "bookshop": (bookshop, ("pytest",)),
}


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("case", CASES)
def test_both_see_the_same_edges(case: str, tmp_path: Path) -> None:
    make, requirements = CASES[case]
    tracer = EbpfTracer()
    assert not tracer.missing(), tracer.missing()
    repo = make(tmp_path)
    settings = load_settings(repo)
    settings = replace(settings, sandbox=replace(settings.sandbox, requirements=requirements))
    driver = BubblewrapDriver(settings, SystemClock(), tracer=tracer)
    theirs, ours = (run(driver, repo, COMMAND, name) for name in (TracerName.MONITORING, TracerName.EBPF))
    tracer.close()
    assert ours.stdout.splitlines()[-1].split(" in ")[0] == theirs.stdout.splitlines()[-1].split(" in ")[0]
    assert " passed" in ours.stdout
    assert theirs.trace is not None
    assert ours.trace is not None
    assert (ours.trace.lost_calls, ours.trace.missed_processes, ours.trace.failed) == (0, 0, "")
    seen, known = calls(ours), calls(theirs)
    print(f"{case}: {len(seen)} edges, {sum(seen.values())} calls; monitoring {len(known)}, {sum(known.values())}")
    print(ours.stdout.splitlines()[-1:], ours.trace.processes, theirs.trace.processes)
    assert set(seen) == set(known)
    exact = {(call.caller, call.callee) for call in ours.trace.calls if not call.lower_bound}
    differing = {pair: (seen[pair], known[pair]) for pair in exact if seen[pair] != known[pair]}
    assert differing == {}


def calls(done: Execution) -> Calls:
    assert done.trace is not None
    return Counter({(call.caller, call.callee): call.count for call in done.trace.calls})


def run(driver: BubblewrapDriver, repo: Path, command: str, tracer: TracerName) -> Execution:
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True).stdout
    spec = SandboxSpec(
        sandbox_id=SandboxId(SystemClock().fresh_id("box")),
        session_id=SessionId("ses_soak"),
        commit_sha=CommitSha(head.strip()),
        tracer=tracer,
    )
    box = driver.spawn(spec)
    try:
        return driver.execute(box, command, limits=Limits(timeout_ms=1_800_000))
    finally:
        driver.destroy(box)
