"""The reviewer in the loop: what it says leads on, back to edit, or out; by Update or over the protocol alike."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from smp.domain.errors import Conflict, Invalid
from smp.domain.ids import AgentId, HandoffId
from smp.domain.runs import ReviewWord, SessionRunRequest
from tests.builders.session_doubles import SessionDoubles
from tests.builders.session_rig import Rig

Settled = Callable[[Rig, str, str], None]

pytestmark = pytest.mark.temporal
WAIT_MS = 60_000


def _request(rig: Rig, *, max_attempts: int = 3, ttl_seconds: int = 3600) -> SessionRunRequest:
    reviewer = AgentId("second-pair-of-eyes")
    return rig.request(reviewer=reviewer, max_attempts=max_attempts, ttl_seconds=ttl_seconds)


def _handoff(rig: Rig, run: str, *, other_than: str = "") -> HandoffId:
    rig.wait_until(lambda: rig.engine.state(run).handoff_id not in (None, other_than))
    handoff = rig.engine.state(run).handoff_id
    assert handoff is not None
    return handoff


def _over_the_protocol(doubles: SessionDoubles, handoff: str, word: str, comments: str) -> None:
    """As `smp/handoff/decide` does it: into the store, without a word to the run."""
    db = doubles._open()
    db.execute("INSERT INTO decisions VALUES (?, ?, ?)", (handoff, word, comments))
    db.close()


def test_changes_that_are_asked_for_go_back_to_edit_and_the_next_handoff_can_be_approved(
    rig: Rig, settled: Settled
) -> None:
    request = _request(rig)
    with rig.worker() as doubles:
        run = rig.engine.start_session(request)
        first = _handoff(rig, run)
        assert rig.engine.state(run).phase == "review"
        _over_the_protocol(doubles, first, "changes_requested", "name it better")
        second = _handoff(rig, run, other_than=first)
        assert rig.engine.decide(run, ReviewWord(handoff_id=second, decision="approve")) == "approved"
        outcome = rig.engine.result(run, timeout_ms=WAIT_MS)
        assert (outcome.status, outcome.attempts) == ("completed", {"changes_requested": 1})
        names = doubles.names()
        after = names[names.index("handoff.review") + 1 :]
        assert after[:2] == ["agent.edits", "session.guard"]
        assert names.index("handoff.pr") > names.index("handoff.decide")
    settled(rig, request.session_id, "completed")


def test_a_rejected_change_is_undone_and_its_comments_are_kept(rig: Rig, settled: Settled) -> None:
    request = _request(rig)
    with rig.worker():
        run = rig.engine.start_session(request)
        word = ReviewWord(handoff_id=_handoff(rig, run), decision="reject", comments="not wanted")
        assert rig.engine.decide(run, word) == "rejected"
        outcome = rig.engine.result(run, timeout_ms=WAIT_MS)
        assert (outcome.status, outcome.reason, outcome.detail) == ("aborted", "rejected", "not wanted")
    settled(rig, request.session_id, "aborted")


def test_a_reviewer_who_is_never_content_spends_the_budget(rig: Rig, settled: Settled) -> None:
    request = _request(rig, max_attempts=2)
    with rig.worker() as doubles:
        run = rig.engine.start_session(request)
        first = _handoff(rig, run)
        _over_the_protocol(doubles, first, "changes_requested", "again")
        _over_the_protocol(doubles, _handoff(rig, run, other_than=first), "changes_requested", "and again")
        outcome = rig.engine.result(run, timeout_ms=WAIT_MS)
        assert (outcome.status, outcome.reason) == ("aborted", "budget_spent")
    settled(rig, request.session_id, "aborted")


def test_words_that_cannot_be_meant_are_refused_and_the_run_goes_on_waiting(rig: Rig, settled: Settled) -> None:
    request = _request(rig)
    with rig.worker():
        run = rig.engine.start_session(request)
        handoff = _handoff(rig, run)
        with pytest.raises(Invalid, match="waits for a word on"):
            rig.engine.decide(run, ReviewWord(handoff_id=HandoffId("hnd_other"), decision="approve"))
        with pytest.raises(Invalid, match="say one of approve, request_changes, reject"):
            rig.engine.decide(run, ReviewWord(handoff_id=handoff, decision="maybe"))
        assert rig.engine.decide(run, ReviewWord(handoff_id=handoff, decision="approve")) == "approved"
        assert rig.engine.result(run, timeout_ms=WAIT_MS).status == "completed"
    settled(rig, request.session_id, "completed")


def test_a_session_without_a_reviewer_waits_for_no_word(rig: Rig) -> None:
    rig.hold_file.touch()
    with rig.worker(hold=("sandbox.execute",)):
        run = rig.engine.start_session(rig.request())
        rig.wait_for_try("sandbox.execute")
        with pytest.raises(Conflict, match="not waiting for a review"):
            rig.engine.decide(run, ReviewWord(handoff_id=HandoffId("hnd_1"), decision="approve"))
        rig.hold_file.unlink()
        assert rig.engine.result(run, timeout_ms=WAIT_MS).status == "completed"


def test_a_review_that_nobody_decides_expires_with_the_session(rig: Rig, settled: Settled) -> None:
    request = _request(rig, ttl_seconds=15)
    with rig.worker():
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=WAIT_MS)
        assert (outcome.status, outcome.reason) == ("expired", "ttl_elapsed")
        assert outcome.steps[-1].startswith("update")
    settled(rig, request.session_id, "expired")


def test_a_cancel_during_a_review_undoes_everything(rig: Rig, settled: Settled) -> None:
    request = _request(rig)
    with rig.worker():
        run = rig.engine.start_session(request)
        _handoff(rig, run)
        rig.engine.cancel(run)
        assert rig.engine.result(run, timeout_ms=WAIT_MS).status == "cancelled"
    settled(rig, request.session_id, "aborted")
