"""Server → client events: the feed of the notifier as `smp/notification` messages."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from smp.ports.notifier import Notice


class NotificationMessage(Struct, frozen=True, kw_only=True):
    """A JSON-RPC notification; `params` is the notice's body, tagged by `type`."""

    params: Any
    jsonrpc: str = "2.0"
    method: str = "smp/notification"


def message_of(notice: Notice) -> NotificationMessage:
    """What goes over the wire for a notice; `cursor` is where a client that comes back goes on (`/ws?after=`)."""
    return NotificationMessage(params={**msgspec.to_builtins(notice.body), "cursor": notice.cursor})


def missed_message(after: int, oldest: int) -> NotificationMessage:
    """Said to a client that was away for longer than the feed reaches back."""
    return NotificationMessage(method="smp/notifications/missed", params={"after": after, "oldest": oldest})


def begun_message(cursor: int) -> NotificationMessage:
    """Said first to a client that asks for what comes from now on (`/ws?after=now`): where that is, so that it can come back to it."""
    return NotificationMessage(method="smp/notifications/begun", params={"cursor": cursor})
