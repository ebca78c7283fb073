"""A second pair of eyes: a verified box handed to a reviewer, and what the reviewer says about it.

A handoff is three documents, each written once: the request (artifacts, kind `handoff`), its acceptance (the first call
with the reviewer's session, notified once) and the decision (the first one stands). It is about one content of the box.
Whoever asked for a review waits for it: the box leaves only when each reviewer who was asked has approved the content that
is there now. A reviewer who asks for changes does not end the session: the author edits, verifies
and hands the box over again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import datetime

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from smp.domain.errors import (
    Invalid,
    NotFound,
    SandboxNotFound,
    SessionExpired,
    SessionNotFound,
    Unauthorized,
    VerificationRequired,
)
from smp.domain.handoffs import ReviewDecision, ReviewRequest, ReviewStatus
from smp.domain.ids import AgentId, ContentHash, HandoffId, SandboxId, SessionId, VerifyId
from smp.domain.mutants import IntegrityReport
from smp.domain.notifications import HandoffAccepted
from smp.domain.sandboxes import Sandbox, SandboxStatus
from smp.domain.session_steps import OpenedSession, OpenSession
from smp.domain.sessions import AuditEvent, Session, SessionMode, SessionStatus
from smp.domain.verification import passed_reports, tree_hash
from smp.ports.artifact_store import SANDBOX, VERIFY, ArtifactStore
from smp.ports.clock import Clock
from smp.ports.notifier import Notifier
from smp.ports.sandbox_driver import SandboxDriver
from smp.ports.session_store import SessionStore

HANDOFF, ACCEPTANCE, DECISION = "handoff", "handoff_acceptance", "handoff_decision"
REVIEW_METHOD, DECIDE_METHOD, ACCEPTED = "smp/handoff/review", "smp/handoff/decide", "HANDOFF_ACCEPTED"
DECISIONS = {
    "approve": ReviewStatus.APPROVED,
    "request_changes": ReviewStatus.CHANGES_REQUESTED,
    "reject": ReviewStatus.REJECTED,
}
_HELD_BACK = {
    ReviewStatus.PENDING: "has not decided on {id} yet; wait for smp/handoff/decide",
    ReviewStatus.CHANGES_REQUESTED: "asked for changes in {id}; make them, verify, and call smp/handoff/review again",
    ReviewStatus.REJECTED: "rejected {id}; only a changed, verified and approved box can leave this session",
}


class _Acceptance(Struct, frozen=True, kw_only=True):
    """`token` tells the call that came first from those that came at the same time."""

    accepted_at: datetime
    token: str


class ReviewService:
    """See the module. Keeps no state of its own; safe from several threads."""

    def __init__(
        self,
        *,
        clock: Clock,
        driver: SandboxDriver,
        artifacts: ArtifactStore,
        session_store: SessionStore,
        notifier: Notifier,
        open_session: Callable[[OpenSession], OpenedSession],
    ) -> None:
        self._clock = clock
        self._driver = driver
        self._artifacts = artifacts
        self._sessions = session_store
        self._notifier = notifier
        self._open_session = open_session

    def request(self, session: Session, sandbox: Sandbox, reviewer: AgentId, verify_id: VerifyId) -> ReviewRequest:
        """Hand a box to a reviewer, who gets a session of its own that reads the box as it is now.

        Asking again while the reviewer has not decided on this content gives the same handoff.

        Raises:
            SandboxNotFound: The box is of another session, or gone.
            VerificationRequired: `verify_id` is no passed verdict on the present content, or another verdict failed.
            Invalid: The reviewer is the author, or has decided on this very content.
        """
        spec = sandbox.spec
        if spec.session_id != session.id or sandbox.status is SandboxStatus.DESTROYED:
            raise SandboxNotFound(spec.sandbox_id)
        changes = self._driver.changes(sandbox)
        present = tree_hash(spec.commit_sha, changes)
        stored = self._artifacts.list(VERIFY, session_id=session.id)
        reports = [msgspec.json.decode(body, type=IntegrityReport) for _, body in stored]
        passed_reports(reports, sandbox_id=spec.sandbox_id, present=present, verify_id=verify_id)
        if reviewer == session.agent_id:
            raise Invalid("an author does not review its own change; name another agent", path="reviewer_agent")
        earlier = self._earlier(session.id, spec.sandbox_id, reviewer, present)
        if earlier is not None:
            return earlier
        handoff_id = HandoffId(self._clock.fresh_id("hnd"))
        opened = self._open_session(
            OpenSession(
                agent_id=reviewer,
                task=f"review of {handoff_id}, verified by {verify_id}: {session.task}",
                scope=session.scope,
                mode=SessionMode.READ,
                commit_sha=spec.commit_sha,
                reviews=session.id,
                sandbox_id=spec.sandbox_id,
            )
        )
        request = ReviewRequest(
            id=handoff_id,
            session_id=session.id,
            sandbox_id=spec.sandbox_id,
            reviewer_agent=reviewer,
            reviewer_session=opened.session.id,
            verify_result_id=verify_id,
            tree_hash=present,
            requested_at=self._clock.now(),
        )
        self._artifacts.put(HANDOFF, handoff_id, msgspec.json.encode(request), session_id=session.id)
        self._tell_both(
            request,
            AuditEvent(
                seq=0,
                at=request.requested_at,
                method=REVIEW_METHOD,
                key=f"review:{handoff_id}",
                target=handoff_id,
                files=tuple(sorted(change.path for change in changes)),
                result=request.status,
                detail=f"by {reviewer} in {opened.session.id}, verified by {verify_id}",
            ),
        )
        return request

    def accept(self, reviewer: Session) -> None:
        """The reviewer's session was used: its handoff is accepted, once. Harmless for any other session."""
        if reviewer.reviews is None:
            return
        for request in requests_of(self._artifacts, reviewer.reviews):
            if request.reviewer_session != reviewer.id or self._artifacts.get(ACCEPTANCE, request.id) is not None:
                continue
            mine = msgspec.json.encode(_Acceptance(accepted_at=self._clock.now(), token=self._clock.fresh_id("acc")))
            stored = self._artifacts.put_if_absent(ACCEPTANCE, request.id, mine, session_id=request.session_id)
            if stored != mine:
                continue
            at = msgspec.json.decode(stored, type=_Acceptance).accepted_at
            self._tell_both(
                request,
                AuditEvent(
                    seq=0, at=at, method=ACCEPTED, key=f"accept:{request.id}", target=request.id, result="accepted"
                ),
            )
            self._notifier.publish(
                HandoffAccepted(
                    handoff_id=request.id, reviewer_agent=request.reviewer_agent, sandbox_id=request.sandbox_id
                )
            )

    def find(self, handoff_id: str) -> ReviewRequest:
        """A handoff with what has become of it.

        Raises:
            NotFound: Unknown.
        """
        body = self._artifacts.get(HANDOFF, handoff_id)
        if body is None:
            raise NotFound(f"no handoff {handoff_id!r}; smp/handoff/review returns its id", handoff_id=handoff_id)
        return _with_decision(self._artifacts, msgspec.json.decode(body, type=ReviewRequest))

    def decide(
        self, handoff_id: str, decision: str, comments: str, *, session_id: str | None, agent_id: str | None
    ) -> ReviewRequest:
        """Record what the reviewer says. Saying the same again returns what is recorded.

        Args:
            decision: A key of `DECISIONS`.
            session_id: The session the caller shows; the reviewer's is its badge.
            agent_id: The agent the caller is known to be, by its token; None when it is not known.

        Raises:
            NotFound: No such handoff.
            Unauthorized: The caller is not the reviewer, or does not show that it is.
            Invalid: It was decided otherwise before.
            SessionNotFound, SessionExpired: The author's or the reviewer's session is over.
            SandboxNotFound: The box is gone.
            VerificationRequired: Approval of content that has changed since the handoff.
        """
        request = self.find(handoff_id)
        _refuse_others(request, session_id, agent_id)
        wanted = DECISIONS[decision]
        if request.status is ReviewStatus.PENDING:
            self._open_now(request.session_id)
            self.accept(self._open_now(request.reviewer_session))
            if wanted is ReviewStatus.APPROVED:
                self._refuse_changed(request)
            mine = ReviewDecision(status=wanted, comments=comments, decided_at=self._clock.now())
            body = msgspec.json.encode(mine)
            self._artifacts.put_if_absent(DECISION, request.id, body, session_id=request.session_id)
            request = _with_decision(self._artifacts, request)
        if (request.status, request.comments) != (wanted, comments):
            raise Invalid(
                f"{request.id!r} was decided already ({request.status.value}); ask the author to hand it over again",
                path="decision",
            )
        assert request.decided_at is not None, "what is decided has its time"
        self._tell_both(
            request,
            AuditEvent(
                seq=0,
                at=request.decided_at,
                method=DECIDE_METHOD,
                key=f"decide:{request.id}",
                target=request.id,
                result=request.status,
                detail=comments or None,
            ),
        )
        return request

    def _earlier(
        self, session_id: SessionId, sandbox_id: SandboxId, reviewer: AgentId, present: ContentHash
    ) -> ReviewRequest | None:
        """A handoff of this content to this reviewer that can still be decided."""
        for request in requests_of(self._artifacts, session_id):
            if (request.sandbox_id, request.reviewer_agent, request.tree_hash) != (sandbox_id, reviewer, present):
                continue
            if request.status is not ReviewStatus.PENDING:
                raise Invalid(
                    f"{reviewer!r} has decided on this content already ({request.status.value}, {request.id}): "
                    + (
                        "call smp/handoff/pr"
                        if request.status is ReviewStatus.APPROVED
                        else "change and verify it first"
                    ),
                    path="reviewer_agent",
                )
            with contextlib.suppress(SessionNotFound, SessionExpired):
                self._open_now(request.reviewer_session)
                return request
        return None

    def _open_now(self, session_id: SessionId) -> Session:
        session = self._sessions.get(session_id)
        if session is None:
            raise SessionNotFound(session_id)
        late = session.status is SessionStatus.ACTIVE and session.expires_at <= self._clock.now()
        if late or session.status is SessionStatus.EXPIRED:
            raise SessionExpired(session_id)
        if session.status is not SessionStatus.ACTIVE:
            raise SessionNotFound(session_id)
        return session

    def _refuse_changed(self, request: ReviewRequest) -> None:
        body = self._artifacts.get(SANDBOX, request.sandbox_id)
        box = msgspec.json.decode(body, type=Sandbox) if body is not None else None
        if box is None or box.status is SandboxStatus.DESTROYED:
            raise SandboxNotFound(request.sandbox_id)
        if tree_hash(box.spec.commit_sha, self._driver.changes(box)) != request.tree_hash:
            raise VerificationRequired(
                "the box has changed since it was handed over; ask the author to verify it and hand it over again",
                sandbox_id=request.sandbox_id,
                handoff_id=request.id,
            )

    def _tell_both(self, request: ReviewRequest, event: AuditEvent) -> None:
        """In the record of the author and of the reviewer; a repeat leaves one line in each."""
        self._sessions.append(request.session_id, event)
        self._sessions.append(request.reviewer_session, event)


def requests_of(artifacts: ArtifactStore, session_id: SessionId) -> tuple[ReviewRequest, ...]:
    """Handoffs of a session with what has become of each, oldest first."""
    stored = artifacts.list(HANDOFF, session_id=session_id)
    found = (_with_decision(artifacts, msgspec.json.decode(body, type=ReviewRequest)) for _, body in stored)
    return tuple(sorted(found, key=lambda request: (request.requested_at, request.id)))


def require_approval(
    artifacts: ArtifactStore, session_id: SessionId, present: ContentHash
) -> tuple[ReviewRequest, ...]:
    """The approvals of what a session would publish; none when nobody was asked.

    Args:
        present: The content of the box; another box of the session does not get round the review.

    Raises:
        VerificationRequired: A reviewer who was asked has not approved, or has approved other content.
    """
    asked: dict[AgentId, list[ReviewRequest]] = {}
    for request in requests_of(artifacts, session_id):
        asked.setdefault(request.reviewer_agent, []).append(request)
    counting = {reviewer: _counting(requests, present) for reviewer, requests in sorted(asked.items())}
    for reviewer, request in counting.items():
        if request.status is ReviewStatus.APPROVED and request.tree_hash == present:
            continue
        why = _HELD_BACK.get(
            request.status, "approved other content in {id}; call smp/handoff/review for what is in the box now"
        ).format(id=request.id)
        raise VerificationRequired(
            f"reviewer {reviewer!r} {why}" + (f" ({request.comments})" if request.comments else ""),
            handoff_id=request.id,
            reviewer_agent=reviewer,
            review_status=request.status,
            sandbox_id=request.sandbox_id,
        )
    return tuple(counting.values())


def _counting(requests: list[ReviewRequest], present: ContentHash) -> ReviewRequest:
    """Of the handoffs to one reviewer, oldest first: the last word on this content, else the newest of all."""
    decided = [(one.decided_at, one.id, one) for one in requests if one.decided_at and one.tree_hash == present]
    return max(decided)[2] if decided else requests[-1]


def _with_decision(artifacts: ArtifactStore, request: ReviewRequest) -> ReviewRequest:
    body = artifacts.get(DECISION, request.id)
    if body is None:
        return request
    made = msgspec.json.decode(body, type=ReviewDecision)
    return replace(request, status=made.status, comments=made.comments, decided_at=made.decided_at)


def _refuse_others(request: ReviewRequest, session_id: str | None, agent_id: str | None) -> None:
    """A caller shows that it is the reviewer by its token or by the reviewer's session; what it shows must all fit."""
    if session_id is None and agent_id is None:
        raise Unauthorized(
            "only the reviewer decides; name the session that smp/handoff/review opened for it in session_id",
            handoff_id=request.id,
        )
    fits = session_id in (None, request.reviewer_session) and agent_id in (None, request.reviewer_agent)
    if not fits:
        raise Unauthorized(
            f"only the reviewer {request.reviewer_agent!r} decides, with its own session", handoff_id=request.id
        )
