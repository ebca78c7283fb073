"""Query: what an agent asks of the graph."""

from __future__ import annotations

from smp.rpc.method import RpcMethod
from smp.rpc.methods.query import change, find, locate, paths

METHODS: tuple[RpcMethod, ...] = (*find.METHODS, *change.METHODS, *locate.METHODS, *paths.METHODS)
