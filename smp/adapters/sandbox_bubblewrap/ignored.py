"""Which new files of a box are no change of the project: what git would ignore, and what test runs leave behind."""

from __future__ import annotations

from collections.abc import Callable

import pathspec

_CACHES = frozenset(
    [
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".tox",
        ".nox",
        ".coverage",
        ".smp",
        "node_modules",
        ".git",
    ]
)
_SUFFIXES = (".pyc", ".pyo")


class IgnoreRules:
    """The `.gitignore` files of a checkout, read when first needed.

    Args:
        read: Content of a file of the checkout by path, None where there is none.
    """

    def __init__(self, read: Callable[[str], bytes | None]) -> None:
        self._read = read
        self._specs: dict[str, pathspec.GitIgnoreSpec | None] = {}

    def ignored(self, path: str, *, folder: bool) -> bool:
        """Whether a path that the commit does not have is left out; deeper rules win over higher ones."""
        name = path.rsplit("/", 1)[-1]
        if name in _CACHES or name.endswith(_SUFFIXES) or name.startswith(".coverage."):
            return True
        parts = path.split("/")
        for depth in range(len(parts) - 1, -1, -1):
            spec = self._spec("/".join(parts[:depth]))
            if spec is None:
                continue
            verdict = spec.check_file("/".join(parts[depth:]) + ("/" if folder else "")).include
            if verdict is not None:
                return verdict
        return False

    def _spec(self, folder: str) -> pathspec.GitIgnoreSpec | None:
        if folder not in self._specs:
            content = self._read(f"{folder}/.gitignore" if folder else ".gitignore")
            lines = content.decode(errors="replace").splitlines() if content is not None else []
            self._specs[folder] = pathspec.GitIgnoreSpec.from_lines(lines) if lines else None
        return self._specs[folder]
