"""What a community is called: where most of it lies, and where that does not tell it from others, what it is about."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from smp.domain.graph import Node
from smp.domain.ids import NodeId, mint_node_id
from smp.domain.words import split_words
from smp.indexing.projection import Projection

MIN_LETTERS = 3
WORDS = 2
"""Of a label beside the place, at most."""
COMMON = 0.1
"""Words that fewer of a community's members have say little about it."""


class MemberWords:
    """The words of members: of their names and of the paths they lie at."""

    def __init__(self, members: Sequence[Node]) -> None:
        paths: dict[str, frozenset[str]] = {}
        self._own: list[frozenset[str]] = []
        for node in members:
            path = node.file or ""
            if path not in paths:
                paths[path] = _telling(path.rpartition(".")[0] or path)
            own = frozenset[str]() if node.qualname == path else _telling(node.qualname)
            self._own.append(own | paths[path])
        self._everywhere = Counter(word for words in self._own for word in words)

    def distinctive(self, members: Iterable[int], *, beside: Iterable[str]) -> list[str]:
        """Words that tell these members from all, best first: share among them times the logarithm of how many times as
        often they have it (a term of the Kullback-Leibler divergence)."""
        indexes = list(members)
        counted = Counter(word for index in indexes for word in self._own[index])
        known = frozenset(beside)
        scores: dict[str, float] = {}
        for word, number in counted.items():
            share = number / len(indexes)
            if word not in known and share >= COMMON:
                scores[word] = share * math.log(share * len(self._own) / self._everywhere[word])
        return sorted((word for word in scores if scores[word] > 0), key=lambda word: (-scores[word], word))


def named(
    projection: Projection,
    membership: Sequence[int],
    level: int,
    words: MemberWords,
    *,
    continuing: Mapping[int, NodeId],
) -> dict[int, NodeId]:
    """Cluster -> community id, each id once.

    Args:
        membership: Of the members, in the order of the projection.
        continuing: Ids that clusters have from earlier.
    """
    holding: dict[int, list[int]] = defaultdict(list)
    for index, cluster in enumerate(membership):
        holding[cluster].append(index)
    named = {cluster: community for cluster, community in continuing.items() if cluster in holding}
    used = {community.partition("/")[2] for community in named.values()}
    places = {
        cluster: place([projection.nodes[index] for index in indexes])
        for cluster, indexes in holding.items()
        if cluster not in named
    }
    shared = Counter(places.values())
    for cluster in sorted(places, key=lambda cluster: holding[cluster][0]):
        label = places[cluster]
        if shared[label] > 1 or label in used:
            label = _told_apart(label, words.distinctive(holding[cluster], beside=split_words(label)), used)
        used.add(label)
        named[cluster] = mint_node_id("community", f"{level}/{label}")
    return named


def place(members: Sequence[Node]) -> str:
    """The folder that most members share; with the file, when most are in one."""
    prefix = majority_prefix(members)
    files = Counter(node.file or "" for node in members)
    file, most = min(files.items(), key=lambda item: (-item[1], item[0]))
    name = prefix.rpartition("/")[2] or "root"
    if most * 2 > len(members):
        stem = file.rpartition("/")[2].partition(".")[0]
        return f"{name}.{stem}" if stem and name != "root" else stem or name
    return name


def majority_prefix(members: Sequence[Node]) -> str:
    """The deepest folder that holds more than half of the members; empty for the top."""
    prefix = ""
    files = Counter([node.file or "" for node in members])
    while True:
        depth = len(prefix) + 1 if prefix else 0
        below: Counter[str] = Counter()
        for file, number in files.items():
            if not prefix or file.startswith(prefix + "/"):
                folder, slash, _ = file[depth:].partition("/")
                if slash:
                    below[folder] += number
        if not below:
            return prefix
        folder, most = min(below.items(), key=lambda item: (-item[1], item[0]))
        if most * 2 <= len(members):
            return prefix
        prefix = f"{prefix}/{folder}" if prefix else folder


def _told_apart(place: str, words: Sequence[str], used: set[str]) -> str:
    """The place with as many words as it takes, then with a number."""
    label = place
    for word in words[:WORDS]:
        label = f"{label}_{word}"
        if label not in used:
            return label
    number = 2
    while f"{label}~{number}" in used:
        number += 1
    return label if label not in used else f"{label}~{number}"


def _telling(text: str) -> frozenset[str]:
    return frozenset[str]().union(*map(_telling_part, text.replace("/", ".").split(".")))


@lru_cache(maxsize=65_536)
def _telling_part(text: str) -> frozenset[str]:
    """Of a name in a path or a qualified name: most of them stand in many."""
    return frozenset(word for word in split_words(text) if len(word) >= MIN_LETTERS and not word.isdigit())
