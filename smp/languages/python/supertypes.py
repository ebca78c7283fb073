"""Which of the standard library's types are below which others, as the types themselves say."""

from __future__ import annotations

import collections.abc
import functools
import importlib
import typing

_TYPES = (
    "builtins.bool", "builtins.int", "builtins.float", "builtins.complex", "builtins.str", "builtins.bytes", "builtins.bytearray",
    "builtins.list", "builtins.tuple", "builtins.dict", "builtins.set", "builtins.frozenset", "builtins.range",
    "collections.OrderedDict", "collections.defaultdict", "collections.deque", "collections.ChainMap", "collections.Counter",
    "datetime.datetime", "datetime.date", "datetime.time", "datetime.timedelta", "datetime.tzinfo", "decimal.Decimal",
    "pathlib.Path", "pathlib.PurePath", "enum.Enum",
)  # fmt: skip
_PROMOTED = {"builtins.int": "builtins.float", "builtins.float": "builtins.complex"}
"""What a parameter takes besides its own type ("numeric tower", typing specification)."""
_ALIASES = {
    "AbstractSet": "collections.abc.Set", "List": "builtins.list", "Dict": "builtins.dict", "Set": "builtins.set",
    "FrozenSet": "builtins.frozenset", "Tuple": "builtins.tuple", "Text": "builtins.str", "DefaultDict": "collections.defaultdict",
    "OrderedDict": "collections.OrderedDict", "Deque": "collections.deque", "Counter": "collections.Counter",
    "ChainMap": "collections.ChainMap",
}  # fmt: skip


@functools.cache
def supertypes() -> dict[str, tuple[str, ...]]:
    """Dotted name of a type → those above it, at any distance; of a name in `typing` also the type that it stands for."""
    abstract = {name: getattr(collections.abc, name) for name in collections.abc.__all__}
    dotted = {name: _named(name) for name in _TYPES} | {
        f"collections.abc.{name}": one for name, one in abstract.items()
    }
    found: dict[str, list[str]] = {
        name: [other for other, above in dotted.items() if other != name and issubclass(one, above)]
        for name, one in dotted.items()
    }
    for name, above in _PROMOTED.items():
        found[name].append(above)
    stands_for = {name: f"collections.abc.{name}" for name in abstract if hasattr(typing, name)} | _ALIASES
    for module in ("typing", "typing_extensions"):
        for name, other in stands_for.items():
            found[f"{module}.{name}"] = [other]
            found[other].append(f"{module}.{name}")
    return {name: tuple(others) for name, others in found.items()}


def _named(dotted: str) -> type:
    module, _, name = dotted.rpartition(".")
    found: type = getattr(importlib.import_module(module), name)
    return found
