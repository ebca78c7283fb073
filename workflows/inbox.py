"""Messages to a session run: proposals of a remote agent, words of a reviewer, signs of life. Pure bookkeeping.

Handlers only put in and wait for the answer; the run's main coroutine alone takes out and answers, so that messages that
interleave never move the state at once. What may be put in is decided by `refuse_*`, which the validators call: a message
that is refused leaves no event in the history.
"""

from __future__ import annotations

import msgspec
from temporalio.exceptions import ApplicationError

from smp.domain.ids import HandoffId, SessionId
from smp.domain.paths import covers
from smp.domain.runs import (
    MAX_PROPOSAL_BYTES,
    Phase,
    PhaseVerdict,
    ProposalReceipt,
    Proposed,
    Remote,
    ReviewWord,
    SessionRunRequest,
)

DECISIONS = ("approve", "request_changes", "reject")


class Inbox:
    """See the module. `touched`: somebody asked for more time since it was last looked at."""

    def __init__(self, request: SessionRunRequest) -> None:
        self._request = request
        self.next_seq = 1 if isinstance(request.agent, Remote) else 0
        self.touched = False
        self.receipts: dict[int, ProposalReceipt] = {}
        self._waiting: Proposed | None = None
        self._judging: int | None = None
        self._judged: list[PhaseVerdict] = []
        self.handoff_id: HandoffId | None = None
        self.reviewer_session: SessionId | None = None
        self.word: ReviewWord | None = None
        self.word_answer: str | ApplicationError | None = None

    # Proposals

    def refuse_proposal(self, proposed: Proposed, phase: Phase) -> None:
        """Raise what is wrong with a proposal, in words that say what would be right."""
        if not isinstance(self._request.agent, Remote):
            raise _refusal("Invalid", "this session's edits were given when it began; start one with a remote agent")
        if self._judging is not None:
            raise _refusal("SequenceViolation", f"proposal {self._judging} is being judged; wait for its receipt")
        if phase not in (Phase.OPEN, Phase.SPAWN, Phase.EDIT):
            raise _refusal("SequenceViolation", f"the session is at {phase.value!r} and takes no proposals there")
        if proposed.seq != self.next_seq:
            raise _refusal("SequenceViolation", f"the next proposal is number {self.next_seq}, not {proposed.seq}")
        files = proposed.files
        if proposed.edits and proposed.stored is not None:
            raise _refusal("Invalid", "a proposal has its edits in it or by reference, not both")
        if not files:
            raise _refusal("Invalid", "a proposal has at least one edit; cancel the session to give up")
        if len(set(files)) != len(files):
            raise _refusal("Invalid", "a file is named twice; a proposal has each file once, with all of its content")
        size = len(msgspec.json.encode(proposed))
        if size > MAX_PROPOSAL_BYTES:
            raise _refusal(
                "TooLarge",
                f"a proposal has at most {MAX_PROPOSAL_BYTES} bytes and this one {size}; send its edits by reference, "
                "as smp session propose does, or propose in parts",
            )
        for file in files:
            if not covers(self._request.scope, file):
                raise _refusal("ScopeViolation", f"{file!r} is outside the scope {', '.join(self._request.scope)}")

    def put(self, proposed: Proposed) -> None:
        """A proposal that was not refused; its receipt will be in `receipts`."""
        self._waiting, self._judging, self._judged = proposed, proposed.seq, []
        self.next_seq += 1

    def take(self) -> Proposed | None:
        """The proposal that waits, once."""
        proposed, self._waiting = self._waiting, None
        return proposed

    @property
    def stirred(self) -> bool:
        """Whether the run, waiting for a proposal, has something to do."""
        return self._waiting is not None or self.touched

    def judged(self, verdict: PhaseVerdict) -> None:
        """A phase has spoken; kept for the receipt."""
        if self._judging is not None and self._waiting is None:
            self._judged.append(verdict)

    def settle(self, build: ProposalReceipt) -> None:
        """Answer the proposal that is being judged, if there is one.

        Args:
            build: The receipt without what the inbox knows itself.
        """
        if self._judging is None or (self._waiting is not None and not build.status):
            return  # none, or one that came early and that no phase has seen yet
        self.receipts[self._judging] = msgspec.structs.replace(
            build, seq=self._judging, judged=tuple(self._judged), next_seq=self.next_seq
        )
        self._waiting = self._judging = None

    # Reviews

    @property
    def heard(self) -> bool:
        """Whether the run, waiting for a reviewer, has something to do."""
        return self.touched or (self.word is not None and self.word_answer is None)

    def open_review(self, handoff_id: HandoffId, reviewer_session: SessionId) -> None:
        """Words about this handoff are taken from now on."""
        self.handoff_id, self.reviewer_session = handoff_id, reviewer_session
        self.word = self.word_answer = None

    def close_review(self) -> None:
        """No more words; a handler that still waits is told so."""
        if self.word is not None and self.word_answer is None:
            self.word_answer = _refusal("SequenceViolation", "the review was over before this word was heard")
        self.handoff_id = self.reviewer_session = None

    def refuse_word(self, word: ReviewWord) -> None:
        """Raise what is wrong with a reviewer's word."""
        if self.handoff_id is None:
            raise _refusal("SequenceViolation", "the session is not waiting for a review")
        if word.handoff_id != self.handoff_id:
            raise _refusal("Invalid", f"the session waits for a word on {self.handoff_id!r}, not {word.handoff_id!r}")
        if word.decision not in DECISIONS:
            raise _refusal("Invalid", f"{word.decision!r} is no decision; say one of {', '.join(DECISIONS)}")
        if self.word is not None and self.word_answer is None:
            raise _refusal("SequenceViolation", "another word on this handoff is being taken down")


def _refusal(kind: str, message: str) -> ApplicationError:
    return ApplicationError(message, type=kind, non_retryable=True)
