"""Small graphs for tests of the read side."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from smp.adapters.memory import MemoryStore
from tests.builders.graph_text import build_store


@pytest.fixture
def graph_of() -> Callable[[str], MemoryStore]:
    """Builds a store from the lines that `tests.builders.graph_text` reads."""
    return build_store
