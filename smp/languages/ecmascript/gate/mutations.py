"""The mutants of a JavaScript or TypeScript file: which spans of the syntax tree may change, and into what.

The same kinds as for Python (see `smp/languages/python/gate/mutations.py`); each keeps the file's number of lines. A
mutant that the parser could not read is not made.

Left out, because a test cannot be blamed for letting them live: types, interfaces, overloads, decorators, imports, keys of
objects, directives, texts of errors and of log lines, `super(…)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tree_sitter import Node

from smp.domain.ids import FilePath
from smp.domain.mutants import Mutant
from smp.languages.ecmascript.grammar import dialect_of, parse
from smp.languages.ecmascript.syntax import string_value, text_of, unwrap
from smp.languages.mutation_order import Change, ordered_mutants

_FLIPS = {
    "<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "==", "===": "!==", "!==": "===",
}  # fmt: skip
_BOUNDARIES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_ARITHMETIC = {
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "**": "*",
    "&": "|", "|": "&", "^": "&", "<<": ">>", ">>": "<<", ">>>": "<<",
}  # fmt: skip
_BOOLEAN = {"&&": "||", "||": "&&", "??": "&&"}
_STEPS = {"++": "--", "--": "++"}
_OPAQUE = frozenset(
    {"type_annotation", "type_arguments", "type_parameters", "interface_declaration", "type_alias_declaration",
     "ambient_declaration", "import_statement", "comment", "ERROR", "decorator", "regex", "function_signature",
     "abstract_method_signature", "method_signature", "implements_clause", "asserts_annotation", "type_predicate_annotation",
     "jsx_attribute", "jsx_text", "extends_type_clause", "class_heritage", "property_identifier", "satisfies_type"}
)  # fmt: skip
_CASTS = frozenset({"as_expression", "satisfies_expression"})
_TRUTH_NODES = frozenset(
    {"identifier", "member_expression", "call_expression", "subscript_expression", "await_expression"}
)
_LITERALS = frozenset({"number", "true", "false", "null", "undefined", "string"})
_TEXTS = frozenset({"string", "template_string"})
_LOGGERS = frozenset({"console", "log", "logger", "debug"})


def ecmascript_mutants(path: FilePath, source: bytes, lines: frozenset[int] | None) -> tuple[Mutant, ...]:
    """All mutants of a file on these lines (all when None); `node_id` is left empty."""
    dialect = dialect_of(path)
    root = parse(source, dialect).root_node
    mutants = ordered_mutants(path, source, _walk(root), lines)
    if root.has_error:
        return mutants
    sound = []
    for mutant in mutants:
        mutated = source[: mutant.start_byte] + mutant.mutated.encode() + source[mutant.end_byte :]
        if not parse(mutated, dialect).root_node.has_error:
            sound.append(mutant)
    if len(sound) == len(mutants):
        return mutants
    kept = frozenset((one.start_byte, one.end_byte, one.mutated) for one in sound)
    changes = (c for c in _walk(root) if (c[0].start_byte, c[0].end_byte, c[2]) in kept)
    return ordered_mutants(path, source, changes, lines)


def _walk(root: Node) -> Iterator[Change]:
    """Depth first without recursion: bundled files nest deeper than the interpreter's stack."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in _OPAQUE or _is_left_out(node):
            continue
        rule = _RULES.get(node.type)
        if rule is not None:
            yield from rule(node)
        stack.extend(reversed(_children(node)))


def _children(node: Node) -> list[Node]:
    children = node.named_children
    if node.type in _CASTS:
        return children[:1]
    if node.type == "pair":
        return [child for child in [node.child_by_field_name("value")] if child is not None]
    if node.type == "throw_statement" or _is_log_call(node):
        return []
    return children


def _is_left_out(node: Node) -> bool:
    if node.type == "expression_statement":
        return bool(node.named_children) and node.named_children[0].type == "string"
    if node.type == "export_statement":
        return node.child_by_field_name("source") is not None
    if node.type == "call_expression":
        function = node.child_by_field_name("function")
        return function is not None and (function.type in ("super", "import") or text_of(function) == "require")
    return False


def _is_log_call(node: Node) -> bool:
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    owner = (
        function.child_by_field_name("object")
        if function is not None and function.type == "member_expression"
        else None
    )
    return owner is not None and text_of(owner).rpartition(".")[2] in _LOGGERS


def _binary(node: Node) -> Iterator[Change]:
    operator = node.child_by_field_name("operator")
    text = text_of(operator) if operator is not None else ""
    if operator is None:
        return
    if text in _FLIPS:
        yield operator, "comparison", _FLIPS[text]
    if text in _BOUNDARIES:
        yield operator, "boundary", _BOUNDARIES[text]
    if text in _BOOLEAN:
        yield operator, "boolean", _BOOLEAN[text]
    if text in _ARITHMETIC and not (text == "+" and _holds_text(node)):
        yield operator, "arithmetic", _ARITHMETIC[text]


def _holds_text(node: Node) -> bool:
    """Whether a sum joins texts, as far as can be seen: `"a" + b + c`."""
    while node.type == "binary_expression":
        right, left = node.child_by_field_name("right"), node.child_by_field_name("left")
        if right is None or left is None or unwrap(right).type in _TEXTS:
            return True
        node = unwrap(left)
    return node.type in _TEXTS


def _augmented(node: Node) -> Iterator[Change]:
    operator, right = node.child_by_field_name("operator"), node.child_by_field_name("right")
    text = text_of(operator).removesuffix("=") if operator is not None else ""
    if operator is None or right is None or (text == "+" and (right.type in _TEXTS or _holds_text(right))):
        return
    swapped = _ARITHMETIC.get(text) or _BOOLEAN.get(text)
    if swapped is not None:
        yield operator, "arithmetic" if text in _ARITHMETIC else "boolean", f"{swapped}="


def _update(node: Node) -> Iterator[Change]:
    operator = node.child_by_field_name("operator")
    if operator is not None and text_of(operator) in _STEPS:
        yield operator, "arithmetic", _STEPS[text_of(operator)]


def _unary(node: Node) -> Iterator[Change]:
    operator, argument = node.child_by_field_name("operator"), node.child_by_field_name("argument")
    if operator is None or argument is None:
        return
    if text_of(operator) == "!":
        yield node, "boolean", f"!!{text_of(argument)}"
    elif text_of(operator) in ("-", "~"):
        yield node, "arithmetic", f"+{text_of(argument)}"


def _condition(node: Node) -> Iterator[Change]:
    condition = node.child_by_field_name("condition")
    inner = unwrap(condition) if condition is not None else None
    if inner is not None and inner.type in _TRUTH_NODES:
        yield inner, "boolean", f"!({text_of(inner)})"


def _number(node: Node) -> Iterator[Change]:
    text = text_of(node).replace("_", "").lower()
    try:
        if text.endswith("n"):
            yield node, "constant", f"{int(text[:-1], 0) + 1}n"
            return
        mutated = (
            str(int(text, 0) + 1)
            if not any(mark in text for mark in ".e") or text[:2] == "0x"
            else repr(float(text) + 1)
        )
    except ValueError:  # old octal numbers
        return
    if mutated not in (text, "inf"):
        yield node, "constant", mutated


def _truth(node: Node) -> Iterator[Change]:
    yield node, "constant", "false" if node.type == "true" else "true"


def _string(node: Node) -> Iterator[Change]:
    parent = node.parent
    if parent is not None and (parent.type == "literal_type" or parent.child_by_field_name("key") == node):
        return
    quote = text_of(node)[:1]
    yield node, "constant", quote + _breaks(node, "\\\n") + ("" if string_value(node) else "XX") + quote


def _template(node: Node) -> Iterator[Change]:
    parent = node.parent
    if parent is None or parent.type not in ("call_expression", "literal_type", "template_literal_type"):  # a tag
        yield node, "constant", "`" + _breaks(node) + ("" if len(text_of(node)) > 2 else "XX") + "`"


def _breaks(node: Node, one: str = "\n") -> str:
    """As many line ends as a node has, so that lines after a mutant stay where they were."""
    return one * text_of(node).count("\n")


def _return(node: Node) -> Iterator[Change]:
    value = next((child for child in node.named_children if child.type != "comment"), None)
    if value is not None and value.type not in _LITERALS:
        yield value, "return_value", "undefined" + _breaks(value)


def _arrow(node: Node) -> Iterator[Change]:
    body = node.child_by_field_name("body")
    if body is not None and body.type != "statement_block" and body.type not in _LITERALS:
        yield body, "return_value", "undefined" + _breaks(body)


def _statement(node: Node) -> Iterator[Change]:
    if node.type == "throw_statement" or _is_deletable(next(iter(node.named_children), None)):
        yield node, "statement_deletion", ";" + _breaks(node)


def _is_deletable(node: Node | None) -> bool:
    match node.type if node is not None else "":
        case "call_expression":
            return node is not None and not _is_log_call(node) and not _is_left_out(node)
        case "augmented_assignment_expression" | "update_expression" | "await_expression":
            return True
        case "assignment_expression":
            left = node.child_by_field_name("left") if node is not None else None
            return left is not None and left.type in ("identifier", "member_expression", "subscript_expression")
        case "unary_expression":
            return node is not None and text_of(node).startswith("delete")
        case _:
            return False


_RULES: dict[str, Callable[[Node], Iterator[Change]]] = {
    "binary_expression": _binary,
    "augmented_assignment_expression": _augmented,
    "update_expression": _update,
    "unary_expression": _unary,
    "if_statement": _condition,
    "while_statement": _condition,
    "do_statement": _condition,
    "ternary_expression": _condition,
    "number": _number,
    "true": _truth,
    "false": _truth,
    "string": _string,
    "template_string": _template,
    "return_statement": _return,
    "arrow_function": _arrow,
    "expression_statement": _statement,
    "throw_statement": _statement,
}
