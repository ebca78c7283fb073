"""The product's side of the eBPF tracer: start the helper, ask it, read its sums.

One helper per process, started by the first watch and kept, because loading the program takes a second or two. When it
has died, the next watch starts another one.
"""

from __future__ import annotations

import os
import platform
import select
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import astuple, replace

from smp.adapters.tracer_ebpf.binaries import NativeFunction, Program, native_calls, read_program
from smp.domain.errors import SandboxFailed
from smp.domain.sandboxes import TracerName
from smp.domain.traces import CallObservation, Frame, Trace
from smp.ports.call_tracer import CallTracer, CallWatch

_PACKAGE_ROOT = Path(__file__).resolve().parents[3]
_PYTHON = "/usr/bin/python3"
"""The interpreter that Debian's packages install BCC for; one of a virtual environment does not see it."""
_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from smp.adapters.tracer_ebpf.host.helper import main; main()"
_TIMEOUT_S = 120.0
_MAX_PROBES = 5_000
"""On native functions, of all programs of a box together."""
_CHECKOUT = "/work/"
_FOREIGN = ("/site-packages/", "/.venv/", "/node_modules/")
_INTERPRETER = "python"


class _Answer(Struct, frozen=True, kw_only=True):
    """One line of the helper; see `host/helper.py`."""

    ok: bool
    error: str = ""
    box: int = 0
    frames: list[tuple[str, str, int]] = []
    calls: list[tuple[int, int, int]] = []
    processes: int = 0
    missed: list[str] = []
    lost: dict[str, int] = {}
    natives: list[tuple[int, int, int]] = []
    first: int = 0


class HelperDied(Exception):
    """The helper's pipe has ended, or it does not answer."""


class EbpfTracer(CallTracer):
    """Needs root, x86-64 and what `missing` names."""

    def __init__(self, python: str = _PYTHON) -> None:
        self._python = python
        self._lock = threading.Lock()
        self._helper: _Helper | None = None
        self._missing: str | None = None

    def missing(self) -> str:
        with self._lock:
            if self._missing is None:
                try:
                    self._running()
                    self._missing = ""
                except SandboxFailed as error:
                    self._missing = error.message
            return self._missing

    @contextmanager
    def watch(
        self,
        group: str,
        probe: str,
        offsets: dict[str, int],
        interpreters: tuple[str, ...] = (),
        programs: tuple[str, ...] = (),
    ) -> Iterator[CallWatch]:
        attach: dict[str, object] = {"do": "attach", "file": probe, "offsets": offsets, "interpreters": interpreters}
        with self._lock:
            helper, box = self._begin(attach, {"do": "watch", "group": group})
        watch = _Watch(helper, box, self._lock)
        try:
            watch.probe(programs)
            yield watch
        finally:
            watch.forget()

    def close(self) -> None:
        """End the helper; the next watch starts one again."""
        with self._lock:
            if self._helper is not None:
                self._helper.close()
                self._helper = None

    @property
    def pid(self) -> int | None:
        """Of the helper, when one runs."""
        return self._helper.pid if self._helper is not None else None

    def _begin(self, attach: dict[str, object], watch: dict[str, object]) -> tuple[_Helper, int]:
        for last in (False, True):
            helper = self._running()
            try:
                helper.ask(attach)
                return helper, helper.ask(watch).box
            except HelperDied as error:
                helper.close()
                if last:
                    raise SandboxFailed(f"the tracing helper died: {error}; try again") from error
        raise AssertionError("unreachable")

    def _running(self) -> _Helper:
        """A living helper of this process; one that a parent process started is not ours to talk to."""
        if platform.machine() != "x86_64":
            raise SandboxFailed('the ebpf tracer knows x86-64 only; use [sandbox] tracer = "monitoring"')
        if os.geteuid() != 0:
            raise SandboxFailed('the ebpf tracer needs root; use [sandbox] tracer = "monitoring", or run as root')
        if self._helper is None or not self._helper.alive():
            self._helper = _Helper(self._python)
        return self._helper


class _Watch(CallWatch):
    def __init__(self, helper: _Helper, box: int, lock: threading.Lock) -> None:
        self._helper = helper
        self._lock = lock
        self._box: int | None = box
        self._probed: dict[int, tuple[Program, NativeFunction]] = {}
        self._refused = 0

    def probe(self, programs: tuple[str, ...]) -> None:
        """Count the calls of these programs' functions too; what cannot be probed is lost, and said to be."""
        room = _MAX_PROBES
        for path in programs:
            program = read_program(path, room) if room else None
            if program is None:
                continue
            room -= len(program.functions)
            offsets = [function.offset for function in program.functions]
            try:
                with self._lock:
                    answer = self._helper.ask({"do": "probe", "box": self._box, "file": path, "offsets": offsets})
            except (HelperDied, SandboxFailed):
                self._refused += len(offsets)
                continue
            for number, function in enumerate(program.functions, answer.first):
                self._probed[number] = program, function

    def trace(self) -> Trace:
        try:
            answer = self._collect()
            found = _to_trace(answer)
            native = native_calls(answer.natives, self._probed)
            calls = tuple(sorted((*found.calls, *native), key=_ends))
            return replace(found, calls=calls, lost_calls=found.lost_calls + self._refused)
        except (HelperDied, SandboxFailed) as error:
            return Trace(tracer=TracerName.EBPF.value, failed=f"the tracing helper died: {error}")

    def forget(self) -> None:
        if self._box is not None:
            with suppress(HelperDied, SandboxFailed):
                self._collect()

    def _collect(self) -> _Answer:
        box, self._box = self._box, None
        with self._lock:
            return self._helper.ask({"do": "collect", "box": box})


class _Helper:
    """A helper process. Its life is its standard input: it ends when we do, however we do."""

    def __init__(self, python: str) -> None:
        command = [python, "-I", "-S", "-c", _with_site(), str(_PACKAGE_ROOT)]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd="/",
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", **_headers()},
            )
        except OSError as error:
            raise SandboxFailed(f"{python} does not start ({error}); install it: apt-get install python3") from error
        self.owner = os.getpid()
        self.pid = self._process.pid
        self._rest = b""
        try:
            self._read()
        except (HelperDied, SandboxFailed) as error:
            self.close()
            raise SandboxFailed(f"no ebpf tracer: {error}") from error

    def alive(self) -> bool:
        return self.owner == os.getpid() and self._process.poll() is None

    def ask(self, request: dict[str, object]) -> _Answer:
        """Raises: HelperDied; SandboxFailed when it refuses."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(msgspec.json.encode(request) + b"\n")
        except OSError as error:
            raise HelperDied("its pipe is closed") from error
        return self._read()

    def close(self) -> None:
        """Close its input and wait for its end."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self) -> _Answer:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        deadline = time.monotonic() + _TIMEOUT_S
        pieces = [self._rest]
        while b"\n" not in pieces[-1]:
            if not select.select([descriptor], [], [], max(deadline - time.monotonic(), 0))[0]:
                self._process.kill()
                raise HelperDied(f"no answer in {_TIMEOUT_S:.0f} s")
            piece = os.read(descriptor, 1 << 20)
            if not piece:
                raise HelperDied("it ended without an answer")
            pieces.append(piece)
        line, _, self._rest = b"".join(pieces).partition(b"\n")
        answer = msgspec.json.decode(line, type=_Answer)
        if not answer.ok:
            raise SandboxFailed(answer.error)
        return answer


def _headers() -> dict[str, str]:
    """Where the user says the kernel headers are."""
    named = os.environ.get("BCC_KERNEL_SOURCE")
    return {"BCC_KERNEL_SOURCE": named} if named else {}


def _with_site() -> str:
    """-S keeps other packages' start-up code out of a process with root's rights; BCC's folder is then named by hand."""
    return f"import sys; sys.path.append('/usr/lib/python3/dist-packages'); {_PROGRAM.removeprefix('import sys; ')}"


def _to_trace(answer: _Answer) -> Trace:
    counts: Counter[tuple[tuple[str, str, int], tuple[str, str, int]]] = Counter()
    places = [_place(file) for file, _, _ in answer.frames]
    for caller, callee, count in answer.calls:
        ends = places[caller], places[callee]
        if ends[0] and ends[1]:
            first, second = answer.frames[caller], answer.frames[callee]
            counts[(ends[0], *first[1:]), (ends[1], *second[1:])] += count
    calls = tuple(
        CallObservation(caller=_frame(caller), callee=_frame(callee), count=count)
        for (caller, callee), count in sorted(counts.items())
    )
    return Trace(
        tracer=TracerName.EBPF.value,
        calls=calls,
        processes=answer.processes,
        missed_processes=sum(name.startswith(_INTERPRETER) for name in answer.missed),
        lost_calls=sum(answer.lost.values()),
    )


def _ends(call: CallObservation) -> tuple[tuple[object, ...], ...]:
    return astuple(call.caller), astuple(call.callee)


def _place(file: str) -> str:
    """Path in the checkout; empty for code from elsewhere. The kernel judges the beginning of a path, not its detours."""
    full = os.path.normpath(os.path.join(_CHECKOUT, file))
    if not full.startswith(_CHECKOUT) or any(part in full for part in _FOREIGN):
        return ""
    return full.removeprefix(_CHECKOUT)


def _frame(raw: tuple[str, str, int]) -> Frame:
    return Frame(file=raw[0], qualname=raw[1], first_line=raw[2])
