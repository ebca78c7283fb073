"""Packages, imports, classes and their members. The whole walk ends here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import tree_sitter

from smp.domain.graph import NodeKind, Parameter
from smp.domain.source import NOTHING, ClassFlag, Function, FunctionFlag, Op, Param
from smp.languages.java.expressions import EXPRESSION_HANDLERS
from smp.languages.java.statements import STATEMENT_HANDLERS, SWITCH, StatementWalk
from smp.languages.java.testing import HOOKS, TESTS, is_old_test
from smp.languages.nominal.definitions import Definition, clean_block, shown_parameters
from smp.languages.nominal.packages import Header
from smp.languages.nominal.syntax import first_of, head_text, line_of, one_line, parts_of, text_of
from smp.languages.nominal.walk import CONSTRUCTOR, SIGNATURE, Frame, TypeDraft, parameter

TYPES = {
    "class_declaration": NodeKind.CLASS,
    "enum_declaration": NodeKind.CLASS,
    "record_declaration": NodeKind.CLASS,
    "interface_declaration": NodeKind.INTERFACE,
    "annotation_type_declaration": NodeKind.INTERFACE,
}
_METHODS = frozenset(
    {
        "method_declaration",
        "constructor_declaration",
        "compact_constructor_declaration",
        "annotation_type_element_declaration",
    }
)
_FIELDS = frozenset({"field_declaration", "constant_declaration"})
_BASES = ("superclass", "super_interfaces", "extends_interfaces")
_ANNOTATIONS = ("marker_annotation", "annotation")


class JavaWalk(StatementWalk):
    """The whole walk over one file."""

    handlers: ClassVar[dict[str, Callable[[Any, tree_sitter.Node], int]]] = {**EXPRESSION_HANDLERS, **SWITCH}
    statement_handlers: ClassVar[dict[str, Callable[[Any, tree_sitter.Node], None]]] = STATEMENT_HANDLERS
    package: str = ""

    def walk(self, root: tree_sitter.Node) -> None:
        """Reads the file and fills the builder."""
        self.made: dict[int, Definition] = {}
        declared: list[TypeDraft] = []
        for node in parts_of(root):
            if node.type == "package_declaration":
                self.package = text_of(first_of(node, "scoped_identifier", "identifier"))
            elif node.type == "import_declaration":
                self._import(node)
        for node in root.children:
            declared += self._types_in(node)
        for draft in declared:
            self.top.setdefault(draft.name, draft)
        for draft in declared:
            self.fill(draft)
        self.note_damage(root)
        whole = [i.module for i in self.b.imports if i.name == "*"]
        self.finish(Header((self.package,), tuple(self.top), tuple(whole)))

    def _types_in(self, node: tree_sitter.Node) -> list[TypeDraft]:
        """Type declarations at the top, also inside what did not parse."""
        if node.type in TYPES:
            return [self.declare(node, None, None)]
        if node.type == "ERROR":
            return [draft for child in node.children for draft in self._types_in(child)]
        return []

    def _import(self, node: tree_sitter.Node) -> None:
        path = first_of(node, "scoped_identifier", "identifier")
        if path is None:
            return
        names = text_of(path).replace(" ", "").split(".")
        star = first_of(node, "asterisk") is not None
        static = any(child.type == "static" for child in node.children)
        line = line_of(node)
        if star and not static:
            self.declare_import(".".join(names), "*", line)
            return
        member = "" if star or not static else names.pop()
        first = next((at for at, name in enumerate(names) if name[:1].isupper()), len(names) - 1)
        bound = member or names[-1]
        value = self.declare_import(".".join(names[:first]), names[first], line, bound="" if star else bound)
        for name in names[first + 1 :]:
            value = self.b.shared(Op.ATTR, value, self.b.name(name))
        if star:
            self.static_stars.append(value)
        elif member:
            value = self.b.shared(Op.ATTR, value, self.b.name(member))
            self.static_imported.setdefault(member, []).append(value)
            self.imported.setdefault(member, value)
        else:
            self.imported[bound] = value

    # Declaring: names first ------------------------------------------------------------------------------------------

    def declare(self, node: tree_sitter.Node, parent: Definition | None, outer: TypeDraft | None) -> TypeDraft:
        """Makes a type and the names of its members known."""
        name = text_of(node.child_by_field_name("name"))
        kind = TYPES[node.type]
        definition = self.define(kind, name, node, parent=parent)
        draft = self.new_draft(name, definition, node)
        draft.outer = outer
        body = node.child_by_field_name("body")
        modifiers = self._describe(definition, node)
        definition.signature = head_text(node, body) if body is not None else name
        outer_open = outer is not None and outer.definition.kind is NodeKind.INTERFACE
        definition.public = bool({"public", "protected"} & modifiers) or outer_open
        if kind is NodeKind.INTERFACE or "abstract" in modifiers:
            draft.flags |= int(ClassFlag.INTERFACE)
        if node.type == "enum_declaration":
            draft.flags |= int(ClassFlag.ENUM)
        for component in parts_of(node.child_by_field_name("parameters")):
            draft.fields.add(text_of(_named(component)))
        self.declare_members(draft, body)
        return draft

    def declare_members(self, draft: TypeDraft, body: tree_sitter.Node | None) -> None:
        """Definitions of a body, in source order."""
        for member in body.named_children if body is not None else ():
            kind = member.type
            if kind in TYPES:
                inner = self.declare(member, draft.definition, draft)
                draft.nested.setdefault(inner.name, inner)
            elif kind in _METHODS:
                self._declare_method(draft, member)
            elif kind in _FIELDS:
                modifiers = _modifiers(member)
                for declarator in member.children_by_field_name("declarator"):
                    name = text_of(declarator.child_by_field_name("name"))
                    draft.fields.add(name)
                    field = self._member(NodeKind.VARIABLE, draft, name, member, modifiers)
                    field.signature = f"{one_line(text_of(member.child_by_field_name('type')))} {name}"
            elif kind == "enum_constant":
                name = text_of(member.child_by_field_name("name"))
                draft.fields.add(name)
                if member.child_by_field_name("body") is None:
                    self._member(NodeKind.VARIABLE, draft, name, member, {"public"}).signature = name
            elif kind in ("enum_body_declarations", "ERROR"):
                self.declare_members(draft, member)

    def _member(
        self, kind: NodeKind, draft: TypeDraft, name: str, node: tree_sitter.Node, modifiers: set[str]
    ) -> Definition:
        definition = self.define(kind, name, node, parent=draft.definition)
        self.made.setdefault(node.id, definition)
        self._describe(definition, node)
        open_type = draft.definition.kind is NodeKind.INTERFACE and "private" not in modifiers
        definition.public = draft.definition.public and (open_type or bool({"public", "protected"} & modifiers))
        return definition

    def _declare_method(self, draft: TypeDraft, node: tree_sitter.Node) -> None:
        name = text_of(node.child_by_field_name("name"))
        annotations = {text_of(a.child_by_field_name("name")).rpartition(".")[2] for a in _annotations(node)}
        is_test = bool(annotations & TESTS) or is_old_test(name, node, draft.node)
        definition = self._member(NodeKind.TEST if is_test else NodeKind.FUNCTION, draft, name, node, _modifiers(node))
        if node.type.endswith("method_declaration"):
            draft.methods.add(name)
        listed = node.child_by_field_name("parameters")
        definition.parameters = tuple(_parameter(part) for part in parts_of(listed) if _named(part) is not None)
        result = node.child_by_field_name("type")
        definition.returns = one_line(text_of(result)) if result is not None else None
        shown = f"{definition.name}({shown_parameters(definition.parameters)})"
        definition.signature = f"{definition.returns} {shown}" if definition.returns else shown
        if is_test:
            self.b.tests.append(definition.index)

    def _describe(self, definition: Definition, node: tree_sitter.Node) -> set[str]:
        modifiers = _modifiers(node)
        definition.modifiers = tuple(sorted(modifiers))
        definition.decorators = tuple(one_line(text_of(annotation)) for annotation in _annotations(node))
        before = node.prev_named_sibling
        while before is not None and before.type in ("block_comment", "line_comment"):
            text = clean_block(text_of(before))
            if text is not None:
                definition.docstring = text
                break
            before = before.prev_named_sibling
        return modifiers

    # Filling: types and code -----------------------------------------------------------------------------------------

    def fill(self, draft: TypeDraft) -> None:
        """Bases, members and code of a type."""
        before = self.frame
        within = draft.within
        self.frame = Frame(owner=draft.owner, draft=draft, this=self.this_of(draft))
        self._annotate(draft.node)
        draft.bounds = self.type_parameters(draft.node)
        draft.type_params = tuple(draft.bounds)
        for clause in parts_of(draft.node):
            if clause.type in _BASES:
                for part in parts_of(clause):
                    for base in parts_of(part) if part.type in ("type_list", "interface_type_list") else [part]:
                        self._inherit(draft, self.type_of(base), line_of(base))
        draft.extends = bool(draft.bases)
        self._roots(draft)
        self._components(draft)
        self.fill_members(draft, draft.node.child_by_field_name("body"))
        self._signature(draft)
        self._hooks(draft)
        assert within is draft.within
        self.frame = before

    def _inherit(self, draft: TypeDraft, base: int, line: int) -> None:
        if base != NOTHING:
            draft.bases.append(base)
            draft.base_lines.append(line)

    def _roots(self, draft: TypeDraft) -> None:
        """What every class, enum and record has."""
        kind = draft.node.type
        if kind == "enum_declaration":
            self._inherit(draft, self.unbound("java.lang.Enum"), 0)
            itself = self.class_op(draft)
            name_param = (Param("name", annotation=self.unbound("java.lang.String")),)
            for name, params, result in (("values", (), self.array_of(itself, 1)), ("valueOf", name_param, itself)):
                made = self._implicit(draft, name, params, result, static=True)
                draft.static_members.append((name, made))
                draft.methods.add(name)
        elif kind == "record_declaration":
            self._inherit(draft, self.unbound("java.lang.Record"), 0)
        self._inherit(draft, self.unbound("java.lang.Object"), 0)

    def _implicit(
        self, draft: TypeDraft, name: str, params: tuple[Param, ...], result: int, *, static: bool = False
    ) -> int:
        """A method that nobody wrote."""
        slot = self.b.function_slot()
        flags = FunctionFlag.METHOD | (FunctionFlag.STATIC if static else FunctionFlag.NONE)
        self.b.functions[slot] = Function(
            name, NOTHING, draft.owner, cls=draft.index, flags=int(flags), params=params, annotation=result
        )
        return self.b.shared(Op.FUNC, slot)

    def _components(self, draft: TypeDraft) -> None:
        """The fields, accessors and the constructor of a record."""
        listed = draft.node.child_by_field_name("parameters")
        if listed is None or draft.node.type != "record_declaration":
            return
        params: list[Param] = []
        for part in parts_of(listed):
            name = text_of(_named(part))
            annotation = self._parameter_type(part)
            kind = "var_positional" if part.type == "spread_parameter" else "positional"
            params.append(Param(name, kind, annotation=annotation))
            held = self.array_of(annotation, 1) if kind == "var_positional" else annotation
            draft.annotations[name] = held
            if name not in draft.methods:
                draft.members.append((name, self._implicit(draft, name, (), held)))
                draft.methods.add(name)
        body = draft.node.child_by_field_name("body")
        members = parts_of(body)
        own = [m for m in members if m.type == "constructor_declaration"]
        same = any(len(parts_of(m.child_by_field_name("parameters"))) == len(params) for m in own)
        compact = any(m.type == "compact_constructor_declaration" for m in members)
        if not same and not compact:
            draft.members.append((CONSTRUCTOR, self._implicit(draft, CONSTRUCTOR, tuple(params), NOTHING)))

    def fill_members(self, draft: TypeDraft, body: tree_sitter.Node | None) -> None:
        """Types and code of the members of a body."""
        for member in body.named_children if body is not None else ():
            kind = member.type
            if kind in TYPES:
                inner = next(d for d in self.drafts if d.node == member)
                self.fill(inner)
            elif kind in _METHODS:
                self._method(draft, member)
            elif kind in _FIELDS:
                self._field_of(draft, member)
            elif kind == "enum_constant":
                self._constant_of(draft, member)
            elif kind in ("static_initializer", "block"):
                self.frame.scopes.append({})
                for child in member.named_children:
                    self.visit(child)
                self.frame.scopes.pop()
            elif kind in ("enum_body_declarations", "ERROR"):
                self.fill_members(draft, member)

    def _parameter_type(self, node: tree_sitter.Node) -> int:
        if node.type == "spread_parameter":
            written = [p for p in parts_of(node) if p.type not in ("modifiers", "variable_declarator")]
            return self.type_of(written[0]) if written else NOTHING
        dimensions = text_of(node.child_by_field_name("dimensions")).count("[")
        return self.array_of(self.type_of(node.child_by_field_name("type")), dimensions)

    def _method(self, draft: TypeDraft, node: tree_sitter.Node) -> None:
        definition = self.made[node.id]
        slot = self.b.function_slot()
        modifiers = set(definition.modifiers)
        constructor = "constructor" in node.type
        static = "static" in modifiers
        name = CONSTRUCTOR if constructor else text_of(node.child_by_field_name("name"))
        before = self.frame
        this = NOTHING if static else self.b.shared(Op.RECEIVER, slot)
        self.frame = Frame(owner=definition.index, draft=draft, this=this, function=slot, code=definition)
        self._annotate(node)
        self.frame.bounds = self.type_parameters(node)
        params = self._parameters(node, draft)
        result = node.child_by_field_name("type")
        annotation = self.type_of(result)
        if annotation != NOTHING:
            annotation = self.array_of(annotation, text_of(node.child_by_field_name("dimensions")).count("["))
        body = node.child_by_field_name("body")
        default = node.child_by_field_name("value")
        if body is not None:
            self.visit(body)
        if default is not None:
            self.expr(default)
        returns = self._given_back(params, slot, annotation)
        self.frame = before
        flags = FunctionFlag.METHOD | (FunctionFlag.STATIC if static else FunctionFlag.NONE)
        if body is None:
            flags |= FunctionFlag.ABSTRACT
        if definition.kind is NodeKind.TEST:
            flags |= FunctionFlag.TEST
        self.b.functions[slot] = Function(
            name,
            definition.index,
            before.owner,
            cls=draft.index,
            flags=int(flags),
            params=params,
            returns=returns,
            annotation=annotation,
        )
        (draft.static_members if static else draft.members).append((name, self.b.shared(Op.FUNC, slot)))

    def _given_back(self, params: tuple[Param, ...], slot: int, annotation: int) -> tuple[int, ...]:
        """`<T> T f(T x)`: what is given for a T comes back."""
        if annotation == NOTHING or annotation not in self.frame.bounds.values():
            return ()
        return tuple(
            self.b.shared(Op.PARAM, slot, at)
            for at, param in enumerate(params)
            if param.annotation == annotation and param.kind == "positional"
        )

    def _parameters(self, node: tree_sitter.Node, draft: TypeDraft) -> tuple[Param, ...]:
        listed = node.child_by_field_name("parameters")
        if node.type == "compact_constructor_declaration":
            listed = draft.node.child_by_field_name("parameters")
        found: list[Param] = []
        for part in parts_of(listed):
            named = _named(part)
            if named is None:
                continue
            self._annotate(part)
            annotation = self._parameter_type(part)
            rest = part.type == "spread_parameter"
            found.append(Param(text_of(named), "var_positional" if rest else "positional", annotation=annotation))
            value = self.instance(self.array_of(annotation, 1) if rest else annotation)
            if value != NOTHING and self.frame.function != NOTHING and self._is_bare(annotation) and not rest:
                value = self.b.shared(Op.PARAM, self.frame.function, len(found) - 1)
            self.bind(text_of(named), value)
        return tuple(found)

    def _is_bare(self, annotation: int) -> bool:
        return annotation in self.frame.bounds.values()

    def _field_of(self, draft: TypeDraft, node: tree_sitter.Node) -> None:
        self._annotate(node)
        type_op = self.type_of(node.child_by_field_name("type"))
        static = "static" in _modifiers(node) or draft.definition.kind is NodeKind.INTERFACE
        for declarator in node.children_by_field_name("declarator"):
            name = text_of(declarator.child_by_field_name("name"))
            dimensions = text_of(declarator.child_by_field_name("dimensions")).count("[")
            declared = self.array_of(type_op, dimensions) if dimensions else type_op
            self.name_hint = name
            value = self.expr(declarator.child_by_field_name("value"))
            self.name_hint = ""
            held = self.declared(declared, value)
            if static:
                if held != NOTHING:
                    draft.static_members.append((name, held))
            elif declared != NOTHING:
                draft.annotations[name] = declared

    def _constant_of(self, draft: TypeDraft, node: tree_sitter.Node) -> None:
        name = text_of(node.child_by_field_name("name"))
        given = self.arguments(node.child_by_field_name("arguments"))
        self.call(self.class_op(draft), given, line_of(node), name, new=True)
        body = node.child_by_field_name("body")
        if body is not None:
            self.name_hint = name
            self.anonymous(node, body, self.class_op(draft), name)
        draft.static_members.append((name, self.this_of(draft)))

    def anonymous(self, node: tree_sitter.Node, body: tree_sitter.Node, base: int, name: str) -> int:
        """The class of a body behind `new`, or of an enum's constant; it goes by the variable it is bound to."""
        hint, self.name_hint = self.name_hint, ""
        draft = self.frame.draft
        parent = self.frame.code or (draft.definition if draft is not None else None)
        definition = self.define(NodeKind.CLASS, hint or f"${name}", node, parent=parent)
        definition.public = False
        definition.signature = f"new {name}()"
        made = self.new_draft(definition.name, definition, node)
        made.within = self.frame
        self._inherit(made, base, line_of(node))
        made.extends = True
        self._inherit(made, self.unbound("java.lang.Object"), 0)
        self.declare_members(made, body)
        before = self.frame
        self.frame = Frame(owner=made.owner, draft=made, this=self.this_of(made))
        self.fill_members(made, body)
        self.frame = before
        return self.class_op(made)

    def local_type(self, node: tree_sitter.Node) -> None:
        """A class in a body."""
        draft = self.frame.draft
        parent = self.frame.code or (draft.definition if draft is not None else None)
        made = self.declare(node, parent, None)
        made.definition.public = False
        made.within = self.frame
        self.frame.types[made.name] = made
        self.fill(made)

    def _signature(self, draft: TypeDraft) -> None:
        """The one method that a functional interface leaves open."""
        if draft.node.type != "interface_declaration":
            return
        open_ = [
            op
            for _, op in draft.members
            if (function := self.b.functions[self.b.ops[op][1]]) is not None and function.flags & FunctionFlag.ABSTRACT
        ]
        if len(open_) == 1:
            draft.members.append((SIGNATURE, open_[0]))

    def _hooks(self, draft: TypeDraft) -> None:
        """Methods that run with each test of the class."""
        methods = [d for d in self.definitions if d.parent is draft.definition]
        tests = [d for d in methods if d.kind is NodeKind.TEST]
        for hook in methods if tests else ():
            names = {text.lstrip("@").partition("(")[0].rpartition(".")[2] for text in hook.decorators}
            if names & HOOKS:
                self.b.hooks.extend((test.index, hook.index) for test in tests)

    def _annotate(self, node: tree_sitter.Node) -> None:
        """Annotations name types, and their arguments are expressions."""
        for annotation in _annotations(node):
            name = annotation.child_by_field_name("name")
            if name is not None:
                value = self.find_type(text_of(name))
                self.refer(value if value is not None else self.unbound(text_of(name)), annotation)
            for part in parts_of(annotation.child_by_field_name("arguments")):
                self.expr(part.child_by_field_name("value") if part.type == "element_value_pair" else part)


def _modifiers(node: tree_sitter.Node) -> set[str]:
    listed = first_of(node, "modifiers")
    return {child.type for child in listed.children if not child.is_named} if listed is not None else set()


def _annotations(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    return [part for part in parts_of(first_of(node, "modifiers")) if part.type in _ANNOTATIONS]


def _named(part: tree_sitter.Node) -> tree_sitter.Node | None:
    """The name of a parameter; None for the receiver that may be written first."""
    if part.type == "spread_parameter":
        declarator = first_of(part, "variable_declarator")
        return declarator.child_by_field_name("name") if declarator is not None else None
    return part.child_by_field_name("name") if part.type == "formal_parameter" else None


def _parameter(part: tree_sitter.Node) -> Parameter:
    name = text_of(_named(part))
    if part.type == "spread_parameter":
        written = [p for p in parts_of(part) if p.type not in ("modifiers", "variable_declarator")]
        shown = one_line(text_of(written[0])) if written else ""
        return parameter(name, "var_positional", f"{shown}...", required=False)
    shown = one_line(text_of(part.child_by_field_name("type"))) + text_of(part.child_by_field_name("dimensions"))
    return parameter(name, "positional_only", shown or None, required=True)
