"""Real Neo4j and Weaviate for tests: found, built once into the user's cache, started on free ports, killed, stopped."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PORTS = {"neo4j": ("SMP_NEO4J_PORT",), "weaviate": ("SMP_WEAVIATE_PORT", "SMP_WEAVIATE_GRPC_PORT")}
GIVEN = "SMP_TEST_SERVERS"
"""Folder of servers that `infra/servers.py` has started at the ports of the environment, for whoever runs single tests again
and again: they are used and go on."""


class TestServer:
    """A server of our own; `environment` holds its ports."""

    __test__ = False

    def __init__(self, name: str, home: Path, environment: dict[str, str]) -> None:
        self.name = name
        self._home = home
        self._environment = environment

    def up(self) -> None:
        """Start it, unless it answers."""
        self._chore("up")

    def down(self) -> None:
        """Stop it."""
        self._chore("down")

    def kill(self) -> None:
        """kill -9."""
        pid = self.pid()
        os.kill(pid, signal.SIGKILL)
        while Path(f"/proc/{pid}").exists() and " Z " not in Path(f"/proc/{pid}/stat").read_text():
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def pid(self) -> int:
        """Of its process."""
        return int(json.loads((self._home / f"{self.name}.json").read_text())["pid"])

    def settings(self) -> dict[str, str]:
        """What `load_settings` is to find in the environment."""
        if self.name == "neo4j":
            return {"SMP_GRAPH_URL": f"bolt://127.0.0.1:{self._environment['SMP_NEO4J_PORT']}"}
        return {
            "SMP_VECTORS_URL": f"http://127.0.0.1:{self._environment['SMP_WEAVIATE_PORT']}",
            "SMP_VECTORS_GRPC_PORT": self._environment["SMP_WEAVIATE_GRPC_PORT"],
            "SMP_VECTORS_API_KEY": (self._home / "weaviate.key").read_text(),
        }

    def _chore(self, name: str) -> None:
        """`infra/servers.py`, whose word is the reason when it fails."""
        script = str(ROOT / "infra" / "servers.py")
        command = [sys.executable, script, name, self.name, "--data-dir", str(self._home), "--no-images"]
        environment = os.environ | self._environment
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@contextlib.contextmanager
def started(name: str, home: Path) -> Iterator[TestServer]:
    """A server of our own, which is stopped at the end."""
    given = os.environ.get(GIVEN)
    if given:
        yield TestServer(name, Path(given), {port: os.environ[port] for port in PORTS[name]})
        return
    server = TestServer(name, home, free_ports(name))
    server.up()
    try:
        yield server
    finally:
        server.down()


def free_ports(name: str) -> dict[str, str]:
    """Ports that nobody listens on; Weaviate takes the ones behind its last as well."""
    for _ in range(50):
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            probe = stack.enter_context(socket.socket())
            probe.bind(("127.0.0.1", 0))
            first = int(probe.getsockname()[1])
            for offset in range(1, 8):
                stack.enter_context(socket.socket()).bind(("127.0.0.1", first + offset))
            return {port: str(first + number) for number, port in enumerate(PORTS[name])}
    raise AssertionError("no eight free ports beside each other")


def nobody_listens() -> int:
    """A port at which every connection is refused."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
