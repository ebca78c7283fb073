"""The host's side of a container while its command runs: name server, relay, egress gate, disk measure, end.

A process of its own, started with `-I -S`: standard library only, one thread. It enters the container's network namespace
for as long as it takes to open the sockets of name server and relay, puts the gate on the container's control group, and
says so; only then is the command let go. When its standard input ends, because the driver has ended or wants the end, the
container's first process is killed, and with it, by the kernel's hand, all others; no daemon is asked.

In: the order (one JSON line), then `end` when the command has ended. Out, JSON lines: `ready` or `failed`; `blocked` for each
refused target; `killed` when the disk limit did it; `blocks`, the last line.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from smp.adapters.sandbox_bubblewrap.host import kernel
from smp.adapters.sandbox_bubblewrap.host.egress import Block, NameServer
from smp.adapters.sandbox_bubblewrap.host.gate import KernelGate
from smp.adapters.sandbox_bubblewrap.host.measure import bytes_below, bytes_of_deleted
from smp.adapters.sandbox_bubblewrap.host.order import Way
from smp.adapters.sandbox_bubblewrap.host.relay import RelayProcess

_SAMPLE_S = 0.05
_TELL_S = 0.2
_MAX_LINE = 1 << 20
_MAX_OVERSHOOT = 512 << 20  # what can be written between two samples, several times over


@dataclass(frozen=True, kw_only=True)
class Watch:
    """What is watched.

    Attributes:
        pid: The container's first process, as the host numbers it.
        gate: Control group of version 2 that the egress gate is attached to; empty: there is none.
        uid: Whom the relay runs as; None: as we do.
        folders: What the box writes to disk; above `disk_mb` it is killed.
    """

    pid: int
    gate: str
    uid: int | None
    folders: tuple[str, ...]
    disk_mb: int
    ways: tuple[Way, ...] = ()
    upload_kb: int = 0

    def encode(self) -> bytes:
        """One line."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def decode(cls, line: bytes) -> Watch:
        raw = json.loads(line)
        raw["ways"] = tuple(Way(**way) for way in raw["ways"])
        raw["folders"] = tuple(raw["folders"])
        return cls(**raw)


class Gatekeeper:
    """An event loop over the name server's socket and our standard input."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._names = NameServer(allowed={way.name: way.address for way in watch.ways})
        self._gate: KernelGate | None = None
        self._relay: RelayProcess | None = None
        self._told: set[tuple[str, int, str | None]] = set()
        self._next_telling = self._next_sample = 0.0
        self._limit = 0
        self._process = os.pidfd_open(watch.pid)

    def run(self) -> None:
        """Until the command has ended, or is to."""
        ways = frozenset((way.address, way.port) for way in self._watch.ways)
        server = self._open_sockets()
        if self._watch.gate:
            self._gate = KernelGate(self._watch.gate, ways)
        limit, before = self._watch.disk_mb << 20, self._bytes_written()
        # A box that is over its limit may still be looked at and cleaned up, but must not grow for ever by small steps.
        self._limit = max(limit, before) if before <= limit + _MAX_OVERSHOOT else -1
        _say({"ready": True})
        with selectors.DefaultSelector() as selector:
            selector.register(server, selectors.EVENT_READ)
            selector.register(0, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select(_SAMPLE_S):
                    if key.fd == 0:
                        self._end(os.read(0, 64))
                        return
                    self._names.serve(server)
                self._tell_blocks()
                self._measure()

    def _open_sockets(self) -> socket.socket:
        """The name server's socket and the relay's, made in the container's network namespace."""
        home, theirs = (os.open(f"/proc/{pid}/ns/net", os.O_RDONLY) for pid in ("self", self._watch.pid))
        listeners = []
        kernel.enter(theirs)
        try:
            names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            names.bind(("127.0.0.1", 53))
            for way in self._watch.ways:
                listeners.append(socket.create_server((way.address, way.port), backlog=64))  # noqa: PERF401 - may raise
        finally:
            kernel.enter(home)
            os.close(home)
            os.close(theirs)
        if listeners:
            upload = self._watch.upload_kb << 10
            self._relay = RelayProcess(listeners, self._watch.ways, upload_bytes=upload, uid=self._watch.uid)
        return names

    def _end(self, said: bytes) -> None:
        if not said.startswith(b"end"):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, signal.SIGKILL)
        blocks = self._refused_by_gate()
        for name, port, address, reason in self._relay.stop() if self._relay else ():
            blocks.append(Block(name, address, port, "tcp", "?", reason=reason))
        _say({"blocks": [asdict(block) for block in blocks]})

    def _measure(self) -> None:
        begin = time.monotonic()
        if begin < self._next_sample:
            return
        if self._bytes_written() > self._limit:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, signal.SIGKILL)
                _say({"killed": "disk"})
        # A tree with very many files must not cost more than a tenth of a core.
        self._next_sample = time.monotonic() + max(_SAMPLE_S, (time.monotonic() - begin) * 10)

    def _bytes_written(self) -> int:
        written = bytes_below(self._watch.folders)
        with contextlib.suppress(OSError):  # the container has ended
            written += bytes_of_deleted(f"/proc/{self._watch.pid}/root/proc", ("/work/", "/smp/"))
        return written

    def _tell_blocks(self) -> None:
        if time.monotonic() < self._next_telling:
            return
        self._next_telling = time.monotonic() + _TELL_S
        for block in self._refused_by_gate():
            target = block.address, block.port, block.protocol
            if target not in self._told:
                self._told.add(target)
                _say({"blocked": asdict(block)})

    def _refused_by_gate(self) -> list[Block]:
        """With the names that the addresses were given for."""
        found = self._gate.blocks() if self._gate else []
        names = self._names.by_address | {address: name for name, address in self._names.allowed.items()}
        for block in found:
            block.host = names.get(block.address)
        return found


def control_group(pid: int) -> str:
    """Folder of a process's control group of version 2; empty where the host has none."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            number, _, path = line.split(":", 2)
            for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified") if number == "0" else ():
                if Path(root, "cgroup.controllers").exists() and Path(root + path).is_dir():
                    return root + path
    return ""


def _say(line: dict[str, object]) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(1, json.dumps(line).encode() + b"\n")


def main() -> None:
    """Entry point of the process."""
    os.setsid()  # Ctrl-C in the terminal of the driver is the driver's to act on
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = os.read(0, 1 << 16)
        if not piece or len(line) > _MAX_LINE:
            raise SystemExit("no order on standard input")
        line += piece
    try:
        Gatekeeper(Watch.decode(bytes(line))).run()
    except OSError as error:
        _say({"failed": str(error)})
