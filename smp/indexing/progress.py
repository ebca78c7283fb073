"""How far long work is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with a stage (`read`, `link`, `store` …), how much of it is done, and how much there is."""


def tell(progress: Progress | None, stage: str, done: int, total: int) -> None:
    """Say it to whoever listens."""
    if progress is not None:
        progress(stage, done, total)
