"""Go's expressions → ops and sites: `expr` gives the value of one that is used, `quiet` of one that only leads on."""

from __future__ import annotations

from collections.abc import Callable

import tree_sitter

from smp.domain.source import NOTHING, ArgKind, FunctionFlag, Op
from smp.languages.blocks import Local
from smp.languages.declared import text_of
from smp.languages.go.types import BASIC, TUPLE, TYPES, TypeWalk

_NAMES = frozenset({"identifier", "selector_expression"})


class ExpressionWalk(TypeWalk):
    """Values of expressions."""

    places: dict[int, int]
    """Function literals that have a definition of their own: offset → its index."""

    def expr(self, node: tree_sitter.Node) -> int:
        """The value of an expression that is used."""
        value = self.quiet(node)
        if value != NOTHING and unwrapped(node).type in _NAMES:
            self.use(value, node)
        return value

    def quiet(self, node: tree_sitter.Node) -> int:
        """The value of an expression that only leads on."""
        if self.too_deep(node):
            return NOTHING
        handler = _EXPRESSIONS.get(node.type)
        self.depth += 1
        try:
            return handler(self, node) if handler is not None else self.parts(node)
        finally:
            self.depth -= 1

    def parts(self, node: tree_sitter.Node) -> int:
        """For syntax without a value of interest: its parts are walked."""
        for child in node.named_children:
            if child.type != "comment":
                self.expr(child)
        return NOTHING

    def listed(self, node: tree_sitter.Node | None) -> list[int]:
        """Values of a list of expressions."""
        if node is None:
            return []
        nodes = [node] if node.type != "expression_list" else [c for c in node.named_children if c.type != "comment"]
        return [self.expr(child) for child in nodes]

    def _nothing(self, node: tree_sitter.Node) -> int:
        return NOTHING

    def _text(self, node: tree_sitter.Node) -> int:
        return self.b.const("string")

    def _identifier(self, node: tree_sitter.Node) -> int:
        name = text_of(node)
        if name == "_":
            return NOTHING
        known = self.find(name)
        if known is None and name in self.imports:
            return self.package(name)
        return self.load(name)

    def _selector(self, node: tree_sitter.Node) -> int:
        operand, field = node.child_by_field_name("operand"), node.child_by_field_name("field")
        if operand is None or field is None:
            return self.parts(node)
        return self.attribute(self.quiet(operand), text_of(field))

    def _inner(self, node: tree_sitter.Node) -> int:
        inner = next((c for c in node.named_children if c.type != "comment"), None)
        return self.quiet(inner) if inner is not None else NOTHING

    def _unary(self, node: tree_sitter.Node) -> int:
        operand = node.child_by_field_name("operand")
        if operand is None:
            return self.parts(node)
        operator = node.children[0].type
        value = self.expr(operand)
        if operator == "<-":
            return self.b.op(Op.ITER, value) if value != NOTHING else NOTHING
        return value if operator in ("&", "*") else NOTHING

    def _binary(self, node: tree_sitter.Node) -> int:
        """Chains without recursion: generated files add up thousands of terms."""
        rights: list[tree_sitter.Node] = []
        current: tree_sitter.Node | None = node
        while current is not None and current.type == "binary_expression":
            right = current.child_by_field_name("right")
            if right is not None:
                rights.append(right)
            current = current.child_by_field_name("left")
        if current is not None:
            self.expr(current)
        for right in reversed(rights):
            self.expr(right)
        return NOTHING

    def _index(self, node: tree_sitter.Node) -> int:
        operand, index = node.child_by_field_name("operand"), node.child_by_field_name("index")
        if operand is None or index is None:
            return self.parts(node)
        value = self.quiet(operand)
        self.expr(index)
        if value == NOTHING:
            return NOTHING
        if self.b.ops[value][0] in (Op.FUNC, Op.CLASS):
            return value  # `f[T]`: a function for given type arguments
        place = int(text_of(index)) if index.type == "int_literal" and text_of(index).isdecimal() else NOTHING
        return self.b.op(Op.ITEM, value, NOTHING, min(place, 1000), NOTHING)

    def _slice(self, node: tree_sitter.Node) -> int:
        operand = node.child_by_field_name("operand")
        value = self.expr(operand) if operand is not None else NOTHING
        for field in ("start", "end", "capacity"):
            part = node.child_by_field_name(field)
            if part is not None:
                self.expr(part)
        return value

    def _assertion(self, node: tree_sitter.Node) -> int:
        operand = node.child_by_field_name("operand")
        if operand is not None:
            self.expr(operand)
        return self.instance(self.type_of(node.child_by_field_name("type")))

    def _conversion(self, node: tree_sitter.Node) -> int:
        operand, type_node = node.child_by_field_name("operand"), node.child_by_field_name("type")
        base = type_node.child_by_field_name("type") if type_node is not None else None
        if type_node is not None and type_node.type == "generic_type" and base is not None and operand is not None:
            # `F[A](x)` looks like a conversion, and is one if F is a type.
            callee = self.type_of(base)
            self.type_of(type_node.child_by_field_name("type_arguments"))
            return self.call(callee, self.positional([self.expr(operand)]), type_node, base)
        value = self.expr(operand) if operand is not None else NOTHING
        return self.declared(value, self.type_of(type_node))

    def declared(self, value: int, type_op: int) -> int:
        """A value whose type is declared."""
        if type_op == NOTHING:
            return value
        return self.b.op(Op.DECLARED, value, type_op) if value != NOTHING else self.instance(type_op)

    def _instantiated(self, node: tree_sitter.Node) -> int:
        """`f[A, B]`."""
        return self._inner(node)

    # Literals --------------------------------------------------------------------------------------------------------

    def _composite(self, node: tree_sitter.Node) -> int:
        type_node, body = node.child_by_field_name("type"), node.child_by_field_name("body")
        type_op = self.type_of(type_node)
        if type_node is not None and type_op != NOTHING:
            self.use(type_op, type_node)
        return self.literal(body, type_node, type_op) if body is not None else NOTHING

    def literal(self, body: tree_sitter.Node, type_node: tree_sitter.Node | None, type_op: int) -> int:
        """The value that braces make: a struct whose fields are set, or a container."""
        kind = type_node.type if type_node is not None else ""
        if kind in ("slice_type", "array_type", "implicit_length_array_type", "map_type"):
            assert type_node is not None
            return self._container(body, type_node, type_op)
        made = self.made(type_op)
        for child in body.named_children:
            if child.type == "comment":
                continue
            key, value = _keyed(child)
            element = self._element(value, None, NOTHING)
            if key is not None and made != NOTHING and element != NOTHING and key.type == "identifier":
                self.b.op(Op.STORE_ATTR, made, self.b.name(text_of(key)), element)
            elif key is not None and key.type != "identifier":
                self.expr(key)
        return made

    def _container(self, body: tree_sitter.Node, type_node: tree_sitter.Node, type_op: int) -> int:
        inner = type_node.child_by_field_name("value" if type_node.type == "map_type" else "element")
        operands: list[int] = []
        inner_op = self.type_of(inner)
        for child in body.named_children:
            if child.type == "comment":
                continue
            key, value = _keyed(child)
            if key is not None and key.type != "identifier":
                if key.type == "literal_value" and type_node.type == "map_type":
                    self._element(key, type_node.child_by_field_name("key"), NOTHING)
                else:
                    self.expr(key)
            element = self._element(value, inner, inner_op)
            if element != NOTHING and self.b.ops[element][0] != Op.CONST:
                operands += (0, element)
        if not operands:
            return self.instance(type_op)
        sequence = self.b.op(Op.SEQ, self.b.name("[]" if type_node.type != "map_type" else "map"), *operands)
        return self.b.phi([sequence, self.instance(type_op)])

    def _element(self, node: tree_sitter.Node | None, type_node: tree_sitter.Node | None, type_op: int) -> int:
        """A value in braces; nested braces have the element type of what they stand in."""
        if node is None:
            return NOTHING
        if node.type != "literal_value":
            return self.expr(node)
        while type_node is not None and type_node.type == "pointer_type":
            type_node = type_node.named_children[0] if type_node.named_children else None
        return self.literal(node, type_node, type_op)

    def _function(self, node: tree_sitter.Node) -> int:
        """A function literal: its calls belong to the definition around it, unless it has one of its own."""
        slot = self.b.function_slot()
        definition = self.places.get(node.start_byte, NOTHING)
        flags = FunctionFlag.LAMBDA if definition == NOTHING else FunctionFlag.NONE
        owner = self.frame.owner
        self.run_body(node, slot, definition, flags, owner)
        return self.b.shared(Op.FUNC, slot)

    def run_body(
        self, node: tree_sitter.Node, slot: int, definition: int, flags: FunctionFlag, owner: int, **known: int
    ) -> None:
        """Walks a function; statements say how."""
        raise NotImplementedError

    # Calls -----------------------------------------------------------------------------------------------------------

    def _call(self, node: tree_sitter.Node) -> int:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return self.parts(node)
        given = [child for child in arguments.named_children if child.type != "comment"]
        plain = unwrapped(function)
        if plain.type == "identifier":
            name = text_of(plain)
            if self.find(name) is None and name not in self.imports:
                if name in BASIC:
                    for child in given:
                        self.expr(child)
                    return self.instance(self.unbound(name))
                special = _BUILTINS.get(name)
                if special is not None:
                    return special(self, given)
        elif plain.type in TYPES or (plain.type == "unary_expression" and function.type == "parenthesized_expression"):
            return self._converted(plain, given)
        callee = self.quiet(function)
        operands: list[int] = []
        for child in given:
            if child.type == "variadic_argument":
                inner = next((c for c in child.named_children if c.type != "comment"), None)
                operands += (int(ArgKind.STAR), NOTHING, self.expr(inner) if inner is not None else NOTHING)
            elif child.type in TYPES:
                self.type_of(child)
                operands += self.positional([NOTHING])
            else:
                operands += self.positional([self.expr(child)])
        name_node = plain.child_by_field_name("field") if plain.type == "selector_expression" else plain
        return self.call(callee, operands, function, name_node or plain)

    def _converted(self, node: tree_sitter.Node, given: list[tree_sitter.Node]) -> int:
        """`[]byte(x)`, `(*T)(x)`."""
        values = [self.expr(child) for child in given]
        if node.type == "unary_expression":
            operand = node.child_by_field_name("operand")
            type_op = self.quiet(operand) if operand is not None else NOTHING
        else:
            type_op = self.type_of(node)
        return self.declared(values[0] if values else NOTHING, type_op)

    def _make(self, given: list[tree_sitter.Node]) -> int:
        for child in given[1:]:
            self.expr(child)
        if not given:
            return NOTHING
        type_op = (
            self.quiet(given[0]) if given[0].type in ("identifier", "selector_expression") else self.type_of(given[0])
        )
        return self.instance(type_op)

    def _new(self, given: list[tree_sitter.Node]) -> int:
        if not given:
            return NOTHING
        named = given[0].type in ("identifier", "selector_expression")
        type_op = self.expr(given[0]) if named else self.type_of(given[0])
        return self.made(type_op)

    def _append(self, given: list[tree_sitter.Node]) -> int:
        values = [self.expr(child) if child.type != "variadic_argument" else self._inner(child) for child in given]
        if not values:
            return NOTHING
        elements = [
            (int(child.type == "variadic_argument"), value)
            for child, value in zip(given[1:], values[1:], strict=False)
            if value != NOTHING and self.b.ops[value][0] != Op.CONST
        ]
        if not elements:
            return values[0]
        flat = [operand for element in elements for operand in element]
        return self.b.phi([values[0], self.b.op(Op.SEQ, self.b.name("[]"), *flat)])

    def _first(self, given: list[tree_sitter.Node]) -> int:
        values = [self.expr(child) for child in given]
        return next((value for value in values if value != NOTHING), NOTHING)

    def _quiet_builtin(self, given: list[tree_sitter.Node]) -> int:
        for child in given:
            self.expr(child) if child.type not in TYPES else self.type_of(child)
        return NOTHING

    def packed(self, values: list[int]) -> int:
        """Several results as one value."""
        if len(values) == 1:
            return values[0]
        if all(value == NOTHING for value in values):
            return NOTHING
        return self.b.op(Op.SEQ, self.b.name(TUPLE), *[operand for value in values for operand in (0, value)])

    def written(self, node: tree_sitter.Node) -> Local | None:
        """The variable that an assignment to a name writes."""
        known = self.find(text_of(node)) if node.type == "identifier" else None
        return known if isinstance(known, Local) else None


def _keyed(node: tree_sitter.Node) -> tuple[tree_sitter.Node | None, tree_sitter.Node | None]:
    """Key and value of an entry in braces."""
    if node.type != "keyed_element":
        return None, _unpacked(node)
    key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
    return _unpacked(key) if key is not None else None, _unpacked(value) if value is not None else None


def _unpacked(node: tree_sitter.Node) -> tree_sitter.Node | None:
    if node.type != "literal_element":
        return node
    return next((c for c in node.named_children if c.type != "comment"), None)


def unwrapped(node: tree_sitter.Node) -> tree_sitter.Node:
    """An expression without its parentheses and type arguments."""
    while node.type in ("parenthesized_expression", "type_instantiation_expression") and node.named_children:
        node = node.named_children[0]
    return node


_BUILTINS: dict[str, Callable[[ExpressionWalk, list[tree_sitter.Node]], int]] = {
    "make": ExpressionWalk._make,
    "new": ExpressionWalk._new,
    "append": ExpressionWalk._append,
    "min": ExpressionWalk._first,
    "max": ExpressionWalk._first,
    **dict.fromkeys(
        (
            "len",
            "cap",
            "copy",
            "delete",
            "panic",
            "print",
            "println",
            "recover",
            "close",
            "complex",
            "real",
            "imag",
            "clear",
        ),
        ExpressionWalk._quiet_builtin,
    ),
}
"""Functions of the language itself."""
_EXPRESSIONS: dict[str, Callable[[ExpressionWalk, tree_sitter.Node], int]] = {
    "identifier": ExpressionWalk._identifier,
    "selector_expression": ExpressionWalk._selector,
    "parenthesized_expression": ExpressionWalk._inner,
    "unary_expression": ExpressionWalk._unary,
    "binary_expression": ExpressionWalk._binary,
    "index_expression": ExpressionWalk._index,
    "slice_expression": ExpressionWalk._slice,
    "type_assertion_expression": ExpressionWalk._assertion,
    "type_conversion_expression": ExpressionWalk._conversion,
    "type_instantiation_expression": ExpressionWalk._instantiated,
    "composite_literal": ExpressionWalk._composite,
    "func_literal": ExpressionWalk._function,
    "call_expression": ExpressionWalk._call,
    "interpreted_string_literal": ExpressionWalk._text,
    "raw_string_literal": ExpressionWalk._text,
    **dict.fromkeys(
        (
            "int_literal",
            "float_literal",
            "imaginary_literal",
            "rune_literal",
            "nil",
            "true",
            "false",
            "iota",
            "comment",
        ),
        ExpressionWalk._nothing,
    ),
    **dict.fromkeys(TYPES, TypeWalk.type_of),
}
