"""A session that ends leaves its episode, and the next one is told."""

from __future__ import annotations

from smp.domain.ids import FilePath
from smp.indexing.reports import FileChange
from tests.builders.session_world import World


def write_cart(world: World) -> str:
    session = world.id()
    change = FileChange(path=FilePath("shop/cart.py"), content=b"def total():\n    return 1\n")
    world.service.update(session, (change,))
    return session


def test_a_closed_session_is_an_episode_with_its_files(world: World) -> None:
    session = write_cart(world)
    world.service.close(session, "completed")
    (episode,) = world.records.records().episodes
    assert (episode.session_id, episode.status, episode.files_changed) == (session, "completed", ("shop/cart.py",))
    assert (episode.run_id, episode.agent_id) == (None, "coder")
    known = world.records.known("shop/cart.py")
    assert known is not None
    assert known.episodes == (episode.id,)


def test_a_session_that_a_run_drove_names_the_run(world: World) -> None:
    session = world.id(driver="session/ses_x/0123-abcd")
    world.service.close(session, "aborted", driver="session/ses_x/0123-abcd")
    assert [episode.run_id for episode in world.records.records().episodes] == ["run-0123-abcd"]


def test_a_run_that_an_operator_has_reset_keeps_its_name(world: World) -> None:
    session = world.id(driver="session/ses_x/0123-abcd~77")
    world.service.close(session, "aborted", driver="session/ses_x/0123-abcd~77")
    assert [episode.run_id for episode in world.records.records().episodes] == ["run-0123-abcd"]


def test_a_session_that_expires_is_remembered_once(world: World) -> None:
    write_cart(world)
    world.clock.forward(61)
    assert world.service.expire_due() == 1
    assert world.service.expire_due() == 0
    assert [episode.status for episode in world.records.records().episodes] == ["expired"]


def test_closing_again_with_the_same_key_leaves_one_episode(world: World) -> None:
    session = write_cart(world)
    world.service.close(session, "completed", key="close")
    world.service.close(session, "completed", key="close")
    assert len(world.records.records().episodes) == 1


def test_a_record_that_cannot_be_written_does_not_hold_the_session(world: World) -> None:
    (world.settings.data_dir / "memory").write_text("in the way")
    session = write_cart(world)
    assert world.service.close(session, "completed").files_written == ("shop/cart.py",)
