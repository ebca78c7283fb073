"""Stratum 3: call sites and their values → edges, unresolved calls, uses. Reads the finished flow, adds nothing to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from smp.domain.graph import Edge, EdgeKind, Resolution, UnresolvedReason
from smp.domain.source import NOTHING, ArgKind, Op, Site, SiteKind
from smp.indexing.linking import bits
from smp.indexing.linking.acceptance import gives_awaitable
from smp.indexing.linking.accessors import Accessors
from smp.indexing.linking.candidates import Candidates
from smp.indexing.linking.choosing import Choosing
from smp.indexing.linking.drafts import Draft, by_static_type, finished, made_classes, without_rivals
from smp.indexing.linking.flow import UnitState
from smp.indexing.linking.objects import RECEIVER_CALLS
from smp.indexing.linking.overloads import Given
from smp.indexing.linking.program import Program, stronger
from smp.indexing.linking.rules import Rules
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import (
    BOUND,
    CLASS,
    CONT,
    EXT,
    FUNC,
    GEN,
    INST,
    MANY,
    MODULE,
    PARTIAL,
    SUPER,
    UNKNOWN,
    XBOUND,
    XINST,
    ClassRef,
    FuncRef,
    Value,
    by_key,
)

MAX_FLOW_TARGETS = 4
"""More targets of a call by flow than this are candidates (design/linking.md section 2) …"""
MAX_ELEMENTS = 32
MAX_TABLE_TARGETS = 512
"""… unless each came by what the text says, into a table, field or parameter that the call reads, and none is missing. More than
the first number only where the callee is a parameter, name or field, not one element of many; docs/benchmarks.md has the share
of such edges that was seen to be calls."""
HANDED = "handed"
"""`via` of a target that calls through values have handed on (`smp.indexing.linking.handing`)."""
MAX_CANDIDATES = 10
MAX_TEXT = 200
# Plain texts while gathering: hashing a member of an enumeration runs Python code.
_ELEMENTS = (Op.ITEM, Op.ITER, Op.UNPACK)
_STATIC = EdgeKind.CALLS_STATIC.value
_USES = EdgeKind.USES.value
_REFERENCES = EdgeKind.REFERENCES.value
_EXTERNAL, _AMBIGUOUS = UnresolvedReason.EXTERNAL.value, UnresolvedReason.AMBIGUOUS.value
_DYNAMIC, _NOT_IN_IMPORTS = UnresolvedReason.DYNAMIC.value, UnresolvedReason.NOT_IN_IMPORTS.value


class Target(NamedTuple):
    """A node that a call reaches, and how it was found."""

    node_id: str
    label: Resolution
    via: str = ""


class Emission(Choosing):
    """Edges of one file."""

    def __init__(self, program: Program, flow: Rules, candidates: Candidates, unit: Unit, state: UnitState) -> None:
        self.program = program
        self.flow = flow
        self.lookup = flow.lookup
        self.candidates = candidates
        self.accessors = Accessors(program, flow)
        self.unit = unit
        self.state = state
        self.names = unit.summary.names
        self.ops = unit.summary.ops
        self.definitions = unit.summary.definitions
        self.drafts: dict[tuple[str, int, str], Draft] = {}
        self.unresolved: dict[tuple[int, str, str], Draft] = {}
        self.given: tuple[Given, ...] = ()
        """The arguments of the call at hand, for languages with overloads."""
        self.awaited: set[int] | None = None

    def run(self) -> None:
        """Handles every site."""
        self.program.ask_for(self.unit.index, self.state.reads)
        interesting = self.flow.property_names
        for site in self.unit.summary.sites:
            kind = site.kind
            if kind == SiteKind.CALL:
                self.call(site)
            elif kind == SiteKind.GET:
                if self.names[self.ops[site.op][2]] in interesting:
                    self.accessed(
                        site, self.ops[site.op][1], self.names[self.ops[site.op][2]], bits.F_PROPERTY, "__get__"
                    )
            elif kind == SiteKind.USE:
                self.use(site, _USES)
            elif kind == SiteKind.PROTOCOL:
                self.protocol(site)
            elif kind == SiteKind.OPERATOR:
                self.operator(site)
            elif kind == SiteKind.REFERENCE:
                self.use(site, _REFERENCES)
            elif kind == SiteKind.DECORATOR:
                self.decorator(site)
            elif kind == SiteKind.SET:
                if self.names[site.names[0]] in interesting:
                    self.accessed(site, site.op, self.names[site.names[0]], bits.F_SETTER, "__set__")
            elif kind == SiteKind.DELETE and self.names[site.names[0]] in interesting:
                self.accessed(site, site.op, self.names[site.names[0]], bits.F_DELETER, "__delete__")

    # Gathering -------------------------------------------------------------------------------------------------------

    def edge(
        self, kind: str, owner: int, target: str, line: int, label: Resolution | None = None, via: str = ""
    ) -> Draft:
        """The draft of an edge, with this line in it."""
        key = (kind, owner, target)
        draft = self.drafts.get(key)
        if draft is None:
            draft = self.drafts[key] = Draft()
        draft.lines.add(line)
        if label is not None:
            best = label if draft.label is None else stronger(draft.label, label)
            if best is not draft.label:
                draft.label = best
                draft.via = via
        return draft

    def unsettled(self, site: Site, reason: str, name: str, candidates: tuple[str, ...] = ()) -> None:
        """A call that stays unresolved."""
        shown = (name or "?")[:MAX_TEXT]
        key = (site.owner, shown, reason)
        draft = self.unresolved.get(key)
        if draft is None:
            draft = self.unresolved[key] = Draft()
        draft.lines.add(site.line)
        draft.candidates.update(candidates)

    # Calls -----------------------------------------------------------------------------------------------------------

    def call(self, site: Site) -> None:
        callee = self.ops[site.op][1]
        text = self.names[site.text] if site.text != NOTHING else ""
        held = self.made(callee, self.best(self.state.values(callee))) if callee != NOTHING else []
        for made in made_classes(held) if self.flow.tables.plain_construction else ():
            self.edge(_USES, site.owner, made, site.line)
        resolved = self.program.resolve(self.unit, callee)
        for value in resolved.labels:
            if value.ref is not None:
                self.program.read(value.ref if value.kind == FUNC else ("class", value.ref))
        back = self.flow.given_back
        if resolved.labels and back and back.issuperset(value.ref for value in resolved.labels):
            # The decorators give the definition back; what else they return is for other arguments.
            held = [value for value in held if value in resolved.labels]
        if self.flow.tables.implicit_receiver and resolved.labels and self.ops[callee][0] == Op.PHI:
            held = [value for value in held if value.kind != XBOUND or value in resolved.labels]
        extra: set[str] = set()
        external: set[str] = set()
        if self.flow.tables.overloads:
            held, open_ = self.meant(site, held)
            if open_ and not held:
                self.unsettled(site, _AMBIGUOUS, text, tuple(sorted(open_)[:MAX_CANDIDATES]))
                return
            extra |= open_
        if self.flow.tables.checked_calls and callee != NOTHING:
            held = self.possible(site, held)
        if self.flow.tables.rivals:
            held, between = without_rivals(held)
            extra |= between
        if self.flow.tables.structural:
            held, between = by_static_type(held)
            extra |= between
        if self.flow.tables.tests_apart and self.unit.summary.tests:
            held = [value for value in held if value in resolved.labels or not self._of_another_test(value, extra)]
        limit = MAX_ELEMENTS if self.ops[callee][0] in _ELEMENTS else MAX_TABLE_TARGETS
        targets, many, known = self.reached(held, resolved.labels, extra, external, limit)
        if many and not targets:
            self.unsettled(site, _AMBIGUOUS, text, tuple(many[:MAX_CANDIDATES]))
            return
        extra.update(many[:MAX_CANDIDATES])
        source = self.program.import_source(self.unit, callee)
        reached = {target.node_id for target in targets}
        for target in targets:
            draft = self.edge(_STATIC, site.owner, target.node_id, site.line, target.label, target.via)
            draft.import_source = draft.import_source or source
            draft.candidates |= extra - reached
        several = len(external) > MAX_FLOW_TARGETS  # then none of the names says much; the source's words do
        for dotted in external:
            self.unsettled(site, _EXTERNAL, text if several or "object()" in dotted else dotted)
            self.called_back(site, dotted)
            self.runs_protocol(site, dotted)
        if not targets and not external and not known:
            self.unresolved_call(site, callee, text, missing=resolved.missing, below=extra)

    def _of_another_test(self, value: Value, extra: set[str]) -> bool:
        """A function of another file of tests, which the flow brings here through the code that both test: a stand-in that is
        put in there does not run in the tests of another file."""
        ref = value.ref
        if not isinstance(ref, FuncRef) or ref.unit in self.candidates.imported(self.unit):
            return False
        self.program.read(ref.unit)
        if not self.program.units[ref.unit].summary.tests:
            return False
        extra.update((ref.node_id,) if ref.node_id is not None else ())
        return True

    def reached(
        self,
        held: list[Value],
        static: Mapping[Value, Resolution],
        extra: set[str],
        external: set[str],
        limit: int = MAX_ELEMENTS,
    ) -> tuple[list[Target], list[str], bool]:
        """What calling any of these values reaches; what else they may reach, too much to be said of any; and whether any is
        understood."""
        targets: list[Target] = []
        known = False
        for value in held:
            reaching: list[Target] = []
            known = self.targets(value, static.get(value), reaching, extra, external) or known
            if value.weak and value.kind != INST:
                reaching = [Target(target.node_id, Resolution.FLOW, HANDED) for target in reaching]
            targets += reaching
        if len(targets) <= MAX_FLOW_TARGETS:
            return targets, [], known
        sure = {t.node_id for t in targets if t.label is not Resolution.FLOW}
        named = {t.node_id for t in targets if t.via != HANDED} - sure
        by_flow = sorted({t.node_id for t in targets} - sure)
        if len(by_flow) <= MAX_FLOW_TARGETS:
            return targets, [], known
        incomplete = any(value.kind == UNKNOWN for value in held)
        kept = sure if incomplete or len(named) > limit else sure | named
        return [t for t in targets if t.node_id in kept], by_flow, known

    def possible(self, site: Site, held: list[Value]) -> list[Value]:
        """Without the values that came here by flow and cannot be what is called."""
        if not any(self.flow.came_by_flow(self.state, value, site.op) for value in held):
            return held
        arguments = self.flow.call_arguments(self.unit, self.ops[site.op])
        kept = [value for value in held if not self.flow.refused(self.state, value, site.op, arguments)]
        if self.awaited is None:
            self.awaited = {op[1] for op in self.ops if op[0] == Op.AWAIT}
        if site.op in self.awaited:
            kept = [
                value
                for value in kept
                if gives_awaitable(value, self.lookup, self.flow.types)
                or not self.flow.by_value(self.state, value, site.op)
            ]
        return kept

    def runs_protocol(self, site: Site, dotted: str) -> None:
        """`len(x)` runs the `__len__` of x."""
        transfer = self.flow.tables.transfers.get(dotted)
        arguments = self.ops[site.op]
        if transfer is None or not transfer.protocol or len(arguments) < 5 or arguments[2] != ArgKind.POSITIONAL:
            return
        for value in self.best(self.state.values(arguments[4])):
            if value.kind == INST:
                for name in transfer.protocol:
                    self.dunder(site, value, name)

    def called_back(self, site: Site, dotted: str) -> None:
        """Functions of the project that a built-in is known to call when it is handed them."""
        tables = self.flow.tables
        transfer = tables.transfers.get(dotted)
        op = self.ops[site.op]
        if transfer is None or not tables.callback_edges:
            return
        handed = [op[4 + 3 * transfer.calls]] if transfer.calls >= 0 and len(op) >= 5 + 3 * transfer.calls else []
        if transfer.calls_keyword:
            named = [at for at in range(2, len(op), 3) if op[at] == ArgKind.KEYWORD]
            handed += [op[at + 2] for at in named if self.names[op[at + 1]] == transfer.calls_keyword]
        targets: list[Target] = []
        for value in (value for node in handed for value in self.best(self.state.values(node))):
            if value.kind in (FUNC, BOUND, PARTIAL):
                self.targets(value, Resolution.FLOW, targets, set(), set())
        if len(targets) <= MAX_FLOW_TARGETS:
            for target in targets:
                self.edge(_STATIC, site.owner, target.node_id, site.line, Resolution.FLOW, "callback")

    def best(self, values: Set[Value]) -> list[Value]:
        """Values in order, without assumptions that better evidence makes idle: construction over declaration."""
        if len(values) < 2:
            return [value for value in values if value.kind != MANY]
        exact = [v.ref for v in values if v.kind == INST and not v.below and isinstance(v.ref, ClassRef)]
        strong = any(v.kind == INST and not v.weak for v in values)
        kept = []
        for value in values:
            if value.kind == MANY:
                continue
            if value.kind == INST and isinstance(value.ref, ClassRef):
                if value.weak and strong:
                    continue
                if value.below and any(self.program.is_below(ref, value.ref) for ref in exact):
                    continue
            kept.append(value)
        return sorted(kept, key=by_key)

    def targets(
        self,
        value: Value,
        static: Resolution | None,
        targets: list[Target],
        extra: set[str],
        external: set[str],
    ) -> bool:
        """Nodes that calling a value reaches; says whether the value is one that is understood."""
        kind = value.kind
        if kind == FUNC:
            assert isinstance(value.ref, FuncRef)
            if value.ref.node_id is not None:
                targets.append(Target(value.ref.node_id, self.label_of(value.ref, static)))
            return True
        if kind == BOUND:
            assert isinstance(value.ref, FuncRef)
            assert value.recv is not None
            self.bound_target(value.ref, value.recv, targets, extra)
            return True
        if kind == CLASS and self.flow.tables.plain_construction:
            return True
        if kind == CLASS:
            assert isinstance(value.ref, ClassRef)
            if value.ref.node_id:
                label = static or (Resolution.RECEIVER_TYPE if value.below else Resolution.FLOW)
                targets.append(Target(value.ref.node_id, label))
            made_by = self.constructors(value.ref, extra)
            targets += [Target(f.node_id, Resolution.CONSTRUCTOR) for f in made_by if f.node_id is not None]
            for meta in self.flow.metaclasses(value):
                found = self.lookup.find(meta, self.flow.tables.call_method or "?")
                targets += [
                    Target(f.node_id, Resolution.PROTOCOL) for f in found.functions if f.node_id and not found.doubtful
                ]
            return True
        if kind == INST:
            assert isinstance(value.ref, ClassRef)
            found = self.lookup.find(value.ref, self.flow.tables.call_method or "?")
            if found.owner is not None and not found.doubtful:
                reached = [Target(f.node_id, Resolution.PROTOCOL) for f in found.functions if f.node_id]
                targets += reached
                return bool(reached)
            return False
        if kind == PARTIAL:
            assert value.recv is not None
            inner: list[Target] = []
            known = self.targets(value.recv, None, inner, extra, external)
            targets += [Target(t.node_id, Resolution.FLOW, "partial") for t in inner]
            return known
        if kind in (EXT, XBOUND):
            transfer = self.flow.tables.transfers.get(value.name)
            if value.recv is not None and transfer is not None and transfer.result in RECEIVER_CALLS:
                called: list[Target] = []
                known = self.targets(value.recv, None, called, extra, external)
                targets += [Target(t.node_id, Resolution.FLOW, "partial") for t in called]
                return known
            external.add(value.name)
            return True
        if kind == XINST and (self.flow.tables.call_method or not self.flow.tables.overloads):
            external.add(f"{value.name}.__call__")
            return True
        return kind in (CONT, GEN)

    def label_of(self, ref: FuncRef, static: Resolution | None) -> Resolution:
        """How a plain function was found."""
        if static is not None:
            return static
        if ref.cls is not None:
            return Resolution.RECEIVER_TYPE
        return Resolution.FLOW

    def bound_target(self, ref: FuncRef, recv: Value, targets: list[Target], extra: set[str]) -> None:
        """A method with its receiver; overrides below the receiver's class are further candidates."""
        owner = self.flow.class_of(recv)
        label = Resolution.RECEIVER_TYPE if ref.cls is owner else Resolution.HIERARCHY
        if ref.cls is None:
            label = Resolution.FLOW
        elif ref.decl.flags & bits.F_RECEIVER_PARAM and ref.decl.flags & bits.F_STATIC:
            label = Resolution.RECEIVER_TYPE  # a function that extends the receiver's type
        if ref.node_id is None:
            return
        targets.append(Target(ref.node_id, label))
        if recv.below and owner is not None:
            for lower in self.lookup.overrides(owner, ref.decl.name):
                if self.flow.tables.overloads and not self.lookup.replaces(lower, ref):
                    continue
                if lower.node_id is not None and lower.node_id != ref.node_id:
                    extra.add(lower.node_id)

    def unresolved_call(self, site: Site, callee: int, text: str, *, missing: bool, below: set[str]) -> None:
        """No target: says why, and what may be meant."""
        op = self.ops[callee] if callee != NOTHING else (0,)
        name = text
        if below:
            self.unsettled(site, _AMBIGUOUS, name, tuple(sorted(below)[:MAX_CANDIDATES]))
            return
        if op[0] == Op.UNBOUND or (op[0] == Op.IMPORT and missing):
            last = self.names[op[1]] if op[0] == Op.UNBOUND else self.unit.summary.imports[op[1]].name
            found = self.candidates.by_name(last)
            reason = _AMBIGUOUS if len(found) > 1 else _NOT_IN_IMPORTS
            self.unsettled(site, reason, name, found)
            return
        if op[0] in (Op.ATTR, Op.EXTENDED):
            attribute = self.names[op[2]]
            receivers = [v for v in self.state.values(op[1]) if v.kind not in (UNKNOWN, MANY)]
            if receivers and all(v.kind == MODULE for v in receivers):
                answers = any(value.kind == UNKNOWN for value in self.state.values(callee))
                self.unsettled(site, _DYNAMIC if answers else _NOT_IN_IMPORTS, name)
                return
            lower = self._below(receivers, attribute)
            if lower:
                self.unsettled(site, _AMBIGUOUS, name, lower)
                return
            arguments = self.ops[site.op]
            found = self.candidates.methods(self.unit, attribute, len(arguments[2:]) // 3)
            self.unsettled(site, _DYNAMIC, name, found)
            return
        self.unsettled(site, _DYNAMIC, name)

    def _below(self, receivers: list[Value], name: str) -> tuple[str, ...]:
        """Methods that only classes below the receiver's (or behind an unknown base) have."""
        found: set[str] = set()
        for value in receivers:
            ref = self.flow.class_of(value)
            if ref is None or value.kind not in (INST, CLASS, SUPER):
                continue
            own = self.lookup.find(ref, name)
            found |= {f.node_id for f in own.functions if f.node_id is not None}
            if value.below:
                found |= {f.node_id for f in self.lookup.overrides(ref, name) if f.node_id is not None}
        return tuple(sorted(found)[:MAX_CANDIDATES])

    def made(self, callee: int, held: list[Value]) -> list[Value]:
        """Values of `factory(…)` that is called: the function that the factory defines and returns, or a partial, or what one behind it does;
        what else the factory returns is for other arguments."""
        op = self.ops[callee] if callee != NOTHING else (0,)
        if op[0] != Op.CALL or len(held) < 2:
            return held
        factories = {
            (value.ref.unit, value.ref.decl.definition)
            for value in self.state.values(op[1])
            if isinstance(value.ref, FuncRef)
        }
        own = [v for v in held if v.kind == FUNC and v.ref is not None and (v.ref.unit, v.ref.decl.owner) in factories]
        partials = [value for value in held if value.kind == PARTIAL]
        if own or partials or not any(value.kind == FUNC and not value.weak for value in held):
            return own or partials or held
        return [value for value in held if value.kind in (FUNC, BOUND) and not value.weak]

    def decorator(self, site: Site) -> None:
        """A bare decorator: a call of the project's function, if it is one."""
        callee = self.ops[site.op][1]
        resolved = self.program.resolve(self.unit, callee)
        held = self.made(callee, self.best(self.state.values(callee)))
        for target in self.reached(held, resolved.labels, set(), set())[0]:
            self.edge(_STATIC, site.owner, target.node_id, site.line, target.label, target.via)

    # Properties and protocols -----------------------------------------------------------------------------------------

    def accessed(self, site: Site, holder: int, name: str, flag: int, dunder: str) -> None:
        """An attribute that is code: a call of the getter, setter or deleter."""
        hit, extra = self.accessors.reached(self.best(self.state.values(holder)), name, flag, dunder)
        if len(hit) <= MAX_FLOW_TARGETS:
            for node_id in sorted(hit):
                self.edge(_STATIC, site.owner, node_id, site.line, Resolution.PROPERTY).candidates |= extra - hit

    def protocol(self, site: Site) -> None:
        """Methods that syntax runs; silent where the receiver or the method is not the project's."""
        for value in self.best(self.state.values(site.op)):
            if value.kind == INST and isinstance(value.ref, ClassRef):
                for name in site.names:
                    self.dunder(site, value, self.names[name])
            elif value.kind == CLASS and isinstance(value.ref, ClassRef):
                self.created(site, value, value.ref)
            elif value.kind == SUPER and isinstance(value.ref, ClassRef):
                for name in site.names:
                    found = self.lookup.find(
                        self.flow.class_of(value.recv or value) or value.ref, self.names[name], value.ref
                    )
                    for ref in found.functions if not found.doubtful else ():
                        if ref.node_id is not None:
                            self.edge(_STATIC, site.owner, ref.node_id, site.line, Resolution.CONSTRUCTOR)

    def created(self, site: Site, value: Value, ref: ClassRef) -> None:
        """A class statement calls the hook of the class above (the first name), and the metaclass (the others)."""
        first, *others = [self.names[name] for name in site.names]
        found = [self.lookup.find(ref, first, ref)]
        found += [self.lookup.find(meta, name) for meta in self.flow.metaclasses(value) for name in others]
        for function in [f for one in found if not one.doubtful for f in one.functions]:
            if function.node_id is not None:
                self.edge(_STATIC, site.owner, function.node_id, site.line, Resolution.PROTOCOL)

    def dunder(self, site: Site, value: Value, name: str) -> bool:
        """Calls a protocol method of an instance, if the project has it."""
        assert isinstance(value.ref, ClassRef)
        found = self.lookup.find(value.ref, name)
        if found.doubtful or found.owner is None:
            return False
        functions: Sequence[FuncRef] = found.functions
        if self.flow.tables.rivals and len(functions) > 1:
            return False
        if self.flow.tables.overloads and len(functions) > 1:
            functions = self.flow.overloads.choose(functions, self.operands(site))
            functions = functions if len(functions) == 1 else ()
        for ref in functions:
            if ref.node_id is not None:
                draft = self.edge(_STATIC, site.owner, ref.node_id, site.line, Resolution.PROTOCOL)
                if value.below:
                    lower = self.lookup.overrides(value.ref, name)
                    draft.candidates |= {f.node_id for f in lower if f.node_id is not None}
        return bool(found.functions)

    def operator(self, site: Site) -> None:
        """The left operand's method if it has one, else the right operand's reflected one."""
        names = [self.names[name] for name in site.names]
        left, right = self.state.values(site.op), self.state.values(site.other)
        done = False
        for value in self.best(left):
            if value.kind == INST:
                done = any(self.dunder(site, value, name) for name in names[:-1]) or done
        if not done:
            for value in self.best(right):
                if value.kind == INST:
                    self.dunder(site, value, names[-1])

    # Uses ------------------------------------------------------------------------------------------------------------

    def use(self, site: Site, kind: str) -> None:
        """A function or class that is handed on, or named in a type."""
        op = self.ops[site.op]
        resolved = self.program.resolve(self.unit, site.op)
        for value in resolved.labels:
            node_id = value.ref.node_id if value.kind in (FUNC, CLASS) and value.ref is not None else None
            if node_id:  # classes without a name have an empty one
                self.edge(kind, site.owner, node_id, site.line, None)
        if op[0] in (Op.ATTR, Op.EXTENDED) and kind is _USES:
            for value in self.best(self.state.values(site.op)):
                named = value.kind == BOUND or (value.kind == FUNC and self.flow.tables.overloads)
                if named and value.ref is not None and value.ref.node_id is not None:
                    self.edge(kind, site.owner, value.ref.node_id, site.line, None)
        elif op[0] in (Op.VAR, Op.IMPORT):
            variable = self.variable(site.op)
            if variable is not None:
                self.edge(_REFERENCES, site.owner, variable, site.line, None)

    def variable(self, at: int) -> str | None:
        """The Variable node that a name means."""
        op = self.ops[at]
        if op[0] == Op.VAR:
            definition = self.unit.summary.variables[op[1]].definition
            return self.definitions[definition] if definition != NOTHING else None
        return self.candidates.imported_variable(self.unit, op[1])

    # Result ----------------------------------------------------------------------------------------------------------

    def edges(self) -> list[Edge]:
        """All edges of the sites."""
        return finished(self.drafts, self.unresolved, self.definitions)
