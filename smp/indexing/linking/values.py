"""Abstract values: what an expression may hold. Interned, so that equal values are one object and sets compare by identity.

A value's `key` is a text made of file paths and names; everything that leaves the linker is sorted by it, for the order
in which values were met, or their addresses, must never show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from smp.domain.ids import FilePath
from smp.domain.source import Class, Function

FUNC, CLASS, INST, BOUND, MODULE, EXT, XINST, XBOUND, CONT, PARTIAL, GEN, SUPER, UNKNOWN, MANY, TEXT = range(15)
"""Kinds: function; class; instance of a project class; function with receiver; module (file or namespace); external name;
instance of an external type; external method with receiver; container by place of creation; partial application;
generator of a function; `super()`; anything; whatever a shared key holds that holds more than is passed on; one of some constant
texts, where a name is asked for by it."""


class Filling(Protocol):
    """What knows the attributes of things that were kept and are not filled yet."""

    def fill(self, thing: Any, name: str) -> None:
        """Sets an attribute, perhaps others with it, that was never set."""


def filled(thing: Any, name: str) -> Any:
    """An attribute that was asked for and is not set: it is loaded now."""
    if name == "stored" or thing.stored is None:
        raise AttributeError(name)
    thing.stored.fill(thing, name)
    return object.__getattribute__(thing, name)


class FuncRef:
    """A function of the program.

    Attributes:
        node_id: None for unnamed functions.
        symbolic: Returns that are its own parameter (`param`, position), receiver, or a new instance of the receiver; they
            are filled in at each call.
        rest: Ops of its other returns.
        variants: Its declared overloads, in order.
        stored: What fills in the rest of one that was kept (`smp.indexing.linking.kept`).
    """

    __slots__ = ("cls", "decl", "index", "key", "node_id", "rest", "stored", "symbolic", "unit", "variants")

    def __init__(self, unit: int, index: int, decl: Function, key: str, node_id: str | None) -> None:
        self.unit = unit
        self.index = index
        self.decl = decl
        self.key = key
        self.node_id = node_id
        self.cls: ClassRef | None = None
        self.symbolic: tuple[tuple[str, int], ...] = ()
        self.rest: tuple[int, ...] = ()
        self.variants: tuple[FuncRef, ...] = ()
        self.stored: Filling | None = None

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            return filled(self, name)


class ClassRef:
    """A class of the program. mro: itself first; an external base is its dotted name, an unknown one an empty text.

    Attributes:
        extended: Name → (unit, op) of members that stand outside its body.
        promises: (unit, type op, line) of interfaces that an extension says it implements.
        interfaces: Those that it declares to implement. behind: Classes and interfaces that it is `below`; None: not yet known.
        stored: As of a function.
    """

    __slots__ = (
        "bases", "behind", "below", "decl", "extended", "index", "interfaces", "key", "members", "mro", "node_id", "promises",
        "stored", "unit",
    )  # fmt: skip

    def __init__(self, unit: int, index: int, decl: Class, key: str, node_id: str) -> None:
        self.unit = unit
        self.index = index
        self.decl = decl
        self.key = key
        self.node_id = node_id
        self.bases: list[ClassRef | str] = []
        self.mro: tuple[ClassRef | str, ...] = (self,)
        self.below: list[ClassRef] = []
        self.interfaces: list[ClassRef] = []
        self.behind: tuple[ClassRef, ...] | None = None
        self.members: dict[str, tuple[int, ...]] = {}
        self.extended: dict[str, tuple[tuple[int, int], ...]] = {}
        self.promises: tuple[tuple[int, int, int], ...] = ()
        self.stored: Filling | None = None

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            return filled(self, name)


class Value:
    """One abstract value.

    Attributes:
        ref: FuncRef, ClassRef, or None. name: dotted name or path. recv: receiver, or the callee of a partial.
        below: The class or any below it (declared, `self`), not exactly it.
        recv: As well the namespace of a class that a call makes (`type(name, bases, namespace)`), and of its instances.
        weak: An instance assumed from a test only, which counts where nothing better is known; or a function that was handed on
            by a call through a value (`smp.indexing.linking.handing`).
        args: Type arguments, each the instances it stands for.
        files: The files of a module that is a package.
        recipe: What makes it this value and no other; the `Interner` knows it by that.
    """

    __slots__ = ("_said", "args", "below", "files", "kind", "name", "place", "recipe", "recv", "ref", "site", "weak")

    def __init__(
        self,
        kind: int,
        *,
        ref: FuncRef | ClassRef | None = None,
        name: str = "",
        recv: Value | None = None,
        below: bool = False,
        weak: bool = False,
        args: tuple[tuple[Value, ...], ...] = (),
        site: tuple[int, int] = (-1, -1),
        files: tuple[FilePath, ...] = (),
        place: str = "",
        said: str = "",
    ) -> None:
        """place: Path of the file that a site is in. said: The key, where it is known."""
        self.kind = kind
        self.ref = ref
        self.name = name
        self.recv = recv
        self.below = below
        self.weak = weak
        self.args = args
        self.site = site
        self.files = files
        self.place = place
        self.recipe: tuple[object, ...] = ()
        self._said = said

    @property
    def key(self) -> str:
        """Made when asked for: most values are never put in order, and their keys would be a tenth of a link's memory."""
        return self._said or key_of(self)

    def __repr__(self) -> str:
        return f"<{self.key}>"


class Interner:
    """Makes values, each once."""

    def __init__(self) -> None:
        self._table: dict[tuple[object, ...], Value] = {}
        self.unknown = self.keep((UNKNOWN,), Value(UNKNOWN))

    def known(self, recipe: tuple[object, ...]) -> Value | None:
        """The value of a recipe, if it was made."""
        return self._table.get(recipe)

    def forget(self) -> None:
        """Lets go of all values."""
        self._table.clear()

    def keep(self, recipe: tuple[object, ...], value: Value) -> Value:
        """Takes in a value that is not known yet."""
        value.recipe = recipe
        self._table[recipe] = value
        return value

    def func(self, ref: FuncRef) -> Value:
        known = self._table.get((FUNC, ref))
        if known is None:
            known = self.keep((FUNC, ref), Value(FUNC, ref=ref))
        return known

    def cls(self, ref: ClassRef, *, below: bool = False, made: Value | None = None) -> Value:
        """A class; made: the namespace of one that a call makes below it."""
        recipe = (CLASS, ref, below) if made is None else (CLASS, ref, below, made)
        known = self._table.get(recipe)
        if known is None:
            known = self.keep(recipe, Value(CLASS, ref=ref, below=below, recv=made))
        return known

    def inst(
        self,
        ref: ClassRef,
        *,
        below: bool = False,
        weak: bool = False,
        args: tuple[tuple[Value, ...], ...] = (),
        made: Value | None = None,
    ) -> Value:
        """An instance; made: the namespace of its class, if a call made that."""
        recipe = (INST, ref, below, weak, args) if made is None else (INST, ref, below, weak, args, made)
        known = self._table.get(recipe)
        if known is None:
            known = self.keep(recipe, Value(INST, ref=ref, below=below, weak=weak, args=args, recv=made))
        return known

    def bound(self, ref: FuncRef, recv: Value) -> Value:
        known = self._table.get((BOUND, ref, recv))
        if known is None:
            known = self.keep((BOUND, ref, recv), Value(BOUND, ref=ref, recv=recv))
        return known

    def handed(self, value: Value) -> Value:
        """A function, class or partial as one that was handed on."""
        if value.weak or value.kind not in (FUNC, CLASS, BOUND, PARTIAL):
            return value
        known = self._table.get((value, "handed"))
        if known is None:
            known = self.keep((value, "handed"), Value(
                value.kind, ref=value.ref, name=value.name, recv=value.recv, below=value.below, weak=True, args=value.args,
                site=value.site,
            ))  # fmt: skip
        return known

    def module(self, path: str, *, namespace: bool = False) -> Value:
        known = self._table.get((MODULE, path, namespace))
        if known is None:
            known = self.keep((MODULE, path, namespace), Value(MODULE, name=path, below=namespace))
        return known

    def package(self, path: str, files: tuple[FilePath, ...]) -> Value:
        """Several files that offer their names as one; of other files it is another value."""
        known = self._table.get((MODULE, path, files))
        if known is None:
            known = self.keep((MODULE, path, files), Value(MODULE, name=path, files=files))
        return known

    def ext(self, dotted: str) -> Value:
        known = self._table.get((EXT, dotted))
        if known is None:
            known = self.keep((EXT, dotted), Value(EXT, name=dotted))
        return known

    def xinst(self, dotted: str, args: tuple[tuple[Value, ...], ...] = ()) -> Value:
        known = self._table.get((XINST, dotted, args))
        if known is None:
            known = self.keep((XINST, dotted, args), Value(XINST, name=dotted, args=args))
        return known

    def xbound(self, dotted: str, recv: Value) -> Value:
        known = self._table.get((XBOUND, dotted, recv))
        if known is None:
            known = self.keep((XBOUND, dotted, recv), Value(XBOUND, name=dotted, recv=recv))
        return known

    def container(self, dotted: str, unit: int, op: int, place: str) -> Value:
        known = self._table.get((CONT, unit, op, dotted))
        if known is None:
            known = self.keep((CONT, unit, op, dotted), Value(CONT, name=dotted, site=(unit, op), place=place))
        return known

    def pair(self, dotted: str, unit: int, of: Value) -> Value:
        """The container that iterating over another gives, in one file."""
        known = self._table.get((CONT, unit, of))
        if known is None:
            known = self.keep((CONT, unit, of), Value(CONT, name=dotted, site=(unit, -1)))
        return known

    def rest(self, dotted: str, ref: FuncRef, position: int) -> Value:
        """The container of a rest parameter; known by its function, for others fill it."""
        known = self._table.get((CONT, ref, position))
        if known is None:
            known = self.keep((CONT, ref, position), Value(CONT, name=dotted, site=(ref.unit, -1)))
        return known

    def partial(self, callee: Value, unit: int, op: int, place: str) -> Value:
        known = self._table.get((PARTIAL, callee, unit, op))
        if known is None:
            known = self.keep((PARTIAL, callee, unit, op), Value(PARTIAL, recv=callee, site=(unit, op), place=place))
        return known

    def many(self, shared: tuple[str, int, object, object], place: str) -> Value:
        """All that a shared key holds; place: the path of the file that owns it."""
        known = self._table.get((MANY, shared))
        if known is None:
            known = self.keep((MANY, shared), Value(MANY, site=(shared[1], -1), place=place))
        return known

    def text(self, texts: tuple[str, ...]) -> Value:
        """One of these texts, which are in order."""
        known = self._table.get((TEXT, texts))
        if known is None:
            known = self.keep((TEXT, texts), Value(TEXT, name="\n".join(texts)))
        return known

    def generator(self, ref: FuncRef) -> Value:
        known = self._table.get((GEN, ref))
        if known is None:
            known = self.keep((GEN, ref), Value(GEN, ref=ref))
        return known

    def sup(self, ref: ClassRef, recv: Value) -> Value:
        known = self._table.get((SUPER, ref, recv))
        if known is None:
            known = self.keep((SUPER, ref, recv), Value(SUPER, ref=ref, recv=recv))
        return known


def _shown(args: tuple[tuple[Value, ...], ...]) -> str:
    return "[" + ",".join("|".join(value.key for value in arg) for arg in args) + "]" if args else ""


def key_of(value: Value) -> str:
    """A text that says what a value is."""
    kind, recipe = value.kind, value.recipe
    of = value.ref.key if value.ref is not None else value.name
    if isinstance(recipe[0], Value):  # it was handed on
        return recipe[0].key + "?"
    if kind in (BOUND, SUPER, XBOUND):
        assert value.recv is not None
        return f"{_SIGNS[kind]}:{of}@{value.recv.key}"
    if kind == INST:
        return f"i{'+' if value.below else ''}{'?' if value.weak else ''}:{of}{_shown(value.args)}{_made(value)}"
    if kind == CLASS:
        return f"{'c+' if value.below else 'c'}:{of}{_made(value)}"
    if kind == XINST:
        return f"xi:{of}{_shown(value.args)}"
    if kind == MODULE:
        return f"{'q' if isinstance(recipe[2], tuple) else 'n' if value.below else 'm'}:{of}"
    if kind == CONT:
        if isinstance(recipe[1], FuncRef):
            return f"k:{of}@{recipe[1].key}:{recipe[2]}"
        if isinstance(recipe[2], Value):
            return f"k:{of}@{recipe[1]}:{recipe[2].key}"
        return f"k:{of}@{value.place}:{recipe[2]}"
    if kind == PARTIAL:
        assert value.recv is not None
        return f"p:{value.recv.key}@{value.place}:{value.site[1]}"
    if kind == MANY:
        shared = recipe[1]
        assert isinstance(shared, tuple)
        tag, _, subject, detail = shared
        said = subject.key if isinstance(subject, FuncRef | ClassRef | Value) else subject
        return f"many:{tag}:{value.place}:{said}:{detail}"
    if kind == TEXT:
        texts = recipe[1]
        assert isinstance(texts, tuple)
        return "t:" + "|".join(texts)
    return f"{_SIGNS[kind]}:{of}" if kind != UNKNOWN else "?"


def _made(value: Value) -> str:
    return f"{{{value.recv.key}}}" if value.recv is not None else ""


_SIGNS = {FUNC: "f", BOUND: "b", SUPER: "s", XBOUND: "xb", GEN: "g", EXT: "x"}


def by_key(value: Value) -> str:
    """Sort key."""
    return value.key
