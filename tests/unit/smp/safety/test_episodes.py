"""A session that ends leaves its episode, and the next one is told."""

from __future__ import annotations

from datetime import timedelta

import pytest

from smp.adapters.records_directory import DirectoryRecordFiles
from smp.domain.ids import FilePath
from smp.indexing.reports import FileChange
from smp.records.recorder import Recorder
from tests.builders.session_world import World


@pytest.fixture
def recorder(world: World) -> Recorder:
    made = Recorder(DirectoryRecordFiles(world.settings), world.clock)
    world.service.when_session_ends(
        lambda session, events, written: made.session_ended(session, events, world.artifacts, written=written)
    )
    return made


def write_cart(world: World) -> str:
    session = world.id()
    change = FileChange(path=FilePath("shop/cart.py"), content=b"def total():\n    return 1\n")
    world.service.update(session, (change,))
    return session


def test_a_closed_session_is_an_episode_with_its_files(world: World, recorder: Recorder) -> None:
    session = write_cart(world)
    world.service.close(session, "completed")
    (episode,) = recorder.records().episodes
    assert (episode.session_id, episode.status, episode.files_changed) == (session, "completed", ("shop/cart.py",))
    assert (episode.run_id, episode.agent_id) == (None, "coder")
    known = recorder.known("shop/cart.py")
    assert known is not None
    assert known.episodes == (episode.id,)


def test_a_session_that_a_run_drove_names_the_run(world: World, recorder: Recorder) -> None:
    session = world.id(driver="session/ses_x/0123-abcd")
    world.service.close(session, "aborted", driver="session/ses_x/0123-abcd")
    assert [episode.run_id for episode in recorder.records().episodes] == ["run-0123-abcd"]


def test_a_session_that_expires_is_remembered_once(world: World, recorder: Recorder) -> None:
    write_cart(world)
    world.clock.advance(timedelta(seconds=61))
    assert world.service.expire_due() == 1
    assert world.service.expire_due() == 0
    assert [episode.status for episode in recorder.records().episodes] == ["expired"]


def test_closing_again_with_the_same_key_leaves_one_episode(world: World, recorder: Recorder) -> None:
    session = write_cart(world)
    world.service.close(session, "completed", key="close")
    world.service.close(session, "completed", key="close")
    assert len(recorder.records().episodes) == 1


def test_a_record_that_cannot_be_written_does_not_hold_the_session(world: World, recorder: Recorder) -> None:
    (world.settings.data_dir / "memory").write_text("in the way")
    session = write_cart(world)
    assert world.service.close(session, "completed").files_written == ("shop/cart.py",)
