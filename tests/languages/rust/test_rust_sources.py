"""Every annotated source of the language, one test a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent / "sources"


@pytest.mark.parametrize("source", sorted(p for p in SOURCES.iterdir() if p.is_dir()), ids=lambda path: path.name)
def test_calls_of_the_source_are_as_annotated(source: Path, faults_of: Callable[[Path], list[str]]) -> None:
    faults = faults_of(source)
    assert not faults, "\n".join(faults)
