"""One command in one container, from its making to its removal.

The container's first process waits for a word on its standard input before it runs the command: until then the gatekeeper
(`host/gatekeeper.py`) opens the name server and attaches the gate. Output comes by the attached stream alone; the daemon
keeps no log of it.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import docker
import msgspec
from docker.errors import DockerException, NotFound
from msgspec import Struct

from smp.adapters.sandbox_bubblewrap.host.supervise import TIMED_OUT, Stream
from smp.adapters.sandbox_bubblewrap.supervision import Answer, Refused
from smp.adapters.sandbox_docker.daemon import docker_errors
from smp.adapters.sandbox_docker.host.gatekeeper import Watch, control_group
from smp.domain.errors import SandboxFailed
from smp.domain.sandboxes import Limits, NetworkBlock

# `exit` keeps the shell from replacing itself: process 1 stays one that collects what the command leaves behind.
BOOT = 'read -r _ || exit 125; /bin/sh -c "$1" </dev/null; exit $?'
_PACKAGE_ROOT = Path(__file__).resolve().parents[3]
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); from smp.adapters.sandbox_docker.host.gatekeeper import main; main()"
)
_BEAT_S = 0.5
_POLL_MS = 100


class _Line(Struct, kw_only=True):
    """What the gatekeeper says; one field is set."""

    ready: bool = False
    failed: str = ""
    blocked: Refused | None = None
    killed: str = ""
    blocks: list[Refused] | None = None


class Running:
    """A container that was made and not started; used as a context that removes it, running or not."""

    def __init__(self, api: docker.APIClient, made: str, limits: Limits, logs: Path, log_mb: int) -> None:
        self._api = api
        self._id = made
        self._limits = limits
        self._streams = {
            number: Stream(limits.output_kb << 10, str(logs / name), log_mb << 20)
            for number, name in ((1, "stdout"), (2, "stderr"))
        }
        self._killed = ""
        self._lines = bytearray()
        self._frames = bytearray()
        self._blocks: list[Refused] = []

    def start(self) -> int:
        """Attach and start; the command does not run yet. Returns the first process's number on the host."""
        with docker_errors("the container does not start"):
            attached = self._api.attach_socket(
                self._id, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1, "logs": 0}
            )
            self._attached = attached  # the response behind it must live as long as the socket
            self._socket: socket.socket = getattr(attached, "_sock", attached)
            self._socket.settimeout(None)
            self._api.start(self._id)
            return int(self._api.inspect_container(self._id)["State"]["Pid"])

    def run(
        self, watch: Watch, beat: Callable[[], None], blocked: Callable[[NetworkBlock], None] | None
    ) -> tuple[Answer, bool]:
        """Let the command go and wait for its end: the answer, and whether the kernel killed for memory."""
        with self._gatekeeper(watch) as keeper:
            begin = time.monotonic()
            self._socket.sendall(b"go\n")
            self._follow(keeper, begin + self._limits.timeout_ms / 1000, beat, blocked)
            with docker_errors("the Docker daemon was lost while the command ran, which has been killed"):
                code = int(self._api.wait(self._id, timeout=30)["StatusCode"])
                state = self._api.inspect_container(self._id)["State"]
            took = (time.monotonic() - begin) * 1000
            self._finish(keeper)
        (out, cut_out), (err, cut_err) = (self._streams[number].kept() for number in (1, 2))
        if self._killed == "timeout":
            code = TIMED_OUT
        answer = Answer(
            failed="",
            exit_code=code,
            killed=self._killed,
            duration_ms=round(took, 3),
            blocks=self._blocks,
            asked=[],
            stdout=len(out),
            stderr=len(err),
            truncated=cut_out or cut_err,
            out=out,
            err=err,
        )
        return answer, bool(state.get("OOMKilled"))

    @contextlib.contextmanager
    def _gatekeeper(self, watch: Watch) -> Iterator[subprocess.Popen[bytes]]:
        keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, str(_PACKAGE_ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            bufsize=0,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
        )
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        try:
            keeper.stdin.write(watch.encode())
            first = keeper.stdout.readline()
            said = msgspec.json.decode(first, type=_Line) if first else _Line(failed="its gatekeeper broke")
            if not said.ready:
                raise SandboxFailed(f"the box cannot be entered: {said.failed}")
            yield keeper
        finally:
            keeper.stdin.close()  # whoever leaves early kills the command by this
            keeper.stdout.close()
            keeper.wait()

    def _follow(
        self,
        keeper: subprocess.Popen[bytes],
        deadline: float,
        beat: Callable[[], None],
        blocked: Callable[[NetworkBlock], None] | None,
    ) -> None:
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        poll = select.poll()
        for descriptor in (self._socket.fileno(), keeper.stdout.fileno()):
            poll.register(descriptor, select.POLLIN)
        next_beat = time.monotonic() + _BEAT_S
        while True:
            for descriptor, _ in poll.poll(_POLL_MS):
                piece = os.read(descriptor, 1 << 16)
                if descriptor == self._socket.fileno():
                    if not piece:
                        return
                    self._take(piece)
                elif piece:
                    self._hear(piece, blocked)
                else:
                    poll.unregister(descriptor)
            now = time.monotonic()
            if now >= next_beat:
                beat()
                next_beat = now + _BEAT_S
            if now > deadline and not self._killed:
                self._killed = "timeout"
                keeper.stdin.close()

    def _take(self, piece: bytes) -> None:
        """Frames of the attached stream: which stream, three bytes of nothing, length."""
        self._frames += piece
        while len(self._frames) >= 8:
            number, length = struct.unpack_from(">BxxxI", self._frames)
            if len(self._frames) < 8 + length:
                return
            if number in self._streams:
                self._streams[number].add(bytes(self._frames[8 : 8 + length]))
            del self._frames[: 8 + length]

    def _hear(self, piece: bytes, blocked: Callable[[NetworkBlock], None] | None) -> None:
        self._lines += piece
        *whole, rest = self._lines.split(b"\n")
        self._lines = bytearray(rest)
        for line in whole:
            said = msgspec.json.decode(line, type=_Line)
            self._killed = self._killed or said.killed
            if said.blocks is not None:
                self._blocks = said.blocks
            if said.blocked is not None and blocked is not None:
                blocked(said.blocked.seen())

    def _finish(self, keeper: subprocess.Popen[bytes]) -> None:
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        if not keeper.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                keeper.stdin.write(b"end\n")
        while piece := os.read(keeper.stdout.fileno(), 1 << 16):
            self._hear(piece, None)

    def remove(self) -> None:
        """Take the container away, with what it mounts; a daemon that is gone leaves it to the reaper."""
        with contextlib.suppress(AttributeError):
            self._socket.close()
        with contextlib.suppress(NotFound, DockerException, OSError):
            self._api.remove_container(self._id, force=True, v=True)


def egress_group(pid: int) -> str:
    """The container's own control group, for the gate; empty where we may not attach to it."""
    return control_group(pid) if os.geteuid() == 0 else ""
