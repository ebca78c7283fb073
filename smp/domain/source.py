"""What one file says, read without knowing any other: its nodes, and the summary that linking works on.

A summary is a small program in single-assignment form, the same for every language. Each expression that may hold a
callable, class, instance, module or container becomes an *op*; the op's index is the value's id, `NOTHING` stands for a
value nobody asks about. Names are resolved to *variables* inside the file by the language's walk (its scope rules are
local), so that linking needs no scopes: a flow-sensitive read refers to the op last stored, any other read is `VAR`.
Only what the file itself does not bind is left open: `UNBOUND` names (built-ins, star imports, mistakes) and imports.

Positions live in `line` columns only; nothing else of the summary changes when a blank line is added.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, IntFlag

import msgspec
from msgspec import Struct

from smp.domain.graph import Edge, Node
from smp.domain.ids import FilePath, NodeId

NOTHING = -1
"""Operand: no value, or one that can hold nothing a call could reach."""

ANALYSIS_FORMAT = 18
"""Raised whenever the meaning or layout of a `FileAnalysis` changes; part of the key of a cached analysis."""


class Op(IntEnum):
    """Kinds of op. Operands follow the code in the op's tuple; `name` is an index into `FileSummary.names`."""

    CONST = 1
    """type name, text name | NOTHING: a literal. Type is an external dotted name (`builtins.str`); text of a string."""
    UNBOUND = 2
    """name: a name that nothing in the file binds."""
    VAR = 3
    """variable: its value at any time (closures, names stored in several places)."""
    IMPORT = 4
    """import: what the import binds."""
    FUNC = 5
    """function: the bare function object."""
    CLASS = 6
    """class: the bare class object."""
    ATTR = 7
    """object op, name: attribute read."""
    ITEM = 8
    """object op, constant key name | NOTHING, constant index | NOTHING, key op | NOTHING: subscript read."""
    CALL = 9
    """callee op, then triples (ArgKind, name | NOTHING, op): a call; its value is the result. `new C()` is NEW."""
    NEW = 10
    """As CALL, for languages that mark construction."""
    PHI = 11
    """ops: one of these, by branch."""
    SEQ = 12
    """type name, then pairs (starred 0 | 1, op): list, tuple, set, array display. One container per op."""
    MAP = 13
    """type name, then pairs (constant key name | NOTHING, op); key name -2: spread of op. Dict, object literal."""
    ITER = 14
    """op: an element, as a loop over it yields."""
    AWAIT = 15
    """op: what awaiting gives."""
    ENTER = 16
    """op: what `with` binds."""
    NARROW = 17
    """op, type op, 1 | 0: op where it is (not) an instance of type."""
    PARAM = 18
    """function, position in its `params`."""
    RECEIVER = 19
    """function: its `self`, `cls` or `this`."""
    SUPER = 20
    """class, function: the `super()` of a method of the class."""
    INSTANCE = 21
    """type op: a value declared to be of that type (annotation)."""
    APPLY = 22
    """type op, argument type ops: `list[C]`, `Map<K, V>` in a type expression."""
    UNION = 23
    """type ops: `A | B` in a type expression."""
    DECORATED = 24
    """definition op, result op of the decorator call: what a decorated name holds."""
    STORE = 25
    """variable, op: a write of a variable (statement; no value)."""
    STORE_ATTR = 26
    """object op, name, op."""
    STORE_ITEM = 27
    """object op, constant key name | NOTHING, op."""
    ALIAS_TYPE = 28
    """type op, names of type parameters: the right side of a type alias; a value that is a type expression."""
    GLOBAL = 29
    """name: an exported name of this same module, as another file would see it (monkey-patched modules)."""
    UNPACK = 30
    """op, position, 1 | 0 starred: one target of an unpacking. Position counts from the end when negative."""
    BINARY = 31
    """left op, right op: the result of an operator; see OPERATOR call sites for the method that runs."""
    TYPE_NAMES = 32
    """text name: a type written as a string that did not parse; unknown."""
    DECLARED = 33
    """op, type op: the value of a variable with a declared type: a value of the type, and of the op what is more exact."""
    PREDICATE = 34
    """op, callee op, 1 | 0 | 2: op where a call of the callee with it holds (or not, or is an assertion); see `Function.predicate`."""
    WHERE = 35
    """op, name, text name | NOTHING, 1 | 0: op where its attribute equals a text (or not), or where it has that attribute at all;
    tells members of a union apart. A member of an enumeration has a dot before its name; `(true)`: the attribute was tested."""
    HOLDER = 36
    """name, receiver ops, innermost first: the first whose class has a member of that name, by itself or inherited. NOTHING at
    the end: certainly; otherwise one from outside may."""
    MEMBER_TYPE = 38
    """unbound name op, class ops, innermost first: a type that one of these classes inherits from a base, else what the name
    means otherwise."""
    EXTENDED = 39
    """object op, name, op of the functions that extend types under that name: a method, of the object or for it."""
    NAMED_LIKE = 40
    """object op, prefix name, suffix name: an attribute whose name is computed and begins and ends so."""
    TYPE_PARAM = 37
    """name, bound type op | NOTHING: a type parameter in a type expression; what it is bound to, else its bound."""


class ArgKind(IntEnum):
    """How an argument is written in a call."""

    POSITIONAL = 0
    KEYWORD = 1
    STAR = 2
    DOUBLE_STAR = 3
    TYPE = 4
    """No argument: a type argument that the call states, as a type op; behind all arguments."""


class SiteKind(IntEnum):
    """Kinds of rows in `FileSummary.sites`."""

    CALL = 0
    """op is a CALL or NEW."""
    DECORATOR = 1
    """op is the CALL of a bare decorator on its definition."""
    PROTOCOL = 2
    """op is the receiver; `names` are tried in order on its class, all that apply are called (`__enter__`, `__exit__`)."""
    OPERATOR = 3
    """op is the left operand, `other` the right; names = (method, reflected method)."""
    GET = 4
    """op is an ATTR that is read: a call if the attribute is a property."""
    SET = 5
    """op is the object, names[0] the attribute written."""
    DELETE = 6
    USE = 7
    """op is a value that leaves by argument, store, return or container: USES if it is a function or class."""
    REFERENCE = 8
    """op is named in a type expression, an except clause, a base test: REFERENCES."""


class Site(Struct, frozen=True, array_like=True, gc=False):
    """One place in the code that may become an edge.

    Attributes:
        op: See `SiteKind`. owner: index into `definitions` of the innermost named definition (0: the file).
        text: Index into names of the callee's source text, at most 200 characters; NOTHING where there is none.
        line: 1-based line at which the expression *starts its own name* (of `a.b()` the line of the call's start).
    """

    kind: int
    op: int
    owner: int
    line: int
    text: int = NOTHING
    names: tuple[int, ...] = ()
    other: int = NOTHING


class ImportDecl(Struct, frozen=True, array_like=True, gc=False):
    """One imported name (or one whole module).

    Attributes:
        module: Module text as written (`a.b`, `./x`, empty for `from . import x`). level: leading dots (Python).
        name: Imported name; empty: the module itself; `*`: everything; `default` for a default import.
        binds_root: True for `import a.b` without alias, which binds `a`.
        type_only: For types alone. conditional: inside `try`/`if`. local: inside a function.
        line: 1-based. owner: definition in which it stands.
        bound: Local name; empty where nothing is bound (side effects, `export * from`).
        dynamic: `import("x")`, `importlib.import_module("x")`, `require("x")` in an expression.
        silent: Stands for the module at the root of a path; no statement, so no IMPORTS edge.
    """

    module: str
    name: str
    line: int
    owner: int
    level: int = 0
    bound: str = ""
    binds_root: bool = False
    type_only: bool = False
    conditional: bool = False
    local: bool = False
    dynamic: bool = False
    silent: bool = False


class Param(Struct, frozen=True, array_like=True, gc=False):
    """One parameter. kind: as `graph.Parameter.kind`; default, annotation: ops. injected: bound by a fixture of its name.
    optional: It has a default, though that may hold nothing (`= None`)."""

    name: str
    kind: str = "positional"
    default: int = NOTHING
    annotation: int = NOTHING
    injected: bool = False
    optional: bool = False


class FunctionFlag(IntFlag):
    """What is special about a function."""

    NONE = 0
    METHOD = 1
    """Defined in a class body; bound to the instance unless CLASS_METHOD or STATIC."""
    CLASS_METHOD = 2
    STATIC = 4
    PROPERTY = 8
    """Getter: reading the attribute calls it."""
    SETTER = 16
    DELETER = 32
    OVERLOAD = 64
    """Signature only; a later definition is the implementation."""
    ABSTRACT = 128
    ASYNC = 256
    GENERATOR = 512
    FIXTURE = 1024
    LAMBDA = 2048
    TEST = 4096
    RECEIVER_PARAM = 8192
    """The first entry of `params` is the receiver (Python's `self`); otherwise the receiver is implicit (`this`)."""
    ARROW = 16384
    """Takes `this` from where it is written."""
    ASSERTS = 32768
    """Its `predicate` holds whenever it returns."""
    DECORATED = 65536
    """What its decorators make of it may take other arguments."""


class Function(Struct, frozen=True, array_like=True, gc=False):
    """A function, method or lambda.

    Attributes:
        definition: Index into `definitions`; NOTHING for unnamed functions (their calls belong to `owner`).
        owner: Definition in which it stands. cls: index of the class whose body holds it, else NOTHING.
        returns, yields: Ops. annotation: type op of the declared return.
        fixtures: Names of fixtures it asks for besides its parameters (`usefixtures`, a `beforeEach` by its own name).
    """

    name: str
    definition: int
    owner: int
    cls: int = NOTHING
    flags: int = 0
    params: tuple[Param, ...] = ()
    returns: tuple[int, ...] = ()
    yields: tuple[int, ...] = ()
    annotation: int = NOTHING
    fixtures: tuple[str, ...] = ()
    predicate: int = NOTHING
    """Type op: what a true result says of the first argument."""
    extension: int = NOTHING
    """Index into `extensions`: a method that is written outside the body of its class (`cls` is NOTHING then)."""
    type_params: tuple[str, ...] = ()
    """Names of its own type parameters, in order."""


class ClassFlag(IntFlag):
    """What is special about a class."""

    NONE = 0
    INTERFACE = 1
    """Cannot be instantiated: interface, Protocol, abstract class; calls on it go to the declaration."""
    DATA = 2
    """Its constructor is made from its fields (dataclass, NamedTuple)."""
    ENUM = 4
    TEST = 8
    PARTIAL = 16
    """One of several parts that are one class; the others stand among its bases."""


class Class(Struct, frozen=True, array_like=True, gc=False):
    """A class or interface.

    Attributes:
        bases: Ops, in order. implements: ops of declared interfaces. base_lines: parallel to bases + implements.
        members: (name, op) pairs in source order: value of each class-level name at the end of the body; methods that
            share a name appear once for each that counts (getter and setter; branches).
        annotations: (name, type op) of fields declared in the body or through `self.x: T`.
        metaclass: Op. keywords: names of class keywords.
        type_params: Names of type parameters in order; params of a generic base count.
    """

    name: str
    definition: int
    owner: int
    bases: tuple[int, ...] = ()
    implements: tuple[int, ...] = ()
    base_lines: tuple[int, ...] = ()
    members: tuple[tuple[str, int], ...] = ()
    annotations: tuple[tuple[str, int], ...] = ()
    static_members: tuple[tuple[str, int], ...] = ()
    metaclass: int = NOTHING
    flags: int = 0
    type_params: tuple[str, ...] = ()


class Extension(Struct, frozen=True, array_like=True, gc=False):
    """What a file gives to a class whose body is elsewhere: Go's methods, Rust's `impl`, C++'s `C::m`.

    Attributes:
        cls: Type op of the class. members, static_members: as those of `Class`.
        implements: Type ops of interfaces that the class implements by it (`impl Trait for C`). lines: parallel to them.
    """

    cls: int
    members: tuple[tuple[str, int], ...] = ()
    static_members: tuple[tuple[str, int], ...] = ()
    implements: tuple[int, ...] = ()
    lines: tuple[int, ...] = ()


class Variable(Struct, frozen=True, array_like=True, gc=False):
    """A variable of any scope. definition: its Variable node, else NOTHING. module: True at module level."""

    name: str
    definition: int = NOTHING
    module: bool = False


class Exports(Struct, frozen=True, array_like=True, gc=False):
    """What other files see.

    Attributes:
        names: (exported name, op) pairs: the value at the end of the module.
        stars: Indexes of imports with name `*` whose names are passed on, in order.
        listed: `__all__`, or the names a star import takes; None: all names not beginning with an underscore.
        dynamic: The module answers to any name (`__getattr__`, computed `module.exports`).
        types: (exported name, type op) pairs where types have a name space of their own.
        star_ops: Ops of modules and types all of whose names come in, like those of stars.
        star_all: What a star passes on begins with underscores too, and is never `default`.
    """

    names: tuple[tuple[str, int], ...] = ()
    stars: tuple[int, ...] = ()
    listed: tuple[str, ...] | None = None
    dynamic: bool = False
    types: tuple[tuple[str, int], ...] = ()
    star_all: bool = False
    star_ops: tuple[int, ...] = ()


class FileSummary(Struct, frozen=True, array_like=True, gc=False):
    """Everything that linking reads of one file."""

    names: tuple[str, ...]
    definitions: tuple[str, ...]
    """Node ids; entry 0 is the file's own node."""
    ops: tuple[tuple[int, ...], ...] = ()
    variables: tuple[Variable, ...] = ()
    imports: tuple[ImportDecl, ...] = ()
    functions: tuple[Function, ...] = ()
    classes: tuple[Class, ...] = ()
    site_rows: bytes = b""
    """`sites`, encoded by `encode_sites`: they are half of a file's objects, and read once, when its edges are made."""
    exports: Exports = Exports()
    tests: tuple[int, ...] = ()
    """Definitions that are Test nodes."""
    hooks: tuple[tuple[int, int], ...] = ()
    """(test definition, definition that runs with it: setup, beforeEach)."""
    own_fixtures: tuple[tuple[str, int], ...] = ()
    """(fixture name, function index) of fixtures that this file provides."""
    module_kind: str = ""
    """What a resolver must know of the file: `esm` or `commonjs`, the name of its package."""
    extensions: tuple[Extension, ...] = ()

    @property
    def sites(self) -> tuple[Site, ...]:
        """Places that may become edges; decoded at every call."""
        return _decode_sites(self.site_rows) if self.site_rows else ()


def encode_sites(sites: Iterable[Site]) -> bytes:
    """`FileSummary.site_rows` of these sites."""
    rows = tuple(sites)
    return _encode_sites(rows) if rows else b""


_encode_sites = msgspec.msgpack.Encoder().encode
_decode_sites = msgspec.msgpack.Decoder(tuple[Site, ...]).decode


class Damage(Struct, frozen=True, kw_only=True):
    """A part that could not be read. lost: name of the definition that is damaged, empty if unknown."""

    line: int
    message: str
    lost: str = ""


class FileAnalysis(Struct, frozen=True, kw_only=True):
    """The result of reading one file; encodable, and valid for its content, path and `ANALYSIS_FORMAT`.

    Attributes:
        nodes: The File (or Config) node first, then every definition in source order.
        edges: Structural edges inside the file (DEFINES), sorted.
        summary: None for files that are not linked.
        bodies: Words of the definitions' bodies for full text, by node; on the way into the store only, never kept.
    """

    path: FilePath
    language: str | None
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()
    summary: FileSummary | None = None
    damage: tuple[Damage, ...] = ()
    bodies: dict[NodeId, str] = {}
