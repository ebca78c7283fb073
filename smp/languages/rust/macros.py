"""Macros whose arguments are ordinary expressions: their tokens are read again as such."""

from __future__ import annotations

import functools

import tree_sitter
import tree_sitter_rust

_EVALUATING = frozenset(
    [
        "print",
        "println",
        "eprint",
        "eprintln",
        "format",
        "format_args",
        "write",
        "writeln",
        "panic",
        "unreachable",
        "todo",
        "unimplemented",
        "assert",
        "assert_eq",
        "assert_ne",
        "debug_assert",
        "debug_assert_eq",
        "debug_assert_ne",
        "vec",
        "dbg",
        "try",
        "ready",
        "matches",
        "black_box",
        "trace",
        "debug",
        "info",
        "warn",
        "error",
        "log",
        "event",
        "anyhow",
        "bail",
        "ensure",
        "eyre",
        "prop_assert",
        "prop_assert_eq",
        "prop_assert_ne",
        "assert_matches",
        "compile_error",
        "concat",
        "env",
        "include_str",
        "include_bytes",
        "stringify",
        "join",
        "try_join",
    ]
)
"""By their last name: std, and what logging, errors and tests commonly use."""
_BLOCKS = frozenset({"thread_local", "lazy_static", "proptest", "quickcheck"})
_HEAD, _TAIL = b"fn _(){_(", b")}"
MAX_TOKENS = 20_000
"""Bytes of a macro's arguments that are read."""


@functools.cache
def parser() -> tree_sitter.Parser:
    """The parser of the language."""
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))


def arguments_of(name: str, tokens: tree_sitter.Node) -> tree_sitter.Node | None:
    """The arguments of a macro as those of a call, at their lines; None where they are no expressions."""
    raw = tokens.text or b""
    if name not in _EVALUATING or len(raw) > MAX_TOKENS or len(raw) < 2:
        return None
    inner = raw[1:-1]
    if name in ("matches", "assert_matches"):
        inner = inner[: _first_comma(tokens) - tokens.start_byte - 1]
    elif name == "vec" and any(child.type == ";" for child in tokens.children):
        at = next(child for child in tokens.children if child.type == ";").start_byte - tokens.start_byte - 1
        inner = inner[:at] + b"," + inner[at + 1 :]
    root = parser().parse(b"\n" * tokens.start_point[0] + _HEAD + inner + _TAIL).root_node
    if root.has_error:
        return None
    call = _first(root, "call_expression")
    return call.child_by_field_name("arguments") if call is not None else None


def body_of(name: str, tokens: tree_sitter.Node) -> tree_sitter.Node | None:
    """The statements in a macro's braces; None where they are none."""
    raw = tokens.text or b""
    if name not in _BLOCKS or len(raw) > MAX_TOKENS or not raw.startswith(b"{"):
        return None
    root = parser().parse(b"\n" * tokens.start_point[0] + b"fn _()" + raw).root_node
    return None if root.has_error else _first(root, "block")


def _first_comma(tokens: tree_sitter.Node) -> int:
    return next((child.start_byte for child in tokens.children if child.type == ","), tokens.end_byte - 1)


def _first(root: tree_sitter.Node, kind: str) -> tree_sitter.Node | None:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == kind:
            return node
        waiting.extend(reversed(node.children))
    return None
