"""Dictionaries of which a part is stored, and loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Entry = TypeVar("_Entry")


class Lazy(dict[_Key, _Entry]):
    """A dictionary whose missing entries are asked for once. What it is iterated over is what was asked for, or put in."""

    def __init__(self, load: Callable[[_Key], _Entry | None]) -> None:
        super().__init__()
        self._load = load
        self._asked: set[_Key] = set()

    def __missing__(self, key: _Key) -> _Entry:
        if key not in self._asked:
            self._asked.add(key)
            loaded = self._load(key)
            if loaded is not None:
                super().__setitem__(key, loaded)
                return loaded
        raise KeyError(key)

    def get(self, key: _Key, default: Any = None) -> Any:
        """As of a dictionary."""
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or self.get(key) is not None  # type: ignore[arg-type]

    def __setitem__(self, key: _Key, entry: _Entry) -> None:
        self._asked.add(key)
        super().__setitem__(key, entry)

    def __delitem__(self, key: _Key) -> None:
        self.get(key)
        super().__delitem__(key)

    def setdefault(self, key: _Key, default: Any = None) -> Any:
        """As of a dictionary."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: _Key, default: Any = None) -> Any:
        """As of a dictionary with a default."""
        self.get(key)
        return super().pop(key, default)

    def __bool__(self) -> bool:
        return True
