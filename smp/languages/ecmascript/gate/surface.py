"""What a JavaScript or TypeScript file offers to a test: functions, classes with their methods, and under which names."""

from __future__ import annotations

from tree_sitter import Node

from smp.domain.assertions import TargetSurface
from smp.domain.ids import FilePath
from smp.languages.ecmascript.gate.purity import silent_functions
from smp.languages.ecmascript.grammar import dialect_of, parse
from smp.languages.ecmascript.syntax import (
    CLASSES,
    FIELDS,
    FUNCTIONS,
    is_function,
    key_name,
    member_path,
    string_value,
    text_of,
    unwrap,
)


def ecmascript_surface(path: FilePath, source: bytes) -> TargetSurface:
    """The definitions at the top of a file; a test cannot call those inside of functions."""
    root = parse(source, dialect_of(path)).root_node
    seen = _Definitions()
    for statement in root.named_children:
        seen.statement(statement)
    return TargetSurface(
        path=path,
        functions=frozenset(seen.functions),
        classes=frozenset(seen.classes),
        silent=silent_functions(seen.functions),
        exports=seen.exports,
    )


class _Definitions:
    """Collects; `functions` by qualified name with their nodes."""

    def __init__(self) -> None:
        self.functions: dict[str, Node] = {}
        self.classes: set[str] = set()
        self.exports: dict[str, str] = {}

    def statement(self, node: Node) -> None:
        match node.type:
            case "function_declaration" | "generator_function_declaration":
                self.functions[_name(node)] = node
            case "lexical_declaration" | "variable_declaration":
                for one in node.named_children:
                    name, value = one.child_by_field_name("name"), one.child_by_field_name("value")
                    if name is not None and value is not None and name.type == "identifier":
                        self.value(text_of(name), value)
            case "export_statement":
                self.export(node)
            case "expression_statement":
                inner = next(iter(node.named_children), None)
                if inner is not None and inner.type == "assignment_expression":
                    self.assignment(inner)
            case kind if kind in CLASSES:
                self.class_(_name(node), node)
            case _:
                pass

    def class_(self, name: str, node: Node) -> None:
        self.classes.add(name)
        body = node.child_by_field_name("body")
        for member in body.named_children if body is not None else []:
            own = key_name(member.child_by_field_name("name") or member.child_by_field_name("property"))
            value = member.child_by_field_name("value")
            if member.type == "method_definition" and own not in (None, "constructor"):
                self.functions[f"{name}.{own}"] = member
            elif member.type in FIELDS and value is not None and is_function(unwrap(value)):
                self.functions[f"{name}.{own}"] = unwrap(value)

    def value(self, name: str, node: Node) -> None:
        node = unwrap(node)
        if is_function(node):
            self.functions[name] = node
        elif node.type in CLASSES:
            self.class_(name, node)
        elif node.type == "object":
            self.object(name, node)
        elif node.type == "call_expression" and (inner := _wrapped(node)) is not None:
            self.functions[name] = inner

    def object(self, name: str, node: Node) -> None:
        """An object with functions is to a test what a class with static methods is."""
        for member in node.named_children:
            value = member.child_by_field_name("value")
            inner = unwrap(value) if value is not None else None
            if member.type == "method_definition":
                self.functions[f"{name}.{key_name(member.child_by_field_name('name'))}"] = member
                self.classes.add(name)
            elif member.type == "pair" and inner is not None and is_function(inner):
                self.functions[f"{name}.{key_name(member.child_by_field_name('key'))}"] = inner
                self.classes.add(name)

    def export(self, node: Node) -> None:
        declared, value = node.child_by_field_name("declaration"), node.child_by_field_name("value")
        is_default = any(child.type == "default" for child in node.children)
        if declared is not None:
            self.statement(declared)
            if is_default:
                self.exports["default"] = _name(declared)
        elif value is not None:
            self.exported("default", value)
        elif node.child_by_field_name("source") is None:
            for clause in node.named_children:
                for one in clause.named_children if clause.type == "export_clause" else []:
                    name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
                    if name is not None and alias is not None:
                        self.exports[string_value(alias) or text_of(alias)] = text_of(name)

    def exported(self, name: str, value: Node) -> None:
        value = unwrap(value)
        if value.type == "identifier":
            self.exports[name] = text_of(value)
            return
        own = value.child_by_field_name("name") if value.type in FUNCTIONS | CLASSES else None
        called = text_of(own) if own is not None else name
        self.value(called, value)
        if called != name:
            self.exports[name] = called

    def assignment(self, node: Node) -> None:
        """`module.exports = …`, `exports.a = …`, `Shape.prototype.area = …`."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        path = member_path(left) if left is not None else None
        if path is None or right is None:
            return
        if path == ("module", "exports"):
            inner = unwrap(right)
            if inner.type == "object":
                self.exported_object(inner)
            else:
                self.exported("default", inner)
        elif path[0] == "exports" or path[:2] == ("module", "exports"):
            self.exported(path[-1], right)
        elif len(path) == 3 and path[1] == "prototype" and is_function(unwrap(right)):
            self.functions[f"{path[0]}.{path[2]}"] = unwrap(right)
        elif len(path) == 2 and path[0] in self.functions and is_function(unwrap(right)):
            self.functions[".".join(path)] = unwrap(right)

    def exported_object(self, node: Node) -> None:
        for member in node.named_children:
            if member.type == "pair" and (value := member.child_by_field_name("value")) is not None:
                self.exported(key_name(member.child_by_field_name("key")) or "", value)
            elif member.type == "method_definition":
                self.functions[key_name(member.child_by_field_name("name")) or ""] = member


def _name(node: Node) -> str:
    name = node.child_by_field_name("name")
    return text_of(name) if name is not None else "default"


def _wrapped(call: Node) -> Node | None:
    """The function that a call wraps: `memo(() => …)`."""
    arguments = call.child_by_field_name("arguments")
    given = [unwrap(child) for child in arguments.named_children] if arguments is not None else []
    return next((child for child in given if is_function(child)), None)
