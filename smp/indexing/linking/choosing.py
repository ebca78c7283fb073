"""Of the overloads that a call may mean those that its arguments choose, once all is known of them."""

from __future__ import annotations

from smp.domain.source import Op, Site, SiteKind
from smp.indexing.linking.flow import UnitState
from smp.indexing.linking.lookup import Lookup
from smp.indexing.linking.overloads import Given
from smp.indexing.linking.program import Program
from smp.indexing.linking.rules import Rules
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import BOUND, FUNC, ClassRef, FuncRef, Value, by_key


class Choosing:
    """The part of emission that chooses among overloads."""

    program: Program
    flow: Rules
    lookup: Lookup
    unit: Unit
    state: UnitState
    ops: tuple[tuple[int, ...], ...]
    given: tuple[Given, ...]

    def meant(self, site: Site, held: list[Value]) -> tuple[list[Value], set[str]]:
        """Of overloads those that the arguments choose; and those between which they do not."""
        self.given = self.arguments(site)
        kept: list[Value] = []
        open_: set[str] = set()
        groups: dict[tuple[Value | None, str], list[Value]] = {}
        named = self.flow.tables.implicit_receiver
        for value in held:
            method = isinstance(value.ref, FuncRef) and (value.ref.cls is not None or (named and value.kind == FUNC))
            if value.kind in (FUNC, BOUND) and isinstance(value.ref, FuncRef) and method:
                groups.setdefault((value.recv, value.ref.decl.name if named else ""), []).append(value)
            else:
                kept.append(value)
        for (recv, _), values in groups.items():
            if named and (len(values) == 1 or self.flow.overloads.alternatives(values)):
                kept += values
                continue
            owner = self.flow.class_of(recv) if recv is not None else None
            order = list(self.program.mro(owner)) if owner is not None else []
            by_ref = {value.ref: value for value in values if isinstance(value.ref, FuncRef)}
            refs = sorted(by_ref, key=lambda ref: order.index(ref.cls) if ref.cls in order else len(order))
            chosen = self.flow.overloads.choose(refs, self.given, bound=recv is not None)
            if len(chosen) == 1:
                kept.append(by_ref[chosen[0]])
            elif (
                not chosen and owner is not None and recv is not None and self.lookup.outside(owner, refs[0].decl.name)
            ):
                kept.append(self.program.values.xbound(self.lookup.outside(owner, refs[0].decl.name), recv))
            else:
                open_ |= {ref.node_id for ref in chosen if ref.node_id is not None}
        return kept, open_

    def operands(self, site: Site) -> tuple[Given, ...]:
        """The arguments of what syntax runs: those of a construction, or the right side of an operator."""
        if site.kind == SiteKind.OPERATOR:
            return (Given(0, "", tuple(sorted(self.state.values(site.other), key=by_key))),)
        return self.arguments(site) if self.ops[site.op][0] in (Op.CALL, Op.NEW) else ()

    def arguments(self, site: Site) -> tuple[Given, ...]:
        """The arguments of a call with all that is known of their types."""
        op = self.ops[site.op]
        said = self.flow.overloads.given(self.unit, site.op)
        root = self.flow.tables.object_type  # of a computed value it means that its type is not known
        found = []
        for at, one in enumerate(said):
            held = [] if one.values else [v for v in self.state.values(op[4 + 3 * at]) if v.name != root]
            found.append(one if one.values else one._replace(values=tuple(sorted(held, key=by_key))))
        return tuple(found)

    def constructors(self, ref: ClassRef, extra: set[str]) -> list[FuncRef]:
        """Constructors that run; of overloads the one that the arguments choose."""
        found = self.lookup.constructors(ref)
        if not self.flow.tables.overloads or not found:
            return found
        chosen = self.flow.overloads.choose(found, self.given)
        if len(chosen) > 1:
            extra |= {func.node_id for func in chosen if func.node_id is not None}
            return []
        return chosen
