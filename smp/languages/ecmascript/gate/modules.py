"""What an import of a JavaScript or TypeScript test brings in: the target, helpers of the test tree, a test framework, others."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from smp.domain.assertions import TargetSurface
from smp.domain.ids import FilePath
from smp.languages.ecmascript.gate.assertion_forms import ASSERT_MODULES, LOADERS
from smp.languages.ecmascript.gate.values import UNKNOWN, Kind, Value, last_name
from smp.languages.ecmascript.grammar import JAVASCRIPT_SUFFIXES, TYPESCRIPT_SUFFIXES
from smp.languages.ecmascript.syntax import string_value

SUFFIXES = (*TYPESCRIPT_SUFFIXES, *JAVASCRIPT_SUFFIXES)
FRAMEWORK = "<framework>"
_EXPECT = Value(kind=Kind.EXPECT)
_ASSERT = Value(kind=Kind.ASSERT)
FRAMEWORK_NAMES: Mapping[str, Value] = {"expect": _EXPECT, "assert": _ASSERT, "should": _ASSERT}
_FRAMEWORKS = frozenset(
    {"vitest", "@jest/globals", "node:test", "test", "bun:test", "@playwright/test", "chai", "expect", "@std/expect",
     "mocha", "uvu", "ava", "earl", "japa", "@japa/assert"}
)  # fmt: skip
_CONTEXTS = frozenset({"tap", "tape", "libtap", "zora", "t"})
_TEST_WORDS = ("test", "spec", "assert", "helper", "fixture", "mock", "support", "expect")
_ALIASES = ("@", "~", "#", "$")


def stem(path: str) -> str:
    """A path without a suffix of the family, and without `/index`."""
    base, suffix = posixpath.splitext(path)
    bare = base if suffix in SUFFIXES else path
    return posixpath.dirname(bare) if posixpath.basename(bare) == "index" else bare


def module_value(surface: TargetSurface, file: FilePath, specifier: str, spaces: Mapping[str, object]) -> Value:
    """The value of a module imported by `file`."""
    if specifier in ASSERT_MODULES:
        return _ASSERT
    if specifier in _FRAMEWORKS:
        return Value(ambient=True, space=FRAMEWORK)
    if specifier in _CONTEXTS:
        return Value(ambient=True, kind=Kind.CONTEXT)
    if specifier.startswith("."):
        path = stem(posixpath.normpath(posixpath.join(posixpath.dirname(file), specifier)))
        if path in spaces:
            return Value(ambient=True, kind=Kind.SUPPORT, space=path)
        if _is_above(path, surface.path):
            return Value(kind=Kind.MODULE)
    elif _names_target(specifier, surface.path):
        return Value(kind=Kind.MODULE)
    is_support = specifier.startswith((".", *_ALIASES)) and is_test_like(specifier)
    return Value(ambient=True, kind=Kind.SUPPORT) if is_support else UNKNOWN


def _is_above(path: str, target: FilePath) -> bool:
    """Whether a module is the target or an index of a folder around it, which may export its names again."""
    own = stem(target)
    return path in ("", ".", own, posixpath.splitext(target)[0]) or own.startswith(f"{path}/")


def _names_target(specifier: str, target: FilePath) -> bool:
    """Whether a path by alias (`@/payments`, `~/cart`, `src/cart`) may lead there: its tail is a piece of the target's path."""
    first, *rest = [part for part in stem(specifier).split("/") if part] or [""]
    parts = rest if first.startswith(_ALIASES) else [first, *rest]
    if not parts or (len(parts) == 1 and not first.startswith(_ALIASES)):
        return False
    path = stem(target).split("/")
    return any(path[start : start + len(parts)] == parts for start in range(len(path)))


def is_test_like(path: str) -> bool:
    """Whether a path looks like a part of a test tree."""
    return any(word in part.lower() for part in path.split("/") for word in _TEST_WORDS)


def support_candidates(test_file: FilePath, root: Node) -> tuple[FilePath, ...]:
    """Files that a test's relative imports may name, most of which do not exist; sources are among them."""
    found: dict[FilePath, None] = {}
    for specifier in _specifiers(root):
        if not specifier.startswith("."):
            continue
        path = posixpath.normpath(posixpath.join(posixpath.dirname(test_file), specifier))
        if path.split("/")[0] in ("..", ".git") or "\0" in path:
            continue
        base, suffix = posixpath.splitext(path)
        bare = base if suffix in SUFFIXES else path
        named = (
            () if path == "." else (path, *(bare + one for one in SUFFIXES))
        )  # the checkout itself: `require("../")`
        for candidate in (*named, *(posixpath.normpath(f"{bare}/index{one}") for one in SUFFIXES)):
            if posixpath.splitext(candidate)[1] in SUFFIXES and candidate != test_file:
                found.setdefault(FilePath(candidate))
    return tuple(found)


def is_support(test_file: FilePath, path: FilePath) -> bool:
    """Whether a file that a test imports belongs to the test tree rather than to what is tested."""
    return is_test_like(path) or (
        is_test_like(posixpath.dirname(test_file)) and path.startswith(posixpath.dirname(test_file) + "/")
    )


def _specifiers(root: Node) -> Iterator[str]:
    stack = [root]
    while stack:
        node = stack.pop()
        source = node.child_by_field_name("source") if node.type in ("import_statement", "export_statement") else None
        if node.type == "call_expression":
            function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            if function is not None and (function.type == "import" or last_name(function) in LOADERS):
                source = next(iter(arguments.named_children), None) if arguments is not None else None
        if source is not None and (text := string_value(source)) is not None:
            yield text
        stack += node.named_children
