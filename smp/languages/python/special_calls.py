"""Calls of built-ins that do what syntax does elsewhere: `getattr`, `setattr`, `cast`, `import_module`."""

from __future__ import annotations

from collections.abc import Callable

import tree_sitter

from smp.domain.source import NOTHING, ImportDecl, Op, SiteKind
from smp.languages.python import grammar as g
from smp.languages.python.annotations import AnnotationWalk
from smp.languages.python.definitions import string_value

MIN_PATTERN = 3
"""Letters of a computed name that must be known: `getattr(self, "_" + name)` may be anything."""


class SpecialCallWalk(AnnotationWalk):
    """Values of such calls."""

    def plain_arguments(self, holder: tree_sitter.Node) -> list[tree_sitter.Node]:
        """Argument nodes that are neither keyword nor starred."""
        skipped = ("keyword_argument", "list_splat", "dictionary_splat", "comment")
        return [child for child in holder.named_children if child.type not in skipped]

    def special_getattr(self, holder: tree_sitter.Node, operands: list[int], line: int) -> int | None:
        plain = self.plain_arguments(holder)
        if len(plain) < 2 or len(operands) < 6 or operands[2] == NOTHING:
            return None
        literal = string_value(plain[1], self.source)
        if literal is None:
            pattern = self.name_pattern(plain[1])
            if pattern is None:
                return None
            value = self.b.op(Op.NAMED_LIKE, operands[2], self.b.name(pattern[0]), self.b.name(pattern[1]))
        elif literal.isidentifier():
            value = self.b.op(Op.ATTR, operands[2], self.b.name(literal))
            self.b.site(SiteKind.USE, value, owner=self.scope.owner, line=line)
        else:
            return None
        return self.b.phi([value, operands[8]]) if len(operands) >= 9 else value

    def special_setattr(self, holder: tree_sitter.Node, operands: list[int], line: int) -> int | None:
        plain = self.plain_arguments(holder)
        if len(plain) == 3 and len(operands) == 9 and operands[2] != NOTHING:
            literal = string_value(plain[1], self.source)
            if literal is not None:
                self.b.op(Op.STORE_ATTR, operands[2], self.b.name(literal), operands[8])
                names = (literal,)
                self.b.site(SiteKind.SET, operands[2], owner=self.scope.owner, line=line, names=names)
        return None

    def special_cast(self, holder: tree_sitter.Node, operands: list[int], line: int) -> int | None:
        plain = self.plain_arguments(holder)
        if len(plain) != 2:
            return None
        kind = self.annotation(plain[0])
        # The type tells instances; a function or container is what it was, whatever it is said to be.
        return self.b.op(Op.DECLARED, operands[5], kind) if kind != NOTHING else operands[5]

    def special_import(self, holder: tree_sitter.Node, operands: list[int], line: int) -> int | None:
        plain = self.plain_arguments(holder)
        literal = string_value(plain[0], self.source) if plain else None
        if literal is None or not all(part.isidentifier() for part in literal.lstrip(".").split(".")):
            return None
        name = literal.lstrip(".")
        self.b.imports.append(
            ImportDecl(
                module=name,
                name="",
                line=line,
                owner=self.scope.owner,
                level=len(literal) - len(name),
                conditional=bool(self.in_condition),
                local=self.scope is not self.module,
                dynamic=True,
            )
        )
        return self.b.shared(Op.IMPORT, len(self.b.imports) - 1)

    # Names that are computed -----------------------------------------------------------------------------------------

    def name_pattern(self, node: tree_sitter.Node) -> tuple[str, str] | None:
        """How a computed name begins and ends: `"visit_" + kind`, `f"on_{event}"`, or a variable that holds one."""
        if node.kind_id == g.IDENTIFIER:
            return self.patterns.get((self.scope.owner, self.text(node)))
        found = self._computed(node)
        return found if found is not None and len((found[0] + found[1]).strip("_")) >= MIN_PATTERN else None

    def note_pattern(self, targets: list[tree_sitter.Node], value: tree_sitter.Node) -> None:
        """An assignment: the variable holds a computed name from here on, or no longer does."""
        pattern = self.name_pattern(value) if value.type in _COMPUTED else None
        for target in targets:
            if target.kind_id == g.IDENTIFIER:
                key = (self.scope.owner, self.text(target))
                if pattern is not None:
                    self.patterns[key] = pattern
                else:
                    self.patterns.pop(key, None)

    def _computed(self, node: tree_sitter.Node) -> tuple[str, str] | None:
        if node.type == "binary_operator":
            left, right = node.child_by_field_id(g.F_LEFT), node.child_by_field_id(g.F_RIGHT)
            operator = node.child_by_field_id(g.F_OPERATOR)
            if left is None or right is None or operator is None:
                return None
            if operator.type == "%":
                return _split(string_value(left, self.source), "%s")
            if operator.type != "+":
                return None
            while left.type == "binary_operator" and (further := left.child_by_field_id(g.F_LEFT)) is not None:
                left = further
            return string_value(left, self.source) or "", string_value(right, self.source) or ""
        if node.kind_id == g.STRING and string_value(node, self.source) is None:
            parts = [child for child in node.children if child.type in ("string_content", "interpolation")]
            if not parts:
                return None
            ends = [self.text(part) if part.type == "string_content" else "" for part in (parts[0], parts[-1])]
            return ends[0], ends[1]
        if node.type == "call":
            callee = node.child_by_field_id(g.F_FUNCTION)
            holder = callee.child_by_field_id(g.F_OBJECT) if callee is not None and callee.type == "attribute" else None
            if holder is not None and callee is not None and self.text(callee).endswith(".format"):
                return _split(string_value(holder, self.source), "{}")
        return None


def _split(text: str | None, gap: str) -> tuple[str, str] | None:
    """What stands before and behind the one gap of a text."""
    if text is None or text.count(gap) != 1:
        return None
    before, _, behind = text.partition(gap)
    return before, behind


_COMPUTED = frozenset({"binary_operator", "string", "call"})

SPECIAL: dict[str, Callable[[SpecialCallWalk, tree_sitter.Node, list[int], int], int | None]] = {
    "getattr": SpecialCallWalk.special_getattr,
    "setattr": SpecialCallWalk.special_setattr,
    "cast": SpecialCallWalk.special_cast,
    "import_module": SpecialCallWalk.special_import,
    "__import__": SpecialCallWalk.special_import,
}
"""By the last part of the callee's text."""
