"""Group `sandbox`, written by `infra/client_methods.py` from the server's structs; do not edit."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from smp.client.caller import AsyncCaller, Caller
from smp.rpc.methods.sandbox import (
    DestroyParams,
    DestroyResult,
    ExecuteParams,
    ExecuteResult,
    LogParams,
    LogResult,
    SpawnParams,
    SpawnResult,
)

_SANDBOX_SPAWN: msgspec.json.Decoder[SpawnResult] = msgspec.json.Decoder(SpawnResult)

_SANDBOX_EXECUTE: msgspec.json.Decoder[ExecuteResult] = msgspec.json.Decoder(ExecuteResult)

_SANDBOX_LOG: msgspec.json.Decoder[LogResult] = msgspec.json.Decoder(LogResult)

_SANDBOX_DESTROY: msgspec.json.Decoder[DestroyResult] = msgspec.json.Decoder(DestroyResult)


class SandboxMethods(Caller):
    """Calls of group `sandbox`."""

    def sandbox_spawn(
        self,
        *,
        session_id: str | UnsetType = UNSET,
        commit_sha: str | UnsetType = UNSET,
        image: str | UnsetType = UNSET,
        services: tuple[str, ...] = (),
        cow_fs_clone: bool = True,
        inject_ebpf: bool = True,
    ) -> SpawnResult:
        """Make a box for a session: the files of a commit and what the session has pushed, no network, limits on all."""
        return self._call(
            "smp/sandbox/spawn",
            SpawnParams(
                session_id=self._session(session_id),
                commit_sha=commit_sha,
                image=image,
                services=services,
                cow_fs_clone=cow_fs_clone,
                inject_ebpf=inject_ebpf,
            ),
            _SANDBOX_SPAWN,
        )

    def sandbox_execute(
        self, *, sandbox_id: str, command: str, timeout_ms: int | UnsetType = UNSET, session_id: str | UnsetType = UNSET
    ) -> ExecuteResult:
        """Run a shell command in a box; nothing that it started is alive afterwards, and files stay for the next one."""
        return self._call(
            "smp/sandbox/execute",
            ExecuteParams(
                sandbox_id=sandbox_id,
                command=command,
                timeout_ms=timeout_ms,
                session_id=self._session_if_any(session_id),
            ),
            _SANDBOX_EXECUTE,
        )

    def sandbox_log(
        self,
        *,
        session_id: str | UnsetType = UNSET,
        execution_id: str,
        stream: Literal["stdout", "stderr"] = "stdout",
        offset: int = 0,
        limit: int = 65536,
    ) -> LogResult:
        """Read what a command of the session wrote, whole (32 MB of each stream), also after its box is gone."""
        return self._call(
            "smp/sandbox/log",
            LogParams(
                session_id=self._session(session_id),
                execution_id=execution_id,
                stream=stream,
                offset=offset,
                limit=limit,
            ),
            _SANDBOX_LOG,
        )

    def sandbox_destroy(self, *, sandbox_id: str, session_id: str | UnsetType = UNSET) -> DestroyResult:
        """End a box and drop what it changed; a box of another session is unknown."""
        return self._call(
            "smp/sandbox/destroy",
            DestroyParams(sandbox_id=sandbox_id, session_id=self._session(session_id)),
            _SANDBOX_DESTROY,
        )


class AsyncSandboxMethods(AsyncCaller):
    """Calls of group `sandbox`, awaited."""

    async def sandbox_spawn(
        self,
        *,
        session_id: str | UnsetType = UNSET,
        commit_sha: str | UnsetType = UNSET,
        image: str | UnsetType = UNSET,
        services: tuple[str, ...] = (),
        cow_fs_clone: bool = True,
        inject_ebpf: bool = True,
    ) -> SpawnResult:
        """Make a box for a session: the files of a commit and what the session has pushed, no network, limits on all."""
        return await self._call(
            "smp/sandbox/spawn",
            SpawnParams(
                session_id=self._session(session_id),
                commit_sha=commit_sha,
                image=image,
                services=services,
                cow_fs_clone=cow_fs_clone,
                inject_ebpf=inject_ebpf,
            ),
            _SANDBOX_SPAWN,
        )

    async def sandbox_execute(
        self, *, sandbox_id: str, command: str, timeout_ms: int | UnsetType = UNSET, session_id: str | UnsetType = UNSET
    ) -> ExecuteResult:
        """Run a shell command in a box; nothing that it started is alive afterwards, and files stay for the next one."""
        return await self._call(
            "smp/sandbox/execute",
            ExecuteParams(
                sandbox_id=sandbox_id,
                command=command,
                timeout_ms=timeout_ms,
                session_id=self._session_if_any(session_id),
            ),
            _SANDBOX_EXECUTE,
        )

    async def sandbox_log(
        self,
        *,
        session_id: str | UnsetType = UNSET,
        execution_id: str,
        stream: Literal["stdout", "stderr"] = "stdout",
        offset: int = 0,
        limit: int = 65536,
    ) -> LogResult:
        """Read what a command of the session wrote, whole (32 MB of each stream), also after its box is gone."""
        return await self._call(
            "smp/sandbox/log",
            LogParams(
                session_id=self._session(session_id),
                execution_id=execution_id,
                stream=stream,
                offset=offset,
                limit=limit,
            ),
            _SANDBOX_LOG,
        )

    async def sandbox_destroy(self, *, sandbox_id: str, session_id: str | UnsetType = UNSET) -> DestroyResult:
        """End a box and drop what it changed; a box of another session is unknown."""
        return await self._call(
            "smp/sandbox/destroy",
            DestroyParams(sandbox_id=sandbox_id, session_id=self._session(session_id)),
            _SANDBOX_DESTROY,
        )
