"""The mutants of a Python file: which spans of the syntax tree may change, and into what.

Takes a file's bytes, gives mutants sorted by (line, column, operator, replacement). A mutant replaces one byte span, so
that applying it needs no printer and leaves every other byte alone.

Left out, because a test cannot be blamed for letting them live: annotations and type aliases, docstrings, blocks under
`TYPE_CHECKING` or `__main__`, overloads and abstract methods, imports, `__all__` and its like, texts of errors and log
lines, arguments of caching decorators and of type constructors. One constant gives one mutant, one comparison two (the
flip and its boundary); a text is emptied, an empty text filled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tree_sitter import Node

from smp.domain.ids import FilePath
from smp.domain.mutants import Mutant
from smp.languages.mutation_order import Change, ordered_mutants
from smp.languages.python.grammar import parse

_FLIPS = {
    "<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "==",
    "is": "is not", "is not": "is", "in": "not in", "not in": "in",
}  # fmt: skip
_BOUNDARIES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_ARITHMETIC = {
    "+": "-", "-": "+", "*": "/", "/": "*", "//": "/", "%": "*", "**": "*",
    "&": "|", "|": "&", "^": "&", "<<": ">>", ">>": "<<",
}  # fmt: skip
_BOOLEAN = {"and": "or", "or": "and"}

_OPAQUE = frozenset(
    {"type", "type_alias_statement", "type_parameter", "import_statement", "import_from_statement", "comment",
     "future_import_statement", "global_statement", "nonlocal_statement", "assert_statement", "format_specifier",
     "concatenated_string", "ERROR"}
)  # fmt: skip
_DUNDER_NAMES = frozenset({"__all__", "__slots__", "__version__", "__author__", "__match_args__"})
_TYPE_CONSTRUCTORS = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple", "NewType", "cast", "NamedTuple", "TypedDict"})
_BARE_BODIES = frozenset({"overload", "abstractmethod"})
_CACHING = frozenset({"lru_cache", "cache", "dataclass_transform", "deprecated"})
_LOGGERS = frozenset({"log", "logger", "logging", "_log", "_logger", "LOG", "LOGGER", "warnings"})
_TRUTH_NODES = frozenset({"identifier", "attribute", "call", "subscript", "named_expression"})
_LITERALS = frozenset({"integer", "float", "true", "false", "none", "string"})
_DELETABLE = frozenset({"raise_statement", "delete_statement"})


def python_mutants(path: FilePath, source: bytes, lines: frozenset[int] | None) -> tuple[Mutant, ...]:
    """All mutants of a file on these lines (all when None); `node_id` is left empty.

    Statements that the parser could not read give no mutants.
    """
    return ordered_mutants(path, source, _walk(parse(source).root_node, source), lines)


def _first(node: Node) -> Node | None:
    return next(iter(node.named_children), None)


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _walk(root: Node, source: bytes) -> Iterator[Change]:
    """Depth first without recursion: generated files nest deeper than the interpreter's stack."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in _OPAQUE or _is_left_out(node, source):
            continue
        rule = _RULES.get(node.type)
        if rule is not None:
            yield from rule(node, source)
        stack.extend(reversed(_children(node, source)))


def _children(node: Node, source: bytes) -> list[Node]:
    children = node.named_children
    if node.type == "raise_statement":
        return []
    if node.type == "class_definition":
        return [child for child in children if child != node.child_by_field_name("superclasses")]
    if node.type in {"module", "block"}:
        return [child for child in children if not _is_text_statement(child)]
    if node.type == "call":
        callee = _last_name(node.child_by_field_name("function"), source)
        if callee in _TYPE_CONSTRUCTORS or _is_log_call(node, source):
            return []
    return children


def _is_left_out(node: Node, source: bytes) -> bool:
    match node.type:
        case "if_statement":
            condition = node.child_by_field_name("condition")
            text = _text(condition, source) if condition is not None else ""
            return text.rpartition(".")[2] == "TYPE_CHECKING" or text.replace("'", '"') == '__name__ == "__main__"'
        case "decorated_definition":
            return any(
                _last_name(_called(child), source) in _BARE_BODIES
                for child in node.named_children
                if child.type == "decorator"
            )
        case "decorator":
            return _last_name(_called(node), source) in _CACHING
        case "expression_statement":
            first = _first(node)
            if first is None or first.type != "assignment":
                return False
            left = first.child_by_field_name("left")
            return left is not None and _text(left, source) in _DUNDER_NAMES
        case "binary_operator":
            return _is_union_of_types(node, source)
        case _:
            return False


def _called(decorator: Node) -> Node | None:
    inner = _first(decorator)
    return inner.child_by_field_name("function") if inner is not None and inner.type == "call" else inner


def _last_name(node: Node | None, source: bytes) -> str:
    return _text(node, source).rpartition(".")[2] if node is not None else ""


def _is_text_statement(node: Node) -> bool:
    first = _first(node)
    return node.type == "expression_statement" and first is not None and first.type in {"string", "concatenated_string"}


def _is_log_call(call: Node, source: bytes) -> bool:
    function = call.child_by_field_name("function")
    if function is None or function.type != "attribute":
        return False
    return _text(function, source).split(".")[-2].removesuffix("()") in _LOGGERS


def _is_union_of_types(node: Node, source: bytes) -> bool:
    """`int | None` outside an annotation; arithmetic on bits inside functions is not touched by this."""
    operator = node.child_by_field_name("operator")
    if operator is None or operator.type != "|":
        return False
    operands = [node.child_by_field_name("left"), node.child_by_field_name("right")]
    if any(operand is not None and operand.type == "none" for operand in operands):
        return True
    outer = node.parent
    while outer is not None and outer.type != "function_definition":
        outer = outer.parent
    return outer is None and all(
        operand is not None and _last_name(operand, source)[:1].isupper() for operand in operands
    )


def _comparison(node: Node, source: bytes) -> Iterator[Change]:
    for operator in node.children_by_field_name("operators"):
        text = " ".join(_text(operator, source).split())
        if text in _FLIPS:
            yield operator, "comparison", _FLIPS[text]
        if text in _BOUNDARIES:
            yield operator, "boundary", _BOUNDARIES[text]


def _swap(table: dict[str, str], kind: str) -> Callable[[Node, bytes], Iterator[Change]]:
    def rule(node: Node, source: bytes) -> Iterator[Change]:
        operator = node.child_by_field_name("operator")
        if operator is not None and (text := _text(operator, source)) in table:
            yield operator, kind, table[text]

    return rule


def _augmented(node: Node, source: bytes) -> Iterator[Change]:
    operator = node.child_by_field_name("operator")
    if operator is not None and (text := _text(operator, source).removesuffix("=")) in _ARITHMETIC:
        yield operator, "arithmetic", f"{_ARITHMETIC[text]}="


def _unary(node: Node, source: bytes) -> Iterator[Change]:
    argument = node.child_by_field_name("argument")
    operator = node.child_by_field_name("operator")
    if argument is not None and operator is not None and operator.type in {"-", "~"}:
        yield node, "arithmetic", f" {_text(argument, source)}"


def _negation(node: Node, source: bytes) -> Iterator[Change]:
    argument = node.child_by_field_name("argument")
    if argument is not None:
        yield node, "boolean", f"({_text(argument, source)})"


def _condition(node: Node, source: bytes) -> Iterator[Change]:
    if node.type == "conditional_expression":
        condition = node.named_child(1) if node.named_child_count == 3 else None
    else:
        condition = node.child_by_field_name("condition")
    if condition is not None and condition.type in _TRUTH_NODES:
        yield condition, "boolean", f"(not ({_text(condition, source)}))"


def _number(node: Node, source: bytes) -> Iterator[Change]:
    text = _text(node, source).replace("_", "").lower()
    try:
        mutated = str(int(text, 0) + 1) if node.type == "integer" else repr(float(text) + 1.0)
    except ValueError:  # imaginary numbers, and integers with a leading zero
        return
    if mutated not in {text, "inf"}:
        yield node, "constant", mutated


def _truth(node: Node, source: bytes) -> Iterator[Change]:
    yield node, "constant", "False" if node.type == "true" else "True"


def _string(node: Node, source: bytes) -> Iterator[Change]:
    text = _text(node, source)
    # The same kind of quote, because the literal may stand inside an f-string of the other kind.
    at, quote = min((text.find(quote), quote) for quote in "\"'" if quote in text)
    prefix = text[:at].lower()
    if "f" in prefix or "t" in prefix:
        return
    empty = not any(child.type == "string_content" for child in node.children)
    lines = "\\\n" * text.count("\n")
    yield node, "constant", f"{'b' if 'b' in prefix else ''}{quote}{lines}{'XX' if empty else ''}{quote}"


def _return(node: Node, source: bytes) -> Iterator[Change]:
    value = _first(node)
    if value is not None and value.type not in _LITERALS:
        yield value, "return_value", "None" + _padding(value, source)


def _statement(node: Node, source: bytes) -> Iterator[Change]:
    if node.type == "expression_statement":
        inner = _first(node)
        if inner is None or not _is_deletable(inner, source):
            return
    yield node, "statement_deletion", "pass" + _padding(node, source)


def _padding(node: Node, source: bytes) -> str:
    """Keeps the file's number of lines, so that lines after a mutant are still those that were covered."""
    return " \\\n" * _text(node, source).count("\n") + (" " if "\n" in _text(node, source) else "")


def _is_deletable(node: Node, source: bytes) -> bool:
    match node.type:
        case "call":
            return not _is_log_call(node, source)
        case "augmented_assignment":
            return True
        case "await":
            return True
        case "assignment":
            left = node.child_by_field_name("left")
            if left is None or node.child_by_field_name("right") is None:
                return False
            return left.type in {"attribute", "subscript"} or _is_rebinding(node, left, source)
        case _:
            return False


def _is_rebinding(assignment: Node, left: Node, source: bytes) -> bool:
    """Without its first binding a name is missing and any test dies; only a later one says something."""
    function = assignment.parent
    while function is not None and function.type != "function_definition":
        function = function.parent
    if function is None or left.type != "identifier":
        return False
    name = _text(left, source)
    parameters = function.child_by_field_name("parameters")
    stack = [parameters] if parameters is not None else []
    body = function.child_by_field_name("body")
    stack += [
        child for child in (body.named_children if body is not None else []) if child.start_byte < left.start_byte
    ]
    while stack:
        node = stack.pop()
        if (
            node.type == "identifier"
            and node.start_byte < left.start_byte
            and _text(node, source) == name
            and _binds(node)
        ):
            return True
        if node.type not in {"function_definition", "lambda", "class_definition", "type"} or node == function:
            stack.extend(node.named_children)
    return False


def _binds(name: Node) -> bool:
    parent = name.parent
    if parent is None:
        return False
    if parent.type in {"assignment", "augmented_assignment", "for_statement"}:
        return parent.child_by_field_name("left") == name
    return parent.type in {
        "parameters", "default_parameter", "typed_parameter", "typed_default_parameter", "as_pattern_target", "pattern_list"
    }  # fmt: skip


_RULES: dict[str, Callable[[Node, bytes], Iterator[Change]]] = {
    "comparison_operator": _comparison,
    "boolean_operator": _swap(_BOOLEAN, "boolean"),
    "binary_operator": _swap(_ARITHMETIC, "arithmetic"),
    "augmented_assignment": _augmented,
    "unary_operator": _unary,
    "not_operator": _negation,
    "if_statement": _condition,
    "elif_clause": _condition,
    "while_statement": _condition,
    "conditional_expression": _condition,
    "integer": _number,
    "float": _number,
    "true": _truth,
    "false": _truth,
    "string": _string,
    "return_statement": _return,
    "expression_statement": _statement,
} | dict.fromkeys(_DELETABLE, _statement)
