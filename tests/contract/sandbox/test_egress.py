"""What is allowed gets through to a server that was proved alive, and nothing else gets through beside it."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.adapters.sandbox_bubblewrap.limits import present_rights, remove_groups
from smp.domain.ids import CommitSha, FilePath, SandboxId, SessionId
from smp.domain.sandboxes import ChangedFile, EgressPolicy, Execution, Limits, SandboxSpec
from tests.builders.tls_server import self_signed

pytestmark = pytest.mark.sandbox

FLOOD = 600_000
CLIENT = """
import json, socket, ssl, sys

def tls(host, port, name, body=b"GET / HTTP/1.1\\r\\nHost: registry.test\\r\\n\\r\\n"):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(socket.create_connection((host, port), timeout=10), server_hostname=name) as made:
        made.sendall(b"x" * body if isinstance(body, int) else body)
        return made.recv(64).decode() or "closed"

def plain(host, port, text):
    with socket.create_connection((host, port), timeout=10) as made:
        made.sendall(text.encode())
        return made.recv(64).decode() or "closed"

def told(attempt):
    try:
        return attempt()
    except OSError as error:
        return type(error).__name__

steps = json.loads(sys.argv[1])
print(json.dumps([told(lambda: globals()[step[0]](*step[1:])) for step in steps]))
"""


@dataclass
class Registry:
    """A server of the host, with and without TLS; `received` is what each connection sent."""

    tls_port: int
    plain_port: int
    received: list[bytes] = field(default_factory=list)


def _serve(server: socket.socket, context: ssl.SSLContext | None, received: list[bytes]) -> None:
    def answer(raw: socket.socket) -> None:
        try:
            made = context.wrap_socket(raw, server_side=True) if context else raw
            with made:
                size = 0
                while piece := made.recv(1 << 16):
                    received.append(piece)
                    size += len(piece)
                    if size >= FLOOD or not piece.endswith(b"x"):
                        break
                made.sendall(b"ALIVE")
        except OSError:
            raw.close()

    def loop() -> None:
        while True:
            try:
                raw, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(raw,), daemon=True).start()

    threading.Thread(target=loop, daemon=True).start()


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    secure, plain = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
    found = Registry(secure.getsockname()[1], plain.getsockname()[1])
    _serve(secure, self_signed(tmp_path, "registry.test"), found.received)
    _serve(plain, None, found.received)
    for port in (found.tls_port, found.plain_port):
        socket.create_connection(("127.0.0.1", port)).close()
    yield found
    secure.close()
    plain.close()


Ask = Callable[..., tuple[list[str], Execution]]


@pytest.fixture
def ask(driver: BubblewrapDriver, head: CommitSha, registry: Registry) -> Iterator[Ask]:
    """Runs steps of the client in a box that may reach `registry.test`; what each came to, and the execution."""
    allowed = (
        f"registry.test:443@127.0.0.1:{registry.tls_port}",
        f"registry.test:80@127.0.0.1:{registry.plain_port}",
        f"127.0.0.1:{registry.plain_port}",
    )
    spec = SandboxSpec(
        sandbox_id=SandboxId(SystemClock().fresh_id("box")),
        session_id=SessionId("ses_test"),
        commit_sha=head,
        egress=EgressPolicy(name="registry_only", allowed_hosts=allowed),
    )
    box = driver.spawn(spec)
    driver.write(box, [ChangedFile(path=FilePath("client.py"), content=CLIENT.encode())])
    registry.received.clear()

    def run(*steps: list[object]) -> tuple[list[str], Execution]:
        done = driver.execute(box, f"python client.py '{json.dumps(steps)}'", limits=Limits(timeout_ms=60_000))
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout), done

    yield run
    driver.destroy(box)


def reasons(done: Execution) -> list[tuple[str, int, str]]:
    return [(block.host, block.port, block.reason) for block in done.network_blocks]


def test_an_allowed_name_is_reached_without_any_proxy(ask: Ask, registry: Registry) -> None:
    get = "GET /simple/ HTTP/1.1\r\nHost: registry.test\r\nConnection: keep-alive\r\n\r\n"
    got, done = ask(["tls", "registry.test", 443, "registry.test"], ["plain", "registry.test", 80, get])
    assert (got, done.network_blocks) == (["ALIVE", "ALIVE"], ())
    assert registry.received[-1] == b"GET /simple/ HTTP/1.1\r\nHost: registry.test\r\nConnection: close\r\n\r\n"


def test_another_port_or_name_or_relay_address_is_refused_and_reported(ask: Ask, registry: Registry) -> None:
    got, done = ask(
        ["plain", "registry.test", 8080, "x"],
        ["plain", "other.test", 443, "x"],
        ["plain", "127.77.9.9", 443, "x"],
        ["plain", "::ffff:127.77.9.9", 444, "x"],
        ["plain", "203.0.113.5", 443, "x"],
    )
    assert got == ["ConnectionRefusedError"] * 5
    assert reasons(done) == [
        ("registry.test", 8080, "egress_blocked"),
        ("other.test", 443, "egress_blocked"),
        ("127.77.9.9", 443, "egress_blocked"),
        ("127.77.9.9", 444, "egress_blocked"),
        ("203.0.113.5", 443, "egress_blocked"),
    ]
    assert registry.received == []


def test_a_connection_that_asks_for_another_name_does_not_get_through(ask: Ask, registry: Registry) -> None:
    host = "HTTP/1.1\r\nHost: registry.test\r\n"
    got, done = ask(
        ["tls", "registry.test", 443, "other.test"],
        ["plain", "registry.test", 80, "GET / HTTP/1.1\r\nHost: other.test\r\n\r\n"],
        ["plain", "registry.test", 80, f"GET http://other.test/ {host}\r\n"],
        ["plain", "registry.test", 80, "CONNECT other.test:443 HTTP/1.1\r\nHost: registry.test\r\n\r\n"],
        ["plain", "registry.test", 80, f"POST / {host}Content-Length: 4\r\n\r\ndata"],
        ["plain", "registry.test", 443, "SSH-2.0-x\r\n\r\n"],
    )
    assert set(got) <= {"ConnectionResetError", "SSLEOFError", "SSLError", "closed"}, got
    assert registry.received == []
    assert set(reasons(done)) == {
        ("registry.test", 443, "sni_mismatch"),
        ("registry.test", 80, "host_mismatch"),
        ("registry.test", 80, "protocol_refused"),
        ("registry.test", 443, "protocol_refused"),
    }


def test_an_allowed_name_that_leads_to_a_private_address_is_not_dialled(ask: Ask, registry: Registry) -> None:
    get = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{registry.plain_port}\r\n\r\n"
    got, done = ask(["plain", "127.77.0.1", registry.plain_port, get])
    assert got[0] in ("ConnectionResetError", "closed")
    assert reasons(done) == [("127.0.0.1", registry.plain_port, "private_address")]
    assert registry.received == []


def test_what_a_command_can_send_out_is_bounded(ask: Ask) -> None:
    got, done = ask(
        *[["tls", "registry.test", 443, "registry.test", FLOOD]] * 2, ["tls", "registry.test", 443, "registry.test"]
    )
    assert got[0] == "ALIVE"
    assert "ALIVE" not in got[1:]
    assert reasons(done) == [("registry.test", 443, "upload_limit")]


def _gates() -> list[object]:
    groups = present_rights().groups
    return [pytest.param(groups.gate, id="ebpf")] if groups is not None and groups.gate else []


@pytest.mark.parametrize("parent", _gates())
def test_the_gate_stays_closed_when_whoever_attached_it_is_killed(parent: str) -> None:
    group = Path(parent, f"probe-closed-{os.getpid()}")
    group.mkdir()
    attach = (
        "import os, sys; from smp.adapters.sandbox_bubblewrap.host.gate import KernelGate; "
        f"KernelGate({str(group)!r}); os.kill(os.getpid(), 9)"
    )
    connect = (
        f"import socket; open({str(group / 'cgroup.procs')!r}, 'w').write('0'); "
        "socket.create_connection(('203.0.113.1', 80), timeout=5)"
    )
    try:
        assert subprocess.run([sys.executable, "-c", attach], check=False).returncode == -9
        done = subprocess.run([sys.executable, "-c", connect], check=False, capture_output=True, text=True)
        assert "ConnectionRefusedError" in done.stderr
    finally:
        remove_groups({str(group): {}})
