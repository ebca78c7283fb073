"""Go's statements in execution order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import tree_sitter

from smp.domain.source import NOTHING, Function, FunctionFlag, Op, Param
from smp.languages.blocks import Frame
from smp.languages.declared import text_of
from smp.languages.go.expressions import ExpressionWalk


class StatementWalk(ExpressionWalk):
    """Bodies. Statements say True where nothing behind them is reached."""

    def run_body(
        self, node: tree_sitter.Node, slot: int, definition: int, flags: FunctionFlag, owner: int, **known: int
    ) -> None:
        """Walks parameters and body of a function, and fills its row; `known`: cls, extension of the row."""
        frame = Frame(owner if definition == NOTHING else definition, slot)
        before, self.frame = self.frame, frame
        self.enter()
        self.type_parameters(node.child_by_field_name("type_parameters"))
        receiver = self.receiver(node.child_by_field_name("receiver"), slot)
        params = receiver + self.parameters(node.child_by_field_name("parameters"))
        for position, param in enumerate(params):
            if position >= len(receiver) and param.name != "_":
                self.declare(param.name, self.b.shared(Op.PARAM, slot, position))
        result = node.child_by_field_name("result")
        annotation = self.results(result)
        named = [text_of(n) for p in result.named_children for n in p.children_by_field_name("name")] if result else []
        if result is not None and result.type == "parameter_list":
            for param in self.parameters(result):
                if param.name != "_":
                    self.declare(param.name, self.instance(param.annotation))
        frame.named = named
        body = node.child_by_field_name("body")
        if body is not None:
            ended = self.block(body)
            if named and not ended:
                self.named_results()
        self.leave()
        self.finish_frame(frame)
        self.frame = before
        name = node.child_by_field_name("name")
        self.b.functions[slot] = Function(
            name=text_of(name) if name is not None else "",
            definition=definition,
            owner=owner,
            flags=int(flags),
            params=tuple(params),
            returns=tuple(dict.fromkeys(frame.returns)),
            annotation=annotation,
            cls=known.get("cls", NOTHING),
            extension=known.get("extension", NOTHING),
        )

    def named_results(self) -> None:
        """A bare return gives what the named results hold."""
        value = self.packed([self.load(name) if name != "_" else NOTHING for name in self.frame.named])
        if value != NOTHING:
            self.frame.returns.append(value)

    def type_parameters(self, node: tree_sitter.Node | None) -> None:
        """A type parameter stands for what it is bounded by."""
        for child in node.named_children if node is not None else ():
            bound = self.type_of(child.child_by_field_name("type"))
            for name in child.children_by_field_name("name"):
                self.bind(text_of(name), bound)

    def receiver(self, node: tree_sitter.Node | None, slot: int) -> list[Param]:
        """The receiver as a parameter; declarations say how."""
        raise NotImplementedError

    # Statements ------------------------------------------------------------------------------------------------------

    def block(self, node: tree_sitter.Node) -> bool:
        """The statements of a block or of a clause, in a scope of their own."""
        self.enter()
        ended = self.sequence(node)
        self.leave()
        return ended

    def sequence(self, node: tree_sitter.Node) -> bool:
        """Statements one after another."""
        ended = False
        for child in node.named_children:
            if child.type == "statement_list":
                ended = self.sequence(child) or ended
            else:
                ended = self.run(child) or ended
        return ended

    def run(self, node: tree_sitter.Node) -> bool:
        """One statement."""
        if self.too_deep(node):
            return False
        handler = _STATEMENTS.get(node.type)
        if handler is None:
            self.expr(node)
            return False
        self.depth += 1
        try:
            return handler(self, node)
        finally:
            self.depth -= 1

    def _short(self, node: tree_sitter.Node) -> bool:
        self._define(node.child_by_field_name("left"), node.child_by_field_name("right"))
        return False

    def _define(self, left: tree_sitter.Node | None, right: tree_sitter.Node | None) -> None:
        targets = [c for c in left.named_children if c.type != "comment"] if left is not None else []
        values = self.spread(self.listed(right), len(targets))
        for target, value in zip(targets, values, strict=False):
            name = text_of(target)
            if target.type != "identifier" or name == "_":
                continue
            known = self.scopes[-1].get(name)
            if known is not None and self.written(target) is not None:
                self.assign(target, value)  # `a, err := …` where err is of this block
            else:
                self.declare(name, value)

    def spread(self, values: list[int], wanted: int) -> list[int]:
        """One value for each target: the parts of a single call, or the values themselves."""
        if len(values) == wanted or wanted == 0:
            return values
        if len(values) != 1 or values[0] == NOTHING:
            return [NOTHING] * wanted
        source = values[0]
        if self.b.ops[source][0] != Op.CALL:
            # `v, ok := m[k]`, `x.(T)`, `<-ch`: the second is a truth value.
            return [source] + [NOTHING] * (wanted - 1)
        return [self.b.op(Op.UNPACK, source, position, 0) for position in range(wanted)]

    def assign(self, target: tree_sitter.Node, value: int) -> None:
        """Writes a variable, field or element."""
        while target.type == "parenthesized_expression" and target.named_children:
            target = target.named_children[0]
        if target.type == "identifier":
            local = self.written(target)
            if local is not None:
                self.store(local, value)
            elif value != NOTHING and text_of(target) in self.module_variables:
                self.module_stores.append((self.module_variables[text_of(target)], value))
        elif target.type == "selector_expression":
            operand, field = target.child_by_field_name("operand"), target.child_by_field_name("field")
            holder = self.quiet(operand) if operand is not None else NOTHING
            if holder != NOTHING and field is not None and value != NOTHING:
                self.b.op(Op.STORE_ATTR, holder, self.b.name(text_of(field)), value)
        elif target.type == "index_expression":
            operand, index = target.child_by_field_name("operand"), target.child_by_field_name("index")
            holder = self.quiet(operand) if operand is not None else NOTHING
            if index is not None:
                self.expr(index)
            if holder != NOTHING and value != NOTHING:
                self.b.op(Op.STORE_ITEM, holder, NOTHING, value)
        else:
            self.expr(target)

    module_variables: dict[str, int]
    module_stores: list[tuple[int, int]]

    def _assignment(self, node: tree_sitter.Node) -> bool:
        left, right, operator = (node.child_by_field_name(f) for f in ("left", "right", "operator"))
        targets = [c for c in left.named_children if c.type != "comment"] if left is not None else []
        values = self.spread(self.listed(right), len(targets))
        if operator is not None and operator.type != "=":
            values = [NOTHING] * len(targets)
            for target in targets:
                self.expr(target)
            return False
        for target, value in zip(targets, values, strict=False):
            self.assign(target, value)
        return False

    def _variables(self, node: tree_sitter.Node) -> bool:
        for spec in specs(node):
            type_op = self.type_of(spec.child_by_field_name("type"))
            names = [n for n in spec.children_by_field_name("name") if n.type == "identifier"]
            values = self.spread(self.listed(spec.child_by_field_name("value")), len(names)) or [NOTHING] * len(names)
            for name, value in zip(names, values, strict=False):
                if text_of(name) != "_":
                    self.declare(text_of(name), self.declared(value, type_op))
        return False

    def _types(self, node: tree_sitter.Node) -> bool:
        """A type declared in a function; declarations say how."""
        self.local_types(node)
        return False

    def local_types(self, node: tree_sitter.Node) -> None:
        """Types of a block."""
        raise NotImplementedError

    def _return(self, node: tree_sitter.Node) -> bool:
        listed = next((c for c in node.named_children if c.type != "comment"), None)
        if listed is not None:
            value = self.packed(self.listed(listed))
            if value != NOTHING:
                self.frame.returns.append(value)
        elif self.frame.named:
            self.named_results()
        return True

    def _leave(self, node: tree_sitter.Node) -> bool:
        return False  # what follows is reached by other ways of the loop or switch

    def _if(self, node: tree_sitter.Node) -> bool:
        self.enter()
        for field in ("initializer", "condition"):
            part = node.child_by_field_name(field)
            if part is not None:
                self.run(part)
        parts = [node.child_by_field_name(f) for f in ("consequence", "alternative")]
        runs = [partial(self._part, part) for part in parts if part is not None]
        ended = self.branches(runs, falls_through=parts[1] is None)
        self.leave()
        return ended

    def _part(self, node: tree_sitter.Node) -> bool:
        return self.run(node)

    def _block(self, node: tree_sitter.Node) -> bool:
        return self.block(node)

    def _for(self, node: tree_sitter.Node) -> bool:
        self.enter()
        body = node.child_by_field_name("body")
        heads = [c for c in node.named_children if c.type != "comment" and c != body]
        head = heads[0] if heads else None
        if head is not None and head.type == "for_clause":
            initializer = head.child_by_field_name("initializer")
            if initializer is not None:
                self.run(initializer)
        self.forget(_written_in(node))
        if head is not None and head.type == "range_clause":
            self._range(head)
        elif head is not None and head.type == "for_clause":
            condition = head.child_by_field_name("condition")
            if condition is not None:
                self.expr(condition)
        elif head is not None:
            self.expr(head)
        update = head.child_by_field_name("update") if head is not None and head.type == "for_clause" else None
        self.branches([partial(self._round, body, update)], falls_through=True)
        self.leave()
        return False

    def _round(self, body: tree_sitter.Node | None, update: tree_sitter.Node | None) -> bool:
        if body is not None:
            self.block(body)
        if update is not None:
            self.run(update)
        return False

    def _range(self, head: tree_sitter.Node) -> None:
        left, right = head.child_by_field_name("left"), head.child_by_field_name("right")
        source = self.expr(right) if right is not None else NOTHING
        targets = [c for c in left.named_children if c.type != "comment"] if left is not None else []
        values = [NOTHING, NOTHING]
        if source != NOTHING:
            values = [self.b.op(Op.ITER, source), self.b.op(Op.ITEM, source, NOTHING, NOTHING, NOTHING)]
        declares = any(child.type == ":=" for child in head.children)
        for target, value in zip(targets, values, strict=False):
            if declares and target.type == "identifier":
                self.declare(text_of(target), value)
            elif not declares:
                self.assign(target, value)

    def _switch(self, node: tree_sitter.Node) -> bool:
        self.enter()
        for field in ("initializer", "value"):
            part = node.child_by_field_name(field)
            if part is not None:
                self.run(part)
        cases = [c for c in node.named_children if c.type in ("expression_case", "default_case")]
        for case in cases:
            self.listed(case.child_by_field_name("value"))
        runs = [partial(self._case, case) for case in cases]
        ended = self.branches(runs, falls_through=not any(c.type == "default_case" for c in cases))
        self.leave()
        return ended

    def _case(self, case: tree_sitter.Node) -> bool:
        self.enter()
        ended = False
        for child in case.named_children:
            if child.type == "statement_list":
                ended = self.sequence(child) or ended
        self.leave()
        return ended and not _breaks(case)

    def _type_switch(self, node: tree_sitter.Node) -> bool:
        self.enter()
        initializer, value = node.child_by_field_name("initializer"), node.child_by_field_name("value")
        if initializer is not None:
            self.run(initializer)
        subject = self.expr(value) if value is not None else NOTHING
        alias = node.child_by_field_name("alias")
        name = text_of(alias) if alias is not None else ""
        cases = [c for c in node.named_children if c.type in ("type_case", "default_case")]
        runs = [partial(self._type_case, case, name, subject) for case in cases]
        ended = self.branches(runs, falls_through=not any(c.type == "default_case" for c in cases))
        self.leave()
        return ended

    def _type_case(self, case: tree_sitter.Node, name: str, subject: int) -> bool:
        self.enter()
        types = [self.type_of(child) for child in case.children_by_field_name("type")]
        if name:
            self.declare(name, self.instance(types[0]) if len(types) == 1 else subject)
        ended = self._case(case)
        self.leave()
        return ended

    def _select(self, node: tree_sitter.Node) -> bool:
        cases = [c for c in node.named_children if c.type in ("communication_case", "default_case")]
        return self.branches([partial(self._communication, case) for case in cases], falls_through=not cases)

    def _communication(self, case: tree_sitter.Node) -> bool:
        self.enter()
        part = case.child_by_field_name("communication")
        if part is not None:
            self.run(part)
        ended = self._case(case)
        self.leave()
        return ended

    def _receive(self, node: tree_sitter.Node) -> bool:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None:
            self.listed(right)
        elif any(child.type == ":=" for child in node.children):
            self._define(left, right)
        else:
            targets = left.named_children
            for target, value in zip(targets, self.spread(self.listed(right), len(targets)), strict=False):
                self.assign(target, value)
        return False

    def _send(self, node: tree_sitter.Node) -> bool:
        channel, value = node.child_by_field_name("channel"), node.child_by_field_name("value")
        holder = self.expr(channel) if channel is not None else NOTHING
        sent = self.expr(value) if value is not None else NOTHING
        if holder != NOTHING and sent != NOTHING:
            self.b.op(Op.STORE_ITEM, holder, NOTHING, sent)
        return False

    def _labeled(self, node: tree_sitter.Node) -> bool:
        ended = False
        for child in node.named_children:
            if child.type not in ("label_name", "comment"):
                ended = self.run(child)
        return ended


def specs(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The entries of a `var`, `const` or `type` declaration, in parentheses or not."""
    for child in node.named_children:
        if child.type == "var_spec_list":
            yield from (c for c in child.named_children if c.type == "var_spec")
        elif child.type in ("var_spec", "const_spec", "type_spec", "type_alias"):
            yield child


def _written_in(node: tree_sitter.Node) -> set[str]:
    """Names that assignments in a loop write."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type == "assignment_statement" or current.type == "range_clause":
            left = current.child_by_field_name("left")
            found |= {text_of(c) for c in (left.named_children if left is not None else ()) if c.type == "identifier"}
        waiting.extend(current.named_children)
    return found


def _breaks(node: tree_sitter.Node) -> bool:
    """Whether a clause may be left by `break` before its end."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type == "break_statement":
            return True
        if current.type != "func_literal":
            waiting.extend(current.named_children)
    return False


_STATEMENTS: dict[str, Callable[[StatementWalk, tree_sitter.Node], bool]] = {
    "block": StatementWalk._block,
    "short_var_declaration": StatementWalk._short,
    "assignment_statement": StatementWalk._assignment,
    "var_declaration": StatementWalk._variables,
    "const_declaration": StatementWalk._variables,
    "type_declaration": StatementWalk._types,
    "return_statement": StatementWalk._return,
    "break_statement": StatementWalk._leave,
    "continue_statement": StatementWalk._leave,
    "goto_statement": StatementWalk._leave,
    "fallthrough_statement": StatementWalk._leave,
    "if_statement": StatementWalk._if,
    "for_statement": StatementWalk._for,
    "expression_switch_statement": StatementWalk._switch,
    "type_switch_statement": StatementWalk._type_switch,
    "select_statement": StatementWalk._select,
    "receive_statement": StatementWalk._receive,
    "send_statement": StatementWalk._send,
    "labeled_statement": StatementWalk._labeled,
}
