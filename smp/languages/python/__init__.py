"""Python."""

from smp.languages.python.language import Python

__all__ = ["Python"]
