"""What each statement of a JavaScript or TypeScript test does to the values: declarations, branches, loops, errors, imports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tree_sitter import Node

from smp.languages.ecmascript.gate.dataflow import Interpreter
from smp.languages.ecmascript.gate.values import NOTHING, UNKNOWN, Helper, Kind, Scope, Value, join
from smp.languages.ecmascript.syntax import CLASSES, string_value, text_of

Rule = Callable[[Interpreter, Node, Scope], list[Value]]
_TYPES = frozenset(
    {"interface_declaration", "type_alias_declaration", "ambient_declaration", "comment", "empty_statement",
     "function_signature", "debugger_statement", "break_statement", "continue_statement"}
)  # fmt: skip


def run_statement(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    """Run one statement; the values it returns."""
    if node.type in _TYPES:
        return []
    rule = _RULES.get(node.type)
    if rule is not None:
        return rule(run, node, scope)
    for child in node.named_children:
        run.value(child, scope)
    return []


def _inner(run: Interpreter, node: Node | None, scope: Scope) -> list[Value]:
    """A block, or a single statement in its place, with names of its own."""
    if node is None:
        return []
    own = Scope(scope, level=run.level)
    return run.block(node, own) if node.type == "statement_block" else run.run_statement(run, node, own)


def _declaration(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    where = scope.function() if node.type == "variable_declaration" else scope
    for child in node.named_children:
        if child.type != "variable_declarator":
            continue
        name, given = child.child_by_field_name("name"), child.child_by_field_name("value")
        value = run.value(given, scope)
        if given is None and name is not None and where.names.get(text_of(name)) is not None:
            continue  # `var x;` again
        run.declare(name, value, where)
    return []


def _function(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    name = node.child_by_field_name("name")
    scope.names[text_of(name) if name is not None else "default"] = Value(helpers=frozenset({Helper(node, scope)}))
    return []


def _class(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    """A class of the test: as its base; what its body mentions may happen whenever it is used."""
    heritage = next((child for child in node.named_children if child.type == "class_heritage"), None)
    bases = [
        run.value(part, scope) for clause in (heritage.named_children if heritage else []) for part in _bases(clause)
    ]
    base = join([Value(), *bases])
    made = Value(taints=base.taints, refs=base.refs, ambient=True)
    name = node.child_by_field_name("name")
    if name is not None:
        scope.names[text_of(name)] = made
    return [made]


def _bases(clause: Node) -> list[Node]:
    if clause.type == "implements_clause":
        return []
    return [child for child in clause.named_children if child.type != "type_arguments"] if (
        clause.type == "extends_clause"
    ) else [clause]  # fmt: skip


def _export(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    declared = node.child_by_field_name("declaration")
    value = node.child_by_field_name("value")
    source = node.child_by_field_name("source")
    if declared is not None:
        run.run_statement(run, declared, scope)
        if any(child.type == "default" for child in node.children):
            name = declared.child_by_field_name("name")
            scope.names["default"] = scope.get(text_of(name) if name is not None else "default") or UNKNOWN
    elif value is not None:
        scope.names["default"] = run.value(value, scope)
    elif source is not None:
        module = run.load(run, string_value(source) or "", scope)
        for clause in node.named_children:
            for one in clause.named_children if clause.type == "export_clause" else []:
                _import_name(run, one, module, scope)
    return []


def _import(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    source = node.child_by_field_name("source")
    clause = next((child for child in node.named_children if child.type == "import_clause"), None)
    if source is None or clause is None:
        return []
    module = run.load(run, string_value(source) or "", scope)
    for child in clause.named_children:
        if child.type == "identifier":
            scope.names[text_of(child)] = run.taken(module, "default")
        elif child.type == "namespace_import":
            scope.names[text_of(child.named_children[0])] = module
        elif child.type == "named_imports":
            for one in child.named_children:
                _import_name(run, one, module, scope)
    return []


def _import_name(run: Interpreter, specifier: Node, module: Value, scope: Scope) -> None:
    name = specifier.child_by_field_name("name")
    if name is None:
        return
    bound = specifier.child_by_field_name("alias") or name
    scope.names[text_of(bound)] = run.taken(module, string_value(name) or text_of(name))


def _throw(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    for child in node.named_children:
        run.value(child, scope)
    if run.control or run.tries:
        run.asserts = True
    run.absorb(NOTHING.union(*run.tries))
    return []


def _return(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    values = [run.value(child, scope) for child in node.named_children if child.type != "comment"]
    return [replace(join(values), taints=join(values).taints.union(*run.control))] if values else []


def _if(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    condition = run.value(node.child_by_field_name("condition"), scope)
    alternative = node.child_by_field_name("alternative")
    otherwise = next(iter(alternative.named_children), None) if alternative is not None else None

    def both() -> list[Value]:
        return _inner(run, node.child_by_field_name("consequence"), scope) + _inner(run, otherwise, scope)

    return run.under(condition.taints, both)


def _for(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    own = Scope(scope, level=run.level)
    initial = node.child_by_field_name("initializer")
    if initial is not None:
        run.run_statement(run, initial, own)
    results: list[Value] = []
    for _ in range(2):
        condition = run.value(node.child_by_field_name("condition"), own)
        results += run.under(condition.taints, lambda: _inner(run, node.child_by_field_name("body"), own))
        run.value(node.child_by_field_name("increment"), own)
    return results


def _for_in(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    items = replace(run.value(node.child_by_field_name("right"), scope), fixed=False)
    left = node.child_by_field_name("left")
    is_new = node.child_by_field_name("kind") is not None
    results: list[Value] = []
    for _ in range(2):
        own = Scope(scope, level=run.level)
        if is_new:
            run.declare(left, items, own)
        else:
            run.bind(left, items, own)
        results += run.under(items.taints, lambda own=own: _inner(run, node.child_by_field_name("body"), own))  # type: ignore[misc]
    return results


def _while(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    results: list[Value] = []
    for _ in range(2):
        condition = run.value(node.child_by_field_name("condition"), scope)
        results += run.under(condition.taints, lambda: _inner(run, node.child_by_field_name("body"), scope))
    return results


def _switch(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    subject = run.value(node.child_by_field_name("value"), scope)
    body = node.child_by_field_name("body")
    own = Scope(scope, level=run.level)
    results: list[Value] = []
    for case in body.named_children if body is not None else []:
        test = case.child_by_field_name("value")
        told = subject.taints | (run.value(test, own).taints if test is not None else NOTHING)
        statements = [child for child in case.named_children if child != test]
        for statement in statements:
            results += run.under(told, lambda s=statement: run.run_statement(run, s, own))  # type: ignore[misc]
    return results


def _try(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    run.tries.append(NOTHING)
    results = _inner(run, node.child_by_field_name("body"), scope)
    inside = run.tries.pop()
    handler, finalizer = node.child_by_field_name("handler"), node.child_by_field_name("finalizer")
    if handler is not None:
        own = Scope(scope, level=run.level)
        run.declare(handler.child_by_field_name("parameter"), Value(taints=inside, ambient=True), own)
        results += run.under(inside, lambda: _inner(run, handler.child_by_field_name("body"), own))
    if finalizer is not None:
        results += _inner(run, finalizer.child_by_field_name("body"), scope)
    return results


def _labeled(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    return _inner(run, node.child_by_field_name("body"), scope)


def _enum(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    name = node.child_by_field_name("name")
    if name is not None:
        scope.names[text_of(name)] = Value(kind=Kind.PLAIN)
    return []


_RULES: Mapping[str, Rule] = {
    "lexical_declaration": _declaration,
    "variable_declaration": _declaration,
    "function_declaration": _function,
    "generator_function_declaration": _function,
    "export_statement": _export,
    "import_statement": _import,
    "throw_statement": _throw,
    "return_statement": _return,
    "if_statement": _if,
    "for_statement": _for,
    "for_in_statement": _for_in,
    "while_statement": _while,
    "do_statement": _while,
    "switch_statement": _switch,
    "try_statement": _try,
    "statement_block": _inner,
    "labeled_statement": _labeled,
    "enum_declaration": _enum,
} | dict.fromkeys(CLASSES, _class)
