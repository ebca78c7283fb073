"""Statements: declarations of variables, patterns, loops, resources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tree_sitter

from smp.domain.source import NOTHING, Op
from smp.languages.java.expressions import ExpressionWalk
from smp.languages.nominal.syntax import parts_of, text_of

_TYPES = frozenset({"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"})


class StatementWalk(ExpressionWalk):
    """Runs the statements of a body in order."""

    name_hint: str = ""
    """The variable that the next expression is bound to."""

    def _block(self, node: tree_sitter.Node) -> None:
        self.frame.scopes.append({})
        for child in node.named_children:
            if child.type in _TYPES:
                self.local_type(child)
        for child in node.named_children:
            if child.type not in _TYPES:
                self.visit(child)
        self.frame.scopes.pop()

    def local_type(self, node: tree_sitter.Node) -> None:
        """A class in a body; declarations say how."""
        raise NotImplementedError

    def _variables(self, node: tree_sitter.Node) -> None:
        type_node = node.child_by_field_name("type")
        type_op = self.type_of(type_node)
        for declarator in node.children_by_field_name("declarator"):
            name = text_of(declarator.child_by_field_name("name"))
            dimensions = text_of(declarator.child_by_field_name("dimensions")).count("[")
            declared = self.array_of(type_op, dimensions) if dimensions else type_op
            self.name_hint = name
            value = self.expr(declarator.child_by_field_name("value"))
            self.name_hint = ""
            self.bind(name, self.declared(declared, value))

    def _if(self, node: tree_sitter.Node) -> None:
        self.decide()
        self._parts(node)

    def _parts(self, node: tree_sitter.Node) -> None:
        for child in node.named_children:
            self.visit(child)

    def _for(self, node: tree_sitter.Node) -> None:
        self.decide()
        self.frame.scopes.append({})
        self._parts(node)
        self.frame.scopes.pop()

    def _for_each(self, node: tree_sitter.Node) -> None:
        self.decide()
        source = self.expr(node.child_by_field_name("value"))
        self.protocol(source, ("iterator",), node)
        self.frame.scopes.append({})
        type_op = self.type_of(node.child_by_field_name("type"))
        element = self.b.op(Op.ITER, source) if source != NOTHING else NOTHING
        self.bind(text_of(node.child_by_field_name("name")), self.declared(type_op, element))
        body = node.child_by_field_name("body")
        if body is not None:
            self.visit(body)
        self.frame.scopes.pop()

    def _try(self, node: tree_sitter.Node) -> None:
        self.frame.scopes.append({})
        self._parts(node)
        self.frame.scopes.pop()

    def _resource(self, node: tree_sitter.Node) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            inner = parts_of(node)
            self.protocol(self.expr(inner[0]) if inner else NOTHING, ("close",), node)
            return
        type_op = self.type_of(node.child_by_field_name("type"))
        value = self.declared(type_op, self.expr(node.child_by_field_name("value")))
        self.bind(text_of(name), value)
        self.protocol(value, ("close",), node)

    def _catch(self, node: tree_sitter.Node) -> None:
        self.decide()
        self.frame.scopes.append({})
        for child in node.named_children:
            if child.type == "catch_formal_parameter":
                caught = next((part for part in child.named_children if part.type == "catch_type"), None)
                self.bind(text_of(child.child_by_field_name("name")), self.instance(self.type_of(caught)))
            else:
                self.visit(child)
        self.frame.scopes.pop()

    def _throw(self, node: tree_sitter.Node) -> None:
        for child in parts_of(node):
            if child.type == "object_creation_expression" and self.frame.code is not None:
                self.frame.code.throws.add(text_of(child.child_by_field_name("type")))
            self.expr(child)

    def _return(self, node: tree_sitter.Node) -> None:
        for child in parts_of(node):
            value = self.expr(child)
            if value != NOTHING:
                self.frame.returns.append(value)

    # Switch and patterns ---------------------------------------------------------------------------------------------

    def _switch(self, node: tree_sitter.Node) -> int:
        """A switch; as an expression its value is that of any branch."""
        subject = self.expr(node.child_by_field_name("condition"))
        values: list[int] = []
        self.frame.scopes.append({})  # of all groups; a rule has its own
        for case in parts_of(node.child_by_field_name("body")):
            self.decide()
            self.frame.scopes.append({} if case.type == "switch_rule" else self.frame.scopes[-1])
            yields, self.frame.yields = self.frame.yields, []
            for child in case.named_children:
                if child.type == "switch_label":
                    self._label(child, subject)
                elif child.type == "expression_statement" and case.type == "switch_rule":
                    values += [self.expr(part) for part in parts_of(child)]
                else:
                    self.visit(child)
            values += self.frame.yields
            self.frame.yields = yields
            self.frame.scopes.pop()
        self.frame.scopes.pop()
        return self.b.phi(values)

    def _label(self, node: tree_sitter.Node, subject: int) -> None:
        for child in node.named_children:
            if child.type == "pattern":
                self.pattern(child)
            elif (
                child.type == "identifier"
                and self.local(text_of(child)) is None
                and self.find_type(text_of(child)) is None
            ):
                continue  # a constant of the subject's enum
            else:
                self.visit(child)

    def _yield(self, node: tree_sitter.Node) -> None:
        self.frame.yields += [value for value in map(self.expr, parts_of(node)) if value != NOTHING]

    def pattern(self, node: tree_sitter.Node) -> None:
        """Binds the names of a type or record pattern."""
        kind = node.type
        parts = parts_of(node)
        if kind == "pattern":
            for part in parts:
                self.pattern(part)
        elif kind in ("type_pattern", "record_pattern_component"):
            inner = next((part for part in parts if part.type == "record_pattern"), None)
            if inner is not None:
                self.pattern(inner)
            elif len(parts) >= 2:
                self.bind(text_of(parts[-1]), self.instance(self.type_of(parts[-2])))
        elif kind == "record_pattern":
            type_op = self.type_of(parts[0]) if parts else NOTHING
            self.refer(type_op, node)
            body = next((part for part in parts if part.type == "record_pattern_body"), None)
            for part in parts_of(body):
                self.pattern(part)
        elif kind == "guard":
            for part in parts:
                self.expr(part)

    def _statement_switch(self, node: tree_sitter.Node) -> None:
        self._switch(node)

    def _constructor_call(self, node: tree_sitter.Node) -> None:
        self.constructor_call(node)

    def _local_type(self, node: tree_sitter.Node) -> None:
        self.local_type(node)


STATEMENT_HANDLERS: dict[str, Callable[[Any, tree_sitter.Node], None]] = {
    "block": StatementWalk._block,
    "constructor_body": StatementWalk._block,
    "local_variable_declaration": StatementWalk._variables,
    "if_statement": StatementWalk._if,
    "while_statement": StatementWalk._if,
    "do_statement": StatementWalk._if,
    "for_statement": StatementWalk._for,
    "enhanced_for_statement": StatementWalk._for_each,
    "try_statement": StatementWalk._try,
    "try_with_resources_statement": StatementWalk._try,
    "resource": StatementWalk._resource,
    "catch_clause": StatementWalk._catch,
    "throw_statement": StatementWalk._throw,
    "return_statement": StatementWalk._return,
    "yield_statement": StatementWalk._yield,
    "switch_statement": StatementWalk._statement_switch,
    "explicit_constructor_invocation": StatementWalk._constructor_call,
    **dict.fromkeys(sorted(_TYPES), StatementWalk._local_type),
}
SWITCH: dict[str, Callable[[Any, tree_sitter.Node], int]] = {"switch_expression": StatementWalk._switch}
"""What is a statement and an expression."""
