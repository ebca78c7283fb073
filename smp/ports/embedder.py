"""Texts to unit vectors."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence

from smp.ports.vector_index import Matrix


class Embedder(abc.ABC):
    @property
    @abc.abstractmethod
    def model(self) -> str:
        """Name and version of the model; vectors of different models never meet in one collection."""

    @property
    @abc.abstractmethod
    def dimension(self) -> int:
        """Length of each vector."""

    @abc.abstractmethod
    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Matrix:
        """Rows in the order of `texts`; deterministic: equal texts give equal rows in any batch.

        Args:
            progress: Called with the number of texts done so far.
        """
