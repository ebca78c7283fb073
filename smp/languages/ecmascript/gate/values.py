"""Abstract values of a JavaScript or TypeScript test, and the scopes that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum

from tree_sitter import Node

from smp.languages.ecmascript.syntax import text_of, unwrap

NOTHING: frozenset[str] = frozenset()


class Kind(IntEnum):
    """What a value is to the test runner; of joined values the greatest wins."""

    PLAIN = 0
    MODULE = 1
    """The target's module, or one that exports its names again."""
    SUPPORT = 2
    """Something of the test tree that is not at hand."""
    CONTEXT = 3
    """The parameter of a test (`t`)."""
    DONE = 4
    """The callback that ends a test."""
    ASSERT = 5
    """A function that asserts about its arguments, or a bundle of such."""
    EXPECT = 6
    """A function that opens an expectation."""
    EXPECTATION = 7
    """An expectation that a matcher still has to close."""


@dataclass(frozen=True)
class Helper:
    """A function of the test tree: its definition, the names around it, the name it is known by in an object."""

    node: Node
    scope: Scope
    name: str = ""

    def __hash__(self) -> int:
        return hash((self.node.id, id(self.scope)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Helper) and other.node.id == self.node.id and other.scope is self.scope


@dataclass(frozen=True)
class Value:
    """Attributes:
    taints: Target functions the value comes from. refs: those that it is.
    helpers: Functions of the test tree that it is or holds.
    ambient: It may show effects of earlier calls. fixed: a literal that nobody can change.
    space: Key of the module whose names it holds.
    """

    taints: frozenset[str] = NOTHING
    refs: frozenset[str] = NOTHING
    helpers: frozenset[Helper] = frozenset()
    ambient: bool = False
    fixed: bool = False
    kind: Kind = Kind.PLAIN
    space: str = ""

    @property
    def origins(self) -> frozenset[str]:
        return self.taints | self.refs


UNDEFINED = Value(fixed=True)
UNKNOWN = Value(ambient=True)


def join(values: Iterable[Value]) -> Value:
    """What may be any of these, or holds them all."""
    given = list(values)
    return Value(
        taints=NOTHING.union(*(value.taints for value in given)),
        refs=NOTHING.union(*(value.refs for value in given)),
        helpers=frozenset[Helper]().union(*(value.helpers for value in given)),
        ambient=any(value.ambient for value in given),
        fixed=all(value.fixed for value in given),
        kind=max((value.kind for value in given), default=Kind.PLAIN),
    )


class Scope:
    """Names of a block, function or module; look-ups go outwards.

    Attributes:
        level: How many conditions were open when it was made: what is assigned under more of them is joined.
    """

    def __init__(self, outer: Scope | None = None, *, level: int = 0, is_function: bool = False) -> None:
        self.names: dict[str, Value] = {}
        self.outer = outer
        self.level = level
        self.is_function = is_function or outer is None

    def get(self, name: str) -> Value | None:
        owner = self._owner(name)
        return owner.names[name] if owner is not None else None

    def function(self) -> Scope:
        """The scope in which `var` declares."""
        scope = self
        while not scope.is_function and scope.outer is not None:
            scope = scope.outer
        return scope

    def chain(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def _owner(self, name: str) -> Scope | None:
        return next((scope for scope in self.chain() if name in scope.names), None)

    def assign(self, name: str, value: Value, level: int) -> None:
        """Set a name where it is declared; weakly under a condition.

        What a function sets outside of itself shows the effects of whatever calls it.
        """
        owner = self._owner(name) or self.function()
        if owner.function() is not self.function():
            value = replace(join([owner.names.get(name, value), value]), ambient=True, fixed=False)
        elif owner.level < level and name in owner.names:
            value = replace(join([owner.names[name], value]), fixed=False)
        owner.names[name] = value

    def taint(self, name: str, taints: frozenset[str], *, escapes: bool = False) -> None:
        """The object behind a name may have changed; when it escapes, later calls may change it too."""
        owner = self._owner(name)
        known = owner.names[name] if owner is not None else None
        if owner is None or known is None or known.fixed or known.refs or known.kind not in (Kind.PLAIN, Kind.SUPPORT):
            return
        owner.names[name] = replace(known, taints=known.taints | taints, ambient=known.ambient or escapes)


def last_name(node: Node | None) -> str:
    """`c` of `a.b.c`."""
    node = unwrap(node) if node is not None else None
    if node is None:
        return ""
    if node.type == "member_expression":
        prop = node.child_by_field_name("property")
        return text_of(prop) if prop is not None else ""
    return text_of(node) if node.type == "identifier" else ""


def root_name(node: Node | None) -> str:
    """`a` of `a.b[c].d()`."""
    while node is not None:
        node = unwrap(node)
        if node.type in ("identifier", "this", "shorthand_property_identifier"):
            return text_of(node)
        node = (
            node.child_by_field_name("object")
            or node.child_by_field_name("function")
            or node.child_by_field_name("argument")
            or (next(iter(node.named_children), None) if node.type in ("await_expression", "spread_element") else None)
        )
    return ""


def names_in(node: Node) -> list[str]:
    """Every name that an expression mentions."""
    names: list[str] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type in ("identifier", "this", "shorthand_property_identifier"):
            names.append(text_of(current))
        stack += current.named_children
    return names
