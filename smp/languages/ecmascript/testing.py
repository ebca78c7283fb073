"""What the family's test runners write: `describe` and `it` with a title, in all their spellings."""

from __future__ import annotations

from msgspec import Struct
from tree_sitter import Node

from smp.languages.ecmascript.scopes import Scope
from smp.languages.ecmascript.syntax import one_line, string_value, text_of, unwrap

SUITES = frozenset({"describe", "suite", "context", "xdescribe", "fdescribe"})
CASES = frozenset({"it", "test", "specify", "xit", "fit", "xtest"})
HOOKS = frozenset({"beforeEach", "beforeAll", "before", "afterEach", "afterAll", "after"})
MAX_TITLE = 200
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})


class Title(Struct, frozen=True):
    """A call that opens a suite or is a test; has_body is False for `it.todo("…")`."""

    title: str
    is_suite: bool
    has_body: bool


def runner_name(callee: Node, scope: Scope) -> str | None:
    """The runner's word a callee begins with: of `it.each(rows)` it is `it`; None if the file itself defines that name."""
    node = unwrap(callee)
    while node.type in ("member_expression", "call_expression"):
        inner = node.child_by_field_name("object" if node.type == "member_expression" else "function")
        if inner is None:
            return None
        # `Deno.test`, `t.test`: the runner's word is the property.
        prop = node.child_by_field_name("property")
        if prop is not None and inner.type == "identifier" and text_of(inner) in ("Deno", "t", "QUnit"):
            return text_of(prop)
        node = unwrap(inner)
    if node.type != "identifier":
        return None
    name = text_of(node)
    binding = scope.names.get(name)
    return name if binding is None or binding.kind in ("import", "const", "let", "var") else None


def title_of(call: Node, scope: Scope) -> Title | None:
    """The title of a suite or test, if the call is one: a runner's word, a title, and a function."""
    callee, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if callee is None or arguments is None or arguments.type != "arguments":
        return None
    name = runner_name(callee, scope)
    if name is None or name not in SUITES | CASES:
        return None
    given = [child for child in arguments.named_children if child.type != "comment"]
    if not given or given[0].type not in (
        "string",
        "template_string",
        "binary_expression",
        "identifier",
        "member_expression",
    ):
        return None
    constant = string_value(given[0])
    if constant is None and given[0].type == "template_string":
        constant = text_of(given[0])[1:-1]
    has_body = any(unwrap(argument).type in _FUNCTIONS for argument in given[1:])
    if constant is None and not has_body:
        return None
    title = one_line(constant if constant is not None else text_of(given[0]))[:MAX_TITLE]
    return Title(title, name in SUITES, has_body or len(given) > 1)
