"""Types that JavaScript writes in comments: `@param {T} x`, `@returns {T}`, `@type {T}`.

The checker of TypeScript reads the same tags (TypeScript handbook, "JSDoc Reference"). Comments are evidence only where the code
itself declares nothing.
"""

from __future__ import annotations

import re

from msgspec import Struct
from tree_sitter import Node

from smp.languages.ecmascript.documentation import docstring_node
from smp.languages.ecmascript.grammar import parse
from smp.languages.ecmascript.syntax import text_of

_TAG = re.compile(r"@(param|arg|argument|returns?|type|typedef|property|prop)\s*\{")
_NAME = re.compile(r"\s*\[?\s*([\w$.]+)")
_ANY_OBJECT = frozenset({"", "object", "Object"})
MAX_TYPE = 300
"""Longest type text that is parsed, in characters."""


class DocTypes(Struct, frozen=True):
    """Types of one comment, as TypeScript writes them; empty texts where it says nothing."""

    parameters: dict[str, str] = {}
    returns: str = ""
    type: str = ""
    name: str = ""
    """The name that the comment gives to its type."""


NO_TYPES = DocTypes()


def doc_types(span: Node) -> DocTypes:
    """The types that the comment before a statement declares."""
    comment = docstring_node(span)
    return read_tags(text_of(comment)) if comment is not None else NO_TYPES


def read_tags(text: str) -> DocTypes:
    """The type tags of a comment."""
    parameters: dict[str, str] = {}
    members: dict[str, dict[str, str]] = {}
    returns = own = given = ""
    for match in _TAG.finditer(text):
        end = _closing_brace(text, match.end())
        if end is None:
            continue
        shown = _as_typescript(text[match.end() : end])
        tag = match[1]
        if tag == "type":
            own = own or shown
        elif tag.startswith("return"):
            returns = returns or shown
        else:
            name = _NAME.match(text, end + 1)
            if name is None:
                continue
            holder, _, member = name[1].partition(".")
            if tag == "typedef":
                own, given = shown, name[1]
            elif tag in ("property", "prop"):
                members.setdefault("", {}).setdefault(name[1], shown)
            elif not member:
                parameters.setdefault(holder, shown)
            elif "." not in member:
                members.setdefault(holder, {}).setdefault(member, shown)
    for holder, fields in members.items():
        text = "{ " + "; ".join(f"{name}: {shown}" for name, shown in fields.items() if "." not in name) + " }"
        if not holder:
            own = text if own in _ANY_OBJECT else own
        elif parameters.get(holder, "") in _ANY_OBJECT:
            parameters[holder] = text
    return DocTypes(parameters, returns, own, given) if parameters or returns or own else NO_TYPES


def typedefs(root: Node) -> list[tuple[DocTypes, int]]:
    """The types that comments of a file give names to, each with its line."""
    found = ((read_tags(text_of(node)), node) for node in root.named_children if node.type == "comment")
    return [(types, node.start_point[0] + 1) for types, node in found if types.name]


def type_node(text: str) -> Node | None:
    """The syntax of a type; None where it does not parse."""
    if not text or len(text) > MAX_TYPE:
        return None
    root = parse(f"type T = {text};".encode(), "typescript").root_node
    statement = root.named_children[0] if root.named_children else None
    if root.has_error or statement is None or statement.type != "type_alias_declaration":
        return None
    return statement.child_by_field_name("value")


def _closing_brace(text: str, start: int) -> int | None:
    depth = 1
    for at in range(start, min(len(text), start + MAX_TYPE)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return None


def _as_typescript(text: str) -> str:
    """`?T`, `!T`, `T=`, `...T`, `Array.<T>` and `*` are the comment's own spellings."""
    shown = re.sub(r"\n\s*\*", " ", text).strip()
    shown = shown.removeprefix("...").strip("?!= ").replace(".<", "<")
    return "unknown" if shown in ("*", "") else shown
