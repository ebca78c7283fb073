"""`smp session propose|touch|decide`: what a run that waits is told, for orchestrators and reviewers without a Temporal client."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from smp.bootstrap import build_platform
from smp.cli.options import json_option, repository_options, say
from smp.cli.session_edits import read_edits
from smp.domain.errors import Conflict, Invalid
from smp.domain.ids import CommitSha, HandoffId, SessionId
from smp.domain.runs import (
    EditList,
    Phase,
    ProposalReceipt,
    Proposed,
    Remote,
    ReviewWord,
    SessionRunRequest,
    SessionRunState,
    workflow_id_of,
)
from smp.settings import Settings


@click.command()
@click.argument("session_id")
@click.option(
    "--edits", type=click.Path(path_type=Path), required=True, help="A unified diff, or a JSON file of edits."
)
@click.option("--seq", type=click.IntRange(1), default=None, help="Number of the proposal.  [default: the next]")
@click.option("--commit", default="HEAD", show_default=True, help="The commit that a diff applies to.")
@click.option(
    "--wait", type=click.IntRange(1), default=3600, show_default=True, help="Seconds to wait for the verdicts."
)
@click.option("--json", "as_json", is_flag=True, help="Print the receipt as one JSON object.")
@repository_options
def propose(
    settings: Settings, session_id: str, edits: Path, seq: int | None, commit: str, wait: int, as_json: bool
) -> None:
    """Propose edits to a session that was started with --remote, and hear what each phase says about them.

    Exit code 0 when they were accepted, 1 when the session goes back to edit or has ended otherwise.
    """
    services = build_platform(settings)
    sha = services.sources.resolve(commit) if commit != "HEAD" else services.sources.head()
    step = read_edits(edits, repo=settings.repo, commit=CommitSha(sha or commit))
    if isinstance(step, EditList):
        if len(step.steps) != 1:
            raise Invalid("a proposal is one step; propose the next one when this is judged", path="edits")
        step = step.steps[0]
    run = workflow_id_of(SessionId(session_id))
    number = seq if seq is not None else services.runs.state(run).next_seq
    proposed = Proposed(seq=number, edits=step.edits, summary=step.summary)
    receipt = services.runs.propose(run, proposed, timeout_ms=wait * 1000)
    click.echo(msgspec.json.encode(receipt).decode() if as_json else receipt_words(receipt))
    if receipt.phase != Phase.REVIEW and receipt.status != "completed":
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("session_id")
@json_option
@repository_options
def touch(settings: Settings, session_id: str, as_json: bool) -> None:
    """Give a session that waits for edits or for a review its whole time to live again."""
    build_platform(settings).runs.touch(workflow_id_of(SessionId(session_id)))
    say(as_json, {"session_id": session_id, "asked": "touch"}, f"asked for more time for {session_id}")


@click.command()
@click.argument("session_id")
@click.argument("decision", type=click.Choice(["approve", "request_changes", "reject"]))
@click.option("--comments", default="", help="Why; what the author is told.")
@json_option
@repository_options
def decide(settings: Settings, session_id: str, decision: str, comments: str, as_json: bool) -> None:
    """Say as its reviewer what becomes of a session that waits for a review."""
    services = build_platform(settings)
    run = workflow_id_of(SessionId(session_id))
    handoff = services.runs.state(run).handoff_id
    if handoff is None:
        raise Conflict(f"{session_id!r} does not wait for a review; smp session show tells where it is")
    said = services.runs.decide(run, ReviewWord(handoff_id=HandoffId(handoff), decision=decision, comments=comments))
    say(as_json, {"handoff_id": handoff, "status": said}, f"{handoff}: {said}")


def receipt_words(receipt: ProposalReceipt) -> str:
    """A receipt for people: each phase's verdict, and what to do next."""
    lines = [f"proposal {receipt.seq}:"]
    for said in receipt.judged:
        words = said.detail.strip().replace("\n", "\n      ")
        lines.append(f"  {said.phase}: {said.verdict}" + (f"\n      {words}" if words else ""))
    if receipt.phase == Phase.EDIT:
        lines.append(f"sent back; propose number {receipt.next_seq}")
    elif receipt.phase == Phase.REVIEW:
        lines.append("verified; it waits for the reviewer")
    else:
        why = f" ({receipt.reason})" if receipt.reason else ""
        lines.append(
            f"the session has ended: {receipt.status}{why}" + (f", {receipt.branch}" if receipt.branch else "")
        )
    return "\n".join(lines)


def how_to_answer(request: SessionRunRequest) -> list[str]:
    """What the one who started a waiting session can do."""
    lines = []
    if isinstance(request.agent, Remote):
        lines += [
            f"session {request.session_id} waits for edits:",
            f"  smp session propose {request.session_id} --edits change.diff",
        ]
    if request.reviewer is not None:
        lines += [
            f"{request.reviewer} will be asked to review it:",
            f"  smp session decide {request.session_id} approve|request_changes|reject --comments …",
        ]
    return [*lines, f"  smp session touch {request.session_id}   (more time)"]


def waiting_for(session_id: str, state: SessionRunState) -> list[str]:
    """What a run waits for, if for anything."""
    if state.phase == Phase.REVIEW and state.handoff_id is not None:
        return [f"waits for a review of {state.handoff_id}: smp session decide {session_id} approve"]
    if state.phase == Phase.EDIT and state.next_seq:
        return [f"waits for proposal {state.next_seq}: smp session propose {session_id} --edits change.diff"]
    return []


ANSWERS = (propose, touch, decide)
