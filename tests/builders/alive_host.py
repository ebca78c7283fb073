"""What a host has that no box may reach: listeners, a secret, a victim, shared memory; each can be proved alive."""

from __future__ import annotations

import secrets
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Host:
    """What the host has, alive; `hits` is what reached it."""

    given: dict[str, object]
    hits: list[str] = field(default_factory=list)

    def prove_alive(self) -> None:
        """Reach everything from the host; afterwards `hits` is empty."""
        targets = self.given["tcp"]
        assert isinstance(targets, list)
        for host, port in targets:
            with socket.create_connection((host, port), timeout=5) as made:
                assert made.recv(9) == b"ALIVE"
        for name in (f"\0{self.given['abstract']}", str(self.given["unix"])):
            with socket.socket(socket.AF_UNIX) as made:
                made.connect(name)
                assert made.recv(9) == b"ALIVE"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
            made.settimeout(5)
            made.sendto(b"x", tuple(targets[0]))
            assert made.recv(9) == b"ALIVE"
        self.assert_intact()
        self.hits.clear()

    def assert_intact(self) -> None:
        """The secret, the victim and the shared memory are what they were."""
        assert Path(str(self.given["secret"])).read_text() == "SECRET"
        assert Path("/dev/shm", str(self.given["shared"])).read_text() == "SECRET"
        assert b"SECRET" in Path(f"/proc/{self.given['victim']}/environ").read_bytes()


def _serve(server: socket.socket, hits: list[str]) -> None:
    def loop() -> None:
        while True:
            try:
                made, _ = server.accept()
            except OSError:
                return
            hits.append(str(server.getsockname()))
            made.sendall(b"ALIVE")
            made.close()

    server.listen(8)
    threading.Thread(target=loop, daemon=True).start()


def _serve_datagrams(server: socket.socket, hits: list[str]) -> None:
    def loop() -> None:
        while True:
            try:
                _, sender = server.recvfrom(64)
            except OSError:
                return
            hits.append("udp")
            server.sendto(b"ALIVE", sender)

    threading.Thread(target=loop, daemon=True).start()


def _own_address() -> str:
    """An address of this host besides loopback; loopback where there is none. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("203.0.113.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


@contextmanager
def alive_host(folder: Path) -> Iterator[Host]:
    """Targets of this host; in the end the victim must still be there."""
    tag = f"smp-{secrets.token_hex(6)}"
    hits: list[str] = []
    tcp = socket.create_server(("0.0.0.0", 0))
    port = tcp.getsockname()[1]
    tcp6 = socket.socket(socket.AF_INET6)
    tcp6.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    tcp6.bind(("::1", port))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("0.0.0.0", port))
    abstract, unix = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    abstract.bind(f"\0{tag}")
    unix.bind(str(folder / "socket"))
    for server in (tcp, tcp6, abstract, unix):
        _serve(server, hits)
    _serve_datagrams(udp, hits)
    secret = folder / "secret"
    secret.write_text("SECRET")
    secret.chmod(0o644)
    shared = Path("/dev/shm", tag)
    shared.write_text("SECRET")
    victim = subprocess.Popen(["sleep", "3600"], env={"TOKEN": "SECRET"})
    try:
        yield Host(
            given={
                "tcp": [["127.0.0.1", port], [_own_address(), port], ["::1", port]],
                "abstract": tag, "unix": str(folder / "socket"), "secret": str(secret), "victim": victim.pid,
                "shared": tag,
            },
            hits=hits,
        )  # fmt: skip
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()
        shared.unlink()
        for server in (tcp, tcp6, udp, abstract, unix):
            server.close()
