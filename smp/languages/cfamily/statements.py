"""Statements and local declarations."""

from __future__ import annotations

import tree_sitter

from smp.domain.source import NOTHING, Op, Param, SiteKind
from smp.languages.cfamily.expressions import Expressions
from smp.languages.cfamily.syntax import components, declared, line_of, one_line, text_of
from smp.languages.cfamily.walk import ANY

_CLASSES = frozenset({"struct_specifier", "class_specifier", "union_specifier"})


class Statements(Expressions):
    """Walks statements in order."""

    def on_block(self, node: tree_sitter.Node) -> int:
        """`{ … }`: a scope."""
        self.locals.append({})
        for child in node.named_children:
            self.eval(child)
        self.locals.pop()
        return NOTHING

    def on_decision(self, node: tree_sitter.Node) -> int:
        """`while`, `for`, `do`, `case`, `catch`: a scope, and a decision unless it is `default`."""
        if node.type != "case_statement" or node.child_by_field_name("value") is not None:
            self.decide()
        self.locals.append({})
        for child in node.named_children:
            self.eval(child)
        self.locals.pop()
        return NOTHING

    def on_if(self, node: tree_sitter.Node) -> int:
        """`if … else if …`: a chain is walked as one, however long."""
        current: tree_sitter.Node | None = node
        while current is not None:
            self.decide()
            self.locals.append({})
            self.eval(current.child_by_field_name("condition"))
            self.eval(current.child_by_field_name("consequence"))
            alternative = current.child_by_field_name("alternative")
            inner = alternative.named_children[-1] if alternative is not None and alternative.named_children else None
            self.locals.pop()
            current = None
            if inner is not None and inner.type == "if_statement":
                current = inner
            elif inner is not None:
                self.eval(inner)
        return NOTHING

    def on_range_for(self, node: tree_sitter.Node) -> int:
        """`for (auto& x : xs)`."""
        self.decide()
        self.locals.append({})
        self.eval(node.child_by_field_name("initializer"))
        over = self.eval(node.child_by_field_name("right"))
        value = self.b.op(Op.ITER, over) if over != NOTHING else NOTHING
        if over != NOTHING:
            self._protocol(over, node, "begin")
        target = node.child_by_field_name("declarator")
        found = declared(target)
        if found.name is not None and found.name.type == "structured_binding_declarator":
            self._unpack(found.name, value)
        elif found.name is not None:
            kind = node.child_by_field_name("type")
            typed = self.typed(value, self.type_of(kind))
            self.bind(text_of(found.name), typed)
        self.eval(node.child_by_field_name("body"))
        self.locals.pop()
        return NOTHING

    def _unpack(self, pattern: tree_sitter.Node, value: int) -> None:
        for place, child in enumerate(pattern.named_children):
            part = self.b.op(Op.UNPACK, value, place, 0) if value != NOTHING else NOTHING
            self.bind(text_of(child), part)

    def on_return(self, node: tree_sitter.Node) -> int:
        """`return x`."""
        for child in node.named_children:
            value = self.eval(child)
            self.use_expression(value, child)
            if value != NOTHING:
                self.frame.returns.append(value)
        return NOTHING

    def on_declaration(self, node: tree_sitter.Node) -> int:
        """A local declaration."""
        kind = node.child_by_field_name("type")
        type_op = self.type_of(kind)
        plain = kind is not None and kind.type in ("primitive_type", "sized_type_specifier")
        for declarator in node.children_by_field_name("declarator"):
            self._declare_local(node, declarator, kind, type_op, plain=plain)
        return NOTHING

    def _declare_local(
        self,
        node: tree_sitter.Node,
        declarator: tree_sitter.Node,
        kind: tree_sitter.Node | None,
        type_op: int,
        *,
        plain: bool,
    ) -> None:
        found = declared(declarator)
        if found.name is None:
            return
        value_node = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
        if found.function is not None:
            if self.cpp and type_op != NOTHING and self._looks_constructed(found.function):
                made = self.called(
                    type_op, self._as_arguments(found.function), node, one_line(text_of(kind)) if kind else "", new=True
                )
                self.bind(text_of(found.name), made)
                return
            # A prototype inside a function: the name means what it means at file level.
            self.locals[-1][text_of(found.name)] = self.symbol(ANY, components(found.name), line_of(node), scope=())
            return
        if found.name.type == "structured_binding_declarator":
            self._unpack(found.name, self.eval(value_node))
            return
        name = text_of(found.name)
        if found.array:
            for size in declarator.children_by_field_name("size"):
                self.eval(size)
        if value_node is None:
            self.bind(
                name,
                self._default(node, found.pointer or found.array, type_op),
                plain=plain and not (found.pointer or found.called),
            )
            return
        if value_node.type == "argument_list" or (
            value_node.type == "initializer_list" and self.cpp and type_op != NOTHING and not found.array
        ):
            arguments = self.arguments(value_node)
            if type_op != NOTHING and not found.pointer:
                self.bind(
                    name, self.called(type_op, arguments, node, one_line(text_of(kind)) if kind else "", new=True)
                )
            else:
                self.bind(name, arguments[0] if arguments else NOTHING)
            return
        if value_node.type == "initializer_list" and type_op != NOTHING:
            made = self.instance(type_op)
            self.bind(name, made)
            self.initialise(value_node, made, type_op)
            return
        value = self.eval(value_node)
        self.use_expression(value, value_node)
        if plain and not (found.pointer or found.called or found.array):
            self.bind(name, NOTHING, plain=True)
        else:
            self.bind(name, self.typed(value, type_op))

    def _default(self, node: tree_sitter.Node, pointer: bool, type_op: int) -> int:
        """The value of a variable without initialiser: in C++ its default constructor runs, if it has one."""
        if type_op == NOTHING:
            return NOTHING
        if (
            not self.cpp
            or pointer
            or any(c.type == "storage_class_specifier" and text_of(c) == "extern" for c in node.children)
        ):
            return self.instance(type_op)
        value = self.b.op(Op.NEW, type_op)
        self.b.site(SiteKind.PROTOCOL, value, owner=self.frame.owner, line=line_of(node), names=("%constructor",))
        return value

    def _looks_constructed(self, function: tree_sitter.Node) -> bool:
        """`Foo x(y);` reads as a prototype: it is none if a parameter is the name of a local."""
        listed = function.child_by_field_name("parameters")
        for child in listed.named_children if listed is not None else ():
            kind = child.child_by_field_name("type") if child.type == "parameter_declaration" else None
            if kind is not None and kind.type == "type_identifier" and self.local(text_of(kind)) is not None:
                return True
        return False

    def _as_arguments(self, function: tree_sitter.Node) -> list[int]:
        listed = function.child_by_field_name("parameters")
        found = []
        for child in listed.named_children if listed is not None else ():
            kind = child.child_by_field_name("type")
            found.append((self.local(text_of(kind)) or NOTHING) if kind is not None else NOTHING)
        return found

    def initialise(self, node: tree_sitter.Node | None, made: int, type_op: int) -> None:
        """`{.read = f, g}`: the fields of a value; an inner list without a name is an element of an array of the type."""
        if node is None:
            return
        order = self._fields_of(type_op)
        place = 0
        for child in node.named_children:
            if child.type == "comment":
                continue
            name = ""
            value_node: tree_sitter.Node | None = child
            if child.type == "initializer_pair":
                value_node = child.child_by_field_name("value")
                marks = child.children_by_field_name("designator")
                if marks and marks[0].type == "field_designator":
                    name = text_of(marks[0].named_children[0])
                    place = order.index(name) + 1 if name in order else place
            elif child.type != "initializer_list" or place:
                name = order[place] if place < len(order) else f"#{place}"
                place += 1
            if value_node is None:
                continue
            if value_node.type == "initializer_list" and not name:
                self.initialise(value_node, made, type_op)
                continue
            if value_node.type == "initializer_list":
                inner = self.b.shared(Op.ATTR, made, self.b.name(name)) if made != NOTHING else NOTHING
                self._initialise_inner(value_node, inner)
                continue
            value = self.eval(value_node)
            self.use_expression(value, value_node)
            if name and value != NOTHING and made != NOTHING:
                self.b.op(Op.STORE_ATTR, made, self.b.name(name), value)

    def _initialise_inner(self, node: tree_sitter.Node, made: int) -> None:
        """A struct inside a struct: named fields of it; others only leave."""
        for child in node.named_children:
            value_node = child.child_by_field_name("value") if child.type == "initializer_pair" else child
            if value_node is None or value_node.type == "comment":
                continue
            value = self.eval(value_node)
            self.use_expression(value, value_node)
            marks = child.children_by_field_name("designator") if child.type == "initializer_pair" else []
            if marks and marks[0].type == "field_designator" and value != NOTHING and made != NOTHING:
                self.b.op(Op.STORE_ATTR, made, self.b.name(text_of(marks[0].named_children[0])), value)

    def _fields_of(self, type_op: int) -> list[str]:
        if type_op == NOTHING:
            return []
        op = self.b.ops[type_op]
        if op[0] == Op.IMPORT:
            return self.field_order.get(self.b.imports[op[1]].name, [])
        if op[0] == Op.CLASS:
            return self.field_order.get(f"%{op[1]}", [])
        return []

    # Functions ---------------------------------------------------------------------------------------------------------

    def parameters(self, function: tree_sitter.Node | None, slot: int) -> tuple[Param, ...]:
        """Parameters of a function, bound as locals."""
        listed = function.child_by_field_name("parameters") if function is not None else None
        found: list[Param] = []
        for child in listed.children if listed is not None else ():
            kind = child.type
            if kind in ("...", "variadic_parameter") or kind == "variadic_parameter_declaration":
                inner = declared(child.child_by_field_name("declarator"))
                found.append(Param(text_of(inner.name) if inner.name is not None else "...", "var_positional"))
            elif kind in ("parameter_declaration", "optional_parameter_declaration"):
                param = self._parameter(child, slot, len(found))
                if param is not None:
                    found.append(param)
            elif kind == "identifier":  # an old-style definition; the types follow
                found.append(Param(text_of(child)))
                self._bind_param(text_of(child), slot, len(found) - 1)
        return tuple(found)

    def _parameter(self, child: tree_sitter.Node, slot: int, place: int) -> Param | None:
        kind = child.child_by_field_name("type")
        target = declared(child.child_by_field_name("declarator"))
        if kind is not None and text_of(kind) == "void" and child.child_by_field_name("declarator") is None:
            return None
        pointed = target.pointer or target.called is not None or target.array
        plain = kind is not None and kind.type in ("primitive_type", "sized_type_specifier") and not pointed
        annotation = NOTHING if target.called is not None else self.type_of(kind)
        if (
            annotation == NOTHING
            and self.cpp
            and kind is not None
            and kind.type in ("primitive_type", "sized_type_specifier")
        ):
            annotation = self.scalar(text_of(kind), pointed)
        default = self.eval(child.child_by_field_name("default_value"))
        name = text_of(target.name) if target.name is not None else ""
        if child.type == "optional_parameter_declaration" and default == NOTHING:
            default = self.b.op(Op.PHI)  # a value, of which nothing is known
        if name and self.locals:
            if plain:
                self.locals[-1][name] = NOTHING
            else:
                self._bind_param(name, slot, place)
        return Param(name or f"_{place}", "positional", default, annotation)

    def _bind_param(self, name: str, slot: int, place: int) -> None:
        if self.locals:
            self.locals[-1][name] = self.b.shared(Op.PARAM, slot, place)
