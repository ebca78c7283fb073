"""Commands, verdicts and writings into a box are lines of the session's record, each once."""

from __future__ import annotations

from typing import cast

import pytest

from smp.domain.errors import Fenced, SessionNotFound
from smp.domain.ids import FilePath, VerifyId
from smp.domain.mutants import IntegrityReport
from smp.domain.sandboxes import Execution
from smp.domain.sessions import Concurrency, Session
from smp.safety.audit import FILE_WRITE, verify
from tests.builders.session_world import World

MONEY, TEST = FilePath("shop/money.py"), FilePath("tests/test_money.py")
RUN = "session/ses_w/run-1"
DONE = Execution(exit_code=3, stdout="", stderr="", duration_ms=1.0)


def admitted(world: World, driver: str | None = None) -> Session:
    session = world.id(concurrency=Concurrency.MVCC, driver=driver)
    return world.service.require(session, driver=driver, method="smp/sandbox/execute")


def lines(world: World, session: Session) -> list[tuple[str, str | None, str | None]]:
    events = world.store.events(session.id)
    assert verify(events) is None
    return [(event.method, event.result, event.detail) for event in events[1:]]


def test_a_command_is_on_record_before_it_runs_and_when_it_has_ended(world: World) -> None:
    session = admitted(world)
    world.service.note_command(session, "box_1", "pytest -q")
    assert lines(world, session) == [("smp/sandbox/execute", "started", "pytest -q")]
    world.service.note_command(session, "box_1", "pytest -q", ended=DONE)
    assert lines(world, session)[1:] == [("smp/sandbox/execute", "exit code 3", "pytest -q")]


def test_a_repeated_step_of_a_run_leaves_its_lines_once(world: World) -> None:
    session = admitted(world, RUN)
    for _ in range(2):
        world.service.note_command(session, "box_1", "x" * 900, key="k")
        world.service.note_command(session, "box_1", "x" * 900, ended=DONE, key="k")
    assert [(result, len(detail or "")) for _, result, detail in lines(world, session)] == [
        ("started", 500),
        ("exit code 3", 500),
    ]


def test_a_verdict_names_its_pair_and_itself(world: World) -> None:
    session = admitted(world)
    report = cast("IntegrityReport", _Report())
    world.service.note_verdict(session, report)
    event = world.store.events(session.id)[-1]
    assert (event.method, event.files, event.result) == ("smp/verify/integrity", (MONEY, TEST), "SURVIVING_MUTANT")
    assert (event.target, event.detail) == (MONEY, "ver_1")


def test_what_a_run_wrote_into_its_box_counts_as_written_though_it_never_came_to_the_memory(world: World) -> None:
    session = admitted(world, RUN)
    world.service.note_step(session, method=FILE_WRITE, target="box_1", files=(MONEY,), result="written", key="k")
    assert world.service.close(session.id, "aborted", driver=RUN).files_written == (MONEY,)


def test_nothing_is_noted_for_a_session_that_has_ended_or_was_taken_over(world: World) -> None:
    session = admitted(world, RUN)
    world.service.take_over(session.id, expected=RUN, driver=f"{RUN}~2")
    with pytest.raises(Fenced):
        world.service.note_command(session, "box_1", "true")
    other = admitted(world)
    world.service.close(other.id, "aborted")
    with pytest.raises(SessionNotFound):
        world.service.note_command(other, "box_1", "true", ended=DONE)
    assert [event.method for event in world.store.events(other.id)][-1] == "smp/session/close"


class _Report:
    """The part of a verdict that its line tells."""

    id, target_file, test_file = VerifyId("ver_1"), MONEY, TEST
    status, failure_code = "failed", "SURVIVING_MUTANT"
