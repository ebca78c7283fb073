"""Connections to one Neo4j database, for one repository: reads, transactions, retries, what is down.

A writing transaction begins at a *gate*: a node whose `state` it raises. That takes the node's lock, so the writers of one
gate queue, as they do for an SQLite file. The graph has one gate a repository, and its number tells every reader of whatever
host that something has changed; each session has its own. A transaction leaves its token there too, so that a writer whose
connection breaks while it commits finds out whether it did, and neither loses nor doubles what it wrote.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from neo4j import READ_ACCESS, Driver, GraphDatabase, NotificationMinimumSeverity, Record, Session, Transaction
from neo4j.exceptions import AuthError, ClientError, ConfigurationError, DriverError, Neo4jError, TransientError

from smp.adapters.neo4j.schema import prepare
from smp.domain.errors import Unavailable
from smp.settings import GraphSettings

log = logging.getLogger(__name__)

T = TypeVar("T")
BATCH = 5_000
"""Rows of one UNWIND."""
TOKENS = 64
"""Of the last transactions of a gate."""
MOST_HELD = 50_000
"""Answers that are kept while nothing changes; beyond it, all are let go."""
FIRST_PAUSE_S = 0.1
CONNECT_S = 5.0
TRANSACTION_S = 1_800.0
"""After which the server rolls back what a client has left open."""

_ENTER = (
    "MERGE (g:SmpGate {repo: $repo, name: $gate}) SET g.state = coalesce(g.state, 0) + 1, "
    f"g.tokens = ([$token] + coalesce(g.tokens, []))[..{TOKENS}]"
)
_DONE = "MATCH (g:SmpGate {repo: $repo, name: $gate}) RETURN $token IN g.tokens AS done"
_STATE = "MATCH (g:SmpGate {repo: $repo, name: $gate}) RETURN g.state AS state"
GRAPH = "graph"
"""The gate of a repository's graph."""


def batches(rows: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    """The rows in lists of at most `size`."""
    everything = list(rows)
    for start in range(0, len(everything), size):
        yield everything[start : start + size]


class Neo4jDatabase:
    """Safe to use from several threads.

    Args:
        settings: Where it is and for how long it may be away.
        repository: What is written carries this id; nothing else is read.

    Raises:
        Unavailable: It does not answer, refuses the password, or has a newer schema; likewise from every method.
    """

    def __init__(self, settings: GraphSettings, repository: str) -> None:
        self.repository = repository
        self._settings = settings
        self._local = threading.local()
        self._held: tuple[int, dict[Any, Any]] = (-1, {})
        # queries speak of labels and properties that do not exist before the first write: no news
        logging.getLogger("neo4j.notifications").setLevel(logging.ERROR)
        with self._translated():
            self._driver: Driver = GraphDatabase.driver(
                settings.url,
                auth=(settings.user, settings.password) if settings.password else None,
                connection_timeout=CONNECT_S,
                connection_acquisition_timeout=settings.patience_s + CONNECT_S,
                max_transaction_retry_time=settings.patience_s,
                keep_alive=True,
                notifications_min_severity=NotificationMinimumSeverity.OFF,
            )
        atexit.register(self._driver.close)
        self._patiently(lambda: prepare(self._driver, settings.database))

    def close(self) -> None:
        """Close every connection; later calls raise `Unavailable`."""
        atexit.unregister(self._driver.close)
        self._driver.close()

    def read(self, query: str, /, **parameters: object) -> list[Record]:
        """The rows of a query, with `$repo`; inside a transaction of this thread, of what that sees."""
        values = parameters | {"repo": self.repository}
        open_one = self._open
        if open_one is not None:
            with self._translated():
                return list(open_one.run(query, values))

        def ask() -> list[Record]:
            with self._session(reading=True) as session:
                return list(session.run(query, values))

        return self._patiently(ask)

    def stream(self, query: str, /, **parameters: object) -> Iterator[Record]:
        """The rows of a query as they come."""
        values = parameters | {"repo": self.repository}
        if self._open is not None:
            yield from self.read(query, **parameters)
            return
        session = self._session(reading=True)
        try:
            rows = self._patiently(lambda: session.run(query, values))
            with self._translated():
                yield from rows
        finally:
            session.close()

    def write(self, work: Callable[[Transaction], T], *, gate: str | None = GRAPH) -> T:
        """What `work` returns, done in one transaction: that of this thread where one is open, else one of its own, which is
        repeated within the bound when the server goes away or rolls it back.

        Args:
            gate: Writers of one gate queue; None for work that may be done twice without harm and beside any other.
        """
        if self._open is not None:
            with self._translated():
                return work(self._open)
        token = uuid.uuid4().hex
        answers: list[T] = []

        def attempt() -> T:
            if answers and gate is not None and self._committed(gate, token):
                return answers[-1]
            answers.clear()
            with self._session() as session, session.begin_transaction(timeout=TRANSACTION_S) as transaction:
                if gate is not None:
                    transaction.run(_ENTER, repo=self.repository, gate=gate, token=token).consume()
                with self._bound(transaction):
                    answer = work(transaction)
                answers.append(answer)
                transaction.commit()
                return answer

        return self._patiently(attempt)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything that this thread writes inside commits together, or not at all; joins the one that is open.

        Only its beginning is repeated when the server is away: what is inside is the caller's to repeat.
        """
        if self._open is not None:
            yield
            return
        token = uuid.uuid4().hex
        session, transaction = self._patiently(lambda: self._begin(token))
        try:
            with self._bound(transaction):
                yield
            try:
                transaction.commit()
            except DriverError:
                if not self._patiently(lambda: self._committed(GRAPH, token)):
                    raise
        except (DriverError, Neo4jError) as error:
            raise self._refused(error) from error
        finally:
            self._quietly(transaction.close)
            self._quietly(session.close)

    def state(self) -> int | None:
        """A number for what the repository holds: while it stays, nothing has been changed by anybody. None inside a
        transaction of this thread, which sees something else than the last commit."""
        if self._open is not None:
            return None
        rows = self.read(_STATE, gate=GRAPH)
        return int(rows[0]["state"]) if rows else 0

    def held(self) -> dict[Any, Any]:
        """What was kept since the last change of the repository; of this question alone inside a transaction."""
        state = self.state()
        if state is None:
            return {}
        known, kept = self._held
        if known != state or len(kept) > MOST_HELD:
            kept = {}
            self._held = (state, kept)
        return kept

    @property
    def _open(self) -> Transaction | None:
        return getattr(self._local, "transaction", None)

    @contextmanager
    def _bound(self, transaction: Transaction) -> Iterator[None]:
        self._local.transaction = transaction
        try:
            yield
        finally:
            self._local.transaction = None

    def _session(self, *, reading: bool = False) -> Session:
        if reading:
            return self._driver.session(database=self._settings.database, default_access_mode=READ_ACCESS)
        return self._driver.session(database=self._settings.database)

    def _begin(self, token: str) -> tuple[Session, Transaction]:
        session = self._session()
        try:
            transaction = session.begin_transaction(timeout=TRANSACTION_S)
            transaction.run(_ENTER, repo=self.repository, gate=GRAPH, token=token).consume()
        except BaseException:
            session.close()
            raise
        return session, transaction

    def _committed(self, gate: str, token: str) -> bool:
        with self._session() as session:
            record = session.run(_DONE, repo=self.repository, gate=gate, token=token).single()
        return bool(record and record["done"])

    def _patiently(self, work: Callable[[], T]) -> T:
        """Do it again while the server is away or asks for it, for as long as the settings allow."""
        deadline, pause = time.monotonic() + self._settings.patience_s, FIRST_PAUSE_S
        while True:
            try:
                return work()
            except (DriverError, Neo4jError) as error:
                if not _passing(error) or time.monotonic() + pause > deadline:
                    raise self._refused(error) from error
                log.info("Neo4j does not serve (%s); the call is tried again in %.1f s", type(error).__name__, pause)
            time.sleep(pause)
            pause = min(2 * pause, 2.0)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (DriverError, Neo4jError) as error:
            raise self._refused(error) from error

    def _refused(self, error: Exception) -> Unavailable:
        place, hint = self._settings.url, "start it (make up) or set SMP_GRAPH_URL, then repeat the call"
        if isinstance(error, AuthError):
            hint = "set SMP_GRAPH_USER and SMP_GRAPH_PASSWORD"
        elif isinstance(error, Neo4jError) and "MemoryPool" in str(error.code):
            hint = "give the server a larger heap (docs/server-profile.md), then repeat the call"
        elif isinstance(error, Neo4jError) and not isinstance(error, TransientError):
            hint = "look into the server's log"
        said = " ".join(str(getattr(error, "message", None) or error).split())[:300]
        return Unavailable(f"Neo4j at {place}: {said}; {hint}", backend="neo4j")

    @staticmethod
    def _quietly(close: Callable[[], None]) -> None:
        try:
            close()
        except (DriverError, Neo4jError):
            return  # the connection is gone, and the transaction with it


def _passing(error: Exception) -> bool:
    """Whether the same may succeed a moment later."""
    if isinstance(error, ConfigurationError | AuthError):
        return False
    if isinstance(error, ClientError):
        # two have made the same node at once, or one has removed what the other was about to change
        return error.code is not None and error.code.endswith(("ConstraintValidationFailed", "EntityNotFound"))
    return isinstance(error, DriverError) or (isinstance(error, Neo4jError) and error.is_retryable())
