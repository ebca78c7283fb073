"""Fixtures of the sample shop."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "workflows")]

from shop_repository import shop, until  # noqa: E402

__all__ = ["shop", "until"]
