"""The record of node changes over time."""

from __future__ import annotations

import abc
from collections.abc import Iterable

from smp.domain.graph import Scope
from smp.domain.ids import NodeId
from smp.domain.telemetry import NodeChange


class TelemetryStore(abc.ABC):
    @abc.abstractmethod
    def record(self, changes: Iterable[NodeChange]) -> None:
        """Append; a change equal in node, event and time is recorded once."""

    @abc.abstractmethod
    def history(self, node_id: NodeId, *, since: str) -> tuple[NodeChange, ...]:
        """Changes of one node at or after an RFC 3339 time, newest first."""

    @abc.abstractmethod
    def counts(self, scope: Scope, *, since: str) -> dict[NodeId, int]:
        """Number of changes in the window of every node of the scope that changed."""

    @abc.abstractmethod
    def counts_of(self, ids: Iterable[NodeId], *, since: str) -> dict[NodeId, int]:
        """The same for these nodes alone."""

    @abc.abstractmethod
    def last(self, ids: Iterable[NodeId]) -> dict[NodeId, NodeChange]:
        """The newest change of each of these nodes."""
