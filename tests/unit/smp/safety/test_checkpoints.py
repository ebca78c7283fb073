"""Checkpoints and rollback: every byte, mode and link, the graph with them, and crashes in between."""

from __future__ import annotations

import pytest

from smp.domain.errors import CheckpointNotFound, LockConflict, ScopeViolation, Unavailable
from smp.domain.ids import FilePath, NodeId
from smp.domain.sandboxes import ChangedFile
from smp.domain.sessions import Concurrency
from smp.indexing.reports import FileChange
from tests.builders.session_world import World

MONEY, CART, NEW = FilePath("shop/money.py"), FilePath("shop/cart.py"), FilePath("shop/new.py")
ROUNDED, FRESH = NodeId("function:shop/money.py#rounded"), NodeId("function:shop/new.py#fresh")


def write(world: World, session: str, path: FilePath, text: str) -> None:
    (world.root / path).parent.mkdir(parents=True, exist_ok=True)
    (world.root / path).write_text(text)
    world.service.update(session, (FileChange(path=path),))


def test_rolling_back_restores_bytes_mode_and_graph(world: World) -> None:
    session = world.id()
    place = world.root / MONEY
    place.write_bytes(place.read_bytes() + b"# \xff\x00\r\n")
    place.chmod(0o755)
    world.service.update(session, (FileChange(path=MONEY),))
    before, nodes = place.read_bytes(), world.graph.nodes([ROUNDED])
    point = world.service.checkpoint(session, (MONEY,))
    place.chmod(0o600)
    write(world, session, MONEY, "def other():\n    pass\n")
    assert world.graph.nodes([ROUNDED]) == ()
    rolled = world.service.rollback(session, point.checkpoint_id)
    assert rolled.files_restored == (MONEY,)
    assert place.read_bytes() == before
    assert place.stat().st_mode & 0o7777 == 0o755
    assert world.graph.nodes([ROUNDED]) == nodes
    assert [path.name for path in place.parent.iterdir() if "restore" in path.name] == []


def test_a_file_that_was_absent_is_removed_again(world: World) -> None:
    session = world.id()
    point = world.service.checkpoint(session, (NEW,))
    write(world, session, NEW, "def fresh():\n    pass\n")
    assert world.graph.nodes([FRESH])
    world.service.rollback(session, point.checkpoint_id)
    assert not (world.root / NEW).exists()
    assert world.graph.nodes([FRESH]) == ()


def test_a_file_that_was_deleted_comes_back_with_its_folder(world: World) -> None:
    session = world.id("shop/")
    (world.root / "shop/deep").mkdir()
    deep = FilePath("shop/deep/a.py")
    write(world, session, deep, "def a():\n    pass\n")
    point = world.service.checkpoint(session, (deep,))
    (world.root / deep).unlink()
    (world.root / "shop/deep").rmdir()
    world.service.update(session, (FileChange(path=deep, change_type="deleted"),))
    world.service.rollback(session, point.checkpoint_id)
    assert (world.root / deep).read_text() == "def a():\n    pass\n"
    assert world.graph.nodes([NodeId("function:shop/deep/a.py#a")])


def test_a_symbolic_link_comes_back_as_a_link(world: World) -> None:
    session = world.id("shop/")
    link = world.root / "shop/link.py"
    link.symlink_to("money.py")
    point = world.service.checkpoint(session, ("shop/link.py",))
    link.unlink()
    link.write_text("no link\n")
    world.service.rollback(session, point.checkpoint_id)
    assert link.is_symlink()
    assert link.readlink().name == "money.py"
    assert (world.root / MONEY).read_text().startswith("def rounded")


def test_rolling_back_twice_ends_in_the_same_state(world: World) -> None:
    session = world.id()
    point = world.service.checkpoint(session, (MONEY, NEW))
    before = (world.root / MONEY).read_bytes()
    for _ in range(2):
        write(world, session, MONEY, "X = 1\n")
        write(world, session, NEW, "Y = 1\n")
        assert world.service.rollback(session, point.checkpoint_id).files_restored == (MONEY, NEW)
        assert (world.root / MONEY).read_bytes() == before
        assert not (world.root / NEW).exists()


def test_a_crash_in_the_middle_is_made_good_by_the_next_call(world: World) -> None:
    session = world.id()
    point = world.service.checkpoint(session, (MONEY, NEW))
    before, nodes = (world.root / MONEY).read_bytes(), world.graph.nodes([ROUNDED])
    write(world, session, MONEY, "X = 1\n")
    write(world, session, NEW, "Y = 1\n")
    world.indexer.crash_once = True
    with pytest.raises(KeyboardInterrupt):
        world.service.rollback(session, point.checkpoint_id, key="k")
    # What the crash left: files restored, graph not; a later process must not take this for a finished rollback.
    assert world.graph.nodes([ROUNDED]) == ()
    (world.root / MONEY).write_text("half written by the crash\n")
    later = world.again()
    later.service.require(session, method="smp/context")
    assert (world.root / MONEY).read_bytes() == before
    assert world.graph.nodes([ROUNDED]) == nodes
    assert world.methods(session).count("smp/rollback") == 1
    assert later.service.rollback(session, point.checkpoint_id, key="k").files_restored == (MONEY, NEW)
    assert world.methods(session).count("smp/rollback") == 1


def test_a_crashed_rollback_is_finished_when_the_session_expires(world: World) -> None:
    session = world.id()
    point = world.service.checkpoint(session, (MONEY,))
    before = (world.root / MONEY).read_bytes()
    write(world, session, MONEY, "X = 1\n")
    world.indexer.crash_once = True
    with pytest.raises(KeyboardInterrupt):
        world.service.rollback(session, point.checkpoint_id)
    (world.root / MONEY).write_text("half\n")
    world.clock.forward(61)
    assert world.again().service.expire_due() == 1
    assert (world.root / MONEY).read_bytes() == before


def test_a_checkpoint_belongs_to_its_session(world: World) -> None:
    one, two = world.id(), world.id()
    point = world.service.checkpoint(two, (MONEY,))
    for checkpoint in (point.checkpoint_id, "chk_none"):
        with pytest.raises(CheckpointNotFound):
            world.service.rollback(one, checkpoint)


def test_a_file_outside_the_scope_refuses_the_whole_checkpoint(world: World) -> None:
    session = world.id(MONEY)
    with pytest.raises(ScopeViolation):
        world.service.checkpoint(session, (MONEY, CART))
    assert world.store.checkpoints(session) == ()


def test_a_file_that_another_session_holds_is_not_rolled_back(world: World) -> None:
    one, two = world.id(), world.id()
    point = world.service.checkpoint(one, (MONEY,))
    write(world, one, MONEY, "X = 1\n")
    world.service.lock(two, (MONEY,))
    with pytest.raises(LockConflict):
        world.service.rollback(one, point.checkpoint_id)
    assert (world.root / MONEY).read_text() == "X = 1\n"


def test_the_same_key_takes_one_checkpoint(world: World) -> None:
    session = world.id()
    first = world.service.checkpoint(session, (MONEY,), key="k")
    (world.root / MONEY).write_text("X = 1\n")
    assert world.again().service.checkpoint(session, (MONEY,), key="k") == first
    assert len(world.store.checkpoints(session)) == 1


def test_in_an_mvcc_session_box_and_overlay_go_back_and_the_working_tree_is_untouched(world: World) -> None:
    session = world.id(concurrency=Concurrency.MVCC)
    box = world.box(session)
    on_disk = (world.root / MONEY).read_bytes()
    point = world.service.checkpoint(session, (MONEY, NEW))
    world.service.update(
        session,
        (FileChange(path=MONEY, content=b"X = 1\n"), FileChange(path=NEW, content=b"def fresh():\n    pass\n")),
    )
    assert world.driver.boxes[box][MONEY].content == b"X = 1\n"
    assert world.service.graph_for(session).nodes([FRESH])
    world.service.rollback(session, point.checkpoint_id)
    assert world.driver.boxes[box][MONEY].content == on_disk
    assert world.driver.boxes[box][NEW].content is None
    assert world.service.overlay(session) == ()
    assert world.service.graph_for(session).nodes([ROUNDED])
    assert world.service.graph_for(session).nodes([FRESH]) == ()
    assert (world.root / MONEY).read_bytes() == on_disk


def test_an_mvcc_session_goes_back_to_what_it_had_pushed(world: World) -> None:
    session = world.id(concurrency=Concurrency.MVCC)
    world.service.update(session, (FileChange(path=NEW, content=b"def fresh():\n    pass\n"),))
    point = world.service.checkpoint(session, (NEW,))
    world.service.update(session, (FileChange(path=NEW, change_type="deleted"),))
    assert world.service.graph_for(session).nodes([FRESH]) == ()
    world.service.rollback(session, point.checkpoint_id)
    assert world.service.graph_for(session).nodes([FRESH])
    assert world.graph.nodes([FRESH]) == ()


def test_what_was_edited_in_the_box_alone_goes_back_with_mode_and_link(world: World) -> None:
    session = world.id(concurrency=Concurrency.MVCC)
    box = world.box(session)
    kept = ChangedFile(path=NEW, content=b"#!/bin/sh\n", mode=0o755)
    world.driver.boxes[box][NEW] = kept
    point = world.service.checkpoint(session, (NEW,))
    world.driver.boxes[box][NEW] = ChangedFile(path=NEW, content=b"other", mode=0o644)
    world.service.rollback(session, point.checkpoint_id)
    assert world.driver.boxes[box][NEW] == kept


def test_a_rollback_that_can_never_be_finished_does_not_keep_the_session_open(world: World) -> None:
    session = world.id()
    point = world.service.checkpoint(session, (MONEY,))
    write(world, session, MONEY, "X = 1\n")
    (world.root / MONEY).unlink()
    (world.root / MONEY / "in_the_way").mkdir(parents=True)
    for step in (
        lambda: world.service.rollback(session, point.checkpoint_id),
        lambda: world.service.require(session, method="smp/context"),
    ):
        with pytest.raises(Unavailable):
            step()
    world.service.close(session, "aborted")
    assert "rollback not finished" in (world.store.events(session)[-1].detail or "")


def test_rolling_back_after_the_box_was_lost_still_takes_back_what_was_pushed(world: World) -> None:
    session = world.id(concurrency=Concurrency.MVCC)
    box = world.box(session)
    point = world.service.checkpoint(session, (NEW,))
    world.service.update(session, (FileChange(path=NEW, content=b"def fresh():\n    pass\n"),))
    world.driver.lose(box)
    world.service.rollback(session, point.checkpoint_id)
    assert world.service.overlay(session) == ()
    world.service.close(session, "aborted")
