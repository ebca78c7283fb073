"""The linked files of one family, and their next version: only what an edit can reach is solved and emitted again.

What a file read of others by their text is kept as tokens:

- a number: what of the file of that number is read as a whole; `(n, at)`: an op of it; `("export", path, name)`;
- a `FuncRef`: its signature; `("class", ref)`: the body of a class; `("site", n)`: displays and calls in a file's bodies;
- a `ClassRef`: its resolution order, and the bodies of the classes in it; `("below", ref, name)`: overrides of a name below it;
- `(kind, path, name)`, `("fixtures", path)`, `("scope", path)`: answers of the resolver; `("package", path, name)`: the files
  of a package that offer a name; `("content", n, op)`: what an op holds in the end;
- `("calls", source)`: the calls of a definition, for tests.

A file is solved again if it has changed, if one of its tokens has, if a name that it uses is stored, patched, made a
property or defined anew somewhere, or if its mail is another (`smp.indexing.linking.exchange`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from smp.domain.graph import Edge, EdgeKind, Resolution
from smp.domain.ids import ContentHash, FilePath
from smp.domain.source import NOTHING, FileSummary, ImportDecl
from smp.indexing.collector import return_memory
from smp.indexing.linking.attribute_names import Contribution, contribution
from smp.indexing.linking.candidates import Candidates
from smp.indexing.linking.emission import Emission
from smp.indexing.linking.extensions import Extended, build_extensions, changed_extensions, extended
from smp.indexing.linking.flow import UnitState, members
from smp.indexing.linking.inheritance import renew_hierarchy
from smp.indexing.linking.kept import Kept
from smp.indexing.linking.lookup import Lookup
from smp.indexing.linking.preserving import Head, Preserved, Remains, can_preserve, dismantle
from smp.indexing.linking.program import Program
from smp.indexing.linking.reading import Readers, Speakers
from smp.indexing.linking.rules import Rules
from smp.indexing.linking.shape import Interface, changed_ops, interface, same_shape
from smp.indexing.linking.structure import TestEdges, hierarchy_edges, import_edges
from smp.indexing.linking.types import MAX_TYPE_DEPTH, Types
from smp.indexing.linking.units import Unit, make_refs
from smp.indexing.linking.values import ClassRef, FuncRef, Value
from smp.indexing.packed_edges import Packed, pack
from smp.languages.base import Language, Module, Resolver

WIDE = 0.5
"""Part of the files that is not worth picking: from here on everything is linked anew."""
STALE = 0.03
MIN_STALE = 16
"""Part of the files (and how many at least) that may differ from what was kept: every process has to catch up with them."""


class TooWide(Exception):
    """The edit reaches so much, or something so basic, that a link of everything is due."""


class Revision:
    """Links the files of a family, and keeps what the link of their next version needs."""

    def __init__(
        self,
        language: Language,
        summaries: Mapping[FilePath, FileSummary],
        configs: Mapping[FilePath, bytes],
        test_files: frozenset[FilePath],
        *,
        marks: Mapping[FilePath, ContentHash] | None = None,
        kept: Kept | None = None,
    ) -> None:
        """Links everything; or, with `kept`, takes up what an earlier process has linked.

        Args:
            marks: Hashes of the contents that the summaries were made from: equal ones need not be compared.

        Raises:
            DamagedArchive: Of `kept`.
        """
        self._language = language
        self._configs = dict(configs)
        self._marks: Mapping[FilePath, ContentHash] = marks or {}
        self._archive = kept
        units = kept.units() if kept is not None else None
        self._kinds = {path: summary.module_kind for path, summary in summaries.items()}
        if kept is not None:
            self._kinds = dict(zip(kept.head.paths, kept.head.kinds, strict=True))
        self._program = Program(summaries, self._resolver(summaries), language.tables(), units)
        self._lookup, self._types = Lookup(self._program), Types(self._program)
        self._flow = Rules(self._program, self._lookup, self._types)
        self._flow.bind_rules()
        self._candidates = Candidates(self._program)
        self._remains = Remains()
        if kept is not None:
            kept.furnish(self._program, self._flow, self._lookup, self._candidates, self._remains)
        self._tests = TestEdges(self._program, self._flow, self._remains.calls)
        self._tests.test_files = test_files
        self._plain: dict[int, Packed] = {}
        self._made: dict[int, list[Edge]] = {}
        """Edges of each file; those of its tests apart, for they rest on the calls of others."""
        self._speakers = Speakers(())
        self._members: dict[ClassRef, set[str]] = {}
        """Of classes that the present version may change: names of members before."""
        self._departed: set[ClassRef] = set()
        self._forgotten: set[object] = set()
        if kept is None:
            self._link_all()

    def _link_all(self) -> None:
        for unit in self._program.units:
            self._candidates.put(unit)
            self._contribute(unit)
        self._flow.run(range(len(self._program.units)))
        return_memory()
        self._finish(set(), range(len(self._program.units)), set())

    def _resolver(self, summaries: Mapping[FilePath, FileSummary]) -> Resolver:
        if self._language.tables().modules_by_path:
            shown = {kind: FileSummary((), (), module_kind=kind) for kind in set(self._kinds.values())}
            summaries = {path: shown[kind] for path, kind in self._kinds.items()}
        return self._language.resolver(summaries, self._configs)

    @property
    def paths(self) -> Collection[str]:
        """Its files."""
        return self._program.by_path.keys()

    def edges(self, path: FilePath) -> tuple[Edge, ...]:
        """The edges of a file."""
        unit = self._program.by_path[path]
        if unit.index not in self._plain:  # kept, and stored long since; somebody else has stored others since then
            self._emit(unit)
            self._emit_tests({unit.index}, set())
            self._flow.release()
        return tuple(sorted([*self._plain[unit.index].edges, *self._made.get(unit.index, ())], key=_order))

    def preserved(self, digests: Mapping[FilePath, bytes]) -> Iterator[tuple[str, bytes]] | None:
        """What a later process needs to go on from here (`smp.indexing.linking.kept`); None where that cannot be kept.

        To be asked for when everything has just been linked, with the contents' hashes.

        Args:
            digests: Of the edges of each file.
        """
        program, names = self._program, self._flow.attribute_names
        paths = tuple(unit.path for unit in program.units)
        if not can_preserve(program) or not self._marks.keys() >= set(paths):
            return None
        head = Head(
            paths=paths,
            marks=tuple(self._marks[path] for path in paths),
            tests=tuple(FilePath(path) for path in sorted(self._tests.test_files)),
            digests=tuple(digests[path] for path in paths),
            kinds=tuple(self._kinds[path] for path in paths),
            configs=self._configs,
            stored=names.stored,
            properties=names.properties,
            patched=tuple((index, name, count) for (index, name), count in names.patched.items()),
            texts=tuple((key, text, count) for key, known in names.texts.items() for text, count in known.items()),
        )
        program.forget_all()
        for memo in (self._types.memo, self._lookup.memo):
            memo.clear()  # they can be worked out again, and the room is needed
        preserved = Preserved(program, self._flow, self._lookup, self._candidates, self._remains)
        return preserved.entries(head)

    def dismantle(self) -> None:
        """Lets go of everything; to be called when it was preserved, and is of no further use."""
        dismantle(self._program, self._flow, self._lookup, self._types)
        self._plain, self._made, self._remains = {}, {}, Remains()

    def close(self) -> None:
        """Lets go of what was kept; this object is of no further use."""
        if self._archive is not None:
            self._archive.close()

    # Next version ------------------------------------------------------------------------------------------------------

    def advance(
        self,
        summaries: Mapping[FilePath, FileSummary],
        configs: Mapping[FilePath, bytes],
        test_files: frozenset[FilePath],
        marks: Mapping[FilePath, ContentHash] | None = None,
    ) -> set[FilePath]:
        """Links the next version; gives the files whose edges were made anew.

        Raises:
            TooWide: Everything must be linked anew; this object is of no further use. DamagedArchive: likewise.
        """
        program, flow = self._program, self._flow
        program.offers.clear()
        program.shared_bases.clear()  # or sets of versions that are gone would stay
        if program.declared:
            raise TooWide
        if program.readers is None:
            program.readers = Readers(program.basis)
            kept = self._archive
            self._speakers = Speakers((), kept.speakers) if kept is not None else Speakers(program.by_path.values())
        before = extended(program)
        self._members, self._departed, self._forgotten = {}, set(), set()
        altered, relined = self._differences(summaries, marks or {})
        gone = [unit for path, unit in program.by_path.items() if path not in summaries]
        added = [path for path in summaries if path not in program.by_path]
        if self._archive is not None:
            differing = len(altered) + len(gone) + len(added)
            if differing > max(MIN_STALE, STALE * len(program.by_path)):
                raise TooWide
        tokens: set[object] = set()
        names: set[str] = set()
        for unit in gone:
            names |= self._remove(unit, tokens)
        kinds = any(unit.summary.module_kind != summaries[unit.path].module_kind for unit in altered)
        self._kinds |= {path: summaries[path].module_kind for path in (*added, *(unit.path for unit in altered))}
        for unit in gone:
            del self._kinds[unit.path]
        for unit in altered:
            size = len(unit.summary.ops)
            self._replace(unit, summaries[unit.path], tokens)
            if gone or added or kinds or configs != self._configs:
                # What its imports lead to may change as well, and there is no answer of before to compare with.
                tokens |= {unit.index, *((unit.index, at) for at in range(max(size, len(unit.summary.ops))))}
        for unit in relined:
            unit.reline(summaries[unit.path])
            make_refs(unit)
        new = [program.add(path, summaries[path]) for path in sorted(added)]
        for unit in new:
            self._speakers.put(unit)
        self._resolve_anew(summaries, configs, tokens, files=bool(gone or added or kinds))
        self._forget(tokens)
        self._extend(before, tokens, [*altered, *new])
        self._inherit([*altered, *new], tokens)
        if (gone or added or kinds) and any(self._declared(unit) for unit in program.by_path.values()):
            raise TooWide
        dirty = {unit.index for unit in (*altered, *new)}
        names |= self._rename(dirty, tokens)
        dirty |= self._remains.reads.of(tokens)
        if names:
            dirty |= {index for index in self._speakers.of(names) if self._is_present(index)}
        if len(dirty) > WIDE * len(program.by_path) and len(dirty) > 8:
            raise TooWide
        flow.run(sorted(dirty))
        for path in test_files ^ self._tests.test_files:
            if path in program.by_path:  # whoever runs something of it has read it
                tokens |= set(program.by_path[path].functions)
        self._tests.test_files = test_files
        extra = {unit.index for unit in relined}
        if program.extends:
            # The line of a promise stands on an edge of the class.
            moved = {unit.index for unit in (*relined, *altered)}
            everywhere = [ref for unit in program.ordered() for ref in unit.classes]
            extra |= {ref.unit for ref in everywhere for promising, _, _ in ref.promises if promising in moved}
        return self._finish(tokens, extra, {unit.index for unit in gone})

    def _is_present(self, index: int) -> bool:
        unit = self._program.units[index]
        return self._program.by_path.get(unit.path) is unit

    def _extend(self, before: Extended, tokens: set[object], touched: list[Unit]) -> None:
        """Finds extensions anew; adds the tokens of what they say otherwise than before."""
        build_extensions(self._program, touched)
        if self._program.extends and self._archive is not None:
            raise TooWide
        now = extended(self._program)
        moved = changed_extensions(before, now)
        for ref in before.keys() | now.keys() if moved else ():
            if isinstance(ref, ClassRef):
                known = before.get(ref)
                names = set(known[0]) if isinstance(known, tuple) else set()
                self._members[ref] = self._members.get(ref, set()) | names
        if moved:
            tokens |= moved
            self._forget(moved)

    def _differences(
        self, summaries: Mapping[FilePath, FileSummary], marks: Mapping[FilePath, ContentHash]
    ) -> tuple[list[Unit], list[Unit]]:
        altered: list[Unit] = []
        relined: list[Unit] = []
        known, self._marks = self._marks, marks
        for path, unit in sorted(self._program.by_path.items()):
            mark = marks.get(FilePath(path))
            if mark is not None and known.get(FilePath(path)) == mark:
                continue
            new = summaries.get(FilePath(path))
            if new is not None and new is not unit.given and new != unit.given:
                (relined if same_shape(unit.given, new) else altered).append(unit)
        return altered, relined

    def _remove(self, unit: Unit, tokens: set[object]) -> set[str]:
        index = unit.index
        tokens |= {index, ("site", index), *((index, at) for at in range(len(unit.summary.ops)))}
        tokens |= {("export", unit.path, name) for name in unit.exports}
        tokens |= {ref if isinstance(ref, FuncRef) else ("class", ref) for ref in _refs(unit).values()}
        self._departed.update(unit.classes)
        del self._program.by_path[unit.path]
        self._clear(unit)
        self._flow.drop(index)
        remains = self._remains
        for reads in (remains.reads, remains.contribution_reads, remains.test_reads):
            reads.drop(index)
        remains.given.pop(index, None)
        self._plain.pop(index, None)
        self._made.pop(index, None)
        for source in remains.sources.pop(index, ()):
            remains.calls.pop(source, None)
            tokens.add(("calls", source))
        return self._flow.attribute_names.put(index, Contribution()) | self._candidates.put(unit, gone=True)

    def _replace(self, unit: Unit, summary: FileSummary, tokens: set[object]) -> None:
        """Takes in a version of a file."""
        known = _refs(unit)
        for ref in unit.classes:
            self._members[ref] = {*ref.members, *ref.extended}
        before: Interface = interface(unit)
        self._clear(unit)
        unit.move(summary)
        if unit.is_sparse:
            raise TooWide
        make_refs(unit)
        self._departed |= {ref for ref in known.values() if isinstance(ref, ClassRef)} - set(unit.classes)
        self._speakers.put(unit)
        after = interface(unit)
        index = unit.index
        tokens.add(("site", index))
        if before.common != after.common:
            tokens.add(index)
        tokens |= {(index, at) for at in changed_ops(before, after)}
        for name in before.exports.keys() | after.exports.keys():
            if before.exports.get(name) != after.exports.get(name):
                tokens.add(("export", unit.path, name))
                tokens |= {("package", package, name) for package in self._program.packages_of.get(unit.path, ())}
        now = after.local | after.functions
        tokens |= {known[key] for key, shown in (before.local | before.functions).items() if now.get(key) != shown}
        tokens |= {("class", known[key]) for key, shown in before.classes.items() if after.classes.get(key) != shown}

    def _clear(self, unit: Unit) -> None:
        """Forgets the answers that are of one file."""
        program, index = self._program, unit.index
        if self._archive is not None:
            self._archive.replaced.add(index)
        program.forget_file(index, len(unit.summary.ops))
        for at in range(len(unit.summary.ops)):
            for depth in range(MAX_TYPE_DEPTH + 1):
                self._types.memo.pop((index, at, depth), None)
        for at in range(len(unit.summary.imports)):
            program.module_memo.pop((index, at), None)
            program.roots.pop((index, at), None)

    def _forget(self, tokens: set[object]) -> None:
        """Forgets the answers that rest on what has changed."""
        program = self._program
        memos: tuple[dict[object, object], ...] = (
            program.export_memo, self._types.memo, self._lookup.memo, self._lookup.owned,
        )  # type: ignore[assignment]  # fmt: skip
        assert program.readers is not None
        if self._archive is not None:
            self._forgotten |= self._archive.forgotten(tokens)
        for key in program.readers.of(tokens):
            del program.basis[key]
            self._forgotten.add(key)
            program.forget(key)
            for memo in memos:
                memo.pop(key, None)
        for token in tokens:
            if isinstance(token, tuple) and len(token) == 2:
                program.forget(token)

    def _resolve_anew(
        self,
        summaries: Mapping[FilePath, FileSummary],
        configs: Mapping[FilePath, bytes],
        tokens: set[object],
        *,
        files: bool,
    ) -> None:
        """Asks the resolver again where it may answer otherwise: questions that found nothing, too."""
        if not files and configs == self._configs:
            return
        program = self._program
        self._configs = dict(configs)
        if self._archive is not None:
            self._archive.recall_answers(program)
        resolver = program.resolver = self._resolver(summaries)
        imports: dict[int, tuple[ImportDecl, ...]] = {}
        for memo, ask in ((program.module_memo, resolver.module), (program.roots, resolver.root)):
            for (index, at), known in list(memo.items()):
                unit = program.units[index]
                if index not in imports:
                    imports[index] = self._archive.imports(unit) if self._archive is not None else unit.summary.imports
                if ask(unit.path, imports[index][at]) != known:
                    del memo[index, at]
                    tokens |= {index, *((index, other) for other in range(len(unit.summary.ops)))}
        for key in [key for key in program.submodules if not _same_submodule(program, key)]:
            del program.submodules[key]
            tokens.add(key)
        for path in [FilePath(p) for p in program.scopes]:
            if resolver.scope(path) != program.scopes[path]:
                del program.scopes[path]
                tokens.add(("scope", path))
        for path in [FilePath(p) for p in program.fixture_lists]:
            if resolver.fixture_files(path) != program.fixture_lists[path]:
                del program.fixture_lists[path]
                tokens.add(("fixtures", path))

    def _inherit(self, touched: list[Unit], tokens: set[object]) -> None:
        """Keeps the hierarchy; adds the tokens of classes and overrides of which something has changed."""
        program = self._program
        classes = {token[1] for token in tokens if isinstance(token, tuple) and token[0] == "class"}
        again = {ref for unit in touched for ref in unit.classes} | classes - self._departed
        again |= {key[1] for key in self._forgotten if isinstance(key, tuple) and key[0] == "bases"} - self._departed
        reordered, regrouped = renew_hierarchy(program, again, self._departed)
        units = program.by_path.values() if program.tables.embedding else ()
        everywhere = [ref for unit in units for ref in unit.classes]
        for ref in classes:
            reordered |= {ref, *(lower for lower in everywhere or ref.below if ref in lower.mro)}
        tokens |= reordered
        self._forget(set(reordered))  # what the others were read for is known anew already
        tokens |= self._overridden(classes, regrouped)

    def _overridden(self, classes: set[ClassRef], regrouped: set[ClassRef]) -> set[object]:
        """Tokens of the names that other methods override now: below classes with others below them, and above members that
        have changed."""
        lower = self._lookup.lower
        # Where classes embed each other, or need not say what they implement, members come from elsewhere too.
        loose = self._program.tables.embedding or self._program.tables.structural
        asked = {(ref, name) for ref in (list(lower) if loose else regrouped) for name in lower.get(ref, ())}
        members = {
            (ref, name) for ref in classes for name in {*self._members.get(ref, ()), *ref.members, *ref.extended}
        }
        members |= {
            key for key in self._forgotten if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], ClassRef)
        }
        for ref, name in members:
            asked |= {(above, name) for above in ref.behind or () if name in lower.get(above, ())}
        changed: set[object] = set()
        for ref in self._departed:  # what it had below stands at ops of before
            changed |= {("below", ref, name) for name in lower.pop(ref, ())}
        for ref, name in asked:
            if ref in self._departed:
                continue
            now = self._lookup.overrides_now(ref, name)
            if set(now) != set(lower[ref][name]):
                lower[ref][name] = now
                changed.add(("below", ref, name))
        return changed

    def _declared(self, unit: Unit) -> bool:
        types = self._program.resolver.declaration_file(unit.path)
        return types is not None and types in self._program.by_path

    def _rename(self, dirty: Iterable[int], tokens: set[object]) -> set[str]:
        """Contributions to names, anew; gives the names that count otherwise than before."""
        names: set[str] = set()
        wide = self._remains.contribution_reads.of(tokens)
        for index in sorted({*dirty, *wide}):
            unit = self._program.units[index]
            names |= self._contribute(unit)
            if index in dirty:
                names |= self._candidates.put(unit)
        tokens |= self._flow.attribute_names.take_turned()
        return names

    def _contribute(self, unit: Unit) -> set[str]:
        program = self._program
        program.ask_for(unit.index, set())
        changed = self._flow.attribute_names.put(unit.index, contribution(program, unit))
        self._remains.contribution_reads.put(unit.index, frozenset({*(program.reads or ()), unit.index}))
        program.reads = None
        return changed

    # Emission ----------------------------------------------------------------------------------------------------------

    def _finish(self, tokens: set[object], extra: Iterable[int], gone: set[int]) -> set[FilePath]:
        """Emits the files that ran, `extra`, and those that read of them what is otherwise now."""
        program, flow = self._program, self._flow
        ran = flow.finish()
        contents = self._changed_contents(set(ran) | gone)
        wanted = {*ran, *extra}
        given = self._changed_given(ran)
        others = given | contents
        if others:
            wanted |= self._remains.reads.of(others)
        for index in sorted(wanted):
            tokens |= self._emit(program.units[index])
        flow.release()
        program.reads = None
        return {program.units[index].path for index in wanted | self._emit_tests(wanted, tokens)}

    def _changed_contents(self, ran: set[int]) -> set[object]:
        changed: set[object] = set()
        flow = self._flow
        for index in ran:
            for op, known in flow.contents.pop(index, {}).items():
                state = flow.states[index]
                if state is None or op >= len(state.vals) or state.values(op) != known:
                    changed.add(("content", index, op))
        return changed

    def _changed_given(self, ran: Iterable[int]) -> set[object]:
        """Files of definitions that their decorators give back, and did not before, or no longer do."""
        changed: set[object] = set()
        for index in ran:
            state = self._flow.states[index]
            assert state is not None
            self._program.ask_for(index, state.reads)
            now, before = self._flow.given_back_by(state), self._remains.given.get(index, frozenset())
            if now != before:
                self._remains.given[index] = now
                changed |= {ref if isinstance(ref, FuncRef) else ("class", ref) for ref in now ^ before}
        if changed or not self._flow.given_back:
            self._flow.given_back = {ref for refs in self._remains.given.values() for ref in refs}
        return changed

    def _emit(self, unit: Unit) -> set[object]:
        """Makes the edges of a file anew; gives the tokens of definitions whose calls are others now."""
        program, flow = self._program, self._flow
        state = flow.states[unit.index]
        if state is None:
            state = flow.states[unit.index] = flow.final_state(unit.index)
        emission = Emission(program, flow, self._candidates, unit, state)
        emission.run()
        edges = emission.edges()
        self._plain[unit.index] = pack((*edges, *import_edges(program, unit), *hierarchy_edges(program, unit)))
        self._remains.reads.put(unit.index, frozenset(state.reads | self._seen(state) | {unit.index}))
        return self._note_calls(unit, edges)

    def _seen(self, state: UnitState) -> set[object]:
        """Tokens of the functions and classes that are among the values."""
        found: set[object] = set()
        done: set[Value] = set()
        waiting: list[Value] = []
        for held in state.vals:
            waiting += members(held)
        while waiting:
            value = waiting.pop()
            if value in done:
                continue
            done.add(value)
            if value.ref is not None:
                found.add(value.ref if isinstance(value.ref, FuncRef) else ("class", value.ref))
            if value.recv is not None:
                waiting.append(value.recv)
            for part in value.args:
                waiting += part
        return found

    def _note_calls(self, unit: Unit, edges: list[Edge]) -> set[object]:
        calls: dict[str, list[tuple[str, int]]] = {}
        for source, target, line in _written_calls(edges):
            calls.setdefault(source, []).append((target, line))
        changed: set[object] = set()
        known, sources = self._remains.calls, self._remains.sources
        for source in sources.get(unit.index, set()) | calls.keys():
            now = calls.get(source, [])
            if {target for target, _ in now} != {target for target, _ in known.get(source, ())}:
                changed.add(("calls", source))
            if now:
                known[source] = now
            else:
                known.pop(source, None)
        sources[unit.index] = set(calls)
        return changed

    def _emit_tests(self, emitted: set[int], tokens: set[object]) -> set[int]:
        """Edges of the tests whose calls, or those of what runs with them, are others now."""
        again = self._remains.test_reads.of(tokens)
        program = self._program
        for index in sorted(emitted | again):
            unit = program.units[index]
            if not unit.summary.tests and index not in self._made:
                continue
            program.ask_for(NOTHING, set())
            self._made[index] = self._tests.of(unit)
            self._remains.test_reads.put(index, frozenset({*(program.reads or ()), unit.index}))
        program.reads = None
        return again


def _refs(unit: Unit) -> dict[str, FuncRef | ClassRef]:
    functions: dict[str, FuncRef | ClassRef] = {ref.key: ref for ref in unit.functions}
    return functions | {ref.key: ref for ref in unit.classes}


def _same_submodule(program: Program, key: tuple[str, str, str]) -> bool:
    parent = Module(kind=key[0], path=FilePath(key[1]))
    return program.resolver.submodule(parent, key[2]) == program.submodules[key]


def _written_calls(edges: list[Edge]) -> list[tuple[str, str, int]]:
    """(source, target, line) of calls, without the wrapper that runs where a decorated name is called: a test is about the
    name that it writes."""
    decorated = {(e.source, line) for e in edges if e.resolution is Resolution.DECORATED for line in e.lines}
    return [
        (edge.source, edge.target, line)
        for edge in edges
        if edge.kind is EdgeKind.CALLS_STATIC and edge.target is not None
        for line in edge.lines
        if edge.resolution is not Resolution.FLOW or (edge.source, line) not in decorated
    ]


def _order(edge: Edge) -> tuple[str, str, str, str, str]:
    return (edge.kind, edge.source, edge.target or "", edge.to_name or "", edge.reason or "")
