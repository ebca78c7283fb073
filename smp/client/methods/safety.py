"""Group `safety`, written by `infra/client_methods.py` from the server's structs; do not edit."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from smp.client.caller import AsyncCaller, Caller
from smp.domain.sessions import Concurrency, SessionMode
from smp.rpc.methods.safety import (
    AuditParams,
    AuditResult,
    BlockedResult,
    CheckpointResult,
    ClearResult,
    CloseParams,
    CloseResult,
    DryrunParams,
    DryrunResult,
    ExpiredResult,
    FilesParams,
    GuardParams,
    LockResult,
    OpenParams,
    OpenResult,
    RecoveredResult,
    RecoverParams,
    RedAlertResult,
    RollbackParams,
    RollbackResult,
    UnlockResult,
)

_SESSION_OPEN: msgspec.json.Decoder[OpenResult] = msgspec.json.Decoder(OpenResult)

_SESSION_RECOVER: msgspec.json.Decoder[RecoveredResult | ExpiredResult] = msgspec.json.Decoder(
    RecoveredResult | ExpiredResult
)

_SESSION_CLOSE: msgspec.json.Decoder[CloseResult] = msgspec.json.Decoder(CloseResult)

_GUARD_CHECK: msgspec.json.Decoder[ClearResult | RedAlertResult | BlockedResult] = msgspec.json.Decoder(
    ClearResult | RedAlertResult | BlockedResult
)

_DRYRUN: msgspec.json.Decoder[DryrunResult] = msgspec.json.Decoder(DryrunResult)

_CHECKPOINT: msgspec.json.Decoder[CheckpointResult] = msgspec.json.Decoder(CheckpointResult)

_ROLLBACK: msgspec.json.Decoder[RollbackResult] = msgspec.json.Decoder(RollbackResult)

_LOCK: msgspec.json.Decoder[LockResult] = msgspec.json.Decoder(LockResult)

_UNLOCK: msgspec.json.Decoder[UnlockResult] = msgspec.json.Decoder(UnlockResult)

_AUDIT_GET: msgspec.json.Decoder[AuditResult] = msgspec.json.Decoder(AuditResult)


class SafetyMethods(Caller):
    """Calls of group `safety`."""

    def session_open(
        self,
        *,
        agent_id: str,
        task: str,
        scope: tuple[str, ...],
        mode: SessionMode,
        commit_sha: str | UnsetType = UNSET,
        concurrency: Concurrency = Concurrency.MVCC,
        ttl_seconds: int | UnsetType = UNSET,
    ) -> OpenResult:
        """Declare intent before touching the code."""
        return self._call(
            "smp/session/open",
            OpenParams(
                agent_id=agent_id,
                task=task,
                scope=scope,
                mode=mode,
                commit_sha=commit_sha,
                concurrency=concurrency,
                ttl_seconds=ttl_seconds,
            ),
            _SESSION_OPEN,
        )

    def session_recover(self, *, session_id: str | UnsetType = UNSET, agent_id: str) -> RecoveredResult | ExpiredResult:
        """Come back to a session after a restart or crash."""
        return self._call(
            "smp/session/recover",
            RecoverParams(session_id=self._session(session_id), agent_id=agent_id),
            _SESSION_RECOVER,
        )

    def session_close(
        self, *, session_id: str | UnsetType = UNSET, status: Literal["completed", "aborted", "rolled_back"]
    ) -> CloseResult:
        """End a session: its sandbox is destroyed, its locks are released, its audit log is complete."""
        return self._call(
            "smp/session/close", CloseParams(session_id=self._session(session_id), status=status), _SESSION_CLOSE
        )

    def guard_check(
        self,
        *,
        session_id: str | UnsetType = UNSET,
        target: str,
        intended_change: str | UnsetType = UNSET,
        coverage_report: str | UnsetType = UNSET,
    ) -> ClearResult | RedAlertResult | BlockedResult:
        """Whether a file may be written now: scope, locks, heat, and the coverage of what is about to change."""
        return self._call(
            "smp/guard/check",
            GuardParams(
                session_id=self._session(session_id),
                target=target,
                intended_change=intended_change,
                coverage_report=coverage_report,
            ),
            _GUARD_CHECK,
        )

    def dryrun(
        self, *, session_id: str | UnsetType = UNSET, file_path: str, proposed_content: str, change_summary: str = ""
    ) -> DryrunResult:
        """What a write would change and break; nothing is written."""
        return self._call(
            "smp/dryrun",
            DryrunParams(
                session_id=self._session(session_id),
                file_path=file_path,
                proposed_content=proposed_content,
                change_summary=change_summary,
            ),
            _DRYRUN,
        )

    def checkpoint(self, *, session_id: str | UnsetType = UNSET, files: tuple[str, ...]) -> CheckpointResult:
        """Save files as they are, so that smp/rollback can bring them back; absent files are saved as absent."""
        return self._call("smp/checkpoint", FilesParams(session_id=self._session(session_id), files=files), _CHECKPOINT)

    def rollback(self, *, session_id: str | UnsetType = UNSET, checkpoint_id: str) -> RollbackResult:
        """Bring files and memory back to a checkpoint."""
        return self._call(
            "smp/rollback", RollbackParams(session_id=self._session(session_id), checkpoint_id=checkpoint_id), _ROLLBACK
        )

    def lock(self, *, session_id: str | UnsetType = UNSET, files: tuple[str, ...]) -> LockResult:
        """Claim exclusive write access; exclusive sessions only. What another session holds is listed, not raised."""
        return self._call("smp/lock", FilesParams(session_id=self._session(session_id), files=files), _LOCK)

    def unlock(self, *, session_id: str | UnsetType = UNSET, files: tuple[str, ...]) -> UnlockResult:
        """Give locks back; closing the session does so too."""
        return self._call("smp/unlock", FilesParams(session_id=self._session(session_id), files=files), _UNLOCK)

    def audit_get(self, *, audit_log_id: str) -> AuditResult:
        """The record of a session that has ended: what it asked, wrote, was refused, took back."""
        return self._call("smp/audit/get", AuditParams(audit_log_id=audit_log_id), _AUDIT_GET)


class AsyncSafetyMethods(AsyncCaller):
    """Calls of group `safety`, awaited."""

    async def session_open(
        self,
        *,
        agent_id: str,
        task: str,
        scope: tuple[str, ...],
        mode: SessionMode,
        commit_sha: str | UnsetType = UNSET,
        concurrency: Concurrency = Concurrency.MVCC,
        ttl_seconds: int | UnsetType = UNSET,
    ) -> OpenResult:
        """Declare intent before touching the code."""
        return await self._call(
            "smp/session/open",
            OpenParams(
                agent_id=agent_id,
                task=task,
                scope=scope,
                mode=mode,
                commit_sha=commit_sha,
                concurrency=concurrency,
                ttl_seconds=ttl_seconds,
            ),
            _SESSION_OPEN,
        )

    async def session_recover(
        self, *, session_id: str | UnsetType = UNSET, agent_id: str
    ) -> RecoveredResult | ExpiredResult:
        """Come back to a session after a restart or crash."""
        return await self._call(
            "smp/session/recover",
            RecoverParams(session_id=self._session(session_id), agent_id=agent_id),
            _SESSION_RECOVER,
        )

    async def session_close(
        self, *, session_id: str | UnsetType = UNSET, status: Literal["completed", "aborted", "rolled_back"]
    ) -> CloseResult:
        """End a session: its sandbox is destroyed, its locks are released, its audit log is complete."""
        return await self._call(
            "smp/session/close", CloseParams(session_id=self._session(session_id), status=status), _SESSION_CLOSE
        )

    async def guard_check(
        self,
        *,
        session_id: str | UnsetType = UNSET,
        target: str,
        intended_change: str | UnsetType = UNSET,
        coverage_report: str | UnsetType = UNSET,
    ) -> ClearResult | RedAlertResult | BlockedResult:
        """Whether a file may be written now: scope, locks, heat, and the coverage of what is about to change."""
        return await self._call(
            "smp/guard/check",
            GuardParams(
                session_id=self._session(session_id),
                target=target,
                intended_change=intended_change,
                coverage_report=coverage_report,
            ),
            _GUARD_CHECK,
        )

    async def dryrun(
        self, *, session_id: str | UnsetType = UNSET, file_path: str, proposed_content: str, change_summary: str = ""
    ) -> DryrunResult:
        """What a write would change and break; nothing is written."""
        return await self._call(
            "smp/dryrun",
            DryrunParams(
                session_id=self._session(session_id),
                file_path=file_path,
                proposed_content=proposed_content,
                change_summary=change_summary,
            ),
            _DRYRUN,
        )

    async def checkpoint(self, *, session_id: str | UnsetType = UNSET, files: tuple[str, ...]) -> CheckpointResult:
        """Save files as they are, so that smp/rollback can bring them back; absent files are saved as absent."""
        return await self._call(
            "smp/checkpoint", FilesParams(session_id=self._session(session_id), files=files), _CHECKPOINT
        )

    async def rollback(self, *, session_id: str | UnsetType = UNSET, checkpoint_id: str) -> RollbackResult:
        """Bring files and memory back to a checkpoint."""
        return await self._call(
            "smp/rollback", RollbackParams(session_id=self._session(session_id), checkpoint_id=checkpoint_id), _ROLLBACK
        )

    async def lock(self, *, session_id: str | UnsetType = UNSET, files: tuple[str, ...]) -> LockResult:
        """Claim exclusive write access; exclusive sessions only. What another session holds is listed, not raised."""
        return await self._call("smp/lock", FilesParams(session_id=self._session(session_id), files=files), _LOCK)

    async def unlock(self, *, session_id: str | UnsetType = UNSET, files: tuple[str, ...]) -> UnlockResult:
        """Give locks back; closing the session does so too."""
        return await self._call("smp/unlock", FilesParams(session_id=self._session(session_id), files=files), _UNLOCK)

    async def audit_get(self, *, audit_log_id: str) -> AuditResult:
        """The record of a session that has ended: what it asked, wrote, was refused, took back."""
        return await self._call("smp/audit/get", AuditParams(audit_log_id=audit_log_id), _AUDIT_GET)
