"""Mutants of different tools made comparable: a mutant is the function that it changed, as that function's syntax tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

_VARIANT = re.compile(r"x(?:ǁ(\w+)ǁ|_)(.+)__mutmut_\d+")


def changed_function(original: str, mutated: str) -> str | None:
    """The only function that differs, with its class; None when the text differs elsewhere or does not parse."""
    try:
        before, after = dict(_functions(ast.parse(original))), dict(_functions(ast.parse(mutated)))
    except SyntaxError:
        return None
    changed = [name for name in after if after[name] != before.get(name)]
    return f"{changed[0]} {after[changed[0]]}" if len(changed) == 1 and before.keys() == after.keys() else None


def mutmut_functions(generated: str) -> dict[str, str]:
    """What `changed_function` would say of each variant in a file that mutmut made, by the variant's name."""
    found = {}
    for node in ast.walk(ast.parse(generated)):
        matched = _VARIANT.fullmatch(node.name) if isinstance(node, ast.FunctionDef) else None
        if matched is not None and isinstance(node, ast.FunctionDef):
            owner, name = matched.groups()
            found[node.name] = f"{f'{owner}.' if owner else ''}{name} {_text(node)}"
    return found


def patched(original: str, diff: Iterable[str]) -> str:
    """A text with a unified diff applied."""
    lines, made, at = original.splitlines(), list[str](), 0
    for line in diff:
        hunk = re.match(r"@@ -(\d+)", line)
        if hunk is not None:
            start = int(hunk.group(1)) - 1
            made, at = made + lines[at:start], start
        elif line[:3] in ("---", "+++"):
            continue
        elif line[:1] == "+":
            made.append(line[1:].rstrip("\n"))
        elif line[:1] in ("-", " "):
            made += lines[at : at + 1] if line[0] == " " else []
            at += 1
    return "\n".join(made + lines[at:]) + "\n"


def _functions(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, _text(node)
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{node.name}.{inner.name}", _text(inner)


def _text(node: ast.FunctionDef) -> str:
    """Without name, decorators and annotations, which the tools' trampolines change."""
    return ast.dump(node.args) + "".join(ast.dump(part) for part in node.body)
