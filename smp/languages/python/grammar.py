"""The tree-sitter grammar: parser, kind and field numbers, and the one query that finds what is attributed to scopes.

Numbers instead of names because comparing them costs a tenth: a walk touches every node of every file.
"""

from __future__ import annotations

import re

import tree_sitter
import tree_sitter_python

LANGUAGE = tree_sitter.Language(tree_sitter_python.language())

_COMMENTS_KEPT = 50
_COMMENT_RUN = re.compile(rb"(?:^[ \t]*#[^\n]*\n){200,}", re.MULTILINE)

_STRUCTURE = """
(function_definition) @function
(class_definition) @class
(lambda) @lambda
[(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @comprehension
[(if_statement) (elif_clause) (for_statement) (while_statement) (except_clause) (case_clause)
 (conditional_expression) (boolean_operator) (for_in_clause) (if_clause)] @decision
(comment) @comment
(raise_statement) @raise
(ERROR) @error
[(yield)] @yield
(assignment left: (identifier) @bind)
(augmented_assignment left: (identifier) @bind)
(assignment left: [(pattern_list) (tuple_pattern) (list_pattern)] @bind_pattern)
(for_statement left: (identifier) @bind)
(for_statement left: [(pattern_list) (tuple_pattern) (list_pattern)] @bind_pattern)
(named_expression name: (identifier) @bind_walrus)
(as_pattern_target) @bind_pattern
(import_statement) @import
(import_from_statement) @import
(global_statement) @global
(nonlocal_statement) @nonlocal
(type_alias_statement left: (type) @bind_alias)
(case_pattern) @bind_case
"""

QUERY = tree_sitter.Query(LANGUAGE, _STRUCTURE)


def _kind(name: str, *, named: bool = True) -> frozenset[int]:
    return frozenset(
        number
        for number in range(LANGUAGE.node_kind_count)
        if LANGUAGE.node_kind_for_id(number) == name and LANGUAGE.node_kind_is_named(number) == named
    )


def _field(name: str) -> int:
    number = LANGUAGE.field_id_for_name(name)
    assert number is not None
    return number


F_ALIAS = _field("alias")
F_ALTERNATIVE = _field("alternative")
F_ARGUMENT = _field("argument")
F_ARGUMENTS = _field("arguments")
F_ATTRIBUTE = _field("attribute")
F_BODY = _field("body")
F_CAUSE = _field("cause")
F_CONDITION = _field("condition")
F_CONSEQUENCE = _field("consequence")
F_DEFINITION = _field("definition")
F_FUNCTION = _field("function")
F_GUARD = _field("guard")
F_KEY = _field("key")
F_LEFT = _field("left")
F_MODULE_NAME = _field("module_name")
F_NAME = _field("name")
F_OBJECT = _field("object")
F_OPERATOR = _field("operator")
F_PARAMETERS = _field("parameters")
F_RETURN_TYPE = _field("return_type")
F_RIGHT = _field("right")
F_SUBJECT = _field("subject")
F_SUBSCRIPT = _field("subscript")
F_SUPERCLASSES = _field("superclasses")
F_TYPE = _field("type")
F_TYPE_PARAMETERS = _field("type_parameters")
F_VALUE = _field("value")

IDENTIFIER = min(_kind("identifier"))
BLOCK = _kind("block")
COMMENT = min(_kind("comment"))
FUNCTION = min(_kind("function_definition"))
CLASS = min(_kind("class_definition"))
DECORATED = min(_kind("decorated_definition"))
DECORATOR = min(_kind("decorator"))
STRING = min(_kind("string"))
CONCATENATED = min(_kind("concatenated_string"))
EXPRESSION_STATEMENT = min(_kind("expression_statement"))


def kinds(name: str) -> frozenset[int]:
    """Numbers of all node kinds with this name (aliases give a name several)."""
    found = _kind(name)
    assert found, name
    return found


_SPLAT = kinds("list_splat")


def begins_with_splat(node: tree_sitter.Node) -> bool:
    """Whether an element is spread: of `[*f(x)]` the grammar (tree-sitter-python 0.25) makes a call of `*f`."""
    inner: tree_sitter.Node | None = node
    while inner is not None and inner.kind_id not in _SPLAT:
        inner = (
            inner.child_by_field_id(F_FUNCTION) or inner.child_by_field_id(F_OBJECT) or inner.child_by_field_id(F_VALUE)
        )
    return inner is not None


def without_splat(node: tree_sitter.Node) -> tree_sitter.Node:
    """What is spread, of a node that begins with a star; else the node."""
    return node.named_children[0] if node.kind_id in _SPLAT and node.named_child_count else node


def parse(source: bytes) -> tree_sitter.Tree:
    """The tree of a source in UTF-8. A parser is made per call: they are cheap and not thread-safe.

    After each comment the grammar's scanner looks for the next line of code, past all comments in between, so a run of
    comment lines costs the square of its length (tree-sitter-python 0.25: 4,000 lines, 2 s; 40,000, minutes). The tail
    of a long run is parsed as blank lines of the same length: every offset stays what it was.
    """
    return tree_sitter.Parser(LANGUAGE).parse(_COMMENT_RUN.sub(_blank_tail, source))


def _blank_tail(run: re.Match[bytes]) -> bytes:
    lines = run[0].split(b"\n")
    tail = (
        b" " * len(line.rstrip(b"\r")) + (b"\r" if line.endswith(b"\r") else b"") for line in lines[_COMMENTS_KEPT:]
    )
    return b"\n".join((*lines[:_COMMENTS_KEPT], *tail))


def structure(root: tree_sitter.Node) -> dict[str, list[tree_sitter.Node]]:
    """Nodes of `_STRUCTURE` by capture name, each list in source order."""
    found = tree_sitter.QueryCursor(QUERY).captures(root)
    for nodes in found.values():
        nodes.sort(key=lambda node: node.start_byte)
    return found
