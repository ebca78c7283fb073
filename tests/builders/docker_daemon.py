"""A Docker daemon of the tests' own: no bridge, no rules of the host's firewall, its images kept in the user's cache."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_cache_path

START_S = 60.0


def can_run() -> bool:
    """Whether this process may start one here."""
    return os.geteuid() == 0 and shutil.which("dockerd") is not None


def start(folder: Path, data: Path) -> subprocess.Popen[bytes]:
    """A daemon that answers on `folder/docker.sock`; what it says goes to `folder/log`."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [
                "dockerd",
                *("--data-root", str(data), "--exec-root", str(folder / "exec"), "--pidfile", str(folder / "pid")),
                *("--host", address(folder), "--bridge", "none", "--iptables=false", "--ip6tables=false"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    deadline = time.monotonic() + START_S
    while b"API listen on" not in (folder / "log").read_bytes():
        if process.poll() is not None or time.monotonic() > deadline:
            stop(process)
            raise RuntimeError((folder / "log").read_text(errors="replace")[-2000:])
        time.sleep(0.05)
    return process


def stop(process: subprocess.Popen[bytes]) -> None:
    """End it, and its containerd with it."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def address(folder: Path) -> str:
    """What DOCKER_HOST is to say."""
    return f"unix://{folder / 'docker.sock'}"


@contextmanager
def docker_daemon(folder: Path) -> Iterator[str]:
    """Its address, while the context lasts; one at a time of all test runs of this user."""
    kept = user_cache_path("smp") / "docker-tests"
    kept.mkdir(parents=True, exist_ok=True)
    with (kept / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = start(folder, kept / "data")
        try:
            yield address(folder)
        finally:
            stop(process)
