"""How candidates of `smp/locate` are ordered (decisions.md section 6).

`composite` is the specification's weighted sum; `fusion` is in `query.fusion`, and finds where to walk from by adding up
reciprocal ranks (Cormack, Clarke, Büttcher 2009), so that orderings of different kinds need no common scale.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from smp.domain.ids import NodeId
from smp.domain.words import split_words

ALPHA, BETA, GAMMA = 0.50, 0.30, 0.20
"""Weights of vector similarity, rank and heat; they sum to 1."""

TEXT_WEIGHTS = {
    "name": 16.0,
    "path": 3.0,
    "signature": 2.0,
    "docstring": 0.6,
    "comments": 0.3,
    "body": 1.6,
    "description": 2.0,
    "tags": 2.0,
}
"""Of the fields of full text, tuned as those of `query.fusion`; what was annotated by hand is not measured."""
POSTINGS = 40_000
"""Entries of the text index that one question may touch: beyond it common words are left out, which say little and cost
most."""

STOP_WORDS = frozenset(
    split_words(
        "a an and are as at be been but by can do does for from had has have how i if in into is it its of on or our should "
        "so such than that the their them then there these they this those to was we were what when where which who why "
        "will with you"
    )
)
"""Words of a question that say how it is put. Each would bring up thousands of nodes whose documentation is in English."""

RECIPROCAL_OFFSET = 60
"""Dampens the lead of first places; the value of the paper."""


class Signals(Struct, frozen=True, kw_only=True):
    """What is known of a candidate. vector in [0, 1]; pagerank >= 0; heat in 0..100."""

    vector: float = 0.0
    pagerank: float = 0.0
    heat: int = 0


def composite(signals: Mapping[NodeId, Signals]) -> dict[NodeId, float]:
    """The weighted sum per candidate, in [0, 1]; pagerank is relative to the highest among the candidates."""
    top = max((signal.pagerank for signal in signals.values()), default=0.0) or 1.0
    return {
        node: ALPHA * signal.vector + BETA * signal.pagerank / top + GAMMA * signal.heat / 100
        for node, signal in signals.items()
    }


def fuse(rankings: Iterable[tuple[float, Sequence[NodeId]]]) -> dict[NodeId, float]:
    """Weighted reciprocal ranks, added up and scaled so that first place in every ordering is 1.

    Args:
        rankings: (weight, nodes best first). A node that an ordering lacks gets nothing from it.
    """
    weighted = [(weight, nodes) for weight, nodes in rankings if nodes]
    best = sum(weight for weight, _ in weighted) / (RECIPROCAL_OFFSET + 1)
    scores: dict[NodeId, float] = {}
    for weight, nodes in weighted:
        for place, node in enumerate(nodes, start=1):
            scores[node] = scores.get(node, 0.0) + weight / (RECIPROCAL_OFFSET + place) / best
    return scores


def telling(text: str) -> str:
    """The words of a question without those that only hold it together; all of them where nothing else is left."""
    words = split_words(text)
    return " ".join([word for word in words if word not in STOP_WORDS] or words)


def best_first(scores: Mapping[NodeId, float]) -> list[NodeId]:
    """By falling score, ties by id."""
    return sorted(scores, key=lambda node: (-scores[node], node))
