"""Members of types: fields, properties, indexers, events, methods, operators, local functions."""

from __future__ import annotations

import tree_sitter

from smp.domain.graph import NodeKind, Parameter
from smp.domain.source import NOTHING, ClassFlag, Function, FunctionFlag, Op, Param
from smp.languages.csharp.expressions import GET_ITEM, SET_ITEM
from smp.languages.csharp.statements import StatementWalk
from smp.languages.csharp.syntax import (
    TYPES,
    accessors_of,
    arrow_of,
    attributes_of,
    documentation,
    flattened,
    member_name,
    modifiers_of,
    operator_of,
)
from smp.languages.csharp.testing import HOOKS, TESTS, attribute_name
from smp.languages.nominal.definitions import Definition, shown_parameters
from smp.languages.nominal.syntax import first_of, one_line, parts_of, text_of
from smp.languages.nominal.walk import CONSTRUCTOR, Frame, TypeDraft, parameter

_METHODS = frozenset(
    {
        "method_declaration", "constructor_declaration", "destructor_declaration", "operator_declaration",
        "conversion_operator_declaration",
    }
)  # fmt: skip
_PROPERTIES = frozenset({"property_declaration", "indexer_declaration"})
_FIELDS = frozenset({"field_declaration", "event_field_declaration"})
_OPEN = frozenset({"public", "protected", "internal"})


class MemberWalk(StatementWalk):
    """Declares and fills members."""

    made: dict[int, Definition]
    extensions: list[tuple[str, int]]
    local_slots: dict[int, int]

    def declare(self, node: tree_sitter.Node, parent: Definition | None, outer: TypeDraft | None) -> TypeDraft:
        """Makes a type known; declarations say how."""
        raise NotImplementedError

    def fill(self, draft: TypeDraft) -> None:
        """Fills a type; declarations say how."""
        raise NotImplementedError

    # Declaring -------------------------------------------------------------------------------------------------------

    def declare_members(self, draft: TypeDraft, body: tree_sitter.Node) -> None:
        """Definitions of a body, in source order."""
        for member in flattened(body):
            kind = member.type
            if kind in TYPES:
                inner = self.declare(member, draft.definition, draft)
                draft.nested.setdefault(inner.name, inner)
            elif kind in _METHODS:
                self._declare_method(draft, member)
            elif kind in _PROPERTIES or kind == "event_declaration":
                self._declare_property(draft, member)
            elif kind in _FIELDS:
                declaration = first_of(member, "variable_declaration")
                shown = one_line(text_of(declaration.child_by_field_name("type"))) if declaration is not None else ""
                for declarator in parts_of(declaration):
                    if declarator.type == "variable_declarator":
                        name = text_of(declarator.child_by_field_name("name"))
                        draft.fields.add(name)
                        self.define_member(NodeKind.VARIABLE, draft, name, member).signature = f"{shown} {name}"
            elif kind == "enum_member_declaration":
                name = text_of(member.child_by_field_name("name"))
                draft.fields.add(name)
                self.define_member(NodeKind.VARIABLE, draft, name, member).signature = name

    def define_member(self, kind: NodeKind, draft: TypeDraft, name: str, node: tree_sitter.Node) -> Definition:
        definition = self.define(kind, name, node, parent=draft.definition)
        self.made.setdefault(node.id, definition)
        modifiers = self.describe(definition, node)
        free = draft.definition.kind is NodeKind.INTERFACE or bool(draft.flags & int(ClassFlag.ENUM))
        definition.public = draft.definition.public and (
            bool(_OPEN & modifiers) or (free and "private" not in modifiers)
        )
        return definition

    def describe(self, definition: Definition, node: tree_sitter.Node) -> set[str]:
        """Modifiers, attributes and documentation of a declaration."""
        modifiers = modifiers_of(node)
        definition.modifiers = tuple(sorted(modifiers))
        definition.decorators = tuple(f"@{one_line(text_of(attribute))}" for attribute in attributes_of(node))
        definition.docstring = documentation(node)
        return modifiers

    def _declare_method(self, draft: TypeDraft, node: tree_sitter.Node) -> None:
        name = member_name(node)
        is_test = any(attribute_name(text_of(attribute)) in TESTS for attribute in attributes_of(node))
        definition = self.define_member(NodeKind.TEST if is_test else NodeKind.FUNCTION, draft, name, node)
        if node.type == "method_declaration":
            draft.methods.add(name)
        self._outline(definition, node)
        if is_test:
            self.b.tests.append(definition.index)

    def _outline(self, definition: Definition, node: tree_sitter.Node) -> None:
        """Parameters, result and signature of a function."""
        listed = node.child_by_field_name("parameters")
        definition.parameters = tuple(_parameters_of(listed))
        result = node.child_by_field_name("returns") or node.child_by_field_name("type")
        definition.returns = one_line(text_of(result)) if result is not None else None
        shown = f"{definition.name}({shown_parameters(definition.parameters)})"
        definition.signature = f"{definition.returns} {shown}" if definition.returns else shown

    def _declare_property(self, draft: TypeDraft, node: tree_sitter.Node) -> None:
        name = member_name(node)
        if node.type != "indexer_declaration":
            draft.fields.add(name)
        definition = self.define_member(
            NodeKind.FUNCTION if self._runs(draft, node) else NodeKind.VARIABLE, draft, name, node
        )
        definition.returns = one_line(text_of(node.child_by_field_name("type"))) or None
        definition.signature = f"{definition.returns} {name}"
        if definition.kind is NodeKind.FUNCTION:
            definition.modifiers = tuple(sorted({*definition.modifiers, "property"}))
        accessors = accessors_of(node)
        setter = accessors.get("set")
        if setter is not None and "get" in accessors and setter.child_by_field_name("body") is not None:
            second = self.define_member(NodeKind.FUNCTION, draft, name, setter)
            second.public = definition.public and "private" not in modifiers_of(setter)
            second.signature = f"{name} = value"

    def _runs(self, draft: TypeDraft, node: tree_sitter.Node) -> bool:
        """Whether a property is code: written out, or to be written out by those who implement it."""
        if node.type != "property_declaration" or arrow_of(node) is not None:
            return True
        if draft.definition.kind is NodeKind.INTERFACE or "abstract" in modifiers_of(node):
            return True
        return any(accessor.child_by_field_name("body") is not None for accessor in accessors_of(node).values())

    # Filling ---------------------------------------------------------------------------------------------------------

    def fill_members(self, draft: TypeDraft, body: tree_sitter.Node) -> None:
        """Types and code of the members of a body."""
        for member in flattened(body):
            kind = member.type
            if kind in TYPES:
                self.fill(next(inner for inner in self.drafts if inner.node == member))
            elif kind in _METHODS:
                self._method(draft, member)
            elif kind in _PROPERTIES:
                self._property(draft, member)
            elif kind == "event_declaration":
                self._event(draft, member)
            elif kind in _FIELDS:
                self._field(draft, member)
            elif kind == "enum_member_declaration":
                draft.static_members.append((text_of(member.child_by_field_name("name")), self.this_of(draft)))

    def attributes(self, node: tree_sitter.Node) -> None:
        """Attributes name types, and their arguments are expressions."""
        for attribute in attributes_of(node):
            for argument in parts_of(first_of(attribute, "attribute_argument_list")):
                for part in parts_of(argument)[-1:]:
                    self.expr(part)

    def parameters(self, listed: tree_sitter.Node | None, slot: int) -> tuple[Param, ...]:
        """Rows of parameters; their names are bound."""
        found: list[Param] = []
        for name, type_node, default, rest in _written(listed):
            written = self.type_of(type_node)
            annotation = written
            if rest and written != NOTHING and self.b.ops[written][0] == Op.APPLY:
                annotation = self.b.ops[written][2]
            value = self.instance(written)
            if annotation in self.frame.bounds.values() and not rest:
                value = self.b.shared(Op.PARAM, slot, len(found))
            given = self.expr(default) if default is not None else NOTHING
            if default is not None and given == NOTHING:
                given = self.b.const("null")
            found.append(Param(name, "var_positional" if rest else "positional", given, annotation))
            self.bind(name, value)
        return tuple(found)

    def _method(self, draft: TypeDraft, node: tree_sitter.Node) -> None:
        definition = self.made[node.id]
        modifiers = set(definition.modifiers)
        name = {
            "constructor_declaration": CONSTRUCTOR,
            "operator_declaration": f"op_{operator_of(node)}",
        }.get(node.type, member_name(node))
        static = "static" in modifiers
        if static and name == CONSTRUCTOR:
            name = "<clinit>"
        flags = FunctionFlag.METHOD | (FunctionFlag.STATIC if static else FunctionFlag.NONE)
        if _extends(node):
            flags |= FunctionFlag.RECEIVER_PARAM
        function = self.function(node, definition, flags, name, node.child_by_field_name("parameters"))
        if flags & FunctionFlag.RECEIVER_PARAM:
            self.extensions.append((name, function))
        explicit = first_of(node, "explicit_interface_specifier") is not None
        if not (explicit and any(known == name for known, _ in draft.members)):
            (draft.static_members if static else draft.members).append((name, function))

    def function(
        self,
        node: tree_sitter.Node,
        definition: Definition,
        flags: FunctionFlag,
        name: str,
        listed: tree_sitter.Node | None,
        *,
        body: tree_sitter.Node | None = None,
        result: tree_sitter.Node | None = None,
        value: int | None = None,
    ) -> int:
        """A function with its code; value: what `value` is in a setter."""
        slot = self.b.function_slot()
        before, draft = self.frame, self.frame.draft
        this = NOTHING if flags & FunctionFlag.STATIC else self.b.shared(Op.RECEIVER, slot)
        self.frame = Frame(owner=definition.index, draft=draft, this=this, function=slot, code=definition)
        self.attributes(node)
        self.frame.bounds = self.type_parameters(node) if node.type == "method_declaration" else {}
        params = self.parameters(listed, slot)
        if value is not None:
            self.bind("value", value)
            params = (*params, Param("value"))
        result = result or node.child_by_field_name("returns") or node.child_by_field_name("type")
        annotation = self.type_of(result) if value is None and name != CONSTRUCTOR else NOTHING
        self.frame.result = annotation
        initializer = first_of(node, "constructor_initializer")
        if initializer is not None:
            which = "this" if any(child.type == "this" for child in initializer.children) else "base"
            self.constructor_call(initializer, which)
        code = body if body is not None else node.child_by_field_name("body")
        if code is not None:
            self.visit(code)
        returns = tuple(
            self.b.shared(Op.PARAM, slot, at)
            for at, param in enumerate(params)
            if annotation != NOTHING and param.annotation == annotation and annotation in self.frame.bounds.values()
        )
        self.frame = before
        if definition.kind is NodeKind.TEST:
            flags |= FunctionFlag.TEST
        self.b.functions[slot] = Function(
            name,
            definition.index,
            before.owner,
            cls=draft.index if draft is not None else NOTHING,
            flags=int(flags | (FunctionFlag.ABSTRACT if code is None else FunctionFlag.NONE)),
            params=params,
            returns=returns,
            annotation=NOTHING if returns else annotation,
        )
        return self.b.shared(Op.FUNC, slot)

    def _property(self, draft: TypeDraft, node: tree_sitter.Node) -> None:
        """A property or indexer: accessors are functions; without code it is a field."""
        definition = self.made[node.id]
        indexer = node.type == "indexer_declaration"
        static = "static" in modifiers_of(node)
        type_node = node.child_by_field_name("type")
        type_op = self.type_of(type_node)
        name = member_name(node)
        if definition.kind is NodeKind.VARIABLE:
            self.attributes(node)
            self._hold(draft, name, type_op, self.leaving(node.child_by_field_name("value"), type_op), static=static)
            return
        flags = FunctionFlag.METHOD | (FunctionFlag.STATIC if static else FunctionFlag.NONE)
        accessors = accessors_of(node)
        listed = node.child_by_field_name("parameters") if indexer else None
        members = draft.static_members if static else draft.members
        if first_of(node, "explicit_interface_specifier") is not None and any(
            other != node and other.type == node.type and member_name(other) == name
            for other in (flattened(node.parent) if node.parent is not None else ())
        ):
            members = []  # seen through the interface only; the class's own property has the name
        arrow = arrow_of(node)
        getter = accessors.get("get")
        if arrow is not None or getter is not None:
            kind = FunctionFlag.NONE if indexer else FunctionFlag.PROPERTY
            body = arrow if arrow is not None else getter.child_by_field_name("body") if getter is not None else None
            key = GET_ITEM if indexer else name
            made = self.function(node, definition, flags | kind, key, listed, body=body, result=type_node)
            members.append((key, made))
        setter = accessors.get("set")
        if setter is not None:
            kind = FunctionFlag.NONE if indexer else FunctionFlag.SETTER
            key = SET_ITEM if indexer else name
            own = self.made.get(setter.id, definition)
            body = setter.child_by_field_name("body")
            made = self.function(
                setter, own, flags | kind, key, listed, body=body, result=type_node, value=self.instance(type_op)
            )
            members.append((key, made))
        initial = node.child_by_field_name("value")
        if initial is not None and arrow is None:
            self.leaving(initial, type_op)

    def _event(self, draft: TypeDraft, node: tree_sitter.Node) -> None:
        definition = self.made[node.id]
        type_op = self.type_of(node.child_by_field_name("type"))
        for accessor in accessors_of(node).values():
            body = accessor.child_by_field_name("body")
            if body is not None:
                self.function(
                    accessor, definition, FunctionFlag.METHOD, f"{definition.name} ", None, body=body,
                    value=self.instance(type_op),
                )  # fmt: skip
        self._hold(draft, member_name(node), type_op, NOTHING, static=False)

    def _hold(self, draft: TypeDraft, name: str, type_op: int, value: int, *, static: bool) -> None:
        """Notes the type of a field."""
        if static:
            held = self.declared(type_op, value)
            if held != NOTHING:
                draft.static_members.append((name, held))
        elif type_op != NOTHING:
            draft.annotations[name] = type_op

    def _field(self, draft: TypeDraft, node: tree_sitter.Node) -> None:
        self.attributes(node)
        static = bool({"static", "const"} & modifiers_of(node))
        declaration = first_of(node, "variable_declaration")
        type_op = self.type_of(declaration.child_by_field_name("type")) if declaration is not None else NOTHING
        for declarator in parts_of(declaration):
            if declarator.type != "variable_declarator":
                continue
            name = declarator.child_by_field_name("name")
            parts = [part for part in parts_of(declarator) if part != name]
            value = self.leaving(parts[-1], type_op) if parts else NOTHING
            self._hold(draft, text_of(name), type_op, value, static=static)

    # Local functions -------------------------------------------------------------------------------------------------

    def declare_function(self, node: tree_sitter.Node) -> None:
        """Makes a local function known in its block."""
        name = text_of(node.child_by_field_name("name"))
        draft = self.frame.draft
        parent = self.frame.code or (draft.definition if draft is not None else None)
        definition = self.define(NodeKind.FUNCTION, name, node, parent=parent)
        definition.public = False
        self.describe(definition, node)
        self._outline(definition, node)
        self.made[node.id] = definition
        slot = self.b.function_slot()
        self.local_slots[node.id] = slot
        self.frame.functions[name] = self.b.shared(Op.FUNC, slot)

    def fill_function(self, node: tree_sitter.Node) -> None:
        """Walks a local function: it sees the variables around it."""
        if node.id not in self.local_slots:  # in a conditional section
            self.declare_function(node)
        definition, slot = self.made[node.id], self.local_slots[node.id]
        before = self.frame
        self.frame = Frame(
            owner=definition.index,
            draft=before.draft,
            this=before.this,
            function=before.function,
            code=definition,
            scopes=[*before.scopes, {}],
            functions=dict(before.functions),
            bounds={**before.bounds, **self.type_parameters(node)},
        )
        params = self.parameters(node.child_by_field_name("parameters"), slot)
        annotation = self.type_of(node.child_by_field_name("type"))
        self.frame.result = annotation
        body = node.child_by_field_name("body")
        if body is not None:
            self.visit(body)
        self.frame = before
        self.b.functions[slot] = Function(
            definition.name, definition.index, before.owner, params=params, annotation=annotation
        )

    # Tests -----------------------------------------------------------------------------------------------------------

    def hooks(self, draft: TypeDraft) -> None:
        """Methods that run with each test of the class; xUnit makes an instance for each."""
        methods = [d for d in self.definitions if d.parent is draft.definition]
        tests = [d for d in methods if d.kind is NodeKind.TEST]
        for hook in methods if tests else ():
            names = {attribute_name(text.lstrip("@")) for text in hook.decorators}
            built = hook.node.type == "constructor_declaration" or hook.name in ("Dispose", "InitializeAsync")
            if names & HOOKS or built:
                self.b.hooks.extend((test.index, hook.index) for test in tests)


def _written(
    listed: tree_sitter.Node | None,
) -> list[tuple[str, tree_sitter.Node | None, tree_sitter.Node | None, bool]]:
    """Name, type, default value, and whether it takes the rest, of each parameter; `params` stands loose in the tree."""
    found: list[tuple[str, tree_sitter.Node | None, tree_sitter.Node | None, bool]] = []
    if listed is None:
        return found
    for part in parts_of(listed):
        if part.type == "parameter":
            name, type_node = part.child_by_field_name("name"), part.child_by_field_name("type")
            rest = any(text_of(child) == "params" for child in part.children if child.type in ("modifier", "params"))
            others = [
                p for p in parts_of(part) if p not in (name, type_node) and p.type not in ("modifier", "attribute_list")
            ]
            default = others[-1] if others else None
            if default is not None and default.type == "equals_value_clause":
                default = next(iter(parts_of(default)), None)
            found.append((text_of(name), type_node, default, rest))
    loose, name = listed.child_by_field_name("type"), listed.child_by_field_name("name")
    if loose is not None and name is not None:
        found.append((text_of(name), loose, None, True))
    return found


def _parameters_of(listed: tree_sitter.Node | None) -> list[Parameter]:
    return [
        parameter(
            name,
            "var_positional" if rest else "positional",
            one_line(text_of(type_node)) or None,
            required=default is None and not rest,
        )
        for name, type_node, default, rest in _written(listed)
    ]


def _extends(node: tree_sitter.Node) -> bool:
    """Whether the first parameter is written with `this`."""
    listed = parts_of(node.child_by_field_name("parameters"))
    return bool(listed) and any(text_of(child) == "this" for child in listed[0].children)
