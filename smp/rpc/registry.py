"""All methods of the protocol, from an explicit list of groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import cast

from smp.rpc.method import RpcMethod


class MethodRegistry(Mapping[str, RpcMethod]):
    """Methods by name. A group is a module with `METHODS: tuple[RpcMethod, ...]`."""

    def __init__(self, groups: Iterable[ModuleType]) -> None:
        self._methods: dict[str, RpcMethod] = {}
        for group in groups:
            for method in cast("tuple[RpcMethod, ...]", group.METHODS):
                if method.name in self._methods:
                    raise ValueError(f"two handlers for {method.name}")
                self._methods[method.name] = method

    def __getitem__(self, name: str) -> RpcMethod:
        return self._methods[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._methods)

    def __len__(self) -> int:
        return len(self._methods)
