"""Statements: variables, patterns, loops, resources, local functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tree_sitter

from smp.domain.source import NOTHING, Op
from smp.languages.csharp.calls import CallWalk
from smp.languages.nominal.syntax import first_of, parts_of, text_of

_PATTERNS = frozenset(
    {
        "declaration_pattern", "recursive_pattern", "constant_pattern", "relational_pattern", "and_pattern", "or_pattern",
        "negated_pattern", "parenthesized_pattern", "var_pattern", "list_pattern", "type_pattern", "discard", "tuple_pattern",
    }
)  # fmt: skip


class StatementWalk(CallWalk):
    """Runs the statements of a body in order."""

    def _block(self, node: tree_sitter.Node) -> None:
        self.frame.scopes.append({})
        self.statements(node.named_children)
        self.frame.scopes.pop()

    def statements(self, nodes: list[tree_sitter.Node]) -> None:
        """Statements of one block; its functions are known from its first line."""
        for child in nodes:
            if child.type == "local_function_statement":
                self.declare_function(child)
        for child in nodes:
            self.visit(child)

    def declare_function(self, node: tree_sitter.Node) -> None:
        """Makes a local function known; declarations say how."""
        raise NotImplementedError

    def fill_function(self, node: tree_sitter.Node) -> None:
        """Walks a local function; declarations say how."""
        raise NotImplementedError

    def _local_function(self, node: tree_sitter.Node) -> None:
        self.fill_function(node)

    def _parts(self, node: tree_sitter.Node) -> None:
        for child in node.named_children:
            self.visit(child)

    def _scoped(self, node: tree_sitter.Node) -> None:
        self.frame.scopes.append({})
        self._parts(node)
        self.frame.scopes.pop()

    def _if(self, node: tree_sitter.Node) -> None:
        self.decide()
        self._parts(node)

    def _for(self, node: tree_sitter.Node) -> None:
        self.decide()
        self._scoped(node)

    def variables(self, node: tree_sitter.Node) -> list[int]:
        """`T a = x, b`; the values of the variables."""
        type_op = self.type_of(node.child_by_field_name("type"))
        made: list[int] = []
        for declarator in parts_of(node):
            if declarator.type != "variable_declarator":
                continue
            name = declarator.child_by_field_name("name")
            parts = [part for part in parts_of(declarator) if part != name]
            value = self.leaving(parts[-1], type_op) if parts else NOTHING
            if name is not None and name.type == "tuple_pattern":
                continue
            held = self.declared(type_op, value)
            self.bind(text_of(name), held)
            made.append(held)
        return made

    def _declaration_statement(self, node: tree_sitter.Node) -> None:
        declaration = first_of(node, "variable_declaration")
        made = self.variables(declaration) if declaration is not None else []
        if any(child.type == "using" for child in node.children):
            for value in made:
                self.protocol(value, self._disposal(node), node)

    def _disposal(self, node: tree_sitter.Node) -> tuple[str, ...]:
        return ("DisposeAsync",) if any(child.type == "await" for child in node.children) else ("Dispose",)

    def _variable_declaration(self, node: tree_sitter.Node) -> None:
        self.variables(node)

    def _using(self, node: tree_sitter.Node) -> None:
        self.frame.scopes.append({})
        body = node.child_by_field_name("body")
        for child in parts_of(node):
            if child == body:
                continue
            made = self.variables(child) if child.type == "variable_declaration" else [self.expr(child)]
            for value in made:
                self.protocol(value, self._disposal(node), node)
        if body is not None:
            self.visit(body)
        self.frame.scopes.pop()

    def _for_each(self, node: tree_sitter.Node) -> None:
        self.decide()
        source = self.expr(node.child_by_field_name("right"))
        is_async = any(child.type == "await" for child in node.children)
        self.protocol(source, ("GetAsyncEnumerator",) if is_async else ("GetEnumerator",), node)
        self.frame.scopes.append({})
        type_op = self.type_of(node.child_by_field_name("type"))
        element = self.b.op(Op.ITER, source) if source != NOTHING else NOTHING
        left = node.child_by_field_name("left")
        if left is not None and left.type == "identifier":
            self.bind(text_of(left), self.declared(type_op, element))
        elif left is not None:
            self.unpack(left, element)
        body = node.child_by_field_name("body")
        if body is not None:
            self.visit(body)
        self.frame.scopes.pop()

    def _catch(self, node: tree_sitter.Node) -> None:
        self.decide()
        self.frame.scopes.append({})
        for child in node.named_children:
            if child.type == "catch_declaration":
                type_op = self.type_of(child.child_by_field_name("type"))
                self.bind(text_of(child.child_by_field_name("name")), self.instance(type_op))
            else:
                self.visit(child)
        self.frame.scopes.pop()

    def _throw(self, node: tree_sitter.Node) -> None:
        for child in parts_of(node):
            if child.type == "object_creation_expression" and self.frame.code is not None:
                self.frame.code.throws.add(text_of(child.child_by_field_name("type")))
            self.expr(child)

    def _throw_value(self, node: tree_sitter.Node) -> int:
        self._throw(node)
        return NOTHING

    def _return(self, node: tree_sitter.Node) -> None:
        for child in parts_of(node):
            value = self.leaving(child, self.frame.result)
            if value != NOTHING:
                self.frame.returns.append(value)

    def _arrow(self, node: tree_sitter.Node) -> None:
        self._return(node)

    # Switch and patterns ---------------------------------------------------------------------------------------------

    def _switch(self, node: tree_sitter.Node) -> None:
        subject = self.expr(node.child_by_field_name("value"))
        self.frame.scopes.append({})  # of all sections
        for section in parts_of(node.child_by_field_name("body")):
            self.decide()
            for child in section.named_children:
                self._arm_part(child, subject)
        self.frame.scopes.pop()

    def _arm_part(self, node: tree_sitter.Node, subject: int) -> None:
        if node.type in _PATTERNS:
            self.pattern(node, subject)
        else:
            self.visit(node)

    def _switch_value(self, node: tree_sitter.Node) -> int:
        parts = parts_of(node)
        subject = self.expr(parts[0]) if parts else NOTHING
        values: list[int] = []
        for arm in parts[1:]:
            self.decide()
            self.frame.scopes.append({})
            inner = parts_of(arm)
            for child in inner[:-1]:
                self._arm_part(child, subject)
            values.append(self.leaving(inner[-1]) if inner else NOTHING)
            self.frame.scopes.pop()
        return self.b.phi(values)

    def pattern(self, node: tree_sitter.Node, subject: int) -> None:
        """Binds what a pattern binds."""
        type_node, name = node.child_by_field_name("type"), node.child_by_field_name("name")
        type_op = self.type_of(type_node)
        if name is not None and node.type != "subpattern":
            value = self.instance(type_op) if type_op != NOTHING else subject
            self.bind(text_of(name), value)
        if node.type == "constant_pattern":
            for child in parts_of(node):
                self.expr(child)
            return
        inner = self.instance(type_op) if type_op != NOTHING else subject
        for child in parts_of(node):
            if child in (type_node, name):
                continue
            if (
                child.type in ("property_pattern_clause", "positional_pattern_clause", "subpattern")
                or child.type in _PATTERNS
            ):
                self.pattern(child, self._of_property(child, inner))

    def _of_property(self, node: tree_sitter.Node, value: int) -> int:
        if node.type != "subpattern":
            return value if node.type.endswith(("clause", "pattern")) else NOTHING
        named = first_of(node, "identifier")
        return self.attribute(value, text_of(named), named) if named is not None and value != NOTHING else NOTHING


STATEMENT_HANDLERS: dict[str, Callable[[Any, tree_sitter.Node], None]] = {
    "block": StatementWalk._block,
    "if_statement": StatementWalk._if,
    "while_statement": StatementWalk._if,
    "do_statement": StatementWalk._if,
    "for_statement": StatementWalk._for,
    "foreach_statement": StatementWalk._for_each,
    "local_declaration_statement": StatementWalk._declaration_statement,
    "variable_declaration": StatementWalk._variable_declaration,
    "using_statement": StatementWalk._using,
    "catch_clause": StatementWalk._catch,
    "throw_statement": StatementWalk._throw,
    "return_statement": StatementWalk._return,
    "yield_statement": StatementWalk._parts,
    "arrow_expression_clause": StatementWalk._arrow,
    "switch_statement": StatementWalk._switch,
    "local_function_statement": StatementWalk._local_function,
}
BOTH: dict[str, Callable[[Any, tree_sitter.Node], int]] = {
    "switch_expression": StatementWalk._switch_value,
    "throw_expression": StatementWalk._throw_value,
}
"""Expressions that hold statements' matters."""
