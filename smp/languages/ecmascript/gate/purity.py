"""JavaScript functions that provably do nothing but compute their result.

A function is *silent* when it stores to names of its own only and calls nothing but harmless built-ins, harmless methods
and other silent functions of its file. Everything doubtful is not silent. Needed by the assert check: an unused result of
a silent function cannot be excused by an effect that some assertion may have seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tree_sitter import Node

from smp.languages.ecmascript.gate.assertion_forms import HARMLESS_GLOBALS, HARMLESS_METHODS, MUTATING_STATICS
from smp.languages.ecmascript.gate.values import last_name, root_name
from smp.languages.ecmascript.syntax import parameters_of, text_of, unwrap

_EFFECTS = frozenset(
    {"yield_expression", "await_expression", "class_declaration", "class", "import", "super", "jsx_element",
     "jsx_self_closing_element"}
)  # fmt: skip
_ERRORS = frozenset({"Error", "TypeError", "RangeError", "SyntaxError", "Date", "Map", "Set", "RegExp", "URL"})


def silent_functions(bodies: Mapping[str, Node]) -> frozenset[str]:
    """Names of the silent ones; methods are never, because they have their object's state at hand."""
    silent = frozenset(name for name in bodies if "." not in name)
    while True:  # the greatest fixed point: mutual recursion alone is no effect
        kept = frozenset(name for name in silent if _is_silent(bodies[name], silent))
        if kept == silent:
            return silent
        silent = kept


def _nodes(root: Node) -> Iterator[Node]:
    stack = list(root.named_children)
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.named_children)


def _own_names(function: Node) -> frozenset[str]:
    names: set[str] = set()
    patterns = list(parameters_of(function))
    for node in _nodes(function):
        if node.type == "variable_declarator" and (name := node.child_by_field_name("name")) is not None:
            patterns.append(name)
        elif node.type == "for_in_statement" and (left := node.child_by_field_name("left")) is not None:
            patterns.append(left)
    for pattern in patterns:
        names |= {
            text_of(node)
            for node in (pattern, *_nodes(pattern))
            if node.type in ("identifier", "shorthand_property_identifier_pattern")
        }
    return frozenset(names)


def _is_silent(function: Node, silent: frozenset[str]) -> bool:
    own = _own_names(function)
    for node in _nodes(function):
        if node.type in _EFFECTS or (node.type == "unary_expression" and text_of(node).startswith("delete")):
            return False
        if node.type in ("assignment_expression", "augmented_assignment_expression", "update_expression"):
            left = node.child_by_field_name("left") or node.child_by_field_name("argument")
            if left is None or unwrap(left).type != "identifier" or text_of(unwrap(left)) not in own:
                return False
        if node.type == "new_expression" and text_of(node.child_by_field_name("constructor") or node) not in _ERRORS:
            return False
        if node.type == "call_expression" and not _is_harmless(node, silent - own):
            return False
    return True


def _is_harmless(call: Node, silent: frozenset[str]) -> bool:
    function = call.child_by_field_name("function")
    if function is None:
        return False
    name, root = last_name(function), root_name(function)
    if function.type == "identifier":
        return name in silent or name in HARMLESS_GLOBALS
    return name in HARMLESS_METHODS or (root in HARMLESS_GLOBALS and name not in MUTATING_STATICS)
