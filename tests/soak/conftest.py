"""The session rig of `tests/workflows`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "workflows"))

from session_rig import dev_server, own_rig, own_server, rig, settled

__all__ = ["dev_server", "own_rig", "own_server", "rig", "settled"]
