"""The product's side of the eBPF tracer, with a helper played by a script: no privileges, no kernel."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smp.adapters.tracer_ebpf.host.headers import join_headers
from smp.adapters.tracer_ebpf.tracer import EbpfTracer
from smp.domain.errors import SandboxFailed
from smp.domain.traces import Frame

ANSWERS = """
import json, sys
print({hello!r}, flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == {dies!r}:
        break
    answer = {{"attach": {{}}, "watch": {{"box": 7}}, "collect": {collected!r}}}[request["do"]]
    print(json.dumps({{"ok": True}} | answer), flush=True)
"""
COLLECTED = {
    "frames": [
        ["/work/a.py", "f", 1],
        ["tools/b.py", "g", 2],
        ["/work/x/../../etc/c.py", "h", 3],
        ["/work/lib/site-packages/d.py", "i", 4],
        ["/work/./a.py", "f", 1],
    ],
    "calls": [[0, 1, 2], [4, 1, 3], [0, 2, 1], [3, 0, 1]],
    "processes": 2,
    "missed": ["python3", "sh", "python"],
    "lost": {"cut": 4, "deep": 1},
}
Make = Callable[..., EbpfTracer]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """A tracer of root's on x86-64 whose helper answers as told."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    made: list[EbpfTracer] = []

    def tracer(*, hello: str = '{"ok": true}', dies: str = "") -> EbpfTracer:
        script = tmp_path / "helper.py"
        script.write_text(ANSWERS.format(hello=hello, dies=dies, collected=COLLECTED))
        python = tmp_path / "python"
        python.write_text(f"#!/bin/sh\nexec {sys.executable} {script}\n")
        python.chmod(0o755)
        made.append(EbpfTracer(str(python)))
        return made[-1]

    yield tracer
    for one in made:
        one.close()


def test_paths_are_the_checkouts_and_sums_of_one_frame_are_one(make: Make) -> None:
    with make().watch("/group", "/probe", {"313": 4}) as watch:
        trace = watch.trace()
    assert [(call.caller, call.callee, call.count) for call in trace.calls] == [
        (Frame(file="a.py", qualname="f", first_line=1), Frame(file="tools/b.py", qualname="g", first_line=2), 5)
    ]
    assert (trace.tracer, trace.processes, trace.missed_processes, trace.lost_calls) == ("ebpf", 2, 2, 5)


def test_a_helper_that_dies_while_it_watches_is_said(make: Make) -> None:
    tracer = make(dies="collect")
    with tracer.watch("/group", "/probe", {"313": 4}) as watch:
        trace = watch.trace()
    assert (trace.calls, trace.failed) == ((), "the tracing helper died: it ended without an answer")


def test_a_helper_that_dies_at_once_is_an_error_that_says_so(make: Make) -> None:
    with (
        pytest.raises(SandboxFailed, match="the tracing helper died: it ended without an answer; try again"),
        make(dies="attach").watch("/group", "/probe", {"313": 4}),
    ):
        pass


def test_what_is_missing_is_told_with_the_way_out(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    told = make(hello='{"ok": false, "error": "BCC for Python is missing; install it: apt-get install python3-bpfcc"}')
    assert told.missing() == "no ebpf tracer: BCC for Python is missing; install it: apt-get install python3-bpfcc"
    assert "apt-get install python3" in EbpfTracer("/nonexistent/python3").missing()
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert "x86-64 only" in make().missing()
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "needs root" in make().missing()


def test_split_headers_are_joined_by_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    common, special = tmp_path / "linux-headers-9-common", tmp_path / "linux-headers-9-amd64"
    for path in (common / "include/linux/a.h", common / "arch/x86/include/asm/b.h", common / "Makefile"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("common")
    for path in (special / "include/generated/autoconf.h", special / "arch/x86/include/generated/c.h"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("special")
    monkeypatch.delenv("BCC_KERNEL_SOURCE", raising=False)
    monkeypatch.setattr(
        "os.path.isdir", lambda path, real=Path.is_dir: False if "/lib/modules" in str(path) else real(Path(path))
    )
    monkeypatch.setattr("glob.glob", lambda pattern: [str(p) for p in tmp_path.glob(Path(pattern).name)])
    target = tmp_path / "joined"
    target.mkdir()
    assert join_headers(str(target)) == str(target)
    assert (target / "include/linux/a.h").read_text() == (target / "arch/x86/include/asm/b.h").read_text() == "common"
    assert (target / "include/generated/autoconf.h").read_text() == "special"
    assert (target / "arch/x86/include/generated/c.h").read_text() == "special"


def test_without_headers_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BCC_KERNEL_SOURCE", raising=False)
    monkeypatch.setattr("os.path.isdir", lambda path: False)
    monkeypatch.setattr("glob.glob", lambda pattern: [])
    with pytest.raises(OSError, match="apt-get install linux-headers-amd64"):
        join_headers(str(tmp_path))
