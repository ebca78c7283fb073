"""Which names a scope binds, found before it is walked, and the values they hold while it is.

A scope's present values lie in layers: a branch pushes a layer, writes go to the top, leaving the branch pops it and
joins what it wrote. A name read from another function's scope is a *variable*: its value at any time.
"""

from __future__ import annotations

from bisect import bisect_left

import tree_sitter

from smp.languages.python import grammar as g

MODULE, FUNCTION, CLASS, LAMBDA, COMPREHENSION = range(5)

_PATTERNS = (
    g.kinds("pattern_list")
    | g.kinds("tuple_pattern")
    | g.kinds("list_pattern")
    | g.kinds("list_splat_pattern")
    | g.kinds("as_pattern_target")
    | g.kinds("tuple")
    | g.kinds("list")
    | g.kinds("list_splat")
    | g.kinds("parenthesized_expression")
)
_DOTTED = g.kinds("dotted_name")
_ALIASED = g.kinds("aliased_import")
_CLASS_PATTERN = g.kinds("class_pattern")
_KEYWORD_PATTERN = g.kinds("keyword_pattern")
_CASE_NESTED = (
    g.kinds("case_pattern")
    | g.kinds("list_pattern")
    | g.kinds("tuple_pattern")
    | g.kinds("dict_pattern")
    | g.kinds("union_pattern")
    | g.kinds("as_pattern")
    | g.kinds("splat_pattern")
    | _CLASS_PATTERN
    | _KEYWORD_PATTERN
)
_AS_PATTERN = g.kinds("as_pattern")


def pattern_names(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Identifiers that an assignment target binds."""
    if node.kind_id == g.IDENTIFIER:
        return [node]
    if node.kind_id not in _PATTERNS:
        return []
    return [found for child in node.named_children for found in pattern_names(child)]


def case_names(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Identifiers that a `case` pattern captures."""
    kind = node.kind_id
    if kind in _DOTTED:
        return [node.named_children[0]] if node.named_child_count == 1 else []
    if kind == g.IDENTIFIER:
        return [node]
    if kind not in _CASE_NESTED:
        return []
    children = node.named_children
    if kind in _CLASS_PATTERN or kind in _KEYWORD_PATTERN:
        children = children[1:]
    return [found for child in children for found in case_names(child)]


class Bindings:
    """Names bound in one scope, with the places, in source order."""

    __slots__ = ("end", "globals", "names", "nonlocals", "places", "rebound", "start", "where")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self.names: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.rebound: set[str] = set()
        """Names that a scope further in binds, by `global` or `nonlocal`: whenever it is called."""
        self.places: list[int] = []
        self.where: list[str] = []

    def between(self, start: int, end: int) -> set[str]:
        """Names bound by code between two offsets (nested scopes excluded)."""
        return set(self.where[bisect_left(self.places, start) : bisect_left(self.places, end)])


def collect_bindings(
    source: bytes, root: tree_sitter.Node, found: dict[str, list[tree_sitter.Node]]
) -> dict[int, Bindings]:
    """Bindings of the module (key -1) and of each function, class and lambda body (key: where the body starts)."""
    module = Bindings(-1, root.end_byte + 1)
    table: dict[int, Bindings] = {-1: module}
    for capture in ("function", "class", "lambda"):
        for node in found.get(capture, ()):
            body = node.child_by_field_id(g.F_BODY)
            if body is not None:
                table[body.start_byte] = Bindings(body.start_byte, body.end_byte)
    ordered = sorted(table.values(), key=lambda bindings: (bindings.start, -bindings.end))
    stack: list[Bindings] = []
    position = 0
    for place, name, kind in sorted(_places(source, found)):
        while position < len(ordered) and ordered[position].start <= place:
            stack.append(ordered[position])
            position += 1
        while stack[-1].end <= place:
            stack.pop()
        # A body that ended may hide under one that did not: bodies nest, so the top that contains `place` is right.
        scope = stack[-1]
        if kind == "global":
            scope.globals.add(name)
        elif kind == "nonlocal":
            scope.nonlocals.add(name)
        else:
            scope.names.add(name)
            scope.places.append(place)
            scope.where.append(name)
    for scope in table.values():
        scope.names -= scope.globals | scope.nonlocals
        module.names |= scope.globals
        module.rebound |= scope.globals
    _mark_nonlocals(ordered)
    return table


def _mark_nonlocals(ordered: list[Bindings]) -> None:
    """Says in each scope which of its names scopes further in bind; `ordered`: outer before inner."""
    stack: list[Bindings] = []
    for scope in ordered:
        while stack and stack[-1].end <= scope.start:
            stack.pop()
        for name in scope.nonlocals:
            owner = next((outer for outer in reversed(stack) if name in outer.names), None)
            if owner is not None:
                owner.rebound.add(name)
        stack.append(scope)


def _places(source: bytes, found: dict[str, list[tree_sitter.Node]]) -> list[tuple[int, str, str]]:
    places: list[tuple[int, str, str]] = []

    def bind(node: tree_sitter.Node, kind: str = "bind") -> None:
        places.append((node.start_byte, source[node.start_byte : node.end_byte].decode("utf-8", "replace"), kind))

    for capture in ("bind", "bind_walrus"):
        for node in found.get(capture, ()):
            bind(node)
    for node in found.get("bind_pattern", ()):
        for name in pattern_names(node):
            bind(name)
    for node in found.get("bind_case", ()):
        parent = node.parent
        if parent is not None and parent.type == "case_clause":
            for name in case_names(node):
                bind(name)
    for capture in ("function", "class"):
        for node in found.get(capture, ()):
            name_node = node.child_by_field_id(g.F_NAME)
            if name_node is not None:
                bind(name_node)
    for node in found.get("bind_alias", ()):
        inner = node
        while inner.kind_id != g.IDENTIFIER and inner.named_child_count:
            inner = inner.named_children[0]
        bind(inner)
    for node in found.get("import", ()):
        module = node.child_by_field_id(g.F_MODULE_NAME)
        for name in node.children_by_field_name("name"):
            if name.kind_id in _ALIASED:
                alias = name.child_by_field_id(g.F_ALIAS)
                if alias is not None:
                    bind(alias)
            elif name.kind_id in _DOTTED and name.named_child_count and (module is None or name.id != module.id):
                bind(name.named_children[0])
    for kind in ("global", "nonlocal"):
        for node in found.get(kind, ()):
            for name in node.named_children:
                bind(name, kind)
    return places


class Layer(dict[str, int]):
    """Values written in a branch; `narrowed` remembers those that a test narrowed: name → (before, narrowed)."""

    __slots__ = ("narrowed",)

    def __init__(self) -> None:
        super().__init__()
        self.narrowed: dict[str, tuple[int, int]] = {}


class Scope:
    """A scope while it is walked."""

    __slots__ = (
        "annotations",
        "bindings",
        "class_index",
        "foreign",
        "function",
        "kind",
        "layers",
        "owner",
        "parent",
        "rebindings",
        "returns",
        "variables",
        "writes",
        "yields",
    )

    def __init__(
        self,
        kind: int,
        parent: Scope | None,
        bindings: Bindings,
        *,
        owner: int,
        function: int = -1,
        class_index: int = -1,
    ) -> None:
        self.kind = kind
        self.parent = parent
        self.bindings = bindings
        self.owner = owner
        self.function = function
        self.class_index = class_index
        self.layers: list[Layer] = [Layer()]
        self.variables: dict[str, int] = {}
        self.writes: dict[str, list[tuple[int, int]]] = {}
        self.foreign: dict[str, list[int]] = {}
        self.rebindings: dict[str, int] = {}
        self.returns: list[int] = []
        self.yields: list[int] = []
        self.annotations: dict[str, int] = {}

    def lookup(self, name: str) -> int | None:
        """The present value; None if nothing has been stored on the way here."""
        for layer in reversed(self.layers):
            value = layer.get(name)
            if value is not None:
                return value
        return None
