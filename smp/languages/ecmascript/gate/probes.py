"""A copy of a JavaScript or TypeScript file that writes down which of its statements run.

Needed because the engines' own coverage speaks of the code that a test runner has transformed, not of the file. A *probe*
stands before every statement and every expression body of a function; its number is the line where that begins. The lines of
the file stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from tree_sitter import Node

from smp.domain.ids import FilePath
from smp.languages.ecmascript.grammar import dialect_of, parse

_CALL = "__smp_line"
_LISTS = frozenset({"program", "statement_block", "switch_case", "switch_default"})
_UNPROBED = frozenset(
    {"import_statement", "comment", "interface_declaration", "type_alias_declaration", "ambient_declaration",
     "function_declaration", "generator_function_declaration", "function_signature", "empty_statement", "hash_bang_line"}
)  # fmt: skip
_RECORDER = (
    f"\n;function {_CALL}(n){{const g=globalThis,s=g.{_CALL}s||(g.{_CALL}s=new Set()),"
    'k=n+"\\t"+JSON.stringify(g.__smp_test?g.__smp_test():"");if(!s.has(k)){s.add(k);'
    'process.getBuiltinModule("fs").appendFileSync(process.env.SMP_LINES,k+"\\n")}}\n'
)


class Probed(Struct, frozen=True, kw_only=True):
    """Attributes:
    source: The file with probes; each appends its number and what `__smp_test()`, if there is one, calls the running test to
        the file that `SMP_LINES` names, once a process and test.
    lines: Numbers of all probes.
    spans: (first byte, byte behind the last, number) of what stands behind each probe.
    """

    source: bytes
    lines: tuple[int, ...]
    spans: tuple[tuple[int, int, int], ...]

    def probe_of(self, byte: int) -> int | None:
        """The innermost probe around a byte; None when none is."""
        around = [span for span in self.spans if span[0] <= byte < span[1]]
        return min(around, key=lambda span: span[1] - span[0])[2] if around else None


def with_probes(path: FilePath, source: bytes) -> Probed:
    """Put probes into a file."""
    root = parse(source, dialect_of(path)).root_node
    inserts: list[tuple[int, int, str]] = []
    spans: list[tuple[int, int, int]] = []
    for node, is_wrapped in _probed(root):
        line = node.start_point[0] + 1
        is_value = is_wrapped and not node.type.endswith(("_statement", "_declaration"))
        spans.append((node.start_byte, node.end_byte, line))
        inserts.append(
            (
                node.start_byte,
                0,
                f"({_CALL}({line}),(" if is_value else ("{" if is_wrapped else "") + f"{_CALL}({line});",
            )
        )
        if is_wrapped:
            inserts.append((node.end_byte, -node.start_byte - 1, "))" if is_value else "}"))
    parts, at = [], 0
    for byte, _, text in sorted(inserts, key=lambda one: (one[0], one[1])):
        parts += [source[at:byte], text.encode()]
        at = byte
    parts += [source[at:], _RECORDER.encode()]
    lines = tuple(sorted({line for *_, line in spans}))
    return Probed(source=b"".join(parts), lines=lines, spans=tuple(sorted(spans)))


def _probed(root: Node) -> Iterator[tuple[Node, bool]]:
    """(statement or expression body, whether it has to be wrapped to stand for two)."""
    stack = [root]
    while stack:
        node = stack.pop()
        stack.extend(node.named_children)
        if node.type in _LISTS:
            value = node.child_by_field_name("value")
            for child in node.named_children:
                if child != value and _is_run(child):
                    yield child, False
        elif node.type == "arrow_function":
            body = node.child_by_field_name("body")
            if body is not None and body.type != "statement_block":
                yield body, True
        elif node.type in ("if_statement", "for_statement", "for_in_statement", "while_statement"):
            inner = node.child_by_field_name("consequence") or node.child_by_field_name("body")
            if inner is not None and inner.type.endswith("_statement"):
                yield inner, True
        elif node.type == "else_clause":
            inner = next((child for child in node.named_children if child.type != "comment"), None)
            if inner is not None and inner.type.endswith("_statement") and inner.type != "if_statement":
                yield inner, True


def _is_run(node: Node) -> bool:
    """Whether a statement does something where it stands."""
    if node.type == "export_statement":
        node = node.child_by_field_name("declaration") or node.child_by_field_name("value") or node
    is_directive = node.type == "expression_statement" and any(child.type == "string" for child in node.named_children)
    return node.type not in _UNPROBED and node.type != "export_statement" and not is_directive
