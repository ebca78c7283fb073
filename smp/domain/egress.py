"""What a box may reach, as it is written in settings: `name[:port][@address[:port]]`."""

from __future__ import annotations

import re

from msgspec import Struct

from smp.domain.errors import Invalid

DEFAULT_PORTS = (80, 443)
_ENTRY = re.compile(
    r"(?P<name>[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252}[A-Za-z0-9_])?)(?::(?P<port>[0-9]{1,5}))?"
    r"(?:@(?P<dial>\[[0-9A-Fa-f:.]+\]|[^@:\[\]/\s]+)(?::(?P<dial_port>[0-9]{1,5}))?)?"
)


class AllowedHost(Struct, frozen=True, kw_only=True):
    """One name and port that the relay of a box lets through.

    Attributes:
        name: Lower case, without a final dot.
        dial, dial_port: What is dialled for it.
        pinned: `dial` was given, and may therefore be a private address.
    """

    name: str
    port: int
    dial: str
    dial_port: int
    pinned: bool


def parse_allowed(entry: str) -> tuple[AllowedHost, ...]:
    """The ways that an entry opens: one, or one per default port when it names none.

    Raises:
        Invalid: It does not read.
    """
    found = _ENTRY.fullmatch(entry.strip())
    ports = (int(found["port"]),) if found and found["port"] else DEFAULT_PORTS
    dial_port = int(found["dial_port"]) if found and found["dial_port"] else None
    if found is None or not all(0 < port < 65536 for port in (*ports, dial_port or 1)):
        raise Invalid(
            f"{entry!r} is no allowed host; write name, name:port, or name:port@address:port",
            path="sandbox.allowed_hosts",
        )
    name = found["name"].lower()
    return tuple(
        AllowedHost(
            name=name,
            port=port,
            dial=(found["dial"] or name).strip("[]"),
            dial_port=dial_port or port,
            pinned=found["dial"] is not None,
        )
        for port in ports
    )


def public_name(entry: str) -> str:
    """An entry as a box may see it: without where it is dialled."""
    return entry.partition("@")[0]
