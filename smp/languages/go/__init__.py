"""Go: packages by go.mod, one scope a package, methods anywhere in it, interfaces met by having their methods."""

from smp.languages.go.language import Go

__all__ = ["Go"]
