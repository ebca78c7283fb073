"""Which name a nameless function, class or object literal goes by: that of what it is bound to."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct
from tree_sitter import Node

from smp.domain.graph import NodeKind
from smp.languages.ecmascript.definitions import Definition
from smp.languages.ecmascript.scopes import pattern_names
from smp.languages.ecmascript.syntax import CLASSES, FUNCTIONS, key_name, member_path, string_value, text_of, unwrap

PASS_THROUGH = frozenset(
    {
        "memo",
        "forwardRef",
        "useCallback",
        "observer",
        "React.memo",
        "React.forwardRef",
        "React.useCallback",
        "Object.freeze",
    }
)
"""Calls that give back (an equal of) the function they are given, so that it goes by the variable's name."""
_VALUES = frozenset({"function_expression", "generator_function", "arrow_function", "class"})


class Target(Struct, frozen=True):
    """What an assignment writes, as a name. prefix: None where the enclosing definition's applies."""

    name: str
    prefix: str | None = None
    exported: bool = False


@dataclass(frozen=True, slots=True)
class Bound:
    """The name a value is bound to, the statement to cut out, and the node that carries keywords."""

    name: str
    span: Node
    node: Node
    prefix: str | None
    exported: bool = False


class Names:
    """Names handed down from binders to the values below them, by tree node."""

    def __init__(self) -> None:
        self.bound: dict[int, Bound] = {}
        self.objects: dict[int, str] = {}
        self.members: dict[int, str] = {}
        self.results: dict[int, str] = {}
        """Functions that are run where they are written → the name that what they return is bound to."""

    def bind(
        self,
        value: Node | None,
        name: str,
        *,
        span: Node,
        node: Node,
        prefix: str,
        exported: bool = False,
        own_name: bool = False,
    ) -> bool:
        """Binds a value to a name; True if the value is a function or class, so that the name is a definition of its own.

        own_name: an own name of the value wins (`export default class Foo`).
        """
        if value is None:
            return False
        value = unwrap(value)
        kind = value.type
        if kind in _VALUES or (kind in FUNCTIONS | CLASSES and value.child_by_field_name("name") is None):
            inner = value.child_by_field_name("name")
            shown = text_of(inner) if own_name and inner is not None else name
            self.bound.setdefault(value.id, Bound(shown, span, node, prefix, exported))
            return True
        if kind == "array":
            joined = f"{prefix}.{name}" if prefix and name else name or prefix
            self.objects.update((part.id, joined) for part in value.named_children if part.type == "object")
            return False
        if kind == "object":
            joined = f"{prefix}.{name}" if prefix and name else name or prefix
            self.objects.setdefault(value.id, joined)
            return False
        parts: tuple[Node | None, ...] = ()
        if kind == "ternary_expression":
            parts = (value.child_by_field_name("consequence"), value.child_by_field_name("alternative"))
        elif kind in ("assignment_expression", "binary_expression"):
            parts = (value.child_by_field_name("right"),)
        elif kind == "call_expression":
            parts = _passed_through(value)
            made = _run_in_place(value)
            if made is not None:
                self.results[made.id] = f"{prefix}.{name}" if prefix and name else name or prefix
        found = [
            self.bind(part, name, span=span, node=node, prefix=prefix, exported=exported, own_name=own_name)
            for part in parts
        ]
        return any(found)

    def note_members(self, node: Node, prefix: str) -> None:
        """The methods of a class, interface or object type are named through it."""
        body = node.child_by_field_name("body") or node.child_by_field_name("value")
        if body is not None and body.type in ("class_body", "interface_body", "object_type"):
            self.members.update((member.id, prefix) for member in body.named_children)

    def note_result(self, function: Node, prefix: str) -> None:
        """The object that an arrow's expression body makes is named through the function, as a returned one is."""
        body = function.child_by_field_name("body")
        if body is not None and body.type != "statement_block":
            self.note_object(body, prefix)

    def note_object(self, value: Node, prefix: str) -> None:
        """Names the methods of an object literal through `prefix`."""
        value = unwrap(value)
        if value.type == "object":
            self.objects.setdefault(value.id, prefix)

    def is_member(self, node: Node) -> bool:
        """True for signatures directly in a named class, interface or object type."""
        return node.id in self.members

    def member_prefix(self, node: Node) -> str | None:
        """The name that a method is written under; None where the enclosing definition's applies."""
        return self.members.get(node.id)


def _run_in_place(call: Node) -> Node | None:
    """The function of `(() => …)()`."""
    callee = call.child_by_field_name("function")
    inner = unwrap(callee) if callee is not None else None
    return inner if inner is not None and inner.type in _VALUES and inner.type != "class" else None


def _passed_through(call: Node) -> tuple[Node | None, ...]:
    callee, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    path = member_path(callee) if callee is not None else None
    if path is None or ".".join(path) not in PASS_THROUGH or arguments is None:
        return ()
    return tuple(arguments.named_children[:1])


def statement_of(node: Node) -> Node:
    """The statement to cut out with a definition: its declaration where it is alone in it, `export` and `declare` included."""
    parent = node.parent
    if node.type == "variable_declarator" and parent is not None:
        if sum(child.type == "variable_declarator" for child in parent.named_children) > 1:
            return node
        node, parent = parent, parent.parent
    while parent is not None and parent.type in ("export_statement", "ambient_declaration", "expression_statement"):
        node, parent = parent, parent.parent
    return node


def assigned_name(left: Node, owner: Definition | None) -> Target | None:
    """The name that an assignment gives to the function on its right; None for computed places."""
    path = member_path(left)
    if path is None:
        return None
    if path == ("module", "exports"):
        return Target("default", prefix="", exported=True)
    if path[:2] == ("module", "exports"):
        return Target(".".join(path[2:]), prefix="", exported=True)
    if path[0] == "exports" and len(path) > 1:
        return Target(".".join(path[1:]), prefix="", exported=True)
    if path[0] == "this":
        return Target(".".join(path[1:]), prefix=_receiver_name(owner)) if len(path) > 1 else None
    return Target(".".join(part for part in path if part != "prototype"))


def _receiver_name(owner: Definition | None) -> str | None:
    """What `this` is named in a function: its class, or the function itself where it makes objects."""
    while owner is not None:
        if owner.parent is not None and owner.parent.kind is NodeKind.CLASS:
            return owner.parent.qualname
        if owner.kind is NodeKind.FUNCTION:
            return owner.qualname
        owner = owner.parent
    return None


def exported_names(root: Node) -> frozenset[str] | None:
    """Local names that a file exports by clause or CommonJS assignment; None for a script, which is no module at all."""
    names: set[str] = set()
    is_module = False
    for statement in root.named_children:
        if statement.type == "import_statement":
            is_module = True
        elif statement.type == "export_statement":
            is_module = True
            names.update(_clause_names(statement))
        elif statement.type == "expression_statement" and statement.named_children:
            found = _commonjs_names(statement.named_children[0])
            is_module = is_module or found is not None
            names.update(found or ())
    return frozenset(names) if is_module else None


def _clause_names(statement: Node) -> set[str]:
    names: set[str] = set()
    declaration = statement.child_by_field_name("declaration")
    if declaration is not None:
        name = declaration.child_by_field_name("name")
        if name is not None:
            names.add(text_of(name))
        for declarator in declaration.named_children:
            if declarator.type == "variable_declarator":
                pattern = declarator.child_by_field_name("name")
                names.update(
                    text_of(identifier) for identifier in (pattern_names(pattern) if pattern is not None else ())
                )
    if statement.child_by_field_name("source") is None:
        for child in statement.named_children:
            if child.type == "identifier":
                names.add(text_of(child))
            elif child.type == "export_clause":
                locals_ = (specifier.child_by_field_name("name") for specifier in child.named_children)
                names.update(text_of(name) for name in locals_ if name is not None)
    return names


def _commonjs_names(expression: Node) -> set[str] | None:
    """Local names that `module.exports = …` or `exports.x = …` hands out; None for other statements."""
    if expression.type != "assignment_expression":
        return None
    left, right = expression.child_by_field_name("left"), expression.child_by_field_name("right")
    path = member_path(left) if left is not None else None
    if (
        path is None
        or right is None
        or not (path[:2] == ("module", "exports") or (path[0] == "exports" and len(path) > 1))
    ):
        return None
    value = unwrap(right)
    if value.type == "identifier":
        return {text_of(value)}
    names: set[str] = set()
    for member in value.named_children if value.type == "object" else ():
        if member.type == "shorthand_property_identifier":
            names.add(text_of(member))
        elif member.type in ("pair", "method_definition"):
            inner = member.child_by_field_name("value")
            key = member.child_by_field_name("key" if member.type == "pair" else "name")
            names.add(text_of(inner) if inner is not None and inner.type == "identifier" else key_name(key) or "")
    if value.type == "string":
        names.add(string_value(value) or "")
    return names
