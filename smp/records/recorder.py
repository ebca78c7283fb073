"""The use cases of records: write down what a session was, answer what is known, keep the graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, timedelta
from typing import Any, Literal

import msgspec
import structlog
from msgspec import Struct
from msgspec.structs import replace

from smp.domain.errors import Invalid, NotFound, TooLarge, Unavailable
from smp.domain.ids import FilePath
from smp.domain.records import Direction, Episode, KnownAboutFile, RecordEdge, Rule
from smp.domain.sessions import AuditEvent, Session
from smp.ports.artifact_store import ArtifactStore
from smp.ports.clock import Clock
from smp.ports.record_files import RecordFile, RecordFiles
from smp.records import nodes
from smp.records.derive import implied_edges
from smp.records.edge_store import EdgeStore
from smp.records.episodes import episode_of
from smp.records.reading import MAX_RECORD_BYTES, Records, read_records, read_rules
from smp.records.repair_rules import proposals
from smp.records.traversal import Adjacency, Walk

_log = structlog.get_logger(__name__)


class GraphStats(Struct, frozen=True, kw_only=True):
    """dir: where the store lies. edges, nodes: how many. log_bytes: length of the log. by_type: edges of each type."""

    dir: str
    edges: int
    nodes: int
    log_bytes: int
    by_type: dict[str, int]


class Backfilled(Struct, frozen=True, kw_only=True):
    """added: edges that are new. edges: all there are now."""

    added: int
    edges: int


class Recorder:
    """Safe to use from several threads and processes: what writes holds the files' lock. Warnings come back with each answer."""

    def __init__(self, files: RecordFiles, clock: Clock) -> None:
        self._files = files
        self._clock = clock

    # Records

    def session_ended(
        self, session: Session, events: Sequence[AuditEvent], artifacts: ArtifactStore, *, written: Sequence[FilePath]
    ) -> None:
        """Write the episode of a session, propose what it proves, and backfill. Repeating it changes nothing.

        What cannot be written is logged: it costs the record, never the session.
        """
        warnings: list[str] = []
        try:
            with self._files.writing(RecordFile.EPISODES):
                known = read_records(self._files)
                episode = episode_of(session, events, artifacts, written=written, rules=known.rules)
                if episode not in known.episodes:
                    self._append(RecordFile.EPISODES, episode)
            self._propose(read_records(self._files))
        except (Unavailable, TooLarge) as error:
            warnings.append(error.message)
        for warning in warnings + self.backfill()[1]:
            _log.warning("record graph", warning=warning, session_id=session.id)

    def records(self) -> Records:
        """All records and what is wrong with some of them."""
        return read_records(self._files)

    def judge(self, rule_id: str, status: Literal["accepted", "rejected"]) -> Rule:
        """Accept or reject a rule.

        Raises:
            NotFound: There is no such rule. Invalid: It was shipped with the product.
        """
        with self._files.writing(RecordFile.RULES):
            found = next((rule for rule in read_rules(self._files, []) if rule.id == rule_id), None)
            if found is None:
                raise NotFound(f"no rule {rule_id!r}; `smp evolve rules` lists them", rule_id=rule_id)
            if found.seeded:
                raise Invalid(f"{rule_id!r} is shipped with the product and cannot be judged", path="rule_id")
            document = self._rules_document()
            for raw in document["rules"]:
                if isinstance(raw, dict) and raw.get("id") == rule_id:
                    raw["status"] = status
            self._files.replace(RecordFile.RULES, msgspec.json.encode(document) + b"\n")
            return replace(found, status=status)

    # The graph

    def backfill(self) -> tuple[Backfilled, list[str]]:
        """Materialise the edges that the records imply."""
        records = read_records(self._files)
        warnings = list(records.warnings)
        with self._writing(warnings) as store:
            added = store.add(implied_edges(records))
            return Backfilled(added=added, edges=len(store.edges)), warnings + store.warnings

    def prune(self, age: timedelta) -> tuple[int, int, list[str]]:
        """Drop edges that were last seen longer ago.

        Returns:
            How many were dropped, how many are left, warnings.
        """
        warnings: list[str] = []
        before = (self._clock.now() - age).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        with self._writing(warnings) as store:
            dropped = store.prune(before)
            return dropped, len(store.edges), warnings + store.warnings

    def forget(self) -> list[str]:
        """Delete the graph; the records stay, and a backfill brings it back."""
        warnings: list[str] = []
        if self._files.read(RecordFile.EDGES) is None and self._files.read(RecordFile.INDEX) is None:
            return warnings
        with self._files.writing(RecordFile.EDGES):
            self._files.delete((RecordFile.INDEX, RecordFile.EDGES))
        return warnings

    def stats(self) -> tuple[GraphStats, list[str]]:
        """How large the graph is."""
        store = EdgeStore(self._files)
        by_type: dict[str, int] = {}
        for edge in store.edges.values():
            by_type[edge.type] = by_type.get(edge.type, 0) + 1
        found = GraphStats(
            dir=self._files.place(RecordFile.EDGES),
            edges=len(store.edges),
            nodes=Adjacency(store.edges.values()).nodes(),
            log_bytes=store.log_bytes,
            by_type=dict(sorted(by_type.items())),
        )
        return found, store.warnings

    def file(self, path: str) -> tuple[KnownAboutFile, list[str]]:
        """What is known about a file.

        Raises:
            Invalid: The path leaves the repository or is too long for a node.
        """
        node = nodes.file_node(path)
        if node is None:
            raise Invalid(f"{path!r} names no file of the repository; write it like src/module.py", path="path")
        store = EdgeStore(self._files)
        return Adjacency(store.edges.values()).known_about(node), store.warnings

    def known(self, path: str) -> KnownAboutFile | None:
        """What `smp/context` and `smp/guard/check` say of a file; None when no episode touched it."""
        node = nodes.file_node(path)
        if node is None or self._files.read(RecordFile.EDGES) is None:
            return None
        found = Adjacency(EdgeStore(self._files).edges.values()).known_about(node)
        return found if found.episodes else None

    def neighbors(
        self, node: str, direction: Direction, types: frozenset[str]
    ) -> tuple[list[tuple[str, RecordEdge, bool]], list[str]]:
        """(far end, edge, forward) around a node."""
        store = EdgeStore(self._files)
        return Adjacency(store.edges.values()).around(node, direction, types), store.warnings

    def walk(self, node: str, direction: Direction, types: frozenset[str], *, depth: int) -> tuple[Walk, list[str]]:
        """Bounded traversal from a node."""
        store = EdgeStore(self._files)
        return Adjacency(store.edges.values()).walk(node, direction, types, depth=depth), store.warnings

    # Inside

    @contextmanager
    def _writing(self, warnings: list[str]) -> Iterator[EdgeStore]:
        """The store, opened for writing; where it cannot be written it works in memory and says so."""
        with ExitStack() as stack:
            try:
                stack.enter_context(self._files.writing(RecordFile.EDGES))
            except Unavailable as error:
                warnings.append(error.message)
            yield EdgeStore(self._files)

    def _append(self, file: RecordFile, record: Episode) -> None:
        line = msgspec.json.encode(record)
        if len(line) > MAX_RECORD_BYTES:
            raise TooLarge(f"a record is at most {MAX_RECORD_BYTES} bytes")
        self._files.append(file, (line,))

    def _propose(self, records: Records) -> None:
        if not proposals(records.episodes, records.rules):
            return
        with self._files.writing(RecordFile.RULES):
            fresh = proposals(records.episodes, read_rules(self._files, []))
            document = self._rules_document()
            document["rules"] += [msgspec.to_builtins(rule) for rule in fresh]
            self._files.replace(RecordFile.RULES, msgspec.json.encode(document) + b"\n")

    def _rules_document(self) -> dict[str, Any]:
        """The file of rules as it is, with what this version does not know; a damaged one is set aside. Hold its lock."""
        body = self._files.read(RecordFile.RULES)
        if body is not None:
            try:
                document = msgspec.json.decode(body)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                document = None
            if isinstance(document, dict) and isinstance(document.get("rules"), list):
                return document
            self._files.set_aside(RecordFile.RULES)
        return {"version": 1, "rules": []}
