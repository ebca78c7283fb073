"""What an agent can read besides calling tools: the state of the index, the map, and what has happened."""

from __future__ import annotations

from collections.abc import Callable

import mcp.types as types
import msgspec

from smp.rpc.mcp.answers import fitted
from smp.rpc.mcp.reading_tools import MapParams, map_of
from smp.rpc.mcp.tool import Call
from smp.rpc.notifications import message_of, missed_message
from smp.services import Services

STATE, MAP, NOTIFICATIONS = "smp://index-state", "smp://map", "smp://notifications"
NOTIFICATIONS_AFTER = NOTIFICATIONS + "/{after}"
_NEWEST = 100
_JSON = "application/json"
_CURSOR_DIGITS = 19

LISTED = (
    types.Resource(
        name="index_state",
        uri=STATE,
        title="State of the index",
        description="The commit that the graph was built from, how many files, and which are stale.",
        mime_type=_JSON,
    ),
    types.Resource(
        name="map",
        uri=MAP,
        title="Map of the repository",
        description="Areas of the code, what changes most, how much of the call graph is resolved.",
        mime_type=_JSON,
    ),
    types.Resource(
        name="notifications",
        uri=NOTIFICATIONS,
        title="What has happened",
        description=f"The newest {_NEWEST} notifications: edits from outside, lock conflicts, expired sessions, blocked connections.",
        mime_type=_JSON,
    ),
)
TEMPLATES = (
    types.ResourceTemplate(
        name="notifications_after",
        uri_template=NOTIFICATIONS_AFTER,
        title="What has happened since",
        description="Notifications behind the `cursor` of one that was read before; the first says so where some are gone.",
        mime_type=_JSON,
    ),
)


def read(uri: str, services: Services, desk: Callable[[], Call]) -> str:
    """The text of a resource.

    Args:
        desk: Makes the protocol calls, for what is made of them.

    Raises:
        ValueError: There is none of that name.
    """
    if uri == STATE:
        return msgspec.json.encode(services.indexer.state()).decode()
    if uri == MAP:
        params = MapParams()
        return msgspec.json.encode(fitted(map_of(params, desk()), params.max_tokens)).decode()
    place, _, after = uri.rpartition("/")
    if uri == NOTIFICATIONS:
        return _notifications(services, max(0, services.notifier.latest() - _NEWEST), asked=False)
    if place == NOTIFICATIONS and after.isdecimal() and len(after) < _CURSOR_DIGITS:
        return _notifications(services, int(after), asked=True)
    known = ", ".join([*(str(one.uri) for one in LISTED), NOTIFICATIONS_AFTER])
    raise ValueError(f"no resource {uri[:200]!r}; there are {known}")


def _notifications(services: Services, after: int, *, asked: bool) -> str:
    """asked: the caller has read up to `after`, so that a gap behind it is a loss."""
    notices = services.notifier.after(after)
    messages = [message_of(notice) for notice in notices]
    if asked and notices and notices[0].cursor > after + 1:
        messages.insert(0, missed_message(after, notices[0].cursor))
    return msgspec.json.encode([{"method": one.method, **one.params} for one in messages]).decode()
