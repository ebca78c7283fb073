"""Calls of native programs that a box has built, counted in the kernel: who, whom, how often, and at which node of the graph."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smp.adapters.clock_system import SystemClock
from smp.adapters.memory import MemoryStore
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.adapters.tracer_ebpf.tracer import EbpfTracer
from smp.domain.graph import GraphDelta, GraphPart, Owner
from smp.domain.ids import CommitSha, FilePath, SandboxId, SessionId
from smp.domain.sandboxes import ChangedFile, Execution, Limits, SandboxSpec, TracerName
from smp.indexing.analyse import analyse
from smp.indexing.link_runtime import link_trace
from smp.settings import Settings

pytestmark = pytest.mark.sandbox

SOURCES = Path(__file__).parent / "native_trace"
TRACER = EbpfTracer()
EXPECTED = {
    "words.c": {
        ("main", "apply"): 2,
        ("apply", "add"): 2,
        ("main", "depth"): 1,
        ("depth", "depth"): 3,
        ("depth", "add"): 3,
    },
    "shapes.cpp": {
        ("main", "Square.Square"): 1,
        ("main", "Square.area"): 1,
        ("Square.area", "helper"): 1,
        ("main", "helper"): 11,
        ("main", "fib"): 1,
        ("fib", "fib"): 14,
        ("main", "twice"): 1,
        ("twice", "helper"): 1,
        ("main", "caught"): 1,
        ("caught", "helper"): 1,
    },
    "tool.go": {
        ("main", "box.area"): 1,
        ("box.area", "helper"): 1,
        ("main", "helper"): 1,
        ("main", "use"): 1,
        ("use", "helper"): 1,
    },
    "tool.rs": {("main", "Cart.total"): 1, ("Cart.total", "price"): 2, ("main", "price"): 1},
}
BUILDS = {
    "words.c": ("gcc", "gcc -g -O0 words.c -o program"),
    "shapes.cpp": ("g++", "g++ -g -O0 shapes.cpp -o program"),
    "tool.go": ("go", "GOCACHE=/tmp/go GOFLAGS=-mod=mod go build -gcflags=-l -o program tool.go"),
    "tool.rs": ("rustc", "rustc -g --remap-path-prefix=$PWD=/work tool.rs -o program"),
}
"""In the box by a compiler of /usr; one that lies elsewhere builds outside and the program is put in."""


@pytest.fixture(scope="module")
def tracer() -> Iterator[EbpfTracer]:
    if os.geteuid() != 0 or TRACER.missing():
        pytest.skip(TRACER.missing())
    yield TRACER
    TRACER.close()


@pytest.fixture
def repo(commit_files: Callable[[dict[str, str]], Path]) -> Path:
    return commit_files({path.name: path.read_text() for path in sorted(SOURCES.iterdir())})


@pytest.fixture
def run(settings: Settings, head: CommitSha, tracer: EbpfTracer) -> Callable[..., list[Execution]]:
    driver = BubblewrapDriver(settings, SystemClock(), tracer=tracer)

    def execute(*commands: str, files: tuple[ChangedFile, ...] = ()) -> list[Execution]:
        spec = SandboxSpec(
            sandbox_id=SandboxId(SystemClock().fresh_id("box")),
            session_id=SessionId("ses_test"),
            commit_sha=head,
            tracer=TracerName.EBPF,
        )
        box = driver.spawn(spec)
        try:
            driver.write(box, files)
            done = [driver.execute(box, command, limits=Limits()) for command in commands]
        finally:
            driver.destroy(box)
        assert [(one.exit_code, one.stderr) for one in done] == [(0, "")] * len(commands)
        return done

    return execute


def named_edges(done: Execution, source: str) -> dict[tuple[str, str], int]:
    path = FilePath(source)
    nodes = tuple(analyse(path, (SOURCES / source).read_bytes()).nodes)
    graph = MemoryStore()
    graph.apply(GraphDelta(parts=(GraphPart(owner=Owner(path), nodes=nodes, edges=()),)))
    assert done.trace is not None
    linked = link_trace(
        done.trace,
        graph,
        sandbox_id=SandboxId("box_1"),
        commit_sha=CommitSha("c" * 40),
        first_seen="2026-01-01T00:00:00Z",
    )
    names = {node.id: node.qualname.removeprefix("<anonymous>.") for node in nodes}
    found: Counter[tuple[str, str]] = Counter()
    for edge in linked.edges:
        assert edge.target is not None
        found[names[edge.source], names[edge.target]] += edge.call_count
    return found


@pytest.mark.parametrize("source", EXPECTED)
def test_every_call_is_an_edge_of_the_graph_with_its_count(
    run: Callable[..., list[Execution]], source: str, tmp_path: Path
) -> None:
    compiler, build = BUILDS[source]
    found = shutil.which(compiler)
    if found is None:
        pytest.skip(f"{compiler} is missing")
    if compiler == "go":
        build = f"PATH=$PATH:{os.path.dirname(found)} {build}"
    if found.startswith("/usr/"):
        done = run(build, "./program")[1]
    else:
        shutil.copy(SOURCES / source, tmp_path)
        subprocess.run(build, shell=True, cwd=tmp_path, check=True)
        program = ChangedFile(path=FilePath("program"), content=(tmp_path / "program").read_bytes(), mode=0o755)
        (done,) = run("./program", files=(program,))
    assert named_edges(done, source) == EXPECTED[source]
    assert done.trace is not None
    assert (done.trace.lost_calls, done.trace.failed) == (0, "")


def test_a_program_without_symbols_is_passed_over_and_runs(run: Callable[..., list[Execution]]) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is missing; install it: apt-get install gcc")
    done = run("gcc -s words.c -o program && head -c 3000 program > cut && chmod +x cut", "./program")[1]
    assert done.trace is not None
    assert (done.trace.calls, done.trace.failed) == ((), "")
