"""The two grammars, which of them reads a file, and parsing with a second try on mended bytes."""

from __future__ import annotations

import functools
import posixpath
import re

import tree_sitter_c
import tree_sitter_cpp
from tree_sitter import Language, Node, Parser, Tree

from smp.languages.cfamily.mending import mend, straighten

C_SUFFIXES = (".c", ".h")
CPP_SUFFIXES = (
    ".cc",
    ".cpp",
    ".cxx",
    ".c++",
    ".hh",
    ".hpp",
    ".hxx",
    ".h++",
    ".inl",
    ".ipp",
    ".tpp",
    ".txx",
    ".cppm",
    ".ixx",
)
HEADER_SUFFIXES = frozenset({".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tpp", ".txx", ".inc"})
MAX_LOST = 8
"""Broken definitions that are given up in a file; behind further ones the grammar's own recovery has to do."""
MAX_AGAIN = 300_000
"""Bytes that are parsed again for them."""
_DEFINITION = re.compile(
    rb"^(?:[A-Za-z_][\w :*&<>,~]*\([^\n]*[^\n;\\]$|(?:class|struct|namespace|template)\b)", re.MULTILINE
)
_FLUSH_LEFT = re.compile(rb"^[A-Za-z_]", re.MULTILINE)
_GUARDED = re.compile(
    rb"^[ \t]*#[ \t]*if(?:def)?[^\n]*__cplusplus[^\n]*\n.*?^[ \t]*#[ \t]*(?:endif|else)\b", re.DOTALL | re.MULTILINE
)
_CPP_SIGNS = re.compile(
    rb"^[ \t]*(?:class\s+\w+[^;()]*[{:;]|namespace\b|template\s*<|using\s+\w|(?:public|private|protected)\s*:|constexpr\b|"
    rb"\#[ \t]*include[ \t]*<(?:string|vector|map|memory|iostream|functional|algorithm|utility|cstdint|cstddef|cstdio|cstdlib|cstring)>)"
    rb"|\bstd::|\boperator\s*[=<>+*/\-\[(]|\bvirtual\b",
    re.MULTILINE,
)


@functools.cache
def grammar(dialect: str) -> Language:
    """The compiled grammar of `c` or `cpp`."""
    return Language(tree_sitter_c.language() if dialect == "c" else tree_sitter_cpp.language())


def dialect_of(path: str, content: bytes) -> str:
    """`c` or `cpp`; a `.h` is what it contains: C++ where something stands outside of `#ifdef __cplusplus` that C has not."""
    suffix = posixpath.splitext(path)[1]
    if suffix != ".h":
        return "c" if suffix == ".c" else "cpp"
    return "cpp" if _CPP_SIGNS.search(_GUARDED.sub(b"", content)) else "c"


def parse(content: bytes, dialect: str) -> Tree:
    """The syntax tree of mended source; damaged places become ERROR nodes, so this never fails.

    Where conditionals of the preprocessor cut through a statement, the file is parsed again without their other branches, and
    the tree with less damage counts.
    """
    parser = Parser(grammar(dialect))
    mended = mend(content)
    best = parser.parse(mended)
    if not best.root_node.has_error or b"#" not in mended:
        return best
    damage, places = _damaged(best.root_node)
    for damaged in ((), places):
        straight = straighten(mended, damaged)
        if straight == mended:
            continue
        again = parser.parse(straight)
        less, _ = _damaged(again.root_node)
        if less < damage:
            best, damage = again, less
    return best


def parse_around(content: bytes, dialect: str) -> tuple[Tree, tuple[int, ...]]:
    """As `parse`; where a broken definition swallows what follows it, the file is parsed again without it.

    Returns:
        The tree, and the offsets at which definitions were given up.
    """
    tree = parse(content, dialect)
    lost: list[int] = []
    most = max(1, min(MAX_LOST, MAX_AGAIN // max(1, len(content))))
    while tree.root_node.has_error and len(lost) < most:
        region = _swallowed(content, tree.root_node)
        if region is None or region[0] in lost:
            break
        start, end = region
        without = content[:start] + bytes(b if b in b"\n\r" else 0x20 for b in content[start:end]) + content[end:]
        again = parse(without, dialect)
        if _damaged(again.root_node)[0] >= _damaged(tree.root_node)[0]:
            break
        content, tree = without, again
        lost.append(start)
    return tree, tuple(lost)


def _swallowed(content: bytes, root: Node) -> tuple[int, int] | None:
    """The definition in which damage begins, if the damage reaches beyond the start of the next one."""
    starts = [match.start() for match in _DEFINITION.finditer(content)]
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "ERROR" or (node.has_error and node.type in ("function_definition", "declaration")):
            first = (
                node.start_byte
                if node.type == "ERROR"
                else next((c.start_byte for c in _errors(node)), node.start_byte)
            )
            after = [at for at in starts if first < at < node.end_byte]
            start = content.rfind(b"\n", 0, first + 1) + 1
            while start and not _FLUSH_LEFT.match(content, start):
                start = content.rfind(b"\n", 0, start - 1) + 1
            if after:
                return start, after[0]
        if node.has_error:
            stack.extend(reversed(node.children))
    return None


def _errors(node: Node) -> list[Node]:
    """Damaged places inside a node, in order, itself left out."""
    found: list[Node] = []
    stack = list(reversed(node.children))
    while stack:
        inner = stack.pop()
        if inner.type == "ERROR" or inner.is_missing:
            found.append(inner)
        elif inner.has_error:
            stack.extend(reversed(inner.children))
    return found


def _damaged(root: Node) -> tuple[int, tuple[int, ...]]:
    """Bytes inside ERROR nodes and tokens that are missing; and the ends of these places."""
    total = 0
    places: list[int] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "ERROR" or node.is_missing:
            total += node.end_byte - node.start_byte + 1
            places += (node.start_byte, node.end_byte)
        elif node.has_error:
            stack.extend(node.children)
    return total, tuple(places[:2000])
