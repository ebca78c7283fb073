"""Finds every definition of a file in one walk, and what belongs to each: decisions, comments, thrown names.

The walk keeps no stack of Python frames, so no depth of nesting stops it. A function or class without a name of its own takes
the name it is bound to: of its variable, its property, the exported `default`. Unnamed functions that are bound to nothing are
part of the named definition around them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import tree_sitter

from smp.domain.graph import NodeKind
from smp.domain.source import Damage
from smp.languages.ecmascript.definitions import Definition
from smp.languages.ecmascript.documentation import docstring_node, inline_comment, thrown_name
from smp.languages.ecmascript.naming import Names, assigned_name, exported_names, statement_of
from smp.languages.ecmascript.scopes import Scopes, pattern_names, prototype_argument
from smp.languages.ecmascript.syntax import (
    CLASSES,
    FIELDS,
    FUNCTIONS,
    SIGNATURES,
    key_name,
    line_of,
    member_path,
    text_of,
)
from smp.languages.ecmascript.testing import title_of
from smp.languages.summary_builder import SummaryBuilder

_TEST_FILE = re.compile(r"(^|/)([^/]+[.-](test|spec|e2e|cy)\.[cm]?[jt]sx?|(test|spec)s?\.[cm]?[jt]sx?)$")
_TEST_FOLDER = re.compile(r"(^|/)(__tests__|__mocks__|tests?|specs?|e2e|cypress)/")
_DECISIONS = frozenset(
    [
        "if_statement",
        "for_statement",
        "for_in_statement",
        "while_statement",
        "do_statement",
        "switch_case",
        "catch_clause",
        "ternary_expression",
    ]
)
_SHORT_CIRCUIT = frozenset({"&&", "||", "??", "&&=", "||=", "??="})


def role_of(path: str) -> str:
    """`test` for files that test runners collect or that lie among them, `source` otherwise."""
    return "test" if _TEST_FILE.search(path) or _TEST_FOLDER.search(path) else "source"


@dataclass(frozen=True, slots=True)
class _Context:
    """Where the walk is: the definition around, the one whose code runs, the name prefix, open `describe` titles."""

    owner: Definition | None = None
    code: Definition | None = None
    prefix: str = ""
    titles: tuple[str, ...] = ()
    top: bool = True
    ambient: bool = False
    returned: str | None = None


class Outline:
    """The definitions of one file, in source order; each is entered in the summary's table as it is found."""

    def __init__(self, root: tree_sitter.Node, scopes: Scopes, builder: SummaryBuilder) -> None:
        self.definitions: list[Definition] = []
        self.by_node: dict[int, Definition] = {}
        self.damage: list[Damage] = []
        self.exported = exported_names(root)
        self.docstrings: set[int] = set()
        self.file_decisions = 0
        self.role = role_of(builder.path)
        self._builder = builder
        self._scopes = scopes
        self._names = Names()
        self._walk(root)

    def definition_of(self, node: tree_sitter.Node) -> Definition | None:
        """The definition that a function, class, declared name or test call is."""
        return self.by_node.get(node.id)

    def named(self, name: str) -> Definition | None:
        """The first function or class of the file's top level with this name."""
        return next((d for d in self.definitions if d.qualname == name and d.parent is None), None)

    def _walk(self, root: tree_sitter.Node) -> None:
        damaged = root.has_error
        stack: list[tuple[tree_sitter.Node, _Context]] = [(root, _Context())]
        while stack:
            node, context = stack.pop()
            if damaged and (node.type == "ERROR" or node.is_missing):
                self._note_damage(node, context)
            inner = self._visit(node, context)
            if damaged:  # a missing token is no named node
                stack.extend([(child, inner) for child in reversed(node.children)])
            elif node.named_child_count:
                stack.extend([(child, inner) for child in reversed(node.named_children)])

    def _note_damage(self, node: tree_sitter.Node, context: _Context) -> None:
        lost = context.owner.unique if context.owner is not None else ""
        what = f"{node.type!r} is missing" if node.is_missing else "this part does not parse"
        self.damage.append(Damage(line=line_of(node), message=what, lost=lost))

    def _visit(self, node: tree_sitter.Node, context: _Context) -> _Context:
        """Notes what a node is; returns the context of its children."""
        kind = node.type
        if kind in FUNCTIONS or kind in SIGNATURES:
            return self._function(node, context)
        if kind in CLASSES:
            return self._class(node, context)
        handler = _HANDLERS.get(kind)
        if handler is not None:
            return handler(self, node, context)
        if kind in _DECISIONS:
            self._decide(context)
        return context

    def _decide(self, context: _Context) -> None:
        if context.code is not None:
            context.code.decisions += 1
        else:
            self.file_decisions += 1

    def _operator(self, node: tree_sitter.Node, context: _Context) -> _Context:
        operator = node.child_by_field_name("operator")
        if operator is not None and operator.type in _SHORT_CIRCUIT:
            self._decide(context)
        return context

    def _define(
        self,
        kind: NodeKind,
        name: str,
        context: _Context,
        *,
        node: tree_sitter.Node,
        span: tree_sitter.Node,
        function: tree_sitter.Node | None = None,
        exported: bool = False,
    ) -> Definition:
        qualname = name if kind is NodeKind.TEST or not context.prefix else f"{context.prefix}.{name}"
        unique = self._builder.unique_qualname(qualname)
        index, node_id = self._builder.define(kind, unique)
        direct = exported or span.type == "export_statement"
        shown = qualname if kind is NodeKind.TEST else name.rpartition(".")[2] if "[" not in name else name
        definition = Definition(
            kind, shown, qualname, unique, index, node_id, context.owner, node, span, function, direct_export=direct
        )
        self.definitions.append(definition)
        comment = docstring_node(span)
        if comment is not None:
            self.docstrings.add(comment.id)
        return definition

    def _function(self, node: tree_sitter.Node, context: _Context) -> _Context:
        bound = self._names.bound.get(node.id)
        own = key_name(node.child_by_field_name("name"))
        if node.type in SIGNATURES and node.type != "function_signature" and not self._names.is_member(node):
            return replace(context, top=False)
        if bound is not None:
            placed = replace(context, prefix=bound.prefix) if bound.prefix is not None else context
            definition = self._define(
                NodeKind.FUNCTION,
                bound.name,
                placed,
                node=bound.node,
                span=bound.span,
                function=node,
                exported=bound.exported,
            )
        elif own:
            prefix = self._names.member_prefix(node)
            placed = context if prefix is None else replace(context, prefix=prefix)
            span = statement_of(node)
            definition = self._define(NodeKind.FUNCTION, own, placed, node=node, span=span, function=node)
        else:
            returned = self._names.results.get(node.id)
            self._names.note_result(node, context.prefix if returned is None else returned)
            return replace(context, top=False, returned=returned)
        self.by_node[node.id] = definition
        self._names.note_result(node, definition.qualname)
        inner = replace(context, owner=definition, code=definition, prefix=definition.qualname)
        return replace(inner, titles=(), top=False, returned=None)

    def _class(self, node: tree_sitter.Node, context: _Context) -> _Context:
        bound = self._names.bound.get(node.id)
        own = key_name(node.child_by_field_name("name"))
        if bound is None and not own:
            return replace(context, top=False)
        if bound is not None:
            placed = replace(context, prefix=bound.prefix) if bound.prefix is not None else context
            name, span, exported = bound.name, bound.span, bound.exported
        else:
            placed, name, span, exported = context, own or "", statement_of(node), False
        definition = self._define(NodeKind.CLASS, name, placed, node=node, span=span, exported=exported)
        self.by_node[node.id] = definition
        self._names.note_members(node, definition.qualname)
        return replace(context, owner=definition, prefix=definition.qualname, top=False)

    def _interface(self, node: tree_sitter.Node, context: _Context) -> _Context:
        name = key_name(node.child_by_field_name("name"))
        if not name:
            return context
        definition = self._define(NodeKind.INTERFACE, name, context, node=node, span=statement_of(node))
        self.by_node[node.id] = definition
        self._names.note_members(node, definition.qualname)
        return replace(context, owner=definition, prefix=definition.qualname, top=False)

    def _enum(self, node: tree_sitter.Node, context: _Context) -> _Context:
        name = key_name(node.child_by_field_name("name"))
        if name:
            self.by_node[node.id] = self._define(NodeKind.CLASS, name, context, node=node, span=statement_of(node))
        return context

    def _namespace(self, node: tree_sitter.Node, context: _Context) -> _Context:
        """A namespace is a value with members; beside a class, function or enum of its name it adds to that."""
        name = key_name(node.child_by_field_name("name"))
        if not name:
            return context
        qualname = f"{context.prefix}.{name}" if context.prefix else name
        known = next((d for d in self.definitions if d.qualname == qualname and d.parent is context.owner), None)
        if node.type == "module" and known is None:
            return replace(context, prefix=qualname)
        if known is None:
            known = self._define(NodeKind.VARIABLE, name, context, node=node, span=statement_of(node))
            known.namespace = True
        self.by_node[node.id] = known
        return replace(context, owner=known, prefix=known.qualname)

    def _declarator(self, node: tree_sitter.Node, context: _Context) -> _Context:
        pattern, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if pattern is None:
            return context
        span = statement_of(node)
        if pattern.type == "identifier":
            name = text_of(pattern)
            bound = self._names.bind(value, name, span=span, node=node, prefix=context.prefix)
            if not bound and context.top:
                definition = self._define(NodeKind.VARIABLE, name, context, node=node, span=span)
                self.by_node[pattern.id] = definition
                return replace(context, owner=definition) if value is not None and value.type == "object" else context
        elif context.top:
            for identifier in pattern_names(pattern):
                definition = self._define(NodeKind.VARIABLE, text_of(identifier), context, node=node, span=span)
                self.by_node[identifier.id] = definition
        return context

    def _assignment(self, node: tree_sitter.Node, context: _Context) -> _Context:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        target = assigned_name(left, context.owner) if left is not None else None
        if target is not None:
            prefix = context.prefix if target.prefix is None else target.prefix
            if target.name == "default" and target.exported and right is not None:
                self._names.note_object(right, "")  # the properties of `module.exports` are the exports
            span = statement_of(node)
            self._names.bind(
                right,
                target.name,
                span=span,
                node=node,
                prefix=prefix,
                exported=target.exported,
                own_name=target.name == "default" and target.exported,
            )
        return context

    def _field(self, node: tree_sitter.Node, context: _Context) -> _Context:
        key = node.child_by_field_name("property") or node.child_by_field_name("name")
        name = key_name(key)
        if name:
            self._names.bind(node.child_by_field_name("value"), name, span=node, node=node, prefix=context.prefix)
        return context

    def _object(self, node: tree_sitter.Node, context: _Context) -> _Context:
        prefix = self._names.objects.get(node.id)
        for member in node.named_children:
            if member.type == "method_definition":
                self._names.members[member.id] = context.prefix if prefix is None else prefix
            elif member.type == "pair":
                name = key_name(member.child_by_field_name("key"))
                if name:
                    value = member.child_by_field_name("value")
                    through = context.prefix if prefix is None else prefix
                    self._names.bind(value, name, span=member, node=member, prefix=through)
        return replace(context, top=False)

    def _export(self, node: tree_sitter.Node, context: _Context) -> _Context:
        value = node.child_by_field_name("value")
        if value is not None:
            self._names.bind(
                value, "default", span=node, node=node, prefix=context.prefix, exported=True, own_name=True
            )
        else:
            declaration = node.child_by_field_name("declaration")
            if declaration is not None and declaration.child_by_field_name("name") is None:
                self._names.bind(declaration, "default", span=node, node=node, prefix=context.prefix, exported=True)
        return context

    def _return(self, node: tree_sitter.Node, context: _Context) -> _Context:
        for value in node.named_children:
            self._names.note_object(value, context.prefix if context.returned is None else context.returned)
        return context

    def _call(self, node: tree_sitter.Node, context: _Context) -> _Context:
        found = title_of(node, self._scopes.file)
        if found is None:
            self._prototype(node)
            return context
        titles = (*context.titles, found.title)
        if found.is_suite:
            return replace(context, titles=titles, top=False)
        if not found.has_body:
            return context
        name = " > ".join(titles)
        span = node.parent if node.parent is not None and node.parent.type == "expression_statement" else node
        definition = self._define(NodeKind.TEST, name, context, node=node, span=span, function=None)
        self.by_node[node.id] = definition
        self._builder.tests.append(definition.index)
        return replace(context, owner=definition, code=definition, prefix=definition.qualname, titles=titles, top=False)

    def _prototype(self, call: tree_sitter.Node) -> None:
        """`Object.assign(F.prototype, { … })`: the methods are named through F."""
        target, arguments = prototype_argument(call), call.child_by_field_name("arguments")
        path = member_path(target) if target is not None else None
        for given in arguments.named_children[1:] if path is not None and arguments is not None else ():
            self._names.note_object(given, ".".join(path[:-1]) if path is not None else "")

    def _comment(self, node: tree_sitter.Node, context: _Context) -> _Context:
        if context.owner is not None:
            context.owner.comments.extend((node.id, comment) for comment in inline_comment(node))
        return context

    def _throw(self, node: tree_sitter.Node, context: _Context) -> _Context:
        name = thrown_name(node)
        if name and context.code is not None:
            context.code.throws.add(name)
        return context


_HANDLERS = {
    "interface_declaration": Outline._interface,
    "type_alias_declaration": Outline._interface,
    "enum_declaration": Outline._enum,
    "internal_module": Outline._namespace,
    "module": Outline._namespace,
    "variable_declarator": Outline._declarator,
    "assignment_expression": Outline._assignment,
    "object": Outline._object,
    "export_statement": Outline._export,
    "return_statement": Outline._return,
    "call_expression": Outline._call,
    "comment": Outline._comment,
    "throw_statement": Outline._throw,
    "binary_expression": Outline._operator,
    "augmented_assignment_expression": Outline._operator,
    **dict.fromkeys(FIELDS, Outline._field),
}
