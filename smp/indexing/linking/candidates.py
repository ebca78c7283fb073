"""What an unresolved call may mean: definitions of that name, never more than a hint."""

from __future__ import annotations

from typing import NamedTuple

from smp.domain.source import NOTHING
from smp.indexing.linking import bits
from smp.indexing.linking.program import Program
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import FuncRef

MAX_CANDIDATES = 10


class Method(NamedTuple):
    """A method, and the fewest and most arguments that it takes besides its receiver (-1: any number)."""

    unit: int
    node_id: str
    least: int
    most: int


class Candidates:
    """Names of a program's definitions."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.functions: dict[str, list[tuple[int, str]]] = {}
        """By name (file, id)."""
        self.by_name_methods: dict[str, list[Method]] = {}
        self.offers: dict[int, dict[str, list[object]]] = {}
        """By file what it offers under a name."""
        self._fitting: dict[tuple[str, int], list[Method]] = {}
        self._near: dict[int, set[int]] = {}

    def put(self, unit: Unit, *, gone: bool = False) -> set[str]:
        """Takes in a version of a file, or its end; gives the names that mean something else than before."""
        before = self.offers.pop(unit.index, {})
        for name in before:
            self.functions[name] = [entry for entry in self.functions.get(name, ()) if entry[0] != unit.index]
            self.by_name_methods[name] = [m for m in self.by_name_methods.get(name, ()) if m.unit != unit.index]
        now: dict[str, list[object]] = {}
        if not gone:
            self._take(unit, now)
            self.offers[unit.index] = now
        self._fitting, self._near = {}, {}
        return {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}

    def _take(self, unit: Unit, offered: dict[str, list[object]]) -> None:
        for ref in unit.functions:
            if ref.node_id is None or ref.decl.flags & (bits.F_OVERLOAD | bits.F_TEST):
                continue
            if ref.cls is not None or ref.decl.extension != NOTHING:
                least, most = _arity(ref)
                method = Method(unit.index, ref.node_id, least, most)
                self.by_name_methods.setdefault(ref.decl.name, []).append(method)
                offered.setdefault(ref.decl.name, []).append((ref.node_id, least, most))
            elif ref.decl.owner == 0:
                self.functions.setdefault(ref.decl.name, []).append((unit.index, ref.node_id))
                offered.setdefault(ref.decl.name, []).append(ref.node_id)
        for cls in unit.classes:
            if cls.decl.owner == 0 and cls.node_id:
                self.functions.setdefault(cls.decl.name, []).append((unit.index, cls.node_id))
                offered.setdefault(cls.decl.name, []).append(cls.node_id)

    def by_name(self, name: str) -> tuple[str, ...]:
        """Module-level functions and classes of a name, by id."""
        return tuple(sorted(node_id for _, node_id in self.functions.get(name, ()))[:MAX_CANDIDATES])

    def methods(self, unit: Unit, name: str, arguments: int) -> tuple[str, ...]:
        """Methods of a name that take that many arguments; those in files that the unit imports come first."""
        if name.startswith("__") and name.endswith("__"):
            return ()
        key = (name, arguments)
        fitting = self._fitting.get(key)
        if fitting is None:
            known = self.by_name_methods.get(name, ())
            fitting = self._fitting[key] = [m for m in known if m.most < 0 or m.least <= arguments <= m.most]
        if len(fitting) > MAX_CANDIDATES:
            near = self.imported(unit)
            nearby = [method for method in fitting if method.unit in near]
            fitting = nearby or fitting
        return tuple(sorted(method.node_id for method in fitting)[:MAX_CANDIDATES])

    def imported(self, unit: Unit) -> set[int]:
        """A file and those that its imports name."""
        known = self._near.get(unit.index)
        if known is not None:
            return known
        found = self._near[unit.index] = {unit.index}
        for index in range(len(unit.summary.imports)):
            module = self.program.import_module(unit, index)
            for path in (module.path, *module.files):
                target = self.program.by_path.get(path)
                if target is not None:
                    found.add(target.index)
        return found

    def imported_variable(self, unit: Unit, index: int) -> str | None:
        """The Variable node that an import brings in."""
        name, here = unit.summary.imports[index].name, unit
        module = self.program.import_module(unit, index)
        for _ in range(8):
            target = self.program.by_path.get(module.path)
            if not name or target is None:
                return None
            here = target
            self.program.read(target.index)
            for variable in here.summary.variables:
                if variable.module and variable.name == name and variable.definition != NOTHING:
                    return here.summary.definitions[variable.definition]
            onward = next((at for at, i in enumerate(here.summary.imports) if i.bound == name and i.name), None)
            if onward is None:
                return None
            name = here.summary.imports[onward].name
            module = self.program.import_module(here, onward)
        return None


def _arity(ref: FuncRef) -> tuple[int, int]:
    """The fewest and most arguments that a method takes besides its receiver; -1: any number."""
    shift = 1 if ref.decl.flags & bits.F_RECEIVER_PARAM else 0
    params = ref.decl.params[shift:]
    if any(p.kind.startswith("var") for p in params):
        return 0, -1
    return sum(1 for p in params if p.default == NOTHING and p.kind != "keyword_only"), len(params)
