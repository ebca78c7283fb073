"""What a handler receives beside its parameters."""

from __future__ import annotations

from msgspec import Struct

from smp.services import Services


class RequestContext(Struct, frozen=True, kw_only=True):
    """Attributes:
    services: The wired use cases.
    caller: Agent id bound to the token; None on loopback without a token.
    """

    services: Services
    caller: str | None = None
