"""Calls, constructions, tagged templates, JSX elements, `require` and `import()` → ops and sites."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tree_sitter

from smp.domain.source import NOTHING, ArgKind, ImportDecl, Op, SiteKind
from smp.languages.ecmascript.expressions import OBJECT, ExpressionWalk
from smp.languages.ecmascript.scopes import prototype_argument
from smp.languages.ecmascript.syntax import key_name, line_of, member_path, one_line, string_value, text_of, unwrap
from smp.languages.ecmascript.testing import HOOKS, runner_name
from smp.languages.ecmascript.walk import ClassDraft

_LONG = 2000
CONSTRUCTOR = "constructor"
MODULE_VALUE = "export="
"""Name of what `require` gives: the value of `module.exports`, or the module itself where nothing was assigned to it."""


class CallWalk(ExpressionWalk):
    """Values of calls."""

    callback_owner: int | None = None
    """Definition that the calls in the next function arguments belong to (the test whose body they are)."""

    def _call(self, node: tree_sitter.Node) -> int:
        callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if callee is None or arguments is None:
            return self.parts(node)
        if arguments.type == "template_string":
            return self._tagged(node, callee, arguments)
        target = unwrap(callee)
        if target.type == "import":
            return self._dynamic_import(node, arguments)
        if target.type == "super":
            return self._super_call(node, target, arguments)
        if target.type == "identifier" and text_of(target) == "require" and self.scope.find("require") is None:
            required = self.require(arguments, node)
            if required is not None:
                return required
        value = self.invoke(node, callee, arguments, Op.CALL)
        if member_path(target) == ("Object", "assign") and self.scope.find("Object") is None:
            value = self.assigned(value)
        self._note_hook(callee, arguments)
        self._note_inherits(target, arguments)
        if prototype_argument(node) is not None:
            self.extend_prototype(value)
        return value

    def assigned(self, call: int) -> int:
        """`Object.assign({ … }, a, b)` is the literal with a and b spread behind; into other objects go what literals hold."""
        target, *sources = self.b.ops[call][4::3]
        if target == NOTHING or not sources:
            return call
        op = self.b.ops[target]
        if op[0] == Op.MAP:
            return self.b.op(Op.MAP, op[1], *self._merged(op, sources))
        for source in sources:
            entries = self.b.ops[source] if source != NOTHING else (0,)
            for at in range(2, len(entries) if entries[0] == Op.MAP else 0, 2):
                if entries[at] >= 0 and entries[at + 1] != NOTHING:
                    self.b.op(Op.STORE_ATTR, target, entries[at], entries[at + 1])
        return call

    def _merged(self, literal: tuple[int, ...], sources: list[int]) -> list[int]:
        """Entries of a literal with those of further ones, the last of a name counting; anything else is spread."""
        parts = list(literal[2:])
        for source in sources:
            op = self.b.ops[source] if source != NOTHING else (0,)
            keys = op[2::2] if op[0] == Op.MAP else ()
            if not keys or min(keys) < 0:
                parts += (-2, source)
                continue
            kept = [at for at in range(0, len(parts), 2) if parts[at] not in keys]
            parts = [part for at in kept for part in parts[at : at + 2]] + list(op[2:])
        return parts

    def extend_prototype(self, call: int) -> None:
        """`Object.assign(F.prototype, { … })` adds methods; modules say how."""
        raise NotImplementedError

    def _new(self, node: tree_sitter.Node) -> int:
        callee, arguments = node.child_by_field_name("constructor"), node.child_by_field_name("arguments")
        if callee is None:
            return self.parts(node)
        return self.invoke(node, callee, arguments, Op.NEW)

    def invoke(
        self, node: tree_sitter.Node, callee: tree_sitter.Node, arguments: tree_sitter.Node | None, code: Op
    ) -> int:
        """A call or construction, with its site."""
        target = unwrap(callee)
        callee_op = self.quiet(callee)
        name = target.child_by_field_name("property") if target.type == "member_expression" else None
        line = line_of(name if name is not None else target)
        operands = self.arguments(arguments, node) if arguments is not None else []
        given = node.child_by_field_name("type_arguments")
        for stated in given.named_children if given is not None else ():
            if stated.type != "comment":
                operands += (int(ArgKind.TYPE), NOTHING, self.type_of(stated))
        value = self.b.op(code, callee_op, *operands)
        shown = text_of(callee) if callee.end_byte - callee.start_byte <= _LONG else text_of(name or callee)
        self.b.site(SiteKind.CALL, value, owner=self.frame.owner, line=line, text=one_line(shown))
        return value

    def arguments(self, arguments: tree_sitter.Node, call: tree_sitter.Node) -> list[int]:
        """Operands for the arguments of a call; the body of a test belongs to the test."""
        definition = self.outline.definition_of(call)
        before = self.callback_owner
        self.callback_owner = definition.index if definition is not None else None
        operands: list[int] = []
        several = arguments.named_child_count > 1  # what goes along with a function has its name said
        for argument in arguments.named_children:
            if argument.type == "comment":
                continue
            if argument.type == "spread_element":
                operands += (int(ArgKind.STAR), NOTHING, self.spread(argument))
            else:
                name = self.b.name(text_of(argument)) if several and argument.type == "identifier" else NOTHING
                operands += (int(ArgKind.POSITIONAL), name, self.expr(argument))
        self.callback_owner = before
        return operands

    def _tagged(self, node: tree_sitter.Node, tag: tree_sitter.Node, template: tree_sitter.Node) -> int:
        """`tag`…`` is a call with the texts and then the values of the holes."""
        callee = self.quiet(tag)
        operands = [int(ArgKind.POSITIONAL), NOTHING, self.b.op(Op.SEQ, self.b.name("Array"))]
        for child in template.named_children:
            if child.type == "template_substitution":
                for inner in child.named_children:
                    operands += (int(ArgKind.POSITIONAL), NOTHING, self.expr(inner))
        value = self.b.op(Op.CALL, callee, *operands)
        self.b.site(SiteKind.CALL, value, owner=self.frame.owner, line=line_of(tag), text=one_line(text_of(tag)))
        return value

    def _super_call(self, node: tree_sitter.Node, target: tree_sitter.Node, arguments: tree_sitter.Node) -> int:
        """`super(…)` runs the constructor that the base class has, own or inherited."""
        operands = self.arguments(arguments, node)
        base = self.quiet(target)
        if base == NOTHING:
            return NOTHING
        callee = self.b.op(Op.ATTR, base, self.b.name(CONSTRUCTOR))
        self.b.op(Op.CALL, callee, *operands)
        # Not every class writes a constructor, and an implicit one is no call to report: a protocol, not a call site.
        self.b.site(SiteKind.PROTOCOL, base, owner=self.frame.owner, line=line_of(node), names=(CONSTRUCTOR,))
        return NOTHING

    # Modules by expression -------------------------------------------------------------------------------------------

    def require(self, arguments: tree_sitter.Node, node: tree_sitter.Node, *, name: str = MODULE_VALUE) -> int | None:
        """`require("x")` with a constant: an import, of one name where it is destructured."""
        given = [child for child in arguments.named_children if child.type != "comment"]
        module = string_value(given[0]) if len(given) == 1 else None
        if module and name == MODULE_VALUE and not module.startswith((".", "#", "/")):
            name = ""  # a package: what it assigns to `module.exports` is the package as far as names go
        return self.declare_import(module, name, node) if module else None

    def import_type(self, module: str, name: str, node: tree_sitter.Node) -> int:
        """A type that is taken from a module where it is named."""
        return self.declare_import(module, name, node, type_only=True)

    def declare_import(self, module: str, name: str, node: tree_sitter.Node, *, type_only: bool = False) -> int:
        """An import that stands in an expression."""
        self.b.imports.append(
            ImportDecl(
                module=module,
                name=name,
                line=self.doc_line or line_of(node),
                owner=self.frame.owner,
                type_only=type_only,
                conditional=bool(self.conditional),
                local=self.frame is not self.file_frame,
                dynamic=True,
            )
        )
        return self.b.shared(Op.IMPORT, len(self.b.imports) - 1)

    def _dynamic_import(self, node: tree_sitter.Node, arguments: tree_sitter.Node) -> int:
        given = [child for child in arguments.named_children if child.type != "comment"]
        module = string_value(given[0]) if given else None
        if module:
            return self.declare_import(module, "", node)
        self.arguments(arguments, node)
        return NOTHING

    # JSX -------------------------------------------------------------------------------------------------------------

    def _element(self, node: tree_sitter.Node) -> int:
        opening = node.child_by_field_name("open_tag")
        head = opening if opening is not None else node
        name = head.child_by_field_name("name")
        operands = [self.b.name(OBJECT), *self._properties(head)]
        children = [
            child for child in node.named_children if child.type not in ("jsx_opening_element", "jsx_closing_element")
        ]
        for child in children if opening is not None else ():
            value = self._child(child)
            if value != NOTHING:
                operands += (self.b.name("children"), value)
        if name is None or not _is_component(name):
            return NOTHING
        callee = self.quiet(name)
        properties = self.b.op(Op.MAP, *operands)
        value = self.b.op(Op.CALL, callee, int(ArgKind.POSITIONAL), NOTHING, properties)
        self.b.site(SiteKind.CALL, value, owner=self.frame.owner, line=line_of(name), text=one_line(text_of(name)))
        return NOTHING

    def _properties(self, head: tree_sitter.Node) -> list[int]:
        operands: list[int] = []
        for attribute in head.children_by_field_name("attribute"):
            if attribute.type == "jsx_expression":
                spread = next((child for child in attribute.named_children if child.type == "spread_element"), None)
                inner = spread.named_children[0] if spread is not None and spread.named_children else None
                operands += (-2, self.expr(inner) if inner is not None else NOTHING)
                continue
            key = next(iter(attribute.named_children), None)
            value = attribute.named_children[1] if attribute.named_child_count > 1 else None
            name = key_name(key)
            if name:
                operands += (self.b.name(name), self._child(value) if value is not None else NOTHING)
        return operands

    def _child(self, node: tree_sitter.Node) -> int:
        if node.type != "jsx_expression":
            return self.quiet(node)
        value = NOTHING
        for inner in node.named_children:
            value = self.spread(inner) if inner.type == "spread_element" else self.expr(inner)
        return value

    def _note_inherits(self, callee: tree_sitter.Node, arguments: tree_sitter.Node) -> None:
        """`util.inherits(A, B)` makes B the base of A."""
        name = callee.child_by_field_name("property") if callee.type == "member_expression" else callee
        given = [child for child in arguments.named_children if child.type != "comment"]
        if name is None or text_of(name) != "inherits" or len(given) < 2 or given[0].type != "identifier":
            return
        binding = self.scope.find(text_of(given[0]))
        draft = self.draft_of.get(binding) if binding is not None else None
        base_path = member_path(given[1])
        if draft is not None and base_path is not None and not draft.bases:
            base = self.load(base_path[0])
            for part in base_path[1:]:
                base = self.b.op(Op.ATTR, base, self.b.name(part)) if base != NOTHING else NOTHING
            self.inherit(base, given[1], draft)

    def inherit(self, base: int, node: tree_sitter.Node, draft: ClassDraft, *, interface: bool = False) -> None:
        """Adds a base class; classes say how."""
        raise NotImplementedError

    # Test runners ----------------------------------------------------------------------------------------------------

    def _note_hook(self, callee: tree_sitter.Node, arguments: tree_sitter.Node) -> None:
        """`beforeEach(setUp)`: a named function that runs with each test of the file."""
        if self.outline.role != "test" or runner_name(callee, self.scopes.file) not in HOOKS:
            return
        for argument in arguments.named_children:
            binding = self.scope.find(text_of(argument)) if argument.type == "identifier" else None
            definition = self.outline.named(binding.name) if binding is not None and binding.kind != "import" else None
            if definition is not None:
                self.b.hooks.extend((test, definition.index) for test in self.b.tests)


def _is_component(name: tree_sitter.Node) -> bool:
    """Capitalised and dotted tags are components, lower-case ones are elements of the page."""
    return name.type == "member_expression" or (name.type == "identifier" and not text_of(name)[:1].islower())


CALL_HANDLERS: dict[str, Callable[[Any, tree_sitter.Node], int]] = {
    "call_expression": CallWalk._call,
    "new_expression": CallWalk._new,
    "jsx_element": CallWalk._element,
    "jsx_self_closing_element": CallWalk._element,
}
