"""A link that was kept: everything that it left, loaded by parts when somebody asks.

What is loaded is as it was when all was linked, whenever that is: who changes something of it puts it in the place of what is
stored. Functions, classes and files are one object each, however often they are spoken of; they are filled in when an
attribute is asked for that is not there yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from typing import Any

import msgspec
from msgspec import Raw, Struct

from smp.domain.ids import FilePath
from smp.domain.source import FileSummary, ImportDecl
from smp.indexing.linking.attribute_names import AttributeNames, Contribution
from smp.indexing.linking.candidates import Candidates, Method
from smp.indexing.linking.encoding import (
    CHUNK,
    CLASS_CODE,
    FUNC_CODE,
    NUMBER,
    PLACE,
    VALUE_CODE,
    NotKept,
    Ref,
    frozen,
    shelf,
    token_encoder,
    token_shelf,
)
from smp.indexing.linking.flow import Key, Log, Mail
from smp.indexing.linking.lazily import Lazy
from smp.indexing.linking.lookup import Lookup
from smp.indexing.linking.preserving import Head, Remains
from smp.indexing.linking.program import Program
from smp.indexing.linking.reading import Reads
from smp.indexing.linking.rules import Rules
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import ClassRef, FuncRef, Interner, Value
from smp.languages.base import Module
from smp.ports.link_archive import DamagedArchive, LinkArchive

_HIERARCHY = {"bases": 0, "mro": 1, "below": 2, "interfaces": 3, "behind": 4}
_TUPLES = frozenset({"mro", "behind"})
_Row = tuple[tuple[Any, ...], list[tuple[int, tuple[Value | None, ...]]]]
"""Log entry and mail of one file under a key."""


class _Imports(Struct, frozen=True, array_like=True):
    """The imports of a summary; the rest of it is passed over."""

    names: Raw
    definitions: Raw
    ops: Raw
    variables: Raw
    imports: tuple[ImportDecl, ...]


_summary = msgspec.msgpack.Decoder(FileSummary).decode
_imports = msgspec.msgpack.Decoder(_Imports).decode
_raws = msgspec.msgpack.Decoder(list[Raw]).decode
_by_bytes = msgspec.msgpack.Decoder(dict[bytes, Raw]).decode
_bodies = msgspec.msgpack.Decoder(dict[bytes, bytes]).decode
_by_text = msgspec.msgpack.Decoder(dict[str, Raw]).decode
_asked = msgspec.msgpack.Decoder(list[tuple[int, tuple[list[tuple[int, Module]], list[tuple[int, Module]]]]]).decode
_further = msgspec.msgpack.Decoder(
    tuple[
        list[tuple[tuple[str, str, str], Module | None]],
        list[tuple[str, tuple[Module, ...]]],
        list[tuple[str, tuple[FilePath, ...]]],
    ]
).decode


class Kept:
    """The link of a family's files, as an archive has it."""

    def __init__(self, archive: LinkArchive) -> None:
        """Raises `DamagedArchive`."""
        self._archive = archive
        self.head: Head = _decoded(msgspec.msgpack.Decoder(Head).decode, self._get("head"))
        self._values = Interner()  # of the program, once it is there; the files as well
        self._units: list[Unit] = []
        self._functions: dict[tuple[int, int], FuncRef] = {}
        self._classes: dict[tuple[int, int], ClassRef] = {}
        self._places: dict[Ref, tuple[int, int]] = {}
        self._chunks: dict[int, list[Raw]] = {}
        self._restored: dict[int, Value] = {}
        self._shelves: dict[str, dict[bytes, Raw]] = {}
        self._names: dict[str, dict[str, Raw]] = {}
        self._held: dict[int, dict[bytes, bytes]] = {}
        self._rows: dict[Key, dict[int, _Row]] = {}
        self._hierarchy: dict[int, list[Raw]] = {}
        self._overridden: dict[int, list[Raw]] = {}
        self._files: dict[int, list[Any]] = {}
        self._token = token_encoder(self._place)
        self._decode = msgspec.msgpack.Decoder(ext_hook=self._extension).decode
        self.replaced: set[int] = set()
        """Files of which another version was taken in, or that are gone."""

    def summary(self, index: int) -> FileSummary:
        """Of a file as it was."""
        return _decoded(_summary, self._get(f"summary{index}"))  # type: ignore[no-any-return]

    def close(self) -> None:
        """Lets go of the archive."""
        self._archive.close()

    def units(self) -> Iterator[Unit]:
        """The files, in order of their numbers."""
        for index, path in enumerate(self.head.paths):
            yield Unit.kept(index, path, self)

    def furnish(self, program: Program, flow: Rules, lookup: Lookup, candidates: Candidates, remains: Remains) -> None:
        """Puts what was kept where a link of everything leaves it."""
        self._values, self._units = program.values, program.units
        names: AttributeNames = flow.attribute_names
        names.stored.update(self.head.stored)
        names.properties.update(self.head.properties)
        names.patched.update({(index, name): count for index, name, count in self.head.patched})
        for key, text, count in self.head.texts:
            names.texts.setdefault(key, {})[text] = count
        names.by_file = Lazy(self._contribution)
        flow.records = Lazy(self._record)
        flow.holders = Lazy(self._holders)
        flow.contents = Lazy(self._contents)
        lookup.lower = Lazy(self._lower)
        candidates.functions = Lazy(lambda name: _listed(self._named("f", name)))
        candidates.by_name_methods = Lazy(self._methods)
        candidates.offers = Lazy(self._offers)
        remains.reads = Reads(partial(self._readers, "r"))
        remains.contribution_reads = Reads(partial(self._readers, "c"))
        remains.test_reads = Reads(partial(self._readers, "t"))
        remains.calls = Lazy(lambda source: _listed(self._named("q", source)))
        remains.sources = Lazy(lambda index: set(self._file(index)[3]) if self._is_kept(index) else None)
        remains.given = {index: frozenset(refs) for index, refs in self._decode(self._get("given"))}
        flow.given_back = {ref for refs in remains.given.values() for ref in refs}

    def forgotten(self, tokens: set[object]) -> set[object]:
        """Answers about bases and members that rest on any of these."""
        return {frozen(key) for key in self._found("b", tokens)}

    def speakers(self, name: str) -> Iterable[int]:
        """Files whose code reads a name."""
        found: list[int] = self._named("s", name) or []
        return found

    def recall_answers(self, program: Program) -> None:
        """Fills in what the resolver said when everything was linked."""
        asked = _decoded(_asked, self._get("answers"))
        for index, (modules, roots) in asked:
            if index not in self.replaced:
                for at, module in modules:
                    program.module_memo.setdefault((index, at), module)
                for at, module in roots:
                    program.roots.setdefault((index, at), module)
        submodules, scopes, fixtures = _decoded(_further, self._get("answers2"))
        for key, inner in submodules:
            program.submodules.setdefault(key, inner)
        for path, scope in scopes:
            program.scopes.setdefault(path, scope)
        for path, lists in fixtures:
            program.fixture_lists.setdefault(path, lists)

    def imports(self, unit: Unit) -> tuple[ImportDecl, ...]:
        """The imports of a file, without loading the rest of it."""
        if unit.stored is None:
            return unit.summary.imports
        return _decoded(_imports, self._get(f"summary{unit.index}")).imports  # type: ignore[no-any-return]

    # References ------------------------------------------------------------------------------------------------------

    def cls(self, unit: int, number: int) -> ClassRef:
        """A class by its place."""
        known = self._classes.get((unit, number))
        if known is None:
            known = self._classes[unit, number] = ClassRef.__new__(ClassRef)
            known.unit, known.stored, known.extended, known.promises = unit, self, {}, ()
            self._places[known] = (unit, number)
        return known

    def func(self, unit: int, number: int) -> FuncRef:
        """A function by its place."""
        known = self._functions.get((unit, number))
        if known is None:
            known = self._functions[unit, number] = FuncRef.__new__(FuncRef)
            known.unit, known.stored = unit, self
            self._places[known] = (unit, number)
        return known

    def fill(self, thing: Any, name: str) -> None:
        """Sets an attribute of a file, function or class."""
        if isinstance(thing, ClassRef) and name in _HIERARCHY:
            unit, number = self._places[thing]
            if unit not in self._hierarchy:
                self._hierarchy[unit] = _decoded(_raws, self._get(f"classes{unit}"))
            row = _decoded(_raws, self._hierarchy[unit][number])
            entry = self._decode(row[_HIERARCHY[name]])
            setattr(thing, name, tuple(entry) if name in _TUPLES else entry)
            return
        unit_of = thing if isinstance(thing, Unit) else self._unit_of(thing.unit)
        if unit_of.stored is not None:
            unit_of.stored = None
            unit_of.restore(self.summary(unit_of.index), self)

    def _place(self, ref: Ref) -> tuple[int, int]:
        try:
            return self._places[ref]
        except KeyError:
            raise NotKept from None

    # Values ----------------------------------------------------------------------------------------------------------

    def _extension(self, code: int, data: memoryview) -> object:
        if code == VALUE_CODE:
            return self._value(NUMBER.unpack(data)[0])
        unit, number = PLACE.unpack(data)
        if code == FUNC_CODE:
            return self.func(unit, number)
        if code == CLASS_CODE:
            return self.cls(unit, number)
        raise DamagedArchive(f"an unknown kind of reference: {code}")

    def _value(self, number: int) -> Value:
        known = self._restored.get(number)
        if known is not None:
            return known
        place = number // CHUNK
        chunk = self._chunks.get(place)
        if chunk is None:
            chunk = self._chunks[place] = _decoded(_raws, self._get(f"values{place}"))
        recipe, kind, key, ref, name, recv, below, weak, args, site, files = self._decode(chunk[number % CHUNK])
        made_of = frozen(recipe)
        assert isinstance(made_of, tuple)
        found = self._values.known(made_of)
        if found is None:
            found = Value(
                kind, ref=ref, name=name, recv=recv, below=below, weak=weak, args=tuple(map(tuple, args)),
                site=tuple(site), files=tuple(files), said=key,
            )  # fmt: skip
            self._values.keep(made_of, found)
        self._restored[number] = found
        return found

    # Entries ---------------------------------------------------------------------------------------------------------

    def _unit_of(self, index: int) -> Unit:
        return self._units[index]

    def _is_kept(self, index: int) -> bool:
        return index < len(self.head.paths)

    def _get(self, key: str) -> bytes:
        found = self._archive.get(key)
        if found is None:
            raise DamagedArchive(f"{key!r} is missing")
        return found

    def _file(self, index: int) -> list[Any]:
        known = self._files.get(index)
        if known is None:
            known = self._files[index] = self._decode(self._get(f"file{index}"))
        return known

    def _contribution(self, index: int) -> Contribution | None:
        if not self._is_kept(index) or self._file(index)[0] is None:
            return None
        return msgspec.convert(self._file(index)[0], Contribution)

    def _contents(self, index: int) -> dict[int, frozenset[Value]] | None:
        if not self._is_kept(index):
            return None
        return {op: frozenset(values) for op, values in self._file(index)[1]}

    def _offers(self, index: int) -> dict[str, list[object]] | None:
        if not self._is_kept(index):
            return None
        return {name: [frozen(entry) for entry in entries] for name, entries in self._file(index)[2].items()}

    def _lower(self, ref: ClassRef) -> dict[str, tuple[FuncRef, ...]] | None:
        place = self._places.get(ref)
        if place is None:
            return None
        rows = self._overridden.get(place[0])
        if rows is None:
            rows = self._overridden[place[0]] = _decoded(_raws, self._get(f"lower{place[0]}"))
        for row in rows:
            number, names = _decoded(_raws, row)
            if msgspec.msgpack.decode(number) == place[1]:
                return {name: tuple(functions) for name, functions in self._decode(names)}
        return None

    def _named(self, kind: str, name: str) -> Any:
        place = f"{kind}{shelf(name)}"
        found = self._names.get(place)
        if found is None:
            body = self._archive.get(place)
            found = self._names[place] = _decoded(_by_text, body) if body is not None else {}
        entry = found.get(name)
        return self._decode(entry) if entry is not None else None

    def _methods(self, name: str) -> list[Method] | None:
        found = self._named("m", name)
        return [Method(*entry) for entry in found] if found is not None else None

    def _found(self, kind: str, tokens: Iterable[object]) -> Iterator[Any]:
        for token in tokens:
            place = f"{kind}{token_shelf(token)}"
            entries = self._shelves.get(place)
            if entries is None:
                body = self._archive.get(place)
                entries = self._shelves[place] = _decoded(_by_bytes, body) if body is not None else {}
            if not entries:
                continue
            try:
                entry = entries.get(self._token(token))
            except NotKept:
                continue
            if entry is not None:
                yield from self._decode(entry)

    def _readers(self, kind: str, tokens: set[object]) -> set[int]:
        return set(self._found(kind, tokens))

    # Records ---------------------------------------------------------------------------------------------------------

    def rows(self, key: Key) -> dict[int, _Row]:
        """What files have under a key."""
        known = self._rows.get(key)
        if known is None:
            owner = key[1]
            held = self._held.get(owner)
            if held is None:
                body = self._archive.get(f"held{owner}")
                held = self._held[owner] = _decoded(_bodies, body) if body is not None else {}
            try:
                entry = held.get(self._token(key))
            except NotKept:
                entry = None
            rows = self._decode(entry) if entry is not None else []
            known = self._rows[key] = {
                index: (tuple(log), [(level, tuple(values)) for level, values in mail]) for index, log, mail in rows
            }
        return known

    def keys_of(self, index: int) -> Iterator[Key]:
        """The keys that a file has."""
        for key in self._decode(self._get(f"keys{index}")):
            tag, owner, subject, detail = key
            yield tag, owner, subject, detail

    def _holders(self, key: Key) -> list[int] | None:
        return list(self.rows(key)) or None

    def _record(self, index: int) -> KeptRecord | None:
        return KeptRecord(self, index) if self._is_kept(index) else None


class KeptRecord:
    """What remains of a file's run, by key."""

    def __init__(self, kept: Kept, index: int) -> None:
        self._kept = kept
        self._index = index

    def entry(self, key: Key) -> tuple[Any, ...] | None:
        """Of the log."""
        row = self._kept.rows(key).get(self._index)
        return row[0] if row is not None else None

    def given(self, level: int, key: Key) -> tuple[Value | None, ...]:
        """Of the mail after a level."""
        row = self._kept.rows(key).get(self._index)
        return next((values for at, values in row[1] if at == level), ()) if row is not None else ()

    @cached_property
    def log(self) -> Log:
        """All entries."""
        return {key: self._kept.rows(key)[self._index][0] for key in self._kept.keys_of(self._index)}

    @cached_property
    def mail(self) -> Mail:
        """All mail."""
        found: Mail = {}
        for key in self._kept.keys_of(self._index):
            for level, values in self._kept.rows(key)[self._index][1]:
                found.setdefault(level, {})[key] = values
        return found


def _listed(entries: list[list[Any]] | None) -> list[Any] | None:
    return [tuple(entry) for entry in entries] if entries is not None else None


def _decoded(decode: Any, body: bytes | Raw) -> Any:
    try:
        return decode(body)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise DamagedArchive(str(error)) from error
