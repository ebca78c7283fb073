"""Expressions → ops and sites.

`expr` gives the value of an expression that is used (a name in it that holds a function has left by this use); `quiet`
that of one which only leads on (`a` in `a.b`, the callee of a call).
"""

from __future__ import annotations

from collections.abc import Callable

import tree_sitter
from msgspec import structs

from smp.domain.source import NOTHING, ArgKind, Function, FunctionFlag, Op, Param, SiteKind
from smp.languages.python import grammar as g
from smp.languages.python.definitions import parameter_name, string_value
from smp.languages.python.scopes import CLASS, COMPREHENSION, LAMBDA, Bindings, Scope, pattern_names
from smp.languages.python.special_calls import SPECIAL, SpecialCallWalk

_OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
_COMPARISONS = {
    "<": ("__lt__", "__gt__"), "<=": ("__le__", "__ge__"), ">": ("__gt__", "__lt__"), ">=": ("__ge__", "__le__"),
    "==": ("__eq__", "__eq__"), "!=": ("__ne__", "__ne__"),
}  # fmt: skip
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
_CLASS_TYPES = {"list": "builtins.list", "tuple": "builtins.tuple", "set": "builtins.set"}
_LEAVES = frozenset({int(Op.FUNC), int(Op.CLASS), int(Op.DECORATED), int(Op.IMPORT), int(Op.VAR), int(Op.PHI)})
_CONTAINER_END = {"list": "builtins.list", "set": "builtins.set", "generator": "builtins.generator"}


class ExpressionWalk(SpecialCallWalk):
    """Values of expressions."""

    def expr(self, node: tree_sitter.Node) -> int:
        """The value of an expression that is used."""
        value = self.quiet(node)
        kind = node.kind_id
        if value != NOTHING:
            if kind == g.IDENTIFIER:
                if self.b.ops[value][0] in _LEAVES:
                    self.use(value, node)
            elif kind in _ATTRIBUTE:
                self.use(value, node)
        return value

    def use(self, value: int, node: tree_sitter.Node) -> None:
        """Notes that a value leaves here."""
        self.b.site(SiteKind.USE, value, owner=self.scope.owner, line=node.start_point.row + 1)

    def quiet(self, node: tree_sitter.Node) -> int:
        """The value of an expression that only leads on."""
        node = g.without_splat(node)
        if self.too_deep(node):
            return NOTHING
        self.depth += 1
        try:
            return _TABLE[node.kind_id](self, node)
        finally:
            self.depth -= 1

    def visit_children(self, node: tree_sitter.Node) -> int:
        """For syntax without a value of interest: its parts are walked."""
        for child in node.named_children:
            self.visit(child)
        return NOTHING

    def visit(self, node: tree_sitter.Node) -> None:
        """A statement or an expression, whichever it is; statements override."""
        self.expr(node)

    def identifier(self, node: tree_sitter.Node) -> int:
        return self.load(self.text(node))

    def attribute(self, node: tree_sitter.Node) -> int:
        value = self.attribute_of(node)
        if value != NOTHING:
            self.b.site(SiteKind.GET, value, owner=self.scope.owner, line=node.end_point.row + 1, text=None)
        return value

    def attribute_of(self, node: tree_sitter.Node) -> int:
        holder, name = node.child_by_field_id(g.F_OBJECT), node.child_by_field_id(g.F_ATTRIBUTE)
        if holder is None:
            return NOTHING
        value = self.quiet(holder)
        if value == NOTHING or name is None:
            return NOTHING
        return self.b.op(Op.ATTR, value, self.b.name(self.text(name)))

    def string(self, node: tree_sitter.Node) -> int:
        literal = string_value(node, self.source)
        if literal is None:
            for child in node.named_children:
                if child.type == "interpolation":
                    self.interpolation(child)
                elif child.type == "string":
                    self.string(child)
            return self.b.const("builtins.str")
        return self.b.const("builtins.str", literal if len(literal) <= 200 else None)

    def interpolation(self, node: tree_sitter.Node) -> None:
        method: tuple[str, ...] = ("__format__", "__str__")
        value = NOTHING
        for child in node.named_children:
            kind = child.type
            if kind == "type_conversion":
                method = ("__repr__",) if self.text(child) == "!r" else ("__str__",)
            elif kind == "format_specifier":
                self.visit_children(child)
            else:
                value = self.expr(child)
        self.protocol(value, node, method)

    def protocol(self, value: int, node: tree_sitter.Node, names: tuple[str, ...]) -> None:
        """Notes methods that syntax runs on a value, unless the value is a literal."""
        if value != NOTHING and self.b.ops[value][0] != Op.CONST:
            line = node.start_point.row + 1
            self.b.site(SiteKind.PROTOCOL, value, owner=self.scope.owner, line=line, names=names)

    def number(self, node: tree_sitter.Node) -> int:
        return self.b.const("builtins.int" if node.type == "integer" else "builtins.float")

    def boolean(self, node: tree_sitter.Node) -> int:
        return self.b.const("builtins.bool")

    def nothing(self, node: tree_sitter.Node) -> int:
        return NOTHING

    def sequence(self, node: tree_sitter.Node) -> int:
        """List, tuple and set displays."""
        operands = [self.b.name(_CLASS_TYPES.get(node.type, "builtins.tuple"))]
        for child in node.named_children:
            if child.kind_id == g.COMMENT:
                continue
            starred = child.type in ("list_splat_pattern", "parenthesized_list_splat")
            inner = child.named_children[0] if starred and child.named_child_count else g.without_splat(child)
            operands += (int(starred or g.begins_with_splat(child)), self.expr(inner))
        return self.b.op(Op.SEQ, *operands)

    def dictionary(self, node: tree_sitter.Node) -> int:
        operands = [self.b.name("builtins.dict")]
        for child in node.named_children:
            if child.type == "pair":
                key, value = child.child_by_field_id(g.F_KEY), child.child_by_field_id(g.F_VALUE)
                constant = NOTHING
                if key is not None:
                    self.expr(key)
                    constant = self.constant_key(key)
                operands += (constant, self.expr(value) if value is not None else NOTHING)
            elif child.type == "dictionary_splat" and child.named_child_count:
                operands += (-2, self.expr(child.named_children[0]))
        return self.b.op(Op.MAP, *operands)

    def constant_key(self, node: tree_sitter.Node) -> int:
        """Index of a constant key's text, else NOTHING."""
        if node.kind_id in (g.STRING, g.CONCATENATED):
            literal = string_value(node, self.source)
            return self.b.name(literal) if literal is not None and len(literal) <= 200 else NOTHING
        return self.b.name("#" + self.text(node)) if node.type == "integer" else NOTHING

    def parenthesized(self, node: tree_sitter.Node) -> int:
        inner = [child for child in node.named_children if child.kind_id != g.COMMENT]
        return self.expr(inner[0]) if len(inner) == 1 else self.visit_children(node)

    def boolean_operator(self, node: tree_sitter.Node) -> int:
        left, right = node.child_by_field_id(g.F_LEFT), node.child_by_field_id(g.F_RIGHT)
        if left is None or right is None:
            return self.visit_children(node)
        values = [self.expr(left)]
        is_and = any(child.type == "and" for child in node.children)
        self.push()
        self.narrow(left, positive=is_and)
        values.append(self.expr(right))
        written = self.pop()
        for name, value in written.items():
            if name not in written.narrowed:
                self.scope.layers[-1][name] = value
        return self.b.phi(values)

    def conditional(self, node: tree_sitter.Node) -> int:
        parts = [child for child in node.named_children if child.kind_id != g.COMMENT]
        if len(parts) != 3:
            return self.visit_children(node)
        self.expr(parts[1])
        values = []
        for part, positive in ((parts[0], True), (parts[2], False)):
            self.push()
            self.narrow(parts[1], positive=positive)
            values.append(self.expr(part))
            self.pop()
        return self.b.phi(values)

    def walrus(self, node: tree_sitter.Node) -> int:
        name, value = node.child_by_field_id(g.F_NAME), node.child_by_field_id(g.F_VALUE)
        if name is None or value is None:
            return self.visit_children(node)
        result = self.expr(value)
        self.write(self.text(name), result)
        return result

    def awaiting(self, node: tree_sitter.Node) -> int:
        value = self.expr(node.named_children[0]) if node.named_child_count else NOTHING
        if value == NOTHING:
            return NOTHING
        self.protocol(value, node, ("__await__",))
        return self.b.op(Op.AWAIT, value)

    def yielding(self, node: tree_sitter.Node) -> int:
        if not node.named_child_count:
            return NOTHING
        value = self.expr(node.named_children[0])
        if any(child.type == "from" for child in node.children):
            if value != NOTHING:
                self.scope.yields.append(self.b.op(Op.ITER, value))
            return NOTHING
        self.scope.yields.append(value)
        return NOTHING

    def binary(self, node: tree_sitter.Node) -> int:
        """Operators, left-associative chains without recursion (generated files add up thousands of terms)."""
        chain = [node]
        left = node.child_by_field_id(g.F_LEFT)
        while left is not None and left.kind_id == node.kind_id:
            chain.append(left)
            left = left.child_by_field_id(g.F_LEFT)
        value = self.expr(left) if left is not None else NOTHING
        for step in reversed(chain):
            right = step.child_by_field_id(g.F_RIGHT)
            operator = step.child_by_field_id(g.F_OPERATOR)
            other = self.expr(right) if right is not None else NOTHING
            name = _OPERATORS.get(operator.type if operator is not None else "", "")
            if name:
                self.operator(value, other, step, (f"__{name}__", f"__r{name}__"))
            value = (
                self.b.op(Op.BINARY, value, other, self.b.name(f"__{name}__")) if self.holds(value, other) else value
            )
        return value

    def holds(self, *values: int) -> bool:
        """Whether any of these may be something else than a literal."""
        return any(value != NOTHING and self.b.ops[value][0] != Op.CONST for value in values)

    def operator(self, left: int, right: int, node: tree_sitter.Node, names: tuple[str, str]) -> None:
        """Notes the method that an operator runs."""
        if self.holds(left, right):
            line = node.start_point.row + 1
            owner = self.scope.owner
            self.b.site(SiteKind.OPERATOR, left, owner=owner, line=line, names=names, other=right)

    def unary(self, node: tree_sitter.Node) -> int:
        argument = node.child_by_field_id(g.F_ARGUMENT)
        value = self.expr(argument) if argument is not None else NOTHING
        self.protocol(value, node, (_UNARY.get(node.children[0].type, "__neg__"),))
        return NOTHING

    def negation(self, node: tree_sitter.Node) -> int:
        argument = node.child_by_field_id(g.F_ARGUMENT)
        if argument is not None:
            self.expr(argument)
        return self.b.const("builtins.bool")

    def comparison(self, node: tree_sitter.Node) -> int:
        values: list[tuple[int, tree_sitter.Node]] = []
        operators: list[str] = []
        for child in node.children:
            if child.is_named:
                if child.kind_id != g.COMMENT:
                    values.append((self.expr(child), child))
            else:
                operators.append(child.type)
        for position, operator in enumerate(operators[: len(values) - 1]):
            (left, _), (right, where) = values[position], values[position + 1]
            if operator in _COMPARISONS:
                self.operator(left, right, node, _COMPARISONS[operator])
            elif operator in ("in", "not in"):
                self.protocol(right, where, ("__contains__",))
        return self.b.const("builtins.bool")

    def subscript(self, node: tree_sitter.Node) -> int:
        holder = node.child_by_field_id(g.F_VALUE)
        if holder is None:
            return self.visit_children(node)
        value = self.quiet(holder)
        key, constant, index = self.subscript_key(node)
        if value == NOTHING:
            return NOTHING
        self.protocol(value, node, ("__getitem__",))
        return self.b.op(Op.ITEM, value, constant, index, key)

    def subscript_key(self, node: tree_sitter.Node) -> tuple[int, int, int]:
        """Key op, constant key, constant index of a subscript."""
        keys = node.children_by_field_name("subscript")
        if len(keys) != 1:
            for child in keys:
                self.visit(child)
            return NOTHING, NOTHING, NOTHING
        key = keys[0]
        index = NOTHING
        if key.type == "integer":
            digits = self.text(key)
            index = int(digits) if digits.isdecimal() and len(digits) < 4 else NOTHING
        if key.type == "slice":
            self.visit_children(key)
            return NOTHING, NOTHING, -3
        return self.expr(key), self.constant_key(key), index

    # Calls -----------------------------------------------------------------------------------------------------------

    def call(self, node: tree_sitter.Node) -> int:
        found, holder = node.child_by_field_id(g.F_FUNCTION), node.child_by_field_id(g.F_ARGUMENTS)
        if found is None or holder is None:
            return self.visit_children(node)
        callee_node = g.without_splat(found)
        text = self.text(callee_node) if callee_node.end_byte - callee_node.start_byte <= 400 else ""
        if text == "super" and self.super_allowed():
            self.arguments(holder)
            return self.super_value()
        if callee_node.kind_id in _ATTRIBUTE:
            callee = self.attribute(callee_node)
            name_node = callee_node.child_by_field_id(g.F_ATTRIBUTE) or callee_node
            line = name_node.start_point.row + 1
        else:
            callee = self.quiet(callee_node)
            line = callee_node.start_point.row + 1
        operands = self.arguments(holder)
        value = self.b.op(Op.CALL, callee, *operands)
        shown = text or self.text(callee_node)
        self.b.site(SiteKind.CALL, value, owner=self.scope.owner, line=line, text=shown)
        special = SPECIAL.get(text.rpartition(".")[2]) if callee != NOTHING else None
        if special is not None:
            replaced = special(self, holder, operands, line)
            if replaced is not None:
                return replaced
        return value

    def super_allowed(self) -> bool:
        scope = self.method_scope()
        return scope is not None and self.b.ops[self.load("super")][0] == Op.UNBOUND

    def method_scope(self) -> Scope | None:
        """The scope of the method around, if any."""
        scope: Scope | None = self.scope
        while scope is not None and not (scope.class_index != NOTHING and scope.kind != CLASS):
            scope = scope.parent
        return scope

    def super_value(self) -> int:
        scope = self.method_scope()
        assert scope is not None
        return self.b.op(Op.SUPER, scope.class_index, scope.function)

    def arguments(self, holder: tree_sitter.Node) -> list[int]:
        """Operands for the arguments of a call."""
        if holder.type == "generator_expression":
            return [int(ArgKind.POSITIONAL), NOTHING, self.expr(holder)]
        operands: list[int] = []
        for child in holder.named_children:
            kind = child.type
            if kind == "keyword_argument":
                name, value = child.child_by_field_id(g.F_NAME), child.child_by_field_id(g.F_VALUE)
                if name is not None and value is not None:
                    operands += (int(ArgKind.KEYWORD), self.b.name(self.text(name)), self.expr(value))
            elif kind in ("list_splat", "dictionary_splat"):
                inner = self.expr(child.named_children[0]) if child.named_child_count else NOTHING
                star = ArgKind.STAR if kind == "list_splat" else ArgKind.DOUBLE_STAR
                operands += (int(star), NOTHING, inner)
            elif child.kind_id != g.COMMENT:
                operands += (int(ArgKind.POSITIONAL), NOTHING, self.expr(child))
        return operands

    # Scopes of their own ---------------------------------------------------------------------------------------------

    def lambda_(self, node: tree_sitter.Node) -> int:
        body = node.child_by_field_id(g.F_BODY)
        if body is None:
            return self.visit_children(node)
        index = self.b.function_slot()
        parameters, names = self.parameters(node.child_by_field_id(g.F_PARAMETERS), index, receiver=False)
        bindings = self.bindings.get(body.start_byte) or Bindings(body.start_byte, body.end_byte)
        bindings.names |= set(names)
        scope = Scope(LAMBDA, self.scope, bindings, owner=self.scope.owner, function=index)
        scope.layers[0].update(names)
        for name, value in names.items():
            scope.writes[name] = [(value, 0)]
        before = self.enter_scope(scope)
        scope.returns.append(self.expr(body))
        self.scope = before
        self.b.functions[index] = Function(
            name="<lambda>",
            definition=NOTHING,
            owner=self.scope.owner,
            flags=int(FunctionFlag.LAMBDA),
            params=tuple(parameters),
            returns=tuple(value for value in scope.returns if value != NOTHING),
            yields=tuple(scope.yields),
        )
        return self.b.shared(Op.FUNC, index)

    def parameters(
        self, holder: tree_sitter.Node | None, function: int, *, receiver: bool
    ) -> tuple[list[Param], dict[str, int]]:
        """Parameters of a function, defaults and annotations evaluated here; and the values its names begin with."""
        found: list[Param] = []
        names: dict[str, int] = {}
        kind = "positional"
        for child in holder.named_children if holder is not None else ():
            shape = child.type
            if shape == "positional_separator":
                found = [structs.replace(p, kind="positional_only") for p in found]
                continue
            if shape == "keyword_separator":
                kind = "keyword_only"
                continue
            name_node, star = parameter_name(child)
            if name_node is None:
                continue
            name = self.text(name_node)
            default_node, type_node = child.child_by_field_id(g.F_VALUE), child.child_by_field_id(g.F_TYPE)
            default = self.expr(default_node) if default_node is not None else NOTHING
            annotation = self.annotation(type_node) if type_node is not None else NOTHING
            own_kind = {"*": "var_positional", "**": "var_keyword"}.get(star, kind)
            if receiver and not found and not star:
                names[name] = self.b.shared(Op.RECEIVER, function)
            else:
                names[name] = self.b.shared(Op.PARAM, function, len(found))
            found.append(Param(name, own_kind, default, annotation, optional=default_node is not None))
            if star == "*":
                kind = "keyword_only"
        return found, names

    def comprehension(self, node: tree_sitter.Node) -> int:
        body = node.child_by_field_id(g.F_BODY)
        clauses = [child for child in node.named_children if child.type in ("for_in_clause", "if_clause")]
        bindings = Bindings(node.start_byte, node.end_byte)
        for clause in clauses:
            left = clause.child_by_field_id(g.F_LEFT)
            if left is not None:
                bindings.names |= {self.text(name) for name in pattern_names(left)}
        first = True
        outer = self.scope
        scope = Scope(COMPREHENSION, outer, bindings, owner=outer.owner)
        for clause in clauses:
            if clause.type == "if_clause":
                for child in clause.named_children:
                    self.expr(child)
                    self.narrow(child, positive=True)
                continue
            left, right = clause.child_by_field_id(g.F_LEFT), clause.child_by_field_id(g.F_RIGHT)
            if left is None or right is None:
                continue
            # The first iterable is evaluated in the scope around (it sees class names), the rest inside.
            source = self.expr(right)
            if first:
                self.enter_scope(scope)
                first = False
            self.iterate(left, source, right, is_async=clause.children[0].type == "async")
        if first:
            self.enter_scope(scope)
        result = self.comprehension_value(node, body)
        self.scope = outer
        return result

    def comprehension_value(self, node: tree_sitter.Node, body: tree_sitter.Node | None) -> int:
        if body is None:
            return NOTHING
        if body.type == "pair":
            key, value = body.child_by_field_id(g.F_KEY), body.child_by_field_id(g.F_VALUE)
            if key is not None:
                self.expr(key)
            element = self.expr(value) if value is not None else NOTHING
            return self.b.op(Op.MAP, self.b.name("builtins.dict"), NOTHING, element)
        element = self.expr(body)
        name = _CONTAINER_END.get(node.type.partition("_")[0], "builtins.generator")
        # Starred: the number of elements is not known, so no position is.
        return self.b.op(Op.SEQ, self.b.name(name), 2, element)

    def iterate(self, target: tree_sitter.Node, source: int, node: tree_sitter.Node, *, is_async: bool) -> None:
        """Binds a loop's target to the elements of a value."""
        names = ("__aiter__", "__anext__") if is_async else ("__iter__", "__next__")
        self.protocol(source, node, names)
        self.assign(target, self.b.op(Op.ITER, source) if source != NOTHING else NOTHING)

    def assign(self, target: tree_sitter.Node, value: int) -> None:
        """Writes a value to a target; statements say how."""
        raise NotImplementedError

    def narrow(self, condition: tree_sitter.Node, *, positive: bool) -> None:
        """Narrows names by a condition; statements say how."""
        raise NotImplementedError


_ATTRIBUTE = g.kinds("attribute")

_HANDLERS: dict[str, Callable[[ExpressionWalk, tree_sitter.Node], int]] = {
    "identifier": ExpressionWalk.identifier,
    "attribute": ExpressionWalk.attribute,
    "call": ExpressionWalk.call,
    "subscript": ExpressionWalk.subscript,
    "string": ExpressionWalk.string,
    "concatenated_string": ExpressionWalk.string,
    "integer": ExpressionWalk.number,
    "float": ExpressionWalk.number,
    "true": ExpressionWalk.boolean,
    "false": ExpressionWalk.boolean,
    "none": ExpressionWalk.nothing,
    "ellipsis": ExpressionWalk.nothing,
    "comment": ExpressionWalk.nothing,
    "list": ExpressionWalk.sequence,
    "tuple": ExpressionWalk.sequence,
    "set": ExpressionWalk.sequence,
    "expression_list": ExpressionWalk.sequence,
    "pattern_list": ExpressionWalk.sequence,
    "dictionary": ExpressionWalk.dictionary,
    "parenthesized_expression": ExpressionWalk.parenthesized,
    "boolean_operator": ExpressionWalk.boolean_operator,
    "conditional_expression": ExpressionWalk.conditional,
    "named_expression": ExpressionWalk.walrus,
    "await": ExpressionWalk.awaiting,
    "yield": ExpressionWalk.yielding,
    "binary_operator": ExpressionWalk.binary,
    "unary_operator": ExpressionWalk.unary,
    "not_operator": ExpressionWalk.negation,
    "comparison_operator": ExpressionWalk.comparison,
    "lambda": ExpressionWalk.lambda_,
    "list_comprehension": ExpressionWalk.comprehension,
    "set_comprehension": ExpressionWalk.comprehension,
    "dictionary_comprehension": ExpressionWalk.comprehension,
    "generator_expression": ExpressionWalk.comprehension,
}

_TABLE: list[Callable[[ExpressionWalk, tree_sitter.Node], int]] = [
    _HANDLERS.get(g.LANGUAGE.node_kind_for_id(number) or "", ExpressionWalk.visit_children)
    for number in range(g.LANGUAGE.node_kind_count)
]
_TABLE.extend([ExpressionWalk.visit_children] * (65536 - len(_TABLE)))  # 65535 is the number of ERROR
