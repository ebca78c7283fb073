"""A session is remembered once, however and wherever the process that ended it died; its box is nobody's prey meanwhile."""

from __future__ import annotations

import msgspec
import pytest

from smp.domain.errors import SessionNotFound
from smp.domain.ids import CommitSha, FilePath, SandboxId
from smp.domain.sandboxes import SandboxSpec
from smp.domain.sessions import Concurrency, SessionStatus
from smp.indexing.reports import FileChange
from smp.safety.endings import ENDING
from tests.builders.session_world import World

MONEY = FilePath("shop/money.py")
CHANGE = FileChange(path=MONEY, content=b"def rounded(value):\n    return 1\n")


class Dies(BaseException):
    """What ends a process."""


def dying(world: World) -> World:
    """The same world, whose process dies when it comes to write an episode."""

    def die(*ended: object) -> None:
        raise Dies

    world.service.when_session_ends(die)
    return world


def files_of_episodes(world: World) -> list[tuple[str, ...]]:
    return [episode.files_changed for episode in world.records.records().episodes]


def test_a_death_between_the_end_and_the_record_is_made_good_by_the_next_sweep(world: World) -> None:
    session = world.id()
    world.service.update(session, (CHANGE,))
    with pytest.raises(Dies):
        dying(world).service.close(session, "completed")
    again = world.again()
    assert files_of_episodes(again) == []
    again.service.expire_due()
    again.service.expire_due()
    assert files_of_episodes(again) == [(MONEY,)]
    assert again.artifacts.list(ENDING) == ()
    with pytest.raises(SessionNotFound):
        again.service.close(session, "completed")


def test_repeating_the_step_that_died_remembers_too(world: World) -> None:
    session = world.id()
    world.service.update(session, (CHANGE,))
    with pytest.raises(Dies):
        dying(world).service.close(session, "completed", key="k")
    again = world.again()
    again.service.close(session, "completed", key="k")
    assert files_of_episodes(again) == [(MONEY,)]


def test_a_death_while_a_session_expires_is_made_good(world: World) -> None:
    session = world.id()
    world.service.update(session, (CHANGE,))
    world.clock.forward(61)
    with pytest.raises(Dies):
        dying(world).service.expire_due()
    again = world.again()
    again.service.expire_due()
    (episode,) = again.records.records().episodes
    assert (episode.files_changed, episode.status) == ((MONEY,), "expired")


def test_a_session_whose_end_was_only_noted_goes_on_and_is_not_remembered(world: World) -> None:
    session = world.id()
    world.artifacts.put(ENDING, session, msgspec.json.encode([MONEY]), session_id=session)
    world.service.expire_due()
    assert files_of_episodes(world) == []
    world.service.update(session, (CHANGE,))
    world.service.close(session, "aborted")
    (episode,) = world.records.records().episodes
    assert (episode.files_changed, episode.status) == ((MONEY,), SessionStatus.ABORTED)


def test_a_box_whose_maker_died_before_it_was_attached_is_in_use_while_its_session_is_open(world: World) -> None:
    session = world.id(concurrency=Concurrency.MVCC)
    attached, loose = world.box(session), SandboxId("box_loose")
    box = world.driver.spawn(SandboxSpec(sandbox_id=loose, session_id=session, commit_sha=CommitSha("0" * 40)))
    world.artifacts.put("sandbox", loose, msgspec.json.encode(box), session_id=session)
    assert world.service.boxes_in_use() == tuple(sorted((attached, loose)))
    world.service.close(session, "aborted")
    assert world.service.boxes_in_use() == ()
