"""The analyses of all files of a repository, decoded when somebody asks: most are not, when a few files have changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from smp.domain.ids import ContentHash, FilePath
from smp.domain.source import FileAnalysis


class Analyses(Mapping[FilePath, FileAnalysis]):
    """Analyses by path, in order; never changed.

    Attributes:
        marks: Hash of the content that each was made from: where it is equal, so is the analysis.
    """

    def __init__(
        self,
        marks: Mapping[FilePath, ContentHash],
        known: dict[FilePath, FileAnalysis],
        load: Callable[[FilePath, int], FileAnalysis] | None = None,
        generation: int = 0,
    ) -> None:
        """
        Args:
            load: Gives those that are not among the `known` ones, of a generation of the index; may raise whatever says that it is
                too late for that.
        """
        self.marks = marks
        self._known = known
        self._load = load
        self._generation = generation

    def __getitem__(self, path: FilePath) -> FileAnalysis:
        found = self._known.get(path)
        if found is None:
            if self._load is None or path not in self.marks:
                raise KeyError(path)
            found = self._known[path] = self._load(path, self._generation)
        return found

    def __contains__(self, path: object) -> bool:
        return path in self.marks

    def __iter__(self) -> Iterator[FilePath]:
        return iter(self.marks)

    def __len__(self) -> int:
        return len(self.marks)

    def after(
        self, changed: Mapping[FilePath, FileAnalysis], gone: Iterable[FilePath], marks: Mapping[FilePath, ContentHash]
    ) -> Analyses:
        """The analyses after a change. marks: Of all files then, in order."""
        known = {**self._known, **changed}
        for path in gone:
            known.pop(path, None)
        return Analyses(marks, known, self._load, self._generation)

    def stored_as(self, generation: int) -> Analyses:
        """The same, when the index has them as this generation: they are read from there again."""
        return Analyses(self.marks, {} if self._load is not None else self._known, self._load, generation)
