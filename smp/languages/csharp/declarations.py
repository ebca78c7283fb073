"""Namespaces, usings, types and their members. The whole walk ends here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import tree_sitter

from smp.domain.graph import NodeKind
from smp.domain.source import NOTHING, ClassFlag, Function, FunctionFlag, Op, Param
from smp.languages.csharp.calls import CALL_HANDLERS
from smp.languages.csharp.expressions import EXPRESSION_HANDLERS, EXTENSION
from smp.languages.csharp.members import MemberWalk
from smp.languages.csharp.statements import BOTH, STATEMENT_HANDLERS
from smp.languages.csharp.syntax import TYPES, flattened
from smp.languages.nominal.definitions import Definition
from smp.languages.nominal.packages import Header
from smp.languages.nominal.syntax import first_of, head_text, line_of, parts_of, text_of
from smp.languages.nominal.walk import CONSTRUCTOR, SIGNATURE, Frame, TypeDraft

_NAMESPACES = frozenset({"namespace_declaration", "file_scoped_namespace_declaration"})
_BASES = frozenset(
    {"identifier", "generic_name", "qualified_name", "alias_qualified_name", "primary_constructor_base_type"}
)


class CSharpWalk(MemberWalk):
    """The whole walk over one file."""

    handlers: ClassVar[dict[str, Callable[[Any, tree_sitter.Node], int]]] = {
        **EXPRESSION_HANDLERS,
        **CALL_HANDLERS,
        **BOTH,
    }
    statement_handlers: ClassVar[dict[str, Callable[[Any, tree_sitter.Node], None]]] = STATEMENT_HANDLERS

    def walk(self, root: tree_sitter.Node) -> None:
        """Reads the file and fills the builder."""
        self.made = {}
        self.local_slots = {}
        self.extensions = []
        self.namespaces: list[str] = []
        self.whole: list[str] = []
        self.everywhere: list[str] = []
        declared: list[TypeDraft] = []
        self._namespace(root, "", declared)
        for draft in declared:
            self.top.setdefault(draft.name, draft)
        statements = [
            part for node in root.named_children if node.type == "global_statement" for part in parts_of(node)
        ]
        if not self.namespaces or statements:
            self.namespaces.append("")
        for draft in declared:
            self.fill(draft)
        self.statements(statements)
        self.note_damage(root)
        offered: dict[str, list[int]] = {}
        for draft in declared:
            offered.setdefault(draft.name, []).append(self.class_op(draft))
        for name, function in self.extensions:
            offered.setdefault(EXTENSION + name, []).append(function)
        self.offered = [(name, self.b.phi(ops)) for name, ops in offered.items()]
        header = Header(tuple(self.namespaces), tuple(self.top), tuple(self.whole), tuple(self.everywhere))
        self.finish(header)

    # Namespaces and usings -------------------------------------------------------------------------------------------

    def _namespace(self, node: tree_sitter.Node, around: str, declared: list[TypeDraft]) -> None:
        """What stands in a file or a namespace."""
        name = around
        for child in flattened(node):
            if child.type == "using_directive":
                self._using_directive(child, name)
            elif child.type in _NAMESPACES:
                own = text_of(child.child_by_field_name("name")).replace(" ", "")
                inner = f"{around}.{own}" if around else own
                if inner not in self.namespaces:
                    self.namespaces.append(inner)
                if child.type == "file_scoped_namespace_declaration":
                    name = inner
                body = child.child_by_field_name("body")
                self._namespace(body if body is not None else child, inner, declared)
            elif child.type in TYPES:
                if not name and "" not in self.namespaces:
                    self.namespaces.append("")
                declared.append(self.declare(child, None, None))

    def _using_directive(self, node: tree_sitter.Node, around: str) -> None:
        tokens = {child.type for child in node.children if not child.is_named}
        parts = parts_of(node)
        alias = node.child_by_field_name("name")
        if not parts:
            return
        line = line_of(node)
        target = text_of(parts[-1]).replace(" ", "").removeprefix("global::")
        if alias is not None and "=" in tokens:
            self.imported[text_of(alias)] = self.type_of(parts[-1])
        elif "static" in tokens:
            self.static_stars.append(self.type_of(parts[-1]))
        else:
            self.declare_import(target, "*", line)
            (self.everywhere if "global" in tokens else self.whole).append(target)
            if around and "global" not in tokens:  # names in a namespace may leave out what is around it
                parts_around = around.split(".")
                self.whole += [".".join([*parts_around[:length], target]) for length in range(1, len(parts_around) + 1)]

    # Declaring -------------------------------------------------------------------------------------------------------

    def declare(self, node: tree_sitter.Node, parent: Definition | None, outer: TypeDraft | None) -> TypeDraft:
        """Makes a type and the names of its members known."""
        name = text_of(node.child_by_field_name("name"))
        definition = self.define(TYPES[node.type], name, node, parent=parent)
        draft = self.new_draft(name, definition, node)
        draft.outer = outer
        modifiers = self.describe(definition, node)
        body = node.child_by_field_name("body")
        definition.signature = head_text(node, body).rstrip(" ;")
        hidden = {"private", "file"} if outer is None else {"private", "protected"}
        open_outer = outer is not None and outer.definition.kind is NodeKind.INTERFACE
        definition.public = not hidden & modifiers and (
            bool({"public", "internal", "protected"} & modifiers) or outer is None or open_outer
        )
        if definition.kind is NodeKind.INTERFACE or "abstract" in modifiers:
            draft.flags |= int(ClassFlag.INTERFACE)
        if node.type == "enum_declaration":
            draft.flags |= int(ClassFlag.ENUM)
        if "partial" in modifiers:
            draft.flags |= int(ClassFlag.PARTIAL)
        for parameter in parts_of(first_of(node, "parameter_list")) if node.type != "delegate_declaration" else ():
            draft.fields.add(text_of(parameter.child_by_field_name("name")))
        if body is not None:
            self.declare_members(draft, body)
        return draft

    # Filling ---------------------------------------------------------------------------------------------------------

    def fill(self, draft: TypeDraft) -> None:
        """Bases, members and code of a type."""
        before, node = self.frame, draft.node
        self.frame = Frame(owner=draft.owner, draft=draft, this=self.this_of(draft))
        self.attributes(node)
        draft.bounds = self.type_parameters(node)
        draft.type_params = tuple(draft.bounds)
        if draft.flags & int(ClassFlag.PARTIAL):
            self._inherit(draft, self._own_name(draft), 0)
        self._bases(draft)
        self._inherit(draft, self.unbound("object"), 0)
        if node.type == "delegate_declaration":
            self._delegate(draft)
        else:
            self._primary(draft)
            body = node.child_by_field_name("body")
            if body is not None:
                self.fill_members(draft, body)
        self.hooks(draft)
        self.frame = before

    def _own_name(self, draft: TypeDraft) -> int:
        """The type by its name: with its other parts."""
        if draft.outer is None:
            return self.unbound(draft.name)
        return self.b.shared(Op.ATTR, self._own_name(draft.outer), self.b.name(draft.name))

    def _inherit(self, draft: TypeDraft, base: int, line: int) -> None:
        if base != NOTHING:
            draft.bases.append(base)
            draft.base_lines.append(line)

    def _bases(self, draft: TypeDraft) -> None:
        node = draft.node
        for part in parts_of(first_of(node, "base_list")) if node.type != "enum_declaration" else ():
            if part.type in _BASES:
                named = part.child_by_field_name("type") if part.type == "primary_constructor_base_type" else part
                self._inherit(draft, self.type_of(named), line_of(part))
        draft.extends = bool(draft.bases)
        if node.type == "enum_declaration":
            self._inherit(draft, self.unbound("System.Enum"), 0)

    def _primary(self, draft: TypeDraft) -> None:
        """A primary constructor: its parameters are seen in the whole body, those of a record are properties."""
        listed = first_of(draft.node, "parameter_list")
        if listed is None:
            return
        params: list[Param] = []
        for part in parts_of(listed):
            name, default = text_of(part.child_by_field_name("name")), first_of(part, "equals_value_clause")
            annotation = self.type_of(part.child_by_field_name("type"))
            params.append(Param(name, annotation=annotation, default=self.unbound(name) if default else NOTHING))
            if annotation != NOTHING:
                draft.annotations[name] = annotation
        made = self._unnamed(draft, CONSTRUCTOR, tuple(params), NOTHING)
        draft.members.append((CONSTRUCTOR, made))
        bases = first_of(draft.node, "base_list")
        for part in parts_of(bases):
            if part.type == "argument_list":
                self.constructor_call(bases if bases is not None else part, "base")
            elif part.type == "primary_constructor_base_type":
                self.constructor_call(part, "base")

    def _unnamed(self, draft: TypeDraft, name: str, params: tuple[Param, ...], result: int) -> int:
        """A method that nobody wrote."""
        slot = self.b.function_slot()
        self.b.functions[slot] = Function(
            name,
            NOTHING,
            draft.owner,
            cls=draft.index,
            flags=int(FunctionFlag.METHOD),
            params=params,
            annotation=result,
        )
        return self.b.shared(Op.FUNC, slot)

    def _delegate(self, draft: TypeDraft) -> None:
        """A delegate is a type whose instances are called."""
        params = tuple(
            Param(text_of(part.child_by_field_name("name")), annotation=self.type_of(part.child_by_field_name("type")))
            for part in parts_of(first_of(draft.node, "parameter_list"))
        )
        result = self.type_of(draft.node.child_by_field_name("type") or draft.node.child_by_field_name("returns"))
        made = self._unnamed(draft, SIGNATURE, params, result)
        draft.members += [(SIGNATURE, made), ("Invoke", made)]
        draft.flags |= int(ClassFlag.INTERFACE)
