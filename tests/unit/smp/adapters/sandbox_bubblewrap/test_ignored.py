"""New files that are no change: git's rules at every level, and what test runs leave behind."""

from __future__ import annotations

import pytest

from smp.adapters.sandbox_bubblewrap.ignored import IgnoreRules

FILES = {
    ".gitignore": b"*.log\n/dist/\n!keep.log\n",
    "sub/.gitignore": b"!local.log\ngenerated.py\n",
}


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("a.log", False, True),
        ("deep/er/a.log", False, True),
        ("keep.log", False, False),
        ("sub/local.log", False, False),
        ("sub/generated.py", False, True),
        ("generated.py", False, False),
        ("dist", True, True),
        ("dist", False, False),
        ("sub/dist", True, False),
        ("a/__pycache__", True, True),
        ("a/b.pyc", False, True),
        (".coverage", False, True),
        (".coverage.host.1", False, True),
        ("src/a.py", False, False),
    ],
)
def test_rules_of_every_level_count_and_deeper_ones_win(path: str, folder: bool, expected: bool) -> None:
    assert IgnoreRules(FILES.get).ignored(path, folder=folder) is expected
