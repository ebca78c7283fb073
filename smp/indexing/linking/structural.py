"""Interfaces that a class implements by having their methods, in languages where nothing more is asked.

Names and numbers of parameters are compared, not their types: what comes of it are candidates of calls through the interface.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smp.domain.source import Op
from smp.indexing.linking import bits
from smp.indexing.linking.values import ClassRef

if TYPE_CHECKING:
    from smp.indexing.linking.program import Program

Methods = dict[str, int]
"""Name → number of parameters without the receiver."""


def implement_structurally(program: Program) -> None:
    """Puts under every interface the classes that have its methods."""
    own = {ref: _own_methods(program, ref) for unit in program.ordered() for ref in unit.classes}
    having: dict[str, list[ClassRef]] = {}
    sets: dict[ClassRef, Methods] = {}
    for ref in own:
        methods = sets[ref] = _methods(ref, own)
        if not ref.decl.flags & bits.C_INTERFACE:
            for name in methods:
                having.setdefault(name, []).append(ref)
    for ref in own:
        wanted = sets[ref]
        if not ref.decl.flags & bits.C_INTERFACE or not wanted or not ref.node_id:
            continue
        rarest = min(wanted, key=lambda name: (len(having.get(name, ())), name))
        for candidate in having.get(rarest, ()):
            if candidate not in ref.below and _has(program, candidate, sets[candidate], ref, wanted):
                ref.below.append(candidate)


def _has(program: Program, candidate: ClassRef, methods: Methods, interface: ClassRef, wanted: Methods) -> bool:
    if not candidate.node_id or any(methods.get(name) != count for name, count in wanted.items()):
        return False
    if all(name[:1].isupper() for name in wanted):
        return True
    # A method that is not exported is another in every package.
    folders = {program.units[ref.unit].path.rpartition("/")[0] for ref in (candidate, interface)}
    return len(folders) == 1


def _methods(ref: ClassRef, own: dict[ClassRef, Methods]) -> Methods:
    found: Methods = {}
    for entry in reversed(ref.mro):
        if isinstance(entry, ClassRef):
            found.update(own.get(entry, {}))
    return found


def _own_methods(program: Program, ref: ClassRef) -> Methods:
    found: Methods = {}
    places = [(name, ref.unit, at) for name, ops in ref.members.items() for at in ops]
    places += [(name, unit, at) for name, ops in ref.extended.items() for unit, at in ops]
    for name, unit, at in places:
        op = program.units[unit].summary.ops[at]
        if op[0] == Op.FUNC and name.isidentifier() and not name.startswith("__"):
            decl = program.units[unit].functions[op[1]].decl
            found[name] = len(decl.params) - (1 if decl.flags & bits.F_RECEIVER_PARAM else 0)
    return found
