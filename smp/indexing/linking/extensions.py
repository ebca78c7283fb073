"""Members and interfaces that a class is given outside its body: Go's methods, Rust's `impl`, C++'s `C::m`.

They are found anew at every link: which class is meant may change with any file. What of it changed is known by comparing
(`changed_extensions`), so nobody needs to have read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from smp.domain.source import NOTHING, Op
from smp.indexing.linking.values import CLASS, ClassRef, FuncRef

if TYPE_CHECKING:
    from smp.indexing.linking.program import Program
    from smp.indexing.linking.units import Unit

Extended = dict[ClassRef | FuncRef, object]
"""Per class its further members and promises, per function written outside its class that class."""


def build_extensions(program: Program, touched: Iterable[Unit]) -> None:
    """Gives every class what stands outside its body. touched: Files that are new or have changed."""
    program.extends = program.extends or any(unit.summary.extensions for unit in touched)
    if not program.extends:
        return
    for unit in program.ordered():
        for ref in unit.classes:
            ref.extended, ref.promises = {}, ()
    for unit in program.ordered():
        classes = [_classes(program, unit, extension.cls) for extension in unit.summary.extensions]
        for extension, refs in zip(unit.summary.extensions, classes, strict=True):
            for ref in refs:
                for name, at in (*extension.members, *extension.static_members):
                    ref.extended[name] = (*ref.extended.get(name, ()), (unit.index, at))
                lines = (*extension.lines, *[0] * len(extension.implements))
                ref.promises += tuple((unit.index, at, lines[n]) for n, at in enumerate(extension.implements))
        for function in unit.functions:
            if function.decl.extension != NOTHING:
                found = classes[function.decl.extension]
                function.cls = found[0] if found else None


def _classes(program: Program, unit: Unit, at: int) -> list[ClassRef]:
    """Classes of the program that a type names."""
    op = unit.summary.ops[at] if at != NOTHING else (0,)
    if op[0] == Op.APPLY:
        return _classes(program, unit, op[1])
    found = [value.ref for value in program.resolve(unit, at).labels if value.kind == CLASS]
    return sorted((ref for ref in found if isinstance(ref, ClassRef)), key=lambda ref: ref.key)


def promised(program: Program, ref: ClassRef) -> list[ClassRef | str]:
    """Interfaces that extensions of a class implement for it, in order."""
    found: list[ClassRef | str] = []
    for unit, at, _ in ref.promises:
        found += [base for base in program.base_values(program.units[unit], at) if base not in found]
    return found


def extended(program: Program) -> Extended:
    """What extensions say at present."""
    known: Extended = {}
    for unit in program.ordered() if program.extends else ():
        for ref in unit.classes:
            if ref.extended or ref.promises:
                known[ref] = (ref.extended, tuple((index, at) for index, at, _ in ref.promises))
        for function in unit.functions:
            if function.decl.extension != NOTHING:
                known[function] = function.cls
    return known


def changed_extensions(before: Extended, after: Extended) -> set[object]:
    """Tokens (`smp.indexing.linking.revision`) of what extensions say otherwise than before."""
    changed = [ref for ref in before.keys() | after.keys() if before.get(ref) != after.get(ref)]
    return {("class", ref) if isinstance(ref, ClassRef) else ref for ref in changed}
