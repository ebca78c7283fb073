"""No module grows past 600 lines (design/style.md)."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 600


def test_no_module_is_longer_than_the_limit() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text("utf-8", "replace").splitlines())
        for folder in ("smp", "workflows", "activities", "workers", "tests", "infra", "examples")
        for path in (ROOT / folder).rglob("*.py")
    }
    assert {name: lines for name, lines in lengths.items() if lines > LIMIT} == {}
