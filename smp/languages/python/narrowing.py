"""Conditions that say of which type or kind a name is."""

from __future__ import annotations

import tree_sitter

from smp.domain.source import NOTHING, Op
from smp.languages.python import grammar as g
from smp.languages.python.imports import ImportWalk
from smp.languages.python.scopes import CLASS

_KIND_TESTS = frozenset({"callable", "isfunction", "ismethod", "isclass", "iscoroutinefunction"})
"""Functions that say of which kind their argument is (`smp.languages.python.tables`)."""


class NarrowWalk(ImportWalk):
    """Binds names anew where a condition holds, or fails."""

    def narrow(self, condition: tree_sitter.Node, *, positive: bool) -> None:
        kind = condition.type
        if kind == "parenthesized_expression" and condition.named_child_count == 1:
            self.narrow(condition.named_children[0], positive=positive)
        elif kind == "not_operator":
            argument = condition.child_by_field_id(g.F_ARGUMENT)
            if argument is not None:
                self.narrow(argument, positive=not positive)
        elif kind == "boolean_operator":
            # `a and b` holds: both do. `a or b` fails: both do. Nothing is known otherwise.
            if any(child.type == ("and" if positive else "or") for child in condition.children):
                for child in condition.named_children:
                    self.narrow(child, positive=positive)
        elif kind == "call":
            callee, holder = condition.child_by_field_id(g.F_FUNCTION), condition.child_by_field_id(g.F_ARGUMENTS)
            if callee is None or holder is None:
                return
            plain = self.plain_arguments(holder)
            if self.text(callee).rpartition(".")[2] in _KIND_TESTS and len(plain) == 1:
                if plain[0].kind_id == g.IDENTIFIER:
                    self.test_kind(self.text(plain[0]), callee, positive=positive)
                return
            if len(plain) == 2 and plain[0].kind_id == g.IDENTIFIER and self.text(callee) == "isinstance":
                self.narrow_name(self.text(plain[0]), self.class_test(plain[1]), positive=positive)

    def class_test(self, node: tree_sitter.Node) -> int:
        """The type op of the second argument of isinstance."""
        if node.type in ("tuple", "parenthesized_expression"):
            parts = [self.class_test(child) for child in node.named_children if child.kind_id != g.COMMENT]
            if NOTHING in parts or not parts:
                return NOTHING
            return self.b.op(Op.UNION, *parts)
        if node.kind_id == g.IDENTIFIER:
            return self.load(self.text(node))
        if node.type in ("attribute", "binary_operator"):
            return self.annotation(node)
        return NOTHING

    def narrow_name(self, name: str, kind: int, *, positive: bool) -> None:
        """Binds a name to its value where it is (not) of a type."""
        value = self.load(name)
        if kind == NOTHING or value == NOTHING or self.scope.kind == CLASS:
            return
        narrowed = self.b.op(Op.NARROW, value, kind, int(positive))
        layer = self.scope.layers[-1]
        layer[name] = narrowed
        layer.narrowed[name] = (value, narrowed)

    def test_kind(self, name: str, callee: tree_sitter.Node, *, positive: bool) -> None:
        """Binds a name to its value where a test of its kind holds, or not."""
        value = self.load(name)
        if value == NOTHING or self.scope.kind == CLASS:
            return
        tested = self.b.op(Op.PREDICATE, value, self.quiet(callee), int(positive))
        layer = self.scope.layers[-1]
        layer[name] = tested
        layer.narrowed[name] = (value, tested)
