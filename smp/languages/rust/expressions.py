"""Rust's expressions and statements → ops and sites, in execution order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import tree_sitter

from smp.domain.source import NOTHING, Function, FunctionFlag, Op, Param, SiteKind
from smp.languages.blocks import Frame, Local
from smp.languages.declared import line_of, text_of
from smp.languages.rust.macros import arguments_of, body_of
from smp.languages.rust.patterns import OPENED, PatternWalk
from smp.languages.rust.types import LIST, TUPLE

_NAMES = frozenset({"identifier", "field_expression", "scoped_identifier", "generic_function"})
_HOLDERS = frozenset({"Arc", "Rc", "Mutex", "RwLock", "RefCell", "Cell", "OnceCell", "Weak", "Cow", "Pin"})
"""Types whose `new` keeps its argument."""
_OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem", "==": "eq", "!=": "eq", "<": "partial_cmp", ">": "partial_cmp",
    "<=": "partial_cmp", ">=": "partial_cmp", "&": "bitand", "|": "bitor", "^": "bitxor", "<<": "shl", ">>": "shr",
    "+=": "add_assign", "-=": "sub_assign", "*=": "mul_assign", "/=": "div_assign",
}  # fmt: skip


class ExpressionWalk(PatternWalk):
    """Values of expressions."""

    diverged = False
    """The code behind this place is not reached."""

    def expr(self, node: tree_sitter.Node) -> int:
        """The value of an expression that is used."""
        value = self.quiet(node)
        if value != NOTHING and node.type in _NAMES:
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
            self.expr(child)
        return NOTHING

    def field(self, node: tree_sitter.Node, name: str) -> int:
        """The value of a child, if it is there."""
        child = node.child_by_field_name(name)
        return self.expr(child) if child is not None else NOTHING

    def _nothing(self, node: tree_sitter.Node) -> int:
        return NOTHING

    def _text(self, node: tree_sitter.Node) -> int:
        return self.b.const("str")

    def _identifier(self, node: tree_sitter.Node) -> int:
        return self.load(text_of(node))

    def _self(self, node: tree_sitter.Node) -> int:
        known = self.find("self")
        return self.read(known) if isinstance(known, Local) else self.module_op(self.module)

    def _path(self, node: tree_sitter.Node) -> int:
        parts = self.path_parts(node)
        if parts is not None:
            if len(parts) > 1 and parts[-2][:1].isupper() and parts[-2] != "Self":
                self.refer(self.path_op(parts[:-1]), node)
            return self.path_op(parts)
        path, name = node.child_by_field_name("path"), node.child_by_field_name("name")
        if path is None or name is None:
            return NOTHING
        if path.type == "bracketed_type" and path.named_children and path.named_children[0].type == "qualified_type":
            # `<S as Trait>::m`: what S has, else what the trait says.
            qualified = path.named_children[0]
            type_op = self.type_of(qualified.child_by_field_name("type"))
            alias = self.type_of(qualified.child_by_field_name("alias"))
            return self.attribute(self.bare(type_op if type_op != NOTHING else alias), text_of(name))
        inner = path.named_children[0] if path.type == "bracketed_type" and path.named_children else path
        return self.attribute(self.bare(self.type_of(inner)), text_of(name))

    def _field(self, node: tree_sitter.Node) -> int:
        value_node, field = node.child_by_field_name("value"), node.child_by_field_name("field")
        if value_node is None or field is None:
            return self.parts(node)
        value = self.quiet(value_node)
        if value == NOTHING:
            return NOTHING
        name = text_of(field)
        if name.isdecimal():
            return self.b.phi([self.attribute(value, name), self.b.op(Op.UNPACK, value, int(name[:3]), 0)])
        return self.attribute(value, name)

    def _inner(self, node: tree_sitter.Node) -> int:
        inner = next((c for c in node.named_children if c.type not in ("comment", "mutable_specifier")), None)
        return self.quiet(inner) if inner is not None else NOTHING

    def _used_inner(self, node: tree_sitter.Node) -> int:
        inner = next((c for c in node.named_children if c.type not in ("comment", "mutable_specifier")), None)
        return self.expr(inner) if inner is not None else NOTHING

    def _unary(self, node: tree_sitter.Node) -> int:
        value = self._used_inner(node)
        return value if node.children and node.children[0].type == "*" else NOTHING

    def _try(self, node: tree_sitter.Node) -> int:
        return self.opened(self._used_inner(node))

    def _binary(self, node: tree_sitter.Node) -> int:
        chain: list[tree_sitter.Node] = []
        current: tree_sitter.Node | None = node
        while current is not None and current.type == "binary_expression":
            chain.append(current)
            current = current.child_by_field_name("left")
        value = self.expr(current) if current is not None else NOTHING
        for step in reversed(chain):
            value = self._operated(step, value, self.field(step, "right"))
        return value

    def _operated(self, node: tree_sitter.Node, left: int, right: int) -> int:
        operator = node.child_by_field_name("operator")
        name = _OPERATORS.get(operator.type) if operator is not None else None
        if name is None or left == NOTHING or self.b.ops[left][0] == Op.CONST:
            return NOTHING
        owner, line = self.frame.owner, line_of(node)
        self.b.site(SiteKind.OPERATOR, left, owner=owner, line=line, names=(name, "(reflected)"), other=right)
        return self.b.op(Op.BINARY, left, right, self.b.name(name)) if name not in ("eq", "partial_cmp") else NOTHING

    def _index(self, node: tree_sitter.Node) -> int:
        parts = [child for child in node.named_children if child.type != "comment"]
        value = self.quiet(parts[0]) if parts else NOTHING
        for part in parts[1:]:
            self.expr(part)
        if len(parts) > 1 and parts[1].type == "range_expression":
            return value
        return self.opened(value)

    def _cast(self, node: tree_sitter.Node) -> int:
        value = self.field(node, "value")
        return self.declared(value, self.type_of(node.child_by_field_name("type")))

    def declared(self, value: int, type_op: int) -> int:
        """A value whose type is declared."""
        if type_op == NOTHING:
            return value
        return self.b.op(Op.DECLARED, value, type_op) if value != NOTHING else self.instance(type_op)

    def _tuple(self, node: tree_sitter.Node) -> int:
        return self.sequence_of(TUPLE, [self.expr(child) for child in node.named_children if child.type != "comment"])

    def _array(self, node: tree_sitter.Node) -> int:
        return self.sequence_of(LIST, [self.expr(child) for child in node.named_children if child.type != "comment"])

    def sequence_of(self, kind: str, values: list[int]) -> int:
        """A container of what is written in it."""
        operands = [operand for value in values for operand in (0, value)]
        return self.b.op(Op.SEQ, self.b.name(kind), *operands)

    def _struct(self, node: tree_sitter.Node) -> int:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        type_op = self.type_of(name)
        if name is not None and type_op != NOTHING:
            self.use(type_op, name)
        made = self.made(type_op)
        for entry in body.named_children if body is not None else ():
            field = entry.child_by_field_name("field") or entry.child_by_field_name("name")
            value_node = entry.child_by_field_name("value")
            if entry.type == "shorthand_field_initializer":
                field = next(iter(entry.named_children), None)
                value = self.load(text_of(field)) if field is not None else NOTHING
                if field is not None:
                    self.use(value, field)
            elif entry.type == "field_initializer" and value_node is not None:
                value = self.expr(value_node)
            else:
                self.parts(entry)
                continue
            if made != NOTHING and value != NOTHING and field is not None:
                self.b.op(Op.STORE_ATTR, made, self.b.name(text_of(field)), value)
        return made

    # Calls -----------------------------------------------------------------------------------------------------------

    def _call(self, node: tree_sitter.Node) -> int:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return self.parts(node)
        given = [child for child in arguments.named_children if child.type not in ("comment", "attribute_item")]
        inner = function.child_by_field_name("function") if function.type == "generic_function" else function
        plain = inner if inner is not None else function
        kept = self._kept(plain, given)
        if kept is not None:
            return kept
        callee = self.quiet(function)
        operands = self.positional([self.expr(child) for child in given])
        name = plain.child_by_field_name("field") or plain.child_by_field_name("name") or plain
        return self.call(callee, operands, function, name)

    def _kept(self, function: tree_sitter.Node, given: list[tree_sitter.Node]) -> int | None:
        """`Some(x)`, `Arc::new(x)`: values that hold what they are given. None for any other call."""
        if len(given) != 1 or function.type not in ("identifier", "scoped_identifier"):
            return None
        parts = self.path_parts(function)
        if parts is None or self.find(parts[-1] if len(parts) == 1 else parts[-2]) is not None:
            return None
        if len(parts) == 1 and parts[0] in (*OPENED, "Err"):
            value = self.expr(given[0])
            return self.sequence_of(
                "Result" if parts[0] != "Some" else "Option", [value if parts[0] != "Err" else NOTHING]
            )
        if len(parts) >= 2 and parts[-1] in ("new", "pin", "from"):
            if parts[-2] == "Box":
                return self.expr(given[0])
            if parts[-2] in _HOLDERS and parts[-1] == "new":
                return self.sequence_of(parts[-2], [self.expr(given[0])])
        return None

    def _generic_function(self, node: tree_sitter.Node) -> int:
        arguments = node.child_by_field_name("type_arguments")
        for child in arguments.named_children if arguments is not None else ():
            self.type_of(child)
        inner = node.child_by_field_name("function")
        return self.quiet(inner) if inner is not None else NOTHING

    def _closure(self, node: tree_sitter.Node) -> int:
        slot = self.b.function_slot()
        owner = self.frame.owner
        frame, before, diverged = Frame(owner, slot), self.frame, self.diverged
        self.frame = frame
        self.enter()
        listed = node.child_by_field_name("parameters")
        params: list[Param] = []
        for child in listed.named_children if listed is not None else ():
            typed = child.type == "parameter"
            pattern = child.child_by_field_name("pattern") if typed else child
            annotation = self.type_of(child.child_by_field_name("type")) if typed else NOTHING
            if pattern is not None and child.type != "comment":
                self.bind_pattern(pattern, self.b.shared(Op.PARAM, slot, len(params)))
                params.append(Param("_", "positional", NOTHING, annotation))
        annotation = self.type_of(node.child_by_field_name("return_type"))
        value = self.field(node, "body")
        if value != NOTHING:
            frame.returns.append(value)
        self.leave()
        self.finish_frame(frame)
        self.frame, self.diverged = before, diverged
        self.b.functions[slot] = Function(
            name="",
            definition=NOTHING,
            owner=owner,
            flags=int(FunctionFlag.LAMBDA),
            params=tuple(params),
            returns=tuple(dict.fromkeys(frame.returns)),
            annotation=annotation,
        )
        return self.b.shared(Op.FUNC, slot)

    def _macro(self, node: tree_sitter.Node) -> int:
        """Arguments of macros that are known to evaluate them."""
        name_node = node.child_by_field_name("macro")
        name = text_of(name_node).rpartition("::")[2] if name_node is not None else ""
        tokens = next((child for child in node.named_children if child.type == "token_tree"), None)
        own = self.module.find(f"{name}!") or self.macros.get(name)
        if own is not None and isinstance(own, int):
            self.use(own, node)
        if tokens is None:
            return NOTHING
        arguments = arguments_of(name, tokens)
        if arguments is not None:
            values = [self.expr(child) for child in arguments.named_children if child.type != "line_comment"]
            if name == "vec":
                return self.sequence_of(LIST, values)
            if name in ("dbg", "try", "ready", "black_box"):
                return values[0] if values else NOTHING
            return self.instance(self.unbound("String")) if name == "format" else NOTHING
        block = body_of(name, tokens)
        return self.quiet(block) if block is not None else NOTHING

    macros: dict[str, int]

    # Blocks ----------------------------------------------------------------------------------------------------------

    def _block(self, node: tree_sitter.Node) -> int:
        """The value of a block is that of its last expression."""
        self.enter()
        self.items(node)
        value = NOTHING
        diverged = False
        for child in node.named_children:
            if child.type in ("line_comment", "block_comment", "attribute_item", "inner_attribute_item", "label"):
                continue
            if child.type == "expression_statement":
                inner = next((c for c in child.named_children if c.type not in ("line_comment", "block_comment")), None)
                made = self.expr(inner) if inner is not None else NOTHING
                # `if … {} else {}` at the end of a block is a statement to the grammar, and its value to the language.
                value = made if not any(c.type == ";" for c in child.children) else NOTHING
            else:
                value = self.expr(child)
            diverged = diverged or self.diverged
        self.leave()
        self.diverged = diverged
        return value

    def items(self, node: tree_sitter.Node) -> None:
        """Items that a block declares; declarations say how."""
        raise NotImplementedError

    def _let(self, node: tree_sitter.Node) -> int:
        value_node, pattern = node.child_by_field_name("value"), node.child_by_field_name("pattern")
        alternative = node.child_by_field_name("alternative")
        type_op = self.type_of(node.child_by_field_name("type"))
        value = self.declared(self.expr(value_node) if value_node is not None else NOTHING, type_op)
        if alternative is not None:
            self.quiet(alternative)
            self.diverged = False
        if pattern is not None:
            self.bind_pattern(pattern, value)
        return NOTHING

    def _assignment(self, node: tree_sitter.Node) -> int:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        value = self.expr(right) if right is not None else NOTHING
        if left is not None:
            self.assign(left, value)
        return NOTHING

    def assign(self, target: tree_sitter.Node, value: int) -> None:
        """Writes a variable, field or element."""
        while target.type in ("unary_expression", "parenthesized_expression") and target.named_children:
            target = target.named_children[-1]
        if target.type == "identifier":
            known = self.find(text_of(target))
            if isinstance(known, Local):
                self.store(known, value)
        elif target.type == "field_expression":
            holder_node, field = target.child_by_field_name("value"), target.child_by_field_name("field")
            holder = self.quiet(holder_node) if holder_node is not None else NOTHING
            if holder != NOTHING and value != NOTHING and field is not None:
                self.b.op(Op.STORE_ATTR, holder, self.b.name(text_of(field)), value)
        elif target.type == "index_expression":
            parts = target.named_children
            holder = self.quiet(parts[0]) if parts else NOTHING
            for part in parts[1:]:
                self.expr(part)
            if holder != NOTHING and value != NOTHING:
                self.b.op(Op.STORE_ITEM, holder, NOTHING, value)
        else:
            self.expr(target)

    def _compound(self, node: tree_sitter.Node) -> int:
        left = self.field(node, "left")
        self._operated(node, left, self.field(node, "right"))
        return NOTHING

    def _leave(self, node: tree_sitter.Node) -> int:
        value = NOTHING
        for child in node.named_children:
            value = self.expr(child) if child.type != "label" else value
        if node.type == "return_expression" and value != NOTHING:
            self.frame.returns.append(value)
        self.diverged = True
        return NOTHING

    def _alternatives(self, runs: list[Callable[[], int]], *, falls_through: bool) -> int:
        values: list[int] = []

        def run(one: Callable[[], int]) -> bool:
            self.diverged = False
            value = one()
            if not self.diverged:
                values.append(value)
            return self.diverged

        self.diverged = self.branches([partial(run, one) for one in runs], falls_through=falls_through)
        return self.b.phi(values)

    def _if(self, node: tree_sitter.Node) -> int:
        condition, consequence = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        alternative = node.child_by_field_name("alternative")
        self.enter()
        if condition is not None:
            self.expr(condition)
        runs: list[Callable[[], int]] = [partial(self.expr, part) for part in (consequence,) if part is not None]
        if alternative is not None:
            runs.append(partial(self._else, alternative))
        value = self._alternatives(runs, falls_through=alternative is None)
        self.leave()
        return value

    def _else(self, node: tree_sitter.Node) -> int:
        inner = next((c for c in node.named_children if c.type not in ("line_comment", "block_comment")), None)
        return self.expr(inner) if inner is not None else NOTHING

    def _let_condition(self, node: tree_sitter.Node) -> int:
        pattern = node.child_by_field_name("pattern")
        value = self.field(node, "value")
        if pattern is not None:
            self.bind_pattern(pattern, value)
        return NOTHING

    def _match(self, node: tree_sitter.Node) -> int:
        value = self.field(node, "value")
        body = node.child_by_field_name("body")
        arms = [child for child in (body.named_children if body is not None else ()) if child.type == "match_arm"]
        return self._alternatives([partial(self._arm, arm, value) for arm in arms], falls_through=not arms)

    def _arm(self, arm: tree_sitter.Node, value: int) -> int:
        self.enter()
        pattern = arm.child_by_field_name("pattern")
        if pattern is not None:
            self.bind_pattern(pattern, value)
            condition = pattern.child_by_field_name("condition")
            if condition is not None:
                self.expr(condition)
        result = self.field(arm, "value")
        self.leave()
        return result

    def _loop(self, node: tree_sitter.Node) -> int:
        self.enter()
        self.forget(_written_in(node))
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if condition is not None:
            self.expr(condition)
        if body is not None:
            self._alternatives([partial(self.expr, body)], falls_through=True)
        self.leave()
        self.diverged = False
        return NOTHING

    def _for(self, node: tree_sitter.Node) -> int:
        pattern, body = node.child_by_field_name("pattern"), node.child_by_field_name("body")
        source = self.field(node, "value")
        self.enter()
        self.forget(_written_in(node))
        if source != NOTHING:
            names = ("into_iter", "next")
            self.b.site(SiteKind.PROTOCOL, source, owner=self.frame.owner, line=line_of(node), names=names)
        if pattern is not None:
            self.bind_pattern(pattern, self.b.op(Op.ITER, source) if source != NOTHING else NOTHING)
        if body is not None:
            self._alternatives([partial(self.expr, body)], falls_through=True)
        self.leave()
        self.diverged = False
        return NOTHING


def _written_in(node: tree_sitter.Node) -> set[str]:
    """Names that assignments in a loop write."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type == "assignment_expression":
            left = current.child_by_field_name("left")
            if left is not None and left.type == "identifier":
                found.add(text_of(left))
        waiting.extend(current.named_children)
    return found


_EXPRESSIONS: dict[str, Callable[[ExpressionWalk, tree_sitter.Node], int]] = {
    "identifier": ExpressionWalk._identifier,
    "self": ExpressionWalk._self,
    "scoped_identifier": ExpressionWalk._path,
    "generic_function": ExpressionWalk._generic_function,
    "field_expression": ExpressionWalk._field,
    "call_expression": ExpressionWalk._call,
    "macro_invocation": ExpressionWalk._macro,
    "parenthesized_expression": ExpressionWalk._inner,
    "reference_expression": ExpressionWalk._used_inner,
    "await_expression": ExpressionWalk._used_inner,
    "unsafe_block": ExpressionWalk._used_inner,
    "async_block": ExpressionWalk._used_inner,
    "const_block": ExpressionWalk._used_inner,
    "try_block": ExpressionWalk._used_inner,
    "unary_expression": ExpressionWalk._unary,
    "try_expression": ExpressionWalk._try,
    "binary_expression": ExpressionWalk._binary,
    "index_expression": ExpressionWalk._index,
    "type_cast_expression": ExpressionWalk._cast,
    "tuple_expression": ExpressionWalk._tuple,
    "array_expression": ExpressionWalk._array,
    "struct_expression": ExpressionWalk._struct,
    "closure_expression": ExpressionWalk._closure,
    "block": ExpressionWalk._block,
    "let_declaration": ExpressionWalk._let,
    "assignment_expression": ExpressionWalk._assignment,
    "compound_assignment_expr": ExpressionWalk._compound,
    "return_expression": ExpressionWalk._leave,
    "break_expression": ExpressionWalk._leave,
    "continue_expression": ExpressionWalk._leave,
    "if_expression": ExpressionWalk._if,
    "let_condition": ExpressionWalk._let_condition,
    "match_expression": ExpressionWalk._match,
    "while_expression": ExpressionWalk._loop,
    "loop_expression": ExpressionWalk._loop,
    "for_expression": ExpressionWalk._for,
    "string_literal": ExpressionWalk._text,
    "raw_string_literal": ExpressionWalk._text,
    **dict.fromkeys(
        (
            "integer_literal", "float_literal", "boolean_literal", "char_literal", "negative_literal", "unit_expression",
            "line_comment", "block_comment", "attribute_item", "inner_attribute_item", "empty_statement", "label", "lifetime",
            "function_item", "struct_item", "enum_item", "union_item", "trait_item", "impl_item", "mod_item", "use_declaration",
            "const_item", "static_item", "type_item", "macro_definition", "function_signature_item", "extern_crate_declaration",
            "foreign_mod_item", "visibility_modifier", "shorthand_field_identifier",
        ),
        ExpressionWalk._nothing,
    ),
}  # fmt: skip
