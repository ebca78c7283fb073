"""Group `memory`, written by `infra/client_methods.py` from the server's structs; do not edit."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from smp.client.caller import AsyncCaller, Caller
from smp.rpc.methods.memory import (
    BatchUpdateParams,
    ChangeItem,
    MerkleParams,
    MerkleResult,
    SyncParams,
    SyncResult,
    UpdateParams,
    UpdateResult,
)

_UPDATE: msgspec.json.Decoder[UpdateResult] = msgspec.json.Decoder(UpdateResult)

_BATCH_UPDATE: msgspec.json.Decoder[UpdateResult] = msgspec.json.Decoder(UpdateResult)

_SYNC: msgspec.json.Decoder[SyncResult] = msgspec.json.Decoder(SyncResult)

_MERKLE_TREE: msgspec.json.Decoder[MerkleResult] = msgspec.json.Decoder(MerkleResult)


class MemoryMethods(Caller):
    """Calls of group `memory`."""

    def update(
        self,
        *,
        type: Literal["file_change"] = "file_change",
        file_path: str,
        content: str | UnsetType = UNSET,
        change_type: Literal["modified", "created", "deleted"],
        session_id: str | UnsetType = UNSET,
    ) -> UpdateResult:
        """Tell the memory that a file was created, modified or deleted."""
        return self._call(
            "smp/update",
            UpdateParams(
                type=type,
                file_path=file_path,
                content=content,
                change_type=change_type,
                session_id=self._session_if_any(session_id),
            ),
            _UPDATE,
        )

    def batch_update(self, *, changes: tuple[ChangeItem, ...], session_id: str | UnsetType = UNSET) -> UpdateResult:
        """Tell the memory of several changed files at once; one invalid change refuses them all."""
        return self._call(
            "smp/batch_update",
            BatchUpdateParams(changes=changes, session_id=self._session_if_any(session_id)),
            _BATCH_UPDATE,
        )

    def sync(self, *, client_root_hash: str, file_hashes: dict[str, str]) -> SyncResult:
        """Compare a client's files and folders with the server's by hash: what to push, what to pull, what is gone.

        A folder (its path ends with a slash) of the server's hash is not entered. One that differs, and in which nothing is
        named, comes back in stale_on_server: name what is in it with the next call."""
        return self._call("smp/sync", SyncParams(client_root_hash=client_root_hash, file_hashes=file_hashes), _SYNC)

    def merkle_tree(self, *, scope: str = "full") -> MerkleResult:
        """The hash tree over all indexed files, for comparison without a connection."""
        return self._call("smp/merkle/tree", MerkleParams(scope=scope), _MERKLE_TREE)


class AsyncMemoryMethods(AsyncCaller):
    """Calls of group `memory`, awaited."""

    async def update(
        self,
        *,
        type: Literal["file_change"] = "file_change",
        file_path: str,
        content: str | UnsetType = UNSET,
        change_type: Literal["modified", "created", "deleted"],
        session_id: str | UnsetType = UNSET,
    ) -> UpdateResult:
        """Tell the memory that a file was created, modified or deleted."""
        return await self._call(
            "smp/update",
            UpdateParams(
                type=type,
                file_path=file_path,
                content=content,
                change_type=change_type,
                session_id=self._session_if_any(session_id),
            ),
            _UPDATE,
        )

    async def batch_update(
        self, *, changes: tuple[ChangeItem, ...], session_id: str | UnsetType = UNSET
    ) -> UpdateResult:
        """Tell the memory of several changed files at once; one invalid change refuses them all."""
        return await self._call(
            "smp/batch_update",
            BatchUpdateParams(changes=changes, session_id=self._session_if_any(session_id)),
            _BATCH_UPDATE,
        )

    async def sync(self, *, client_root_hash: str, file_hashes: dict[str, str]) -> SyncResult:
        """Compare a client's files and folders with the server's by hash: what to push, what to pull, what is gone.

        A folder (its path ends with a slash) of the server's hash is not entered. One that differs, and in which nothing is
        named, comes back in stale_on_server: name what is in it with the next call."""
        return await self._call(
            "smp/sync", SyncParams(client_root_hash=client_root_hash, file_hashes=file_hashes), _SYNC
        )

    async def merkle_tree(self, *, scope: str = "full") -> MerkleResult:
        """The hash tree over all indexed files, for comparison without a connection."""
        return await self._call("smp/merkle/tree", MerkleParams(scope=scope), _MERKLE_TREE)
