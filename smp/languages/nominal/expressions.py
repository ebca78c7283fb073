"""Expressions and statements of Java and C#: what both walk alike."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, ClassVar

import tree_sitter

from smp.domain.source import NOTHING, Function, FunctionFlag, Op, Param
from smp.languages.nominal.definitions import comment_lines
from smp.languages.nominal.walk import NominalWalk, is_comment


class NominalExpressions(NominalWalk, abc.ABC):
    """Values of expressions, by kind of node."""

    handlers: ClassVar[dict[str, Callable[[Any, tree_sitter.Node], int]]] = {}
    statement_handlers: ClassVar[dict[str, Callable[[Any, tree_sitter.Node], None]]] = {}

    @abc.abstractmethod
    def expr(self, node: tree_sitter.Node | None) -> int:
        """The value of an expression."""

    def by_kind(self, node: tree_sitter.Node) -> int:
        """The value that the handler of the node's kind gives; a node without one has its parts walked."""
        handler = self.handlers.get(node.type)
        if handler is not None:
            return handler(self, node)
        for child in node.named_children:
            self.visit(child)
        return NOTHING

    def visit(self, node: tree_sitter.Node) -> None:
        """A statement, a comment or an expression, whichever it is."""
        handler = self.statement_handlers.get(node.type)
        if is_comment(node):
            if self.frame.code is not None:
                self.frame.code.comments.extend(comment_lines(node))
        elif handler is None:
            self.expr(node)
        elif not self.too_deep(node):
            self.depth += 1
            try:
                handler(self, node)
            finally:
                self.depth -= 1

    def lambda_of(self, slot: int, params: Callable[[], list[Param]], body: tree_sitter.Node | None) -> int:
        """An unnamed function. params: binds the parameters in the scope of the function and gives them."""
        self.frame.scopes.append({})
        returns, self.frame.returns = self.frame.returns, []
        taken = params()
        if body is not None and body.type == "block":
            self.visit(body)
            made = self.frame.returns
        else:
            made = [self.expr(body)]
        self.frame.returns = returns
        self.frame.scopes.pop()
        self.b.functions[slot] = Function(
            name="",
            definition=NOTHING,
            owner=self.frame.owner,
            flags=int(FunctionFlag.LAMBDA | FunctionFlag.ARROW),
            params=tuple(taken),
            returns=tuple(value for value in made if value != NOTHING),
        )
        return self.b.shared(Op.FUNC, slot)
