"""Breadth-first search from several seeds at once, over any source of neighbours.

Level by level, so that a store answers one query a hop. Each node remembers which seeds reach it, as a bit mask; a bit
that arrives later than the node itself travels on, so that `Reach.seeds` is complete within the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from smp.domain.ids import NodeId

K = TypeVar("K", int, NodeId)


class Reach(NamedTuple, Generic[K]):
    """By node its smallest distance to any seed, and the seeds that arrive, as bits by their position in the list of seeds.

    Seeds themselves have no distance.
    """

    hops: dict[K, int]
    seeds: dict[K, int]


def reach(seeds: list[K], *, hops: int, neighbours: Callable[[list[K]], Mapping[K, Sequence[K]]]) -> Reach[K]:
    """Every node within `hops` steps of a seed.

    Args:
        seeds: Distinct.
        neighbours: Neighbours of these nodes in one look-up; called once per hop at most, with each node once in all.
    """
    adjacent: dict[K, Sequence[K]] = {}
    distance: dict[K, int] = {}
    arrived: dict[K, int] = {seed: 1 << position for position, seed in enumerate(seeds)}
    frontier = dict(arrived)
    for hop in range(1, hops + 1):
        unknown = [node for node in frontier if node not in adjacent]
        if unknown:
            answer = neighbours(unknown)
            adjacent.update((node, answer.get(node, ())) for node in unknown)
        following: dict[K, int] = {}
        known, coming = arrived.get, following.get
        for node, bits in frontier.items():
            for other in adjacent[node]:
                fresh = bits & ~known(other, 0)
                if fresh:
                    following[other] = coming(other, 0) | fresh
        if not following:
            break
        for node, bits in following.items():
            before = known(node, 0)
            arrived[node] = before | bits
            if not before:
                distance[node] = hop
        frontier = following
    return Reach(distance, arrived)


def seeds_of(bits: int, seeds: list[NodeId]) -> tuple[NodeId, ...]:
    """The seeds that a bit mask of `Reach` stands for, sorted."""
    return tuple(sorted(seed for position, seed in enumerate(seeds) if bits >> position & 1))
