"""Statements of the test interpreter (`dataflow`): order, branches, loops, error handling, assertions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tree_sitter import Node

from smp.languages.python.gate.assertion_forms import is_raising
from smp.languages.python.gate.dataflow import (
    NONE,
    NOTHING,
    UNKNOWN,
    Helper,
    Interpreter,
    Scope,
    Value,
    join,
    last_name,
    root_name,
    text_of,
)
from smp.languages.python.gate.test_imports import bind_import

Rule = Callable[[Interpreter, Node, Scope], list[Value]]


def run_statement(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    """Run one statement; the values it returns or yields."""
    rule = _RULES.get(node.type)
    if rule is not None:
        return rule(run, node, scope)
    for child in node.named_children:
        if child.type == "yield":
            return [replace(run.value(child, scope), fixed=False)]
        run.value(child, scope)
    return []


def _under(run: Interpreter, control: frozenset[str], block: Node | None, scope: Scope) -> list[Value]:
    run.control.append(control)
    try:
        return run.block(block, scope)
    finally:
        run.control.pop()


def _branches(run: Interpreter, scope: Scope, work: list[Callable[[Scope], list[Value]]]) -> list[Value]:
    """Run alternatives from the same state and join what they leave behind."""
    before, results, after = dict(scope.names), [], []
    for branch in work:
        scope.names = dict(before)
        results += branch(scope)
        after.append(scope.names)
    after.append(before)
    scope.names = {
        name: join(names[name] for names in after if name in names)
        for name in {key for names in after for key in names}
    }
    return results


def _assert(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    condition = node.named_children[0]
    value = run.value(condition, scope)
    if _is_always_true(condition):
        run.asserts = True
        return []
    run.sink(value, node)
    if condition.type == "false":
        run.absorb(NOTHING.union(*run.tries))
    return []


def _is_always_true(node: Node) -> bool:
    match node.type:
        case "true":
            return True
        case "tuple":
            return bool(node.named_children)
        case "parenthesized_expression":
            return len(node.named_children) == 1 and _is_always_true(node.named_children[0])
        case "boolean_operator":
            sides = [node.child_by_field_name("left"), node.child_by_field_name("right")]
            operator = text_of(node.child_by_field_name("operator"))
            return operator == "or" and any(side is not None and _is_always_true(side) for side in sides)
        case _:
            return False


def _raise(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    for child in node.named_children:
        run.value(child, scope)
    run.absorb(NOTHING.union(*run.control, *run.tries))
    return []


def _return(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    values = [run.value(child, scope) for child in node.named_children]
    control = NOTHING.union(*run.control)
    return [replace(join(values), taints=join(values).taints | control)] if values else [NONE]


def _if(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    condition = run.value(node.child_by_field_name("condition"), scope)
    blocks = [node.child_by_field_name("consequence")]
    taints = condition.taints
    for clause in node.children_by_field_name("alternative"):
        if clause.type == "elif_clause":
            taints |= run.value(clause.child_by_field_name("condition"), scope).taints
        blocks.append(clause.child_by_field_name("consequence") or clause.child_by_field_name("body"))
    return _branches(run, scope, [lambda inner, b=block: _under(run, taints, b, inner) for block in blocks])  # type: ignore[misc]


def _for(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    right = run.value(node.child_by_field_name("right"), scope)
    body, left = node.child_by_field_name("body"), node.child_by_field_name("left")

    def once(inner: Scope) -> list[Value]:
        results: list[Value] = []
        for _ in range(2):
            run.bind(left, replace(right, fixed=False), None, inner)
            results += _under(run, right.taints, body, inner)
        return results

    results = _branches(run, scope, [once])
    for clause in node.children_by_field_name("alternative"):
        results += run.block(clause.child_by_field_name("body"), scope)
    return results


def _while(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    def once(inner: Scope) -> list[Value]:
        results: list[Value] = []
        for _ in range(2):
            condition = run.value(node.child_by_field_name("condition"), inner)
            results += _under(run, condition.taints, node.child_by_field_name("body"), inner)
        return results

    return _branches(run, scope, [once])


def _match(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    subject = join(run.value(child, scope) for child in node.children_by_field_name("subject"))
    body = node.child_by_field_name("body")
    cases = [child for child in (body.named_children if body is not None else []) if child.type == "case_clause"]

    def take(inner: Scope, case: Node) -> list[Value]:
        for name in _pattern_names(case):
            inner.names[name] = replace(subject, fixed=False)
        return _under(run, subject.taints, case.child_by_field_name("consequence"), inner)

    return _branches(run, scope, [lambda inner, c=case: take(inner, c) for case in cases])  # type: ignore[misc]


def _pattern_names(case: Node) -> list[str]:
    consequence = case.child_by_field_name("consequence")
    names, stack = [], [child for child in case.named_children if child != consequence]
    while stack:
        node = stack.pop()
        if node.type == "identifier":
            names.append(text_of(node))
        stack += node.named_children
    return names


def _with(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    raising, names = False, []
    clause = next((child for child in node.named_children if child.type == "with_clause"), None)
    for item in clause.named_children if clause is not None else []:
        expression = item.child_by_field_name("value") or item
        alias: Node | None = None
        if expression.type == "as_pattern":
            alias = expression.child_by_field_name("alias")
            expression = expression.named_children[0]
        function = expression.child_by_field_name("function") if expression.type == "call" else expression
        value = run.value(expression, scope)
        raising = raising or is_raising(last_name(function))
        if alias is not None:
            run.bind(alias, replace(value, ambient=True, fixed=False), None, scope)
            names += [text_of(child) for child in alias.named_children]
    before, touched, run.reached, run.touched = run.reached, run.touched, NOTHING, NOTHING
    results = run.block(node.child_by_field_name("body"), scope)
    inside, run.reached, run.touched = run.reached | run.touched, before | run.reached, touched | run.touched
    if raising:
        run.absorb(inside)
    for name in names:
        scope.taint(name, inside)
    return results


def _try(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    run.tries.append(NOTHING)
    results = run.block(node.child_by_field_name("body"), scope)
    inside = run.tries.pop()

    def handle(clause: Node) -> Callable[[Scope], list[Value]]:
        def work(inner: Scope) -> list[Value]:
            for child in clause.named_children:
                pattern = child if child.type == "as_pattern" else None
                if pattern is not None:
                    run.bind(pattern.child_by_field_name("alias"), Value(taints=inside, ambient=True), None, inner)
            body = next((child for child in clause.named_children if child.type == "block"), None)
            return _under(run, inside, body, inner)

        return work

    clauses = [
        child for child in node.named_children if child.type in {"except_clause", "except_group_clause", "else_clause"}
    ]
    results += _branches(run, scope, [handle(clause) for clause in clauses])
    for clause in node.named_children:
        if clause.type == "finally_clause":
            results += run.block(next((c for c in clause.named_children if c.type == "block"), None), scope)
    return results


def _borrow(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    scope.borrowed |= {text_of(child) for child in node.named_children}
    return []


def _function(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    scope.names[text_of(node.child_by_field_name("name"))] = Value(helpers=frozenset({Helper(node, scope)}))
    return []


def _class(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    bases = run.value(node.child_by_field_name("superclasses"), scope)
    inner = Scope(scope)
    run.block(node.child_by_field_name("body"), inner)
    inside = [value for value in inner.names.values() if not value.helpers]
    taints = bases.taints | NOTHING.union(*(value.taints | value.refs for value in inside))
    scope.names[text_of(node.child_by_field_name("name"))] = Value(taints=taints, refs=bases.refs, ambient=True)
    return []


def _decorated(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    definition = node.child_by_field_name("definition")
    if definition is None:
        return []
    given = join([Value(), *(run.value(child, scope) for child in node.named_children if child.type == "decorator")])
    run_statement(run, definition, scope)
    name = text_of(definition.child_by_field_name("name"))
    made = scope.names.get(name, UNKNOWN)
    taints = made.taints | given.taints | given.refs
    scope.names[name] = replace(made, taints=taints)
    for decorator in node.named_children:
        if decorator.type == "decorator":  # it may keep the function: `@app.route`, `@registry.add`
            scope.taint(root_name(decorator.named_children[0]), taints)
    if given.refs:
        run.reach(given.refs)
        run.effects |= given.refs
        if run.depth == 0:
            run.called |= given.refs
    return []


_RULES: dict[str, Rule] = {
    "assert_statement": _assert,
    "raise_statement": _raise,
    "return_statement": _return,
    "if_statement": _if,
    "for_statement": _for,
    "while_statement": _while,
    "match_statement": _match,
    "with_statement": _with,
    "try_statement": _try,
    "function_definition": _function,
    "class_definition": _class,
    "decorated_definition": _decorated,
    "nonlocal_statement": _borrow,
    "global_statement": _borrow,
    "import_statement": bind_import,
    "import_from_statement": bind_import,
}
