"""Locks: who gets them, who is told, and how they end."""

from __future__ import annotations

import threading

import pytest

from smp.domain.errors import Invalid, LockConflict, ScopeViolation, SessionExpired
from smp.domain.ids import FilePath
from smp.domain.notifications import LockConflicted, SessionExpiredNotice
from smp.domain.session_steps import DeniedLock, LocksReleased, LocksTaken
from smp.domain.sessions import Concurrency
from smp.indexing.reports import FileChange
from tests.builders.session_world import World

MONEY, CART = FilePath("shop/money.py"), FilePath("shop/cart.py")


def test_free_files_are_granted_and_again_to_their_holder(world: World) -> None:
    session = world.id()
    for _ in range(2):
        assert world.service.lock(session, (MONEY, CART, MONEY)) == LocksTaken(granted=(CART, MONEY))
    assert world.notices() == []


def test_a_held_file_is_denied_and_notified_and_the_rest_is_granted(world: World) -> None:
    one, two = world.id(agent="one"), world.id(agent="two")
    world.service.lock(one, (MONEY,))
    taken = world.service.lock(two, (MONEY, CART))
    assert taken.granted == (CART,)
    (denied,) = taken.denied
    assert denied == DeniedLock(file=MONEY, held_by_session=one, held_by_agent=denied.held_by_agent)
    assert denied.held_by_agent == "one"
    assert world.notices() == [LockConflicted(file=MONEY, held_by_session=one, held_by_agent=denied.held_by_agent)]
    assert [event.result for event in world.store.events(two)][-1] == "partial"


def test_of_many_claims_on_one_file_exactly_one_is_granted(world: World) -> None:
    sessions = [world.id(agent=f"racer{number}") for number in range(6)]
    worlds = [world.again() for _ in sessions]
    barrier, results = threading.Barrier(6), []

    def claim(number: int) -> None:
        barrier.wait()
        results.append(worlds[number].service.lock(sessions[number], (MONEY,)))

    threads = [threading.Thread(target=claim, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(bool(result.granted) for result in results) == 1
    assert sum(len(result.denied) for result in results) == 5


def test_unlocking_names_what_was_not_held(world: World) -> None:
    one, two = world.id(), world.id()
    world.service.lock(one, (MONEY,))
    assert world.service.unlock(two, (MONEY,)) == LocksReleased(released=(), not_held=(MONEY,))
    assert world.service.unlock(one, (MONEY, CART)) == LocksReleased(released=(MONEY,), not_held=(CART,))
    assert world.service.lock(two, (MONEY,)).granted == (MONEY,)


def test_closing_frees_the_locks(world: World) -> None:
    one, two = world.id(), world.id()
    world.service.lock(one, (MONEY,))
    world.service.close(one, "aborted")
    assert world.service.lock(two, (MONEY,)).granted == (MONEY,)


def test_an_expired_lock_is_taken_over_and_its_holder_is_told(world: World) -> None:
    one, two = world.id(ttl=10), world.id(ttl=600)
    world.service.lock(one, (MONEY,))
    world.clock.forward(11)
    assert world.service.lock(two, (MONEY,)) == LocksTaken(granted=(MONEY,))
    (notice,) = world.notices()
    assert isinstance(notice, SessionExpiredNotice)
    assert notice.locks_released == (MONEY,)
    with pytest.raises(SessionExpired):
        world.service.unlock(one, (MONEY,))


def test_an_mvcc_session_needs_no_locks(world: World) -> None:
    with pytest.raises(Invalid):
        world.service.lock(world.id(concurrency=Concurrency.MVCC), (MONEY,))


def test_a_file_outside_the_scope_refuses_them_all(world: World) -> None:
    session = world.id(MONEY)
    with pytest.raises(ScopeViolation):
        world.service.lock(session, (MONEY, CART))
    assert world.store.locks() == ()


@pytest.mark.parametrize("path", ["../x.py", "/x.py", ".git/config", "shop/"])
def test_paths_are_checked_before_the_session_is_looked_for(world: World, path: str) -> None:
    with pytest.raises(Invalid) as refused:
        world.service.unlock("ses_none", ("a.py", path))
    assert refused.value.path == "files[1]"


def test_a_locked_file_is_updated_by_its_holder_only(world: World) -> None:
    one, two = world.id(agent="one"), world.id(agent="two")
    world.service.lock(one, (MONEY,))
    with pytest.raises(LockConflict) as refused:
        world.service.update(two, (FileChange(path=MONEY, content=b"A = 1\n"),))
    assert refused.value.data() == {"file": MONEY, "held_by_session": one, "held_by_agent": "one"}
    with pytest.raises(LockConflict):
        world.service.refuse_locked((CART, MONEY))
    world.service.refuse_locked((CART,))
    assert world.service.update(one, (FileChange(path=MONEY, content=b"A = 1\n"),)).status == "success"


def test_locking_again_with_the_same_key_returns_the_first_answer(world: World) -> None:
    session = world.id()
    first = world.service.lock(session, (MONEY,), key="k")
    world.service.unlock(session, (MONEY,))
    assert world.again().service.lock(session, (MONEY,), key="k") == first
    assert world.store.locks() == ()
    assert world.methods(session) == ["smp/session/open", "smp/lock", "smp/unlock"]
