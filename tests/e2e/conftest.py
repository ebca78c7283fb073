"""Fixtures of the sample shop."""

from __future__ import annotations

from tests.builders.shop_repository import shop, until

__all__ = ["shop", "until"]
