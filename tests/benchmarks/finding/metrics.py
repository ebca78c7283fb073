"""How good rankings are, and whether one is better than another by more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

ROUNDS = 20_000
SEED = 4


class Score(Struct, frozen=True, kw_only=True):
    """Of one question: reciprocal of the first right place, right ones at k, nDCG at 10. All in [0, 1]."""

    reciprocal: float
    at_1: float
    at_5: float
    at_10: float
    ndcg_10: float


def score_of(ranked: Sequence[str], answers: Sequence[str]) -> Score:
    """The score of a ranking, best first; each answer gains the same."""
    right = set(answers)
    places = [place for place, node in enumerate(ranked, 1) if node in right]
    first = places[0] if places else math.inf
    gained = sum(1 / math.log2(place + 1) for place in places if place <= 10)
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(len(right), 10) + 1))
    return Score(
        reciprocal=1 / first,
        at_1=float(first <= 1),
        at_5=float(first <= 5),
        at_10=float(first <= 10),
        ndcg_10=gained / ideal,
    )


def mean(scores: Sequence[Score]) -> Score:
    """Each metric averaged over questions."""
    return Score(
        **{field: sum(getattr(one, field) for one in scores) / len(scores) for field in Score.__struct_fields__}
    )


def p_value(better: Sequence[float], worse: Sequence[float]) -> float:
    """Paired randomisation test, two-sided: how often random swaps within questions differ by as much in the mean."""
    differences = np.asarray(better) - np.asarray(worse)
    seen = abs(differences.sum())
    signs = np.random.default_rng(SEED).choice(np.array([-1, 1], dtype=np.int8), size=(ROUNDS, len(differences)))
    sums = np.abs(signs @ differences)
    return float((np.count_nonzero(sums >= seen - 1e-9) + 1) / (ROUNDS + 1))
