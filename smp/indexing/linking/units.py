"""The files of a program, with references to what they define."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from smp.domain.ids import FilePath
from smp.domain.source import NOTHING, FileSummary, Function, Op
from smp.indexing.linking import bits
from smp.indexing.linking.numbering import renumber, written_in
from smp.indexing.linking.values import ClassRef, Filling, FuncRef, filled

THIS = -1
"""Position, among parameters, of what a function without a class is called on, and of the class that `__new__` gets."""
MAKER = "__new__"
"""The method that gets the class to be made, and decides what making it gives."""
GETTERS = frozenset({"getattr", "__getattribute__"})
MAX_SPARSE = 3
MIN_SPARSE = 5_000
"""More empty numbers than this many times the ops of a file, and so many besides, are not kept."""


class Unit:
    """One file of the program."""

    __slots__ = (
        "_numbers",
        "classes",
        "exports",
        "functions",
        "given",
        "index",
        "params",
        "path",
        "stored",
        "stores",
        "summary",
    )

    def __init__(self, index: int, path: FilePath, summary: FileSummary) -> None:
        self.index = index
        self.path = path
        self.stored: Filling | None = None
        self.functions: list[FuncRef] = []
        self.classes: list[ClassRef] = []
        self.given = summary
        """The version as it was given; `summary` is the same in numbers of ops that stay (`numbering`)."""
        self._numbers: list[int] | None = None
        self.read(summary)

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            return filled(self, name)

    @classmethod
    def kept(cls, index: int, path: FilePath, stored: Filling) -> Unit:
        """A file that was linked before; all but its number and path is loaded when somebody asks."""
        unit = cls.__new__(cls)
        unit.index, unit.path, unit.stored = index, path, stored
        return unit

    def restore(self, summary: FileSummary, refs: KeptRefs) -> None:
        """Fills in one that was kept."""
        self.functions, self.classes = [], []
        self.given, self._numbers = summary, None
        self.read(summary)
        make_refs(self, refs)

    def read(self, summary: FileSummary) -> None:
        """Takes a version of the file."""
        self.summary = summary
        self.exports: dict[str, int] = dict(summary.exports.names)
        self.stores: dict[int, list[int]] = {}
        self.params: dict[tuple[int, int], int] = {}
        for at, op in enumerate(summary.ops):
            if op[0] == Op.STORE:
                self.stores.setdefault(op[1], []).append(op[2])
            elif op[0] == Op.PARAM:
                self.params[op[1], op[2]] = at
            elif op[0] == Op.RECEIVER and _is_given(summary.functions[op[1]]):
                self.params[op[1], THIS] = at

    def move(self, summary: FileSummary) -> None:
        """Takes another version of the file; ops that are still there keep their numbers."""
        self._numbers = renumber(self.summary, summary)
        self._take(summary, max(len(self.summary.ops), max(self._numbers, default=NOTHING) + 1))

    def reline(self, summary: FileSummary) -> None:
        """Takes a version that differs in lines only."""
        self._take(summary, len(self.summary.ops))

    def _take(self, summary: FileSummary, size: int) -> None:
        self.given = summary
        self.read(summary if self._numbers is None else written_in(self._numbers, size, summary))

    @property
    def is_sparse(self) -> bool:
        """Whether most of its numbers belong to ops that are gone."""
        return len(self.summary.ops) > MAX_SPARSE * len(self.given.ops) + MIN_SPARSE


class KeptRefs(Protocol):
    """References to what files defined when they were kept, by number; some may be known already."""

    def cls(self, unit: int, number: int) -> ClassRef:
        """Of a class."""

    def func(self, unit: int, number: int) -> FuncRef:
        """Of a function."""


def make_refs(unit: Unit, kept: KeptRefs | None = None) -> None:
    """References to what a file defines. Their keys say nothing of positions; those of a version before live on."""
    definitions = unit.summary.definitions
    classes, functions = {r.key: r for r in unit.classes}, {r.key: r for r in unit.functions}
    unit.classes, unit.functions = [], []
    counts: dict[str, int] = {}

    def unique(key: str) -> str:
        counts[key] = counts.get(key, 0) + 1
        return key if counts[key] == 1 else f"{key}\0{counts[key]}"  # no id has that: ids end in ~2 as well

    for index, cls in enumerate(unit.summary.classes):
        class_id = definitions[cls.definition] if cls.definition != NOTHING else ""
        key = unique(f"{unit.path}#{class_id or 'class@' + definitions[cls.owner]}")
        if kept is not None:
            ref = kept.cls(unit.index, index)
            ref.key, ref.node_id = key, class_id
        else:
            ref = classes.get(key) or ClassRef(unit.index, index, cls, key, class_id)
        ref.index, ref.decl = index, cls
        members: dict[str, tuple[int, ...]] = {}
        for name, op in (*cls.members, *cls.static_members):
            members[name] = (*members.get(name, ()), op)
        ref.members = members
        unit.classes.append(ref)
    for index, function in enumerate(unit.summary.functions):
        named = function.definition != NOTHING
        node_id = definitions[function.definition] if named else None
        ref_key = unique(f"{unit.path}#{node_id or 'lambda@' + definitions[function.owner]}")
        if kept is not None:
            func = kept.func(unit.index, index)
            func.key, func.node_id = ref_key, node_id
        else:
            func = functions.get(ref_key) or FuncRef(unit.index, index, function, ref_key, node_id)
        func.index, func.decl = index, function
        func.cls = unit.classes[function.cls] if function.cls != NOTHING else None
        _split_returns(unit, func)
        unit.functions.append(func)
    _tell_variants(unit)


def _tell_variants(unit: Unit) -> None:
    """Gives functions their overloads: those above of the same name in the same place; in a stub the last has them all."""
    declared: dict[tuple[ClassRef | None, int, str], list[FuncRef]] = {}
    last: dict[tuple[ClassRef | None, int, str], FuncRef] = {}
    for func in unit.functions:
        func.variants = ()
        place = (func.cls, func.decl.owner, func.decl.name)
        if func.decl.flags & bits.F_OVERLOAD:
            declared.setdefault(place, []).append(func)
        if place in declared:
            last[place] = func
    for place, func in last.items():
        func.variants = tuple(declared[place])


def _computed_by(unit: Unit, index: int, op: tuple[int, ...]) -> int:
    """The parameter that a function names the attribute of its receiver by which it returns: `return getattr(self, name)`."""
    ops, names = unit.summary.ops, unit.summary.names
    while op[0] == Op.DECLARED and op[1] != NOTHING:
        op = ops[op[1]]
    if op[0] != Op.CALL or op[1] == NOTHING or len(op) < 8 or op[4] == NOTHING or op[7] == NOTHING:
        return NOTHING
    callee, first, second = ops[op[1]], ops[op[4]], ops[op[7]]
    name = {int(Op.UNBOUND): 1, int(Op.ATTR): 2}.get(callee[0])
    if name is None or names[callee[name]] not in GETTERS:
        return NOTHING
    return second[2] if first == (int(Op.RECEIVER), index) and second[:2] == (int(Op.PARAM), index) else NOTHING


def _is_given(function: Function) -> bool:
    """Whether the receiver of a function comes with its calls."""
    return function.cls == NOTHING or function.name == MAKER


def _split_returns(unit: Unit, func: FuncRef) -> None:
    """Tells returns that are the function's own parameters or receiver from others."""
    symbolic: set[tuple[str, int]] = set()
    rest: list[int] = []
    ops, index, params = unit.summary.ops, func.index, func.decl.params
    stack = list(reversed(func.decl.returns))
    seen: set[int] = set()
    while stack:
        at = stack.pop()
        if at in seen or at == NOTHING:
            continue
        seen.add(at)
        op = ops[at]
        code = op[0]
        if code == Op.PHI:
            stack.extend(op[1:])
        elif code == Op.PARAM and op[1] == index and not params[op[2]].kind.startswith("var"):
            symbolic.add(("param", op[2]))
        elif code == Op.RECEIVER and op[1] == index:
            symbolic.add(("receiver", 0))
        elif code in (Op.CALL, Op.NEW) and op[1] != NOTHING and ops[op[1]] == (int(Op.RECEIVER), index):
            symbolic.add(("new", 0))
        elif (position := _computed_by(unit, index, op)) != NOTHING:
            symbolic.add(("computed", position))
        else:
            rest.append(at)
    func.symbolic = tuple(sorted(symbolic))
    func.rest = tuple(rest)
