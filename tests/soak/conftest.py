"""Fixtures of the session rig."""

from __future__ import annotations

from tests.builders.session_rig import dev_server, own_rig, own_server, rig, settled

__all__ = ["dev_server", "own_rig", "own_server", "rig", "settled"]
