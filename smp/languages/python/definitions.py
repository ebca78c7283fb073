"""Finds every definition of a file: unique qualified names in source order, kinds, nodes with their metadata."""

from __future__ import annotations

import inspect
import re
from bisect import bisect_right
from collections.abc import Callable

import tree_sitter

from smp.domain.graph import Edge, EdgeKind, Node, NodeKind, Parameter
from smp.domain.ids import FilePath, NodeId, mint_node_id
from smp.domain.metadata import Annotation, Comment, Metadata
from smp.domain.source import NOTHING
from smp.languages.nodes import hash_bytes
from smp.languages.python import grammar as g
from smp.languages.summary_builder import SummaryBuilder

_SPACE = re.compile(r"\s+")
_TEST_FILE = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|tests?)\.py$")
_CONFTEST = re.compile(r"(^|/)conftest\.py$")
_TEST_FOLDER = re.compile(r"(^|/)(tests?|testing)/")
_SHIPPED = re.compile(
    r"^(?:src/|lib/)?(?!(?:tests?|testing|packages|apps|libs|services|projects|modules|plugins|examples)/)[A-Za-z_]\w*/"
    r"(?:[A-Za-z_]\w*/)*?(?:test|testing)/(?!.*(?:^|/)tests?/)"
)
"""A folder inside a package that is for those who test with the package (`django/test/`), not for its own tests."""
_DEFINES_TESTS = re.compile(rb"^[ \t]*(?:async[ \t]+def[ \t]+test|def[ \t]+test|class[ \t]+\w*Test)", re.MULTILINE)
_TEST_CLASS = re.compile(r"^Test|Tests?$|TestCase$")
_TEST_BASE = re.compile(r"(TestCase|Tests?|TestBase|TestMixin)$")
_CASES_KIND = min(g.kinds("case_clause"))
_BASE_KINDS = g.kinds("identifier") | g.kinds("attribute") | g.kinds("subscript")


def role_of(path: FilePath, source: bytes) -> str:
    """`test` for what defines tests where runners look for them, and for what lies among tests; `source` otherwise.

    A name alone makes no test: `test_imports.py` in a package is a module of it unless it defines tests.
    """
    if _CONFTEST.search(path):
        return "test"
    if _TEST_FOLDER.search(path) and not _SHIPPED.search(path):
        return "test"
    return "test" if _TEST_FILE.search(path) and _DEFINES_TESTS.search(source) else "source"


class Definition:
    """A function or class of the file."""

    __slots__ = (
        "bases",
        "decorators",
        "end",
        "index",
        "is_class",
        "kind",
        "name",
        "node",
        "node_id",
        "outer",
        "owner",
        "parent",
        "qualname",
        "start",
        "unique",
    )

    def __init__(self, node: tree_sitter.Node, name: str, parent: Definition | None, *, is_class: bool) -> None:
        self.node = node
        self.name = name
        self.parent = parent
        self.is_class = is_class
        self.start = node.start_byte
        self.end = node.end_byte
        holder = node.parent
        self.outer = holder if holder is not None and holder.kind_id == g.DECORATED else node
        self.decorators: list[tree_sitter.Node] = (
            [child for child in self.outer.children if child.kind_id == g.DECORATOR] if self.outer is not node else []
        )
        self.qualname: str = f"{parent.qualname}.{name}" if parent else name
        self.unique = ""
        self.kind = NodeKind.FUNCTION
        self.index = NOTHING
        self.node_id = NodeId("")
        self.bases: list[str] = []


class Extractor:
    """Nodes and structural edges of one file."""

    def __init__(
        self,
        source: bytes,
        found: dict[str, list[tree_sitter.Node]],
        builder: SummaryBuilder,
        stored: Callable[[int], int],
    ) -> None:
        self.source = source
        self.found = found
        self.builder = builder
        self.stored = stored
        self.path = builder.path
        self.role = role_of(builder.path, source)
        self.definitions: list[Definition] = []
        self.by_start: dict[int, Definition] = {}
        self._starts: list[int] = []

    def text(self, node: tree_sitter.Node) -> str:
        """Source text of a node."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def collect(self) -> None:
        """Finds definitions, hands out names, kinds and ids."""
        both = [(node, False) for node in self.found.get("function", ())]
        both += [(node, True) for node in self.found.get("class", ())]
        both.sort(key=lambda pair: pair[0].start_byte)
        stack: list[Definition] = []
        for node, is_class in both:
            name_node = node.child_by_field_id(g.F_NAME)
            if name_node is None or name_node.is_missing:
                continue
            while stack and stack[-1].end <= node.start_byte:
                stack.pop()
            definition = Definition(node, self.text(name_node), stack[-1] if stack else None, is_class=is_class)
            definition.unique = self.builder.unique_qualname(definition.qualname)
            if is_class:
                definition.bases = self._base_names(node)
            definition.kind = self._kind(definition)
            definition.index, definition.node_id = self.builder.define(definition.kind, definition.unique)
            self.definitions.append(definition)
            self.by_start[definition.start] = definition
            stack.append(definition)
        self._starts = [definition.start for definition in self.definitions]

    def _base_names(self, node: tree_sitter.Node) -> list[str]:
        bases = node.child_by_field_id(g.F_SUPERCLASSES)
        if bases is None:
            return []
        return [self.text(child) for child in bases.named_children if child.kind_id in _BASE_KINDS]

    def _kind(self, definition: Definition) -> NodeKind:
        if definition.is_class:
            plain = {base.partition("[")[0].rpartition(".")[2] for base in definition.bases}
            return NodeKind.INTERFACE if "Protocol" in plain else NodeKind.CLASS
        return NodeKind.TEST if self._is_test(definition) else NodeKind.FUNCTION

    def _is_test(self, definition: Definition) -> bool:
        if self.role != "test" or not definition.name.startswith("test"):
            return False
        if any("fixture" in self.text(decorator) for decorator in definition.decorators):
            return False
        parent = definition.parent
        while parent is not None:
            if not parent.is_class:
                return False
            if not (_TEST_CLASS.search(parent.name) or any(_TEST_BASE.search(base) for base in parent.bases)):
                return False
            parent = parent.parent
        return True

    def innermost(self, offset: int) -> Definition | None:
        """The definition around an offset; decorators and the head of a definition are outside of it."""
        position = bisect_right(self._starts, offset) - 1
        found = self.definitions[position] if position >= 0 else None
        while found is not None and found.end <= offset:
            found = found.parent
        return found

    def nodes(self, exported: frozenset[str] | None) -> list[Node]:
        """A node for each definition, in source order. exported: names of `__all__`; None: all public names."""
        complexity: dict[Definition | None, int] = {}
        for node in self.found.get("decision", ()):
            owner = self._code_owner(node.start_byte)
            complexity[owner] = complexity.get(owner, 0) + 1
        comments: dict[Definition | None, list[Comment]] = {}
        for node in self.found.get("comment", ()):
            text = self.text(node).lstrip("#").strip()
            owner = self.innermost(node.start_byte)
            if text and owner is not None:
                comments.setdefault(owner, []).append(Comment(line=node.start_point.row + 1, text=text))
        throws: dict[Definition | None, set[str]] = {}
        for node in self.found.get("raise", ()):
            raised = self._raised(node)
            if raised:
                throws.setdefault(self._code_owner(node.start_byte), set()).add(raised)
        self.module_complexity = 1 + complexity.get(None, 0)
        return [
            self._node(
                definition,
                complexity=1 + complexity.get(definition, 0),
                comments=tuple(comments.get(definition, ())),
                throws=tuple(sorted(throws.get(definition, ()))),
                exported=exported,
            )
            for definition in self.definitions
        ]

    def _code_owner(self, offset: int) -> Definition | None:
        """The function around an offset (classes have no code of their own: theirs runs with what defines them)."""
        owner = self.innermost(offset)
        while owner is not None and owner.is_class:
            owner = owner.parent
        return owner

    def _raised(self, node: tree_sitter.Node) -> str | None:
        value = next((child for child in node.named_children), None)
        if value is None:
            return None
        if value.type == "call":
            value = value.child_by_field_id(g.F_FUNCTION)
        if value is None or value.type not in ("identifier", "attribute"):
            return None
        name = self.text(value)
        return name if value.type == "attribute" or name[:1].isupper() else None

    def _node(
        self,
        definition: Definition,
        *,
        complexity: int,
        comments: tuple[Comment, ...],
        throws: tuple[str, ...],
        exported: frozenset[str] | None,
    ) -> Node:
        outer = definition.outer
        start, end = outer.start_byte, outer.end_byte
        body = self.source[start:end]
        parameters = () if definition.is_class else self.parameters(definition)
        returns = None if definition.is_class else self._annotation(definition.node.child_by_field_id(g.F_RETURN_TYPE))
        last = outer.end_point
        end_line = last.row + (1 if last.column else 0)
        metadata = Metadata(
            docstring=docstring(definition.node.child_by_field_id(g.F_BODY), self.source),
            comments=comments,
            decorators=tuple(_SPACE.sub(" ", self.text(node)).strip() for node in definition.decorators),
            annotations=tuple(
                Annotation(name=parameter.name, type=parameter.annotation)
                for parameter in parameters
                if parameter.annotation and not parameter.receiver
            ),
            returns=returns,
            throws=throws,
        )
        top = definition
        while top.parent is not None:
            top = top.parent
        public = top.name in exported if exported is not None else not top.name.startswith("_")
        nested = any(not outer_def.is_class for outer_def in self._enclosing(definition))
        return Node(
            id=definition.node_id,
            kind=definition.kind,
            name=definition.name + definition.unique[len(definition.qualname) :],
            qualname=definition.unique,
            file=self.path,
            language="python",
            start_line=outer.start_point.row + 1,
            end_line=max(end_line, outer.start_point.row + 1),
            start_byte=self.stored(start),
            end_byte=self.stored(end),
            signature=self._signature(definition),
            parameters=parameters,
            return_type=returns,
            complexity=0 if definition.is_class else complexity,
            exported=public and not nested and (definition is top or not definition.name.startswith("_")),
            modifiers=self._modifiers(definition),
            source_hash=hash_bytes(body),
            lines=max(end_line, outer.start_point.row + 1) - outer.start_point.row,
            metadata=metadata,
        )

    def _enclosing(self, definition: Definition) -> list[Definition]:
        chain = []
        parent = definition.parent
        while parent is not None:
            chain.append(parent)
            parent = parent.parent
        return chain

    def _annotation(self, node: tree_sitter.Node | None) -> str | None:
        return None if node is None else _SPACE.sub(" ", self.text(node)).strip() or None

    def _signature(self, definition: Definition) -> str:
        node = definition.node
        if definition.is_class:
            bases = node.child_by_field_id(g.F_SUPERCLASSES)
            return _SPACE.sub(" ", definition.name + (self.text(bases) if bases is not None else ""))
        parameters = node.child_by_field_id(g.F_PARAMETERS)
        returns = self._annotation(node.child_by_field_id(g.F_RETURN_TYPE))
        inside = self.text(parameters) if parameters is not None else "()"
        text = f"{definition.name}{inside}" + (f" -> {returns}" if returns else "")
        return _SPACE.sub(" ", text).replace("( ", "(").replace(", )", ")").replace(",)", ")").replace(" )", ")")

    def _modifiers(self, definition: Definition) -> tuple[str, ...]:
        found = set()
        node = definition.node
        if not definition.is_class and node.child_count and node.children[0].type == "async":
            found.add("async")
        for decorator in definition.decorators:
            text = self.text(decorator).lstrip("@").strip().partition("(")[0]
            last = text.rpartition(".")[2]
            if last in ("staticmethod", "classmethod"):
                found.add("static" if last == "staticmethod" else "class")
            elif last in ("property", "cached_property", "setter", "deleter", "getter"):
                found.add("property")
            elif last == "abstractmethod":
                found.add("abstract")
            elif last == "overload":
                found.add("overload")
        return tuple(sorted(found))

    def parameters(self, definition: Definition) -> tuple[Parameter, ...]:
        """Declared parameters, in order."""
        holder = definition.node.child_by_field_id(g.F_PARAMETERS)
        if holder is None:
            return ()
        found: list[Parameter] = []
        kind = "positional"
        for child in holder.named_children:
            shape = child.type
            if shape == "positional_separator":
                found = [_with_kind(parameter, "positional_only") for parameter in found]
                continue
            if shape == "keyword_separator":
                kind = "keyword_only"
                continue
            name, star = parameter_name(child)
            if name is None:
                continue
            is_receiver = (
                not found
                and definition.parent is not None
                and definition.parent.is_class
                and not any("staticmethod" in self.text(node) for node in definition.decorators)
            )
            annotation = self._annotation(child.child_by_field_id(g.F_TYPE))
            has_default = child.child_by_field_id(g.F_VALUE) is not None
            own_kind = {"*": "var_positional", "**": "var_keyword"}.get(star, kind)
            found.append(
                Parameter(
                    name=self.text(name),
                    kind=own_kind,
                    annotation=annotation,
                    required=not has_default and not star,
                    receiver=is_receiver and not star,
                )
            )
            if star == "*":
                kind = "keyword_only"
        return tuple(found)

    def edges(self, variables: list[Node]) -> list[Edge]:
        """DEFINES from the enclosing definition (or the file), sorted."""
        file_id = mint_node_id("file", self.path)
        edges = [
            Edge(
                kind=EdgeKind.DEFINES,
                source=definition.parent.node_id if definition.parent else file_id,
                target=definition.node_id,
                line=definition.outer.start_point.row + 1,
                lines=(definition.outer.start_point.row + 1,),
            )
            for definition in self.definitions
        ]
        edges += [
            Edge(
                kind=EdgeKind.DEFINES,
                source=file_id,
                target=node.id,
                line=node.start_line,
                lines=(node.start_line,),
            )
            for node in variables
        ]
        return sorted(edges, key=lambda edge: (edge.source, edge.target or ""))


def _with_kind(parameter: Parameter, kind: str) -> Parameter:
    return Parameter(
        name=parameter.name,
        kind=kind,
        annotation=parameter.annotation,
        required=parameter.required,
        receiver=parameter.receiver,
    )


def parameter_name(node: tree_sitter.Node) -> tuple[tree_sitter.Node | None, str]:
    """The identifier of a parameter, and `*`, `**` or nothing."""
    kind = node.type
    if kind == "identifier":
        return node, ""
    if kind in ("default_parameter", "typed_default_parameter"):
        return node.child_by_field_id(g.F_NAME), ""
    if kind == "list_splat_pattern":
        return (node.named_children[0] if node.named_child_count else None), "*"
    if kind == "dictionary_splat_pattern":
        return (node.named_children[0] if node.named_child_count else None), "**"
    if kind == "typed_parameter":
        return parameter_name(node.named_children[0]) if node.named_child_count else (None, "")
    return None, ""


def docstring(body: tree_sitter.Node | None, source: bytes) -> str | None:
    """The docstring of a body, cleaned of its indentation; None if there is none or it is empty."""
    if body is None:
        return None
    first = next((child for child in body.named_children if child.kind_id != g.COMMENT), None)
    if first is None or first.kind_id != g.EXPRESSION_STATEMENT or first.named_child_count != 1:
        return None
    literal = string_value(first.named_children[0], source)
    return inspect.cleandoc(literal) or None if literal is not None else None


_ESCAPE = re.compile(r"\\(\r?\n|[\\'\"abfnrtv]|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})")
_SIMPLE = {"\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _unescape(match: re.Match[str]) -> str:
    body = match[1]
    if body in _SIMPLE:
        return _SIMPLE[body]
    if body.endswith("\n"):
        return ""
    if body[0] in "xuU":
        number = int(body[1:], 16)
        # half of a surrogate pair is a character to Python, and none that UTF-8 can hold
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    return chr(int(body, 8))


def string_value(node: tree_sitter.Node, source: bytes) -> str | None:
    """The value of a constant text; None for f-strings, bytes and anything else."""
    if node.kind_id == g.CONCATENATED:
        parts = [string_value(child, source) for child in node.named_children if child.kind_id != g.COMMENT]
        return None if any(part is None for part in parts) else "".join(part or "" for part in parts)
    if node.kind_id != g.STRING or node.child_count < 2:
        return None
    first, last = node.children[0], node.children[-1]
    opening = source[first.start_byte : first.end_byte].decode("utf-8", "replace").lower()
    if "f" in opening or "b" in opening or "t" in opening.rstrip("'\""):
        return None
    text = source[first.end_byte : last.start_byte].decode("utf-8", "replace").replace("\r\n", "\n")
    return text if "r" in opening or "\\" not in text else _ESCAPE.sub(_unescape, text)
