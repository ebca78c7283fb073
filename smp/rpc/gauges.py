"""Prometheus gauges of what a repository's stores hold, read when somebody scrapes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from smp.domain.errors import SmpError
from smp.services import Services


class StateCollector(Collector):
    """A store that does not answer leaves its gauges out, so that an alert on their absence sees it."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def describe(self) -> list[GaugeMetricFamily]:
        """Nothing: what there is is known when it is asked for, not when the server starts."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The present figures."""
        for read in (self._sessions, self._index):
            try:
                yield from read()
            except SmpError:
                continue

    def _sessions(self) -> list[GaugeMetricFamily]:
        store = self._services.session_store
        now = self._services.clock.now()
        active = [session for session in store.active() if session.expires_at > now]
        held = [lock for session in active for lock in store.locks(session_id=session.id) if lock.expires_at > now]
        return [
            GaugeMetricFamily("smp_sessions_active", "Sessions that are open.", value=len(active)),
            GaugeMetricFamily(
                "smp_boxes_active", "Boxes of open sessions.", value=sum(one.sandbox_id is not None for one in active)
            ),
            GaugeMetricFamily("smp_locks_held", "Files locked by open sessions.", value=len(held)),
        ]

    def _index(self) -> list[GaugeMetricFamily]:
        size = self._services.graph.size()
        state = self._services.indexer.state()
        built = datetime.fromisoformat(state.built_at).timestamp() if state.built_at is not None else 0.0
        return [
            GaugeMetricFamily("smp_graph_nodes", "Nodes of the graph.", value=size.nodes),
            GaugeMetricFamily("smp_graph_edges", "Edges of the graph, without unresolved calls.", value=size.edges),
            GaugeMetricFamily(
                "smp_graph_unresolved_calls", "Calls into libraries or without a proved target.", value=size.unresolved
            ),
            GaugeMetricFamily(
                "smp_index_built_timestamp_seconds", "When the index was last brought up to date.", value=built
            ),
        ]
