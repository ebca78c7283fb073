"""What a waiting session tells people: every verdict of a proposal, and the command that goes on from there."""

from __future__ import annotations

import pytest

from smp.cli.session_answers import receipt_words, waiting_for
from smp.domain.ids import HandoffId
from smp.domain.runs import PhaseVerdict, ProposalReceipt, SessionRunState

JUDGED = (
    PhaseVerdict(phase="guard", verdict="clear"),
    PhaseVerdict(phase="execute", verdict="fail", detail="exit code 1\n1 failed"),
)


def test_a_receipt_has_each_phase_with_its_words_and_the_next_number() -> None:
    assert receipt_words(ProposalReceipt(seq=3, phase="edit", judged=JUDGED, next_seq=4)).splitlines() == [
        "proposal 3:",
        "  guard: clear",
        "  execute: fail",
        "      exit code 1",
        "      1 failed",
        "sent back; propose number 4",
    ]


@pytest.mark.parametrize(
    ("receipt", "last"),
    [
        (ProposalReceipt(seq=1, phase="review"), "verified; it waits for the reviewer"),
        (
            ProposalReceipt(seq=1, phase="closed", status="aborted", reason="budget_spent"),
            "the session has ended: aborted (budget_spent)",
        ),
        (
            ProposalReceipt(seq=1, phase="closed", status="completed", branch="smp/ses_1"),
            "the session has ended: completed, smp/ses_1",
        ),
    ],
)
def test_a_receipt_ends_in_where_the_session_is(receipt: ProposalReceipt, last: str) -> None:
    assert receipt_words(receipt).splitlines()[-1] == last


def test_what_a_run_waits_for_is_told_as_a_command() -> None:
    review = SessionRunState(phase="review", handoff_id=HandoffId("hnd_1"))
    assert waiting_for("ses_1", review) == ["waits for a review of hnd_1: smp session decide ses_1 approve"]
    remote = SessionRunState(phase="edit", next_seq=2)
    assert waiting_for("ses_1", remote) == ["waits for proposal 2: smp session propose ses_1 --edits change.diff"]
    assert waiting_for("ses_1", SessionRunState(phase="edit")) == []
    assert waiting_for("ses_1", SessionRunState(phase="execute", next_seq=2)) == []
