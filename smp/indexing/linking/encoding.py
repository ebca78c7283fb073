"""How what a link leaves is written: references and values by number, tokens and keys by what they are made of.

A token or a key must be found again by a process that has made it anew, so a value in it is written as its recipe; in a body
it is a number, for the rest of it is written once (`smp.indexing.linking.preserving`).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from struct import Struct as Layout

import msgspec
from msgspec.msgpack import Ext

from smp.indexing.linking.reading import home
from smp.indexing.linking.values import ClassRef, FuncRef, Value

FUNC_CODE, CLASS_CODE, VALUE_CODE, RECIPE_CODE = 1, 2, 3, 4
PLACE = Layout("<II")
"""File and number of a function or class."""
NUMBER = Layout("<I")
SHELVES = 256
CHUNK = 64
"""Values that are stored together."""

Ref = FuncRef | ClassRef
Encode = Callable[[object], bytes]


class NotKept(Exception):
    """A reference to something that came later: nothing that was kept speaks of it."""


def token_encoder(place: Callable[[Ref], tuple[int, int]]) -> Encode:
    """Writes tokens and keys. place: file and number of a reference; raises `NotKept`."""

    def hook(thing: object) -> Ext:
        if isinstance(thing, Value):
            return Ext(RECIPE_CODE, encode(thing.recipe))
        return _placed(thing, place)

    encode = msgspec.msgpack.Encoder(enc_hook=hook).encode
    return encode


def body_encoder(place: Callable[[Ref], tuple[int, int]], number: Callable[[Value], int]) -> Encode:
    """Writes what is found under them."""

    def hook(thing: object) -> Ext:
        if isinstance(thing, Value):
            return Ext(VALUE_CODE, NUMBER.pack(number(thing)))
        return _placed(thing, place)

    return msgspec.msgpack.Encoder(enc_hook=hook).encode


def _placed(thing: object, place: Callable[[Ref], tuple[int, int]]) -> Ext:
    if isinstance(thing, FuncRef):
        return Ext(FUNC_CODE, PLACE.pack(*place(thing)))
    if isinstance(thing, ClassRef):
        return Ext(CLASS_CODE, PLACE.pack(*place(thing)))
    raise NotImplementedError(f"nothing of a link: {type(thing).__name__}")


def frozen(thing: object) -> object:
    """Decoded arrays as the tuples that they were."""
    return tuple(map(frozen, thing)) if isinstance(thing, list) else thing


def shelf(text: str) -> int:
    """Where entries of a name lie."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) % SHELVES


def token_shelf(token: object) -> str:
    """Where entries of a token lie: with those of the same file, if it is about one by number."""
    place = home(token)
    return f"n{place}" if isinstance(place, int) else f"s{shelf(str(place))}"
