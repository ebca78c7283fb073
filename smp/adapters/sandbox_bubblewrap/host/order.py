"""What the supervisor is told: one JSON object on its standard input, made by the driver."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, kw_only=True)
class Order:
    """One command in one box.

    Attributes:
        owner: Process whose end ends the command.
        uid: Host user that the box runs as; None: the one that asks (who is then no root).
        lower, changes: Host paths of the checkout and of the folder that holds `upper` and `work`.
        exchange: Host folder bound writable at /smp.
        disk_mb: Bytes below `changes` and `exchange`, and of each tmpfs.
        binds: Read-only mounts besides the system's: host path, path in the box.
        root: Host folder whose `usr`, and of whose `etc` a few files, the box gets: `/`, or another system's.
        environment: All variables of the command.
        limit_files: Per cgroup directory, the files to write before the process is moved into it.
        rlimits: By name without `RLIMIT_`.
        memory_mb: Enforced by sampling when no cgroup does; 0 otherwise.
        seccomp, listener: The box's filter and the one of the listener, base64 of classic BPF; `listener` empty: none.
        calls: System call numbers that the listener may report, by name.
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
    memory_mb: int = 0
    binds: tuple[tuple[str, str], ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    limit_files: dict[str, dict[str, str]] = field(default_factory=dict)
    rlimits: dict[str, int] = field(default_factory=dict)
    seccomp: str = ""
    listener: str = ""
    calls: dict[str, int] = field(default_factory=dict)
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
        raw["bwrap_options"] = tuple(raw["bwrap_options"])
        return cls(**raw)
