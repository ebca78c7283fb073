"""Server → client events: the feed of the notifier as `smp/notification` messages."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from smp.ports.notifier import Notice


class NotificationMessage(Struct, frozen=True, kw_only=True):
    """A JSON-RPC notification; `params` is the notice's body, tagged by `type`."""

    params: Any
    jsonrpc: str = "2.0"
    method: str = "smp/notification"


def message_of(notice: Notice) -> NotificationMessage:
    """What goes over the wire for a notice."""
    return NotificationMessage(params=notice.body)
