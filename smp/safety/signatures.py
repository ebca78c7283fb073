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
    """Why some call that fits `old` does not fit `new`; None when all still fit. Receivers do not count."""
    before, after = _declared(old), _declared(new)
    names = {parameter.name: parameter for parameter in before}
    kinds = {parameter.kind for parameter in after}
    old_kinds = {parameter.kind for parameter in before}
    for star, text in (("var_positional", "further positional"), ("var_keyword", "further keyword")):
        if star in old_kinds and star not in kinds:
            return f"no longer takes {text} arguments"
    positions = [parameter for parameter in before if parameter.kind in _BY_POSITION]
    places = [parameter for parameter in after if parameter.kind in _BY_POSITION]
    demanded = sum(parameter.required for parameter in places) > sum(parameter.required for parameter in positions)
    for parameter in after:
        if not parameter.required or parameter.kind.startswith("var_"):
            continue
        earlier = names.get(parameter.name)
        if earlier is None and (demanded or not _takes_over(parameter, places, positions)):
            return f"new required parameter {parameter.name!r}"
        if earlier is not None and not earlier.required:
            return f"parameter {parameter.name!r} became required"
    if len(places) < len(positions) and "var_positional" not in kinds:
        gone = [one.name for one in positions if one.name not in {other.name for other in places}]
        return f"takes fewer positional arguments ({', '.join(map(repr, gone))} gone)"
    if "var_keyword" not in kinds:
        named = {parameter.name for parameter in after if parameter.kind in _BY_NAME}
        for parameter in before:
            if parameter.kind in _BY_NAME and parameter.name not in named:
                return f"no longer takes {parameter.name!r} by name"
    for index, parameter in enumerate(positions[: len(places)]):
        moved = places[index].name
        if moved != parameter.name and moved in names:
            return f"parameter {moved!r} stands where {parameter.name!r} stood"
    return None


def _declared(parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    return tuple(parameter for parameter in parameters if not parameter.receiver)


def _takes_over(parameter: Parameter, places: list[Parameter], positions: list[Parameter]) -> bool:
    """A new name in the place of a required old one: calls by position still fit."""
    if parameter not in places:
        return False
    index = places.index(parameter)
    return index < len(positions) and positions[index].required


def _type(text: str | None) -> str:
    return "" if text is None else "".join(text.split())
