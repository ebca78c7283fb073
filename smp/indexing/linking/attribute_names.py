"""Names whose reading depends on what any file does with them: stored attributes, properties, modules written into."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from msgspec import Struct

from smp.domain.source import NOTHING, Op
from smp.indexing.linking import bits
from smp.indexing.linking.program import Program
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import MODULE

_Entry = TypeVar("_Entry", str, tuple[int, str])


class Contribution(Struct, frozen=True, gc=False):
    """What one file does: names it stores, names of its properties and descriptors, (file, name) that it patches, and texts
    that could be names with the constant key under which a mapping holds them."""

    stored: frozenset[str] = frozenset()
    properties: frozenset[str] = frozenset()
    patched: frozenset[tuple[int, str]] = frozenset()
    texts: frozenset[tuple[str, str]] = frozenset()


class AttributeNames:
    """The contributions of all files; a name counts while one file contributes it."""

    def __init__(self) -> None:
        self.stored: dict[str, int] = {}
        self.properties: dict[str, int] = {}
        self.patched: dict[tuple[int, str], int] = {}
        self.texts: dict[str, dict[str, int]] = {}
        self.by_file: dict[int, Contribution] = {}
        self.turned: set[object] = set()
        """Tokens of the keys whose texts are others than before."""

    def named_under(self, key: str) -> tuple[str, ...]:
        """The texts that mappings hold under a constant key."""
        return tuple(sorted(self.texts.get(key, ())))

    def take_turned(self) -> set[object]:
        """Tokens (`texts_token`) of what changed since they were last taken."""
        turned, self.turned = self.turned, set()
        return turned

    def _put_texts(self, old: frozenset[tuple[str, str]], new: frozenset[tuple[str, str]]) -> None:
        for key, text in new - old:
            known = self.texts.setdefault(key, {})
            known[text] = known.get(text, 0) + 1
            if known[text] == 1:
                self.turned.add(texts_token(key))
        for key, text in old - new:
            self.texts[key][text] -= 1
            if not self.texts[key][text]:
                del self.texts[key][text]
                self.turned.add(texts_token(key))

    def put(self, unit: int, new: Contribution) -> set[str]:
        """Replaces the contribution of a file; gives the names that begin or cease to count."""
        old = self.by_file.get(unit, Contribution())
        self.by_file[unit] = new
        self._put_texts(old.texts, new.texts)
        changed: set[str] = _count(self.stored, old.stored, new.stored)
        changed |= _count(self.properties, old.properties, new.properties)
        return changed | {name for _, name in _count(self.patched, old.patched, new.patched)}


def texts_token(key: str) -> tuple[str, str]:
    """What a file has read that asked for the texts under a key."""
    return ("texts", key)


def _texts(unit: Unit, op: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    """Texts that a display holds, or a store puts, under constant keys."""
    if op[0] == Op.STORE_ITEM:
        pairs = [(op[2], op[3])]
    else:
        pairs = list(zip(op[2::2], op[3::2], strict=True))
    names, ops = unit.summary.names, unit.summary.ops
    for key, at in pairs:
        text = ops[at][2] if key >= 0 and at != NOTHING and ops[at][0] == Op.CONST else NOTHING
        if text != NOTHING and names[text].isidentifier() and names[key].isidentifier():
            yield names[key], names[text]


def _count(counts: dict[_Entry, int], before: frozenset[_Entry], after: frozenset[_Entry]) -> set[_Entry]:
    changed: set[_Entry] = set()
    for entry in after - before:
        counts[entry] = counts.get(entry, 0) + 1
        if counts[entry] == 1:
            changed.add(entry)
    for entry in before - after:
        counts[entry] -= 1
        if not counts[entry]:
            del counts[entry]
            changed.add(entry)
    return changed


def contribution(program: Program, unit: Unit) -> Contribution:
    """What a file contributes."""
    stored: set[str] = set()
    patched: set[tuple[int, str]] = set()
    ops, names = unit.summary.ops, unit.summary.names
    accessors = bits.F_PROPERTY | bits.F_SETTER | bits.F_DELETER
    properties = {function.name for function in unit.summary.functions if function.flags & accessors}
    for cls in unit.summary.classes:
        # Class members that hold an instance may be descriptors: their names count as properties do.
        for name, at in cls.members:
            if at != NOTHING and ops[at][0] in (Op.CALL, Op.DECORATED, Op.NEW):
                properties.add(name)
            elif at != NOTHING and ops[at][0] == Op.FUNC and unit.summary.functions[ops[at][1]].flags & accessors:
                properties.add(name)  # a getter that is described has a name of its own
        if cls.flags & bits.C_DATA:
            stored.update(name for name, _ in cls.annotations)
    texts: set[tuple[str, str]] = set()
    named = program.tables.computed_names
    for op in ops:
        if named and op[0] in (Op.MAP, Op.STORE_ITEM):
            texts.update(_texts(unit, op))
        if op[0] == Op.STORE_ATTR:
            name = names[op[2]]
            stored.add(name)
            for value in program.resolve(unit, op[1]).labels:
                target = program.by_path.get(value.name) if value.kind == MODULE else None
                if target is not None:
                    patched.add((target.index, name))
    return Contribution(frozenset(stored), frozenset(properties), frozenset(patched), frozenset(texts))
