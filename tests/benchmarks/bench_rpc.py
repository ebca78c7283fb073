"""What a transport adds to a call: round trips on one connection, requests a second on eight, by HTTP, WebSocket and stdio.

    python tests/benchmarks/bench_rpc.py [--seconds S] [--json FILE]

The server is a process of its own (`smp serve`), the client this one; both share the machine. A handler's own time is what the
server's metrics say it took; the overhead of a round trip is what remains. CPU seconds of the server are read from the kernel.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import websockets

REQUEST = b'{"jsonrpc":"2.0","id":1,"method":"smp/navigate","params":{"query":"f1"}}'
UNHANDLED = b'{"jsonrpc":"2.0","id":1,"method":"smp/none","params":{}}'
"""A call that no handler answers: what it costs is the transport's and the dispatcher's."""
WARM_S = 3.0
"""Time stamps of the repository are trusted from then on, so that handlers take what they take later."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--seconds", type=float, default=4.0, help="of each measurement")
    options.add_argument("--json", type=Path, help="write the figures here as well")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="smp-bench-") as scratch:
        repo = Path(scratch) / "repo"
        repo.mkdir()
        (repo / "a.py").write_text("".join(f"def f{n}():\n    return f{n + 1}()\n" for n in range(20)))
        subprocess.run(["git", "init", "-q", str(repo)], check=True)
        author = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        for command in (("add", "-A"), (*author, "commit", "-q", "-m", "state")):
            subprocess.run(["git", "-C", str(repo), *command], check=True)
        figures = {**over_sockets(repo, chosen.seconds), "stdio, 1": over_stdio(repo, chosen.seconds)}
    print(
        f"{'':<16}{'requests':>10}{'p50 ms':>9}{'p99 ms':>9}{'handler ms':>12}{'over ms':>9}{'per s':>9}{'CPU ms':>8}"
    )
    for name, row in figures.items():
        print(
            f"{name:<16}{row['requests']:>10.0f}{row['p50']:>9.2f}{row['p99']:>9.2f}{row['handler']:>12.2f}"
            f"{row['p50'] - row['handler']:>9.2f}{row['rate']:>9.0f}{row['cpu']:>8.2f}"
        )
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def over_sockets(repo: Path, seconds: float) -> dict[str, dict[str, float]]:
    """Figures of HTTP and WebSocket."""
    server = subprocess.Popen(
        [sys.executable, "-m", "smp.cli.start", "serve", "--port", "0", "--repo", str(repo)],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    try:
        found = re.search(r":(\d+)/", server.stderr.readline())
        assert found is not None
        port = int(found[1])
        while b" 200 " not in once(port, b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"):
            time.sleep(0.05)
        time.sleep(WARM_S)
        figures: dict[str, dict[str, float]] = {}
        for name, client, connections in (
            ("HTTP, 1", http_client, 1),
            ("HTTP, 8", http_client, 8),
            ("no handler, 1", functools.partial(http_client, request=UNHANDLED), 1),
            ("no handler, 8", functools.partial(http_client, request=UNHANDLED), 8),
            ("WebSocket, 1", websocket_client, 1),
            ("WebSocket, 8", websocket_client, 8),
        ):
            asyncio.run(load(client, port, connections, 0.5))
            figures[name] = measured(server.pid, port, load(client, port, connections, seconds))
        return figures
    finally:
        server.terminate()
        server.wait(20)


def measured(pid: int, port: int, run: Coroutine[Any, Any, list[float]]) -> dict[str, float]:
    """A run, with what the server says of its handlers and the kernel of its CPU."""
    handled, cpu, started = handler_seconds(port), cpu_seconds(pid), time.perf_counter()
    times = asyncio.run(run)
    wall, cpu = time.perf_counter() - started, cpu_seconds(pid) - cpu
    after = handler_seconds(port)
    return row_of(times, wall, cpu, (after[0] - handled[0]) / max(after[1] - handled[1], 1))


def row_of(times: list[float], wall: float, cpu: float, handler: float) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "requests": len(ordered),
        "p50": ordered[len(ordered) // 2] * 1000,
        "p99": ordered[len(ordered) * 99 // 100] * 1000,
        "handler": handler * 1000,
        "rate": len(ordered) / wall,
        "cpu": cpu / len(ordered) * 1000,
    }


async def load(
    client: Callable[[int, float, list[float]], Awaitable[None]], port: int, connections: int, seconds: float
) -> list[float]:
    """Round-trip times of several connections, each with one request at a time."""
    times: list[float] = []
    await asyncio.gather(*(client(port, seconds, times) for _ in range(connections)))
    return times


async def http_client(port: int, seconds: float, times: list[float], *, request: bytes = REQUEST) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(request)}\r\n\r\n".encode()
    ends = time.perf_counter() + seconds
    while (started := time.perf_counter()) < ends:
        writer.write(head + request)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = int(re.search(rb"(?i)content-length: (\d+)", answer)[1])  # type: ignore[index]
        body = await reader.readexactly(length)
        times.append(time.perf_counter() - started)
        assert (b'"result"' in body) == (request is REQUEST), body
    writer.close()


async def websocket_client(port: int, seconds: float, times: list[float]) -> None:
    async with websockets.connect(f"ws://127.0.0.1:{port}/ws", compression=None) as socket_:
        ends = time.perf_counter() + seconds
        while (started := time.perf_counter()) < ends:
            await socket_.send(REQUEST.decode())
            answer = await socket_.recv()
            times.append(time.perf_counter() - started)
            assert '"result"' in str(answer), answer


def over_stdio(repo: Path, seconds: float) -> dict[str, float]:
    """Figures of line-delimited JSON over pipes; the handler's time is not told apart there."""
    child = subprocess.Popen(
        [sys.executable, "-m", "smp.cli.start", "serve", "--stdio", "--repo", str(repo)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    times: list[float] = []
    cpu, begun = 0.0, 0.0
    for phase in (WARM_S, seconds):
        times.clear()
        cpu, begun = cpu_seconds(child.pid), time.perf_counter()
        while (started := time.perf_counter()) < begun + phase:
            child.stdin.write(REQUEST + b"\n")
            child.stdin.flush()
            child.stdout.readline()
            times.append(time.perf_counter() - started)
    row = row_of(times, time.perf_counter() - begun, cpu_seconds(child.pid) - cpu, 0.0)
    child.stdin.close()
    child.wait(20)
    return row


def handler_seconds(port: int) -> tuple[float, float]:
    """Seconds in handlers so far, and calls."""
    text = once(port, b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").decode()
    found = [re.search(rf'smp_rpc_seconds_{what}{{method="smp/navigate"}} (\S+)', text) for what in ("sum", "count")]
    total, count = (float(one[1]) if one else 0.0 for one in found)
    return total, count


def once(port: int, request: bytes) -> bytes:
    """One request on a connection of its own."""
    with socket.create_connection(("127.0.0.1", port)) as opened:
        opened.sendall(request)
        pieces = []
        while piece := opened.recv(65536):
            pieces.append(piece)
    return b"".join(pieces)


def cpu_seconds(pid: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
