"""Statements: control flow, assignments, imports. Definitions are in `bodies`."""

from __future__ import annotations

from collections.abc import Callable

import tree_sitter

from smp.domain.source import NOTHING, Op, SiteKind
from smp.languages.python import grammar as g
from smp.languages.python.narrowing import NarrowWalk
from smp.languages.python.scopes import CLASS, MODULE, Layer, case_names

_AUGMENTED = {
    "+=": "add", "-=": "sub", "*=": "mul", "/=": "truediv", "//=": "floordiv", "%=": "mod", "**=": "pow", "@=": "matmul",
    "&=": "and", "|=": "or", "^=": "xor", "<<=": "lshift", ">>=": "rshift",
}  # fmt: skip
_TARGET_LISTS = frozenset(
    {"pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", "expression_list"},
)


class StatementWalk(NarrowWalk):
    """Effects of statements. `block` and handlers return whether control has left (return, raise, break, continue)."""

    def block(self, node: tree_sitter.Node) -> bool:
        """Statements in order."""
        ended = False
        for child in node.named_children:
            if self.statement(child):
                ended = True
        return ended

    def statement(self, node: tree_sitter.Node) -> bool:
        """One statement (or stray expression in damaged code)."""
        handler = _TABLE.get(node.type)
        if handler is None:
            self.expr(node)
            return False
        if self.too_deep(node):
            return False
        self.depth += 1
        try:
            return handler(self, node)
        finally:
            self.depth -= 1

    def visit(self, node: tree_sitter.Node) -> None:
        self.statement(node)

    # Control flow ----------------------------------------------------------------------------------------------------

    def if_statement(self, node: tree_sitter.Node) -> bool:
        condition = node.child_by_field_id(g.F_CONDITION)
        alternatives = node.children_by_field_name("alternative")
        return self.branch(condition, node.child_by_field_id(g.F_CONSEQUENCE), alternatives)

    def branch(
        self,
        condition: tree_sitter.Node | None,
        consequence: tree_sitter.Node | None,
        alternatives: list[tree_sitter.Node],
    ) -> bool:
        """`if` and what follows it; `elif` is an `if` inside the other branch."""
        before = self.type_only
        for_types = condition is not None and self.text(condition).rpartition(".")[2] == "TYPE_CHECKING"
        if condition is not None:
            self.expr(condition)
        self.in_condition += 1
        self.push()
        if condition is not None:
            self.narrow(condition, positive=True)
        self.type_only = before or for_types
        ended = self.block(consequence) if consequence is not None else False
        self.type_only = before
        branches = [(self.pop(), ended)]
        self.push()
        if condition is not None:
            self.narrow(condition, positive=False)
        ended = False
        if alternatives:
            first = alternatives[0]
            if first.type == "elif_clause":
                inner = first.child_by_field_id(g.F_CONDITION)
                ended = self.branch(inner, first.child_by_field_id(g.F_CONSEQUENCE), alternatives[1:])
            else:
                body = first.child_by_field_id(g.F_BODY)
                ended = self.block(body) if body is not None else False
        branches.append((self.pop(), ended))
        self.in_condition -= 1
        return self.join(branches)

    def for_statement(self, node: tree_sitter.Node) -> bool:
        left, right = node.child_by_field_id(g.F_LEFT), node.child_by_field_id(g.F_RIGHT)
        source = self.expr(right) if right is not None else NOTHING

        def bind() -> None:
            if left is not None and right is not None:
                self.iterate(left, source, right, is_async=node.children[0].type == "async")

        return self.loop(node, bind)

    def while_statement(self, node: tree_sitter.Node) -> bool:
        condition = node.child_by_field_id(g.F_CONDITION)

        def test() -> None:
            if condition is not None:
                self.expr(condition)
                self.narrow(condition, positive=True)

        return self.loop(node, test)

    def loop(self, node: tree_sitter.Node, begin: Callable[[], None]) -> bool:
        """A loop: names written in its body hold, on entry, the value before or that of an earlier turn."""
        scope = self.scope
        carried: dict[str, int] = {}
        for name in sorted(scope.bindings.between(node.start_byte, node.end_byte)):
            value = scope.lookup(name)
            if value is None:
                continue
            index = self.b.variable(name)
            if value != NOTHING:
                self.b.op(Op.STORE, index, value)
            carried[name] = index
            scope.layers[-1][name] = self.b.shared(Op.VAR, index)
        exits: list[Layer] = []
        self.loops.append((len(scope.layers), exits))
        self.push()
        begin()
        body = node.child_by_field_id(g.F_BODY)
        ended = self.block(body) if body is not None else False
        layer = self.pop()
        self.loops.pop()
        ends = ([] if ended else [layer]) + exits
        for end in ends:
            for name, index in carried.items():
                value = end.get(name)
                if value is not None and value not in (NOTHING, self.b.shared(Op.VAR, index)):
                    self.b.op(Op.STORE, index, value)
        self.join([(end, False) for end in ends] + [(Layer(), False)])
        for name, index in carried.items():
            scope.layers[-1][name] = self.b.shared(Op.VAR, index)
        for alternative in node.children_by_field_name("alternative"):
            inner = alternative.child_by_field_id(g.F_BODY)
            if inner is not None:
                self.block(inner)
        return False

    def leave_loop(self, node: tree_sitter.Node) -> bool:
        if self.loops:
            depth, exits = self.loops[-1]
            merged = Layer()
            for layer in self.scope.layers[depth:]:
                merged.update(layer)
            exits.append(merged)
        return True

    def try_statement(self, node: tree_sitter.Node) -> bool:
        self.in_condition += 1
        self.push()
        body = node.child_by_field_id(g.F_BODY)
        ended = self.block(body) if body is not None else False
        handlers: list[tuple[Layer, bool]] = []
        written = self.pop()
        final: tree_sitter.Node | None = None
        for child in node.named_children:
            if child.type == "else_clause":
                self.scope.layers.append(written)
                inner = child.child_by_field_id(g.F_BODY)
                ended = (self.block(inner) if inner is not None else False) or ended
                written = self.pop()
            elif child.type in ("except_clause", "except_group_clause"):
                handlers.append(self.handler(child, written))
            elif child.type == "finally_clause":
                final = child
        self.in_condition -= 1
        left = self.join([(written, ended), *handlers])
        if final is not None:
            for child in final.named_children:
                if child.kind_id in g.BLOCK:
                    left = self.block(child) or left
        return left

    def handler(self, node: tree_sitter.Node, written: Layer) -> tuple[Layer, bool]:
        """An except clause: it begins with what was before the body or anything that the body wrote."""
        self.push()
        layer = self.scope.layers[-1]
        for name, value in written.items():
            before = self.scope.lookup(name)
            layer[name] = value if before is None else self.b.phi([before, value])
        ended = False
        for child in node.named_children:
            if child.kind_id in g.BLOCK:
                ended = self.block(child)
            elif child.type == "as_pattern":
                parts = child.named_children
                kind = self.exception_types(parts[0])
                target = child.child_by_field_id(g.F_ALIAS)
                if target is not None and target.named_child_count:
                    value = self.b.op(Op.INSTANCE, kind) if kind != NOTHING else NOTHING
                    self.assign(target.named_children[0], value)
            elif child.kind_id != g.COMMENT:
                self.exception_types(child)
        return self.pop(), ended

    def exception_types(self, node: tree_sitter.Node) -> int:
        """Type op of what an except clause catches."""
        if node.type in ("tuple", "parenthesized_expression"):
            kinds = [self.exception_types(child) for child in node.named_children if child.kind_id != g.COMMENT]
            kinds = [kind for kind in kinds if kind != NOTHING]
            return self.b.op(Op.UNION, *kinds) if kinds else NOTHING
        value = self.quiet(node)
        if value != NOTHING:
            line = node.start_point.row + 1
            self.b.site(SiteKind.REFERENCE, value, owner=self.scope.owner, line=line)
        return value

    def with_statement(self, node: tree_sitter.Node) -> bool:
        is_async = node.children[0].type == "async"
        names = ("__aenter__", "__aexit__") if is_async else ("__enter__", "__exit__")
        for clause in node.named_children:
            if clause.type != "with_clause":
                continue
            for item in clause.named_children:
                value_node = item.child_by_field_id(g.F_VALUE)
                if value_node is not None:
                    self.with_item(value_node, names)
        body = node.child_by_field_id(g.F_BODY)
        return self.block(body) if body is not None else False

    def with_item(self, node: tree_sitter.Node, names: tuple[str, str]) -> None:
        """One context manager and the name it is bound to."""
        if node.type in ("tuple", "parenthesized_expression") and any(
            c.type == "as_pattern" for c in node.named_children
        ):
            for child in node.named_children:
                self.with_item(child, names)
            return
        target: tree_sitter.Node | None = None
        if node.type == "as_pattern":
            holder = node.child_by_field_id(g.F_ALIAS)
            target = holder.named_children[0] if holder is not None and holder.named_child_count else None
            node = node.named_children[0]
        value = self.expr(node)
        self.protocol(value, node, names)
        if target is not None:
            self.assign(target, self.b.op(Op.ENTER, value) if value != NOTHING else NOTHING)

    def match_statement(self, node: tree_sitter.Node) -> bool:
        subject = node.child_by_field_id(g.F_SUBJECT)
        value = self.expr(subject) if subject is not None else NOTHING
        body = node.child_by_field_id(g.F_BODY)
        branches: list[tuple[Layer, bool]] = []
        exhaustive = False
        self.in_condition += 1
        for clause in body.named_children if body is not None else ():
            if clause.type != "case_clause":
                continue
            self.push()
            patterns = [child for child in clause.named_children if child.type == "case_pattern"]
            if len(patterns) == 1:
                self.case(patterns[0], value, subject)
            else:
                for pattern in patterns:
                    self.case(pattern, NOTHING, None)
            guard = clause.child_by_field_id(g.F_GUARD)
            if guard is not None:
                self.visit_children(guard)
            elif len(patterns) == 1 and self.text(patterns[0]).isidentifier():
                exhaustive = True
            inner = clause.child_by_field_id(g.F_CONSEQUENCE)
            ended = self.block(inner) if inner is not None else False
            branches.append((self.pop(), ended))
        self.in_condition -= 1
        if not exhaustive:
            branches.append((Layer(), False))
        return self.join(branches)

    def case(self, pattern: tree_sitter.Node, value: int, subject: tree_sitter.Node | None) -> None:
        """Binds the names of a case pattern; a class pattern narrows the subject."""
        inner = pattern.named_children[0] if pattern.type == "case_pattern" and pattern.named_child_count else pattern
        kind = NOTHING
        alias: tree_sitter.Node | None = None
        if inner.type == "as_pattern":
            alias = inner.named_children[-1]
            inner = inner.named_children[0]
            if inner.type == "case_pattern" and inner.named_child_count:
                inner = inner.named_children[0]
        if inner.type == "class_pattern" and inner.named_child_count:
            kind = self._dotted_class(inner.named_children[0])
        for name in case_names(inner):
            plain = inner.type == "dotted_name"
            self.write(self.text(name), value if plain else NOTHING)
        if kind != NOTHING and value != NOTHING:
            value = self.b.op(Op.NARROW, value, kind, 1)
            if subject is not None and subject.kind_id == g.IDENTIFIER:
                self.narrow_name(self.text(subject), kind, positive=True)
        if alias is not None and alias.kind_id == g.IDENTIFIER:
            self.write(self.text(alias), value)

    def _dotted_class(self, node: tree_sitter.Node) -> int:
        names = [self.text(child) for child in node.named_children]
        if not names:
            return NOTHING
        value = self.load(names[0])
        for name in names[1:]:
            value = self.b.op(Op.ATTR, value, self.b.name(name)) if value != NOTHING else NOTHING
        return value

    def return_statement(self, node: tree_sitter.Node) -> bool:
        if node.named_child_count:
            value = self.expr(node.named_children[0])
            if value != NOTHING:
                self.scope.returns.append(value)
        return True

    def raise_statement(self, node: tree_sitter.Node) -> bool:
        for child in node.named_children:
            self.expr(child)
        return True

    def assert_statement(self, node: tree_sitter.Node) -> bool:
        for child in node.named_children:
            self.expr(child)
        if node.named_child_count:
            self.narrow(node.named_children[0], positive=True)
        return False

    def expression_statement(self, node: tree_sitter.Node) -> bool:
        for child in node.named_children:
            handler = _TABLE.get(child.type)
            if handler is not None:
                handler(self, child)
            else:
                self.expr(child)
                if child.type == "call":
                    self.note_all_call(child)
        return False

    def delete_statement(self, node: tree_sitter.Node) -> bool:
        for child in node.named_children:
            parts = child.named_children if child.type == "expression_list" else [child]
            for part in parts:
                self.delete(part)
        return False

    def delete(self, node: tree_sitter.Node) -> None:
        """`del` of one target."""
        holder = node.child_by_field_id(g.F_OBJECT if node.type == "attribute" else g.F_VALUE)
        if node.type == "attribute" and holder is not None:
            value = self.quiet(holder)
            name = node.child_by_field_id(g.F_ATTRIBUTE)
            if value != NOTHING and name is not None:
                line = node.start_point.row + 1
                owner = self.scope.owner
                self.b.site(SiteKind.DELETE, value, owner=owner, line=line, names=(self.text(name),))
        elif node.type == "subscript" and holder is not None:
            value = self.quiet(holder)
            self.subscript_key(node)
            self.protocol(value, node, ("__delitem__",))
        elif node.kind_id == g.IDENTIFIER:
            self.write(self.text(node), NOTHING)
        else:
            self.expr(node)

    def nothing_happens(self, node: tree_sitter.Node) -> bool:
        return False

    def walk_block(self, node: tree_sitter.Node) -> bool:
        return self.block(node)

    # Assignments -----------------------------------------------------------------------------------------------------

    def assignment(self, node: tree_sitter.Node) -> bool:
        left, right = node.child_by_field_id(g.F_LEFT), node.child_by_field_id(g.F_RIGHT)
        type_node = node.child_by_field_id(g.F_TYPE)
        kind = self.annotation(type_node) if type_node is not None else NOTHING
        targets = [left] if left is not None else []
        while right is not None and right.type == "assignment":
            inner = right.child_by_field_id(g.F_LEFT)
            if inner is not None:
                targets.append(inner)
            right = right.child_by_field_id(g.F_RIGHT)
        value = self.expr(right) if right is not None else NOTHING
        if right is not None and self.scope.kind == MODULE and any(self.text(t) == "__all__" for t in targets):
            self.note_all(right, extend=False)
        if right is not None:
            self.note_pattern(targets, right)
        for target in targets:
            if kind != NOTHING:
                self.declare(target, kind, value, is_written=right is not None)
            elif right is not None:
                self.assign(target, value)
        return False

    def declare(self, target: tree_sitter.Node, kind: int, value: int, *, is_written: bool) -> None:
        """An annotated assignment, or an annotation without value."""
        declared = self.b.op(Op.INSTANCE, kind)
        if target.kind_id == g.IDENTIFIER:
            name = self.text(target)
            if self.scope.kind == CLASS:
                self.scope.annotations[name] = kind
                if is_written:
                    self.write(name, value)
                return
            # What was constructed is better known than what was declared; else the declaration counts.
            sure = value != NOTHING and self.b.ops[value][0] in (Op.CALL, Op.SEQ, Op.MAP, Op.FUNC, Op.CLASS)
            if not sure and value != NOTHING:
                declared = self.b.op(Op.DECLARED, value, kind)  # functions and containers stay what they are
            self.write(name, self.b.phi([value, declared]) if sure else declared)
            return
        if target.type == "attribute":
            holder, name_node = target.child_by_field_id(g.F_OBJECT), target.child_by_field_id(g.F_ATTRIBUTE)
            scope = self.method_scope()
            if holder is not None and name_node is not None and scope is not None:
                base = self.quiet(holder)
                if base != NOTHING and self.b.ops[base] == (int(Op.RECEIVER), scope.function):
                    draft = next((d for d in self.drafts if d.index == scope.class_index), None)
                    if draft is not None:
                        draft.annotations.setdefault(self.text(name_node), kind)
        if is_written:
            self.assign(target, value)

    def given_field(self, base: int, name: str, value: int) -> None:
        """Notes a field of the class around that is given a parameter: it may have the parameter's type."""
        if self.b.ops[value][0] == Op.PARAM and self.b.ops[base][0] == Op.RECEIVER:
            draft = next((d for d in self.drafts if d.index == self.scope.class_index), None)
            if draft is not None and draft.type_params:
                draft.given.append((name, value))

    def assign(self, target: tree_sitter.Node, value: int) -> None:
        kind = target.type
        if target.kind_id == g.IDENTIFIER:
            self.write(self.text(target), value)
        elif kind == "attribute":
            holder, name = target.child_by_field_id(g.F_OBJECT), target.child_by_field_id(g.F_ATTRIBUTE)
            base = self.quiet(holder) if holder is not None else NOTHING
            if base != NOTHING and name is not None:
                text = self.text(name)
                if value != NOTHING:
                    self.b.op(Op.STORE_ATTR, base, self.b.name(text), value)
                    self.given_field(base, text, value)
                line = target.start_point.row + 1
                self.b.site(SiteKind.SET, base, owner=self.scope.owner, line=line, names=(text,))
        elif kind == "subscript":
            holder = target.child_by_field_id(g.F_VALUE)
            base = self.quiet(holder) if holder is not None else NOTHING
            _, constant, _ = self.subscript_key(target)
            self.protocol(base, target, ("__setitem__",))
            if base != NOTHING and value != NOTHING:
                self.b.op(Op.STORE_ITEM, base, constant, value)
        elif kind in _TARGET_LISTS:
            self.unpack(target, value)
        elif (kind in ("parenthesized_expression", "as_pattern_target") and target.named_child_count == 1) or (
            kind in ("list_splat_pattern", "list_splat") and target.named_child_count
        ):
            self.assign(target.named_children[0], value)
        else:
            self.visit_children(target)

    def unpack(self, target: tree_sitter.Node, value: int) -> None:
        """Assignment to several targets, by position; positions after a star count from the end."""
        parts = [child for child in target.named_children if child.kind_id != g.COMMENT]
        starred = False
        for position, part in enumerate(parts):
            is_star = part.type in ("list_splat_pattern", "list_splat")
            place = position - len(parts) if starred else position
            item = self.b.op(Op.UNPACK, value, place, int(is_star)) if value != NOTHING else NOTHING
            self.assign(part, item)
            starred = starred or is_star

    def augmented(self, node: tree_sitter.Node) -> bool:
        left, right = node.child_by_field_id(g.F_LEFT), node.child_by_field_id(g.F_RIGHT)
        if left is None or right is None:
            return False
        operator_node = node.child_by_field_id(g.F_OPERATOR)
        before = self.quiet(left)
        value = self.expr(right)
        name = _AUGMENTED.get(operator_node.type if operator_node is not None else "", "add")
        if self.holds(before, value):
            line = node.start_point.row + 1
            names = (f"__i{name}__", f"__{name}__", f"__r{name}__")
            self.b.site(SiteKind.OPERATOR, before, owner=self.scope.owner, line=line, names=names, other=value)
        if self.scope.kind == MODULE and self.text(left) == "__all__":
            self.note_all(right, extend=True)
        if left.kind_id == g.IDENTIFIER:
            merged = (
                self.b.op(Op.BINARY, before, value, self.b.name(f"__i{name}__"))
                if self.holds(before, value)
                else before
            )
            self.write(self.text(left), merged)
        elif left.type == "attribute":
            holder, attribute = left.child_by_field_id(g.F_OBJECT), left.child_by_field_id(g.F_ATTRIBUTE)
            if holder is not None and attribute is not None and before != NOTHING:
                base = self.b.ops[before][1]
                line = left.start_point.row + 1
                self.b.site(SiteKind.SET, base, owner=self.scope.owner, line=line, names=(self.text(attribute),))
        elif left.type == "subscript" and before != NOTHING:
            self.protocol(self.b.ops[before][1], left, ("__setitem__",))
        return False


_TABLE: dict[str, Callable[[StatementWalk, tree_sitter.Node], bool]] = {
    "if_statement": StatementWalk.if_statement,
    "for_statement": StatementWalk.for_statement,
    "while_statement": StatementWalk.while_statement,
    "try_statement": StatementWalk.try_statement,
    "with_statement": StatementWalk.with_statement,
    "match_statement": StatementWalk.match_statement,
    "return_statement": StatementWalk.return_statement,
    "raise_statement": StatementWalk.raise_statement,
    "assert_statement": StatementWalk.assert_statement,
    "break_statement": StatementWalk.leave_loop,
    "continue_statement": StatementWalk.leave_loop,
    "expression_statement": StatementWalk.expression_statement,
    "delete_statement": StatementWalk.delete_statement,
    "assignment": StatementWalk.assignment,
    "augmented_assignment": StatementWalk.augmented,
    "import_statement": StatementWalk.import_statement,
    "import_from_statement": StatementWalk.import_from,
    "future_import_statement": StatementWalk.nothing_happens,
    "pass_statement": StatementWalk.nothing_happens,
    "global_statement": StatementWalk.nothing_happens,
    "nonlocal_statement": StatementWalk.nothing_happens,
    "comment": StatementWalk.nothing_happens,
    "block": StatementWalk.walk_block,
    "ERROR": StatementWalk.walk_block,
}


def register(kind: str, handler: Callable[[StatementWalk, tree_sitter.Node], bool]) -> None:
    """Adds the statements that are defined in terms of these (definitions)."""
    _TABLE[kind] = handler
