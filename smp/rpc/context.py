"""What a handler receives beside its parameters."""

from __future__ import annotations

from msgspec import Struct

from smp.domain.access import Grant
from smp.services import Services


class RequestContext(Struct, frozen=True, kw_only=True):
    """Attributes:
    services: The wired use cases.
    grant: What the caller's token allows; None for the operator: loopback without tokens, or the server's own token.
    """

    services: Services
    grant: Grant | None = None
