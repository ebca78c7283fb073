"""Change sets by reference: what an agent proposes is a blob in the artifact store, the workflow carries its digest."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from activities.contract import ChangeSet
from smp.domain.errors import NotFound
from smp.domain.ids import FilePath
from smp.domain.sandboxes import ChangedFile
from smp.indexing.reports import FileChange
from smp.ports.artifact_store import ArtifactStore

DELETED = "deleted"


class ProposedFile(Struct, frozen=True, kw_only=True):
    """One file of a proposal.

    Attributes:
        content: None deletes it.
        mode: None keeps what the file has.
        intended_change: The guard's hint, in its grammar.
    """

    path: FilePath
    content: bytes | None
    mode: int | None = None
    link: str | None = None
    intended_change: str | None = None


def stored(artifacts: ArtifactStore, files: tuple[ProposedFile, ...]) -> ChangeSet:
    """Keep a proposal; equal proposals are one blob, so that a repeated activity gives the same reference."""
    ordered = tuple(sorted(files, key=lambda file: file.path))
    digest = artifacts.put_blob(msgspec.json.encode(ordered))
    return ChangeSet(digest=digest, files=tuple(file.path for file in ordered))


def loaded(artifacts: ArtifactStore, change: ChangeSet) -> tuple[ProposedFile, ...]:
    """The proposal again.

    Raises:
        NotFound: The blob is gone: the data directory is not the one that the run began with.
    """
    body = artifacts.blob(change.digest)
    if body is None:
        raise NotFound(f"no change set {change.digest!r}; the run needs the data directory it began with")
    return msgspec.json.decode(body, type=tuple[ProposedFile, ...])


def as_change(file: ProposedFile) -> FileChange:
    """For the indexer."""
    if file.content is None:
        return FileChange(path=file.path, change_type=DELETED)
    return FileChange(path=file.path, content=file.content)


def as_written(file: ProposedFile, present: ChangedFile | None) -> ChangedFile:
    """For the box; a file that is there keeps its mode unless the proposal names one."""
    mode = file.mode if file.mode is not None else (present.mode if present is not None else 0o644)
    return ChangedFile(path=file.path, content=file.content, mode=mode, link=file.link)
