"""The Python SDK: `Client` and `AsyncClient`, one method a protocol method, typed by the server's own structs.

from smp.client import Client

with Client.http("http://127.0.0.1:8420") as client:
    for hit in client.locate(query="where are prices rounded", ranking="fusion").results:
            print(hit.file, hit.start_line)
    with client.session(agent_id="ada", task="round half up", scope=["src/shop/"]) as session:
        verdict = session.guard_check(target="src/shop/money.py")
"""

from __future__ import annotations

from smp.client.clients import AsyncClient, AsyncSession, Client, Session
from smp.client.failures import CallFailed, ClientError, ErrorCode, Misunderstood, Unreachable
from smp.client.notifications import Missed, Notice

__all__ = [
    "AsyncClient",
    "AsyncSession",
    "CallFailed",
    "Client",
    "ClientError",
    "ErrorCode",
    "Missed",
    "Misunderstood",
    "Notice",
    "Session",
    "Unreachable",
]
