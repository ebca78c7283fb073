"""Writes down what a link of everything leaves, for `smp.indexing.linking.kept` to read by parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from smp.domain.ids import ContentHash, FilePath
from smp.indexing.linking.candidates import Candidates
from smp.indexing.linking.encoding import CHUNK, Ref, body_encoder, shelf, token_encoder, token_shelf
from smp.indexing.linking.flow import Key
from smp.indexing.linking.lookup import Lookup
from smp.indexing.linking.program import Program
from smp.indexing.linking.reading import Reads, spoken
from smp.indexing.linking.rules import Rules
from smp.indexing.linking.types import Types
from smp.indexing.linking.values import ClassRef, Value

_pack = msgspec.msgpack.Encoder().encode


class Remains:
    """What a link leaves beside program and flow.

    Attributes:
        reads, contribution_reads, test_reads: What each file's edges, contribution to names, and edges of tests rest on.
        given: By file the definitions that their decorators give back.
        calls: By definition the calls in it; sources: by file its definitions that call.
    """

    def __init__(self) -> None:
        self.reads, self.contribution_reads, self.test_reads = Reads(), Reads(), Reads()
        self.given: dict[int, frozenset[object]] = {}
        self.calls: dict[str, list[tuple[str, int]]] = {}
        self.sources: dict[int, set[str]] = {}


class Head(Struct, frozen=True, array_like=True):
    """What is read of an archive at once.

    Attributes:
        marks: Hash of each file's content. tests: Files of tests. digests: of each file's edges.
        kinds: How each is a module.
        stored, properties, patched, texts: How many files contribute a name.
    """

    paths: tuple[FilePath, ...]
    marks: tuple[ContentHash, ...]
    tests: tuple[FilePath, ...]
    digests: tuple[bytes, ...]
    kinds: tuple[str, ...]
    configs: dict[FilePath, bytes]
    stored: dict[str, int]
    properties: dict[str, int]
    patched: tuple[tuple[int, str, int], ...]
    texts: tuple[tuple[str, str, int], ...]


class Preserved:
    """The entries of an archive; everything must have been linked at once, just now."""

    def __init__(self, program: Program, flow: Rules, lookup: Lookup, candidates: Candidates, remains: Remains) -> None:
        self._program = program
        self._flow = flow
        self._lookup = lookup
        self._candidates = candidates
        self._remains = remains
        self._numbers: dict[Value, int] = {}
        self._values: list[Value] = []
        self._token = token_encoder(_place)
        self._body = body_encoder(_place, self._number)

    def entries(self, head: Head) -> Iterator[tuple[str, bytes]]:
        """All of them; values last, for the others say which are needed."""
        yield "head", _pack(head)
        yield "given", self._body([(index, sorted_refs(refs)) for index, refs in self._remains.given.items() if refs])
        yield from self._files()
        yield from self._records()
        for kind, reads in (
            ("r", self._remains.reads),
            ("c", self._remains.contribution_reads),
            ("t", self._remains.test_reads),
        ):
            yield from self._postings(kind, ((token, i) for i, tokens in reads.by_file.items() for token in tokens))
        basis = self._program.basis.items()
        kept = ((key, tokens) for key, tokens in basis if is_kept_answer(key))
        yield from self._postings("b", ((token, key) for key, tokens in kept for token in tokens))
        yield from self._by_name("f", self._candidates.functions)
        yield from self._by_name("m", self._candidates.by_name_methods)
        yield from self._by_name("q", self._remains.calls)
        speakers: dict[str, list[int]] = {}
        for unit in self._program.units:
            for name in spoken(unit.summary):
                speakers.setdefault(name, []).append(unit.index)
        yield from self._by_name("s", speakers)
        yield from self._answers()
        yield from self._valued()

    def _files(self) -> Iterator[tuple[str, bytes]]:
        remains, program, flow = self._remains, self._program, self._flow
        for unit in program.units:
            index = unit.index
            yield f"summary{index}", _pack(unit.given)
            if unit.classes:
                rows = [(r.bases, r.mro, r.below, r.interfaces, r.behind) for r in unit.classes]
                yield f"classes{index}", self._body(rows)
                lower = [
                    (ref.index, list(names.items())) for ref in unit.classes if (names := self._lookup.lower.get(ref))
                ]
                yield f"lower{index}", self._body(lower)
            contents = flow.contents.get(index, {})
            own = (
                flow.attribute_names.by_file.get(index),
                [(op, list(values)) for op, values in contents.items()],
                self._candidates.offers.get(index, {}),
                sorted(remains.sources.get(index, ())),
            )
            yield f"file{index}", self._body(own)

    def _records(self) -> Iterator[tuple[str, bytes]]:
        """Logs and mail by key, those of the keys of one file together; and by file which keys it has."""
        homes: dict[int, dict[Key, list[tuple[int, object, list[tuple[int, object]]]]]] = {}
        for index, record in self._flow.records.items():
            letters: dict[Key, list[tuple[int, object]]] = {}
            for level, parcel in record.mail.items():
                for key, values in parcel.items():
                    letters.setdefault(key, []).append((level, values))
            for key, entry in record.log.items():
                homes.setdefault(key[1], {}).setdefault(key, []).append((index, entry, letters.get(key, [])))
            yield f"keys{index}", self._body(list(record.log))
        for owner, rows in homes.items():
            yield f"held{owner}", _pack({self._token(key): self._body(row) for key, row in rows.items()})

    def _postings(self, kind: str, pairs: Iterable[tuple[object, object]]) -> Iterator[tuple[str, bytes]]:
        found: dict[object, list[object]] = {}
        for token, reader in pairs:
            known = found.get(token)
            if known is None:
                found[token] = [reader]
            else:
                known.append(reader)
        shelves: dict[str, dict[bytes, list[object]]] = {}
        for token, readers in found.items():
            shelves.setdefault(token_shelf(token), {})[self._token(token)] = readers
        for place, entries in shelves.items():
            yield f"{kind}{place}", self._body(entries)

    def _by_name(self, kind: str, entries: Mapping[str, object]) -> Iterator[tuple[str, bytes]]:
        shelves: dict[int, dict[str, object]] = {}
        for name, entry in entries.items():
            shelves.setdefault(shelf(name), {})[name] = entry
        for place, found in shelves.items():
            yield f"{kind}{place}", self._body(found)

    def _answers(self) -> Iterator[tuple[str, bytes]]:
        """What the resolver said, to be compared with what it says when there are other files."""
        program = self._program
        asked: dict[int, tuple[list[tuple[int, object]], list[tuple[int, object]]]] = {}
        for which, memo in enumerate((program.module_memo, program.roots)):
            for (index, at), module in memo.items():
                asked.setdefault(index, ([], []))[which].append((at, module))
        yield "answers", _pack(list(asked.items()))
        rest = (list(program.submodules.items()), list(program.scopes.items()), list(program.fixture_lists.items()))
        yield "answers2", _pack(rest)

    def _number(self, value: Value) -> int:
        known = self._numbers.get(value)
        if known is None:
            known = self._numbers[value] = len(self._values)
            self._values.append(value)
        return known

    def _valued(self) -> Iterator[tuple[str, bytes]]:
        done = 0
        rows: list[msgspec.Raw] = []
        while done < len(self._values):  # more come while these are written
            v = self._values[done]
            row = (v.recipe, v.kind, v.key, v.ref, v.name, v.recv, v.below, v.weak, v.args, v.site, v.files)
            rows.append(msgspec.Raw(self._body(row)))
            done += 1
            if len(rows) == CHUNK:
                yield f"values{done // CHUNK - 1}", _pack(rows)
                rows = []
        if rows:
            yield f"values{done // CHUNK}", _pack(rows)


def _place(ref: Ref) -> tuple[int, int]:
    return ref.unit, ref.index


def sorted_refs(refs: Iterable[object]) -> list[object]:
    """References in an order that is always the same."""
    return sorted(refs, key=lambda ref: ref.key if isinstance(ref, Ref) else "")


def is_kept_answer(key: object) -> bool:
    """Whether it must be known of an answer of before that it no longer holds: of bases, and of what a class has under a name."""
    if not isinstance(key, tuple) or len(key) != 2:
        return False
    return key[0] == "bases" if isinstance(key[1], ClassRef) else isinstance(key[0], ClassRef)


def can_preserve(program: Program) -> bool:
    """Whether a program has nothing that is worked out over all files at every change."""
    tables = program.tables
    loose = tables.embedding or tables.structural or tables.overloads or not tables.modules_by_path
    return not (loose or program.extends or program.declared or program.packages_of)


def dismantle(program: Program, flow: Rules, lookup: Lookup, types: Types) -> None:
    """Lets go of a link that was written down. Its objects point to each other, and would wait for the collector."""
    for unit in program.units:
        for cls in unit.classes:
            cls.bases, cls.mro, cls.below, cls.interfaces, cls.behind = [], (), [], [], ()
        for function in unit.functions:
            function.cls = None
        unit.classes, unit.functions = [], []
    program.forget_all()
    answers: tuple[dict[Any, Any], ...] = (program.cyclic, program.basis)
    answers += (program.shared_bases, program.module_memo, types.memo, lookup.memo, lookup.lower, lookup.owned)
    for memo in (*answers, flow.records, flow.holders, flow.contents):
        memo.clear()
    program.values.forget()
