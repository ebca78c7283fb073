"""Whole sessions over the real services: index, box, tests, mutants, branch; and what is left when something dies."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from smp.adapters.runs_temporal import TemporalRunEngine, connect
from smp.bootstrap import build_platform
from smp.cli import devserver
from smp.domain.ids import AgentId, FilePath, SandboxId, SessionId
from smp.domain.runs import (
    Agent,
    Command,
    Edit,
    EditList,
    EditStep,
    Patience,
    SessionOutcome,
    SessionRunRequest,
    queue_of,
)
from smp.services import Services
from tests.builders.shop_repository import FIXED, TESTS, Shop

pytestmark = [pytest.mark.temporal, pytest.mark.sandbox, pytest.mark.slow]
Until = Callable[[Callable[[], object]], None]

PRICES, TEST_FILE = FilePath("shop/prices.py"), FilePath("tests/test_prices.py")
TEST_COMMAND = "python -m pytest -q -p no:cacheprovider"
SLOW_COMMAND = f"sleep 4; {TEST_COMMAND}"


def _edits(*steps: dict[FilePath, str]) -> EditList:
    return EditList(
        steps=tuple(
            EditStep(edits=tuple(Edit(file=file, content=content) for file, content in step.items())) for step in steps
        )
    )


def _request(services: Services, agent: Agent, *, test_command: str = TEST_COMMAND) -> SessionRunRequest:
    commit = services.sources.head()
    assert commit is not None
    return SessionRunRequest(
        session_id=SessionId(services.clock.fresh_id("ses")),
        sandbox_id=SandboxId(services.clock.fresh_id("box")),
        agent_id=AgentId("tester"),
        task="a percentage is a hundredth",
        repository="shop",
        scope=(PRICES, TEST_FILE),
        commit_sha=commit,
        agent=agent,
        test_command=test_command,
        task_queue=queue_of(services.settings.runs_of),
        patience=Patience(heartbeat=3.0),
    )


def _settled(shop: Shop, services: Services, outcome: SessionOutcome) -> None:
    """One branch exactly where it completed; the audit in order and whole; no lock, no box, no open session."""
    assert shop.branches() == ([f"smp/{outcome.session_id}"] if outcome.status == "completed" else [])
    assert services.session_store.locks() == ()
    assert services.session_store.active() == ()
    assert list((shop.settings.data_dir / "boxes").glob("box_*")) == []
    events = services.session_store.events(outcome.session_id)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    keys = [event.key for event in events if event.key]
    assert len(keys) == len(set(keys))
    methods = [event.method for event in events]
    assert methods[0] == "smp/session/open"
    assert methods[-1] == "smp/session/close"
    assert methods.count("smp/session/close") == methods.count("smp/session/open") == 1
    assert shop.git("status", "--porcelain") == ""


def test_a_bug_is_shown_fixed_verified_and_pushed(shop: Shop) -> None:
    services = build_platform(shop.settings)
    services.indexer.refresh()
    agent = _edits({TEST_FILE: TESTS}, {PRICES: FIXED})
    with shop.worker():
        run = services.runs.start_session(_request(services, agent))
        outcome = services.runs.result(run, timeout_ms=240_000)
    assert outcome.status == "completed", outcome.detail
    assert outcome.attempts == {"fail": 1}
    assert "mutants of the changed lines were noticed" in outcome.notes["verify"]
    events = services.session_store.events(outcome.session_id)
    worked = ("FILE_WRITE", "smp/sandbox/execute", "smp/verify/integrity", "smp/handoff/pr")
    assert [(event.method, event.result) for event in events if event.method in worked] == [
        ("FILE_WRITE", "written"),
        ("smp/sandbox/execute", "started"),
        ("smp/sandbox/execute", "exit code 1"),
        ("FILE_WRITE", "written"),
        ("smp/sandbox/execute", "started"),
        ("smp/sandbox/execute", "exit code 0"),
        ("smp/verify/integrity", "passed"),
        ("smp/handoff/pr", "open"),
    ]
    assert outcome.report is not None
    assert "## Mutation testing" in Path(outcome.report).read_text()
    shop.git("fetch", "--quiet", "origin", str(outcome.branch))
    assert shop.git("show", f"FETCH_HEAD:{PRICES}") == FIXED
    _settled(shop, services, outcome)


def test_a_worker_judges_by_the_tree_as_it_is_now(shop: Shop) -> None:
    """Its index was made before the caller and its test came; an orchestrator that starts the run refreshes nothing."""
    services = build_platform(shop.settings)
    services.indexer.refresh()
    caller = "from shop.prices import discounted\n\n\ndef total(cents: int) -> int:\n    return discounted(cents, 0)\n"
    (shop.repo / "shop/totals.py").write_text(caller)
    shop.git("add", "shop/totals.py")
    shop.git("commit", "-q", "-m", "totals")
    with shop.worker():
        run = services.runs.start_session(_request(services, _edits({PRICES: FIXED, TEST_FILE: TESTS})))
        outcome = services.runs.result(run, timeout_ms=240_000)
    assert outcome.status == "completed", outcome.detail
    assert outcome.report is not None
    report = Path(outcome.report).read_text()
    assert "called by 2 unchanged definitions in 2 files" in report
    _settled(shop, services, outcome)


def test_mutants_that_survive_send_the_agent_back_for_better_tests(shop: Shop) -> None:
    services = build_platform(shop.settings)
    services.indexer.refresh()
    blind = TESTS.replace("discounted(1999, 10) == 1800", "discounted(1999, 10) < 1999")
    with shop.worker():
        agent = _edits({PRICES: FIXED, TEST_FILE: blind}, {TEST_FILE: TESTS})
        outcome = services.runs.result(services.runs.start_session(_request(services, agent)), timeout_ms=240_000)
    assert (outcome.status, outcome.attempts) == ("completed", {"surviving_mutant": 1}), outcome.detail
    _settled(shop, services, outcome)


def test_an_agent_command_works_in_the_box_and_learns_from_the_failure(shop: Shop) -> None:
    services = build_platform(shop.settings)
    services.indexer.refresh()
    script = (
        'if [ "$SMP_ATTEMPT" = 1 ]; then echo "$NEW_TESTS" > /dev/null; '
        "printf '\\n\\ndef test_a_tenth_off() -> None:\\n    assert discounted(1999, 10) == 1800\\n' >> tests/test_prices.py; "
        'else grep -q \'"last_verdict":"fail"\' "$SMP_FEEDBACK" && sed -i s,//\\ 10,//\\ 100, shop/prices.py; fi'
    )
    with shop.worker():
        outcome = services.runs.result(
            services.runs.start_session(_request(services, Command(command=script))), timeout_ms=240_000
        )
    assert (outcome.status, outcome.attempts) == ("completed", {"fail": 1}), outcome.detail
    _settled(shop, services, outcome)


def test_a_write_outside_the_scope_is_blocked_and_undone(shop: Shop) -> None:
    services = build_platform(shop.settings)
    services.indexer.refresh()
    with shop.worker():
        agent = _edits({FilePath("shop/__init__.py"): "x = 1\n"})
        outcome = services.runs.result(services.runs.start_session(_request(services, agent)), timeout_ms=120_000)
    assert (outcome.status, outcome.reason) == ("aborted", "blocked")
    assert "shop/__init__.py" in outcome.detail
    _settled(shop, services, outcome)


def test_a_worker_killed_in_execute_is_succeeded_as_if_nothing_had_happened(shop: Shop, until: Until) -> None:
    services = build_platform(shop.settings)
    services.indexer.refresh()
    request = _request(services, _edits({PRICES: FIXED, TEST_FILE: TESTS}), test_command=SLOW_COMMAND)
    with shop.worker() as first:
        run = services.runs.start_session(request)
        until(lambda: services.runs.state(run).phase == "execute")
        until(lambda: _sleeps(shop))
        first.kill()
        first.wait(30)
    with shop.worker():
        outcome = services.runs.result(run, timeout_ms=240_000)
    assert outcome.status == "completed", outcome.detail
    _settled(shop, services, outcome)


def test_a_server_killed_in_execute_finds_the_session_again(shop: Shop, until: Until) -> None:
    services = build_platform(shop.settings)
    services.indexer.refresh()
    request = _request(services, _edits({PRICES: FIXED, TEST_FILE: TESTS}), test_command=SLOW_COMMAND)
    with shop.worker():
        run = services.runs.start_session(request)
        until(lambda: services.runs.state(run).phase == "execute")
        pid = devserver.status(shop.settings).pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        devserver.start(shop.settings, lambda _: None)
        outcome = TemporalRunEngine(shop.settings).result(run, timeout_ms=240_000)
    assert outcome.status == "completed", outcome.detail
    executed = services.sandboxes.executions(request.session_id)
    assert [record.command for record in executed] == [SLOW_COMMAND]
    _settled(shop, services, outcome)


def test_a_cancel_in_execute_kills_the_command_and_undoes_all(shop: Shop, until: Until) -> None:
    services = build_platform(shop.settings)
    services.indexer.refresh()
    request = _request(services, _edits({PRICES: FIXED, TEST_FILE: TESTS}), test_command="sleep 600")
    with shop.worker():
        run = services.runs.start_session(request)
        until(lambda: _sleeps(shop))
        services.runs.cancel(run)
        outcome = services.runs.result(run, timeout_ms=120_000)
    assert outcome.status == "cancelled"
    assert not _sleeps(shop)
    _settled(shop, services, outcome)


def test_a_terminated_run_is_cleared_up_by_the_next_worker(shop: Shop, until: Until) -> None:
    services = build_platform(shop.settings)
    services.indexer.refresh()
    request = _request(services, _edits({PRICES: FIXED, TEST_FILE: TESTS}), test_command="sleep 600")
    with shop.worker() as first:
        run = services.runs.start_session(request)
        until(lambda: _sleeps(shop))
        _terminate(shop, run)
        first.kill()
        first.wait(30)
    assert [session.id for session in services.session_store.active()] == [request.session_id]
    with shop.worker():
        until(lambda: services.session_store.active() == ())
    _settled(shop, services, SessionOutcome(session_id=request.session_id, status="aborted"))


def test_ctrl_c_cancels_the_session_and_leaves_nothing(shop: Shop, tmp_path: Path, until: Until) -> None:
    services = build_platform(shop.settings)
    diff = shop.edits(tmp_path, prices=FIXED, tests=TESTS)
    command = shop.smp("session", "run", "--task", "t", "--edits", str(diff), "--test-cmd", "sleep 600")
    until(lambda: _sleeps(shop))
    command.send_signal(signal.SIGINT)
    _, stderr = command.communicate(timeout=120)
    assert command.returncode == 130
    assert "interrupted" in stderr
    assert not _sleeps(shop)
    assert services.session_store.active() == ()
    assert list((shop.settings.data_dir / "boxes").glob("box_*")) == []
    assert shop.branches() == []


def test_the_command_line_takes_a_diff_to_a_branch_with_a_worker_of_its_own(shop: Shop, tmp_path: Path) -> None:
    diff = shop.edits(tmp_path, prices=FIXED, tests=TESTS)
    command = shop.smp("session", "run", "--json", "--task", "fix it", "--edits", str(diff), "--test-cmd", TEST_COMMAND)
    stdout, stderr = command.communicate(timeout=240)
    assert command.returncode == 0, stderr
    outcome = json.loads(stdout)
    assert outcome["status"] == "completed"
    assert shop.branches() == [outcome["branch"]]
    assert "starting one for this session" in stderr


def test_tests_that_come_with_a_change_answer_the_guards_alarm(shop: Shop) -> None:
    complicated = "def grade(points: int) -> str:\n" + "".join(
        f"    if points == {n}:\n        return '{n}'\n" for n in range(9)
    )
    path, tests = FilePath("shop/grades.py"), FilePath("tests/test_grades.py")
    (shop.repo / path).write_text(complicated + "    return 'many'\n")
    shop.git("add", ".")
    shop.git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "--message", "grades")
    services = build_platform(shop.settings)
    services.indexer.refresh()
    changed = complicated + "    return 'lots'\n"
    proof = "from shop.grades import grade\n\n\ndef test_lots() -> None:\n    assert grade(10) == 'lots'\n"
    request = replace(_request(services, _edits({path: changed}, {path: changed, tests: proof})), scope=(path, tests))
    with shop.worker():
        outcome = services.runs.result(services.runs.start_session(request), timeout_ms=240_000)
    assert outcome.steps[3] == "guard: red_alert"
    assert (outcome.status, outcome.attempts) == ("completed", {"red_alert": 1}), outcome.detail
    _settled(shop, services, outcome)


def test_a_file_that_the_guard_sent_back_and_the_agent_gave_up_stays_out(shop: Shop) -> None:
    path = FilePath("shop/grades.py")
    grades = "def grade(points: int) -> str:\n" + "".join(
        f"    if points == {n}:\n        return '{n}'\n" for n in range(9)
    )
    (shop.repo / path).write_text(grades + "    return 'many'\n")
    shop.git("add", ".")
    shop.git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "--message", "grades")
    services = build_platform(shop.settings)
    services.indexer.refresh()
    agent = _edits({path: grades + "    return 'lots'\n"}, {PRICES: FIXED, TEST_FILE: TESTS})
    with shop.worker():
        request = replace(_request(services, agent), scope=(path, PRICES, TEST_FILE))
        outcome = services.runs.result(services.runs.start_session(request), timeout_ms=240_000)
    assert (outcome.status, outcome.attempts) == ("completed", {"red_alert": 1}), outcome.detail
    assert outcome.files == (PRICES, TEST_FILE)
    _settled(shop, services, outcome)


def test_a_worker_told_to_stop_gives_its_command_back(shop: Shop, until: Until) -> None:
    services = build_platform(shop.settings)
    services.indexer.refresh()
    request = _request(services, _edits({PRICES: FIXED, TEST_FILE: TESTS}), test_command=SLOW_COMMAND)
    with shop.worker() as first:
        run = services.runs.start_session(request)
        until(lambda: _sleeps(shop))
        first.terminate()
        assert first.wait(60) == 0
        assert not _sleeps(shop)
    with shop.worker():
        outcome = services.runs.result(run, timeout_ms=240_000)
    assert outcome.status == "completed", outcome.detail
    _settled(shop, services, outcome)


def test_a_change_without_code_to_judge_leaves_on_a_green_test_command_and_says_so(shop: Shop) -> None:
    services = build_platform(shop.settings)
    services.indexer.refresh()
    guide = FilePath("docs/guide.md")
    request = replace(_request(services, _edits({guide: "# Guide\n"})), scope=(guide,))
    with shop.worker():
        outcome = services.runs.result(services.runs.start_session(request), timeout_ms=240_000)
    assert outcome.status == "completed", outcome.detail
    assert outcome.verify_id is not None
    assert outcome.report is not None
    text = Path(outcome.report).read_text("utf-8")
    assert "nothing to judge" in text
    assert TEST_COMMAND in text
    _settled(shop, services, outcome)


def _sleeps(shop: Shop) -> bool:
    """Whether a command of one of the repository's boxes runs: its `sleep` has the box's folder in its mounts."""
    for mounts in Path("/proc").glob("[0-9]*/mountinfo"):
        try:
            if mounts.with_name("comm").read_text() == "sleep\n" and str(shop.settings.data_dir) in mounts.read_text():
                return True
        except OSError:
            continue
    return False


def _terminate(shop: Shop, run: str) -> None:
    async def terminate() -> None:
        client = await connect(shop.settings.temporal)
        await client.get_workflow_handle(run).terminate("by a test")

    asyncio.run(terminate())
