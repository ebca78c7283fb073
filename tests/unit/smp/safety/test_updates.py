"""Updates: the shared graph of exclusive sessions, box and overlay of mvcc sessions, the sequence of elevated ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from smp.domain.errors import ScopeViolation, SequenceViolation, SessionNotFound
from smp.domain.ids import FilePath, NodeId
from smp.domain.sandboxes import ChangedFile
from smp.domain.session_steps import CheckpointTaken, DryrunReport, DryrunVerdict, GuardVerdict
from smp.domain.sessions import Concurrency, SafetyLevel
from smp.indexing.reports import FileChange, UpdateReport
from tests.builders.session_world import World

MONEY, CART, NEW, RULES = (FilePath(f"shop/{name}.py") for name in ("money", "cart", "new", "rules"))
ROUNDED, FRESH = NodeId("function:shop/money.py#rounded"), NodeId("function:shop/new.py#fresh")
FRESH_FILE = FileChange(path=NEW, content=b"def fresh():\n    pass\n")
MVCC = Concurrency.MVCC


def test_an_exclusive_update_changes_the_shared_graph_and_names_its_agent(world: World) -> None:
    session = world.id(agent="churner")
    report = world.service.update(session, (FRESH_FILE,))
    assert (report.status, report.counts.nodes_added, report.changed_nodes) == (
        "success",
        2,
        ("file:shop/new.py", FRESH),
    )
    assert world.graph.nodes([FRESH])
    (change,) = world.graph.history(FRESH, since="2000-01-01T00:00:00Z")
    assert (change.event, change.agent, change.session) == ("created", "churner", session)


def test_an_mvcc_update_is_seen_by_its_session_alone(world: World) -> None:
    one, two = world.id(concurrency=MVCC), world.id(concurrency=MVCC)
    report = world.service.update(one, (FRESH_FILE,))
    assert (report.counts.nodes_added, report.changed_nodes) == (2, ("file:shop/new.py", FRESH))
    assert world.service.graph_for(one).nodes([FRESH])
    for other in (two, None):
        assert world.service.graph_for(other).nodes([FRESH]) == ()
    assert world.service.overlay(one) == (FRESH_FILE,)
    assert world.service.overlay(two) == ()
    assert not (world.root / NEW).exists()


def test_an_mvcc_update_survives_a_restart_and_the_newest_push_of_a_file_wins(world: World) -> None:
    session = world.id(concurrency=MVCC)
    for number in range(3):
        world.clock.forward(1)
        world.service.update(session, (FileChange(path=MONEY, content=f"def f{number}(): pass\n".encode()),))
    world.service.update(session, (FileChange(path=CART, change_type="deleted"),))
    later = world.again().service
    assert [(change.path, change.change_type) for change in later.overlay(session)] == [
        (CART, "deleted"),
        (MONEY, "modified"),
    ]
    graph = later.graph_for(session)
    assert graph.nodes([NodeId("function:shop/money.py#f2")])
    assert graph.nodes([NodeId("function:shop/money.py#f1"), NodeId("function:shop/cart.py#total")]) == ()


def test_an_mvcc_update_is_recorded_as_a_change_by_its_agent(world: World) -> None:
    session = world.id(concurrency=MVCC, agent="churner")
    text = world.indexer.contents[MONEY].replace(b"int(value)", b"int(value + 0)")
    world.service.update(session, (FileChange(path=MONEY, content=text),))
    newest = world.graph.history(ROUNDED, since="2000-01-01T00:00:00Z")[0]
    assert (newest.event, newest.agent, newest.session) == ("modified", "churner", session)
    assert len(world.graph.history(NodeId("function:shop/money.py#spare"), since="2000-01-01T00:00:00Z")) == 1


def test_the_box_of_an_mvcc_session_gets_the_content_and_keeps_the_mode(world: World) -> None:
    session = world.id(concurrency=MVCC)
    box = world.box(session)
    world.driver.boxes[box][MONEY] = ChangedFile(path=MONEY, content=b"old", mode=0o755)
    world.service.update(session, (FileChange(path=MONEY, content=b"X = 1\n"), FRESH_FILE))
    assert world.driver.boxes[box][MONEY] == ChangedFile(path=MONEY, content=b"X = 1\n", mode=0o755)
    assert world.driver.boxes[box][NEW].content == FRESH_FILE.content


def test_without_content_the_box_is_read(world: World) -> None:
    session = world.id(concurrency=MVCC)
    box = world.box(session)
    world.driver.boxes[box][NEW] = ChangedFile(path=NEW, content=FRESH_FILE.content)
    report = world.service.update(session, (FileChange(path=NEW), FileChange(path=MONEY)))
    assert report.changed_nodes == ("file:shop/new.py", FRESH)
    assert world.driver.writes == 0
    assert world.service.graph_for(session).nodes([FRESH])


def test_without_a_box_the_working_tree_is_read(world: World) -> None:
    session = world.id(concurrency=MVCC)
    (world.root / NEW).write_bytes(FRESH_FILE.content or b"")
    world.service.update(session, (FileChange(path=NEW),))
    assert world.service.overlay(session) == (FRESH_FILE,)
    (world.root / NEW).unlink()
    world.service.update(session, (FileChange(path=NEW),))
    assert world.service.graph_for(session).nodes([FRESH]) == ()


def test_what_does_not_parse_is_partial(world: World) -> None:
    session = world.id(concurrency=MVCC)
    report = world.service.update(session, (FileChange(path=NEW, content=b"def (\n"),))
    assert (report.status, [error.file for error in report.parse_errors]) == ("partial", [NEW])


@pytest.mark.parametrize("concurrency", [MVCC, Concurrency.EXCLUSIVE])
def test_one_file_outside_the_scope_refuses_the_whole_batch(world: World, concurrency: Concurrency) -> None:
    session = world.id(NEW, concurrency=concurrency)
    with pytest.raises(ScopeViolation):
        world.service.update(session, (FRESH_FILE, FileChange(path=MONEY, content=b"")), method="smp/batch_update")
    assert world.service.graph_for(session).nodes([FRESH]) == ()
    assert world.graph.nodes([ROUNDED])
    assert world.service.overlay(session) == ()


@pytest.mark.parametrize("concurrency", [MVCC, Concurrency.EXCLUSIVE])
def test_the_same_key_updates_once(world: World, concurrency: Concurrency) -> None:
    session = world.id(concurrency=concurrency)
    first = world.service.update(session, (FRESH_FILE,), key="k")
    assert first.counts.nodes_added == 2
    assert world.again().service.update(session, (FRESH_FILE,), key="k") == first
    assert world.methods(session) == ["smp/session/open", "smp/update"]


def test_the_graph_of_a_session_that_has_ended_is_gone(world: World) -> None:
    session = world.id(concurrency=MVCC)
    world.service.close(session, "completed")
    for unknown in (session, "ses_none"):
        with pytest.raises(SessionNotFound):
            world.service.graph_for(unknown)


@pytest.fixture
def hot(world: World) -> World:
    """`rounded` is hot: five changes, six callers."""
    for name in ("one", "two", "three", "four"):
        content = b"from shop.money import rounded\n\n\ndef f():\n    rounded(1)\n"
        world.indexer.update((FileChange(path=FilePath(f"shop/{name}.py"), content=content),))
    world.heat("shop/money.py#rounded", times=4)
    return world


def test_an_elevated_session_keeps_the_sequence_for_each_file(hot: World) -> None:
    opened = hot.open()
    session = opened.session.id
    assert opened.session.safety_level is SafetyLevel.ELEVATED
    new = hot.indexer.contents[MONEY].replace(b"return 1", b"return 2")
    change = (FileChange(path=MONEY, content=new),)

    def update() -> UpdateReport:
        return hot.service.update(session, change)

    def rehearse() -> DryrunReport:
        return hot.service.dryrun(session, change)

    def save() -> CheckpointTaken:
        return hot.service.checkpoint(session, (MONEY,))

    def refused(*steps: Callable[[], object]) -> None:
        for step in steps:
            with pytest.raises(SequenceViolation) as error:
                step()
            assert error.value.data()["file"] == MONEY

    refused(rehearse, save, update)
    assert hot.service.check_guard(session, MONEY).verdict is GuardVerdict.CLEAR
    refused(save, update)
    assert rehearse().verdict is DryrunVerdict.SAFE
    refused(update)
    assert hot.service.check_guard(session, CART).verdict is GuardVerdict.CLEAR
    refused(update)
    save()
    before = hot.graph.nodes([NodeId("function:shop/money.py#spare")])
    assert update().status == "success"
    assert hot.graph.nodes([NodeId("function:shop/money.py#spare")]) != before
    refused(rehearse, save, update)
    assert hot.methods(session).count("SEQUENCE_VIOLATION") == 10


def test_a_breaking_dry_run_keeps_an_elevated_session_from_writing(hot: World) -> None:
    session = hot.id()
    change = (FileChange(path=MONEY, content=b"def spare() -> int:\n    return 1\n"),)
    hot.service.check_guard(session, MONEY)
    assert hot.service.dryrun(session, change).verdict is DryrunVerdict.BREAKING
    with pytest.raises(SequenceViolation, match="smp/dryrun"):
        hot.service.checkpoint(session, (MONEY,))


def test_a_batch_needs_the_sequence_of_every_file(hot: World) -> None:
    session = hot.id()
    both = (FileChange(path=MONEY, content=hot.indexer.contents[MONEY] + b"\n"), FRESH_FILE)
    hot.service.check_guard(session, MONEY)
    with pytest.raises(SequenceViolation):
        hot.service.dryrun(session, both)
    hot.service.check_guard(session, NEW)
    hot.service.dryrun(session, both)
    hot.service.checkpoint(session, (MONEY,))
    with pytest.raises(SequenceViolation):
        hot.service.update(session, both)
    hot.service.checkpoint(session, (NEW,))
    hot.service.update(session, both)


def test_a_red_alert_refuses_the_write_of_a_standard_session_too(world: World) -> None:
    session = world.id()
    change = (FileChange(path=RULES, content=world.indexer.contents[RULES] + b"\n"),)
    assert world.service.check_guard(session, RULES).verdict is GuardVerdict.RED_ALERT
    with pytest.raises(SequenceViolation, match="red_alert"):
        world.service.update(session, change)
    test = FileChange(
        path=FilePath("tests/test_rules.py"),
        content=b"from shop.rules import branchy\n\n\ndef test_branchy():\n    assert branchy(1) == 1\n",
    )
    world.indexer.update((test,))
    assert world.service.check_guard(session, RULES).verdict is GuardVerdict.CLEAR
    assert world.service.update(session, change).status == "success"


def test_an_overlay_follows_what_others_change_in_the_shared_graph(world: World) -> None:
    session = world.id(concurrency=MVCC)
    world.service.update(session, (FRESH_FILE,))
    assert world.service.graph_for(session).nodes([ROUNDED])
    world.indexer.update((FileChange(path=MONEY, content=b"def renamed():\n    pass\n"),))
    graph = world.service.graph_for(session)
    assert graph.nodes([ROUNDED]) == ()
    assert graph.nodes([NodeId("function:shop/money.py#renamed"), FRESH]) != ()
    assert world.service.graph_for(session) is graph
