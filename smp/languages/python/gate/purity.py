"""Python functions that provably do nothing but compute their result.

A function is *silent* when it stores to names of its own only and calls nothing but harmless built-ins, harmless methods
and other silent functions of its file. Everything doubtful is not silent. Needed by the assert check: an unused result of
a silent function cannot be excused by an effect that some assertion may have seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from smp.languages.python.gate.assertion_forms import HARMLESS_BUILTINS, HARMLESS_METHODS

_EFFECTS = frozenset(
    {"global_statement", "nonlocal_statement", "delete_statement", "yield", "await", "with_statement", "import_statement",
     "import_from_statement", "class_definition", "decorated_definition"}
)  # fmt: skip


def silent_functions(root: Node) -> frozenset[str]:
    """Names of the silent functions at the top level of a module."""
    bodies = {
        _text(name): node
        for node in root.named_children
        if node.type == "function_definition" and (name := node.child_by_field_name("name")) is not None
    }
    silent = frozenset(bodies)
    while True:  # the greatest fixed point: mutual recursion alone is no effect
        kept = frozenset(name for name in silent if _is_silent(bodies[name], silent))
        if kept == silent:
            return silent
        silent = kept


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _nodes(root: Node) -> Iterator[Node]:
    stack = list(root.named_children)
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.named_children)


def _is_silent(function: Node, silent: frozenset[str]) -> bool:
    for node in _nodes(function):
        if node.type in _EFFECTS:
            return False
        if node.type in {"assignment", "augmented_assignment", "for_statement"}:
            left = node.child_by_field_name("left")
            if left is not None and left.type not in {"identifier", "pattern_list", "tuple_pattern"}:
                return False
            if left is not None and any(child.type in {"attribute", "subscript"} for child in _nodes(left)):
                return False
        if node.type == "call" and not _is_harmless(node, silent):
            return False
    return True


def _is_harmless(call: Node, silent: frozenset[str]) -> bool:
    function = call.child_by_field_name("function")
    if function is None:
        return False
    if function.type == "identifier":
        return _text(function) in silent or _text(function) in HARMLESS_BUILTINS
    name = function.child_by_field_name("attribute") if function.type == "attribute" else None
    return name is not None and _text(name) in HARMLESS_METHODS
