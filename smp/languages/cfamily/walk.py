"""What all parts of the walk share: definitions, scopes, symbols that the link resolves, sites.

One pass in source order. Names of the file or of what it includes are not resolved here: a *symbol* is an import declaration
that says where in which scope the name stands (`:mode:scope`), and the resolver of the family looks it up
(`smp.languages.cfamily.resolve`). Only locals, parameters and template parameters are settled in the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import tree_sitter

from smp.domain.graph import NodeKind, Parameter
from smp.domain.ids import NodeId
from smp.domain.metadata import Comment
from smp.domain.source import NOTHING, Class, Damage, Extension, ImportDecl, Op, SiteKind
from smp.languages.cfamily.syntax import line_of
from smp.languages.summary_builder import SummaryBuilder

MAX_DEPTH = 250
"""Nesting that is followed; deeper code keeps the definitions found so far and loses its calls."""
MAX_OPS = 300_000
"""Ops of one file; beyond, as above."""
ANY, FREE, TYPE, TAG, CLASS_ONLY, DECLARATION = "any", "free", "type", "tag", "class", "declaration"
"""Modes of a symbol: a value; a value that is no member of the class around; a type; `struct name`; a class (what stands before
`::`, if it is one); the definition of what this file declares."""


@dataclass(eq=False, slots=True)
class Definition:
    """A named thing of the file, and what its node will say."""

    kind: NodeKind
    name: str
    unique: str
    index: int
    node_id: NodeId
    parent: NodeId
    node: tree_sitter.Node
    end: tree_sitter.Node | None = None
    signature: str = ""
    parameters: tuple[Parameter, ...] = ()
    return_type: str | None = None
    exported: bool = True
    modifiers: tuple[str, ...] = ()
    docstring: str | None = None
    decisions: int = 0
    comments: list[Comment] = field(default_factory=list)
    throws: set[str] = field(default_factory=set)


@dataclass(eq=False, slots=True)
class Frame:
    """One run of code. receiver: op of `this`, or of the class in static methods; NOTHING in plain functions."""

    owner: int
    function: int = NOTHING
    receiver: int = NOTHING
    definition: Definition | None = None
    returns: list[int] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class ClassDraft:
    """A class whose parts are still being found."""

    index: int
    name: str
    definition: int
    owner: int
    bases: list[int] = field(default_factory=list)
    base_lines: list[int] = field(default_factory=list)
    members: list[tuple[str, int]] = field(default_factory=list)
    static_members: list[tuple[str, int]] = field(default_factory=list)
    annotations: dict[str, int] = field(default_factory=dict)
    flags: int = 0
    type_params: tuple[str, ...] = ()
    public: bool = True

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
            static_members=tuple(self.static_members),
            flags=self.flags,
            type_params=self.type_params,
        )


class WalkState:
    """The state of the walk over one file."""

    def __init__(self, builder: SummaryBuilder, *, cpp: bool) -> None:
        self.b = builder
        self.cpp = cpp
        self.definitions: list[Definition] = []
        self.damage: list[Damage] = []
        self.space: tuple[str, ...] = ()
        """Namespaces and classes around, for names."""
        self.internal = False
        """Inside an unnamed namespace."""
        self.parent: NodeId = NodeId(builder.definitions[0])
        self.cls: ClassDraft | None = None
        self.frame = Frame(owner=0)
        self.locals: list[dict[str, int]] = []
        self.variables: dict[int, int] = {}
        """VAR op → variable, of locals that may be written."""
        self.type_params: list[frozenset[str]] = []
        self.exports: dict[str, list[int]] = {}
        self.extensions: list[Extension] = []
        self.drafts: list[ClassDraft] = []
        self.field_order: dict[str, list[str]] = {}
        """Class name → its fields in order, for initialisers without names."""
        self.decisions = 0
        self.depth = 0
        self.cut = False
        self._symbols: dict[tuple[str, str, str], int] = {}

    # Names -----------------------------------------------------------------------------------------------------------

    def symbol(self, mode: str, parts: list[str], line: int, *, scope: tuple[str, ...] | None = None) -> int:
        """The op of a name that the link resolves; parts: the name, with its qualifiers before it."""
        around = "" if parts[0] == "" else "::".join(self.space if scope is None else scope)
        qualifier = "::".join(part for part in parts[:-1] if part)
        key = (mode, f"{around}|{qualifier}", parts[-1])
        index = self._symbols.get(key)
        if index is None:
            index = self._symbols[key] = len(self.b.imports)
            self.b.imports.append(ImportDecl(f":{mode}:{around}|{qualifier}", parts[-1], line, 0))
        return self.b.shared(Op.IMPORT, index)

    def local(self, name: str) -> int | None:
        """The op of a local name; NOTHING for one that holds nothing of interest; None if no local has the name."""
        for names in reversed(self.locals):
            found = names.get(name)
            if found is not None:
                return found
        return None

    def is_type_param(self, name: str) -> bool:
        """Whether a name is a template parameter."""
        return any(name in names for names in self.type_params)

    def bind(self, name: str, value: int, *, plain: bool = False) -> None:
        """Declares a local. plain: it never holds a callable or an instance."""
        if not self.locals:
            return
        if plain:
            self.locals[-1][name] = NOTHING
            return
        variable = self.b.variable(name)
        read = self.b.shared(Op.VAR, variable)
        self.variables[read] = variable
        self.locals[-1][name] = read
        if value != NOTHING:
            self.b.op(Op.STORE, variable, value)

    def assign(self, name: str, value: int) -> None:
        """Writes a local."""
        read = self.local(name)
        if read is None or read == NOTHING or value == NOTHING:
            return
        variable = self.variables.get(read)
        if variable is None:  # a parameter: from here on it holds either
            for names in reversed(self.locals):
                if name in names:
                    variable = self.b.variable(name)
                    names[name] = self.b.shared(Op.VAR, variable)
                    self.variables[names[name]] = variable
                    self.b.op(Op.STORE, variable, read)
                    break
        if variable is not None:
            self.b.op(Op.STORE, variable, value)

    def export(self, name: str, op: int, *, internal: bool = False, tag: bool = False) -> None:
        """Makes a name of the present scope known to other files; see `smp.languages.cfamily.resolve` for the marks."""
        full = "::".join((*self.space, name))
        mark = "#" if tag and not self.cpp else "." if internal or self.internal else ""
        self.exports.setdefault(mark + full, []).append(op)

    # Definitions -------------------------------------------------------------------------------------------------------

    def define(self, kind: NodeKind, parts: list[str], node: tree_sitter.Node) -> Definition:
        """A new definition in the present scope."""
        qualname = ".".join((*self.space, *(part for part in parts if part)))
        unique = self.b.unique_qualname(qualname)
        index, node_id = self.b.define(kind, unique)
        shown = parts[-1] + unique[len(qualname) :]
        made = Definition(kind, shown, unique, index, node_id, self.parent, node)
        self.definitions.append(made)
        return made

    # Sites -----------------------------------------------------------------------------------------------------------

    def use(self, value: int, node: tree_sitter.Node) -> None:
        """Notes that a value leaves here."""
        if value != NOTHING and self.b.ops[value][0] != Op.CONST:
            self.b.site(SiteKind.USE, value, owner=self.frame.owner, line=line_of(node))

    def refer(self, value: int, node: tree_sitter.Node) -> None:
        """Notes that a type is named here."""
        if value != NOTHING and self.b.ops[value][0] == Op.IMPORT:
            self.b.site(SiteKind.REFERENCE, value, owner=self.frame.owner, line=line_of(node))

    def decide(self) -> None:
        """Counts a decision of the code that runs here."""
        if self.frame.definition is not None:
            self.frame.definition.decisions += 1
        else:
            self.decisions += 1

    def too_deep(self, node: tree_sitter.Node) -> bool:
        """Whether a bound is reached; says so once a file."""
        if self.depth <= MAX_DEPTH and len(self.b.ops) <= MAX_OPS:
            return False
        if not self.cut:
            self.cut = True
            message = "code nested too deeply or file too long: calls are left out"
            self.damage.append(Damage(line=line_of(node), message=message))
        return True
