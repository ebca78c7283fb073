"""Mutants of a file."""

from __future__ import annotations

import abc

from smp.domain.ids import FilePath
from smp.domain.mutants import Mutant


class Mutator(abc.ABC):
    @abc.abstractmethod
    def enumerate(self, path: FilePath, source: bytes, *, lines: frozenset[int] | None) -> tuple[Mutant, ...]:
        """All mutants on these lines (all lines when None), in deterministic order.

        Annotations, docstrings and type-checking blocks are not mutated; `node_id` is filled by the caller's lookup.
        """

    @abc.abstractmethod
    def apply(self, source: bytes, mutant: Mutant) -> bytes:
        """The file with the mutant in it."""
