"""A session whose edits come from outside: proposals by Update, a verdict of every phase, refusals that leave no trace."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from smp.adapters.runs_temporal import connect
from smp.domain.errors import Conflict, Invalid, NotFound, SmpError, TooLarge
from smp.domain.ids import FilePath
from smp.domain.runs import MAX_PROPOSAL_BYTES, Edit, ProposalReceipt, Proposed, Remote, SessionRunRequest
from tests.builders.session_rig import Rig

Settled = Callable[[Rig, str, str], None]

pytestmark = pytest.mark.temporal
A = FilePath("pkg/a.py")
WAIT_MS = 60_000


def _proposed(seq: int, content: str = "x = 1\n", *, file: FilePath = A) -> Proposed:
    return Proposed(seq=seq, edits=(Edit(file=file, content=content),))


def _said(receipt: ProposalReceipt) -> list[str]:
    return [f"{said.phase}: {said.verdict}" for said in receipt.judged]


def _events(rig: Rig, run: str) -> int:
    async def count() -> int:
        client = await connect(rig.settings.temporal)
        return len((await client.get_workflow_handle(run).fetch_history()).events)

    return asyncio.run(count())


def test_a_proposal_is_answered_with_every_verdict_and_the_next_one_completes(rig: Rig, settled: Settled) -> None:
    request = rig.request(Remote())
    with rig.worker(script={"sandbox.execute": ["fail", "pass"]}) as doubles:
        run = rig.engine.start_session(request)
        first = rig.engine.propose(run, _proposed(1, "x = 0\n"), timeout_ms=WAIT_MS)
        assert (first.phase, first.next_seq, first.attempts) == ("edit", 2, {"fail": 1})
        assert _said(first) == [
            "edit: done", "guard: clear", "dryrun: safe", "checkpoint: done", "write: done", "execute: fail",
        ]  # fmt: skip
        assert first.judged[-1].detail == "sandbox.execute said so"
        assert rig.engine.state(run).next_seq == 2
        second = rig.engine.propose(run, _proposed(2), timeout_ms=WAIT_MS)
        assert (second.phase, second.status, second.branch) == ("closed", "completed", f"smp/{request.session_id}")
        assert _said(second)[-3:] == ["update: done", "handoff: published", "close: done"]
        assert rig.engine.result(run, timeout_ms=WAIT_MS).status == "completed"
        assert doubles.names().count("agent.edits") == 2
        with pytest.raises(NotFound):
            rig.engine.propose(run, _proposed(3), timeout_ms=WAIT_MS)
    settled(rig, request.session_id, "completed")


def test_what_is_refused_says_why_and_adds_no_event(rig: Rig, settled: Settled) -> None:
    request = rig.request(Remote())
    refused: list[tuple[Proposed, type[SmpError], str]] = [
        (_proposed(2), Conflict, "the next proposal is number 1, not 2"),
        (Proposed(seq=1, edits=()), Invalid, "at least one edit"),
        (_proposed(1, file=FilePath("other/b.py")), Invalid, r"'other/b.py' is outside the scope pkg/a.py"),
        (Proposed(seq=1, edits=(_proposed(1).edits * 2)), Invalid, "named twice"),
        (_proposed(1, "x" * MAX_PROPOSAL_BYTES), TooLarge, "propose in parts"),
    ]
    with rig.worker():
        run = rig.engine.start_session(request)
        rig.wait_until(lambda: rig.engine.state(run).phase == "edit")
        before = _events(rig, run)
        for proposed, error, words in refused:
            with pytest.raises(error, match=words):
                rig.engine.propose(run, proposed, timeout_ms=WAIT_MS)
        assert _events(rig, run) == before
        rig.engine.cancel(run)
        assert rig.engine.result(run, timeout_ms=WAIT_MS).status == "cancelled"
    settled(rig, request.session_id, "aborted")


def test_a_session_with_edits_of_its_own_takes_no_proposals(rig: Rig) -> None:
    rig.hold_file.touch()
    with rig.worker(hold=("sandbox.execute",)):
        run = rig.engine.start_session(rig.request())
        rig.wait_for_try("sandbox.execute")
        with pytest.raises(Invalid, match="were given when it began"):
            rig.engine.propose(run, _proposed(1), timeout_ms=WAIT_MS)
        rig.hold_file.unlink()
        assert rig.engine.result(run, timeout_ms=WAIT_MS).status == "completed"


def test_the_same_proposal_again_gives_the_same_receipt_and_no_second_attempt(rig: Rig) -> None:
    with rig.worker(script={"session.guard": ["red_alert", "clear"]}) as doubles:
        run = rig.engine.start_session(rig.request(Remote()))
        first = rig.engine.propose(run, _proposed(1), timeout_ms=WAIT_MS)
        assert rig.engine.propose(run, _proposed(1), timeout_ms=WAIT_MS) == first
        assert doubles.names().count("agent.edits") == 1
        rig.engine.cancel(run)
        rig.engine.result(run, timeout_ms=WAIT_MS)


def test_proposals_beyond_the_budget_end_the_session_and_the_last_receipt_says_so(rig: Rig, settled: Settled) -> None:
    request = rig.request(Remote(), max_attempts=2)
    with rig.worker(script={"session.dryrun": ["breaking"]}):
        run = rig.engine.start_session(request)
        assert rig.engine.propose(run, _proposed(1), timeout_ms=WAIT_MS).phase == "edit"
        last = rig.engine.propose(run, _proposed(2, "x = 2\n"), timeout_ms=WAIT_MS)
        assert (last.phase, last.status, last.reason) == ("closed", "aborted", "budget_spent")
    settled(rig, request.session_id, "aborted")


def test_a_cancel_while_a_proposal_is_judged_undoes_and_answers_the_proposal(rig: Rig, settled: Settled) -> None:
    request = rig.request(Remote())
    rig.hold_file.touch()
    with rig.worker(hold=("sandbox.execute",)), ThreadPoolExecutor(1) as proposing:
        run = rig.engine.start_session(request)
        receipt = proposing.submit(rig.engine.propose, run, _proposed(1), timeout_ms=WAIT_MS)
        rig.wait_for_try("sandbox.execute")
        with pytest.raises(Conflict, match="proposal 1 is being judged"):
            rig.engine.propose(run, _proposed(2), timeout_ms=WAIT_MS)
        rig.engine.cancel(run)
        assert receipt.result(60).status == "cancelled"
        assert rig.engine.result(run, timeout_ms=WAIT_MS).status == "cancelled"
    settled(rig, request.session_id, "aborted")


def test_a_session_that_nobody_proposes_to_expires(rig: Rig, settled: Settled) -> None:
    request = rig.request(Remote(), ttl_seconds=2)
    with rig.worker():
        outcome = rig.engine.result(rig.engine.start_session(request), timeout_ms=WAIT_MS)
        assert (outcome.status, outcome.reason) == ("expired", "ttl_elapsed")
    settled(rig, request.session_id, "expired")


def test_a_touch_gives_a_waiting_session_more_time_in_the_run_and_in_the_store(rig: Rig) -> None:
    with rig.worker() as doubles:
        run = rig.engine.start_session(rig.request(Remote()))
        rig.wait_until(lambda: rig.engine.state(run).phase == "edit")
        before = rig.engine.state(run).deadline

        def touched() -> bool:
            rig.engine.touch(run)
            return rig.engine.state(run).deadline > before

        rig.wait_until(touched)  # the deadline is told in seconds: until one of them has gone by
        rig.wait_for_try("session.touch")
        assert "session.touch" in doubles.names()
        rig.engine.cancel(run)
        rig.engine.result(run, timeout_ms=WAIT_MS)


def test_a_worker_killed_while_it_judges_is_succeeded_and_the_proposal_still_answered(
    rig: Rig, settled: Settled
) -> None:
    request = rig.request(Remote())
    rig.crash_file.touch()
    first = rig.spawn_worker(crash_at="sandbox.write:after")
    run = rig.engine.start_session(request)
    with ThreadPoolExecutor(1) as proposing:
        receipt = proposing.submit(rig.engine.propose, run, _proposed(1), timeout_ms=90_000)
        first.wait(60)
        successor = rig.spawn_worker()
        try:
            assert receipt.result(90).status == "completed"
        finally:
            successor.terminate()
            successor.wait(30)
    settled(rig, request.session_id, "completed")


def test_the_example_drives_a_session_by_a_plain_temporal_client(rig: Rig, tmp_path: Path, settled: Settled) -> None:
    request = rig.request(Remote())
    files = []
    for number in (1, 2):
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(json.dumps([{"file": A, "content": f"x = {number}\n"}]))
    with rig.worker(script={"sandbox.execute": ["fail", "pass"]}):
        run = rig.engine.start_session(request)
        done = _example(rig, request, *map(str, files))
        assert done.returncode == 0, done.stderr
        assert "execute: fail" in done.stdout
        assert f"completed: smp/{request.session_id}" in done.stdout
        assert rig.engine.result(run, timeout_ms=WAIT_MS).status == "completed"
    settled(rig, request.session_id, "completed")


def _example(rig: Rig, request: SessionRunRequest, *files: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).resolve().parents[2]
    return subprocess.run(
        [sys.executable, "-m", "examples.remote_agent", request.session_id, *files],
        env=os.environ | {"SMP_TEMPORAL_ADDRESS": rig.settings.temporal.address},
        cwd=root,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_two_proposals_at_once_are_one_proposal_and_one_refusal(rig: Rig) -> None:
    start = threading.Barrier(2)

    def propose(content: str) -> str:
        start.wait(30)
        try:
            return rig.engine.propose(run, _proposed(1, content), timeout_ms=WAIT_MS).phase
        except Conflict as refused:
            return refused.message

    with rig.worker(script={"session.guard": ["red_alert"]}) as doubles, ThreadPoolExecutor(2) as proposing:
        run = rig.engine.start_session(rig.request(Remote()))
        said = sorted(proposing.map(propose, ["x = 1\n", "x = 2\n"]))
        assert said[0] == "edit"
        assert "proposal 1 is being judged" in said[1] or "the next proposal is number 2, not 1" in said[1]
        assert doubles.names().count("agent.edits") == 1
        rig.engine.cancel(run)
        rig.engine.result(run, timeout_ms=WAIT_MS)
