"""Stratum 0: the files of a program, what imports lead to, and the record of who read what."""

from __future__ import annotations

from smp.domain.ids import FilePath
from smp.domain.source import NOTHING, FileSummary
from smp.indexing.linking.reading import Readers
from smp.indexing.linking.units import Unit, make_refs
from smp.indexing.linking.values import ClassRef, Interner, Value
from smp.languages.base import Module, Resolver, Tables


class Modules:
    """Files, packages, and reads."""

    def __init__(self, resolver: Resolver, tables: Tables) -> None:
        self.resolver = resolver
        self.tables = tables
        self.values = Interner()
        self.units: list[Unit] = []
        self.by_path: dict[str, Unit] = {}
        self.module_memo: dict[tuple[int, int], Module] = {}
        self.asker = NOTHING
        self.reads: set[object] | None = None
        """Gathers what the present asker reads of other files: their numbers, and tokens (`smp.indexing.linking.revision`)."""
        self.basis: dict[object, frozenset[object]] = {}
        self.shared_bases: dict[frozenset[object], frozenset[object]] = {}
        """Equal ones are one: two of three are."""
        self.readers: Readers | None = None
        """The answers by what they rest on; made when the first of them may have to be forgotten."""
        self.submodules: dict[tuple[str, str, str], Module | None] = {}
        self.roots: dict[tuple[int, int], Module] = {}
        self.fixture_lists: dict[str, tuple[FilePath, ...]] = {}
        self.scopes: dict[str, tuple[Module, ...]] = {}
        self.offers: dict[Value, dict[str, tuple[FilePath, ...]]] = {}
        """Per package the files that offer a name."""
        self.packages_of: dict[str, set[str]] = {}
        """Per file the packages that were asked for a name."""

    def add(self, path: FilePath, summary: FileSummary) -> Unit:
        """A further file."""
        unit = Unit(len(self.units), path, summary)
        self.units.append(unit)
        self.by_path[path] = unit
        make_refs(unit)
        return unit

    def ordered(self) -> list[Unit]:
        """The files, by path."""
        return [self.by_path[path] for path in sorted(self.by_path)]

    # Reads -----------------------------------------------------------------------------------------------------------

    def begin(self, asker: int = NOTHING) -> tuple[set[object] | None, int]:
        """An answer is being worked out, of a file's own op or of none: what it reads is gathered apart."""
        outer = self.reads, self.asker
        self.reads, self.asker = set(), asker
        return outer

    def ask_for(self, unit: int, reads: set[object]) -> None:
        """From now on a file asks."""
        self.reads, self.asker = reads, unit

    def end(self, key: object, outer: tuple[set[object] | None, int], own: int = NOTHING, at: int = NOTHING) -> None:
        """What the answer read belongs to it, and to whoever asked. own, at: the op that the answer is of."""
        gathered = self.reads or set()
        if gathered:
            before = self.basis.get(key)  # of an answer in a cycle, which is worked out more than once
            basis = frozenset(gathered) if before is None else before | gathered
            self.basis[key] = self.shared_bases.setdefault(basis, basis)
            if self.readers is not None:
                self.readers.note(key, gathered)
        self.reads, self.asker = outer
        if self.reads is not None:
            self.reads |= gathered
            if own != NOTHING and own != self.asker:
                self.reads.add((own, at))

    def read_op(self, unit: int, at: int) -> None:
        """The asker reads an op by itself."""
        if self.reads is not None and self.asker != unit:
            self.reads.add((unit, at))

    def note(self, key: object) -> None:
        """A known answer is given again: who asked has read what it rests on."""
        if self.reads is not None:
            basis = self.basis.get(key)
            if basis is not None:
                self.reads |= basis

    def read(self, token: object) -> None:
        """The asker reads something by itself."""
        if self.reads is not None:
            self.reads.add(token)

    def mro(self, ref: ClassRef) -> tuple[ClassRef | str, ...]:
        """The resolution order of a class."""
        if self.reads is not None:
            self.reads.add(ref)
        return ref.mro

    # Modules ---------------------------------------------------------------------------------------------------------

    def import_module(self, unit: Unit, index: int) -> Module:
        """The module that an import names (not the name taken from it)."""
        key = (unit.index, index)
        known = self.module_memo.get(key)
        if known is None:
            known = self.module_memo[key] = self.resolver.module(unit.path, unit.summary.imports[index])
        return known

    def root(self, unit: Unit, index: int) -> Module:
        key = (unit.index, index)
        known = self.roots.get(key)
        if known is None:
            known = self.roots[key] = self.resolver.root(unit.path, unit.summary.imports[index])
        return known

    def submodule(self, parent: Module, name: str) -> Module | None:
        """The module of a name inside another."""
        key = (parent.kind, parent.path, name)
        if self.reads is not None:
            self.reads.add(key)
        if key not in self.submodules:
            bare = Module(kind=parent.kind, path=parent.path)
            self.submodules[key] = self.resolver.submodule(bare, name)
        return self.submodules[key]

    def fixture_files(self, path: FilePath) -> tuple[FilePath, ...]:
        """Files whose fixtures the tests of a file may ask for."""
        if self.reads is not None:
            self.reads.add(("fixtures", path))
        known = self.fixture_lists.get(path)
        if known is None:
            known = self.fixture_lists[path] = self.resolver.fixture_files(path)
        return known

    def module_value(self, module: Module) -> Value | None:
        """The value that a module is; None for a missing one."""
        if module.kind == "file":
            return self.values.module(module.path)
        if module.kind == "namespace":
            return self.values.module(module.path, namespace=True)
        if module.kind == "external":
            return self.values.ext(module.dotted)
        if module.kind == "package":
            return self.values.package(module.path, module.files)
        return None

    def scope(self, path: FilePath) -> tuple[Module, ...]:
        """Modules whose names a file may use without an import."""
        if self.reads is not None:
            self.reads.add(("scope", path))
        known = self.scopes.get(path)
        if known is None:
            known = self.scopes[path] = self.resolver.scope(path)
        return known

    def offering(self, package: Value, name: str) -> tuple[FilePath, ...]:
        """The files of a package that offer a name."""
        if self.reads is not None:
            self.reads.add(("package", package.name, name))
        known = self.offers.get(package)
        if known is None:
            gathered: dict[str, list[FilePath]] = {}
            for path in package.files:
                self.packages_of.setdefault(path, set()).add(package.name)
                unit = self.by_path.get(path)
                for offered in unit.exports if unit is not None else ():
                    gathered.setdefault(offered, []).append(path)
            known = self.offers[package] = {offered: tuple(paths) for offered, paths in gathered.items()}
        return known.get(name, ())
