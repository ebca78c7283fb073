"""The life of a session: open, require, expire, recover, close, drivers."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from smp.domain.errors import (
    Fenced,
    Invalid,
    NotFound,
    ScopeViolation,
    SequenceViolation,
    SessionExpired,
    SessionNotFound,
    Unauthorized,
)
from smp.domain.ids import AgentId, FilePath
from smp.domain.notifications import ScopeViolated, SessionExpiredNotice
from smp.domain.session_steps import ClosedSession, LapsedSession, OpenSession, RecoveredSession
from smp.domain.sessions import AuditEvent, Concurrency, SafetyLevel, SessionMode, SessionStatus
from smp.indexing.reports import FileChange
from smp.safety.audit import verify
from tests.builders.session_world import World

MONEY, CART = FilePath("shop/money.py"), FilePath("shop/cart.py")
RUN = "session/ses_w/run-1"


def test_opening_grants_the_scope_sorted_and_pins_the_commit(world: World) -> None:
    opened = world.open("shop/new.py", "./shop/money.py", "shop//money.py", concurrency=Concurrency.MVCC)
    assert opened.granted_scope == (MONEY, "shop/new.py")
    assert opened.session.commit_sha is not None
    assert len(opened.session.commit_sha) == 40
    assert opened.session.expires_at == world.clock.now() + timedelta(seconds=60)
    assert opened.scope_analysis[MONEY].blast_radius == 2
    assert opened.scope_analysis[FilePath("shop/new.py")].blast_radius == 0


def test_a_folder_in_the_scope_covers_its_files(world: World) -> None:
    session = world.open("shop").session
    assert session.scope == ("shop/",)
    world.service.require(session.id, write=MONEY, method="smp/update")
    with pytest.raises(ScopeViolation):
        world.service.require(session.id, write=FilePath("shopping.py"), method="smp/update")


@pytest.mark.parametrize(
    "path",
    ["../x.py", "/etc/passwd", "a/../../x", "file:///etc/passwd", ".git/config", ".smp/x.py", "..", "sub/.GIT/x"],
)
def test_a_scope_outside_the_repository_is_refused_by_position(world: World, path: str) -> None:
    with pytest.raises(Invalid) as refused:
        world.open("shop/money.py", path)
    assert refused.value.path == "scope[1]"
    assert world.service.active() == ()


def test_an_unknown_commit_is_invalid(world: World) -> None:
    with pytest.raises(Invalid) as refused:
        world.service.open(OpenSession(agent_id=AgentId("a"), task="t", scope=("a.py",), commit_sha="0123456789abcdef"))
    assert refused.value.path == "commit_sha"


def test_opening_again_by_the_same_driver_returns_the_session(world: World) -> None:
    first = world.open(session_id="ses_w", driver=RUN).session
    assert world.again().open(session_id="ses_w", driver=RUN).session == first
    assert world.methods(first.id) == ["smp/session/open"]


def test_a_second_driver_is_told_which_run_has_the_session(world: World) -> None:
    session = world.open(session_id="ses_w", driver=RUN).session
    for driver in ("session/ses_w/run-2", None):
        with pytest.raises(SequenceViolation) as refused:
            world.open(session_id="ses_w", driver=driver)
        assert refused.value.data()["run_id"] == "run-1"
    assert world.methods(session.id) == ["smp/session/open"]


def test_steps_from_a_client_are_refused_while_a_run_drives_and_reads_are_not(world: World) -> None:
    session = world.open(session_id="ses_w", driver=RUN).session
    for method in ("smp/update", "smp/guard/check", "smp/session/close", "smp/sandbox/execute", "smp/handoff/pr"):
        with pytest.raises(SequenceViolation) as refused:
            world.service.require(session.id, method=method)
        assert refused.value.data() == {"run_id": "run-1", "workflow_id": "session/ses_w"}
    assert world.service.require(session.id, method="smp/context").id == session.id
    assert world.service.require(session.id, method="smp/update", driver=RUN).id == session.id
    with pytest.raises(SequenceViolation):
        world.service.check_guard(session.id, MONEY)
    assert world.methods(session.id) == ["smp/session/open"]


def test_a_run_may_not_step_into_a_session_that_a_client_drives(world: World) -> None:
    with pytest.raises(SequenceViolation):
        world.service.require(world.id(), method="smp/update", driver=RUN)


def test_a_former_driver_is_fenced_after_a_take_over(world: World) -> None:
    session = world.open(session_id="ses_w", driver=RUN).session
    taken = world.service.take_over(session.id, expected=RUN, driver="reaper/ses_w/run-9")
    assert taken.epoch == session.epoch + 1
    with pytest.raises(SequenceViolation):
        world.service.close(session.id, "aborted", driver=RUN)
    with pytest.raises(Fenced):
        world.service.take_over(session.id, expected=RUN, driver="other/x/y")
    world.service.close(session.id, "aborted", driver="reaper/ses_w/run-9")


def test_a_step_that_began_before_a_take_over_records_nothing(world: World) -> None:
    session = world.open(session_id="ses_w", driver=RUN, ttl=86400).session
    once: list[bool] = []
    original = world.store.write

    def taken_meanwhile(*args: object, **options: object) -> object:
        if not once:
            once.append(True)
            world.again().service.take_over(session.id, expected=RUN, driver="reaper/ses_w/run-9")
        return original(*args, **options)  # type: ignore[arg-type]

    world.store.write = taken_meanwhile  # type: ignore[method-assign, assignment]
    with pytest.raises(Fenced):
        world.service.check_guard(session.id, MONEY, driver=RUN)
    assert world.methods(session.id) == ["smp/session/open", "TAKE_OVER"]


def test_every_call_extends_the_session_and_its_locks(world: World) -> None:
    session = world.id()
    world.service.lock(session, (MONEY,))
    for _ in range(3):
        world.clock.forward(50)
        world.service.require(session, method="smp/context")
    assert world.service.expire_due() == 0
    assert {lock.expires_at for lock in world.store.locks()} == {world.clock.now() + timedelta(seconds=60)}


def test_an_expired_session_frees_its_locks_and_is_told_of_once(world: World) -> None:
    session = world.id()
    world.service.lock(session, (MONEY, CART))
    deadline = world.clock.now() + timedelta(seconds=60)
    world.clock.forward(60)
    others = [world, world.again(), world.again()]
    barrier, ended = threading.Barrier(3), []

    def sweep(each: World) -> None:
        barrier.wait()
        ended.append(each.service.expire_due())

    threads = [threading.Thread(target=sweep, args=(each,)) for each in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(ended) == 1
    with pytest.raises(SessionExpired):
        world.service.require(session, method="smp/context")
    (notice,) = world.notices()
    assert isinstance(notice, SessionExpiredNotice)
    assert notice.locks_released == (CART, MONEY)
    assert notice.expired_at == deadline.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert world.store.locks() == ()


def test_the_first_call_after_the_deadline_expires_the_session_without_a_sweep(world: World) -> None:
    session = world.id()
    world.clock.forward(61)
    assert world.service.active() == ()
    for _ in range(2):
        with pytest.raises(SessionExpired):
            world.service.close(session, "completed")
    assert len(world.notices()) == 1
    assert world.methods(session)[-1] == "SESSION_EXPIRED"


def test_expiry_destroys_the_box_of_a_client_and_leaves_that_of_a_run_to_the_run(world: World) -> None:
    mine = world.id(concurrency=Concurrency.MVCC)
    box = world.box(mine)
    theirs = world.open(session_id="ses_w", driver=RUN, concurrency=Concurrency.MVCC).session
    world.service.attach_sandbox(theirs.id, box, driver=RUN)
    world.clock.forward(61)
    assert world.service.expire_due() == 2
    assert world.driver.destroyed == [box]


def test_recovering_after_a_restart_returns_the_state(world: World) -> None:
    session = world.id()
    world.service.lock(session, (MONEY,))
    point = world.service.checkpoint(session, (MONEY,))
    found = world.again().service.recover(session, "coder")
    assert isinstance(found, RecoveredSession)
    assert found.session.scope == world.open().session.scope
    assert (found.locks_held, found.checkpoints, found.events_so_far) == ((MONEY,), (point.checkpoint_id,), 3)


def test_recovering_an_expired_session_says_what_was_saved_last(world: World) -> None:
    session = world.id()
    world.service.checkpoint(session, (MONEY,))
    last = world.service.checkpoint(session, (CART,))
    world.clock.forward(61)
    found = world.service.recover(session, "coder")
    assert isinstance(found, LapsedSession)
    assert (found.last_checkpoint, found.last_checkpoint_at) == (last.checkpoint_id, last.snapshot_at)
    assert found.files_snapshotted == (CART, MONEY)
    assert isinstance(world.service.recover(session, "coder"), LapsedSession)


def test_recovering_is_for_the_agent_that_opened(world: World) -> None:
    session = world.id()
    with pytest.raises(Unauthorized):
        world.service.recover(session, "other")
    with pytest.raises(SessionNotFound):
        world.service.recover("ses_none", "coder")
    world.service.close(session, "completed")
    with pytest.raises(SessionNotFound):
        world.service.recover(session, "coder")


def test_closing_says_what_was_written_and_read(world: World) -> None:
    session = world.id()
    world.service.record(
        session, AuditEvent(seq=0, at=world.clock.now(), method="smp/context", files=(FilePath("README.md"),))
    )
    world.service.record(
        session, AuditEvent(seq=0, at=world.clock.now(), method="smp/navigate", target="function:shop/cart.py#total")
    )
    (world.root / MONEY).write_text("A = 1\n")
    world.service.update(session, (_change(MONEY),))
    world.clock.forward(1.5)
    closed = world.service.close(session, "completed")
    assert closed == ClosedSession(
        session_id=session,
        files_written=(MONEY,),
        files_read=(FilePath("README.md"), CART),
        duration_ms=1500,
        audit_id=closed.audit_id,
    )


def test_a_session_closes_once_and_then_is_not_found(world: World) -> None:
    session = world.id()
    world.service.lock(session, (MONEY,))
    closed = world.service.close(session, "rolled_back")
    for step in (lambda: world.service.close(session, "completed"), lambda: world.service.lock(session, (MONEY,))):
        with pytest.raises(SessionNotFound):
            step()
    assert world.store.locks() == ()
    ended, events = world.service.audit(closed.audit_id)
    assert ended.status is SessionStatus.ROLLED_BACK
    assert ended.closed_at == world.clock.now()
    assert [event.method for event in events] == ["smp/session/open", "smp/lock", "smp/session/close"]
    assert verify(events) is None


def test_closing_again_with_the_same_key_returns_the_first_answer(world: World) -> None:
    session = world.open(session_id="ses_w", driver=RUN).session.id
    first = world.service.close(session, "completed", driver=RUN, key="k")
    world.clock.forward(5)
    assert world.again().service.close(session, "completed", driver=RUN, key="k") == first
    with pytest.raises(Invalid) as refused:
        world.service.close(session, "aborted", driver=RUN, key="k")
    assert refused.value.path == "key"


def test_a_key_of_another_step_is_refused(world: World) -> None:
    session = world.id()
    world.service.check_guard(session, MONEY, key="k")
    with pytest.raises(Invalid):
        world.service.checkpoint(session, (MONEY,), key="k")


def test_the_audit_of_an_open_session_is_not_there_yet(world: World) -> None:
    session = world.open().session
    with pytest.raises(NotFound, match="still open"):
        world.service.audit(session.audit_id)
    with pytest.raises(NotFound, match="no audit log"):
        world.service.audit("aud_none")
    world.clock.forward(61)
    assert world.service.audit(session.audit_id)[0].status is SessionStatus.EXPIRED


def test_a_write_outside_the_scope_is_refused_recorded_and_notified(world: World) -> None:
    session = world.open(MONEY).session
    with pytest.raises(ScopeViolation) as refused:
        world.service.require(session.id, write=CART, method="smp/update")
    assert refused.value.data()["declared_scope"] == [MONEY]
    assert world.notices() == [ScopeViolated(session_id=session.id, attempted_file=CART, declared_scope=(MONEY,))]
    (event,) = world.store.events(session.id)[1:]
    assert (event.method, event.target, event.detail) == ("SCOPE_VIOLATION", CART, "smp/update")


def test_a_read_session_writes_nothing(world: World) -> None:
    session = world.id(mode=SessionMode.READ)
    for step in (
        lambda: world.service.update(session, (_change(MONEY),)),
        lambda: world.service.checkpoint(session, (MONEY,)),
        lambda: world.service.lock(session, (MONEY,)),
    ):
        with pytest.raises(ScopeViolation):
            step()


def test_a_hot_node_elevates_the_session(world: World) -> None:
    for name in ("one", "two", "three", "four"):
        path = FilePath(f"shop/{name}.py")
        world.indexer.update((_change(path, b"from shop.money import rounded\n\n\ndef f():\n    rounded(1)\n"),))
    world.heat("shop/money.py#rounded", times=4)
    opened = world.open(MONEY)
    assert opened.session.safety_level is SafetyLevel.ELEVATED
    (hot,) = opened.hot_nodes
    # Its first indexing was a change, too.
    assert (hot.node_id, hot.caller_count, hot.changes_in_window) == ("function:shop/money.py#rounded", 6, 5)
    assert hot.heat_score == 30
    assert opened.scope_analysis[MONEY].is_hot_node
    assert world.open("shop").session.safety_level is SafetyLevel.ELEVATED
    assert world.open(CART).session.safety_level is SafetyLevel.STANDARD


def test_attaching_a_box_survives_and_closing_destroys_it(world: World) -> None:
    session = world.id(concurrency=Concurrency.MVCC)
    box = world.box(session)
    assert world.again().service.require(session, method="smp/context").sandbox_id == box
    world.service.close(session, "aborted")
    assert world.driver.destroyed == [box]


def _change(path: FilePath, content: bytes | None = None) -> FileChange:
    return FileChange(path=path, content=content)


def test_concurrent_calls_of_one_session_lose_nothing(world: World) -> None:
    session = world.id()
    worlds = [world, world.again(), world.again()]
    failures: list[BaseException] = []

    def call(each: World) -> None:
        try:
            for number in range(8):
                each.service.check_guard(session, MONEY)
                each.service.note_read(session, method="smp/context", files=(FilePath(f"f{number}.py"),))
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=call, args=(each,)) for each in worlds for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    events = world.store.events(session)
    assert len(events) == 1 + 6 * 8 * 2
    assert verify(events) is None


def test_one_key_used_by_many_at_once_is_one_step(world: World) -> None:
    session = world.id()
    worlds = [world.again() for _ in range(5)]
    barrier, points = threading.Barrier(5), []

    def save(each: World) -> None:
        barrier.wait()
        points.append(each.service.checkpoint(session, (MONEY,), key="k"))

    threads = [threading.Thread(target=save, args=(each,)) for each in worlds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(points) == 5
    assert len({point.checkpoint_id for point in points}) == 1
    assert [point.id for point in world.store.checkpoints(session)] == [points[0].checkpoint_id]
    assert world.methods(session) == ["smp/session/open", "smp/checkpoint"]
