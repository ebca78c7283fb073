"""Whether calls and uses of a definition that were right before a change still are. Pure: two nodes in, a reason out."""

from __future__ import annotations

from msgspec import Struct

from smp.domain.graph import Node, NodeKind, Parameter

SIGNATURE_CHANGED, RETURN_TYPE_CHANGED = "SIGNATURE_CHANGED", "RETURN_TYPE_CHANGED"

_FORMS = ("async", "property", "static")
"""Modifiers that decide how a definition is used: awaited, read, called on the class."""
_BY_POSITION = ("positional_only", "positional")
_BY_NAME = ("positional", "keyword_only")


class Incompatible(Struct, frozen=True, kw_only=True):
    """Why a definition no longer is what its users expect; the return types when those are why."""

    code: str
    because: str
    old_return: str | None = None
    new_return: str | None = None


def incompatibility(old: Node, new: Node) -> Incompatible | None:
    """The first reason why users of `old` would be wrong with `new`; None when there is none."""
    name = new.qualname
    if old.kind is NodeKind.FUNCTION:
        for form in _FORMS:
            if (form in old.modifiers) != (form in new.modifiers):
                verb = "became" if form in new.modifiers else "is no longer"
                return Incompatible(code=SIGNATURE_CHANGED, because=f"{name} {verb} {form}")
        why = call_incompatibility(old.parameters, new.parameters)
        if why is not None:
            return Incompatible(code=SIGNATURE_CHANGED, because=f"{name}: {why}")
    before, after = _type(old.return_type), _type(new.return_type)
    # Dropping an annotation changes what is declared, not what is returned; adding one promises more than before.
    if before and after and before != after:
        return Incompatible(
            code=RETURN_TYPE_CHANGED,
            because=f"{name}: returns {new.return_type} instead of {old.return_type}",
            old_return=old.return_type,
            new_return=new.return_type,
        )
    return None


def call_incompatibility(old: tuple[Parameter, ...], new: tuple[Parameter, ...]) -> str | None:
    """Why some call that fits `old` does not fit `new`; None when all still fit. Receivers do not count.

    A call is a number of arguments by position and a set of names. For each number that `old` takes two sets suffice: with
    every name that may be given, each must be accepted; with those alone that must be given, all that `new` requires must
    be there. What goes into `**` of `old` under the name of a parameter of `new` is not considered.
    """
    before, after = _Taken(old), _Taken(new)
    if before.star and not after.star:
        return "no longer takes further positional arguments"
    if before.double_star and not after.double_star:
        return "no longer takes further keyword arguments"
    for earlier, later in zip(before.places, after.places, strict=False):
        if earlier.name != later.name and earlier.name in after.names and later.name in before.names:
            return f"parameter {later.name!r} stands where {earlier.name!r} stood"
    furthest = max(len(before.places), len(after.places)) + 1 if before.star else len(before.places)
    for count in range(furthest + 1):
        why = _refused(before, after, count)
        if why is not None:
            return why
    return None


class _Taken:
    """What a signature takes: places in order, names, and the rest."""

    def __init__(self, parameters: tuple[Parameter, ...]) -> None:
        own = tuple(parameter for parameter in parameters if not parameter.receiver)
        self.star = any(parameter.kind == "var_positional" for parameter in own)
        self.double_star = any(parameter.kind == "var_keyword" for parameter in own)
        self.plain = tuple(parameter for parameter in own if not parameter.kind.startswith("var_"))
        self.places = tuple(parameter for parameter in self.plain if parameter.kind in _BY_POSITION)
        self.names = {parameter.name for parameter in self.plain}

    def left(self, count: int) -> tuple[Parameter, ...]:
        """Parameters that `count` arguments by position leave open."""
        filled = self.places[:count]
        return tuple(parameter for parameter in self.plain if parameter not in filled)


def _refused(before: _Taken, after: _Taken, count: int) -> str | None:
    """Why calls with so many arguments by position no longer fit; None when they do, or never did."""
    open_before, open_after = before.left(count), after.left(count)
    needed = {parameter.name for parameter in open_before if parameter.required}
    if any(parameter.required and parameter.kind not in _BY_NAME for parameter in open_before):
        return None
    if count > len(after.places) and not after.star:
        return f"takes at most {len(after.places)} positional arguments"
    nameable = {parameter.name for parameter in open_after if parameter.kind in _BY_NAME}
    filled = {parameter.name for parameter in after.places[:count] if parameter.kind in _BY_NAME}
    for parameter in open_before:
        accepted = parameter.name in nameable or (after.double_star and parameter.name not in filled)
        if parameter.kind in _BY_NAME and not accepted:
            return f"no longer takes {parameter.name!r} by name"
    for parameter in open_after:
        if parameter.required and not (parameter.name in needed and parameter.kind in _BY_NAME):
            known = (
                "parameter {!r} became required" if parameter.name in before.names else "new required parameter {!r}"
            )
            return known.format(parameter.name)
    return None


def _type(text: str | None) -> str:
    return "" if text is None else "".join(text.split())
