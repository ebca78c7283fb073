"""What of a file matters to whom: to nobody (lines), to itself alone (bodies), to the files that read it (interface).

`same_shape` says that two versions differ in line numbers at most. `interface` holds all that other files read of a file
by its text alone: exports, imports, classes, signatures, and every op that can be reached from those. What bodies do
reaches other files by the flow only, and is compared there.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from smp.domain.source import NOTHING, FileSummary, Function, encode_sites
from smp.indexing.linking.numbering import operand_kinds
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import FuncRef


class Interface(Struct, frozen=True, gc=False):
    """What any reader may read of a file, by parts.

    Attributes:
        common: Imports, stars, fixtures and the like, which are read as a whole.
        exports: Name → op. classes, functions: By key, what is written of each. local: Functions, likewise, that only the flow
            can bring to others, with the ops that they need.
        ops: What can be reached from those. links: The ops in each.
    """

    common: tuple[object, ...]
    exports: dict[str, int]
    classes: dict[str, object]
    functions: dict[str, object]
    local: dict[str, object]
    ops: dict[int, tuple[object, ...]]
    links: dict[int, tuple[int, ...]]


def changed_ops(old: Interface, new: Interface) -> set[int]:
    """Ops of the old version that mean something else now, or in which one does."""
    changed = {at for at, op in old.ops.items() if new.ops.get(at) != op}
    users: dict[int, list[int]] = {}
    for at, parts in old.links.items():
        for part in parts:
            users.setdefault(part, []).append(at)
    waiting = list(changed)
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in changed:
                changed.add(user)
                waiting.append(user)
    return changed


def same_shape(old: FileSummary, new: FileSummary) -> bool:
    """Whether two versions of a file differ in line numbers at most."""
    if old.ops != new.ops or old.names != new.names or old.definitions != new.definitions:
        return False
    return _without_lines(old) == _without_lines(new)


def _without_lines(summary: FileSummary) -> FileSummary:
    return replace(
        summary,
        site_rows=encode_sites(replace(site, line=0) for site in summary.sites),
        imports=tuple(replace(declaration, line=0) for declaration in summary.imports),
        classes=tuple(replace(cls, base_lines=tuple(0 for _ in cls.base_lines)) for cls in summary.classes),
        extensions=tuple(replace(one, lines=tuple(0 for _ in one.lines)) for one in summary.extensions),
    )


def interface(unit: Unit) -> Interface:
    """What other files see of a version of a file; to be taken before it is replaced."""
    return _Reader(unit).read()


def _placeless(decl: Function) -> Function:
    return replace(decl, definition=0, owner=min(decl.owner, 1), cls=0, extension=0, returns=(), yields=())


class _Reader:
    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.summary = unit.summary
        self.ops: dict[int, tuple[object, ...]] = {}
        self.links: dict[int, tuple[int, ...]] = {}
        self.functions: dict[str, object] = {}
        self._waiting: list[int] = []

    def read(self) -> Interface:
        summary, exports = self.summary, self.summary.exports
        self._waiting += [*(at for _, at in (*exports.names, *exports.types)), *exports.star_ops]
        classes: dict[str, object] = {}
        for ref in self.unit.classes:
            cls = ref.decl
            self._waiting += [*cls.bases, *cls.implements, cls.metaclass]
            self._waiting += [at for _, at in (*cls.members, *cls.static_members, *cls.annotations)]
            classes[ref.key] = replace(cls, definition=0, owner=min(cls.owner, 1), base_lines=())
        for extension in summary.extensions:
            self._waiting += [extension.cls, *extension.implements]
            self._waiting += [at for _, at in (*extension.members, *extension.static_members)]
        fixtures = [(name, self.unit.functions[index]) for name, index in summary.own_fixtures]
        for _, function in fixtures:
            self._function(function)
        self._follow()
        common = (
            replace(exports, names=()),
            tuple(replace(declaration, line=0, owner=0) for declaration in summary.imports),
            tuple(
                (v.name, summary.definitions[v.definition])
                for v in summary.variables
                if v.module and v.definition != NOTHING
            ),
            tuple((name, function.key) for name, function in fixtures),
            summary.module_kind,
        )
        ops, links, functions = dict(self.ops), dict(self.links), self.functions
        own: dict[str, object] = {}
        for function in self.unit.functions:
            if function.key not in functions:
                self.ops, self.functions = {}, {}
                self._function(function)
                self._follow()
                own[function.key] = (self.functions, self.ops)
                ops |= self.ops
                links |= self.links
        return Interface(common, dict(exports.names), classes, functions, own, ops, links)

    def _follow(self) -> None:
        while self._waiting:
            at = self._waiting.pop()
            if at != NOTHING and at not in self.ops:
                self.ops[at] = ()
                before = len(self._waiting)
                self.ops[at] = self._canonical(self.summary.ops[at])
                self.links[at] = tuple(self._waiting[before:])

    def _canonical(self, op: tuple[int, ...]) -> tuple[object, ...]:
        return (op[0], *(self._operand(kind, v) for kind, v in zip(operand_kinds(op), op[1:], strict=False)))

    def _operand(self, kind: str, value: int) -> object:
        if kind == "x" or value < 0:
            return value
        if kind == "o":
            self._waiting.append(value)
            return value
        if kind == "n":
            return self.summary.names[value]
        if kind == "i":
            return replace(self.summary.imports[value], line=0, owner=0)
        if kind == "f":
            return self._function(self.unit.functions[value])
        if kind == "c":
            return self.unit.classes[value].key
        stores = self.unit.stores.get(value, ())
        self._waiting += stores
        return tuple(stores)

    def _function(self, ref: FuncRef) -> str:
        if ref.key not in self.functions:
            decl = ref.decl
            self._waiting += [at for param in decl.params for at in (param.default, param.annotation)]
            self._waiting += [decl.annotation, decl.predicate]
            for one in ref.variants:
                self._waiting += [*(param.annotation for param in one.decl.params), one.decl.annotation]
            self.functions[ref.key] = (
                ref.node_id,
                # Which class an extension is of is compared by itself.
                ref.cls.key if ref.cls is not None and decl.extension == NOTHING else "",
                ref.symbolic,
                bool(ref.rest),
                bool(decl.yields),
                tuple((ref.index, position) in self.unit.params for position in range(len(decl.params))),
                tuple(_placeless(one.decl) for one in ref.variants),
                _placeless(decl),
            )
        return ref.key
