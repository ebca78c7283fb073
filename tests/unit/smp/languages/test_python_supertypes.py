"""What is known of the standard library's types without running a program's code."""

from __future__ import annotations

import pytest

from smp.languages.python.supertypes import supertypes


def _above(name: str) -> set[str]:
    found: set[str] = set()
    level = [name]
    while level:
        found.update(level)
        level = [up for below in level for up in supertypes()[below] if up not in found]
    return found


@pytest.mark.parametrize(
    ("name", "above"),
    [
        ("builtins.bool", "builtins.int"),
        ("builtins.int", "builtins.float"),
        ("datetime.datetime", "datetime.date"),
        ("builtins.list", "typing.Sequence"),
        ("typing.List", "collections.abc.Iterable"),
        ("collections.OrderedDict", "typing.Dict"),
        ("pathlib.Path", "pathlib.PurePath"),
    ],
)
def test_a_type_is_below_what_takes_its_instances(name: str, above: str) -> None:
    assert above in _above(name)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("builtins.int", "builtins.bool"),
        ("builtins.dict", "typing.Sequence"),
        ("datetime.date", "datetime.datetime"),
        ("builtins.float", "builtins.int"),
        ("builtins.str", "builtins.bytes"),
    ],
)
def test_a_type_is_not_below_another(name: str, other: str) -> None:
    assert other not in _above(name)
