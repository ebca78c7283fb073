"""A server without a server: the same dispatcher in this process, on a repository of this machine."""

from __future__ import annotations

from pathlib import Path

from smp.bootstrap import build_platform
from smp.client.failures import Misunderstood
from smp.client.transports import Transport
from smp.rpc.dispatcher import Dispatcher
from smp.rpc.methods import METHOD_GROUPS
from smp.rpc.registry import MethodRegistry
from smp.settings import load_settings


class InProcessTransport(Transport):
    """The dispatcher; an index is built first where there is none."""

    def __init__(self, repo: Path) -> None:
        """
        Raises:
            SmpError: The folder is no repository, or a store cannot be opened.
        """
        services = build_platform(load_settings(repo))
        if services.indexer.state().built_at is None:
            services.indexer.refresh()
        self._dispatcher = Dispatcher(MethodRegistry(METHOD_GROUPS), services)

    def send(self, request: bytes, *, reads: bool) -> bytes:
        answer = self._dispatcher.handle_bytes(request)
        if answer is None:
            raise Misunderstood("a request without an id has no answer")
        return answer
