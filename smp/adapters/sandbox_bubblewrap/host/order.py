"""What the supervisor is told: one JSON object on its standard input, made by the driver."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, kw_only=True)
class Way:
    """A way out of the box: a name and port, and where the relay dials for it.

    Attributes:
        name, port: As the box asks; the name in lower case.
        address: Of 127.77.0.0/16, the name's in the box.
        pinned: `dial` was given by whoever runs the platform, and may be a private address.
    """

    name: str
    port: int
    address: str
    dial: str
    dial_port: int
    pinned: bool


NOTICE = b'{"blocked": '
"""How a line of the supervisor begins that tells of a refused connection while the command runs; the answer begins otherwise."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """One command in one box.

    Attributes:
        owner: Process whose end ends the command.
        uid: Host user that the box runs as; None: the one that asks (who is then no root).
        lower, changes: Host paths of the checkout and of the folder that holds `upper` and `work`.
        exchange: Host folder bound writable at /smp.
        logs: Host folder, outside of the box, that gets both streams whole when they do not fit; `log_mb` of each.
        disk_mb: Bytes below `changes` and `exchange`, and of each tmpfs.
        binds: Read-only mounts besides the system's: host path, path in the box.
        root: Host folder whose `usr`, and of whose `etc` a few files, the box gets: `/`, or another system's.
        environment: All variables of the command.
        limit_files: Per cgroup directory, the files to write before the process is moved into it.
        rlimits: By name without `RLIMIT_`.
        memory_mb: Enforced by sampling when no cgroup does; 0 otherwise.
        seccomp, listener: The box's filter and the one of the listener, base64 of classic BPF; `listener` empty: none.
        gate: Control group of version 2 that the egress gate is attached to; empty: `listener` decides.
        calls: System call numbers that the listener may report, by name.
        ways: What the relay lets through; upload_kb: what it carries out in all.
        bwrap_options: Options that this bubblewrap knows beyond 0.4's.
    """

    bwrap: str
    owner: int
    command: str
    uid: int | None
    lower: str
    changes: str
    exchange: str
    root: str
    timeout_ms: int
    output_kb: int
    disk_mb: int
    logs: str = ""
    log_mb: int = 0
    memory_mb: int = 0
    binds: tuple[tuple[str, str], ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    limit_files: dict[str, dict[str, str]] = field(default_factory=dict)
    rlimits: dict[str, int] = field(default_factory=dict)
    seccomp: str = ""
    listener: str = ""
    gate: str = ""
    calls: dict[str, int] = field(default_factory=dict)
    ways: tuple[Way, ...] = ()
    upload_kb: int = 0
    bwrap_options: tuple[str, ...] = ()

    def seccomp_program(self) -> bytes:
        return base64.b64decode(self.seccomp)

    def listener_program(self) -> bytes:
        return base64.b64decode(self.listener)

    def encode(self) -> bytes:
        """One line."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def decode(cls, line: bytes) -> Order:
        raw = json.loads(line)
        raw["binds"] = tuple((source, target) for source, target in raw["binds"])
        raw["ways"] = tuple(Way(**way) for way in raw["ways"])
        raw["bwrap_options"] = tuple(raw["bwrap_options"])
        return cls(**raw)
