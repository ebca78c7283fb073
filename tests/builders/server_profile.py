"""Real Neo4j and Weaviate for tests: found, built once into the user's cache, started on free ports, stopped at the end."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PORTS = {"neo4j": ("SMP_NEO4J_PORT",), "weaviate": ("SMP_WEAVIATE_PORT", "SMP_WEAVIATE_GRPC_PORT")}
GIVEN = "SMP_TEST_SERVERS"
"""Set to keep servers that answer at the ports of the environment: for whoever runs single tests again and again."""


def chore(name: str, server: str, home: Path, environment: dict[str, str]) -> None:
    """`infra/servers.py`, whose word is the reason when it fails."""
    command = [sys.executable, str(ROOT / "infra" / "servers.py"), name, server, "--data-dir", str(home), "--no-images"]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@contextlib.contextmanager
def started(server: str, home: Path) -> Iterator[dict[str, str]]:
    """The environment of a server of our own, which is stopped at the end."""
    if os.environ.get(GIVEN):
        yield {name: os.environ[name] for name in (*PORTS[server], "SMP_VECTORS_API_KEY") if name in os.environ}
        return
    environment = free_ports(server)
    chore("up", server, home, environment)
    if server == "weaviate":
        environment["SMP_VECTORS_API_KEY"] = (home / "weaviate.key").read_text()
    try:
        yield environment
    finally:
        chore("down", server, home, environment)


def free_ports(server: str) -> dict[str, str]:
    """Ports that nobody listens on; Weaviate takes the ones behind its last as well."""
    for _ in range(50):
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            probe = stack.enter_context(socket.socket())
            probe.bind(("127.0.0.1", 0))
            first = int(probe.getsockname()[1])
            for offset in range(1, 8):
                stack.enter_context(socket.socket()).bind(("127.0.0.1", first + offset))
            return {name: str(first + number) for number, name in enumerate(PORTS[server])}
    raise AssertionError("no eight free ports beside each other")
