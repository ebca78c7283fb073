"""Classes that a call makes: `type(name, bases, namespace)`, or a metaclass called so.

Such a class is "one below its base, with these names": it has no node, and what it does not have by its namespace it has from its base.
"""

from __future__ import annotations

import abc

from smp.domain.source import NOTHING
from smp.indexing.linking.flow import UnitState
from smp.indexing.linking.spreading import Spreading
from smp.indexing.linking.values import CLASS, CONT, INST, ClassRef, Value

CLASS_ARGUMENTS = 3
"""Name, bases, namespace."""


class ClassMaking(Spreading, abc.ABC):
    """Rules of classes that are made by calls."""

    BIND: int
    CLASS_BASE: int
    NAMESPACE: int
    ITER: int
    MADE: int

    @abc.abstractmethod
    def iterate(self, state: UnitState, value: Value, result: int) -> None:
        """Elements of a value."""

    def makes_classes(self, ref: ClassRef) -> bool:
        """Whether a class is a metaclass."""
        return bool(self.tables.class_types) and any(
            entry in self.tables.class_types for entry in self.program.mro(ref)
        )

    def make_class(self, state: UnitState, bases: int, namespace: int, result: int) -> None:
        """A class of these bases (a node that holds a sequence) with this namespace (one that holds a mapping)."""
        if bases == NOTHING:
            return
        inner = state.new_node()
        self.watch(state, bases, self.ITER, inner)
        self.watch(state, inner, self.CLASS_BASE, namespace, result)

    def on_class_base(self, state: UnitState, value: Value, namespace: int, result: int) -> None:
        """A base of a class that is made."""
        if value.kind != CLASS or not isinstance(value.ref, ClassRef):
            return
        state.add(result, self.intern.cls(value.ref, below=True))
        if namespace != NOTHING:
            self.watch(state, namespace, self.NAMESPACE, value.ref, result)

    def on_namespace(self, state: UnitState, value: Value, base: ClassRef, result: int) -> None:
        """The namespace of a class that is made below a base."""
        if value.kind == CONT:
            state.add(result, self.intern.cls(base, below=True, made=value))

    def on_made(self, state: UnitState, value: Value, ref: ClassRef, result: int) -> None:
        """`__new__` returned something else than an instance of the class that was called."""
        if value.kind != INST or not isinstance(value.ref, ClassRef):
            return
        if not self.program.is_below(value.ref, ref) and not self.program.is_below(ref, value.ref):
            state.add(result, value)

    def namespace_attribute(self, state: UnitState, value: Value, name: str, result: int) -> None:
        """What the namespace of a made class has under a name; through an instance, its functions are methods."""
        assert value.recv is not None
        if value.kind == INST:
            inner = state.new_node()
            self.watch(state, inner, self.BIND, value, result)
            self.read_key(state, value.recv, f"={name}", inner)
        else:
            self.read_key(state, value.recv, f"={name}", result)
