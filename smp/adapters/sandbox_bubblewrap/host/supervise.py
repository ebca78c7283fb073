"""Watches over one command in one box, and answers with what came of it.

Started by the driver with an `Order` as the first line of its standard input, which then stays open: when the driver
closes it, or ends, the command is killed. On standard output comes a JSON line (`blocked`) for each refused target while
the command runs; then the answer, one JSON line followed by the bytes of both streams, whose lengths the line tells. A
failure to set the box up is told in the same line (`failed`).
"""

from __future__ import annotations

import json
import os
import select
import selectors
import signal
import socket
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import BinaryIO

from smp.adapters.sandbox_bubblewrap.host import kernel, launch
from smp.adapters.sandbox_bubblewrap.host.egress import Block, Gate, NameServer
from smp.adapters.sandbox_bubblewrap.host.gate import KernelGate
from smp.adapters.sandbox_bubblewrap.host.order import NOTICE, Order
from smp.adapters.sandbox_bubblewrap.host.relay import RelayProcess

TIMED_OUT = 124
KILLED = 137
_SAMPLE_S = 0.05
_TELL_S = 0.2
_MAX_LINE = 64 << 20


@dataclass
class Stream:
    """Head and tail of a stream, half of the bound each; what does not fit is written whole to `log`, up to `log_bound`."""

    bound: int
    log: str = ""
    log_bound: int = 0
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    total: int = 0
    _file: BinaryIO | None = None

    def add(self, piece: bytes) -> None:
        self._write_log(piece)
        self.total += len(piece)
        room = self.bound // 2 - len(self.head)
        if room > 0:
            self.head += piece[:room]
            piece = piece[room:]
        self.tail += piece
        if len(self.tail) > self.bound:
            del self.tail[: len(self.tail) - self.bound // 2]

    def _write_log(self, piece: bytes) -> None:
        if not self.log or self.total + len(piece) <= self.bound:
            return
        try:
            if self._file is None:
                self._file = open(self.log, "xb", buffering=0)  # noqa: SIM115 - open as long as the stream is
                self._file.write(self.head + self.tail)  # all of it so far: nothing has been dropped yet
            self._file.write(piece[: max(0, self.log_bound - self.total)])
        except OSError:
            self.log = ""  # the host's disk is full: head and tail remain

    def kept(self) -> tuple[bytes, bool]:
        """What is kept, and whether something is missing in the middle."""
        tail = self.tail[-(self.bound // 2) :] if self.bound > 1 else b""
        left_out = self.total - len(self.head) - len(tail)
        if left_out <= 0:
            return bytes(self.head + tail), False
        return bytes(self.head) + b"\n... %d bytes left out ...\n" % left_out + bytes(tail), True


class Supervisor:
    """One command. Single-threaded: an event loop over pipes, the listener and the name server."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._streams = {
            name: Stream(order.output_kb << 10, f"{order.logs}/{name}" if order.logs else "", order.log_mb << 20)
            for name in ("stdout", "stderr")
        }
        self._status = b""
        self._names = NameServer(allowed={way.name: way.address for way in order.ways})
        self._ways = frozenset((way.address, way.port) for way in order.ways)
        self._gate: Gate | KernelGate | None = None
        self._relay: RelayProcess | None = None
        self._keeper = 0
        self._killed = ""
        self._told: set[tuple[str, int, str | None]] = set()
        self._next_telling = 0.0
        self._selector = selectors.DefaultSelector()
        self._open = 0

    def run(self) -> dict[str, object]:
        """Start, watch, clean up; what is returned is the answer without the streams."""
        begin = time.monotonic()
        if self._order.gate:
            try:
                self._gate = KernelGate(self._order.gate, self._ways)
            except OSError as error:
                return self._answer(f"the egress gate cannot be attached: {error}", KILLED, duration_ms=0.0)
        pipes = {name: os.pipe() for name in ("stdout", "stderr", "status", "alive")}
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ends = launch.Ends(pipes["stdout"][1], pipes["stderr"][1], pipes["status"][1], pipes["alive"][0], theirs)
        foreign = (pipes["stdout"][0], pipes["stderr"][0], pipes["status"][0], pipes["alive"][1], ours.fileno())
        stem = launch.start(self._order, ends, foreign)
        theirs.close()
        for descriptor in (ends.stdout, ends.stderr, ends.status, ends.alive):
            os.close(descriptor)
        for name in ("stdout", "stderr", "status"):
            self._selector.register(pipes[name][0], selectors.EVENT_READ, name)
            self._open += 1
        failure = self._greet(ours, stem)
        if not failure:
            self._selector.register(ours, selectors.EVENT_READ, "channel")
            self._watch_owner()
            failure = self._watch(ours, deadline=begin + self._order.timeout_ms / 1000)
        else:
            ours.close()
            os.close(pipes["alive"][1])
        # The keeper's pipe stays open to here: a box that ends by itself must not be taken for one whose owner is gone.
        code = os.waitstatus_to_exitcode(os.waitpid(stem, 0)[1])
        return self._answer(failure, code, duration_ms=(time.monotonic() - begin) * 1000)

    def _watch_owner(self) -> None:
        """The end of our standard input tells that the owner wants the command to end; its process, that it has ended.

        Both are needed: a process that the owner has forked holds a copy of our input's other end.
        """
        self._selector.register(0, selectors.EVENT_READ, "owner")
        try:
            handle = os.pidfd_open(self._order.owner)
        except ProcessLookupError:
            self._kill("owner")
            return
        if os.getppid() != self._order.owner:
            self._kill("owner")  # ended, and the number may be another's by now
        self._selector.register(handle, selectors.EVENT_READ, "owner")

    def _greet(self, channel: socket.socket, stem: int) -> str:
        """Take the name server's socket and the listener; returns why it failed, or nothing."""
        try:
            text, passed = kernel.receive(channel)
            if passed is None:
                return text.removeprefix("failed ")
            server = socket.socket(fileno=passed)
            self._selector.register(server, selectors.EVENT_READ, "names")
            listeners = []
            for _ in self._order.ways:
                text, passed = kernel.receive(channel)
                if passed is None:
                    return text.removeprefix("failed ")
                listeners.append(socket.socket(fileno=passed))
            if listeners:
                uid, upload = self._order.uid, self._order.upload_kb << 10
                self._relay = RelayProcess(listeners, self._order.ways, upload_bytes=upload, uid=uid)
            text, _ = kernel.receive(channel)
            if not text.startswith("listener "):
                return text.removeprefix("failed ")
            number = int(text.split()[1])
            if number >= 0:
                listener = kernel.take_descriptor(stem, number)
                self._gate = Gate(listener, self._order.calls, self._ways)
                self._selector.register(listener, selectors.EVENT_READ, "listener")
            channel.send(b"g")
        except OSError as error:
            return str(error)
        return ""

    def _watch(self, channel: socket.socket, *, deadline: float) -> str:
        failure = ""
        while self._open:
            for key, events in self._selector.select(_SAMPLE_S):
                name = str(key.data)
                if name == "channel":
                    failure = self._hear(channel) or failure
                elif name == "owner":
                    self._kill("owner")
                    self._selector.unregister(key.fd)
                elif name == "names":
                    server = key.fileobj
                    assert isinstance(server, socket.socket)
                    self._names.serve(server)
                elif name == "listener":
                    self._decide(key.fd, events)
                else:
                    self._take(key.fd, name)
            self._tell_blocks()
            if time.monotonic() > deadline:
                self._kill("timeout")
            if self._order.memory_mb and self._keeper and _resident_bytes(self._keeper) > self._order.memory_mb << 20:
                self._kill("memory")
        return failure or self._last_words(channel)

    def _decide(self, listener: int, events: int) -> None:
        if events & selectors.EVENT_READ and isinstance(self._gate, Gate) and not _hung_up(listener):
            self._gate.decide()
        else:
            self._selector.unregister(listener)

    def _last_words(self, channel: socket.socket) -> str:
        channel.setblocking(False)
        failure = ""
        while True:
            try:
                failure = self._hear(channel, registered=False) or failure
            except (BlockingIOError, ConnectionError):
                return failure

    def _hear(self, channel: socket.socket, *, registered: bool = True) -> str:
        try:
            text, _ = kernel.receive(channel)
        except ConnectionError:
            if not registered:
                raise
            self._selector.unregister(channel)
            return ""
        word, _, rest = text.partition(" ")
        if word == "keeper":
            self._keeper = int(rest)
            if self._killed:
                self._signal_keeper()
        return rest if word == "failed" else ""

    def _take(self, descriptor: int, name: str) -> None:
        piece = os.read(descriptor, 1 << 16)
        if not piece:
            self._selector.unregister(descriptor)
            os.close(descriptor)
            self._open -= 1
        elif name == "status":
            self._status = (self._status + piece)[-4096:]
        else:
            self._streams[name].add(piece)

    def _kill(self, why: str) -> None:
        if not self._killed:
            self._killed = why
            self._signal_keeper()

    def _signal_keeper(self) -> None:
        if self._keeper:
            try:
                os.kill(self._keeper, signal.SIGKILL)
            except ProcessLookupError:
                return

    def _answer(self, failure: str, code: int, *, duration_ms: float) -> dict[str, object]:
        exit_code = _bwrap_exit_code(self._status)
        why = self._killed
        if code == launch.DISK_EXCEEDED and exit_code is None:
            why = "disk"
        if not failure and exit_code is None and not why and code != KILLED:
            failure = "bubblewrap: " + self._streams["stderr"].kept()[0].decode(errors="replace").strip()[-500:]
        if why == "timeout":
            exit_code = TIMED_OUT
        elif exit_code is None or why:
            exit_code = KILLED
        asked = sorted(self._names.names)
        return {
            "failed": failure,
            "exit_code": exit_code,
            "killed": why,
            "duration_ms": round(duration_ms, 3),
            "blocks": [asdict(block) for block in self._blocks()],
            "asked": asked,
        }

    def _tell_blocks(self) -> None:
        """Say what the gate has refused since the last time; what the relay refuses is known at its end only."""
        if time.monotonic() < self._next_telling:
            return
        self._next_telling = time.monotonic() + _TELL_S
        for block in self._refused_by_gate():
            target = block.address, block.port, block.protocol
            if target in self._told:
                continue
            self._told.add(target)
            try:
                os.write(1, NOTICE + json.dumps(asdict(block)).encode() + b"}\n")
            except OSError:
                return  # the driver is gone, and will be noticed

    def _refused_by_gate(self) -> list[Block]:
        """With the names that the addresses were given for."""
        found = self._gate.blocks() if self._gate else []
        names = self._names.by_address | {address: name for name, address in self._names.allowed.items()}
        for block in found:
            block.host = names.get(block.address)
        return found

    def _blocks(self) -> list[Block]:
        """Refused by the gate; then refused by the relay."""
        found = self._refused_by_gate()
        for name, port, address, reason in self._relay.stop() if self._relay else ():
            found.append(Block(name, address, port, "tcp", "?", reason=reason))
        return found

    def streams(self) -> tuple[tuple[bytes, bool], tuple[bytes, bool]]:
        return self._streams["stdout"].kept(), self._streams["stderr"].kept()


def _hung_up(descriptor: int) -> bool:
    # selectors does not tell readable from hung up
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return any(event & select.POLLHUP and not event & select.POLLIN for _, event in poll.poll(0))


def _bwrap_exit_code(status: bytes) -> int | None:
    """Exit code of the command, from bubblewrap's status lines; None when it never ran or was killed."""
    for line in reversed(status.splitlines()):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if "exit-code" in found:
            return int(found["exit-code"])
    return None


def _resident_bytes(top: int) -> int:
    """Resident memory of a process and all below it; shared pages count in each."""
    page = os.sysconf("SC_PAGE_SIZE")
    total, pending = 0, [top]
    while pending:
        pid = pending.pop()
        try:
            with open(f"/proc/{pid}/statm", "rb") as statm:
                total += int(statm.read().split()[1]) * page
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children", "rb") as children:
                    pending += [int(child) for child in children.read().split()]
        except OSError:
            continue  # ended while we looked
    return total


def _read_order() -> Order:
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = os.read(0, 1 << 16)
        if not piece or len(line) > _MAX_LINE:
            raise SystemExit("no order on standard input")
        line += piece
    return Order.decode(bytes(line))


def main() -> None:
    """Entry point of the supervisor process."""
    # Ctrl-C in the terminal of the driver must not reach us: the driver decides, by closing its end.
    os.setsid()
    supervisor = Supervisor(_read_order())
    answer = supervisor.run()
    (stdout, cut_out), (stderr, cut_err) = supervisor.streams()
    answer |= {"stdout": len(stdout), "stderr": len(stderr), "truncated": cut_out or cut_err}
    with os.fdopen(1, "wb") as out:
        out.write(json.dumps(answer).encode() + b"\n" + stdout + stderr)
    sys.stderr.flush()
