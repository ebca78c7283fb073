"""What an unresolved call may mean: definitions of that name, never more than a hint."""

from __future__ import annotations

from smp.domain.source import NOTHING
from smp.indexing.linking import bits
from smp.indexing.linking.program import Program, Unit
from smp.indexing.linking.values import FuncRef

MAX_CANDIDATES = 10


class Candidates:
    """Names of a program's definitions."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._functions: dict[str, list[str]] = {}
        self._methods: dict[str, list[FuncRef]] = {}
        self._fitting: dict[tuple[str, int], list[FuncRef]] = {}
        self._near: dict[int, set[int]] = {}
        for unit in program.units:
            for ref in unit.functions:
                if ref.node_id is None or ref.decl.flags & (bits.F_OVERLOAD | bits.F_TEST):
                    continue
                if ref.cls is not None:
                    self._methods.setdefault(ref.decl.name, []).append(ref)
                elif ref.decl.owner == 0:
                    self._functions.setdefault(ref.decl.name, []).append(ref.node_id)
            for cls in unit.classes:
                if cls.decl.owner == 0 and cls.node_id:
                    self._functions.setdefault(cls.decl.name, []).append(cls.node_id)

    def by_name(self, name: str) -> tuple[str, ...]:
        """Module-level functions and classes of a name, by id."""
        return tuple(sorted(self._functions.get(name, ()))[:MAX_CANDIDATES])

    def methods(self, unit: Unit, name: str, arguments: int) -> tuple[str, ...]:
        """Methods of a name that take that many arguments; those in files that the unit imports come first."""
        if name.startswith("__") and name.endswith("__"):
            return ()
        key = (name, arguments)
        fitting = self._fitting.get(key)
        if fitting is None:
            fitting = self._fitting[key] = [ref for ref in self._methods.get(name, ()) if _fits(ref, arguments)]
        if len(fitting) > MAX_CANDIDATES:
            near = self._imported(unit)
            nearby = [ref for ref in fitting if ref.unit in near]
            fitting = nearby or fitting
        return tuple(sorted(ref.node_id for ref in fitting if ref.node_id is not None)[:MAX_CANDIDATES])

    def _imported(self, unit: Unit) -> set[int]:
        known = self._near.get(unit.index)
        if known is not None:
            return known
        found = self._near[unit.index] = {unit.index}
        for index in range(len(unit.summary.imports)):
            target = self.program.by_path.get(self.program.import_module(unit, index).path)
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
            for variable in here.summary.variables:
                if variable.module and variable.name == name and variable.definition != NOTHING:
                    return here.summary.definitions[variable.definition]
            onward = next((at for at, i in enumerate(here.summary.imports) if i.bound == name and i.name), None)
            if onward is None:
                return None
            name = here.summary.imports[onward].name
            module = self.program.import_module(here, onward)
        return None


def _fits(ref: FuncRef, arguments: int) -> bool:
    """Whether a method takes that many arguments besides its receiver."""
    shift = 1 if ref.decl.flags & bits.F_RECEIVER_PARAM else 0
    params = ref.decl.params[shift:]
    if any(p.kind.startswith("var") for p in params):
        return True
    required = sum(1 for p in params if p.default == NOTHING and p.kind != "keyword_only")
    return required <= arguments <= len(params)
