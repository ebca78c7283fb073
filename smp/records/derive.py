"""Records → the edges that they imply, and no others (spec/records.md section 4). Where a reference does not say exactly what it
names, no edge is made: a missing edge can be seen, a wrong one is believed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from smp.domain.records import Episode, Fact, RecordEdge, Rule, instant
from smp.records import nodes
from smp.records.reading import Records

MAX_NOTE = 200


def edge_id(source: str, target: str, type_: str) -> str:
    """The content address of an edge."""
    return "e_" + hashlib.sha256("\0".join((source, target, type_)).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def implied_edges(records: Records) -> tuple[RecordEdge, ...]:
    """Every edge, once, in the order in which the records imply it; of several sightings the newest, then the last, counts."""
    found: dict[str, RecordEdge] = {}
    for edge in _sightings(records):
        known = found.get(edge.id)
        if known is None or instant(edge.at) >= instant(known.at):
            found[edge.id] = edge
    return tuple(found.values())


def _sightings(records: Records) -> Iterator[RecordEdge]:
    known = _References(records)
    for episode in records.episodes:
        yield from _of_episode(episode, known)
    for fact in records.facts:
        yield from _provenance(fact, nodes.fact_node(fact.id), fact.sources, known, note=fact.kind)
    for rule in records.rules:
        if not rule.seeded:
            yield from _provenance(rule, nodes.rule_node(rule.id), rule.evidence, known, note=None)


class _References:
    """What a reference may name: the ids of the records that were read, else an unambiguous prefix."""

    def __init__(self, records: Records) -> None:
        self._episodes = {episode.id for episode in records.episodes}
        self._runs = {episode.run_id for episode in records.episodes}
        self._facts = {fact.id for fact in records.facts}
        self._rules = {rule.id for rule in records.rules}

    def source(self, text: str) -> str | None:
        """The node of a fact's source or a rule's evidence."""
        if text in self._episodes:
            return nodes.episode_node(text)
        if text in self._runs:
            return nodes.run_node(text)
        if text in self._facts:
            return nodes.fact_node(text)
        if text.startswith(nodes.EPISODE_PREFIX):
            return nodes.episode_node(text)
        return nodes.run_node(text) if text.startswith(nodes.RUN_PREFIX) else None

    def repair(self, text: str) -> str | None:
        """The node of what resolved a failure, when that was a rule."""
        return nodes.rule_node(text) if text in self._rules or text.startswith(nodes.RULE_PREFIX) else None


def _of_episode(episode: Episode, known: _References) -> Iterator[RecordEdge]:
    here = nodes.episode_node(episode.id)
    run = nodes.run_node(episode.run_id) if episode.run_id is not None else None

    def edge(source: str | None, target: str | None, type_: str, note: str | None = None) -> Iterable[RecordEdge]:
        return _edges(source, target, type_, at=episode.at, run_id=episode.run_id, note=note)

    for path in episode.files_changed:
        yield from edge(here, nodes.file_node(path), "touched")
    for failure in episode.failures:
        broken = nodes.failure_node(failure.fingerprint)
        yield from edge(here, broken, "produced", failure.class_)
        if failure.resolved_by:
            yield from edge(broken, known.repair(failure.resolved_by), "resolved_by")
    yield from edge(run, here, "parent_of")


def _provenance(
    record: Fact | Rule, here: str | None, references: tuple[str, ...], known: _References, *, note: str | None
) -> Iterator[RecordEdge]:
    for text in references:
        yield from _edges(here, known.source(text), "derived_from", at=record.at, run_id=None, note=note)


def _edges(
    source: str | None, target: str | None, type_: str, *, at: str, run_id: str | None, note: str | None
) -> Iterable[RecordEdge]:
    """One edge, or none where an end could not be named."""
    if source is None or target is None:
        return ()
    return (
        RecordEdge(
            id=edge_id(source, target, type_),
            source=source,
            target=target,
            type=type_,
            at=at,
            run_id=run_id,
            note=note[:MAX_NOTE] if note else None,
        ),
    )
