"""A fresh `World` for every test of sessions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.session_world import World, a_template, a_world


@pytest.fixture(scope="session")
def session_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_template(tmp_path_factory.mktemp("sessions") / "repo")


@pytest.fixture
def world(session_template: Path, tmp_path: Path) -> Iterator[World]:
    made = a_world(session_template, tmp_path)
    yield made
    made.store.close()
