"""Parameters, return types, modifiers and one-line signatures, as written."""

from __future__ import annotations

from tree_sitter import Node

from smp.domain.graph import Parameter
from smp.languages.ecmascript.syntax import body_of, decorators_of, has_token, one_line, parameters_of, text_of

MAX_SIGNATURE = 400
"""Longest signature kept, in characters; a destructured parameter or a type literal may run over a page."""
_KEYWORDS = frozenset(
    {
        "async",
        "static",
        "abstract",
        "readonly",
        "declare",
        "override",
        "export",
        "default",
        "const",
        "get",
        "set",
        "accessor",
    }
)


def parameter_list(function: Node) -> tuple[Parameter, ...]:
    """Declared parameters; a destructured one has its pattern as name, `this` is the receiver."""
    return tuple(_parameter(node) for node in parameters_of(function))


def _parameter(node: Node) -> Parameter:
    pattern, default, annotation = parameter_parts(node)
    rest = pattern.type == "rest_pattern"
    name = one_line(text_of(pattern)).removeprefix("...").strip()
    optional = node.type == "optional_parameter" or default is not None
    return Parameter(
        name=name,
        kind="var_positional" if rest else "positional_only",  # nothing is passed by name here
        annotation=type_text(annotation),
        required=not (optional or rest),
        receiver=pattern.type == "this",
    )


def parameter_parts(node: Node) -> tuple[Node, Node | None, Node | None]:
    """Pattern, default value and type annotation of a parameter."""
    if node.type in ("required_parameter", "optional_parameter"):
        pattern = node.child_by_field_name("pattern") or node
        return pattern, node.child_by_field_name("value"), node.child_by_field_name("type")
    if node.type == "assignment_pattern":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        return left if left is not None else node, right, None
    return node, None, None


def type_text(annotation: Node | None) -> str | None:
    """The type behind a colon, on one line."""
    if annotation is None:
        return None
    return one_line(text_of(annotation)).removeprefix(":").strip() or None


def return_type(function: Node) -> str | None:
    """The declared return type."""
    return type_text(function.child_by_field_name("return_type"))


def function_signature(function: Node, name: str) -> str:
    """`name<T>(a: A, b = 1): R` on one line; `name` is the last part of the qualified name."""
    generics = function.child_by_field_name("type_parameters")
    parts = [part for part in (one_line(text_of(node)) for node in parameters_of(function)) if part]
    result = return_type(function)
    shown = f"{name}{one_line(text_of(generics)) if generics is not None else ''}({', '.join(parts)})"
    return _bounded(f"{shown}: {result}" if result else shown)


def head_signature(node: Node, name: str, body: Node | None) -> str:
    """Everything of a class, interface or enum before its body; a nameless one gets the name it is bound to."""
    first = next((child for child in node.children if child.type not in ("decorator", "comment")), node)
    raw = node.text or b""
    end = body.start_byte if body is not None else node.end_byte
    head = one_line(raw[first.start_byte - node.start_byte : end - node.start_byte].decode("utf-8", errors="replace"))
    if node.type == "class" and node.child_by_field_name("name") is None:
        head = head.replace("class", f"class {name}", 1)
    return _bounded(head.rstrip("= "))


def _bounded(text: str) -> str:
    return text if len(text) <= MAX_SIGNATURE else text[: MAX_SIGNATURE - 1] + "…"


def modifiers_of(node: Node, span: Node, function: Node | None) -> tuple[str, ...]:
    """Keywords of a definition, of the statement around it, and of the function it is bound to; sorted."""
    found: set[str] = set()
    for part in (node, span, function):
        if part is None:
            continue
        body = body_of(part)
        for child in part.children:
            if child == body:
                break
            if child.type in _KEYWORDS:
                found.add(child.type)
            elif child.type in ("accessibility_modifier", "override_modifier"):
                found.add(text_of(child))
    if function is not None and (function.type.startswith("generator") or has_token(function, "*")):
        found.add("generator")
    if "get" in found:
        found.add("property")
    if node.type.startswith("abstract"):
        found.add("abstract")
    return tuple(sorted(found))


def decorator_texts(node: Node) -> tuple[str, ...]:
    """Decorators as written, with `@`."""
    return tuple(one_line(text_of(decorator)) for decorator in decorators_of(node))
