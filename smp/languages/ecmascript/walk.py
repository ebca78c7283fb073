"""Walks a file in execution order and writes its summary: names, branches, frames, and the order of work.

Statements, expressions, types, classes and modules are mixed in from their own modules. Function bodies wait until the code
around them has been walked, because they run later: every name of the enclosing scopes is then bound.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import tree_sitter

from smp.domain.graph import NodeKind
from smp.domain.source import NOTHING, Class, ClassFlag, Damage, Op, SiteKind
from smp.languages.ecmascript.outline import Outline
from smp.languages.ecmascript.scopes import Binding, Scope, Scopes
from smp.languages.ecmascript.syntax import line_of
from smp.languages.summary_builder import SummaryBuilder

MAX_DEPTH = 120
"""Nesting that is followed; each level costs up to five Python frames. Deeper code keeps its definitions and loses its calls."""
MAX_OPS = 200_000
"""Ops of one file; beyond, as above."""
_NONE_VALUES = frozenset({"undefined", "arguments", "NaN", "Infinity"})
FIXED_KINDS = frozenset({"import", "class", "enum", "namespace", "interface", "alias"})


@dataclass(eq=False, slots=True)
class Frame:
    """One run of code: the file, a function, a static block.

    Attributes:
        scope: The function's scope. owner: definition that its calls belong to. function: index, NOTHING for the file.
        this: Op of `this`; NOTHING where nothing is known of it.
        draft: The class whose method it is, for `super`.
        returning: Type op of what it declares to return. values: What each of its own names holds now.
    """

    scope: Scope
    owner: int
    function: int = NOTHING
    this: int = NOTHING
    draft: ClassDraft | None = None
    returning: int = NOTHING
    values: dict[Binding, int] = field(default_factory=dict)
    returns: list[int] = field(default_factory=list)
    yields: list[int] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class ClassDraft:
    """A class or interface whose parts are still being found; merged declarations share one."""

    index: int
    name: str
    definition: int
    owner: int
    bases: list[int] = field(default_factory=list)
    base_lines: list[int] = field(default_factory=list)
    implements: list[int] = field(default_factory=list)
    implement_lines: list[int] = field(default_factory=list)
    members: list[tuple[str, int]] = field(default_factory=list)
    static_members: list[tuple[str, int]] = field(default_factory=list)
    annotations: dict[str, int] = field(default_factory=dict)
    flags: int = 0
    type_params: tuple[str, ...] = ()

    def finish(self) -> Class:
        """The finished class."""
        return Class(
            name=self.name,
            definition=self.definition,
            owner=self.owner,
            bases=tuple(self.bases),
            implements=tuple(self.implements),
            base_lines=tuple(self.base_lines + self.implement_lines),
            members=tuple(self.members),
            annotations=tuple(self.annotations.items()),
            static_members=tuple(self.static_members),
            flags=self.flags,
            type_params=self.type_params,
        )


class WalkState:
    """What all parts of the walk share."""

    def __init__(self, root: tree_sitter.Node, scopes: Scopes, outline: Outline, builder: SummaryBuilder) -> None:
        self.root = root
        self.scopes = scopes
        self.outline = outline
        self.b = builder
        self.scope = scopes.file
        self.frame = Frame(scope=scopes.file, owner=0)
        self.file_frame = self.frame
        self.waiting: deque[Callable[[], None]] = deque()
        self.fixed: dict[Binding, int] = {}
        self.stores: dict[Binding, list[int]] = {}
        self.foreign: dict[Binding, list[int]] = {}
        self.drafts: list[ClassDraft] = []
        self.draft_of: dict[Binding, ClassDraft] = {}
        self.bounds: dict[Binding, int] = {}
        self.alias = ""
        self.doc_line = 0
        """Where the comment stands whose types are read; they are parsed by themselves and know no line."""
        self.members: dict[tuple[Binding | None, Scope, tuple[str, ...]], Binding] = {}
        self.members_of: dict[tuple[Binding | None, Scope], list[Binding]] = {}
        self.depth = 0
        self.conditional = 0
        self.damage: list[Damage] = []
        self.cut = False
        self.named_this: set[int] = set()
        """Ops that `this` was written for."""

    # Names -----------------------------------------------------------------------------------------------------------

    def load(self, name: str) -> int:
        """The value of a name read here."""
        binding = self.scope.find(name)
        if binding is not None:
            return self.load_binding(binding)
        return NOTHING if name in _NONE_VALUES else self.b.shared(Op.UNBOUND, self.b.name(name))

    def load_binding(self, binding: Binding) -> int:
        """The value of a binding read here: the one last written in this run of code, or the one of any time."""
        fixed = self.fixed.get(binding)
        if fixed is not None:
            return fixed
        if binding.scope.owner is self.frame.scope and not binding.foreign_write:
            value = self.frame.values.get(binding)
            if value is not None:
                return value
        return self.variable(binding)

    def variable(self, binding: Binding) -> int:
        """The value of a binding at any time."""
        if binding.variable == NOTHING:
            module = binding.scope is self.scopes.file
            declared = self.outline.named(binding.name) if module else None
            index = declared.index if declared is not None and declared.kind is NodeKind.VARIABLE else NOTHING
            binding.variable = self.b.variable(binding.name, definition=index, module=module)
        return self.b.shared(Op.VAR, binding.variable)

    def member_binding(self, path: tuple[str, ...], *, make: bool = True) -> Binding | None:
        """A member such as `this.item` as if it were a variable of this run of code: what conditions say of it is kept there."""
        root = None if path[0] == "this" else self.scope.find(path[0])
        if len(path) < 2 or (root is None and path[0] != "this"):
            return None
        key = (root, self.frame.scope, path[1:])
        if key not in self.members and make:
            made = self.members[key] = Binding(path[0], "member", self.frame.scope)
            self.members_of.setdefault((root, self.frame.scope), []).append(made)
        return self.members.get(key)

    def forget_members(self, root: Binding | None) -> None:
        """Nothing that was said of the members of a variable (of `this`) holds any longer."""
        for member in self.members_of.get((root, self.frame.scope), ()):
            self.frame.values.pop(member, None)

    def write(self, binding: Binding | None, value: int) -> None:
        """Binds a name here."""
        if binding is None:
            return
        self.forget_members(binding)
        if binding.scope.owner is self.frame.scope:
            self.frame.values[binding] = value
            self.stores.setdefault(binding, []).append(value)
        else:
            self.foreign.setdefault(binding, []).append(value)

    def fix(self, binding: Binding, value: int) -> None:
        """Makes a name hold one value for good, wherever it is read."""
        self.fixed[binding] = value

    # Branches --------------------------------------------------------------------------------------------------------

    def branch(self, run: Callable[[], bool], start: dict[Binding, int]) -> tuple[dict[Binding, int], bool]:
        """Runs code on a copy of what names hold; gives what they hold after, and whether it ended by return or throw."""
        self.frame.values = dict(start)
        ended = run()
        return self.frame.values, ended

    def join(self, branches: Iterable[tuple[dict[Binding, int], bool]]) -> bool:
        """Continues with what any branch left that did not end; True when all have ended."""
        every = list(branches)
        alive = [values for values, ended in every if not ended]
        if not alive:
            if every:
                self.frame.values = every[0][0]
            return bool(every)
        if len(alive) == 1:
            self.frame.values = alive[0]
            return False
        joined: dict[Binding, int] = {}
        for binding, value in alive[0].items():
            others = [values.get(binding) for values in alive[1:]]
            if all(other == value for other in others):
                joined[binding] = value
            elif None not in others:
                joined[binding] = self.b.phi([value, *(other for other in others if other is not None)])
        self.frame.values = joined
        return False

    def forget_written(self, node: tree_sitter.Node) -> None:
        """Before a loop: names that it writes hold, from its second round on, what any of its rounds left."""
        names = self.scopes.written_between(node.start_byte, node.end_byte)
        if names:
            values = self.frame.values
            self.frame.values = {binding: value for binding, value in values.items() if binding.name not in names}

    # Sites -----------------------------------------------------------------------------------------------------------

    def use(self, value: int, node: tree_sitter.Node) -> None:
        """Notes that a value leaves here."""
        self.b.site(SiteKind.USE, value, owner=self.frame.owner, line=line_of(node))

    def refer(self, value: int, node: tree_sitter.Node) -> None:
        """Notes that a type is named here."""
        if value != NOTHING and self.b.ops[value][0] != Op.UNBOUND:
            self.b.site(SiteKind.REFERENCE, value, owner=self.frame.owner, line=self.doc_line or line_of(node))

    # Classes ---------------------------------------------------------------------------------------------------------

    def new_draft(self, name: str, definition: int, *, interface: bool = False) -> ClassDraft:
        """Reserves a class."""
        draft = ClassDraft(self.b.class_slot(), name, definition, self.frame.owner)
        draft.flags = int(ClassFlag.INTERFACE) if interface else 0
        self.drafts.append(draft)
        return draft

    def class_op(self, draft: ClassDraft) -> int:
        """The bare class object."""
        return self.b.shared(Op.CLASS, draft.index)

    # Order of work ---------------------------------------------------------------------------------------------------

    def drain(self) -> None:
        """Walks the function bodies that wait, in source order, and those they contain."""
        while self.waiting:
            self.waiting.popleft()()

    def too_deep(self, node: tree_sitter.Node) -> bool:
        """Whether a bound is reached; says so once a file."""
        if self.depth <= MAX_DEPTH and len(self.b.ops) <= MAX_OPS:
            return False
        if not self.cut:
            self.cut = True
            message = "code nested too deeply or file too long: calls are left out"
            self.damage.append(Damage(line=line_of(node), message=message))
        return True

    def finish_variables(self) -> None:
        """Writes the stores of every variable that was read as such.

        A variable of the module holds for other code what it held at the end of the file; one of a function may be read by
        closures at any moment.
        """
        stored = sorted({*self.stores, *self.foreign}, key=lambda binding: (binding.name, binding.variable))
        for binding in stored:
            if binding.variable == NOTHING:
                continue
            values = self.stores.get(binding, [])
            if binding.scope is self.scopes.file and binding in self.file_frame.values:
                values = [self.file_frame.values[binding]]
            for value in dict.fromkeys([*values, *self.foreign.get(binding, [])]):
                if value != NOTHING:
                    self.b.op(Op.STORE, binding.variable, value)

    def finish_classes(self) -> None:
        """Turns drafts into the summary's classes."""
        for draft in self.drafts:
            self.b.classes[draft.index] = draft.finish()
