"""Walks a file in execution order and writes its summary: state, names, branches, and the order of work.

Statements and expressions are mixed in from their own modules. Function bodies wait until the code around them has
been walked, because they run later: they then find every name of the enclosing scopes bound.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import tree_sitter

from smp.domain.source import NOTHING, Class, Damage, Op
from smp.languages.python import grammar as g
from smp.languages.python.definitions import Definition, Extractor
from smp.languages.python.scopes import CLASS, COMPREHENSION, FUNCTION, LAMBDA, MODULE, Bindings, Layer, Scope
from smp.languages.summary_builder import SummaryBuilder

MAX_DEPTH = 150
"""Nesting of expressions and statements that is followed; deeper code keeps its definitions and loses its calls."""
MAX_OPS = 200_000
"""Ops of one file; beyond, as above."""


class WalkState:
    """What statements and expressions share."""

    def __init__(self, source: bytes, extractor: Extractor, bindings: dict[int, Bindings]) -> None:
        self.source = source
        self.extractor = extractor
        self.bindings = bindings
        self.b: SummaryBuilder = extractor.builder
        self.module = Scope(MODULE, None, bindings[-1], owner=0)
        self.scope = self.module
        self.scopes: list[Scope] = [self.module]
        self.waiting: deque[Callable[[], None]] = deque()
        self.depth = 0
        self.type_only = False
        self.in_condition = 0
        self.patterns: dict[tuple[int, str], tuple[str, str]] = {}
        """Per owner and variable how the computed name in it begins and ends."""
        self.loops: list[tuple[int, list[Layer]]] = []
        self.damage: list[Damage] = []
        self.drafts: list[ClassDraft] = []
        self.listed: list[str] | None = None
        self.listed_known = True
        self.cut = False

    def text(self, node: tree_sitter.Node) -> str:
        """Source text of a node."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    # Names -----------------------------------------------------------------------------------------------------------

    def load(self, name: str) -> int:
        """The value of a name read here."""
        scope: Scope = self.scope
        inline = True
        while scope.kind != MODULE:
            bindings = scope.bindings
            if scope.kind == CLASS:
                if scope is self.scope:
                    value = scope.lookup(name)
                    if value is not None:
                        return value
            elif name in bindings.globals:
                inline = False
                scope = self.module
                break
            elif name in bindings.names:
                value = scope.lookup(name) if inline else None
                return self.variable(scope, name) if value is None else self.present(scope, name, value)
            if scope.kind in (FUNCTION, LAMBDA):
                inline = False
            assert scope.parent is not None
            scope = scope.parent
        if inline:
            value = scope.lookup(name)
            if value is not None:
                return self.present(scope, name, value)
        if name in self.module.bindings.names:
            return self.variable(self.module, name)
        return self.b.shared(Op.UNBOUND, self.b.name(name))

    def variable(self, scope: Scope, name: str) -> int:
        """The value of a variable at any time."""
        index = scope.variables.get(name)
        if index is None:
            index = scope.variables[name] = self.b.variable(name, module=scope.kind == MODULE)
        return self.b.shared(Op.VAR, index)

    def present(self, scope: Scope, name: str, value: int) -> int:
        """The value last stored; or what a scope further in may have stored since, where one does."""
        if name not in scope.bindings.rebound:
            return value
        index = scope.rebindings.get(name)
        if index is None:
            index = scope.rebindings[name] = self.b.variable(name, module=scope.kind == MODULE)
        return self.b.phi([value, self.b.shared(Op.VAR, index)])

    def write(self, name: str, value: int, *, definition: bool = False) -> None:
        """Binds a name here."""
        scope = self.scope
        while scope.kind == COMPREHENSION and name not in scope.bindings.names and scope.parent is not None:
            scope = scope.parent
        if name in scope.bindings.globals:
            self.module.foreign.setdefault(name, []).append(value)
            return
        if name in scope.bindings.nonlocals:
            outer = scope.parent
            while outer is not None and not (outer.kind in (FUNCTION, LAMBDA) and name in outer.bindings.names):
                outer = outer.parent
            if outer is not None:
                outer.writes.setdefault(name, []).append((value, 0))
                outer.foreign.setdefault(name, []).append(value)
            return
        layer = scope.layers[-1]
        if scope.kind != MODULE:
            written = scope.writes.setdefault(name, [])
            mark = id(layer) if definition else 0
            # A definition right after another of the same name, in the same branch, replaces it for closures too.
            if definition and written and written[-1][1] == mark:
                written.pop()
            written.append((value, mark))
        layer[name] = value
        layer.narrowed.pop(name, None)

    # Branches --------------------------------------------------------------------------------------------------------

    def push(self) -> None:
        """Begins a branch."""
        self.scope.layers.append(Layer())

    def pop(self) -> Layer:
        """Ends a branch; its layer is to be given to `join`."""
        return self.scope.layers.pop()

    def join(self, branches: list[tuple[Layer, bool]]) -> bool:
        """Merges branches, (layer, ended by return or raise …) each, into the layer below.

        Returns:
            Whether all have ended, so that code behind is not reached through them.
        """
        alive = [layer for layer, ended in branches if not ended]
        if not alive:
            return bool(branches)
        scope = self.scope
        names = {name for layer in alive for name in layer}
        for name in sorted(names):
            before = scope.lookup(name)
            values: list[int] = []
            narrowed = True
            for layer in alive:
                value = layer.get(name)
                change = layer.narrowed.get(name)
                if value is None:
                    value = before
                elif change is not None and value == change[1]:
                    if len(alive) > 1:
                        value = change[0]
                else:
                    narrowed = False
                if value is not None:
                    values.append(value)
            if narrowed and len(alive) > 1:
                continue
            scope.layers[-1][name] = self.b.phi(values)
            if narrowed and before is not None:
                scope.layers[-1].narrowed[name] = (before, scope.layers[-1][name])
        return False

    # Order of work ---------------------------------------------------------------------------------------------------

    def enter_scope(self, scope: Scope) -> Scope:
        """Makes a scope the present one; returns the one before, to be restored by assignment."""
        before = self.scope
        self.scope = scope
        self.scopes.append(scope)
        return before

    def drain(self) -> None:
        """Walks the function bodies that wait, in source order, and those they contain."""
        while self.waiting:
            self.waiting.popleft()()

    def definition_at(self, node: tree_sitter.Node) -> Definition | None:
        """The definition that a function_definition or class_definition node is."""
        return self.extractor.by_start.get(node.start_byte)

    def too_deep(self, node: tree_sitter.Node) -> bool:
        """Whether a bound is reached; says so once a file."""
        if self.depth <= MAX_DEPTH and len(self.b.ops) <= MAX_OPS:
            return False
        if not self.cut:
            self.cut = True
            line = node.start_point.row + 1
            self.damage.append(Damage(line=line, message="code nested too deeply or file too long: calls are left out"))
        return True

    def finish_variables(self) -> None:
        """Writes the stores of every variable that was read as such."""
        for scope in self.scopes:
            for name, index in scope.variables.items():
                values = [value for value, _ in scope.writes.get(name, ())] + scope.foreign.get(name, [])
                if scope.kind == MODULE:
                    at_exit = scope.lookup(name)
                    values = ([] if at_exit is None else [at_exit]) + values
                for value in dict.fromkeys(values):
                    if value != NOTHING:
                        self.b.op(Op.STORE, index, value)
            for name, index in scope.rebindings.items():
                for value in dict.fromkeys(scope.foreign.get(name, ())):
                    if value != NOTHING:
                        self.b.op(Op.STORE, index, value)

    def fill_classes(self) -> None:
        """Turns drafts into the summary's classes."""
        for draft in self.drafts:
            for name, value in draft.given:
                _, index, position = self.b.ops[value]
                function = self.b.functions[index]
                kind = function.params[position].annotation if function is not None else NOTHING
                # What is declared in terms of the class's own parameters holds for the field as well.
                if kind != NOTHING and self.b.ops[kind][0] == Op.TYPE_PARAM:
                    draft.annotations.setdefault(name, kind)
            self.b.classes[draft.index] = draft.finish()


class ClassDraft:
    """A class whose fields are still being found in its methods."""

    def __init__(self, index: int, name: str, definition: int, owner: int) -> None:
        self.index = index
        self.name = name
        self.definition = definition
        self.owner = owner
        self.bases: list[int] = []
        self.base_lines: list[int] = []
        self.members: list[tuple[str, int]] = []
        self.annotations: dict[str, int] = {}
        self.metaclass = NOTHING
        self.flags = 0
        self.type_params: list[str] = []
        self.given: list[tuple[str, int]] = []
        """Fields that a parameter was stored in, with its op."""

    def finish(self) -> Class:
        """The finished class."""
        return Class(
            name=self.name,
            definition=self.definition,
            owner=self.owner,
            bases=tuple(self.bases),
            base_lines=tuple(self.base_lines),
            members=tuple(self.members),
            annotations=tuple(self.annotations.items()),
            metaclass=self.metaclass,
            flags=self.flags,
            type_params=tuple(self.type_params),
        )


__all__ = ["ClassDraft", "WalkState", "g"]
