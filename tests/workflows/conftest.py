"""Fixtures of the session rig."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from session_rig import dev_server, own_rig, own_server, rig, settings_of, settled

__all__ = ["dev_server", "own_rig", "own_server", "rig", "settings_of", "settled"]
