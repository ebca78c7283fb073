"""Strata 0 and 1: the files of one language family as one program; what names mean, and the class hierarchy.

`resolve` follows names through imports, re-exports, stars and modules to the ops that define them. What is a function,
class or module by the text alone comes back as values with the label of how it was found; what must be computed comes
back as *leaves*, ops of some file whose values the flow knows.

An answer that was found inside a cycle counts only for the question that began there, so that no answer depends on what
was asked before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from smp.domain.graph import Resolution
from smp.domain.ids import FilePath
from smp.domain.source import NOTHING, ArgKind, FileSummary, Op
from smp.indexing.linking.extensions import build_extensions, promised
from smp.indexing.linking.inheritance import build_hierarchy
from smp.indexing.linking.modules import Modules
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import CLASS, EXT, MODULE, ClassRef, FuncRef, Value
from smp.languages.base import Module, Resolver, Tables

MAX_DEPTH = 16
"""Bases above bases that are searched for a type in their bodies."""
MAX_CHAIN = 32
"""Longest chain of re-exports that is followed."""

_STRENGTH = {resolution: at for at, resolution in enumerate(Resolution)}


def stronger(first: Resolution, second: Resolution) -> Resolution:
    """The stronger of two labels."""
    return first if _STRENGTH[first] <= _STRENGTH[second] else second


def weaker(first: Resolution, second: Resolution) -> Resolution:
    """The weaker of two labels."""
    return second if _STRENGTH[first] <= _STRENGTH[second] else first


class Resolved(NamedTuple):
    """labels: values known from the text. leaves: (unit, op) whose flow values belong to it too. missing: a name that
    an import asks for and nothing provides. unknown: a module that answers to any name."""

    labels: dict[Value, Resolution]
    leaves: tuple[tuple[int, int], ...] = ()
    missing: bool = False
    unknown: bool = False


_EMPTY = Resolved({})


def merged(parts: Iterable[Resolved]) -> Resolved:
    """What any of several answers says."""
    labels: dict[Value, Resolution] = {}
    leaves: list[tuple[int, int]] = []
    missing = unknown = False
    for part in parts:
        for value, label in part.labels.items():
            labels[value] = stronger(labels.get(value, label), label)
        leaves += part.leaves
        missing = missing or part.missing
        unknown = unknown or part.unknown
    return Resolved(labels, tuple(dict.fromkeys(leaves)), missing, unknown)


class Program(Modules):
    """All files of one family."""

    def __init__(
        self,
        files: Mapping[FilePath, FileSummary],
        resolver: Resolver,
        tables: Tables,
        kept: Iterable[Unit] | None = None,
    ) -> None:
        """kept: Files that were linked before, with their hierarchy, in place of `files`."""
        super().__init__(resolver, tables)
        for unit in kept or ():
            self.units.append(unit)
            self.by_path[unit.path] = unit
        for path in sorted(files) if kept is None else ():
            self.add(path, files[path])
        self.memo: dict[tuple[int, int], Resolved] = {}
        self._plain: dict[int, bytearray] = {}
        """By file which of its ops are known to mean nothing but their own flow; most are, and an answer for each would be a
        third of a link's memory."""
        self.cyclic: dict[tuple[object, object], Resolved] = {}
        """Answers found in a cycle: for questions that begin here only, or they would depend on who asked before."""
        self.export_memo: dict[tuple[str, str], Resolved] = {}
        self._active: set[object] = set()
        self._cut = False
        self.extends = False
        """Whether any file gives something to a class outside its body."""
        self.declared: dict[FuncRef, FuncRef] = {}
        """Functions of files whose types are declared in another file → their declarations."""
        if kept is not None:
            return
        build_extensions(self, self.units)
        build_hierarchy(self)
        for unit in self.units:
            types = resolver.declaration_file(unit.path)
            if types is not None and types in self.by_path:
                self._declare(unit, self.by_path[types])

    def _declare(self, unit: Unit, types: Unit) -> None:
        """Pairs the functions that a file exports, and the methods of its classes, with their declarations."""
        for name in sorted(unit.exports.keys() & types.exports.keys()):
            real, declared = self.export(unit.path, name).labels, self.export(types.path, name).labels
            for value in real:
                for other in declared:
                    if isinstance(value.ref, FuncRef) and isinstance(other.ref, FuncRef):
                        self.declared[value.ref] = other.ref
                    elif isinstance(value.ref, ClassRef) and isinstance(other.ref, ClassRef):
                        self._declare_methods(value.ref, other.ref)

    def _declare_methods(self, ref: ClassRef, declared: ClassRef) -> None:
        for name in sorted(ref.members.keys() & declared.members.keys()):
            pairs = [
                [v.ref for at in owner.members[name] for v in self.resolve(self.units[owner.unit], at).labels]
                for owner in (ref, declared)
            ]
            for real, other in zip(*pairs, strict=False):
                if isinstance(real, FuncRef) and isinstance(other, FuncRef):
                    self.declared[real] = other

    # Names -----------------------------------------------------------------------------------------------------------

    def resolve(self, unit: Unit, at: int) -> Resolved:
        """What an op means by the text of the program alone."""
        if at == NOTHING:
            return _EMPTY
        key = (unit.index, at)
        known = self.memo.get(key)
        if known is None:
            plain = self._plain.get(unit.index)
            if plain is not None and plain[at]:
                known = Resolved({}, (key,))
            elif not self._active:
                known = self.cyclic.get(key)
        if known is not None:
            if self.reads is not None:
                if self.asker != unit.index:
                    self.reads.add(key)
                basis = self.basis.get(key)
                if basis is not None:
                    self.reads |= basis
            return known
        if key in self._active or len(self._active) > MAX_CHAIN * 4:
            self._cut = True
            return _EMPTY
        outer_cut, self._cut = self._cut, False
        outer = self.begin(unit.index)
        self._active.add(key)
        try:
            result = self._resolve(unit, at)
        finally:
            self._active.discard(key)
            self.end(key, outer, unit.index, at)
        if not self._cut:
            self._remember(unit, at, result)
        elif not self._active:
            self.cyclic[key] = result
        self._cut = self._cut or outer_cut
        if not self._active:
            self._cut = False
        return result

    def _remember(self, unit: Unit, at: int, result: Resolved) -> None:
        key = (unit.index, at)
        if result.labels or result.missing or result.unknown or result.leaves != (key,):
            self.memo[key] = result
            return
        plain = self._plain.get(unit.index)
        if plain is None:
            plain = self._plain[unit.index] = bytearray(len(unit.summary.ops))
        plain[at] = 1

    def forget(self, key: object) -> None:
        """Forgets what an op means, if the key is one of an op."""
        self.memo.pop(key, None)  # type: ignore[call-overload]
        self.cyclic.pop(key, None)  # type: ignore[call-overload]
        if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], int):
            plain = self._plain.get(key[0])
            if plain is not None and key[1] < len(plain):
                plain[key[1]] = 0

    def forget_file(self, index: int, size: int) -> None:
        """Forgets what all ops of a file mean, and what that rests on. size: How many there are."""
        self._plain.pop(index, None)
        for at in range(size):
            self.memo.pop((index, at), None)
            self.cyclic.pop((index, at), None)
            self.basis.pop((index, at), None)

    def forget_all(self) -> None:
        """Forgets what can be worked out again."""
        self.memo.clear()
        self.export_memo.clear()
        self._plain.clear()

    def _resolve(self, unit: Unit, at: int) -> Resolved:
        op = unit.summary.ops[at]
        code = op[0]
        if code == Op.FUNC:
            return Resolved({self.values.func(unit.functions[op[1]]): Resolution.LEXICAL})
        if code == Op.CLASS:
            return Resolved({self.values.cls(unit.classes[op[1]]): Resolution.LEXICAL})
        if code == Op.DECORATED:
            inner = self.resolve(unit, op[1])
            return Resolved(dict.fromkeys(inner.labels, Resolution.DECORATED), ((unit.index, op[2]),))
        if code == Op.VAR:
            return self._union(unit, unit.stores.get(op[1], ()))
        if code == Op.PHI:
            return self._union(unit, op[1:])
        if code == Op.IMPORT:
            return self.resolve_import(unit, op[1])
        if code == Op.UNBOUND:
            return self._unbound(unit, unit.summary.names[op[1]])
        if code == Op.GLOBAL:
            return self.export(unit.path, unit.summary.names[op[1]])
        if code == Op.ATTR:
            return self._attribute(unit, at, op)
        if code == Op.MEMBER_TYPE:
            name = unit.summary.names[unit.summary.ops[op[1]][1]]
            for around in op[2:]:
                inherited = self._inherited_type(unit.classes[unit.summary.ops[around][1]], name, 0)
                if inherited is not None:
                    return Resolved({inherited: Resolution.HIERARCHY})
            return self.resolve(unit, op[1])
        if code == Op.ALIAS_TYPE and len(op) == 2:
            return self.resolve(unit, op[1])
        if code == Op.DECLARED:
            return Resolved(self.resolve(unit, op[1]).labels, ((unit.index, at),))
        return Resolved({}, ((unit.index, at),))

    def _union(self, unit: Unit, ops: tuple[int, ...] | list[int]) -> Resolved:
        return merged(self.resolve(unit, at) for at in ops)

    def _attribute(self, unit: Unit, at: int, op: tuple[int, ...]) -> Resolved:
        base = self.resolve(unit, op[1])
        name = unit.summary.names[op[2]]
        labels: dict[Value, Resolution] = {}
        leaves: list[tuple[int, int]] = []
        missing = unknown = False
        static = True
        for value, label in base.labels.items():
            if value.kind == MODULE:
                part = self.module_attribute(value, name)
                for found in part.labels:
                    decorated = part.labels[found] is Resolution.DECORATED
                    new = Resolution.DECORATED if decorated else Resolution.IMPORT
                    labels[found] = stronger(labels.get(found, new), new)
                leaves += part.leaves
                missing = missing or part.missing
                unknown = unknown or part.unknown
            elif value.kind == EXT:
                labels[self.values.ext(f"{value.name}.{name}")] = label
            elif value.kind == CLASS and isinstance(value.ref, ClassRef):
                static = False
                # A class in a class is found by its text; methods need the hierarchy.
                for member in value.ref.members.get(name, ()):
                    inner = self.resolve(self.units[value.ref.unit], member)
                    for found in inner.labels:
                        if found.kind == CLASS:
                            labels[found] = label
            else:
                static = False
        if base.leaves or not static:
            leaves.append((unit.index, at))
        return Resolved(labels, tuple(dict.fromkeys(leaves)), missing, unknown)

    def _inherited_type(self, ref: ClassRef, name: str, depth: int) -> Value | None:
        """A type in the body of one of a class's bases; asked before there is a hierarchy, as bases may be named by it."""
        unit = self.units[ref.unit]
        self.read(("class", ref))
        for at in ref.decl.bases:
            for base in self.base_values(unit, at):
                if not isinstance(base, ClassRef) or base is ref or depth > MAX_DEPTH:
                    continue
                self.read(("class", base))
                for member in base.members.get(name, ()):
                    for value in self.resolve(self.units[base.unit], member).labels:
                        if value.kind == CLASS:
                            return value
                found = self._inherited_type(base, name, depth + 1)
                if found is not None:
                    return found
        return None

    def module_attribute(self, module: Value, name: str) -> Resolved:
        """A name read from a module: what it exports, else a submodule; of a package what any of its files does."""
        unknown = False
        if module.files:
            parts = [self.export(path, name) for path in self.offering(module, name)]
            if parts:
                return merged(parts)
        elif not module.below:
            found = self.export(module.name, name)
            if found.labels or found.leaves:
                return found
            unknown = found.unknown
        kind = "namespace" if module.below else "package" if module.files else "file"
        inner = self.submodule(Module(kind=kind, path=FilePath(module.name)), name)
        value = self.module_value(inner) if inner is not None else None
        if value is not None:
            return Resolved({value: Resolution.IMPORT})
        # A module that answers to any name does so for those that it does not have; a submodule it has.
        return Resolved({}, unknown=True) if unknown else Resolved({}, missing=True)

    def resolve_import(self, unit: Unit, index: int) -> Resolved:
        """What an import binds."""
        declaration = unit.summary.imports[index]
        if declaration.binds_root:
            value = self.module_value(self.root(unit, index))
            return Resolved({value: Resolution.IMPORT}) if value is not None else Resolved({}, missing=True)
        module = self.import_module(unit, index)
        if module.kind == "symbols":
            return self._symbols(unit, module)
        value = self.module_value(module)
        if value is None:
            return Resolved({}, missing=True)
        if not declaration.name or (value.kind == EXT and declaration.name in self.tables.module_names):
            return Resolved({value: Resolution.IMPORT})
        if value.kind == EXT:
            dotted = f"{value.name}.{declaration.name}"
            return Resolved({self.values.ext(dotted): Resolution.IMPORT})
        found = self.module_attribute(value, declaration.name)
        labels = {v: label if label is Resolution.DECORATED else Resolution.IMPORT for v, label in found.labels.items()}
        return Resolved(labels, found.leaves, found.missing, found.unknown)

    def _symbols(self, unit: Unit, module: Module) -> Resolved:
        """What the resolver has found by itself; a name of the same file is no import."""
        if not module.symbols:
            return Resolved({self.values.ext(module.dotted): Resolution.IMPORT})
        parts = []
        for path, name in module.symbols:
            found = self.export(path, name)
            if path != unit.path:
                found = found._replace(labels=dict.fromkeys(found.labels, Resolution.IMPORT))
            parts.append(found)
        return merged(parts)

    def export(self, path: str, name: str) -> Resolved:
        """What a file offers under a name."""
        key = (path, name)
        known = self.export_memo.get(key)
        if known is None and not self._active:
            known = self.cyclic.get(key)
        unit = self.by_path.get(path)
        if known is not None:
            self.note(key)
            return known
        if unit is None or key in self._active:
            self._cut = self._cut or unit is not None
            return _EMPTY
        outer_cut, self._cut = self._cut, False
        outer = self.begin()
        self._active.add(key)
        try:
            at = unit.exports.get(name)
            if at is not None:
                result = self.resolve(unit, at)
            else:
                result = self._starred(unit, name, passed_on=True)
                if not result.labels and not result.leaves and unit.summary.exports.dynamic:
                    result = Resolved({}, unknown=True)
        finally:
            self._active.discard(key)
            if self.reads is not None:
                self.reads.add(("export", path, name))
                if unit.exports.get(name) is None:
                    self.reads.add(unit.index)
            self.end(key, outer)
        if not self._cut:
            self.export_memo[key] = result
        elif not self._active:
            self.cyclic[key] = result
        self._cut = self._cut or outer_cut
        if not self._active:
            self._cut = False
        return result

    def _starred(self, unit: Unit, name: str, *, passed_on: bool) -> Resolved:
        """A name that comes in by `import *`; the last statement that brings it wins."""
        for index in reversed(unit.summary.exports.stars):
            module = self.import_module(unit, index)
            if module.kind == "package":
                found = self._from_package(module, name)
                if found is not None:
                    return found
            if module.kind != "file":
                continue
            source = self.by_path.get(module.path)
            if source is None:
                continue
            if self.reads is not None:
                self.reads.add(source.index)
            listed = source.summary.exports.listed
            hidden = name == "default" if source.summary.exports.star_all else name.startswith("_")
            if (name not in listed) if listed is not None else hidden:
                continue
            found = self.export(module.path, name)
            if found.labels or found.leaves:
                labels = {
                    v: label if label is Resolution.DECORATED else Resolution.IMPORT
                    for v, label in found.labels.items()
                }
                return Resolved(labels, found.leaves)
            if listed is not None:
                found = self.module_attribute(self.values.module(module.path), name)
                if found.labels:
                    return found
        return self._starred_ops(unit, name)

    def _starred_ops(self, unit: Unit, name: str) -> Resolved:
        """A name of the modules and types that an op stands for."""
        parts: list[Resolved] = []
        for at in unit.summary.exports.star_ops:
            for value in self.resolve(unit, at).labels:
                if value.kind == MODULE:
                    parts.append(self.module_attribute(value, name))
                elif isinstance(value.ref, ClassRef):
                    self.read(("class", value.ref))
                    ops = value.ref.members.get(name, ())
                    parts += [self.resolve(self.units[value.ref.unit], inner) for inner in ops]
        found = merged(parts)
        labels = dict.fromkeys(found.labels, Resolution.IMPORT)
        return found._replace(labels=labels, missing=False)

    def _from_package(self, module: Module, name: str, label: Resolution = Resolution.IMPORT) -> Resolved | None:
        """A name that the files of a package offer; None if none does."""
        value = self.module_value(module)
        found = self.module_attribute(value, name) if value is not None else _EMPTY
        if not (found.labels or found.leaves or found.unknown):
            return None
        labels = {v: known if known is Resolution.DECORATED else label for v, known in found.labels.items()}
        return found._replace(labels=labels)

    def _in_scope(self, unit: Unit, name: str) -> Resolved | None:
        """A name of what lies around the file: its own package, what it includes."""
        for module in self.scope(unit.path):
            if module.kind != "external":
                label = Resolution.LEXICAL if module.kind == "package" else Resolution.IMPORT
                found = self._from_package(module, name, label)
                if found is not None:
                    return found
        return None

    def _unbound(self, unit: Unit, name: str) -> Resolved:
        around = self._in_scope(unit, name)
        if around is not None:
            return around
        if unit.summary.exports.stars or unit.summary.exports.star_ops:
            found = self._starred(unit, name, passed_on=False)
            if found.labels or found.leaves:
                return found
        dotted = self.tables.builtins.get(name)
        if dotted is not None:
            return Resolved({self.values.ext(dotted): Resolution.LEXICAL})
        for index in unit.summary.exports.stars:
            module = self.import_module(unit, index)
            if module.kind == "external":
                # It may come from there; nothing in the project can be meant.
                return Resolved({self.values.ext(f"{module.dotted}.{name}"): Resolution.IMPORT})
        return Resolved({}, missing=True)

    def import_source(self, unit: Unit, at: int) -> FilePath | None:
        """The file through which the name at the root of an expression came in."""
        ops = unit.summary.ops
        seen: set[int] = set()
        name = ""
        while at != NOTHING and at not in seen:
            seen.add(at)
            op = ops[at]
            if op[0] == Op.IMPORT:
                module = self.import_module(unit, op[1])
                if module.kind == "package":
                    value = self.module_value(module)
                    offering = self.offering(value, unit.summary.imports[op[1]].name or name) if value else ()
                    return offering[0] if len(offering) == 1 else None
                return module.path if module.kind == "file" else None
            if op[0] == Op.ATTR:
                at, name = op[1], unit.summary.names[op[2]]
            elif op[0] == Op.VAR:
                stores = unit.stores.get(op[1], [])
                if len(stores) != 1:
                    return None
                at = stores[0]
            else:
                return None
        return None

    # Hierarchy -------------------------------------------------------------------------------------------------------

    def interfaces(self, ref: ClassRef) -> list[ClassRef]:
        """Interfaces of the project that a class itself declares to implement."""
        unit = self.units[ref.unit]
        values = [base for at in ref.decl.implements for base in self.base_values(unit, at)]
        values += [base for base in promised(self, ref) if base not in values]
        return [base for base in values if isinstance(base, ClassRef) and base is not ref]

    def bases_of(self, unit: Unit, ref: ClassRef) -> list[ClassRef | str]:
        """Bases of a class, in order."""
        found: list[ClassRef | str] = []
        for at in ref.decl.bases:
            for base in self.base_values(unit, at):
                if base not in found and base is not ref:
                    found.append(base)
        # Interfaces whose bodies are known come first: what is found in one does not hide behind what is outside.
        further = [base for base in promised(self, ref) if base not in found and base is not ref and base]
        return found + sorted(further, key=lambda base: isinstance(base, str))

    def base_values(self, unit: Unit, at: int) -> list[ClassRef | str]:
        """Classes that a base expression may be; an external one as its dotted name, an unknown one as an empty text."""
        op = unit.summary.ops[at] if at != NOTHING else (int(Op.CONST), 0, 0)
        if op[0] in (Op.APPLY, Op.ITEM):
            return self.base_values(unit, op[1])
        if op[0] == Op.CALL:
            return self._called_base(unit, op)
        if op[0] == Op.PARAM:
            return []  # of a mixin: what it is given stands behind it where it is called
        if op[0] == Op.ATTR and unit.summary.ops[op[1]][0] == Op.RECEIVER:
            return self._received_base(unit, op)
        resolved = self.resolve(unit, at)
        found: list[ClassRef | str] = []
        for value in sorted(resolved.labels, key=lambda v: v.key):
            if value.kind == CLASS and isinstance(value.ref, ClassRef):
                found.append(value.ref)
            elif value.kind == EXT:
                found.append(value.name)
        for leaf_unit, leaf in resolved.leaves:
            leaf_op = self.units[leaf_unit].summary.ops[leaf]
            if leaf_op[0] == Op.ALIAS_TYPE and leaf_op[1] != NOTHING:
                owner = self.units[leaf_unit]
                found += [base for base in self.base_values(owner, leaf_op[1]) if base not in found]
            elif leaf_op[0] in (Op.CALL, Op.APPLY, Op.ITEM) and (leaf_unit, leaf) != (unit.index, at):
                found += [base for base in self.base_values(self.units[leaf_unit], leaf) if base not in found]
        return found or [""]

    def _received_base(self, unit: Unit, op: tuple[int, ...]) -> list[ClassRef | str]:
        """A base that a method reads from its receiver, `class Inner(self.Base)`: a class in the body of the method's class, or
        of one behind it."""
        owner = unit.functions[unit.summary.ops[op[1]][1]].cls
        if owner is None:
            return [""]
        name = unit.summary.names[op[2]]
        self.read(("class", owner))
        home = self.units[owner.unit]
        held = [value for at in owner.members.get(name, ()) for value in self.resolve(home, at).labels]
        if name not in owner.members:
            inherited = self._inherited_type(owner, name, 0)
            held = [inherited] if inherited is not None else []
        found: list[ClassRef | str] = []
        for value in sorted(held, key=lambda v: v.key):
            if value.kind == CLASS and isinstance(value.ref, ClassRef):
                found.append(value.ref)
            elif value.kind == EXT:
                found.append(value.name)
        return found or [""]

    def _called_base(self, unit: Unit, op: tuple[int, ...]) -> list[ClassRef | str]:
        """Bases made by a call: a class factory of the standard library is external; `with_metaclass(M, B)` is B; a function
        that makes a class gives that class, with the classes that it is handed behind it."""
        callee = self.resolve(unit, op[1])
        names = {value.name for value in callee.labels if value.kind == EXT}
        found: list[ClassRef | str] = []
        for name in sorted(names):
            last = name.rpartition(".")[2]
            if last == "with_metaclass":
                for position in range(7, len(op), 3):
                    found += self.base_values(unit, op[position])
            else:
                found.append(f"{name}()")
        for value in sorted((v for v in callee.labels if isinstance(v.ref, FuncRef)), key=lambda v: v.key):
            assert isinstance(value.ref, FuncRef)
            found += self._mixed_in(value.ref)
            for position in range(2, len(op), 3):
                if op[position] == ArgKind.POSITIONAL and op[position + 2] != NOTHING:
                    found += [base for base in self.base_values(unit, op[position + 2]) if base and base not in found]
        return found or [""]

    def _mixed_in(self, ref: FuncRef) -> list[ClassRef | str]:
        """Classes that a function makes and returns."""
        self.read(("site", ref.unit))
        owner = self.units[ref.unit]
        made = [value for at in ref.decl.returns for value in self.resolve(owner, at).labels]
        return [value.ref for value in sorted(made, key=lambda v: v.key) if isinstance(value.ref, ClassRef)]

    def is_below(self, ref: ClassRef, ancestor: ClassRef) -> bool:
        """Whether a class is another one or derived from it."""
        return ref is ancestor or ancestor in self.mro(ref)
