"""Functions of a Python source by their ids, read with `ast` alone, so that the truth does not depend on SMP's reading."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

Definition = ast.FunctionDef | ast.AsyncFunctionDef


class Function(Struct, frozen=True, kw_only=True):
    """code: the function without docstring and formatting. statements: of its body, nested ones counted."""

    qualname: str
    documentation: str | None
    code: str
    statements: int


def functions_of(source: bytes) -> dict[str, Function]:
    """Every function by qualified name; names defined twice are left out, as is a source that does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return {}
    found: dict[str, Function] = {}
    twice: set[str] = set()
    for qualname, node in definitions(tree):
        if qualname in found:
            twice.add(qualname)
        body = node.body[1:] if documented(node) else node.body
        bare = type(node)(**{**dict(ast.iter_fields(node)), "body": body or [ast.Pass()]})
        found[qualname] = Function(
            qualname=qualname,
            documentation=ast.get_docstring(node),
            code=ast.unparse(ast.fix_missing_locations(bare)),
            statements=sum(isinstance(one, ast.stmt) for part in body for one in ast.walk(part)),
        )
    return {name: function for name, function in found.items() if name not in twice}


def definitions(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """Functions with their qualified names: `Class.method`, `outer.inner`."""
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        prefix, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef | Definition):
                qualname = f"{prefix}{child.name}"
                if not isinstance(child, ast.ClassDef):
                    yield qualname, child
                waiting.append((f"{qualname}.", child))
            elif isinstance(child, ast.stmt | ast.excepthandler):
                waiting.append((prefix, child))


def documented(node: Definition | ast.ClassDef | ast.Module) -> bool:
    """Whether the first statement is a docstring."""
    return ast.get_docstring(node, clean=False) is not None


def without_docstrings(source: bytes) -> bytes:
    """The same source with every docstring replaced by as many lines; unparsable sources are returned as they are."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return source
    lines = source.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | Definition) or not documented(node):
            continue
        docstring = node.body[0]
        first, last = docstring.lineno - 1, (docstring.end_lineno or docstring.lineno) - 1
        before = lines[first].encode("utf-8", "surrogateescape")[: docstring.col_offset]
        after = lines[last].encode("utf-8", "surrogateescape")[docstring.end_col_offset or 0 :]
        kept = before + b"pass" + after
        lines[first : last + 1] = [kept.decode("utf-8", "surrogateescape"), *["\n"] * (last - first)]
    return "".join(lines).encode("utf-8", "surrogateescape")
