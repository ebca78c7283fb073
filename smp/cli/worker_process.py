"""Workers as processes: whether one lives for a repository, and one as a child while a command lasts."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

from smp.domain.errors import Unavailable
from smp.settings import Settings

LOCK_FILE = "worker.lock"
"""Held shared by every living worker of the data directory (`workers/liveness.py`)."""
STOP_SECONDS = 20.0
MAX_DEATHS = 3
LOG_TAIL_BYTES = 4_000


def worker_command(settings: Settings, *flags: str) -> list[str]:
    """Arguments that start a worker of a repository with this interpreter."""
    # -P: a folder named `workers` in the current directory must not be taken for ours.
    options = ["--repo", str(settings.repo), "--data-dir", str(settings.data_dir), *flags]
    return [sys.executable, "-P", "-m", "workers", *options]


def worker_lives(settings: Settings) -> bool:
    """Whether a worker of this data directory runs on this machine."""
    try:
        with (settings.data_dir / LOCK_FILE).open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Unavailable(
            f"cannot write {str(settings.data_dir)!r}: {error.strerror}; free some space or name another place with "
            "--data-dir",
            backend="data_dir",
        ) from error
    return False


class ChildWorker:
    """A worker that polls while the context lasts; even when this process is killed it ends."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._log = settings.data_dir / "worker.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._deaths = 0

    def __enter__(self) -> ChildWorker:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            _end(self._process)

    def ensure(self) -> None:
        """Start another when the present one has died; call it now and then.

        Raises:
            Unavailable: It died too often, or another does not come up; the message quotes it.
        """
        if self._process is None or self._process.poll() is None:
            return
        self._deaths += 1
        if self._deaths > MAX_DEATHS:
            raise Unavailable(f"the worker died {self._deaths} times: {_last_words(self._log, 0)}", backend="worker")
        _end(self._process)
        self._start()

    def _start(self) -> None:
        with self._log.open("ab") as sink:
            begin = sink.tell()
            self._process = process = subprocess.Popen(
                worker_command(self._settings, "--while-stdin"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                start_new_session=True,  # a Ctrl-C of the terminal is ours to answer: first the run is cancelled
            )
        assert process.stdout is not None
        try:
            ready = process.stdout.readline() == b"ready\n"
        except BaseException:
            _end(process)
            raise
        if not ready:
            _end(process)
            raise Unavailable(f"the worker did not start: {_last_words(self._log, begin)}", backend="worker")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Closing its input asks it to stop; it finishes or gives back what it is doing."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _last_words(log: Path, begin: int) -> str:
    with log.open("rb") as file:
        file.seek(max(begin, log.stat().st_size - LOG_TAIL_BYTES))
        lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return (lines[-1].removeprefix("error: ") if lines else "it ended without a word") + f"; its log is {str(log)!r}"
