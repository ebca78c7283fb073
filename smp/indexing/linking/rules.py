"""What each op does when a value reaches it: attributes, items, iteration, stores, and the start of every file."""

from __future__ import annotations

from smp.domain.source import NOTHING, Op
from smp.indexing.linking import bits
from smp.indexing.linking.computed_names import ComputedNames
from smp.indexing.linking.flow import (
    UnitState,
    element_key,
    field_key,
    lower_field_key,
    module_field_key,
    op_key,
    return_key,
    yield_key,
)
from smp.indexing.linking.iterating import MAX_INDEX
from smp.indexing.linking.kinds import passes
from smp.indexing.linking.lookup import Found, of_receiver
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
    SUPER,
    UNKNOWN,
    XBOUND,
    XINST,
    ClassRef,
    FuncRef,
    Value,
)

ANY = "[]"
"""Stands for the name of a field that is read by a computed key …"""
ANY_WRITTEN = "[]="
"""… or written by one."""


class Rules(ComputedNames):
    """The rules of the flow; numbers of rules are positions in `rules`."""

    # Start -----------------------------------------------------------------------------------------------------------

    def start(self, state: UnitState) -> None:
        unit = state.unit
        self.program.ask_for(state.index, state.reads)
        names = unit.summary.names
        for at, op in enumerate(unit.summary.ops):
            code = op[0]
            if code == Op.CALL or code == Op.NEW:
                if op[1] != NOTHING:
                    self.watch_op(state, op[1], at)
                    if self.tables.computed_names:
                        self.read_texts(state, op)
            elif code == Op.ATTR:
                self.watch_op(state, op[1], at)
            elif code == Op.CONST:
                state.add(at, self.intern.xinst(names[op[1]]))
            elif code in (Op.VAR, Op.UNBOUND, Op.IMPORT, Op.GLOBAL, Op.MEMBER_TYPE):
                self._start_name(state, at, op)
            elif code == Op.FUNC:
                state.add(at, self.intern.func(unit.functions[op[1]]))
            elif code == Op.CLASS:
                state.add(at, self.intern.cls(unit.classes[op[1]]))
                self.share_members(state, unit.classes[op[1]])
            elif code == Op.PHI:
                for part in op[1:]:
                    state.link(part, at)
            elif code == Op.DECORATED:
                state.link(op[1], at)
                self.watch(state, op[2], self.DECORATOR_RESULT, at)
            elif code == Op.STORE_ATTR:
                if op[3] != NOTHING or self.tables.loose_receivers:
                    self.watch(state, op[1], self.STORE_ATTR, names[op[2]], op[3])
            else:
                self._start_rest(state, at, op)

    def _start_name(self, state: UnitState, at: int, op: tuple[int, ...]) -> None:
        unit = state.unit
        if op[0] == Op.VAR:
            for stored in unit.stores.get(op[1], ()):
                state.link(stored, at)
            return
        resolved = self.program.resolve(unit, at)
        for value in resolved.labels:
            state.add(at, value)
        if resolved.unknown:
            state.add(at, self.intern.unknown)
        for owner, leaf in resolved.leaves:
            if (owner, leaf) != (unit.index, at):
                state.link(self.node(state, op_key(owner, leaf)), at)
        if op[0] == Op.IMPORT and self.patched:
            declaration = unit.summary.imports[op[1]]
            module = self.program.import_module(unit, op[1])
            target = self.program.by_path.get(module.path)
            if target is not None and (target.index, declaration.name) in self.patched:
                state.link(self.node(state, module_field_key(target.index, declaration.name)), at)

    def _start_rest(self, state: UnitState, at: int, op: tuple[int, ...]) -> None:
        code, unit = op[0], state.unit
        names = unit.summary.names
        if code == Op.PARAM:
            self._start_param(state, at, unit.functions[op[1]], op[2])
        elif code == Op.RECEIVER:
            value = self.receiver_value(unit.functions[op[1]])
            if value is not None:
                state.add(at, value)
        elif code == Op.SUPER:
            ref = unit.functions[op[2]] if op[2] != NOTHING else None
            recv = self.receiver_value(ref) if ref is not None else None
            if recv is None:
                recv = self.intern.inst(unit.classes[op[1]], below=True)
            state.add(at, self.intern.sup(unit.classes[op[1]], recv))
        elif code == Op.INSTANCE:
            for value in self.types.instances(unit, op[1]):
                state.add(at, value)
        elif code == Op.DECLARED:
            wanted = self.types.instances(unit, op[2])
            made = unit.summary.ops[op[1]][0] if op[1] != NOTHING else NOTHING
            if made not in (Op.MAP, Op.FUNC, Op.CLASS):  # what is written in place is exact
                for value in wanted:
                    state.add(at, value)
            if op[1] != NOTHING:
                self.watch(state, op[1], self.DECLARED, wanted, at)
        elif code == Op.ITEM:
            constant = names[op[2]] if op[2] != NOTHING else ""
            self.watch(state, op[1], self.ITEM, constant, op[3], at)
        elif code == Op.SEQ:
            self._start_sequence(state, at, op)
        elif code == Op.MAP:
            self._start_mapping(state, at, op)
        elif code == Op.ITER:
            self.watch(state, op[1], self.ITER, at)
        elif code == Op.ENTER:
            self.watch(state, op[1], self.ENTER, at)
        elif code == Op.AWAIT:
            self.watch(state, op[1], self.AWAIT, at)
        elif code == Op.UNPACK:
            self.watch(state, op[1], self.UNPACK, op[2], op[3], at)
        elif code == Op.NARROW:
            self._start_narrow(state, at, self.types.instances(unit, op[2]), op)
        elif code == Op.PREDICATE:
            types = self.types.predicate(unit, op[2], asserted=op[3] == 2)
            test = self.types.kind_test(unit, op[2]) if self.tables.kind_tests else ""
            if test:
                self.watch(state, op[1], self.OF_KIND, test, op[3], at)
            elif types:
                self._start_narrow(state, at, types, op)
            else:
                state.link(op[1], at)
        elif code == Op.HOLDER:
            self.hold(state, at, op)
        elif code == Op.EXTENDED:
            self.start_extended(state, at, op)
        elif code == Op.WHERE:
            self.watch(state, op[1], self.WHERE, names[op[2]], names[op[3]] if op[3] != NOTHING else "", op[4], at)
        elif code == Op.NAMED_LIKE:
            self.watch(state, op[1], self.NAMED_LIKE, names[op[2]], names[op[3]], at)
        elif code == Op.STORE_ITEM:
            if op[3] != NOTHING:
                place = f"={names[op[2]]}" if op[2] != NOTHING else "*"
                self.watch(state, op[1], self.STORE_ITEM, place, op[3])
        elif code == Op.BINARY:
            for side, other in ((op[1], op[2]), (op[2], op[1])):
                if side != NOTHING:
                    self.watch(state, side, self.BINARY, names[op[3]], other, at, side == op[1])

    def _start_param(self, state: UnitState, at: int, ref: FuncRef, position: int) -> None:
        param = ref.decl.params[position]
        unit = state.unit
        if param.kind == "var_positional" or param.kind == "var_keyword":
            kind = self.tables.tuple_type if param.kind == "var_positional" else self.tables.mapping_type
            container = self.intern.rest(kind, ref, position)
            state.add(at, container)
            for value in self.types.instances(unit, param.annotation):
                for which in ("*", "all"):
                    state.add(self.node(state, element_key(container, which)), value)
            return
        for value in self.types.instances(unit, param.annotation):
            state.add(at, value)
        if param.default != NOTHING:
            state.link(param.default, at)
        if param.injected:
            for fixture in self.fixtures(unit.path, param.name, ref):
                given = yield_key(fixture) if fixture.decl.yields else return_key(fixture)
                state.link(self.node(state, given), at)

    def _start_sequence(self, state: UnitState, at: int, op: tuple[int, ...]) -> None:
        container = self.intern.container(state.unit.summary.names[op[1]], state.index, at, state.unit.path)
        state.add(at, container)
        place = 0
        known = True
        for position in range(2, len(op), 2):
            mark, element = op[position], op[position + 1]
            if mark:
                known = False
            if not self.worth(state, element):
                place += 1
                continue
            if mark == 1:
                self.watch(state, element, self.SPREAD, container)
                continue
            which = f"#{place}" if known and place < MAX_INDEX else "*"
            for key in (which, "all"):
                state.link(element, self.node(state, element_key(container, key)))
            place += 1

    def _start_mapping(self, state: UnitState, at: int, op: tuple[int, ...]) -> None:
        names = state.unit.summary.names
        container = self.intern.container(names[op[1]], state.index, at, state.unit.path)
        state.add(at, container)
        for position in range(2, len(op), 2):
            key, element = op[position], op[position + 1]
            if not self.worth(state, element):
                continue
            if key == -2:
                if container.name in self.tables.record_types:
                    self.watch(state, element, self.SPREAD, container, ("all",))
                    continue
                self.watch(state, element, self.SPREAD, container, ("*", "all"), True)
                continue
            for which in (f"={names[key]}" if key != NOTHING else "*", "all"):
                state.link(element, self.node(state, element_key(container, which)))

    def _start_narrow(self, state: UnitState, at: int, types: tuple[Value, ...], op: tuple[int, ...]) -> None:
        if not op[3]:
            self.watch(state, op[1], self.NARROW_OUT, types, at)
            return
        self.watch(state, op[1], self.NARROW_IN, types, at)
        for value in types:
            if value.kind == INST and isinstance(value.ref, ClassRef):
                state.add(at, self.intern.inst(value.ref, below=True, weak=True))
            else:
                state.add(at, value)

    # Attributes ------------------------------------------------------------------------------------------------------

    def attribute(self, state: UnitState, value: Value, name: str, result: int) -> None:
        """`value.name`."""
        kind = value.kind
        inherent = self.inherent_method(value, name)
        if self.lent_attribute(state, value, name, result):
            return
        if inherent is not None:
            state.add(result, inherent)
        elif self.is_record(value):
            self.record_attribute(state, value, name, result)
        elif kind == INST:
            if value.recv is not None:
                self.namespace_attribute(state, value, name, result)
            self._instance_attribute(state, value, name, result)
        elif kind == CLASS:
            if value.recv is not None:
                self.namespace_attribute(state, value, name, result)
            self._class_attribute(state, value, name, result)
        elif kind == MODULE:
            self._module_attribute(state, value, name, result)
        elif kind == EXT:
            state.add(result, self.external(value.name, name))
        elif kind == CONT and value.name == self.tables.property_type:
            state.link(self.node(state, element_key(value, f"={name}")), result)
        elif kind == XINST and value.name in self.tables.record_types:
            for entry in self.types.item(value):
                state.add(result, entry)
        elif kind == XINST and value.name in self.tables.closed_types and name not in self.tables.members[value.name]:
            return  # a value that has no such attribute cannot be the one that is meant
        elif kind in (XINST, CONT, GEN):
            dotted = self.tables.generator_type if kind == GEN else value.name
            said = self.tables.properties.get(f"{dotted}.{name}")
            if said is not None:
                self.typed_result(state, said, value, NOTHING, result)
                return
            state.add(result, self.intern.xbound(self.dotted(dotted, name), value))
        elif kind == XBOUND:
            state.add(result, self.external(value.name, name))
        elif kind == SUPER:
            assert isinstance(value.ref, ClassRef)
            assert value.recv is not None
            found = self.lookup.find(self.class_of(value.recv) or value.ref, name, after=value.ref)
            self._members(state, found, value.recv, name, result)
        elif kind == FUNC:
            if name in self.stored_names and isinstance(value.ref, FuncRef):
                state.link(self.node(state, field_key(value.ref, name)), result)
        elif kind == UNKNOWN:
            state.add(result, value)

    def class_of(self, value: Value) -> ClassRef | None:
        """The class of an instance, or the class itself."""
        return value.ref if isinstance(value.ref, ClassRef) else None

    def dotted(self, base: str, name: str) -> str:
        """A longer external name. Bounded: what loops and recursion make of external objects must come to an end, so
        that beyond one attribute of a result, or six parts, it is some object."""
        head, called, tail = base.rpartition("()")
        if called:
            return "object()" if head == "object" or "." in tail else f"{base}.{name}"
        return f"{base}.{name}" if base.count(".") < 5 else "object()"

    def external(self, base: str, name: str) -> Value:
        """An external name below another."""
        return self.intern.ext(self.dotted(base, name))

    def _module_attribute(self, state: UnitState, value: Value, name: str, result: int) -> None:
        resolved = self.program.module_attribute(value, name)
        for found in resolved.labels:
            state.add(result, found)
        if resolved.unknown:
            state.add(result, self.intern.unknown)
        for owner, leaf in resolved.leaves:
            state.link(self.node(state, op_key(owner, leaf)), result)
        target = self.program.by_path.get(value.name)
        if target is not None and (target.index, name) in self.patched:
            state.link(self.node(state, module_field_key(target.index, name)), result)

    def _instance_attribute(self, state: UnitState, value: Value, name: str, result: int) -> None:
        ref = value.ref
        assert isinstance(ref, ClassRef)
        if name in ("__class__", self.tables.class_member):
            state.add(result, self.intern.cls(ref, below=value.below, made=value.recv))
            return
        found = self.lookup.find(ref, name)
        declared = self.lookup.declared_type(ref, name)
        if declared is not None:
            unit = self.program.units[declared[0]]
            owner = next(
                (
                    e
                    for e in self.program.mro(ref)
                    if isinstance(e, ClassRef) and (name, declared[1]) in e.decl.annotations
                ),
                None,
            )
            for instance in self.types.instances_for(unit, declared[1], value, owner):
                state.add(result, instance)
        if name in self.stored_names:
            wanted = self.types.instances(self.program.units[declared[0]], declared[1]) if declared is not None else ()
            for entry in self.program.mro(ref):
                if not isinstance(entry, ClassRef):
                    continue
                field = self.node(state, field_key(entry, name))
                if wanted and self.tables.structural:
                    self.watch(state, field, self.DECLARED, wanted, result)
                else:
                    state.link(field, result)
        plain = found.owner is not None and not found.functions and not found.classes
        if value.below and self.tables.checked_calls and (plain or declared):
            state.link(self.node(state, lower_field_key(ref, name)), result)
        if declared is not None and found.owner is None:
            return
        self._members(state, found, value, name, result)
        if found.owner is None:
            for base in self.given_bases(state, ref):
                self.watch(state, base, self.AROUND, name, result)

    def _members(self, state: UnitState, found: Found, recv: Value, name: str, result: int) -> None:
        """Members of a class read through a receiver (an instance, or a class for `super()` in class methods)."""
        if found.doubtful and found.owner is not None:
            state.add(result, self.intern.unknown)
            return
        is_class = recv.kind == CLASS
        for ref in of_receiver(found.functions, is_class=is_class):
            flags = ref.decl.flags
            if flags & bits.F_PROPERTY and not is_class:
                self.call_function(state, ref, recv, (), result)
            elif flags & (bits.F_SETTER | bits.F_DELETER):
                continue
            elif flags & bits.F_STATIC:
                state.add(result, self.intern.func(ref))
            elif flags & bits.F_CLASS_METHOD and not is_class:
                owner = self.class_of(recv)
                if owner is not None:
                    state.add(result, self.intern.bound(ref, self.intern.cls(owner, below=recv.below, made=recv.recv)))
            else:
                state.add(result, self.intern.bound(ref, recv))
        for cls in found.classes:
            state.add(result, self.intern.cls(cls))
        for owner_unit, leaf in found.others:
            source = self.node(state, op_key(owner_unit, leaf))
            if found.functions or not is_class:
                self.watch(state, source, self.BIND, recv, result)
            else:
                state.link(source, result)
        if found.owner is None and found.external:
            state.add(result, self.intern.xbound(found.external, recv))
            self.base_member(state, found.external, recv, result)

    def _class_attribute(self, state: UnitState, value: Value, name: str, result: int) -> None:
        ref = value.ref
        assert isinstance(ref, ClassRef)
        if name == self.tables.prototype_member:
            state.add(result, self.intern.inst(ref))
            return
        found = self.lookup.find(ref, name)
        if found.doubtful and found.owner is not None:
            state.add(result, self.intern.unknown)
            return
        for func in of_receiver(found.functions, is_class=True):
            flags = func.decl.flags
            if flags & bits.F_STATIC and flags & bits.F_PROPERTY:
                self.call_function(state, func, None, (), result)
            if flags & bits.F_PROPERTY and flags & bits.F_CLASS_METHOD:
                self.call_function(state, func, value, (), result)
            if flags & (bits.F_PROPERTY | bits.F_SETTER | bits.F_DELETER):
                continue
            is_bound = flags & bits.F_CLASS_METHOD and name != "__new__"
            state.add(result, self.intern.bound(func, value) if is_bound else self.intern.func(func))
        for cls in found.classes:
            state.add(result, self.intern.cls(cls))
        if found.owner is not None and found.owner.decl.flags & bits.C_ENUM and found.others:
            state.add(result, self.intern.inst(found.owner))
        else:
            for owner_unit, leaf in found.others:
                state.link(self.node(state, op_key(owner_unit, leaf)), result)
        if name in self.stored_names:
            for entry in self.program.mro(ref):
                if isinstance(entry, ClassRef):
                    state.link(self.node(state, field_key(entry, name)), result)
        if found.owner is None:
            if found.external:
                state.add(result, self.intern.ext(found.external))
            else:
                self._metaclass_attribute(state, value, name, result)

    def _metaclass_attribute(self, state: UnitState, value: Value, name: str, result: int) -> None:
        for meta in self.metaclasses(value):
            found = self.lookup.find(meta, name)
            for func in found.functions:
                if not found.doubtful and not func.decl.flags & bits.F_PROPERTY:
                    state.add(result, self.intern.bound(func, value))

    # Rules; each takes the file, the new value, and the operands given to `watch` --------------------------------------

    def on_bind(self, state: UnitState, value: Value, recv: Value, result: int) -> None:
        if value.kind == FUNC and isinstance(value.ref, FuncRef) and not value.ref.decl.flags & bits.F_STATIC:
            state.add(result, self.intern.bound(value.ref, recv))
        elif value.kind == INST and isinstance(value.ref, ClassRef):
            getter = self.lookup.find(value.ref, "__get__")
            if getter.functions and not getter.doubtful:
                for func in getter.functions:
                    self.call_function(state, func, value, (), result)
            else:
                state.add(result, value)
        elif value.kind == CONT and value.name == self.tables.property_type:
            given = state.new_node()
            state.add(given, recv)
            getter_node = self.node(state, element_key(value, f"={self.tables.property_keys[0]}"))
            self.watch(state, getter_node, self.CALL, NOTHING, ((0, "", given),), result)
        else:
            state.add(result, value)

    def on_of_kind(self, state: UnitState, value: Value, test: str, positive: int, result: int) -> None:
        """Where a test of what a value is holds, or not."""
        said = passes(value, test, self.lookup, self.tables)
        if said is None or said == bool(positive):
            state.add(result, value)

    def on_decorator_result(self, state: UnitState, value: Value, result: int) -> None:
        # An external decorator gives back something like the definition; only what the project puts there is added.
        if value.kind in (FUNC, BOUND, CLASS, INST):
            state.add(result, value)

    def on_store_attr(self, state: UnitState, value: Value, name: str, stored: int) -> None:
        if self.tables.loose_receivers and value.kind == INST and isinstance(value.ref, ClassRef):
            self._any_field(state, value, value.ref, name, stored)
        if stored == NOTHING:
            return
        if value.kind in (INST, CLASS) and isinstance(value.ref, ClassRef):
            state.link(stored, self.node(state, field_key(value.ref, name)))
            self.store_above(state, value.ref, name, stored)
            for base in self.given_bases(state, value.ref):
                self.watch(state, base, self.AROUND_STORE, name, stored)
            setter = self.lookup.find(value.ref, name)
            for func in setter.functions:
                if func.decl.flags & bits.F_SETTER and not setter.doubtful:
                    sink = state.new_node()
                    self.call_function(state, func, value, ((0, "", stored),), sink)
        elif value.kind == FUNC and isinstance(value.ref, FuncRef):
            state.link(stored, self.node(state, field_key(value.ref, name)))
        elif self.is_record(value):
            self.store_record(state, value, name, stored)
        elif value.kind == MODULE:
            target = self.program.by_path.get(value.name)
            if target is not None and not value.below:
                state.link(stored, self.node(state, module_field_key(target.index, name)))

    def _any_field(self, state: UnitState, value: Value, ref: ClassRef, name: str, stored: int) -> None:
        """A field that is written may be read by a computed key; one that the class itself has may be written by one."""
        if stored != NOTHING:
            state.link(stored, self.node(state, field_key(ref, ANY)))
        if value.below and ref.unit == state.index:
            state.link(self.node(state, field_key(ref, ANY_WRITTEN)), self.node(state, field_key(ref, name)))

    def on_store_item(self, state: UnitState, value: Value, key: str, stored: int) -> None:
        if value.kind == CONT:
            for which in (key, "all"):
                state.link(stored, self.node(state, element_key(value, which)))
        elif value.kind == INST and isinstance(value.ref, ClassRef):
            if self.tables.loose_receivers:
                state.link(self.marked(state, stored), self.node(state, field_key(value.ref, ANY_WRITTEN)))
            self.call_method(state, value, "__setitem__", ((0, "", NOTHING), (0, "", stored)), state.new_node())

    def on_spread(
        self,
        state: UnitState,
        value: Value,
        container: Value,
        keys: tuple[str, ...] = ("*", "all"),
        keyed: bool = False,
    ) -> None:
        if value.kind == CONT and keyed:
            self.spread_into(state, value, container)
        elif value.kind == CONT:
            source = self.node(state, element_key(value, "all"))
            for which in keys:
                state.link(source, self.node(state, element_key(container, which)))
        else:
            for which in keys:
                self.iterate(state, value, self.node(state, element_key(container, which)))

    def on_item(self, state: UnitState, value: Value, constant: str, index: int, result: int) -> None:
        kind = value.kind
        if kind == CONT:
            if index == -3:
                state.add(result, value)
            elif constant:
                self.read_key(state, value, f"={constant}", result)
                if constant.startswith("#"):
                    state.link(self.node(state, element_key(value, constant)), result)
            else:
                state.link(self.node(state, element_key(value, "all")), result)
        elif kind == MANY:
            if not self.is_one_of(value):
                state.add(result, self.one_of(value))
        elif kind == XINST:
            if index == -3:
                state.add(result, value)
            for found in self.types.item(value, index):
                state.add(result, found)
        elif kind == INST:
            if self.tables.pointers:
                if not self.call_method(state, value, "operator[]", ((0, "", NOTHING),), result):
                    state.add(result, value)
                return
            read = self.call_method(state, value, "__getitem__", ((0, "", NOTHING),), result)
            if not read and self.tables.opens_itself:
                state.add(result, value)
            self.keyed_member(state, value, result)
            if self.tables.loose_receivers and isinstance(value.ref, ClassRef):
                for entry in self.program.mro(value.ref):
                    if isinstance(entry, ClassRef):
                        state.link(self.node(state, field_key(entry, ANY)), result)
        elif kind in (CLASS, EXT, UNKNOWN):
            if kind == CLASS and isinstance(value.ref, ClassRef) and value.ref.decl.flags & bits.C_ENUM:
                state.add(result, self.intern.inst(value.ref))
            else:
                state.add(result, value)

    def on_await(self, state: UnitState, value: Value, result: int) -> None:
        for found in self.types.awaited(value):
            state.add(result, found)

    def on_binary(self, state: UnitState, value: Value, name: str, other: int, result: int, is_left: bool) -> None:
        if value.kind == INST:
            assert isinstance(value.ref, ClassRef)
            arguments = ((0, "", other),)
            plain = name.replace("__i", "__", 1) if name.startswith("__i") else name
            tried = (name, plain) if is_left else (plain.replace("__", "__r", 1),)
            for method in tried:
                if self.call_method(state, value, method, arguments, result):
                    break
        elif value.kind in (CONT, XINST) and is_left:
            state.add(result, value)

    CALL, ATTR, STORE_ATTR, STORE_ITEM, ITEM, ITER, ENTER, AWAIT, UNPACK, NARROW_IN, NARROW_OUT, BIND, BINARY, SPREAD, \
        DECORATOR_RESULT, ARGUMENT, STAR_ARGUMENT, MAP_ARGUMENT, TRANSFER, RECORD, DECLARED, CONTEXT, WHERE, EXTENDED, PART, \
        INFERRED, LIBRARY, HANDED, RECEIVES, BESIDE, AROUND, AROUND_STORE, KEYED, OF_KIND, NAMED_LIKE, \
        CLASS_BASE, NAMESPACE, MADE, COMPUTED, NAMED, NAMED_FROM, OVERLOAD, RETURNED = range(43)  # fmt: skip

    def bind_rules(self) -> None:
        """Fills the table of rules, in the order of their numbers."""
        self.rules = [
            self.on_call, self.attribute, self.on_store_attr, self.on_store_item, self.on_item, self.on_iter, self.on_enter,
            self.on_await, self.on_unpack, self.on_narrow_in, self.on_narrow_out, self.on_bind, self.on_binary, self.on_spread,
            self.on_decorator_result, self.on_argument, self.on_star_argument, self.on_map_argument, self.on_transfer,
            self.on_record, self.on_declared, self.contextual, self.on_where, self.on_extended,
            self.on_part, self.on_inferred, self.on_library, self.on_handed, self.on_receives, self.on_beside, self.on_around,
            self.on_around_store, self.on_keyed, self.on_of_kind, self.on_named_like, self.on_class_base, self.on_namespace,
            self.on_made, self.on_computed, self.on_named, self.on_named_from, self.on_overload, self.on_returned,
        ]  # fmt: skip
