"""The grammars of the family, and which of them reads a file.

The grammars come inside wheels; nothing is fetched at run time. Plain `.ts` files need a grammar of their own because
`<T>x` is a cast there and the start of an element in TSX.
"""

from __future__ import annotations

import functools
import posixpath

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Parser, Tree

JAVASCRIPT_SUFFIXES = (".js", ".jsx", ".mjs", ".cjs")
TYPESCRIPT_SUFFIXES = (".ts", ".tsx", ".mts", ".cts")


@functools.cache
def grammar(dialect: str) -> Language:
    """The compiled grammar of `javascript` (JSX included), `typescript` or `tsx`."""
    if dialect == "javascript":
        return Language(tree_sitter_javascript.language())
    if dialect == "tsx":
        return Language(tree_sitter_typescript.language_tsx())
    return Language(tree_sitter_typescript.language_typescript())


def dialect_of(path: str) -> str:
    """Which grammar reads a file, by its suffix."""
    suffix = posixpath.splitext(path)[1]
    if suffix == ".tsx":
        return "tsx"
    return "typescript" if suffix in TYPESCRIPT_SUFFIXES else "javascript"


def parse(content: bytes, dialect: str) -> Tree:
    """The syntax tree of UTF-8 source; damaged places become ERROR nodes, so this never fails."""
    return Parser(grammar(dialect)).parse(content)
