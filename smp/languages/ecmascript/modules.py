"""Imports, exports, CommonJS and namespaces: what a file takes in and hands out. The whole walk ends here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import tree_sitter

from smp.domain.source import NOTHING, Exports, FunctionFlag, ImportDecl, Op
from smp.languages.ecmascript.calls import CALL_HANDLERS, MODULE_VALUE
from smp.languages.ecmascript.expressions import EXPRESSION_HANDLERS
from smp.languages.ecmascript.grammar import dialect_of
from smp.languages.ecmascript.jsdoc import doc_types, typedefs
from smp.languages.ecmascript.naming import statement_of
from smp.languages.ecmascript.outline import Outline
from smp.languages.ecmascript.scopes import Binding, Scopes
from smp.languages.ecmascript.statements import STATEMENT_HANDLERS, StatementWalk
from smp.languages.ecmascript.syntax import (
    CLASSES,
    body_of,
    has_token,
    line_of,
    member_path,
    string_value,
    text_of,
    unwrap,
)
from smp.languages.ecmascript.walk import ClassDraft, Frame
from smp.languages.summary_builder import SummaryBuilder

_NO_RECEIVER = (int(Op.UNION),)
"""A type without parts, in place of an op that nothing refers to."""


class FileWalk(StatementWalk):
    """The whole walk over one file."""

    handlers: ClassVar[dict[str, Callable[[Any, tree_sitter.Node], int]]] = {**EXPRESSION_HANDLERS, **CALL_HANDLERS}

    def __init__(self, root: tree_sitter.Node, scopes: Scopes, outline: Outline, builder: SummaryBuilder) -> None:
        super().__init__(root, scopes, outline, builder)
        self.receivers = {}
        self.belongs = {}
        self.typed = dialect_of(builder.path) != "javascript"
        self.statement_handlers = {**STATEMENT_HANDLERS, **MODULE_HANDLERS}
        self.exported: list[tuple[str, Binding | int]] = []
        self.exported_types: list[tuple[str, Binding | int]] = []
        self.stars: list[int] = []
        self.imported: set[int] = set()
        self.is_esm = False
        self.is_commonjs = False

    def walk(self) -> None:
        """Reads the file and fills the builder."""
        for statement in self.root.named_children:
            if statement.type == "import_statement":
                self._import(statement)  # imports come first, wherever they stand
        self.sequence(self.root.named_children)
        if not self.typed:
            self._name_documented_types()
        self.drain()
        self.b.exports = self._exports()
        self.finish_variables()
        self.finish_classes()
        self._leave_out_receivers()
        self.b.module_kind = "esm" if self.is_esm else "commonjs" if self.is_commonjs else ""

    def _leave_out_receivers(self) -> None:
        """Functions without a class that never say `this` have no receiver that anybody need follow."""
        used = self.named_this | {part for at in self.named_this if at >= 0 for part in self.b.ops[at][1:]}
        for at, op in enumerate(self.b.ops):
            function = self.b.functions[op[1]] if op[0] == Op.RECEIVER and at not in used else None
            if function is not None and function.cls == NOTHING:
                self.b.ops[at] = _NO_RECEIVER

    def _name_documented_types(self) -> None:
        """`@typedef {T} Name`: other files may import the name as a type."""
        named = [(types, line) for types, line in typedefs(self.root) if types.name not in self.scopes.file.names]
        for types, _ in named:
            self.scopes.file.types.setdefault(types.name, Binding(types.name, "alias", self.scopes.file))
        for types, line in named:
            binding, type_op = self.scopes.file.types[types.name], self.documented_type(types.type, line)
            if type_op != NOTHING:
                self.write(binding, self.b.op(Op.ALIAS_TYPE, type_op))
                self.exported_types.append((types.name, binding))

    # Imports ---------------------------------------------------------------------------------------------------------

    def _import(self, node: tree_sitter.Node) -> bool:
        if node.id in self.imported:
            return False
        self.imported.add(node.id)
        self.is_esm = True
        source = node.child_by_field_name("source")
        module = string_value(source) if source is not None else None
        clause = next((c for c in node.named_children if c.type in ("import_clause", "import_require_clause")), None)
        type_only = has_token(node, "type", "typeof")
        if clause is not None and clause.type == "import_require_clause":
            inner = clause.child_by_field_name("source")
            name = next((child for child in clause.named_children if child.type == "identifier"), None)
            module = string_value(inner) if inner is not None else None
            if module is not None and name is not None:
                self._bind(module, MODULE_VALUE, name, type_only=type_only)
        elif module is not None and clause is None:
            self._declare(module, "", node)
        elif module is not None and clause is not None:
            for part in clause.named_children:
                self._import_part(part, module, type_only=type_only)
        return False

    def _import_part(self, part: tree_sitter.Node, module: str, *, type_only: bool) -> None:
        if part.type == "identifier":
            self._bind(module, "default", part, type_only=type_only)
        elif part.type == "namespace_import":
            for local in part.named_children:
                if local.type == "identifier":
                    self._bind(module, "", local, type_only=type_only)
        elif part.type == "named_imports":
            for specifier in part.named_children:
                name = specifier.child_by_field_name("name")
                alias = specifier.child_by_field_name("alias")
                if name is not None:
                    only = type_only or has_token(specifier, "type", "typeof")
                    self._bind(module, _name_text(name), alias if alias is not None else name, type_only=only)

    def _bind(self, module: str, name: str, local: tree_sitter.Node, *, type_only: bool) -> None:
        value = self._declare(module, name, local, bound=text_of(local), type_only=type_only)
        binding = self.scope.names.get(text_of(local))
        if binding is not None:
            self.fix(binding, value)

    def _declare(
        self, module: str, name: str, node: tree_sitter.Node, *, bound: str = "", type_only: bool = False
    ) -> int:
        owner = self.frame.owner
        self.b.imports.append(
            ImportDecl(module=module, name=name, line=line_of(node), owner=owner, bound=bound, type_only=type_only)
        )
        return self.b.shared(Op.IMPORT, len(self.b.imports) - 1)

    # Exports ---------------------------------------------------------------------------------------------------------

    def _export(self, node: tree_sitter.Node) -> bool:
        self.is_esm = True
        source = node.child_by_field_name("source")
        module = string_value(source) if source is not None else None
        value, declaration = node.child_by_field_name("value"), node.child_by_field_name("declaration")
        type_only = has_token(node, "type")
        if declaration is not None:
            self._export_declaration(node, declaration)
        elif value is not None:
            self.exported.append(("default", self._default_value(value)))
        elif has_token(node, "=") and node.named_children:
            self._export_equals(node.named_children[-1])
        elif module is not None and not any(c.type == "export_clause" for c in node.named_children):
            self._export_star(node, module, type_only=type_only)
        for clause in node.named_children:
            if clause.type == "export_clause":
                for specifier in clause.named_children:
                    if specifier.type == "export_specifier":
                        self._export_specifier(specifier, module, type_only=type_only or has_token(specifier, "type"))
        return False

    def _default_value(self, value: tree_sitter.Node) -> Binding | int:
        inner = unwrap(value)
        binding = self.scope.find(text_of(inner)) if inner.type == "identifier" else None
        if binding is None:
            return self.expr(value)
        self.use(self.load_binding(binding), inner)
        return binding

    def _export_declaration(self, node: tree_sitter.Node, declaration: tree_sitter.Node) -> None:
        is_default = has_token(node, "default")
        name = declaration.child_by_field_name("name")
        if is_default and name is None:
            # A nameless class or function: an expression in all but grammar.
            value = self.class_value(declaration) if declaration.type in CLASSES else self.queue(declaration)
            self.exported.append(("default", value))
            return
        self.run(declaration)
        names = [text_of(name)] if name is not None else []
        for declarator in declaration.named_children:
            pattern = declarator.child_by_field_name("name") if declarator.type == "variable_declarator" else None
            names += self.names_in(pattern) if pattern is not None else []
        for local in names:
            self._export_local(local.split(".")[0], "default" if is_default else local.split(".")[0])

    def _export_local(self, local: str, exported: str) -> None:
        value, declared = self.scope.names.get(local), self.scope.types.get(local)
        if value is None and declared is None:
            value = self.scope.find(local)
        if value is not None:
            self.exported.append((exported, value))
        if declared is not None:
            self.exported_types.append((exported, declared))

    def _export_equals(self, value: tree_sitter.Node) -> None:
        result = self.expr(value)
        self.exported += [(MODULE_VALUE, result), ("default", result)]

    def _export_star(self, node: tree_sitter.Node, module: str, *, type_only: bool) -> None:
        named = next((child for child in node.named_children if child.type == "namespace_export"), None)
        if named is not None and named.named_children:
            value = self._declare(module, "", node, type_only=type_only)
            self.exported.append((_name_text(named.named_children[0]), value))
            return
        self._declare(module, "*", node, type_only=type_only)
        self.stars.append(len(self.b.imports) - 1)

    def _export_specifier(self, specifier: tree_sitter.Node, module: str | None, *, type_only: bool) -> None:
        name, alias = specifier.child_by_field_name("name"), specifier.child_by_field_name("alias")
        if name is None:
            return
        exported = _name_text(alias if alias is not None else name)
        if module is not None:
            value = self._declare(module, _name_text(name), specifier, type_only=type_only)
            self.exported.append((exported, value))
            return
        self._export_local(text_of(name), exported)
        binding = self.scope.find(text_of(name))
        if binding is not None and binding.kind not in ("interface", "alias"):
            self.use(self.load_binding(binding), name)

    def _exports(self) -> Exports:
        """The table as it stands when the file has run: imported bindings are live, so the last value counts."""
        names: dict[str, list[int]] = {}
        for exported, held in self.exported:
            value = held if isinstance(held, int) else self.load_binding(held)
            if value != NOTHING:
                names.setdefault(exported, []).append(value)
        types = {e: held if isinstance(held, int) else self.load_type(held) for e, held in self.exported_types}
        for exported, value in types.items():
            names.setdefault(exported, [value])
        return Exports(
            names=tuple((exported, self.b.phi(values)) for exported, values in names.items()),
            stars=tuple(self.stars),
            types=tuple(types.items()),
            star_all=True,
        )

    # CommonJS and prototypes -----------------------------------------------------------------------------------------

    def assign_member(self, target: tree_sitter.Node, value: int) -> None:
        """Writes to `module.exports`, `exports.x` and `C.prototype.m` say more than a store."""
        path = member_path(target) or ("",)
        if path[0] in ("module", "exports") and self.scope.find(path[0]) is None:
            if path[:2] == ("module", "exports"):
                path = path[1:]
            if path[0] == "exports":
                self._export_commonjs(path[1:], value)
                return
        binding = self.scope.find(path[0])
        draft = self.draft_of.get(binding) if binding is not None else None
        if draft is not None and binding in self.scopes.makers and path[1:2] == ("prototype",):
            self._assign_prototype(draft, path[2:], value)
            return
        super().assign_member(target, self._documented_member(target, value))

    def _documented_member(self, target: tree_sitter.Node, value: int) -> int:
        """`/** @type {T} */ this.x = …` declares what it writes."""
        if self.typed or (member_path(target) or ("",))[0] != "this":
            return value
        declared = self.documented_type(doc_types(statement_of(target.parent or target)).type, line_of(target))
        return self.declared(declared, value) if declared != NOTHING else value

    def own_export(self, node: tree_sitter.Node) -> bool:
        """True for `exports` and `module.exports` of this file."""
        path = member_path(node)
        return path in (("exports",), ("module", "exports")) and self.scope.find(path[0]) is None

    def _export_commonjs(self, path: tuple[str, ...], value: int) -> None:
        self.is_commonjs = True
        if not path:
            self.exported += [(MODULE_VALUE, value), ("default", value)]
            self.exported += self._entries(value)
        elif len(path) == 1:
            self.exported.append((path[0], value))
            whole = next((held for name, held in reversed(self.exported) if name == MODULE_VALUE), NOTHING)
            if isinstance(whole, int) and whole != NOTHING:  # it is a member of the exported function or object as well
                self.b.op(Op.STORE_ATTR, whole, self.b.name(path[0]), value)

    def _entries(self, value: int) -> list[tuple[str, Binding | int]]:
        """The constant keys of an object literal, with their values."""
        if value == NOTHING or self.b.ops[value][0] != Op.MAP:
            return []
        operands = self.b.ops[value][2:]
        pairs = zip(operands[::2], operands[1::2], strict=True)
        return [(self.b.names[key], held) for key, held in pairs if key >= 0 and held != NOTHING]

    def _assign_prototype(self, draft: ClassDraft, path: tuple[str, ...], value: int) -> None:
        if path in ((), ("__proto__",)):
            base = self._created_from(value)
            if base != NOTHING:
                self._inherit_from(draft, base)
                return
        entries = self._entries(value) if not path else [(path[0], value)] if len(path) == 1 else []
        for name, held in entries:
            assert isinstance(held, int)
            draft.members.append((name, held))
            self.adopt(held, draft)

    def extend_prototype(self, call: int) -> None:
        """What is put on a prototype at once: methods, descriptions of properties with their functions, or what it inherits."""
        op = self.b.ops[call]
        target = self.b.ops[op[4]] if len(op) > 7 and op[4] != NOTHING else (0,)
        draft = next(
            (d for d in self.drafts if target[0] == Op.ATTR and self.b.ops[target[1]] == (Op.CLASS, d.index)), None
        )
        method = self.b.names[self.b.ops[op[1]][2]] if self.b.ops[op[1]][0] == Op.ATTR else ""
        if draft is None:
            return
        if method in ("assign", "setPrototypeOf"):
            for source in op[7::3]:
                self._inherit_from(draft, self._created_from(source))
        entries = [(name, held) for source in op[7::3] for name, held in self._entries(source) if isinstance(held, int)]
        if method == "defineProperty" and len(op) > 10 and op[7] != NOTHING and self.b.ops[op[7]][0] == Op.CONST:
            entries = [(self.b.names[self.b.ops[op[7]][2]], op[10])] if self.b.ops[op[7]][2] != NOTHING else []
        for name, held in entries:
            if method in ("assign", "setPrototypeOf"):
                draft.members.append((name, held))
                self.adopt(held, draft)
            else:
                self._describe_property(draft, name, held)

    def _inherit_from(self, draft: ClassDraft, base: int) -> None:
        if base != NOTHING and base not in draft.bases:
            draft.bases.append(base)
            draft.base_lines.append(0)

    def _describe_property(self, draft: ClassDraft, name: str, described: int) -> None:
        kinds = {"get": FunctionFlag.PROPERTY, "set": FunctionFlag.SETTER, "value": FunctionFlag.NONE}
        for kind, held in self._entries(described):
            if kind in kinds and isinstance(held, int):
                draft.members.append((name, held))
                self.adopt(held, draft, kinds[kind])

    def _created_from(self, value: int) -> int:
        """The function whose `prototype` a value is (or is made from by `Object.create`)."""
        op = self.b.ops[value] if value != NOTHING else (0,)
        if op[0] == Op.CALL and len(op) > 4:
            callee = self.b.ops[op[1]] if op[1] != NOTHING else (0,)
            if callee[0] != Op.ATTR or self.b.names[callee[2]] != "create" or op[4] == NOTHING:
                return NOTHING
            op = self.b.ops[op[4]]
        return op[1] if op[0] == Op.ATTR and self.b.names[op[2]] == "prototype" else NOTHING

    # Namespaces ------------------------------------------------------------------------------------------------------

    def _namespace(self, node: tree_sitter.Node) -> bool:
        """A namespace is an object with members: a class that has statics only, or what it merges with."""
        name, body = node.child_by_field_name("name"), body_of(node)
        if body is None or name is None:
            return False
        before = (self.frame, self.scope, self.exported, self.exported_types)
        scope = self.scopes.of(node, self.scope)
        self.frame = Frame(scope=scope, owner=self.frame.owner)
        self.scope, self.exported, self.exported_types = scope, [], []
        self.sequence(body.named_children)
        members = [(n, self.load_binding(h) if isinstance(h, Binding) else h) for n, h in self.exported]
        members += [(n, self.load_type(h) if isinstance(h, Binding) else h) for n, h in self.exported_types]
        self.frame, self.scope, self.exported, self.exported_types = before
        if name.type in ("identifier", "nested_identifier"):
            self._merge_namespace(node, text_of(name).split("."), members)
        return False

    def _merge_namespace(self, node: tree_sitter.Node, path: list[str], members: list[tuple[str, int]]) -> None:
        binding = self.scope.names.get(path[0])
        if binding is None:
            return
        known = self.fixed.get(binding)
        draft = self.draft_of.get(binding)
        if draft is None and known is not None:  # a function with properties
            for member, value in members:
                self.b.op(Op.STORE_ATTR, known, self.b.name(member), value)
            return
        if draft is None:
            definition = self.outline.definition_of(node)
            draft = self.new_draft(path[0], definition.index if definition is not None else NOTHING)
            self.draft_of[binding] = draft
            self.fix(binding, self.class_op(draft))
        for part in path[1:]:
            inner = self.new_draft(part, NOTHING)
            draft.static_members.append((part, self.class_op(inner)))
            draft = inner
        draft.static_members += members


def _name_text(node: tree_sitter.Node) -> str:
    """A name of an import or export list, which may be a string."""
    value = string_value(node)
    return value if value is not None else text_of(node)


MODULE_HANDLERS: dict[str, Callable[[Any, tree_sitter.Node], bool]] = {
    "import_statement": FileWalk._import,
    "export_statement": FileWalk._export,
    "internal_module": FileWalk._namespace,
    "module": FileWalk._namespace,
}
