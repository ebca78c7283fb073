"""Expressions: what they may hold, the calls in them, and what they write."""

from __future__ import annotations

from collections.abc import Callable

import tree_sitter

from smp.domain.source import NOTHING, ArgKind, Function, FunctionFlag, Op, SiteKind
from smp.languages.cfamily.syntax import (
    components,
    declared,
    inline_comments,
    line_of,
    one_line,
    template_arguments,
    text_of,
)
from smp.languages.cfamily.type_expressions import TypeExpressions
from smp.languages.cfamily.walk import ANY, CLASS_ONLY, FREE, Frame

_CASTS = frozenset({"static_cast", "dynamic_cast", "const_cast", "reinterpret_cast"})
_MAKERS = frozenset({"make_unique", "make_shared"})
_POINTER_CASTS = frozenset({"static_pointer_cast", "dynamic_pointer_cast", "const_pointer_cast"})
_TRANSPARENT = frozenset(
    {"parenthesized_expression", "comma_expression", "parameter_pack_expansion", "co_await_expression"}
)
_LITERALS = frozenset(
    {
        "number_literal", "string_literal", "char_literal", "concatenated_string", "raw_string_literal", "true", "false",
        "null", "nullptr", "sizeof_expression", "alignof_expression", "offsetof_expression", "primitive_type",
    }
)  # fmt: skip
_CONSTANTS = {
    "string_literal": "char*", "concatenated_string": "char*", "raw_string_literal": "char*", "char_literal": "char",
    "true": "bool", "false": "bool", "number_literal": "int",
}  # fmt: skip


class Expressions(TypeExpressions):
    """Evaluates expression nodes to ops."""

    handlers: dict[str, Callable[[tree_sitter.Node], int]]

    def eval(self, node: tree_sitter.Node | None) -> int:
        """Walks a node; gives the op of its value."""
        if node is None:
            return NOTHING
        kind = node.type
        if kind in _LITERALS and kind != "sizeof_expression":
            return self.b.const(_CONSTANTS[kind]) if self.cpp and kind in _CONSTANTS else NOTHING
        handler = self.handlers.get(kind)
        self.depth += 1
        try:
            if self.too_deep(node):
                return NOTHING
            if handler is not None:
                return handler(node)
            for child in node.named_children:
                self.eval(child)
            return NOTHING
        finally:
            self.depth -= 1

    # Names -----------------------------------------------------------------------------------------------------------

    def on_identifier(self, node: tree_sitter.Node) -> int:
        """A name as a value."""
        return self.name_value(text_of(node), node)

    def name_value(self, name: str, node: tree_sitter.Node) -> int:
        """What a plain name holds: a local, a member of the class around, or what the link finds."""
        found = self.local(name)
        if found is not None:
            return found
        if self.is_type_param(name):
            return NOTHING
        receiver = self.frame.receiver
        if receiver != NOTHING:
            member = self.b.shared(Op.ATTR, receiver, self.b.name(name))
            return self.b.phi([member, self.symbol(FREE, [name], line_of(node))])
        return self.symbol(ANY, [name], line_of(node))

    def on_qualified(self, node: tree_sitter.Node) -> int:
        """`a::b::f`: a name of a namespace, or a member of a class."""
        parts = components(node)
        if self.is_type_param(parts[0]):
            return NOTHING
        free = self.symbol(ANY, parts, line_of(node))
        holder = [part for part in parts[:-1] if part]
        if not holder:
            return free
        cls = self.symbol(CLASS_ONLY, holder, line_of(node))
        return self.b.phi([self.b.shared(Op.ATTR, cls, self.b.name(parts[-1])), free])

    def on_template_function(self, node: tree_sitter.Node) -> int:
        """`f<int>` as a value."""
        self._template_types(node)
        name = node.child_by_field_name("name")
        return self.name_value(text_of(name), node) if name is not None else NOTHING

    def _template_types(self, node: tree_sitter.Node) -> list[int]:
        listed = template_arguments(node)
        return [self.type_of(child) for child in listed.named_children] if listed is not None else []

    def on_this(self, node: tree_sitter.Node) -> int:
        """`this`."""
        return self.frame.receiver

    def on_field(self, node: tree_sitter.Node) -> int:
        """`a.b`, `a->b`."""
        target, name = node.child_by_field_name("argument"), node.child_by_field_name("field")
        held = self.eval(target)
        if name is None or held == NOTHING:
            return NOTHING
        parts = components(name)
        self._template_types(name)
        arrow = any(child.type == "->" for child in node.children)
        if arrow:
            if self.cpp:
                self._protocol(held, node, "operator->")
            held = self.b.shared(Op.AWAIT, held)
        value = self.b.shared(Op.ATTR, held, self.b.name(parts[-1]))
        if self.cpp and parts[-1] in ("first", "second"):
            return self.b.phi([value, self.b.shared(Op.UNPACK, held, int(parts[-1] == "second"), 0)])
        return value

    def on_subscript(self, node: tree_sitter.Node) -> int:
        """`a[i]`."""
        held = self.eval(node.child_by_field_name("argument"))
        for child in node.named_children[1:]:
            self.eval(child)
        if held == NOTHING:
            return NOTHING
        if self.cpp:
            self._protocol(held, node, "operator[]")
        return self.b.op(Op.ITEM, held, NOTHING, NOTHING, NOTHING)

    def _protocol(self, held: int, node: tree_sitter.Node, name: str) -> None:
        if held != NOTHING:
            self.b.site(SiteKind.PROTOCOL, held, owner=self.frame.owner, line=line_of(node), names=(name,))

    # Operators ---------------------------------------------------------------------------------------------------------

    def on_pointer(self, node: tree_sitter.Node) -> int:
        """`*p`, `&x`."""
        held = self.eval(node.child_by_field_name("argument"))
        operator = node.children[0].type if node.children else ""
        if operator == "&" or held == NOTHING:
            return held
        if self.cpp:
            self._protocol(held, node, "operator*")
        return self.b.shared(Op.AWAIT, held)

    def on_unary(self, node: tree_sitter.Node) -> int:
        """`!x`, `++x`."""
        held = self.eval(node.child_by_field_name("argument"))
        operator = node.child_by_field_name("operator")
        if self.cpp and operator is not None and held != NOTHING:
            self._protocol(held, node, f"operator{operator.type}")
        return held if node.type == "update_expression" else NOTHING

    def on_binary(self, node: tree_sitter.Node) -> int:
        """`a + b`: in C++ an operator of the project's class, if it has one. Long chains lean left; they are no recursion."""
        chain = [node]
        left = node.child_by_field_name("left")
        while left is not None and left.type == "binary_expression":
            chain.append(left)
            left = left.child_by_field_name("left")
        value = self.eval(left)
        for part in reversed(chain):
            operator = part.child_by_field_name("operator")
            sign = operator.type if operator is not None else ""
            if sign in ("&&", "||"):
                self.decide()
            other = self.eval(part.child_by_field_name("right"))
            value = self._operated(part, sign, value, other)
        return value

    def _operated(self, node: tree_sitter.Node, sign: str, left: int, right: int) -> int:
        if not self.cpp or left == NOTHING or not sign or self.b.ops[left][0] == Op.CONST or sign in ("&&", "||"):
            return NOTHING
        name = f"operator{sign}"
        self.b.site(
            SiteKind.OPERATOR, left, owner=self.frame.owner, line=line_of(node), names=(name, "-"), other=right
        )  # fmt: skip
        return self.b.op(Op.BINARY, left, right, self.b.name(name))

    def on_assignment(self, node: tree_sitter.Node) -> int:
        """`x = y`: a local, a field, an element; the value leaves."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        sign = operator.type if operator is not None else "="
        value = self.eval(right)
        if right is not None and right.type not in _LITERALS:
            self.use_expression(value, right)
        if left is None:
            return value
        if sign == "=":
            self.store(left, value)
        else:
            self._operated(node, sign, self.eval(left), value)
        return value

    def store(self, target: tree_sitter.Node, value: int) -> None:
        """Writes what an expression names."""
        while target.type == "parenthesized_expression" and target.named_children:
            target = target.named_children[0]
        if target.type == "identifier" and self.local(text_of(target)) is not None:
            self.assign(text_of(target), value)
            held = self.local(text_of(target)) or NOTHING
        elif target.type == "field_expression":
            holder, name = target.child_by_field_name("argument"), target.child_by_field_name("field")
            held = self.eval(holder)
            if held != NOTHING and name is not None:
                if any(child.type == "->" for child in target.children):
                    held = self.b.shared(Op.AWAIT, held)
                if value != NOTHING:
                    self.b.op(Op.STORE_ATTR, held, self.b.name(components(name)[-1]), value)
            return
        elif target.type == "subscript_expression":
            held = self.eval(target.child_by_field_name("argument"))
            for child in target.named_children[1:]:
                self.eval(child)
            if held != NOTHING and value != NOTHING:
                self.b.op(Op.STORE_ITEM, held, NOTHING, value)
            return
        else:
            held = self.eval(target)
            if target.type == "identifier" and value != NOTHING and self.frame.receiver != NOTHING:
                self.b.op(Op.STORE_ATTR, self.frame.receiver, self.b.name(text_of(target)), value)
            elif target.type == "identifier" and value != NOTHING:
                self.store_global(text_of(target), value)
        if self.cpp and held != NOTHING and self.b.ops[held][0] != Op.CONST:
            line, names = line_of(target), ("operator=", "-")
            self.b.site(SiteKind.OPERATOR, held, owner=self.frame.owner, line=line, names=names, other=value)

    def store_global(self, name: str, value: int) -> None:
        """Writes a variable of the file."""
        raise NotImplementedError

    def on_conditional(self, node: tree_sitter.Node) -> int:
        """`c ? a : b`."""
        self.decide()
        self.eval(node.child_by_field_name("condition"))
        parts = [self.eval(node.child_by_field_name(name)) for name in ("consequence", "alternative")]
        return self.b.phi(parts)

    def on_cast(self, node: tree_sitter.Node) -> int:
        """`(T)x`."""
        target = self.type_of(node.child_by_field_name("type"))
        return self.typed(self.eval(node.child_by_field_name("value")), target)

    def on_transparent(self, node: tree_sitter.Node) -> int:
        """Brackets; the last of a comma."""
        value = NOTHING
        for child in node.named_children:
            value = self.eval(child)
        return value

    # Calls -----------------------------------------------------------------------------------------------------------

    def on_call(self, node: tree_sitter.Node) -> int:
        """A call; what is handed over leaves."""
        callee, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if callee is None:
            return NOTHING
        special = self._special_call(node, callee, listed)
        if special is not None:
            return special
        if callee.type == "primitive_type":
            self.arguments(listed)
            return NOTHING
        target = self.eval(callee)
        while callee.type == "parenthesized_expression" and callee.named_children:
            callee = callee.named_children[0]
        if callee.type == "pointer_expression" and self.b.ops[target][0] == Op.AWAIT if target != NOTHING else False:
            target = self.b.phi([target, self.b.ops[target][1]])
        return self.called(target, self.arguments(listed), node, one_line(text_of(callee)))

    def called(self, target: int, arguments: list[int], node: tree_sitter.Node, text: str, *, new: bool = False) -> int:
        """The op and the site of a call."""
        flat: list[int] = []
        for argument in arguments:
            flat += (int(ArgKind.POSITIONAL), NOTHING, argument)
        value = self.b.op(Op.NEW if new else Op.CALL, target, *flat)
        self.b.site(SiteKind.CALL, value, owner=self.frame.owner, line=line_of(node), text=text)
        return value

    def arguments(self, listed: tree_sitter.Node | None) -> list[int]:
        """Values of the arguments."""
        found = []
        for child in listed.named_children if listed is not None else ():
            if child.type == "comment":
                continue
            value = self.eval(child)
            self.use_expression(value, child)
            found.append(value)
        return found

    def use_expression(self, value: int, node: tree_sitter.Node) -> None:
        """A value leaves, if the expression is a name that may be a function."""
        inner = node
        while (
            inner.type in ("pointer_expression", "parenthesized_expression", "cast_expression") and inner.named_children
        ):
            inner = inner.named_children[-1]
        if inner.type in ("identifier", "qualified_identifier", "template_function") and value != NOTHING:
            for part in self._name_ops(value):
                self.use(part, inner)

    def _name_ops(self, value: int) -> list[int]:
        op = self.b.ops[value]
        if op[0] == Op.PHI:
            return [part for inner in op[1:] for part in self._name_ops(inner)]
        if op[0] in (Op.DECLARED, Op.AWAIT):
            return self._name_ops(op[1]) if op[1] != NOTHING else []
        return [value] if op[0] in (Op.IMPORT, Op.ATTR) else []

    def _special_call(
        self, node: tree_sitter.Node, callee: tree_sitter.Node, listed: tree_sitter.Node | None
    ) -> int | None:
        """Casts, and the library's makers of smart pointers, whose constructor call is written nowhere else."""
        last = components(callee)[-1] if callee.type in ("template_function", "qualified_identifier") else ""
        if last not in _CASTS and last not in _MAKERS and last not in _POINTER_CASTS:
            return None
        types = self._template_types(callee)
        target = types[0] if types else NOTHING
        arguments = self.arguments(listed)
        if last in _MAKERS:
            if target == NOTHING:
                return NOTHING
            self.called(target, arguments, node, one_line(text_of(callee)), new=True)
            pointer = self.symbol(
                "type", ["std", "shared_ptr" if last == "make_shared" else "unique_ptr"], line_of(node)
            )
            return self.instance(self.b.op(Op.APPLY, pointer, target))
        return self.typed(arguments[0] if arguments else NOTHING, target)

    def on_new(self, node: tree_sitter.Node) -> int:
        """`new C(…)`."""
        kind = node.child_by_field_name("type")
        target = self.type_of(kind)
        arguments = self.arguments(node.child_by_field_name("arguments"))
        if target == NOTHING or kind is None:
            return NOTHING
        return self.called(target, arguments, node, one_line(text_of(kind)), new=True)

    def on_delete(self, node: tree_sitter.Node) -> int:
        """`delete p`: runs the destructor."""
        for child in node.named_children:
            held = self.eval(child)
            self._protocol(held, node, "%destructor")
        return NOTHING

    def on_compound_literal(self, node: tree_sitter.Node) -> int:
        """`(struct s){…}`, `C{…}`."""
        target = self.type_of(node.child_by_field_name("type"))
        value = node.child_by_field_name("value")
        if self.cpp and target != NOTHING:
            arguments = self.arguments(value)
            return self.called(target, arguments, node, one_line(text_of(node.named_children[0])), new=True)
        made = self.instance(target)
        self.initialise(value, made, target)
        return made

    def initialise(self, node: tree_sitter.Node | None, made: int, type_op: int) -> None:
        """`{.read = f, g}`: the fields of a value."""
        raise NotImplementedError

    def on_initializer_list(self, node: tree_sitter.Node) -> int:
        """`{a, b}` without a type: a container of its elements."""
        items: list[int] = []
        for child in node.named_children:
            if child.type == "comment":
                continue
            value = self.eval(child.child_by_field_name("value") if child.type == "initializer_pair" else child)
            inner = child.child_by_field_name("value") if child.type == "initializer_pair" else child
            if inner is not None:
                self.use_expression(value, inner)
            items += (0, value)
        if not any(value != NOTHING for value in items[1::2]):
            return NOTHING
        return self.b.op(Op.SEQ, self.b.name("array"), *items)

    def on_throw(self, node: tree_sitter.Node) -> int:
        """`throw E(…)`."""
        for child in node.named_children:
            inner = child
            if inner.type in ("call_expression", "compound_literal_expression"):
                inner = inner.named_children[0]
            if inner.type in ("identifier", "qualified_identifier", "type_identifier") and self.frame.definition:
                self.frame.definition.throws.add(one_line(text_of(inner)).replace("::", "."))
            self.eval(child)
        return NOTHING

    def on_comment(self, node: tree_sitter.Node) -> int:
        """A comment inside a definition."""
        if self.frame.definition is not None:
            self.frame.definition.comments.extend(inline_comments(node))
        return NOTHING

    # Lambdas -----------------------------------------------------------------------------------------------------------

    def on_lambda(self, node: tree_sitter.Node) -> int:
        """A lambda: a function without a name, whose calls belong to the definition around."""
        slot = self.b.function_slot()
        before = self.frame
        self.frame = Frame(before.owner, slot, before.receiver, before.definition)
        self.locals.append({})
        captures = node.child_by_field_name("captures")
        for child in captures.named_children if captures is not None else ():
            if child.type == "lambda_capture_initializer":
                name, value = child.child_by_field_name("left"), child.child_by_field_name("right")
                if name is not None:
                    self.bind(text_of(name), self.eval(value))
        function = declared(node.child_by_field_name("declarator")).called
        params = self.parameters(function, slot)
        self.eval(node.child_by_field_name("body"))
        self.locals.pop()
        self.b.functions[slot] = Function(
            name="<lambda>",
            definition=NOTHING,
            owner=before.owner,
            flags=int(FunctionFlag.LAMBDA | FunctionFlag.ARROW),
            params=params,
            returns=tuple(dict.fromkeys(self.frame.returns)),
        )
        self.frame = before
        return self.b.shared(Op.FUNC, slot)

    def parameters(self, function: tree_sitter.Node | None, slot: int) -> tuple:  # type: ignore[type-arg]
        """Parameters of a function, bound as locals."""
        raise NotImplementedError
