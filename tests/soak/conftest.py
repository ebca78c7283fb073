"""Fixtures of the session rig and of the sample shop."""

from __future__ import annotations

from tests.builders.session_rig import dev_server, own_rig, own_server, rig, settled
from tests.builders.shop_repository import shop

__all__ = ["dev_server", "own_rig", "own_server", "rig", "settled", "shop"]
