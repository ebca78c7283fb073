"""Handoffs to a reviewer: what is recorded when calls race, repeat, or come after the end of a session."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from smp.adapters.sessions_sqlite.artifacts import SqliteArtifactStore
from smp.adapters.sessions_sqlite.notifications import SqliteNotifier
from smp.adapters.sessions_sqlite.sessions import SqliteSessionStore
from smp.domain.errors import (
    Invalid,
    SandboxNotFound,
    SessionExpired,
    SessionNotFound,
    Unauthorized,
    VerificationRequired,
)
from smp.domain.handoffs import ReviewDecision, ReviewRequest, ReviewStatus
from smp.domain.ids import AgentId, AuditId, CommitSha, FilePath, HandoffId, SandboxId, SessionId, VerifyId
from smp.domain.mutants import IntegrityReport
from smp.domain.sandboxes import ChangedFile, SandboxSpec, SandboxStatus
from smp.domain.session_steps import OpenedSession, OpenSession
from smp.domain.sessions import AuditEvent, SessionStatus
from smp.domain.verification import tree_hash
from smp.handoff.review import DECISION, ReviewService, require_approval
from smp.settings import Settings
from tests.builders.folder_boxes import START, make_session
from tests.builders.session_world import FakeDriver, ManualClock

REVIEWER, MONEY = AgentId("reviewer"), FilePath("shop/money.py")


class Table:
    """An author's verified box, and a review service over real stores."""

    def __init__(self, root: Path) -> None:
        settings = Settings(repo=root, data_dir=root, cache_dir=root)
        self.commit = CommitSha("a" * 40)
        self.clock = ManualClock()
        self.driver = FakeDriver()
        self.artifacts = SqliteArtifactStore(settings)
        self.store = SqliteSessionStore(settings)
        self.notifier = SqliteNotifier(settings)
        later = self.clock.now().replace(year=2100)
        self.session = replace(make_session(self.commit, scope=("shop/",)), expires_at=later)
        self.store.insert(self.session, AuditEvent(seq=0, at=START, method="smp/session/open"))
        spec = SandboxSpec(sandbox_id=SandboxId("box_1"), session_id=self.session.id, commit_sha=self.commit)
        self.box = self.driver.spawn(spec)
        self.artifacts.put("sandbox", "box_1", msgspec.json.encode(self.box), session_id=self.session.id)
        self.service = ReviewService(
            clock=self.clock,
            driver=self.driver,
            artifacts=self.artifacts,
            session_store=self.store,
            notifier=self.notifier,
            open_session=self.open,
        )

    def open(self, request: OpenSession) -> OpenedSession:
        session = replace(
            self.session,
            id=SessionId(self.clock.fresh_id("ses")),
            agent_id=request.agent_id,
            mode=request.mode,
            task=request.task,
            reviews=request.reviews,
            sandbox_id=request.sandbox_id,
            audit_id=AuditId(self.clock.fresh_id("aud")),
        )
        self.store.insert(session, AuditEvent(seq=0, at=START, method="smp/session/open"))
        return OpenedSession(session=session, granted_scope=session.scope)

    def write(self, text: str) -> VerifyId:
        """New content with a passed verdict."""
        self.driver.write(self.box, [ChangedFile(path=MONEY, content=text.encode())])
        verify_id = VerifyId(self.clock.fresh_id("ver"))
        report = IntegrityReport(
            id=verify_id,
            session_id=self.session.id,
            sandbox_id=SandboxId("box_1"),
            target_file=MONEY,
            test_file=FilePath("tests/test_money.py"),
            tree_hash=tree_hash(self.commit, self.driver.changes(self.box)),
            status="passed",
        )
        self.artifacts.put("verify", verify_id, msgspec.json.encode(report), session_id=self.session.id)
        return verify_id

    def ask(self, verify_id: VerifyId, reviewer: AgentId = REVIEWER) -> ReviewRequest:
        return self.service.request(self.session, self.box, reviewer, verify_id)

    def decide(self, asked: ReviewRequest, decision: str, comments: str = "") -> ReviewRequest:
        return self.service.decide(asked.id, decision, comments, session_id=asked.reviewer_session, agent_id=None)

    def approvals(self) -> tuple[ReviewRequest, ...]:
        present = tree_hash(self.commit, self.driver.changes(self.box))
        return require_approval(self.artifacts, self.session.id, present)

    def told(self, session_id: SessionId, method: str) -> list[str | None]:
        return [event.result for event in self.store.events(session_id) if event.method == method]

    def end(self, session_id: SessionId, status: SessionStatus) -> None:
        session = self.store.get(session_id)
        assert session is not None
        self.store.write(replace(session, status=status), None, now=self.clock.now())


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path)


def test_nobody_asked_means_nobody_is_waited_for(table: Table) -> None:
    table.write("A = 2\n")
    assert table.approvals() == ()


def test_the_reviewer_is_told_what_was_verified_and_both_records_have_it(table: Table) -> None:
    verify_id = table.write("A = 2\n")
    asked = table.ask(verify_id)
    theirs = table.store.get(asked.reviewer_session)
    assert theirs is not None
    assert (theirs.reviews, theirs.sandbox_id, theirs.mode, theirs.agent_id) == (
        table.session.id,
        "box_1",
        "read",
        REVIEWER,
    )
    assert verify_id in theirs.task
    for session_id in (table.session.id, asked.reviewer_session):
        assert table.told(session_id, "smp/handoff/review") == ["pending_review"]


def test_a_handoff_is_accepted_once_however_often_the_session_is_used(table: Table) -> None:
    asked = table.ask(table.write("A = 2\n"))
    theirs = table.store.get(asked.reviewer_session)
    assert theirs is not None
    for _ in range(3):
        table.service.accept(theirs)
    table.service.accept(table.session)
    table.decide(asked, "approve")
    assert [notice.body.handoff_id for notice in table.notifier.after(0)] == [asked.id]  # type: ignore[union-attr]
    assert table.told(table.session.id, "HANDOFF_ACCEPTED") == ["accepted"]


def test_deciding_is_accepting(table: Table) -> None:
    asked = table.ask(table.write("A = 2\n"))
    table.decide(asked, "reject")
    assert len(table.notifier.after(0)) == 1


def test_of_two_decisions_at_once_the_first_stands_and_the_other_is_told(table: Table) -> None:
    asked = table.ask(table.write("A = 2\n"))
    first = ReviewDecision(status=ReviewStatus.REJECTED, comments="no", decided_at=table.clock.now())
    table.artifacts.put(DECISION, asked.id, msgspec.json.encode(first), session_id=table.session.id)
    with pytest.raises(Invalid, match="rejected"):
        table.decide(asked, "approve")
    assert table.decide(asked, "reject", "no").status is ReviewStatus.REJECTED


def test_a_repeat_after_a_crash_between_decision_and_audit_completes_the_audit(table: Table) -> None:
    asked = table.ask(table.write("A = 2\n"))
    made = ReviewDecision(status=ReviewStatus.APPROVED, comments="", decided_at=table.clock.now())
    table.artifacts.put(DECISION, asked.id, msgspec.json.encode(made), session_id=table.session.id)
    for _ in range(2):
        table.decide(asked, "approve")
    for session_id in (table.session.id, asked.reviewer_session):
        assert table.told(session_id, "smp/handoff/decide") == ["approved"]


def test_a_decision_can_be_repeated_after_the_sessions_have_ended(table: Table) -> None:
    asked = table.ask(table.write("A = 2\n"))
    decided = table.decide(asked, "approve", "fine")
    table.end(asked.reviewer_session, SessionStatus.COMPLETED)
    table.end(table.session.id, SessionStatus.COMPLETED)
    assert table.decide(asked, "approve", "fine") == decided


def test_an_ended_session_has_nothing_to_decide(table: Table) -> None:
    asked = table.ask(table.write("A = 2\n"))
    table.end(asked.reviewer_session, SessionStatus.EXPIRED)
    with pytest.raises(SessionExpired):
        table.decide(asked, "approve")
    table.end(table.session.id, SessionStatus.ABORTED)
    with pytest.raises(SessionNotFound):
        table.decide(asked, "approve")
    assert table.service.find(asked.id).status is ReviewStatus.PENDING


def test_a_session_that_is_over_is_replaced_by_a_new_handoff(table: Table) -> None:
    verify_id = table.write("A = 2\n")
    first = table.ask(verify_id)
    assert table.ask(verify_id) == first
    table.end(first.reviewer_session, SessionStatus.COMPLETED)
    second = table.ask(verify_id)
    assert second.id != first.id
    table.clock.forward(1)
    table.decide(second, "approve")
    assert [one.id for one in table.approvals()] == [second.id]


def test_every_reviewer_who_was_asked_is_waited_for(table: Table) -> None:
    verify_id = table.write("A = 2\n")
    first, second = table.ask(verify_id), table.ask(verify_id, AgentId("second"))
    table.decide(first, "approve")
    with pytest.raises(VerificationRequired, match="'second' has not decided"):
        table.approvals()
    table.decide(second, "approve")
    assert [one.reviewer_agent for one in table.approvals()] == ["reviewer", "second"]


@pytest.mark.parametrize("decision", ["request_changes", "reject"])
def test_after_a_no_only_other_content_with_a_yes_leaves(table: Table, decision: str) -> None:
    verify_id = table.write("A = 2\n")
    table.decide(table.ask(verify_id), decision, "why")
    with pytest.raises(VerificationRequired, match="why"):
        table.approvals()
    with pytest.raises(Invalid, match="change and verify it first"):
        table.ask(verify_id)
    table.clock.forward(1)
    table.decide(table.ask(table.write("A = 3\n")), "approve")
    assert len(table.approvals()) == 1


def test_approval_is_of_the_content_that_was_handed_over(table: Table) -> None:
    asked = table.ask(table.write("A = 2\n"))
    table.write("A = 3\n")
    with pytest.raises(VerificationRequired, match="changed since it was handed over"):
        table.decide(asked, "approve")
    gone = replace(table.box, status=SandboxStatus.DESTROYED)
    table.artifacts.put("sandbox", "box_1", msgspec.json.encode(gone), session_id=table.session.id)
    with pytest.raises(SandboxNotFound):
        table.decide(asked, "approve")


def test_who_decides_shows_that_it_is_the_reviewer_and_nothing_else(table: Table) -> None:
    asked = table.ask(table.write("A = 2\n"))
    wrong = [(None, None), (table.session.id, None), (None, "coder"), (asked.reviewer_session, "coder")]
    wrong.append((table.session.id, REVIEWER))
    for session_id, agent_id in wrong:
        with pytest.raises(Unauthorized):
            table.service.decide(asked.id, "approve", "", session_id=session_id, agent_id=agent_id)
    assert table.service.decide(asked.id, "approve", "", session_id=None, agent_id=REVIEWER).decided_at is not None


def test_an_author_cannot_review_its_own_change(table: Table) -> None:
    verify_id = table.write("A = 2\n")
    with pytest.raises(Invalid) as caught:
        table.ask(verify_id, table.session.agent_id)
    assert caught.value.path == "reviewer_agent"


def test_of_two_handoffs_of_the_same_content_either_approval_will_do(table: Table) -> None:
    verify_id = table.write("A = 2\n")
    first = table.ask(verify_id)
    twin = replace(first, id=HandoffId("hnd_twin"), requested_at=first.requested_at + timedelta(seconds=1))
    table.artifacts.put("handoff", twin.id, msgspec.json.encode(twin), session_id=table.session.id)
    table.decide(first, "approve")
    assert [one.id for one in table.approvals()] == [first.id]


def test_content_that_was_turned_down_is_not_let_out_by_the_approval_of_its_successor(table: Table) -> None:
    table.decide(table.ask(table.write("A = 2\n")), "reject")
    table.clock.forward(1)
    table.decide(table.ask(table.write("A = 3\n")), "approve")
    assert len(table.approvals()) == 1
    table.write("A = 2\n")
    with pytest.raises(VerificationRequired, match="rejected"):
        table.approvals()
