"""CPU, memory and bytes of processes, read from /proc while a run lasts."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

TICKS = os.sysconf("SC_CLK_TCK")
EVERY_S = 0.05
MACHINE = "machine"


class Sample(Struct, frozen=True):
    """CPU seconds since each process began, and of all cores since boot. `at`: seconds since the epoch."""

    at: float
    spent: dict[str, float]


class Meter:
    """Samples of processes by name; the children of those in `parents` are counted under a name of their own.

    What a process has used is its own time; what its children have used is that of the ended ones that it waited for and of
    those that live, theirs included.
    """

    def __init__(self, processes: Mapping[str, int], parents: Mapping[str, str]) -> None:
        """
        Args:
            processes: Name to process id.
            parents: Name of a process to the name of its children.
        """
        self._processes = dict(processes)
        self._parents = dict(parents)
        self.samples: list[Sample] = []

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Take samples while the context lasts, one at each end of it."""
        stop = threading.Event()

        def take() -> None:
            while not stop.wait(EVERY_S):
                self.take()

        self.take()
        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
            self.take()

    def take(self) -> None:
        """One sample."""
        spent = {MACHINE: _machine()}
        for name, pid in self._processes.items():
            own, waited = _times(pid)
            spent[name] = own
            if name in self._parents:
                spent[self._parents[name]] = waited + sum(sum(_times(child)) for child in _descendants(pid))
        self.samples.append(Sample(time.time(), spent))

    def others(self, begin: float, end: float, own: float) -> float:
        """Cores that processes other than ours kept busy in a span of time, on average. own: CPU seconds of ours in it."""
        busy = self._at(end, MACHINE) - self._at(begin, MACHINE)
        return max(0.0, (busy - own) / (end - begin))

    def between(self, begin: float, end: float) -> dict[str, float]:
        """CPU seconds in a span of time, interpolated between samples."""
        names = self.samples[-1].spent.keys() - {MACHINE}
        return {name: self._at(end, name) - self._at(begin, name) for name in sorted(names)}

    def _at(self, when: float, name: str) -> float:
        low, high = 0, len(self.samples) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.samples[middle].at <= when else (low, middle)
        one, other = self.samples[low], self.samples[high]
        share = (when - one.at) / (other.at - one.at) if other.at > one.at else 0.0
        return one.spent[name] + min(1.0, max(0.0, share)) * (other.spent[name] - one.spent[name])


def memory_peak_mb(pid: int) -> float:
    """The most memory that a process has held."""
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1000


def bytes_below(folder: Path) -> int:
    """Of the files below a folder that are there when looked at."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.lstat().st_size if path.is_file() and not path.is_symlink() else 0
    return total


def _times(pid: int) -> tuple[float, float]:
    """CPU seconds of a process, and of its ended children; zero once it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0, 0.0
    user, system, waited_user, waited_system = map(int, fields[11:15])
    return (user + system) / TICKS, (waited_user + waited_system) / TICKS


def _descendants(pid: int) -> Iterator[int]:
    for task in _listed(Path(f"/proc/{pid}/task")):
        with contextlib.suppress(OSError):
            for child in (task / "children").read_text().split():
                yield int(child)
                yield from _descendants(int(child))


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _machine() -> float:
    fields = list(map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:]))
    user, nice, system, _idle, _wait, irq, soft, steal = fields[:8]
    return (user + nice + system + irq + soft + steal) / TICKS
