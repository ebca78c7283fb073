"""Reviews over the dispatcher, on the wired platform with real boxes: asked for, accepted, decided, waited for."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.builders.verified_shop import PRICES, Shop

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]

RENAMED = PRICES.replace("free", "gratis")
WITH_TAX = RENAMED + "\n\ndef tax(cents):\n    return cents\n"


class Handed:
    """A verified box in the hands of a reviewer."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.session, self.box = shop.box()
        self.write(RENAMED)
        self.review = self.ask_review()
        self.reviewer = str(self.review["reviewer_session"])

    def write(self, text: str) -> None:
        self.shop.put(self.box, "src/prices.py", text)
        verdict = self.shop.verify(self.box)
        assert verdict["status"] == "passed"
        self.verdict = verdict["verify_result_id"]

    def ask_review(self, agent: str = "reviewer", **more: object) -> Any:
        params = {"sandbox_id": self.box, "session_id": self.session, "verify_result_id": self.verdict, **more}
        return self.shop.ask("smp/handoff/review", reviewer_agent=agent, **params)

    def pr(self) -> Any:
        return self.shop.ask("smp/handoff/pr", sandbox_id=self.box, session_id=self.session, title="rename")

    def decide(self, decision: str, comments: str = "", **more: object) -> Any:
        params: dict[str, Any] = {"handoff_id": self.review["handoff_id"], "session_id": self.reviewer, **more}
        return self.shop.ask("smp/handoff/decide", decision=decision, comments=comments, **params)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.fixture
def handed(shop: Shop) -> Handed:
    return Handed(shop)


def test_a_reviewer_gets_a_session_of_its_own_that_reads_the_box_as_it_is(shop: Shop) -> None:
    session, box = shop.box()
    shop.put(box, "src/prices.py", WITH_TAX)
    verdict = shop.verify(box)["verify_result_id"]
    asked: dict[str, Any] = {"sandbox_id": box, "session_id": session, "verify_result_id": verdict}
    got = shop.ask("smp/handoff/review", reviewer_agent="reviewer", **asked)
    reviewer = got["reviewer_session"]
    assert reviewer != session
    assert got == {
        "handoff_id": got["handoff_id"],
        "reviewer_agent": "reviewer",
        "sandbox_id": box,
        "status": "pending_review",
        "reviewer_session": reviewer,
        "verify_result_id": verdict,
    }
    assert got["handoff_id"].startswith("hnd_")
    assert shop.ask("smp/handoff/review", reviewer_agent="reviewer", **asked) == got
    seen = shop.ask("smp/navigate", query="src/prices.py#tax", session_id=reviewer)
    assert seen["entity"]["name"] == "tax"
    assert shop.ask("smp/navigate", query="src/prices.py#tax")["error"]["code"] == -32001
    write = shop.ask("smp/update", file_path="src/prices.py", content="", change_type="modified", session_id=reviewer)
    assert write["error"]["code"] == -32005
    tests = shop.ask("smp/sandbox/execute", sandbox_id=box, session_id=reviewer, command="python -m pytest -q")
    assert tests["exit_code"] == 0
    stranger, _ = shop.box()
    foreign = shop.ask("smp/sandbox/execute", sandbox_id=box, session_id=stranger, command="true")
    assert foreign["error"]["code"] == -32008


def test_without_a_passed_verdict_on_the_present_content_no_review_is_opened(shop: Shop) -> None:
    session, box = shop.box()
    asked: dict[str, Any] = {"sandbox_id": box, "session_id": session, "reviewer_agent": "reviewer"}
    unknown = shop.ask("smp/handoff/review", verify_result_id="ver_sample00000000", **asked)
    shop.put(box, "src/prices.py", RENAMED)
    failed = shop.verify(box, "tests/test_weak.py")["verify_result_id"]
    weak = shop.ask("smp/handoff/review", verify_result_id=failed, **asked)
    passed = shop.verify(box)["verify_result_id"]
    shop.put(box, "src/prices.py", WITH_TAX)
    late = shop.ask("smp/handoff/review", verify_result_id=passed, **asked)
    assert [one["error"]["code"] for one in (unknown, weak, late)] == [-32012] * 3
    assert [one.id for one in shop.services.sessions.active()] == [session]


def test_the_first_call_of_the_reviewer_accepts_and_is_notified_once(handed: Handed) -> None:
    shop = handed.shop
    assert shop.notices("handoff_accepted") == []
    stranger = shop.ask("smp/session/recover", session_id=handed.reviewer, agent_id="somebody-else")
    assert stranger["error"]["code"] == -32015
    assert shop.notices("handoff_accepted") == []
    for _ in range(2):
        recovered = shop.ask("smp/session/recover", session_id=handed.reviewer, agent_id="reviewer")
        assert recovered["status"] == "recovered"
    assert shop.notices("handoff_accepted") == [
        {
            "type": "handoff_accepted",
            "handoff_id": handed.review["handoff_id"],
            "reviewer_agent": "reviewer",
            "sandbox_id": handed.box,
            "severity": "info",
        }
    ]


def test_a_change_waits_for_its_reviewer_and_leaves_with_the_approval_in_its_document(handed: Handed) -> None:
    shop = handed.shop
    waiting = handed.pr()["error"]
    assert (waiting["code"], waiting["data"]["review_status"]) == (-32012, "pending_review")
    assert "smp/handoff/decide" in waiting["message"]
    decided = handed.decide("approve", "reads well")
    assert (decided["status"], decided["comments"], decided["sandbox_id"]) == ("approved", "reads well", handed.box)
    assert handed.decide("approve", "reads well") == decided
    published = handed.pr()
    assert published["status"] == "open"
    assert "approved by `reviewer`" in Path(published["document"]).read_text("utf-8")
    for session in (handed.reviewer, handed.session):
        told = [(event["method"], event.get("result")) for event in shop.audit(session)]
        assert told.count(("smp/handoff/review", "pending_review")) == 1
        assert told.count(("smp/handoff/decide", "approved")) == 1
        assert told.count(("HANDOFF_ACCEPTED", "accepted")) == 1


def test_a_closed_review_leaves_the_authors_box_alone(handed: Handed) -> None:
    closed = handed.shop.ask("smp/session/close", session_id=handed.reviewer, status="completed")
    assert closed["files_written"] == []
    seen = handed.shop.ask("smp/sandbox/execute", sandbox_id=handed.box, command="cat src/prices.py")
    assert seen["stdout"] == RENAMED
    again = handed.ask_review()
    assert again["handoff_id"] != handed.review["handoff_id"], "the author may ask for another session"


def test_only_the_reviewer_decides(handed: Handed) -> None:
    shop = handed.shop
    handoff = handed.review["handoff_id"]
    attempts = [
        handed.decide("approve", session_id=handed.session),
        shop.ask("smp/handoff/decide", handoff_id=handoff, decision="approve"),
        shop.ask_as("coder", "smp/handoff/decide", handoff_id=handoff, decision="approve"),
        shop.ask_as("coder", "smp/handoff/decide", handoff_id=handoff, decision="approve", session_id=handed.reviewer),
    ]
    assert [one["error"]["code"] for one in attempts] == [-32015] * 4
    assert handed.pr()["error"]["code"] == -32012
    token = shop.ask_as("reviewer", "smp/handoff/decide", handoff_id=handoff, decision="approve")
    assert token["status"] == "approved"


def test_changes_asked_for_send_the_author_back_and_the_next_content_to_the_reviewer(handed: Handed) -> None:
    handed.decide("request_changes", "say what is free")
    held = handed.pr()["error"]
    assert (held["code"], held["data"]["review_status"]) == (-32012, "changes_requested")
    assert "say what is free" in held["message"]
    unchanged = handed.ask_review()["error"]
    assert (unchanged["code"], unchanged["data"]["path"]) == (-32602, "reviewer_agent")
    handed.write(PRICES.replace("free", "without_charge"))
    assert handed.pr()["error"]["code"] == -32012, "new content has not been looked at"
    handed.review = handed.ask_review()
    handed.reviewer = handed.review["reviewer_session"]
    handed.decide("approve")
    assert handed.pr()["status"] == "open"


def test_a_rejected_change_does_not_leave_even_with_another_reviewers_approval(handed: Handed) -> None:
    handed.decide("reject", "not wanted")
    handed.review = handed.ask_review("second")
    handed.reviewer = handed.review["reviewer_session"]
    assert handed.decide("approve")["status"] == "approved"
    held = handed.pr()["error"]
    assert (held["code"], held["data"]["reviewer_agent"], held["data"]["review_status"]) == (
        -32012,
        "reviewer",
        "rejected",
    )


def test_an_edit_after_the_handoff_voids_approval(handed: Handed) -> None:
    handed.decide("approve")
    handed.write(PRICES.replace("free", "without_charge"))
    held = handed.pr()["error"]
    assert held["code"] == -32012
    assert "approved other content" in held["message"]


def test_bad_input_gets_its_code(handed: Handed) -> None:
    shop = handed.shop
    codes = {
        "unknown handoff": shop.ask("smp/handoff/decide", handoff_id="hnd_x", decision="approve", session_id="s"),
        "unknown decision": handed.decide("perhaps"),
        "own change": handed.ask_review("coder"),
        "no reviewer": handed.ask_review(""),
        "unknown box": handed.ask_review(sandbox_id="box_unknown"),
        "unknown session": handed.ask_review(session_id="ses_unknown"),
    }
    assert {name: got["error"]["code"] for name, got in codes.items()} == {
        "unknown handoff": -32001,
        "unknown decision": -32602,
        "own change": -32602,
        "no reviewer": -32602,
        "unknown box": -32008,
        "unknown session": -32003,
    }
    shop.put(handed.box, "src/prices.py", WITH_TAX)
    assert handed.decide("approve")["error"]["code"] == -32012, "the content is not the one that was handed over"
    handed.decide("reject")
    twice = handed.decide("approve")["error"]
    assert (twice["code"], twice["data"]["path"]) == (-32602, "decision")
