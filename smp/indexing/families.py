"""Files by family of languages, and which are tests; kept, so that only what differs is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from smp.domain.ids import ContentHash, FilePath
from smp.domain.source import FileAnalysis, FileSummary
from smp.indexing.analyses import Analyses
from smp.languages.base import Language
from smp.languages.registry import language_named, language_of


class Summaries(Mapping[FilePath, FileSummary]):
    """The summaries of some files, from their analyses."""

    def __init__(self, paths: Iterable[FilePath], files: Mapping[FilePath, FileAnalysis]) -> None:
        self._paths = dict.fromkeys(sorted(paths))
        self._files = files

    def __getitem__(self, path: FilePath) -> FileSummary:
        if path not in self._paths:
            raise KeyError(path)
        summary = self._files[path].summary
        assert summary is not None, "a file of a family has a summary"
        return summary

    def __contains__(self, path: object) -> bool:
        return path in self._paths

    def __iter__(self) -> Iterator[FilePath]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


class Place(Struct, frozen=True, gc=False):
    """Where a file belongs. family: Empty where it is not linked. language: of that family, any."""

    family: str = ""
    language: str = ""
    is_test: bool = False


_NOWHERE = Place()


class Family(Struct, frozen=True):
    """The files of a family, and those of them that are tests."""

    language: Language
    summaries: Summaries
    tests: frozenset[FilePath]


class Families:
    """Sorts files."""

    def __init__(self) -> None:
        self._seen: dict[FilePath, tuple[object, Place]] = {}

    def know(self, mark: ContentHash, path: FilePath, place: Place) -> None:
        """Where a file of a content belongs, without anybody having read its analysis."""
        self._seen.setdefault(path, (mark, place))

    def sort(self, files: Mapping[FilePath, FileAnalysis]) -> dict[str, Family]:
        """The families of these files, by name."""
        marks: Mapping[FilePath, ContentHash] | None = files.marks if isinstance(files, Analyses) else None
        seen: dict[FilePath, tuple[object, Place]] = {}
        members: dict[str, list[FilePath]] = {}
        tests: dict[str, list[FilePath]] = {}
        languages: dict[str, str] = {}
        for path in files:
            sign: object = marks[path] if marks is not None else files[path]
            known = self._seen.get(path)
            same = known is not None and (known[0] == sign if marks is not None else known[0] is sign)
            place = known[1] if known is not None and same else _place(path, files)
            seen[path] = (sign, place)
            if place.family:
                members.setdefault(place.family, []).append(path)
                languages.setdefault(place.family, place.language)
                if place.is_test:
                    tests.setdefault(place.family, []).append(path)
        self._seen = seen
        found: dict[str, Family] = {}
        for name, paths in sorted(members.items()):
            language = language_named(languages[name])
            assert language is not None, "it was found by its name"
            found[name] = Family(language, Summaries(paths, files), frozenset(tests.get(name, ())))
        return found


def _place(path: FilePath, files: Mapping[FilePath, FileAnalysis]) -> Place:
    if language_of(path) is None:
        return _NOWHERE
    found = files[path]
    language = language_named(found.language) if found.language is not None else None
    if language is None or found.summary is None:
        return _NOWHERE
    is_test = bool(found.nodes) and found.nodes[0].role == "test"
    return Place(family=language.family, language=language.name, is_test=is_test)
