"""Bytes of a Python source → UTF-8, and offsets back to the bytes as stored (PEP 263)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

from smp.domain.source import Damage
from smp.languages.nodes import not_in

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
_BOM = codecs.BOM_UTF8


def to_utf8(content: bytes) -> tuple[bytes, Callable[[int], int]]:
    """The source as UTF-8 without byte order mark, and a map from its offsets to those of the stored bytes.

    A source that is neither UTF-8 nor what its cookie says is read as Latin-1, which never fails: the definitions of a
    file with one bad byte in a comment are worth keeping.
    """
    if content.startswith(_BOM):
        return content[len(_BOM) :], lambda offset: offset + len(_BOM)
    encoding = _declared(content)
    if encoding == "utf-8":
        try:
            content.decode("utf-8")
        except UnicodeDecodeError:
            encoding = "latin-1"
        else:
            return content, lambda offset: offset
    try:
        text = content.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        encoding = "latin-1"
        text = content.decode(encoding)
    source = text.encode("utf-8")
    return source, lambda offset: len(source[:offset].decode("utf-8").encode(encoding, "replace"))


def wrong_encoding(content: bytes) -> Damage | None:
    """Where a source is not in the encoding that it declares, or declares one that Python does not know."""
    for number, line in enumerate(content.removeprefix(_BOM).split(b"\n", 2)[:2], start=1):
        found = _COOKIE.match(line)
        if found is None:
            if line.strip() and not line.lstrip().startswith(b"#"):
                break
            continue
        name = found[1].decode("ascii")
        try:
            return not_in(content, codecs.lookup(name).name)
        except LookupError:
            return Damage(line=number, message=f"unknown encoding {name!r}; read as Latin-1")
    return not_in(content, "utf-8")


def _declared(content: bytes) -> str:
    for line in content.split(b"\n", 2)[:2]:
        found = _COOKIE.match(line)
        if found:
            name = found[1].decode("ascii")
            try:
                return codecs.lookup(name).name
            except LookupError:
                return "latin-1"
        if line.strip() and not line.lstrip().startswith(b"#"):
            break
    return "utf-8"
