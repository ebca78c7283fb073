"""Who has read what: from what changed to the answers that rest on it, without asking every answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from smp.domain.source import FileSummary
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import ClassRef, FuncRef


def home(token: object) -> object:
    """The file (its number or path), or whatever else, that a token is about."""
    if isinstance(token, (FuncRef, ClassRef)):
        return token.unit
    if isinstance(token, tuple):
        first, second = token[0], token[1]
        if isinstance(first, int):
            return first
        return second.unit if isinstance(second, (FuncRef, ClassRef)) else second
    return token


class Readers:
    """Answers by the files that they rest on."""

    def __init__(self, basis: Mapping[object, frozenset[object]]) -> None:
        self._basis = basis
        self._at: dict[object, set[object]] = {}
        for key, tokens in basis.items():
            self.note(key, tokens)

    def note(self, key: object, tokens: Iterable[object]) -> None:
        """An answer rests on these."""
        for place in {home(token) for token in tokens}:
            known = self._at.get(place)
            if known is None:
                self._at[place] = {key}
            else:
                known.add(key)

    def of(self, tokens: set[object]) -> list[object]:
        """Answers that rest on any of these."""
        found: set[object] = set()
        for place in {home(token) for token in tokens}:
            for key in self._at.get(place, ()):
                if not self._basis.get(key, frozenset()).isdisjoint(tokens):
                    found.add(key)
        return list(found)


class Reads:
    """Files by what they have read.

    `stored` answers for files that were kept, until they are put in again.
    """

    def __init__(self, stored: Callable[[set[object]], set[int]] | None = None) -> None:
        self.by_file: dict[int, frozenset[object]] = {}
        self._stored = stored
        self._anew: set[int] = set()

    def put(self, index: int, tokens: frozenset[object]) -> None:
        """Takes in what a file has read, in place of what it read before."""
        self.by_file[index] = tokens
        self._anew.add(index)

    def drop(self, index: int) -> None:
        """A file is gone."""
        self.by_file.pop(index, None)
        self._anew.add(index)

    def of(self, tokens: set[object]) -> set[int]:
        """Files that have read any of these."""
        found = {index for index, reads in self.by_file.items() if not reads.isdisjoint(tokens)}
        if self._stored is not None:
            found |= self._stored(tokens) - self._anew
        return found


class Speakers:
    """Files by the names that their code reads; `stored` answers for those that were kept."""

    def __init__(self, units: Iterable[Unit], stored: Callable[[str], Iterable[int]] | None = None) -> None:
        self._of: dict[str, list[int]] = {}
        self._stored = stored
        for unit in units:
            self.put(unit)

    def put(self, unit: Unit) -> None:
        """Takes in a version of a file; names of earlier ones stay."""
        for name in spoken(unit.summary):
            self._of.setdefault(name, []).append(unit.index)

    def of(self, names: set[str]) -> set[int]:
        """Numbers of the files that read any of these names, or once did."""
        found = {index for name in names for index in self._of.get(name, ())}
        if self._stored is not None:
            found |= {index for name in names for index in self._stored(name)}
        return found


def spoken(summary: FileSummary) -> set[str]:
    """The names that a file's code reads."""
    return {*summary.names, *(n for declaration in summary.imports for n in (declaration.name, declaration.bound))}
