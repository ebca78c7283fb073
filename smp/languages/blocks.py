"""The walk of languages whose names live in blocks: what each name holds here, branches, closures, sites.

Names of an enclosing function are read by a closure at any time; within a function a read is what was stored last. A walk
runs function bodies after all declarations, so that an edit of a body moves no op of a declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import tree_sitter

from smp.domain.ids import FilePath
from smp.domain.metadata import Metadata
from smp.domain.source import NOTHING, ArgKind, Damage, FileAnalysis, Op, SiteKind
from smp.languages.declared import MAX_DAMAGE, Definitions, Survey, damage_of, line_of, one_line, text_of
from smp.languages.nodes import file_node
from smp.languages.summary_builder import SummaryBuilder

MAX_DEPTH = 120
"""Nesting that is followed; deeper code keeps its definitions and loses its calls."""
MAX_OPS = 200_000
"""Ops of one file; beyond, as above."""
MAX_BYTES = 1_000_000
"""Larger files keep their definitions; their calls are not followed (design/linking.md section 1)."""
_LONG = 2000
_LEAVES = frozenset({int(Op.FUNC), int(Op.CLASS), int(Op.IMPORT), int(Op.VAR), int(Op.UNBOUND), int(Op.ATTR)})
"""What may name a function, a class or a variable."""


class Local:
    """A variable of a function.

    Attributes:
        stored: Everything that it is given. shared: another function writes it, so that a read is of any time.
    """

    __slots__ = ("frame", "name", "shared", "stored", "variable")

    def __init__(self, name: str, frame: Frame) -> None:
        self.name = name
        self.frame = frame
        self.stored: list[int] = []
        self.shared = False
        self.variable = NOTHING


class Frame:
    """A function that is being walked."""

    __slots__ = ("function", "locals", "named", "owner", "receiver", "returns")

    def __init__(self, owner: int, function: int = NOTHING) -> None:
        self.owner = owner
        self.function = function
        self.returns: list[int] = []
        self.named: list[str] = []
        self.locals: list[Local] = []
        self.receiver = NOTHING


Values = dict[Local, int]


class BlockWalk:
    """What the walks of block-scoped languages share."""

    def __init__(self, path: FilePath, language: str) -> None:
        self.path = path
        self.language = language
        self.b = SummaryBuilder(path)
        self.definitions = Definitions(path, language, self.b)
        self.scopes: list[dict[str, Local | int]] = [{}]
        self.values: Values = {}
        self.frame = Frame(0)
        self.depth = 0
        self.damage: list[Damage] = []
        self._cut = False

    def analysis(
        self,
        content: bytes,
        survey: Survey,
        *,
        shown: tree_sitter.Node,
        role: str,
        docstring: str | None,
        documented: Iterable[int],
    ) -> FileAnalysis:
        """The finished analysis of a file. shown: the tree that its damage is told from; documented: see `Definitions.nodes`."""
        head = file_node(
            self.path,
            content,
            language=self.language,
            role=role,
            metadata=Metadata(docstring=docstring),
            complexity=1 + self.definitions.file_decisions(survey),
        )
        return FileAnalysis(
            path=self.path,
            language=self.language,
            nodes=(head, *self.definitions.nodes(survey, documented)),
            edges=self.definitions.edges(),
            summary=self.b.finish(),
            damage=tuple([*damage_of(shown), *self.damage][:MAX_DAMAGE]),
        )

    # Names -----------------------------------------------------------------------------------------------------------

    def bind(self, name: str, op: int) -> None:
        """Makes a name of the present scope stand for one op."""
        self.scopes[-1][name] = op

    def find(self, name: str) -> Local | int | None:
        """What a name means here; None if nothing in the file binds it."""
        for scope in reversed(self.scopes):
            known = scope.get(name)
            if known is not None:
                return known
        return None

    def declare(self, name: str, value: int) -> None:
        """A new variable of the present block."""
        local = Local(name, self.frame)
        self.frame.locals.append(local)
        self.scopes[-1][name] = local
        self.store(local, value)

    def store(self, local: Local, value: int) -> None:
        """A variable is given a value."""
        if local.frame is not self.frame:
            local.shared = True
        local.stored.append(value)
        self.values[local] = value

    def read(self, local: Local) -> int:
        """What a variable holds here."""
        if local.frame is self.frame and not local.shared and local in self.values:
            return self.values[local]
        if local.variable == NOTHING:
            local.variable = self.b.variable(local.name)
        return self.b.shared(Op.VAR, local.variable)

    def unbound(self, name: str) -> int:
        """A name that the file does not bind."""
        return self.b.shared(Op.UNBOUND, self.b.name(name))

    def load(self, name: str) -> int:
        """The value of a name."""
        known = self.find(name)
        if known is None:
            return self.unbound(name)
        return self.read(known) if isinstance(known, Local) else known

    # Blocks and branches ---------------------------------------------------------------------------------------------

    def enter(self) -> None:
        """A block begins."""
        self.scopes.append({})

    def leave(self) -> None:
        """A block ends."""
        self.scopes.pop()

    def branches(self, runs: Iterable[Callable[[], bool]], *, falls_through: bool) -> bool:
        """Runs alternatives, each on what held before, and joins what they leave; True when all of them ended.

        falls_through: it may be that none of them runs.
        """
        start = self.values
        alive: list[Values] = [dict(start)] if falls_through else []
        for run in runs:
            self.values = dict(start)
            if not run():
                alive.append(self.values)
        if not alive:
            self.values = dict(start)
            return True
        first = alive[0]
        joined: Values = {}
        for local, value in first.items():
            others = [values.get(local, value) for values in alive[1:]]
            joined[local] = value if all(other == value for other in others) else self.b.phi([value, *others])
        self.values = joined
        return False

    def forget(self, names: Iterable[str]) -> None:
        """Before a loop: what it writes is read as of any time from here on."""
        for name in names:
            known = self.find(name)
            if isinstance(known, Local):
                known.shared = True

    def finish_frame(self, frame: Frame) -> None:
        """Writes the stores of the variables that were read as of any time."""
        for local in frame.locals:
            if local.variable != NOTHING:
                for value in dict.fromkeys(local.stored):
                    if value != NOTHING:
                        self.b.op(Op.STORE, local.variable, value)

    # Ops and sites ---------------------------------------------------------------------------------------------------

    def instance(self, type_op: int) -> int:
        """A value declared to be of a type."""
        return self.b.shared(Op.INSTANCE, type_op) if type_op != NOTHING else NOTHING

    def attribute(self, value: int, name: str) -> int:
        """`value.name`."""
        return self.b.op(Op.ATTR, value, self.b.name(name)) if value != NOTHING else NOTHING

    def made(self, type_op: int) -> int:
        """A new value of exactly that type."""
        if type_op == NOTHING:
            return NOTHING
        plain = self.b.ops[type_op][0] in (Op.CLASS, Op.UNBOUND, Op.ATTR, Op.IMPORT, Op.VAR)
        return self.b.op(Op.NEW, type_op) if plain else self.instance(type_op)

    def applied(self, name: str, *arguments: int) -> int:
        """A type of the language itself with its arguments."""
        return self.b.shared(Op.APPLY, self.unbound(name), *arguments)

    def use(self, value: int, node: tree_sitter.Node) -> None:
        """Notes that a value leaves here, if it may be a function or class."""
        if value != NOTHING and self.b.ops[value][0] in _LEAVES:
            self.b.site(SiteKind.USE, value, owner=self.frame.owner, line=line_of(node))

    def refer(self, value: int, node: tree_sitter.Node) -> None:
        """Notes that a type is named here."""
        if value != NOTHING:
            self.b.site(SiteKind.REFERENCE, value, owner=self.frame.owner, line=line_of(node))

    def call(self, callee: int, operands: list[int], callee_node: tree_sitter.Node, name: tree_sitter.Node) -> int:
        """A call and its site. name: where the callee's own name stands."""
        value = self.b.op(Op.CALL, callee, *operands)
        long = callee_node.end_byte - callee_node.start_byte > _LONG
        shown = one_line(text_of(name if long else callee_node))
        self.b.site(SiteKind.CALL, value, owner=self.frame.owner, line=line_of(name), text=shown)
        return value

    def positional(self, values: Iterable[int]) -> list[int]:
        """Operands of a call for plain arguments."""
        return [operand for value in values for operand in (int(ArgKind.POSITIONAL), NOTHING, value)]

    def too_deep(self, node: tree_sitter.Node) -> bool:
        """Whether a bound is reached; says so once a file."""
        if self.depth <= MAX_DEPTH and len(self.b.ops) <= MAX_OPS:
            return False
        if not self._cut:
            self._cut = True
            message = "code nested too deeply or file too long: calls are left out"
            self.damage.append(Damage(line=line_of(node), message=message))
        return True
