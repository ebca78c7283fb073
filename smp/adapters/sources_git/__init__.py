"""The files of a git repository, by git itself."""

from __future__ import annotations

from smp.adapters.sources_git.tree import GitSourceTree

__all__ = ["GitSourceTree"]
