"""A Rust file from its top: modules and items in source order, what `use` brings in, types and signatures, and then what runs."""

from __future__ import annotations

from dataclasses import dataclass, field

import tree_sitter

from smp.domain.graph import NodeKind
from smp.domain.ids import FilePath
from smp.domain.source import (
    NOTHING,
    Class,
    ClassFlag,
    Exports,
    Extension,
    Function,
    FunctionFlag,
    ImportDecl,
    Op,
    Param,
)
from smp.languages.blocks import MAX_BYTES, Frame, Local
from smp.languages.declared import Survey, line_of, text_of
from smp.languages.rust.members import MemberWalk
from smp.languages.rust.outline import declared_modules, describe, is_test
from smp.languages.rust.paths import ModuleScope

_DECISIONS = frozenset(
    {
        "if_expression",
        "match_arm",
        "while_expression",
        "for_expression",
        "loop_expression",
        "try_expression",
        "&&",
        "||",
    }
)
_COMMENTS = frozenset({"line_comment", "block_comment"})
_TYPES = {"struct_item": "struct", "union_item": "union", "enum_item": "enum"}


@dataclass(slots=True)
class Pending:
    """A function whose body waits."""

    node: tree_sitter.Node
    slot: int
    definition: int
    scope: ModuleScope
    around: list[dict[str, Local | int]] = field(default_factory=list)
    self_type: int = NOTHING
    associated: dict[str, int] = field(default_factory=dict)
    flags: FunctionFlag = FunctionFlag.NONE
    cls: int = NOTHING
    extension: int = NOTHING
    params: tuple[Param, ...] = ()
    annotation: int = NOTHING
    parameters: dict[str, int] = field(default_factory=dict)


class FileWalk(MemberWalk):
    """One file."""

    def __init__(self, path: FilePath, root: tree_sitter.Node) -> None:
        super().__init__(path, "rust")
        self.root = root
        self.survey = Survey(root, _DECISIONS, _COMMENTS)
        self.module = ModuleScope(None, "")
        self.top = self.module
        self.scopes = []
        self.roots: dict[str, int] = {}
        self.associated: dict[str, int] = {}
        self.stars: list[int] = []
        self.variants: dict[int, dict[str, int]] = {}
        self.macros: dict[str, int] = {}
        self.documented: list[int] = []
        self.modules: list[str] = []
        self.inline: list[tuple[str, ModuleScope]] = []
        self.uses: list[tuple[ModuleScope, list[str], str, int]] = []
        self.types: list[tuple[tree_sitter.Node, int, int, ModuleScope]] = []
        self.impls: list[tuple[tree_sitter.Node, ModuleScope]] = []
        self.variables: list[tuple[tree_sitter.Node, int, ModuleScope]] = []
        self.pending: list[Pending] = []
        self.plain: list[tuple[tree_sitter.Node, int, int, ModuleScope]] = []
        self.members: dict[int, list[tuple[tree_sitter.Node, int, int]]] = {}
        """Methods by the trait or impl block that holds them."""

    def walk(self, size: int) -> None:
        """Everything."""
        self._outline(self.root, self.module)
        self._bind_uses()
        for node, index, slot, scope in self.types:
            self._at(scope)
            self._fill_type(node, index, slot, scope)
        for node, scope in self.impls:
            self._at(scope)
            self._fill_impl(node, scope)
        for node, index, slot, scope in self.plain:
            self._at(scope)
            test = index in self.b.tests
            self._signature(Pending(node, slot, index, scope, flags=FunctionFlag.TEST if test else FunctionFlag.NONE))
        for node, variable, scope in self.variables:
            self._at(scope)
            self._initialise(node, variable, runs=size <= MAX_BYTES)
        position = 0
        while position < len(self.pending):  # bodies may declare functions
            self._run(self.pending[position], runs=size <= MAX_BYTES)
            position += 1
        for name, inner in self.inline:
            members = tuple((each, op) for each, op in inner.names.items() if isinstance(op, int) and op != NOTHING)
            self.b.classes[inner.slot] = Class(name=name, definition=NOTHING, owner=0, static_members=members)
        self._at(self.top)
        self.finish_frame(self.frame)
        names = tuple((name, op) for name, op in self.top.names.items() if isinstance(op, int) and op != NOTHING)
        self.b.exports = Exports(names=names, star_ops=tuple(at for at in self.stars if at != NOTHING), star_all=True)
        self.b.module_kind = ",".join(self.modules)

    def _at(self, scope: ModuleScope) -> None:
        self.module, self.scopes, self.self_type, self.associated = scope, [], NOTHING, {}
        self.enter()

    # Outline ---------------------------------------------------------------------------------------------------------

    def _outline(self, node: tree_sitter.Node, scope: ModuleScope, parent: int = 0) -> None:
        for child in node.named_children:
            kind = child.type
            if kind == "mod_item":
                self._outline_module(child, scope)
            elif kind == "use_declaration":
                argument = child.child_by_field_name("argument")
                for parts, name, line in self.uses_of(argument, []) if argument is not None else ():
                    if parts:
                        self.uses.append((scope, parts, name, line))
            elif kind in _TYPES or kind in ("trait_item", "type_item"):
                self._outline_type(child, scope, parent)
            elif kind == "function_item" or (kind == "function_signature_item" and node.type == "declaration_list"):
                self._outline_function(child, scope, parent)
            elif kind in ("const_item", "static_item"):
                self._outline_variable(child, scope, parent)
            elif kind == "impl_item":
                self._outline_impl(child, scope)
            elif kind == "macro_definition":
                index = self._define(child, NodeKind.FUNCTION, scope, parent, suffix="!")
                slot = self.b.function_slot()
                name = text_of(child.child_by_field_name("name") or child)
                self.b.functions[slot] = Function(name, index, 0)
                self.macros[name] = scope.names[f"{name}!"] = self.b.shared(Op.FUNC, slot)
            elif kind in ("ERROR", "foreign_mod_item"):
                self._outline(child.child_by_field_name("body") or child, scope, parent)
            elif kind == "macro_invocation" or kind == "expression_statement":
                self.variables.append((child, NOTHING, scope))

    def _define(
        self,
        node: tree_sitter.Node,
        kind: NodeKind,
        scope: ModuleScope,
        parent: int,
        *,
        prefix: str | None = None,
        suffix: str = "",
    ) -> int:
        definition, offsets = describe(node, kind, parent, suffix)
        self.documented += offsets
        return self.definitions.define(
            definition, prefix=prefix if prefix is not None else None if parent else scope.prefix
        )

    def _outline_module(self, node: tree_sitter.Node, scope: ModuleScope) -> None:
        name_node, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name_node is None:
            return
        name = text_of(name_node)
        if body is None:
            self.modules += declared_modules(node, scope.prefix)
            self.b.imports.append(
                ImportDecl("::".join(["self", *filter(None, scope.prefix.split(".")), name]), "", line_of(node), 0)
            )
            scope.names.setdefault(name, self.b.shared(Op.IMPORT, len(self.b.imports) - 1))
            return
        inner = ModuleScope(scope, f"{scope.prefix}.{name}".strip("."))
        inner.slot = self.b.class_slot()
        inner.op = self.b.shared(Op.CLASS, inner.slot)
        scope.inner.setdefault(name, inner)  # a second one is for another target
        self.inline.append((name, inner))
        scope.names.setdefault(name, inner.op)
        self._outline(body, inner)

    def _outline_type(self, node: tree_sitter.Node, scope: ModuleScope, parent: int) -> None:
        name_node = node.child_by_field_name("name")
        if name_node is None:
            return
        name = text_of(name_node)
        trait = node.type == "trait_item"
        index = self._define(node, NodeKind.INTERFACE if trait else NodeKind.CLASS, scope, parent)
        slot = NOTHING
        if node.type == "type_item":
            variable = self.b.variable(name, definition=index, module=scope is self.top)
            made = self.b.shared(Op.VAR, variable)
        else:
            slot = self.b.class_slot()
            made = self.b.shared(Op.CLASS, slot)
        if parent and self.scopes:
            self.bind(name, made)
        else:
            scope.names.setdefault(name, made)
        self.types.append((node, index, slot, scope))
        if node.type == "enum_item":
            self._outline_variants(node, slot)
        elif trait:
            self._outline_members(node, scope, index, slot)

    def _outline_variants(self, node: tree_sitter.Node, slot: int) -> None:
        body = node.child_by_field_name("body")
        for variant in body.named_children if body is not None else ():
            name = variant.child_by_field_name("name")
            if variant.type == "enum_variant" and name is not None and text_of(name) not in self.variants.get(slot, {}):
                inner = self.b.class_slot()
                self.variants.setdefault(slot, {})[text_of(name)] = self.b.shared(Op.CLASS, inner)

    def _outline_members(self, node: tree_sitter.Node, scope: ModuleScope, parent: int, slot: int) -> None:
        body = node.child_by_field_name("body")
        for child in body.named_children if body is not None else ():
            if child.type in ("function_item", "function_signature_item"):
                index = self._define(child, self._kind(child), scope, parent)
                self.members.setdefault(node.id, []).append((child, index, self.b.function_slot()))

    def _kind(self, node: tree_sitter.Node) -> NodeKind:
        return NodeKind.TEST if is_test(node) else NodeKind.FUNCTION

    def _outline_function(self, node: tree_sitter.Node, scope: ModuleScope, parent: int) -> None:
        name_node = node.child_by_field_name("name")
        if name_node is None:
            return
        kind = self._kind(node)
        index = self._define(node, kind, scope, parent)
        if kind is NodeKind.TEST:
            self.b.tests.append(index)
        slot = self.b.function_slot()
        made = self.b.shared(Op.FUNC, slot)
        if parent and self.scopes:
            self.bind(text_of(name_node), made)
        else:
            scope.names.setdefault(text_of(name_node), made)
        self.plain.append((node, index, slot, scope))

    def _outline_variable(self, node: tree_sitter.Node, scope: ModuleScope, parent: int) -> None:
        name_node = node.child_by_field_name("name")
        if name_node is None or text_of(name_node) == "_":
            self.variables.append((node, NOTHING, scope))
            return
        index = self._define(node, NodeKind.VARIABLE, scope, parent)
        variable = self.b.variable(text_of(name_node), definition=index, module=scope is self.top)
        made = self.b.shared(Op.VAR, variable)
        if parent and self.scopes:
            self.bind(text_of(name_node), made)
        else:
            scope.names.setdefault(text_of(name_node), made)
        self.variables.append((node, variable, scope))

    def _outline_impl(self, node: tree_sitter.Node, scope: ModuleScope) -> None:
        type_node, body = node.child_by_field_name("type"), node.child_by_field_name("body")
        name = self._type_name(type_node)
        owner = scope.names.get(name)
        parent = (
            next((i for _, i, s, _ in self.types if s != NOTHING and self.b.shared(Op.CLASS, s) == owner), 0)
            if owner is not None
            else 0
        )
        prefix = f"{scope.prefix}.{name}".strip(".") if name else scope.prefix
        for child in body.named_children if body is not None else ():
            if child.type in ("function_item", "function_signature_item"):
                index = self._define(child, self._kind(child), scope, parent, prefix=prefix)
                if is_test(child):
                    self.b.tests.append(index)
                self.members.setdefault(node.id, []).append((child, index, self.b.function_slot()))
        self.impls.append((node, scope))

    def _type_name(self, node: tree_sitter.Node | None) -> str:
        while node is not None and node.type in ("reference_type", "generic_type", "pointer_type"):
            node = node.child_by_field_name("type")
        parts = self.path_parts(node) if node is not None else None
        return parts[-1] if parts else text_of(node)[:40].replace(" ", "") if node is not None else ""

    # Names -----------------------------------------------------------------------------------------------------------

    def _bind_uses(self) -> None:
        """What `use` brings in; one that goes through another waits for it."""
        waiting = self.uses
        for last in (False, False, True):
            bound = {(id(scope), name) for scope, _, name, _ in waiting}
            postponed = []
            for entry in waiting:
                scope, parts, name, line = entry
                behind = (id(scope), parts[0]) in bound and parts[0] not in scope.names and parts != [name]
                if behind and not last and (len(parts) > 1 or parts[0] != name) and parts[0] != name:
                    postponed.append(entry)
                    continue
                self._at(scope)
                self.scopes = []
                self.bind_use(parts, name, line)
            waiting = postponed
        self._at(self.top)

    # Types -----------------------------------------------------------------------------------------------------------

    def _fill_type(self, node: tree_sitter.Node, index: int, slot: int, scope: ModuleScope) -> None:
        before, self.frame.owner = self.frame.owner, index
        positions = self.positions(node)
        self.bind_parameters(node, positions)
        name = text_of(node.child_by_field_name("name") or node)
        if slot == NOTHING:
            type_op = self.type_of(node.child_by_field_name("type"))
            variable = scope.names.get(name)
            if type_op != NOTHING and isinstance(variable, int) and self.b.ops[variable][0] == Op.VAR:
                self.b.op(Op.STORE, self.b.ops[variable][1], self.b.op(Op.ALIAS_TYPE, type_op))
            self.frame.owner = before
            return
        made = self.b.shared(Op.CLASS, slot)
        self.self_type = made
        bases = self.derived(node)
        members: list[tuple[str, int]] = []
        fields: tuple[tuple[str, int], ...] = ()
        statics: list[tuple[str, int]] = []
        if node.type == "trait_item":
            bounds = node.child_by_field_name("bounds")
            supers = [n for n in (bounds.named_children if bounds is not None else ()) if n.type != "lifetime"]
            bases = [(self.type_of(each), line_of(each)) for each in supers]
            self.associated = self.associated_types(node)
            for child, inner, function in self.members.get(node.id, ()):
                pending = Pending(child, function, inner, scope, self_type=made, associated=self.associated, cls=slot)
                pending.flags = self.method_flags(child)
                if child.child_by_field_name("body") is None:
                    pending.flags |= FunctionFlag.ABSTRACT
                self._signature(pending)
                members.append((text_of(child.child_by_field_name("name") or child), self.b.shared(Op.FUNC, function)))
        elif node.type == "enum_item":
            statics = self.fill_variants(node, slot, made)
        else:
            fields = self.fields(node.child_by_field_name("body"))
        bases = [(at, line) for at, line in bases if at != NOTHING]
        self.b.classes[slot] = Class(
            name=name,
            definition=index,
            owner=0,
            bases=tuple(at for at, _ in bases),
            base_lines=tuple(line for _, line in bases),
            members=tuple(members),
            static_members=tuple(statics),
            annotations=fields,
            flags=int(ClassFlag.INTERFACE) if node.type == "trait_item" else 0,
            type_params=tuple(f"'{position}" for position in range(len(positions))),
        )
        self.frame.owner = before

    # Impl blocks and functions -----------------------------------------------------------------------------------------

    def _fill_impl(self, node: tree_sitter.Node, scope: ModuleScope) -> None:
        type_node, trait_node = node.child_by_field_name("type"), node.child_by_field_name("trait")
        arguments = type_node.child_by_field_name("type_arguments") if type_node is not None else None
        kept = [c for c in (arguments.named_children if arguments is not None else ()) if c.type != "lifetime"]
        positions = {text_of(argument): position for position, argument in enumerate(kept)}
        self.bind_parameters(node, positions)
        cls = self.type_of(type_node)
        self.self_type = cls
        trait = self.type_of(trait_node) if trait_node is not None else NOTHING
        negative = any(child.type == "!" for child in node.children)
        self.associated = self.associated_types(node)
        extension = len(self.b.extensions)
        members: list[tuple[str, int]] = []
        statics: list[tuple[str, int]] = []
        body = node.child_by_field_name("body")
        for child in body.named_children if body is not None else ():
            if child.type == "const_item":
                name = child.child_by_field_name("name")
                held = self.instance(self.type_of(child.child_by_field_name("type")))
                if name is not None and held != NOTHING:
                    statics.append((text_of(name), held))
                self.variables.append((child, NOTHING, scope))
        for child, index, slot in self.members.get(node.id, ()):
            flags = self.method_flags(child)
            pending = Pending(child, slot, index, scope, self_type=cls, associated=self.associated, flags=flags)
            pending.extension = extension
            pending.around = list(self.scopes)
            self._signature(pending)
            name_text = text_of(child.child_by_field_name("name") or child)
            (statics if flags & FunctionFlag.STATIC else members).append((name_text, self.b.shared(Op.FUNC, slot)))
        self.b.extensions.append(
            Extension(
                cls=cls,
                members=tuple(members),
                static_members=tuple(statics),
                implements=(trait,) if trait != NOTHING and not negative else (),
                lines=(line_of(node),) if trait != NOTHING and not negative else (),
            )
        )

    def _signature(self, pending: Pending) -> None:
        """Parameters and result of a function; its body waits."""
        node = pending.node
        self.enter()
        self.bind_parameters(node, {})
        before, self.frame.owner = self.frame.owner, pending.definition
        before_self, self.self_type = self.self_type, pending.self_type
        listed = node.child_by_field_name("parameters")
        params: list[Param] = []
        for child in listed.named_children if listed is not None else ():
            if child.type == "self_parameter":
                params.append(Param("self"))
            elif child.type == "parameter":
                pattern = child.child_by_field_name("pattern")
                own = pattern is not None and text_of(pattern) in ("self", "mut self")
                annotation = NOTHING if own else self.type_of(child.child_by_field_name("type"))
                params.append(
                    Param("self" if own else text_of(pattern or child)[:80], "positional", NOTHING, annotation)
                )
        pending.params = tuple(params)
        result = node.child_by_field_name("return_type")
        pending.annotation = self._returned(result, pending)
        pending.parameters = {name: op for name, op in self.scopes[-1].items() if isinstance(op, int)}
        self.leave()
        self.frame.owner, self.self_type = before, before_self
        self.pending.append(pending)

    def _returned(self, result: tree_sitter.Node | None, pending: Pending) -> int:
        """What a method of a trait gives as `Self` is what it is called on."""
        if (
            result is not None
            and pending.cls != NOTHING
            and not pending.flags & FunctionFlag.STATIC
            and text_of(result) == "Self"
        ):
            return self.unbound("Self")
        return self.type_of(result)

    def _run(self, pending: Pending, *, runs: bool) -> None:
        """Walks the body of a function, and fills its row."""
        self._at(pending.scope)
        self.scopes = [*pending.around, dict(pending.parameters)]
        self.self_type, self.associated = pending.self_type, pending.associated
        frame = Frame(pending.definition, pending.slot)
        before, self.frame = self.frame, frame
        self.values = {}
        self.enter()
        listed = pending.node.child_by_field_name("parameters")
        given = [
            c
            for c in (listed.named_children if listed is not None else ())
            if c.type in ("self_parameter", "parameter")
        ]
        for position, (child, param) in enumerate(zip(given, pending.params, strict=False)):
            if param.name == "self":
                self.declare("self", self.b.shared(Op.RECEIVER, pending.slot))
                continue
            pattern = child.child_by_field_name("pattern")
            if pattern is not None:
                self.bind_pattern(pattern, self.b.shared(Op.PARAM, pending.slot, position))
        body = pending.node.child_by_field_name("body")
        if body is not None and runs:
            self.diverged = False
            value = self.quiet(body)
            if value != NOTHING:
                frame.returns.append(value)
        self.leave()
        self.finish_frame(frame)
        self.frame = before
        name = pending.node.child_by_field_name("name")
        self.b.functions[pending.slot] = Function(
            name=text_of(name) if name is not None else "",
            definition=pending.definition,
            owner=0,
            cls=pending.cls,
            flags=int(pending.flags),
            params=pending.params,
            returns=tuple(dict.fromkeys(frame.returns)),
            annotation=pending.annotation,
            extension=pending.extension,
        )

    def items(self, node: tree_sitter.Node) -> None:
        """Items in a function: named through it, known in the whole block."""
        listed = [
            child
            for child in node.named_children
            if child.type.endswith("_item") or child.type in ("use_declaration", "macro_definition")
        ]
        if not listed:
            return
        counts = len(self.types), len(self.impls), len(self.plain), len(self.variables), len(self.uses)
        scope = self.module
        self._outline(node, scope, self.frame.owner)
        uses, self.uses = self.uses[counts[4] :], self.uses[: counts[4]]
        for _, parts, name, line in uses:
            self.bind_use(parts, name, line)
        keep = (self.self_type, self.associated)
        for child, index, slot, _ in self.types[counts[0] :]:
            self.enter()
            self._fill_type(child, index, slot, scope)
            self.leave()
            self.self_type, self.associated = keep
        for child, _ in self.impls[counts[1] :]:
            self.enter()
            self._fill_impl(child, scope)
            self.leave()
            self.self_type, self.associated = keep
        for child, index, slot, _ in self.plain[counts[2] :]:
            self._signature(Pending(child, slot, index, scope, around=list(self.scopes), self_type=self.self_type))
        for child, variable, _ in self.variables[counts[3] :]:
            if child.type in ("const_item", "static_item"):
                self._initialise(child, variable, runs=True)
        del self.types[counts[0] :], self.impls[counts[1] :], self.plain[counts[2] :], self.variables[counts[3] :]

    def _initialise(self, node: tree_sitter.Node, variable: int, *, runs: bool) -> None:
        """A constant or static; a macro or expression at the top of the file."""
        if node.type not in ("const_item", "static_item"):
            if runs:
                self.expr(node)
            return
        type_op = self.type_of(node.child_by_field_name("type"))
        value = node.child_by_field_name("value")
        held = self.declared(self.expr(value) if value is not None and runs else NOTHING, type_op)
        if variable != NOTHING and held != NOTHING:
            self.b.op(Op.STORE, variable, held)
