"""Temporal's own dev server on a file: found or built, started, found again, stopped by its process id.

Its files lie in `<data dir>/temporal/`: `temporal.db` (all runs; survives kill -9 of the server), `server.json` (who runs)
and `server.log`. A server that already listens at the configured address is used as it is, whoever started it.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import fcntl
import functools
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from temporalio.client import Client
from temporalio.service import RPCError

from smp.domain.errors import Unavailable
from smp.domain.runs import SEARCH_ATTRIBUTES
from smp.settings import Settings, TemporalSettings

CLI_MODULE = "github.com/temporalio/cli/cmd/temporal@v1.5.1"
"""The newest that `go install` takes (later ones have replace directives); server 1.29."""
START_SECONDS = 60.0
STOP_SECONDS = 15.0
POLL_SECONDS = 0.1
SETTLE_SECONDS = 0.1
LOG_TAIL_BYTES = 4_000
FULL_BYTES = 4_000_000

Say = Callable[[str], None]


class ServerRecord(Struct, frozen=True, kw_only=True):
    """What `server.json` holds. `started_ticks`: the kernel's start time of the process, so that a reused pid is told apart."""

    pid: int
    started_ticks: int
    address: str
    ui_url: str


class ServerStatus(Struct, frozen=True, kw_only=True):
    """`ours`: started from this data directory; `pid` is known only then."""

    answers: bool
    ours: bool
    address: str
    ui_url: str
    pid: int | None = None


def status(settings: Settings) -> ServerStatus:
    """Whether a server answers at the configured address, and whether it is this repository's."""
    record = _living(settings)
    ours = record is not None and record.address == settings.temporal.address
    return ServerStatus(
        answers=answers(settings.temporal),
        ours=ours,
        address=settings.temporal.address,
        ui_url=settings.temporal.ui_url,
        pid=record.pid if record and ours else None,
    )


def start(settings: Settings, say: Say) -> tuple[ServerStatus, bool]:
    """Make sure a server answers at the configured address.

    Args:
        say: Told what happens when it takes long (building, starting).

    Returns:
        The server, and whether this call started it.

    Raises:
        Unavailable: A port is taken by something else, no server can be found or built, or it does not come up; the
            message says which and what to do.
    """
    home = _home(settings)
    with _exclusively(home / "server.lock"):
        if answers(settings.temporal):
            return status(settings), False
        host, port = _host_port(settings.temporal.address)
        _ui_host, ui_port = _host_port(urlsplit(settings.temporal.ui_url).netloc)
        _refuse_busy(host, port, "SMP_TEMPORAL_ADDRESS", f"{host}:{port + 100}")
        _refuse_busy(host, ui_port, "SMP_TEMPORAL_UI_URL", f"http://{host}:{ui_port + 100}")
        binary = find_or_build(settings, say)
        say(f"starting Temporal at {settings.temporal.address}")
        process = _launch(binary, home, host, port, ui_port)
        try:
            _wait_until_ready(process, settings.temporal, home / "server.log")
            record = ServerRecord(
                pid=process.pid,
                started_ticks=_start_ticks(process.pid) or 0,
                address=settings.temporal.address,
                ui_url=settings.temporal.ui_url,
            )
            (home / "server.json").write_bytes(msgspec.json.encode(record))
        except BaseException:
            _end(process.pid)
            process.wait()
            raise
        return status(settings), True


def stop(settings: Settings) -> bool:
    """Stop the server that was started from this data directory; False when there is none."""
    record = _living(settings)
    if record is not None:
        _end(record.pid)
    with contextlib.suppress(FileNotFoundError):
        (settings.data_dir / "temporal" / "server.json").unlink()
    return record is not None


def answers(settings: TemporalSettings) -> bool:
    """Whether a Temporal server with the configured namespace answers at the address."""

    async def ask() -> bool:
        client = await Client.connect(settings.address, namespace=settings.namespace)
        await client.count_workflows("", rpc_timeout=timedelta(seconds=2))
        return True

    async def bounded() -> bool:
        return await asyncio.wait_for(ask(), 4)

    host, port = _host_port(settings.address)
    _settle_at_exit()
    try:
        # The client retries a refused connection for seconds; a plain connection says so at once.
        socket.create_connection((host, port), timeout=2).close()
        return asyncio.run(bounded())
    except (OSError, RuntimeError, TimeoutError, RPCError):
        return False


@functools.cache
def _settle_at_exit() -> None:
    """The SDK's threads let go of a client a moment after its last call; an interpreter that ends meanwhile aborts.

    Seen with temporalio 1.35 on CPython 3.11 in 2 of 15 runs, in none with this pause.
    """
    atexit.register(time.sleep, SETTLE_SECONDS)


def find_or_build(settings: Settings, say: Say) -> Path:
    """The `temporal` program: on PATH, in the cache, or built into the cache.

    Raises:
        Unavailable: Neither is there, and it cannot be built; the message says what to install.
    """
    cached = settings.cache_dir / "bin" / "temporal"
    on_path = shutil.which("temporal")
    if on_path:
        return Path(on_path)
    if cached.is_file():
        return cached
    go = shutil.which("go")
    if go is None:
        raise Unavailable(
            "no Temporal server: `temporal` is not on PATH and there is no Go to build it with; install Go 1.23+ "
            f"(then run this again), or put the Temporal CLI on PATH, or as {str(cached)!r}",
            backend="temporal",
        )
    with _exclusively(cached.parent / "build.lock"):
        if not cached.is_file():
            _build(go, cached, say)
    return cached


def _build(go: str, target: Path, say: Say) -> None:
    say(f"building the Temporal server once into {target} (about three minutes, 250 MB)")
    staging = target.parent / f"build-{os.getpid()}"
    staging.mkdir(parents=True)
    environment = os.environ | {"GOBIN": str(staging), "GOFLAGS": "-trimpath"}
    process = subprocess.Popen(
        [go, "install", "-v", CLI_MODULE],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    last = ""
    packages = 0
    assert process.stderr is not None
    try:
        for line in process.stderr:
            last = line.strip()
            packages += 1
            if packages % 50 == 0:
                say(f"building Temporal: {packages} steps, now {last[:60]}")
        if process.wait() != 0:
            raise Unavailable(
                f"building Temporal failed: {last[:300]}; check that Go can reach its module proxy (go env GOPROXY), "
                "or put the Temporal CLI on PATH",
                backend="temporal",
            )
        (staging / "temporal").replace(target)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(staging, ignore_errors=True)


def _launch(binary: Path, home: Path, host: str, port: int, ui_port: int) -> subprocess.Popen[bytes]:
    command = [
        str(binary), "server", "start-dev",
        "--db-filename", str(home / "temporal.db"),
        "--ip", host, "--port", str(port), "--ui-ip", host, "--ui-port", str(ui_port),
        "--log-level", "error",
        # Measured: twice the throughput of the default journal, and no acknowledged start lost by kill -9.
        "--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=full",
        "--dynamic-config-value", "system.enableActivityEagerExecution=true",
    ]  # fmt: skip
    for name, kind in SEARCH_ATTRIBUTES.items():
        command += ["--search-attribute", f"{name}={kind}"]
    with (home / "server.log").open("ab") as log:
        # Its own session: a Ctrl-C in the terminal stops the command, not the server that others may use.
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=home
        )


def _wait_until_ready(process: subprocess.Popen[bytes], settings: TemporalSettings, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise Unavailable(
                f"Temporal did not start: {_last_words(log)}; its log is {str(log)!r}", backend="temporal"
            )
        if answers(settings):
            return
        time.sleep(POLL_SECONDS)
    raise Unavailable(
        f"Temporal did not answer at {settings.address} within {START_SECONDS:.0f} s; its log is {str(log)!r}",
        backend="temporal",
    )


def _last_words(log: Path) -> str:
    free = shutil.disk_usage(log.parent).free
    if free < FULL_BYTES:
        # It cannot even say so in its log.
        return f"the disk of {str(log.parent)!r} is full ({free // 1_000_000} MB left); free some space"
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LOG_TAIL_BYTES))
        lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it ended without a word"


def _refuse_busy(host: str, port: int, variable: str, other: str) -> None:
    """Raise when something else listens: the server itself would only log it."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise Unavailable(
                f"port {port} of {host} is taken by another program ({error.strerror}); stop it, or choose another "
                f"port with {variable}={other}",
                backend="temporal",
            ) from error


def _living(settings: Settings) -> ServerRecord | None:
    path = settings.data_dir / "temporal" / "server.json"
    try:
        record = msgspec.json.decode(path.read_bytes(), type=ServerRecord)
    except (OSError, msgspec.DecodeError):
        return None
    return record if _start_ticks(record.pid) == record.started_ticks else None


def _start_ticks(pid: int) -> int | None:
    """Start time of a living process from /proc; None when it is gone or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[19])


def _end(pid: int) -> None:
    ticks = _start_ticks(pid)
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sign)
        deadline = time.monotonic() + STOP_SECONDS
        while time.monotonic() < deadline:
            if ticks is None or _start_ticks(pid) != ticks:
                return
            time.sleep(POLL_SECONDS)


def _home(settings: Settings) -> Path:
    home = settings.data_dir / "temporal"
    try:
        home.mkdir(parents=True, exist_ok=True)
        ignore = settings.data_dir / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
        probe = home / ".writable"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise Unavailable(
            f"cannot write {str(home)!r}: {error.strerror}; free some space or name another place with --data-dir",
            backend="temporal",
        ) from error
    return home


@contextlib.contextmanager
def _exclusively(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _host_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise Unavailable(
            f"{address!r} is no address of the form host:port; set [temporal] address", backend="temporal"
        )
    return host.strip("[]"), int(port)
