"""Breadth-first search from several seeds at once, over any source of neighbours.

Level by level, so that a store answers one query a hop. Each node remembers which seeds reach it, as a bit mask; a bit
that arrives later than the node itself travels on, so that `Reached.seeds` is complete within the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from smp.domain.ids import NodeId

K = TypeVar("K", int, NodeId)


class Reached(NamedTuple):
    """Smallest distance to any seed, and the seeds that arrive, as bits by their position in the list of seeds."""

    hop: int
    seeds: int


def reach(seeds: list[K], *, hops: int, neighbours: Callable[[list[K]], Mapping[K, Iterable[K]]]) -> dict[K, Reached]:
    """Every node within `hops` steps of a seed, the seeds themselves left out.

    Args:
        seeds: Distinct.
        neighbours: Neighbours of these nodes in one look-up; called once per hop at most, with each node once in all.
    """
    adjacent: dict[K, tuple[K, ...]] = {}
    found: dict[K, Reached] = {}
    arrived: dict[K, int] = {seed: 1 << position for position, seed in enumerate(seeds)}
    frontier = dict(arrived)
    for hop in range(1, hops + 1):
        unknown = [node for node in frontier if node not in adjacent]
        if unknown:
            answer = neighbours(unknown)
            adjacent.update((node, tuple(answer.get(node, ()))) for node in unknown)
        following: dict[K, int] = {}
        for node, bits in frontier.items():
            for other in adjacent[node]:
                fresh = bits & ~arrived.get(other, 0)
                if fresh:
                    following[other] = following.get(other, 0) | fresh
        for node, bits in following.items():
            arrived[node] = arrived.get(node, 0) | bits
            found[node] = Reached(found[node].hop if node in found else hop, arrived[node])
        if not following:
            break
        frontier = following
    for seed in seeds:
        found.pop(seed, None)
    return found


def seeds_of(bits: int, seeds: list[NodeId]) -> tuple[NodeId, ...]:
    """The seeds that a bit mask of `reach` stands for, sorted."""
    return tuple(sorted(seed for position, seed in enumerate(seeds) if bits >> position & 1))
