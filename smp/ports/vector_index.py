"""Unit vectors by key, and the nearest of them."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:  # the names are needed at every start, numpy only by those who have vectors
    import numpy as np
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"
"""Shape (dimension,), L2 norm 1."""
Matrix: TypeAlias = "NDArray[np.float32]"
"""Shape (n, dimension), rows of L2 norm 1."""


class Match(Struct, frozen=True, kw_only=True):
    """A key and its cosine similarity to the query, in [-1, 1]."""

    key: str
    score: float


class VectorIndex(abc.ABC):
    @abc.abstractmethod
    def upsert(self, collection: str, keys: tuple[str, ...], vectors: Matrix, hashes: tuple[str, ...]) -> None:
        """Store vectors; `hashes` say from which text each was made. Repeating is harmless.

        Args:
            collection: `nodes` or `centroids`.

        Raises:
            Invalid: The dimension differs from the collection's.
            Unavailable: The index cannot be reached; the call may be repeated.
        """

    @abc.abstractmethod
    def nearest(
        self, collection: str, query: Vector, *, k: int, within: frozenset[str] | None = None
    ) -> tuple[Match, ...]:
        """The k most similar; fewer when the collection (or `within`) holds fewer. Ties by key: the order is total."""

    @abc.abstractmethod
    def similarities(self, collection: str, query: Vector, keys: Iterable[str]) -> dict[str, float]:
        """Cosine similarity of these keys; unknown keys are left out."""

    @abc.abstractmethod
    def hashes(self, collection: str, keys: Iterable[str] | None = None) -> dict[str, str]:
        """Text hash of these keys, of every stored one where none are named; unknown keys are left out."""

    @abc.abstractmethod
    def count(self, collection: str) -> int:
        """How many keys a collection holds."""

    @abc.abstractmethod
    def vectors(self, collection: str, keys: Iterable[str]) -> dict[str, Vector]:
        """Stored vectors of these keys."""

    @abc.abstractmethod
    def delete(self, collection: str, keys: Iterable[str]) -> None:
        """Forget these keys; unknown ones are no error."""
