"""Statements: declarations, branches, loops, and what conditions say of names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import tree_sitter

from smp.domain.source import NOTHING, FunctionFlag, Op
from smp.languages.ecmascript.jsdoc import doc_types
from smp.languages.ecmascript.naming import statement_of
from smp.languages.ecmascript.narrowing import ASSERTED, NarrowWalk
from smp.languages.ecmascript.scopes import Binding
from smp.languages.ecmascript.syntax import CLASSES, body_of, line_of, text_of, unwrap
from smp.languages.ecmascript.type_expressions import is_mapped

_WRAPPERS = frozenset({"export_statement", "ambient_declaration", "labeled_statement", "expression_statement"})


class StatementWalk(NarrowWalk):
    """Runs the statements of a file in order. `visit` and the statements say True where nothing behind them is reached."""

    statement_handlers: dict[str, Callable[[Any, tree_sitter.Node], bool]]

    def visit(self, node: tree_sitter.Node) -> None:
        """A statement or an expression, whichever it is."""
        if node.type in self.statement_handlers:
            self.run(node)
        else:
            self.expr(node)

    def run(self, node: tree_sitter.Node) -> bool:
        """Walks one statement; True if it returns, throws or leaves."""
        if self.too_deep(node):
            return False
        handler = self.statement_handlers.get(node.type)
        if handler is None:
            self.parts(node)
            return False
        self.depth += 1
        try:
            return handler(self, node)
        finally:
            self.depth -= 1

    def statements(self, block: tree_sitter.Node) -> bool:
        """Walks the statements of a block, in its scope; what is declared in it is known from its first line."""
        before = self.scope
        self.scope = self.scopes.of(block, self.scope)
        ended = self.sequence(block.named_children)
        self.scope = before
        return ended

    def sequence(self, nodes: Iterable[tree_sitter.Node]) -> bool:
        """Walks statements one after another."""
        listed = [node for node in nodes if node.type != "comment"]
        self.hoist(listed)
        ended = False
        for node in listed:
            ended = self.run(node) or ended
        return ended

    # Declarations ----------------------------------------------------------------------------------------------------

    def hoist(self, nodes: Iterable[tree_sitter.Node]) -> None:
        """Makes functions, classes and types of a block known before its first statement runs."""
        functions: dict[Binding, list[tree_sitter.Node]] = {}
        for node in nodes:
            inner: tree_sitter.Node | None = node
            while inner is not None and inner.type in _WRAPPERS:
                inner = inner.child_by_field_name("declaration") or next(
                    (child for child in inner.named_children if child.type not in ("comment", "decorator")), None
                )
            name_node = inner.child_by_field_name("name") if inner is not None else None
            if inner is None or name_node is None:
                continue
            name = text_of(name_node)
            if inner.type in ("function_declaration", "generator_function_declaration", "function_signature"):
                binding = self.scope.find(name)
                if binding is not None:
                    functions.setdefault(binding, []).append(inner)
            elif inner.type in CLASSES or inner.type == "enum_declaration":
                self._reserve(self.scope.names.get(name), inner, interface=False)
            elif inner.type == "interface_declaration":
                known = self.scope.names.get(name)
                merged = known if known is not None and known.kind == "class" else None
                self._reserve(merged or self.scope.types.get(name), inner, interface=True)
        for binding, declared in functions.items():
            self._hoist_function(binding, declared)

    def _reserve(self, binding: Binding | None, node: tree_sitter.Node, *, interface: bool) -> None:
        """Gives a class or interface its row; a further declaration of the same name adds to it."""
        definition = self.outline.definition_of(node)
        if binding is None or definition is None or binding in self.draft_of:
            return
        draft = self.new_draft(definition.name, definition.index, interface=interface)
        self.draft_of[binding] = draft
        self.fix(binding, self.class_op(draft))

    def _hoist_function(self, binding: Binding, declared: list[tree_sitter.Node]) -> None:
        """All bodies are walked; the name holds the last of them, which for overloads is the implementation."""
        value = NOTHING
        for node in declared:
            if node.type != "function_signature":
                value = self.queue(node)
            else:
                signature = self.signature(node, None, int(FunctionFlag.OVERLOAD))
                value = signature if value == NOTHING else value
        written_again = binding.writes > len(declared) - 1
        if binding in self.scopes.makers:
            value = self._maker(binding, declared[-1], value)
        if written_again:
            self.write(binding, value)
        else:
            self.fix(binding, value)

    def _maker(self, binding: Binding, node: tree_sitter.Node, value: int) -> int:
        """A function with a prototype is a class whose constructor it is."""
        definition = self.outline.definition_of(node)
        draft = self.new_draft(binding.name, definition.index if definition is not None else NOTHING)
        draft.members.append(("constructor", value))
        self.draft_of[binding] = draft
        self.adopt(value, draft)
        return self.class_op(draft)

    def _function_declaration(self, node: tree_sitter.Node) -> bool:
        return False  # hoisted

    def _class_declaration(self, node: tree_sitter.Node) -> bool:
        self.class_value(node)
        return False

    def _interface(self, node: tree_sitter.Node) -> bool:
        name = node.child_by_field_name("name")
        binding = self.scope.find_type(text_of(name)) if name is not None else None
        draft = self.draft_of.get(binding) if binding is not None else None
        if draft is not None:
            self.fill_interface(node, draft)
        return False

    def _alias(self, node: tree_sitter.Node) -> bool:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        binding = self.scope.types.get(text_of(name)) if name is not None else None
        if binding is None or value is None:
            return False
        before, above = self.scope, self.alias
        self.scope, self.alias = self.scopes.of(node, self.scope), binding.name
        if value.type == "object_type" and not is_mapped(value):
            definition = self.outline.definition_of(node)
            draft = self.new_draft(
                binding.name, definition.index if definition is not None else NOTHING, interface=True
            )
            self.type_members(value, draft)
            type_op = self.nameless(draft)
        else:
            type_op = self.type_of(value)
        self.scope, self.alias = before, above
        if type_op != NOTHING:
            names = (self.b.name(parameter) for parameter in self.type_parameters(node))
            self.write(binding, self.b.op(Op.ALIAS_TYPE, type_op, *names))
        return False

    def _enum(self, node: tree_sitter.Node) -> bool:
        name = node.child_by_field_name("name")
        binding = self.scope.names.get(text_of(name)) if name is not None else None
        draft = self.draft_of.get(binding) if binding is not None else None
        if draft is not None:
            self.fill_enum(node, draft)
        return False

    def _variables(self, node: tree_sitter.Node) -> bool:
        for declarator in node.named_children:
            if declarator.type == "variable_declarator":
                self._declarator(declarator)
        return False

    def _declarator(self, node: tree_sitter.Node) -> None:
        pattern, value_node = node.child_by_field_name("name"), node.child_by_field_name("value")
        if pattern is None:
            return
        declared = self.annotation(node.child_by_field_name("type"))
        if not self.typed and declared == NOTHING and node.parent is not None:
            declared = self.documented_type(doc_types(statement_of(node)).type, line_of(node))
        if value_node is not None and self._required_names(pattern, value_node):
            return
        value = self.expr(value_node) if value_node is not None else NOTHING
        if declared != NOTHING:
            value = self.declared(declared, value)
        if value_node is None and declared == NOTHING and pattern.type == "identifier":
            return
        self.assign(pattern, value, node)

    def _required_names(self, pattern: tree_sitter.Node, value: tree_sitter.Node) -> bool:
        """`const { a, b: c } = require("./x")` imports those names."""
        value = unwrap(value)
        callee = value.child_by_field_name("function") if value.type == "call_expression" else None
        arguments = value.child_by_field_name("arguments")
        if pattern.type != "object_pattern" or callee is None or arguments is None or text_of(callee) != "require":
            return False
        if self.scope.find("require") is not None:
            return False
        members = pattern.named_children
        if not members or any(m.type not in ("shorthand_property_identifier_pattern", "pair_pattern") for m in members):
            return False
        for member in members:
            key = member.child_by_field_name("key") if member.type == "pair_pattern" else member
            target = member.child_by_field_name("value") if member.type == "pair_pattern" else member
            required = self.require(arguments, value, name=text_of(key)) if key is not None else None
            if required is None or target is None:
                return False
            self.assign(target, required, member)
        return True

    def declared(self, type_op: int, value: int) -> int:
        """The value of a variable with a declared type: what is made in place is exact, else the declaration holds."""
        return self.b.op(Op.DECLARED, value, type_op) if value != NOTHING else self.instance(type_op)

    # Branches and loops ----------------------------------------------------------------------------------------------

    def _if(self, node: tree_sitter.Node) -> bool:
        condition = node.child_by_field_name("condition")
        if condition is not None:
            self.expr(condition)
        start = self.frame.values
        branches = []
        self.conditional += 1
        for field, positive in (("consequence", True), ("alternative", False)):
            part = node.child_by_field_name(field)
            branches.append(self.branch(partial(self._conditional, condition, part, positive), start))
        self.conditional -= 1
        return self.join(branches)

    def _conditional(self, condition: tree_sitter.Node | None, part: tree_sitter.Node | None, positive: bool) -> bool:
        if condition is not None:
            self.narrow(condition, positive=positive)
        return self.run(part) if part is not None else False

    def _else(self, node: tree_sitter.Node) -> bool:
        return self.sequence(node.named_children)

    def _block(self, node: tree_sitter.Node) -> bool:
        return self.statements(node)

    def _loop(self, node: tree_sitter.Node) -> bool:
        before_scope = self.scope
        self.scope = self.scopes.of(node, self.scope)
        self.forget_written(node)
        for field in ("initializer", "condition"):
            part = node.child_by_field_name(field)
            if part is not None:
                self.visit(part)
        start = self.frame.values
        self.conditional += 1
        after = self.branch(partial(self._loop_body, node), start)
        self.conditional -= 1
        self.join([(dict(start), False), (after[0], False)])
        self.scope = before_scope
        return False

    def _loop_body(self, node: tree_sitter.Node) -> bool:
        condition, body, step = (node.child_by_field_name(f) for f in ("condition", "body", "increment"))
        if condition is not None and node.type != "do_statement":
            self.narrow(condition, positive=True)
        if body is not None:
            self.run(body)
        if step is not None:
            self.visit(step)
        return False

    def _for_in(self, node: tree_sitter.Node) -> bool:
        before_scope = self.scope
        self.scope = self.scopes.of(node, self.scope)
        left, right, body = (node.child_by_field_name(f) for f in ("left", "right", "body"))
        operator = node.child_by_field_name("operator")
        source = self.expr(right) if right is not None else NOTHING
        self.forget_written(node)
        element = self.b.const("String")
        if operator is not None and operator.type == "of":
            is_async = any(child.type == "await" for child in node.children)
            if right is not None:
                self.iterates(source, right, is_async=is_async)
            element = self.b.op(Op.ITER, source) if source != NOTHING else NOTHING
            if is_async and element != NOTHING:
                element = self.b.op(Op.AWAIT, element)
        start = self.frame.values
        self.conditional += 1
        after = self.branch(partial(self._for_in_body, left, element, body), start)
        self.conditional -= 1
        self.join([(dict(start), False), (after[0], False)])
        self.scope = before_scope
        return False

    def _for_in_body(self, left: tree_sitter.Node | None, element: int, body: tree_sitter.Node | None) -> bool:
        if left is not None:
            self.assign(left, element, left)
        if body is not None:
            self.run(body)
        return False

    def _switch(self, node: tree_sitter.Node) -> bool:
        value, body = node.child_by_field_name("value"), node.child_by_field_name("body")
        if value is not None:
            self.expr(value)
        if body is None:
            return False
        before_scope = self.scope
        self.scope = self.scopes.of(body, self.scope)
        cases = [child for child in body.named_children if child.type != "comment"]
        self.hoist(child for case in cases for child in case.named_children)
        start = self.frame.values
        ends: list[tuple[dict[Binding, int], bool]] = []
        fallen: dict[Binding, int] | None = None
        self.conditional += 1
        for case in cases:
            label = case.child_by_field_name("value")
            if label is not None:
                self.frame.values = dict(start)
                self.expr(label)
            self.frame.values = dict(start)
            if fallen is not None:
                self.join([(dict(start), False), (fallen, False)])
            elif value is not None and label is not None:
                self.narrow_by_literal(value, label, positive=True)
            ended = False
            for child in case.children_by_field_name("body"):
                if child.type != "comment":
                    ended = self.run(child) or ended
            left_by_break = any(child.type == "break_statement" for child in case.children_by_field_name("body"))
            if left_by_break or not ended:
                ends.append((self.frame.values, False))
            else:
                ends.append((self.frame.values, True))
            fallen = None if ended else self.frame.values
        self.conditional -= 1
        self.scope = before_scope
        if not any(case.type == "switch_default" for case in cases):
            ends.append((dict(start), False))
        return self.join(ends)

    def _try(self, node: tree_sitter.Node) -> bool:
        body, handler, last = (node.child_by_field_name(f) for f in ("body", "handler", "finalizer"))
        start = self.frame.values
        self.conditional += 1
        branches = [self.branch(partial(self._run_optional, body), start)]
        if handler is not None:
            self.frame.values = dict(start)
            if body is not None:
                self.forget_written(body)
            branches.append(self.branch(partial(self._catch, handler), self.frame.values))
        self.conditional -= 1
        ended = self.join(branches)
        if last is not None:
            finally_body = body_of(last)
            ended = (self.run(finally_body) if finally_body is not None else False) or ended
        return ended

    def _run_optional(self, node: tree_sitter.Node | None) -> bool:
        return self.run(node) if node is not None else False

    def _catch(self, node: tree_sitter.Node) -> bool:
        before = self.scope
        self.scope = self.scopes.of(node, self.scope)
        body = body_of(node)
        ended = self.run(body) if body is not None else False
        self.scope = before
        return ended

    def _return(self, node: tree_sitter.Node) -> bool:
        for child in node.named_children:
            if child.type != "comment":
                self.frame.returns.append(self.placed_in(self.expr(child), self.frame.returning))
        return True

    def _throw(self, node: tree_sitter.Node) -> bool:
        self.parts(node)
        return True

    def _leave(self, node: tree_sitter.Node) -> bool:
        return True

    def _parts(self, node: tree_sitter.Node) -> bool:
        for child in node.named_children:
            if child.type == "comment":
                continue
            if child.type in self.statement_handlers:
                return self.run(child)
            self.quiet_statement(child)
        return False

    def quiet_statement(self, node: tree_sitter.Node) -> None:
        """An expression whose value nobody takes; an assertion says something of what follows."""
        self.quiet(node)
        inner = unwrap(node)
        if inner.type == "call_expression" and self.may_assert(inner):
            self.narrow_by_predicate(inner, how=ASSERTED)


STATEMENT_HANDLERS: dict[str, Callable[[Any, tree_sitter.Node], bool]] = {
    "function_declaration": StatementWalk._function_declaration,
    "generator_function_declaration": StatementWalk._function_declaration,
    "function_signature": StatementWalk._function_declaration,
    "class_declaration": StatementWalk._class_declaration,
    "abstract_class_declaration": StatementWalk._class_declaration,
    "interface_declaration": StatementWalk._interface,
    "type_alias_declaration": StatementWalk._alias,
    "enum_declaration": StatementWalk._enum,
    "lexical_declaration": StatementWalk._variables,
    "variable_declaration": StatementWalk._variables,
    "if_statement": StatementWalk._if,
    "else_clause": StatementWalk._else,
    "statement_block": StatementWalk._block,
    "for_statement": StatementWalk._loop,
    "while_statement": StatementWalk._loop,
    "do_statement": StatementWalk._loop,
    "for_in_statement": StatementWalk._for_in,
    "switch_statement": StatementWalk._switch,
    "try_statement": StatementWalk._try,
    "return_statement": StatementWalk._return,
    "throw_statement": StatementWalk._throw,
    "break_statement": StatementWalk._leave,
    "continue_statement": StatementWalk._leave,
    "expression_statement": StatementWalk._parts,
    "labeled_statement": StatementWalk._parts,
    "ambient_declaration": StatementWalk._parts,
}
"""By node type; modules add theirs."""
