"""Names in scope, frames, classes that are being read, and sites: what walks over such languages share.

A variable's type is fixed where it is declared, so its value is known there and no branch changes it: the walk needs no joins.
Members may be inherited from other files, so an unqualified name that the file does not settle is a member of the innermost
enclosing class that has one (`Op.HOLDER`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import tree_sitter

from smp.domain.graph import NodeKind, Parameter
from smp.domain.ids import FilePath
from smp.domain.source import NOTHING, ArgKind, Class, Damage, Exports, ImportDecl, Op, SiteKind
from smp.languages.nominal.definitions import Definition
from smp.languages.nominal.packages import Header
from smp.languages.nominal.syntax import COMMENTS, line_of, one_line, text_of
from smp.languages.summary_builder import SummaryBuilder

MAX_DEPTH = 150
"""Nesting that is followed; deeper code keeps its definitions and loses its calls."""
MAX_OPS = 200_000
CONSTRUCTOR = "<init>"
"""Name under which a class keeps its constructors; no identifier can be called so."""
SIGNATURE = "(call)"
"""Name under which an interface with one method, or a delegate, keeps its signature."""
_LONG = 2000


@dataclass(eq=False, slots=True)
class TypeDraft:
    """A class or interface whose parts are still being found.

    Attributes:
        within: The frame whose code declares it (local and anonymous classes). outer: the class whose body does.
        fields, methods: Names of its own members. nested: types in its body. bounds: its type parameters.
    """

    index: int
    name: str
    definition: Definition
    node: tree_sitter.Node
    owner: int
    outer: TypeDraft | None = None
    within: Frame | None = None
    fields: set[str] = field(default_factory=set)
    methods: set[str] = field(default_factory=set)
    nested: dict[str, TypeDraft] = field(default_factory=dict)
    bounds: dict[str, int] = field(default_factory=dict)
    bases: list[int] = field(default_factory=list)
    base_lines: list[int] = field(default_factory=list)
    members: list[tuple[str, int]] = field(default_factory=list)
    static_members: list[tuple[str, int]] = field(default_factory=list)
    annotations: dict[str, int] = field(default_factory=dict)
    flags: int = 0
    extends: bool = False
    """Whether it names a base, whose types it has as its own."""
    type_params: tuple[str, ...] = ()

    def finish(self, nested: Sequence[tuple[str, int]]) -> Class:
        """The finished class; nested: the types in its body."""
        return Class(
            name=self.name,
            definition=self.definition.index,
            owner=self.owner,
            bases=tuple(self.bases),
            base_lines=tuple(self.base_lines),
            members=tuple(self.members),
            annotations=tuple(self.annotations.items()),
            static_members=(*self.static_members, *nested),
            flags=self.flags,
            type_params=self.type_params,
        )


@dataclass(eq=False, slots=True)
class Frame:
    """One run of code: a method, an initialiser.

    Attributes:
        owner: Definition that its calls belong to. this: op of the receiver. scopes: names of its variables, inner last.
        bounds: type parameters of the method.
    """

    owner: int
    draft: TypeDraft | None
    this: int = NOTHING
    function: int = NOTHING
    code: Definition | None = None
    scopes: list[dict[str, int]] = field(default_factory=lambda: [{}])
    types: dict[str, TypeDraft] = field(default_factory=dict)
    functions: dict[str, int] = field(default_factory=dict)
    bounds: dict[str, int] = field(default_factory=dict)
    result: int = NOTHING
    """Type that the code is declared to return."""
    returns: list[int] = field(default_factory=list)
    yields: list[int] = field(default_factory=list)


class NominalWalk:
    """State and primitives of a walk over one file."""

    def __init__(self, path: FilePath, builder: SummaryBuilder) -> None:
        self.path = path
        self.b = builder
        self.definitions: list[Definition] = []
        self.drafts: list[TypeDraft] = []
        self.top: dict[str, TypeDraft] = {}
        self.imported: dict[str, int] = {}
        self.static_imported: dict[str, list[int]] = {}
        self.static_stars: list[int] = []
        self.frame = Frame(owner=0, draft=None)
        self.damage: list[Damage] = []
        self.depth = 0
        self.decisions = 0
        self.cut = False
        self.offered: list[tuple[str, int]] | None = None
        """What other files see, where that is not the types at the top."""

    # Definitions -----------------------------------------------------------------------------------------------------

    def define(
        self,
        kind: NodeKind,
        name: str,
        node: tree_sitter.Node,
        *,
        parent: Definition | None,
        prefix: str = "",
    ) -> Definition:
        """A definition, entered in the summary's table."""
        head = parent.qualname if parent is not None else prefix
        plain = f"{head}.{name}" if head else name
        unique = self.b.unique_qualname(plain)
        index, node_id = self.b.define(kind, unique)
        shown = name + unique[len(plain) :]
        definition = Definition(kind, shown, unique, index, node_id, parent, node)
        self.definitions.append(definition)
        return definition

    def new_draft(self, name: str, definition: Definition, node: tree_sitter.Node) -> TypeDraft:
        """Reserves a class."""
        draft = TypeDraft(self.b.class_slot(), name, definition, node, self.frame.owner)
        self.drafts.append(draft)
        return draft

    def class_op(self, draft: TypeDraft) -> int:
        """The class object."""
        return self.b.shared(Op.CLASS, draft.index)

    def this_of(self, draft: TypeDraft) -> int:
        """Some instance of a class."""
        return self.b.shared(Op.INSTANCE, self.class_op(draft))

    # Scopes ----------------------------------------------------------------------------------------------------------

    def bind(self, name: str, value: int) -> None:
        """Declares a variable in the innermost block."""
        if name:
            self.frame.scopes[-1][name] = value

    def local(self, name: str) -> int | None:
        """The variable of a name; those of code around a local class count, members of that class come before them."""
        frame: Frame | None = self.frame
        while frame is not None:
            for scope in reversed(frame.scopes):
                if name in scope:
                    return scope[name]
            draft = frame.draft
            while draft is not None and draft.within is None:
                if name in draft.fields:
                    return None
                draft = draft.outer
            if draft is not None and name in draft.fields:
                return None
            frame = draft.within if draft is not None else None
        return None

    def enclosing(self) -> Iterator[tuple[TypeDraft, int]]:
        """Classes around the present code, innermost first, each with a receiver."""
        frame: Frame | None = self.frame
        while frame is not None and frame.draft is not None:
            draft: TypeDraft | None = frame.draft
            receiver = frame.this
            while draft is not None:
                yield draft, receiver if receiver != NOTHING else self.this_of(draft)
                receiver = NOTHING
                if draft.within is not None:
                    break
                draft = draft.outer
            frame = draft.within if draft is not None else None

    def find_type(self, name: str) -> int | None:
        """A type that the file itself knows under a name: a type parameter, a class around or beside, an import."""
        frame: Frame | None = self.frame
        while frame is not None:
            if name in frame.bounds:
                return frame.bounds[name]
            if name in frame.types:
                return self.class_op(frame.types[name])
            draft = frame.draft
            while draft is not None:
                if name in draft.bounds:
                    return draft.bounds[name]
                if draft.name == name:
                    return self.class_op(draft)
                if name in draft.nested:
                    return self.class_op(draft.nested[name])
                if draft.within is not None:
                    break
                draft = draft.outer
            frame = draft.within if draft is not None else None
        if name in self.top:
            return self.class_op(self.top[name])
        return self.imported.get(name)

    def unbound(self, name: str) -> int:
        """A name that the file does not settle: of the package, of the language, or unknown."""
        return self.b.shared(Op.UNBOUND, self.b.name(name))

    def open_type(self, name: str) -> int:
        """A type that the file does not settle: inherited by a class around, else of the package or the language."""
        value = self.unbound(name)
        classes = [self.class_op(draft) for draft, _ in self.enclosing() if draft.extends]
        return self.b.shared(Op.MEMBER_TYPE, value, *classes) if classes else value

    # Members ---------------------------------------------------------------------------------------------------------

    def holder(self, name: str, receivers: Sequence[int]) -> int:
        """The first of several receivers whose class has a member of that name."""
        if len(receivers) == 1:
            return receivers[0]
        return self.b.op(Op.HOLDER, self.b.name(name), *receivers)

    def own_member(self, name: str, *, method: bool) -> int:
        """An unqualified member: of the innermost class that has it, by itself or inherited."""
        receivers: list[int] = []
        for draft, receiver in self.enclosing():
            receivers.append(receiver)
            if name in (draft.methods if method else draft.fields):
                return self.b.op(Op.ATTR, self.holder(name, receivers), self.b.name(name))
        direct = self.static_imported.get(name)
        if direct:
            return self.b.phi(direct)
        receivers += self.static_stars
        if not receivers:
            return NOTHING
        return self.b.op(Op.ATTR, self.holder(name, receivers), self.b.name(name))

    def is_own_field(self, name: str) -> bool:
        """Whether a class around has a field of that name in this file."""
        return any(name in draft.fields for draft, _ in self.enclosing())

    def attribute(self, value: int, name: str, node: tree_sitter.Node) -> int:
        """Reads a member."""
        if value == NOTHING:
            return NOTHING
        result = self.b.op(Op.ATTR, value, self.b.name(name))
        self.b.site(SiteKind.GET, result, owner=self.frame.owner, line=line_of(node))
        return result

    # Calls -----------------------------------------------------------------------------------------------------------

    def call(self, callee: int, operands: list[int], line: int, text: str, *, new: bool = False) -> int:
        """A call or construction, with its site."""
        value = self.b.op(Op.NEW if new else Op.CALL, callee, *operands)
        self.b.site(SiteKind.CALL, value, owner=self.frame.owner, line=line, text=text)
        return value

    def text_to(self, node: tree_sitter.Node, last: tree_sitter.Node) -> str:
        """A callee's text: from the start of a call to the end of its name."""
        if last.end_byte - node.start_byte > _LONG:
            return text_of(last)
        raw = node.text or b""
        return one_line(raw[: last.end_byte - node.start_byte].decode("utf-8", errors="replace"))

    def positional(self, values: Sequence[int]) -> list[int]:
        """Operands of positional arguments."""
        operands: list[int] = []
        for value in values:
            operands += (int(ArgKind.POSITIONAL), NOTHING, value)
        return operands

    def protocol(self, value: int, names: Sequence[str], node: tree_sitter.Node) -> None:
        """Methods that syntax runs on a value."""
        if value != NOTHING:
            self.b.site(SiteKind.PROTOCOL, value, owner=self.frame.owner, line=line_of(node), names=tuple(names))

    def instance(self, type_op: int) -> int:
        """A value of a declared type."""
        return self.b.shared(Op.INSTANCE, type_op) if type_op != NOTHING else NOTHING

    def refer(self, value: int, node: tree_sitter.Node) -> None:
        """Notes that a type is named here."""
        if value != NOTHING:
            self.b.site(SiteKind.REFERENCE, value, owner=self.frame.owner, line=line_of(node))

    def use(self, value: int, node: tree_sitter.Node) -> None:
        """Notes that a function leaves by name here."""
        if value != NOTHING:
            self.b.site(SiteKind.USE, value, owner=self.frame.owner, line=line_of(node))

    def declare_import(self, module: str, name: str, line: int, *, bound: str = "", local: bool = False) -> int:
        """An import; its op."""
        self.b.imports.append(ImportDecl(module, name, line, self.frame.owner, bound=bound, local=local))
        return self.b.shared(Op.IMPORT, len(self.b.imports) - 1)

    # Book-keeping ----------------------------------------------------------------------------------------------------

    def decide(self) -> None:
        """A decision of the present code."""
        if self.frame.code is not None:
            self.frame.code.decisions += 1
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

    def note_damage(self, root: tree_sitter.Node) -> None:
        """Every place that did not parse, with the definition around it."""
        if not root.has_error:
            return
        stack = [root]
        while stack:
            node = stack.pop()
            if node.type == "ERROR" or node.is_missing:
                around = [d for d in self.definitions if d.node.start_byte <= node.start_byte < d.node.end_byte]
                lost = min(around, key=lambda d: d.node.end_byte - d.node.start_byte).qualname if around else ""
                what = f"{node.type!r} is missing" if node.is_missing else "this part does not parse"
                self.damage.append(Damage(line=line_of(node), message=what, lost=lost))
            stack.extend(child for child in reversed(node.children) if child.has_error or child.is_missing)

    def finish(self, header: Header) -> None:
        """Fills what the builder still lacks."""
        for draft in self.drafts:
            nested = [(name, self.class_op(inner)) for name, inner in draft.nested.items()]
            self.b.classes[draft.index] = draft.finish(nested)
        stars = tuple(at for at, declaration in enumerate(self.b.imports) if declaration.name == "*")
        offered = self.offered if self.offered is not None else [(n, self.class_op(d)) for n, d in self.top.items()]
        self.b.exports = Exports(names=tuple(offered), stars=stars, listed=())
        self.b.module_kind = header.text()
        self.definitions.sort(key=lambda d: (d.node.start_byte, -d.node.end_byte, d.index))


def parameter(name: str, kind: str, annotation: str | None, *, required: bool) -> Parameter:
    """A parameter of a node."""
    return Parameter(name=name, kind=kind, annotation=annotation, required=required)


def is_comment(node: tree_sitter.Node) -> bool:
    """Whether a node is a comment."""
    return node.type in COMMENTS
