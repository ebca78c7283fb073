"""What calls do while a server is away, counted: how many were made, waited, were tried again, and were refused."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from smp.domain.errors import Unavailable

STORES = ("smp.adapters.neo4j.database", "smp.adapters.vectors_weaviate")


class Outage(logging.Handler):
    """Counts by the stores' own words (each says when it tries a call again), and by what calls raise."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._tries: Counter[int] = Counter()
        self._guard = threading.Lock()
        self.calls = self.waited = self.refused = 0

    @property
    def tried_again(self) -> int:
        """Tries beyond the first of all calls."""
        return sum(self._tries.values())

    def emit(self, record: logging.LogRecord) -> None:
        """A call of this thread is tried again."""
        with self._guard:
            self._tries[threading.get_ident()] += 1

    def call(self, work: Callable[[], object]) -> None:
        """Make a call.

        Raises:
            Unavailable: What a client is told as -32014.
        """
        before = self._tries[threading.get_ident()]
        try:
            work()
        except Unavailable:
            with self._guard:
                self.refused += 1
            raise
        finally:
            with self._guard:
                self.calls += 1
                self.waited += self._tries[threading.get_ident()] > before

    def report(self, server: str) -> None:
        """Print the counts."""
        print(
            f"\n{server} killed under load: {self.calls} calls, {self.waited} of them waited, {self.tried_again} tries again, "
            f"{self.refused} answered -32014"
        )


@contextmanager
def counted() -> Iterator[Outage]:
    """An outage that is listened to."""
    outage = Outage()
    loggers = [logging.getLogger(name) for name in STORES]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(outage)
        logger.setLevel(logging.INFO)
    try:
        yield outage
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.removeHandler(outage)
            logger.setLevel(level)
