"""Imports and `__all__`: what a file brings in, and what it lists for others."""

from __future__ import annotations

import tree_sitter

from smp.domain.source import ImportDecl, Op
from smp.languages.python import grammar as g
from smp.languages.python.definitions import string_value
from smp.languages.python.expressions import ExpressionWalk
from smp.languages.python.scopes import CLASS, COMPREHENSION, MODULE


class ImportWalk(ExpressionWalk):
    """Effects of import statements."""

    # __all__ ---------------------------------------------------------------------------------------------------------

    def note_all(self, node: tree_sitter.Node, *, extend: bool) -> None:
        """Reads `__all__ = [...]`, `__all__ += [...]`; anything else makes the list unknown."""
        names = self.constant_names(node)
        if names is None:
            self.listed_known = False
        elif extend:
            self.listed = (self.listed or []) + names
        else:
            self.listed = names

    def constant_names(self, node: tree_sitter.Node) -> list[str] | None:
        """The texts of a list, tuple or sum of such; None if not constant."""
        if node.type in ("list", "tuple", "set"):
            values = [string_value(child, self.source) for child in node.named_children if child.kind_id != g.COMMENT]
            return None if any(value is None for value in values) else [value or "" for value in values]
        if node.type == "parenthesized_expression" and node.named_child_count == 1:
            return self.constant_names(node.named_children[0])
        if node.type == "binary_operator":
            left, right = node.child_by_field_id(g.F_LEFT), node.child_by_field_id(g.F_RIGHT)
            first = self.constant_names(left) if left is not None else None
            second = self.constant_names(right) if right is not None else None
            return None if first is None or second is None else first + second
        return None

    def note_all_call(self, node: tree_sitter.Node) -> None:
        """`__all__.extend([...])`, `.append("x")`."""
        callee, holder = node.child_by_field_id(g.F_FUNCTION), node.child_by_field_id(g.F_ARGUMENTS)
        if callee is None or holder is None or self.scope.kind != MODULE:
            return
        name = self.text(callee)
        plain = self.plain_arguments(holder)
        if name == "__all__.extend" and len(plain) == 1:
            self.note_all(plain[0], extend=True)
        elif name == "__all__.append" and len(plain) == 1:
            literal = string_value(plain[0], self.source)
            if literal is None:
                self.listed_known = False
            else:
                self.listed = [*(self.listed or []), literal]

    # Imports ---------------------------------------------------------------------------------------------------------

    def import_statement(self, node: tree_sitter.Node) -> bool:
        for name in node.children_by_field_name("name"):
            alias = name.child_by_field_id(g.F_ALIAS) if name.type == "aliased_import" else None
            dotted = name.child_by_field_id(g.F_NAME) if alias is not None else name
            if dotted is None or not dotted.named_child_count:
                continue
            module = self.dotted_text(dotted)
            bound = self.text(alias) if alias is not None else module.partition(".")[0]
            self.bind_import(node, module, "", bound, binds_root=alias is None and "." in module)
        return False

    def import_from(self, node: tree_sitter.Node) -> bool:
        holder = node.child_by_field_id(g.F_MODULE_NAME)
        module, level = "", 0
        if holder is not None and holder.type == "relative_import":
            for child in holder.named_children:
                if child.type == "import_prefix":
                    level = self.text(child).count(".")
                else:
                    module = self.dotted_text(child)
        elif holder is not None:
            module = self.dotted_text(holder)
        if any(child.type == "wildcard_import" for child in node.named_children):
            self.bind_import(node, module, "*", "", level=level)
            return False
        for name in node.children_by_field_name("name"):
            alias = name.child_by_field_id(g.F_ALIAS) if name.type == "aliased_import" else None
            inner = name.child_by_field_id(g.F_NAME) if alias is not None else name
            if inner is None:
                continue
            text = self.dotted_text(inner)
            self.bind_import(name, module, text, self.text(alias) if alias is not None else text, level=level)
        return False

    def dotted_text(self, node: tree_sitter.Node) -> str:
        """A dotted name without the blanks and line continuations it may contain."""
        return ".".join(self.text(child) for child in node.named_children) or self.text(node)

    def bind_import(
        self,
        node: tree_sitter.Node,
        module: str,
        name: str,
        bound: str,
        *,
        level: int = 0,
        binds_root: bool = False,
    ) -> None:
        """Notes one import and binds its name."""
        scope = self.scope
        while scope.kind == COMPREHENSION and scope.parent is not None:
            scope = scope.parent
        self.b.imports.append(
            ImportDecl(
                module=module,
                name=name,
                line=node.start_point.row + 1,
                owner=self.scope.owner,
                level=level,
                bound=bound,
                binds_root=binds_root,
                type_only=self.type_only,
                conditional=bool(self.in_condition),
                local=scope.kind not in (MODULE, CLASS),
            )
        )
        if not bound:
            return
        value = self.b.shared(Op.IMPORT, len(self.b.imports) - 1)
        if binds_root:
            # `import a.b` after `import a.c` binds the same `a`: both submodules are reached through either.
            present = self.scope.lookup(bound)
            value = self.b.phi([value, present]) if present is not None else value
        self.write(bound, value)
