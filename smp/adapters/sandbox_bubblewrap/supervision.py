"""The driver's side of a supervisor process: start it, beat, take its answer."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from smp.adapters.sandbox_bubblewrap.host.order import NOTICE, Order
from smp.domain.errors import SandboxFailed
from smp.domain.sandboxes import NetworkBlock

_PACKAGE_ROOT = Path(__file__).resolve().parents[3]
# -I and -S: nothing of the environment or of site-packages runs in the process that holds the box.
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from smp.adapters.sandbox_bubblewrap.host.supervise import main; main()"
)
_BEAT_S = 0.5
_GRACE_S = 30.0


class Refused(Struct, frozen=True, kw_only=True):
    """An attempt to leave the box."""

    host: str | None
    address: str
    port: int
    protocol: str | None
    process: str
    count: int
    reason: str

    def seen(self) -> NetworkBlock:
        """As clients see it."""
        return NetworkBlock(
            host=self.host or self.address,
            port=self.port,
            reason=self.reason,
            address=self.address,
            protocol=self.protocol,
            process=self.process,
        )


class Notice(Struct, frozen=True, kw_only=True):
    """A line before the answer: what has just been refused."""

    blocked: Refused


class Answer(Struct, kw_only=True):
    """What the supervisor says.

    Attributes:
        failed: Why the command never ran; empty when it did.
        killed: `timeout`, `memory`, `disk` or empty.
        out, err: Filled in from the bytes behind the line.
    """

    failed: str
    exit_code: int
    killed: str
    duration_ms: float
    blocks: list[Refused]
    asked: list[str]
    stdout: int
    stderr: int
    truncated: bool
    out: bytes = b""
    err: bytes = b""


def supervise(order: Order, beat: Callable[[], None], blocked: Callable[[NetworkBlock], None] | None = None) -> Answer:
    """Run one command to its end.

    Args:
        beat: Called at least once a second; what it raises kills the command and is passed on.
        blocked: Called when something was refused, while the command runs; the same holds of what it raises.

    Raises:
        SandboxFailed: The supervisor could not start or broke.
    """
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM, str(_PACKAGE_ROOT)]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            bufsize=0,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
        )
    except OSError as error:
        raise SandboxFailed(f"the box's supervisor does not start: {error}") from error
    try:
        said = _converse(process, order, beat, blocked)
    finally:
        assert process.stdin is not None
        process.stdin.close()  # whoever leaves early kills the command by this
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
    return decode_answer(*said)


def _converse(
    process: subprocess.Popen[bytes],
    order: Order,
    beat: Callable[[], None],
    blocked: Callable[[NetworkBlock], None] | None,
) -> tuple[bytes, bytes]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        process.stdin.write(order.encode())
    except BrokenPipeError:
        return b"", process.stderr.read()
    deadline = time.monotonic() + order.timeout_ms / 1000 + _GRACE_S
    said = bytearray()
    streams = {process.stdout.fileno(): said, process.stderr.fileno(): bytearray()}
    poll = select.poll()
    for descriptor in streams:
        poll.register(descriptor, select.POLLIN)
    waiting = set(streams)
    next_beat = time.monotonic() + _BEAT_S
    while waiting:
        for descriptor, _ in poll.poll(_BEAT_S * 1000):
            piece = os.read(descriptor, 1 << 20)
            streams[descriptor] += piece
            if not piece:
                poll.unregister(descriptor)
                waiting.discard(descriptor)
        for block in take_notices(said):
            if blocked is not None:
                blocked(block)
        now = time.monotonic()
        if now >= next_beat:
            beat()
            next_beat = now + _BEAT_S
        if now > deadline:
            process.kill()  # its keeper ends with it
    out, err = streams.values()
    return bytes(out), bytes(err)


def take_notices(said: bytearray) -> Iterator[NetworkBlock]:
    """The whole notices at the beginning of what was said, taken out; the answer begins otherwise."""
    while said.startswith(NOTICE) and (end := said.find(b"\n")) >= 0:
        line = bytes(said[:end])
        del said[: end + 1]
        yield msgspec.json.decode(line, type=Notice).blocked.seen()


def decode_answer(said: bytes, complaint: bytes) -> Answer:
    line, _, rest = said.partition(b"\n")
    try:
        answer = msgspec.json.decode(line, type=Answer)
    except msgspec.DecodeError as error:
        words = complaint.decode(errors="replace").strip()[-500:]
        raise SandboxFailed(f"the box's supervisor broke: {words or 'killed'}") from error
    answer.out = rest[: answer.stdout]
    answer.err = rest[answer.stdout : answer.stdout + answer.stderr]
    if answer.failed:
        raise SandboxFailed(f"the box cannot be entered: {answer.failed}")
    return answer
