"""Large edits travel by reference: a blob in the artifact store, named by its digest, instead of a payload of a run.

A payload is kept in the history of its run and bounded by the server; a blob is kept once and bounded by `MAX_EDITS_BYTES`.
Whoever reads a reference believes of it only what the blob bears out: its files are those that were checked against the scope.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from smp.domain.errors import Invalid, NotFound, TooLarge
from smp.domain.runs import MAX_PROPOSAL_BYTES, Agent, Edit, EditList, EditRef, EditStep, Proposed
from smp.ports.artifact_store import ArtifactStore

MAX_EDITS_BYTES = 64_000_000
"""Of the edits of one attempt, encoded; as much as a checkpoint takes of one file."""

_edits = msgspec.json.Decoder(tuple[Edit, ...]).decode


def stored(artifacts: ArtifactStore, edits: tuple[Edit, ...]) -> EditRef:
    """Keep edits; equal ones are one blob.

    Raises:
        TooLarge: More than `MAX_EDITS_BYTES`.
    """
    body = msgspec.json.encode(edits)
    if len(body) > MAX_EDITS_BYTES:
        raise TooLarge(
            f"edits of {len(body)} bytes; let an agent command make them in the box",
            limit_bytes=MAX_EDITS_BYTES,
            size_bytes=len(body),
        )
    return EditRef(digest=artifacts.put_blob(body), size=len(body), files=tuple(edit.file for edit in edits))


def loaded(artifacts: ArtifactStore, reference: EditRef) -> tuple[Edit, ...]:
    """The edits again.

    Raises:
        NotFound: The blob is not here: the data directory is another one than where the edits were kept.
        Invalid: What is there are no edits of these files.
    """
    body = artifacts.blob(reference.digest)
    if body is None:
        raise NotFound(f"no edits {reference.digest!r}; the run needs the data directory in which they were kept")
    try:
        edits = _edits(body)
    except msgspec.DecodeError as error:
        raise Invalid(f"{reference.digest!r} is no set of edits", path="stored") from error
    if tuple(edit.file for edit in edits) != reference.files:
        raise Invalid(f"{reference.digest!r} holds edits of other files than it was said to", path="stored")
    return edits


def lighter_agent(artifacts: ArtifactStore, agent: Agent, *, limit: int = MAX_PROPOSAL_BYTES) -> Agent:
    """The agent with its edits by reference, where all of them together have more bytes than the limit."""
    if not isinstance(agent, EditList) or len(msgspec.json.encode(agent)) <= limit:
        return agent
    return EditList(steps=tuple(_lighter_step(artifacts, step) for step in agent.steps))


def lighter_proposal(artifacts: ArtifactStore, proposed: Proposed) -> Proposed:
    """The proposal with its edits by reference, where it is more than a payload should be."""
    if len(msgspec.json.encode(proposed)) <= MAX_PROPOSAL_BYTES or not proposed.edits:
        return proposed
    return replace(proposed, edits=(), stored=stored(artifacts, proposed.edits))


def _lighter_step(artifacts: ArtifactStore, step: EditStep) -> EditStep:
    return replace(step, edits=(), stored=stored(artifacts, step.edits)) if step.edits else step
