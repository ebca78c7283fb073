"""Audits as JSON lines: whole as written, and every kind of tampering shows."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest

from smp.safety.audit_export import export_lines, flaws
from tests.builders.session_world import World

Lines = list[bytes]


@pytest.fixture
def exported(world: World) -> Lines:
    for _ in range(2):
        session = world.id("shop/cart.py")
        world.service.check_guard(session, "shop/cart.py")
        world.service.checkpoint(session, ("shop/cart.py",))
        world.service.close(session, "completed")
    world.id("shop/money.py")
    return list(export_lines(world.store, world.store.sessions()))


def changed(line: bytes, **fields: object) -> bytes:
    document = json.loads(line)
    document["event"].update(fields)
    return json.dumps(document).encode()


def test_an_export_is_whole_whatever_stands_between_its_lines(exported: Lines) -> None:
    assert len(exported) == 9
    assert flaws(exported) == []
    mixed = [line for pair in zip(exported[:4], exported[4:8], strict=True) for line in pair]
    assert flaws([*mixed, b" ", exported[8]]) == []


@pytest.mark.parametrize(
    "tamper",
    [
        lambda lines: [changed(lines[1], result="clear?"), *lines[2:4], lines[0]][::-1],
        lambda lines: [lines[0], changed(lines[1], result="blocked"), *lines[2:]],
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: [lines[0], lines[1], lines[1], *lines[2:]],
        lambda lines: [lines[1], lines[0], *lines[2:]],
        lambda lines: [*lines[:3], *lines[4:]],
        lambda lines: [changed(lines[0], hash="0" * 64), *lines[1:]],
    ],
    ids=["reordered", "changed", "left out", "put in", "swapped", "cut off", "another hash"],
)
def test_tampering_shows(exported: Lines, tamper: Callable[[Lines], Lines]) -> None:
    found = flaws(tamper(exported))
    first = json.loads(exported[0])["session_id"]
    assert {flaw.session_id for flaw in found} == {first}


def test_an_open_session_need_not_have_ended(exported: Lines) -> None:
    assert flaws(exported[8:]) == []


def test_what_is_no_export_is_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        flaws([b'{"event": 1}'])
