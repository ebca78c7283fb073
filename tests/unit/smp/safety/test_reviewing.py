"""A session that reviews another one: it sees the other's box, writes nothing, and every call of it is announced."""

from __future__ import annotations

import pytest

from smp.domain.errors import ScopeViolation
from smp.domain.ids import AgentId, FilePath, SandboxId, SessionId
from smp.domain.sandboxes import ChangedFile
from smp.domain.session_steps import OpenSession
from smp.domain.sessions import Concurrency, Session, SessionMode
from smp.indexing.reports import FileChange
from tests.builders.session_world import World

MONEY = FilePath("shop/money.py")
CHANGED = b"def rounded(value: float) -> int:\n    return int(value)\n\n\ndef tax() -> int:\n    return 2\n"


class Handed:
    """An author's box with a change that was never pushed, and a reviewer's session on it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.calls: list[SessionId] = []
        world.service.when_review_begins(self._begun)
        self.author = world.id(concurrency=Concurrency.MVCC)
        self.box = world.box(self.author)
        _write(world, self.author, CHANGED)
        self.reviewer = _review(world, self.author, self.box)

    def _begun(self, session: Session) -> None:
        self.calls.append(session.id)


def _write(world: World, session_id: SessionId, content: bytes) -> None:
    box = world.service._workspace.box(_stored(world, session_id))
    assert box is not None
    world.driver.write(box, [ChangedFile(path=MONEY, content=content)])


def _stored(world: World, session_id: SessionId) -> Session:
    session = world.store.get(session_id)
    assert session is not None
    return session


def _review(world: World, author: SessionId, box: SandboxId) -> SessionId:
    opened = world.service.open(
        OpenSession(
            agent_id=AgentId("reviewer"),
            task="review",
            scope=("shop/money.py",),
            mode=SessionMode.READ,
            ttl_seconds=10,
            reviews=author,
            sandbox_id=box,
        )
    )
    return opened.session.id


@pytest.fixture
def handed(world: World) -> Handed:
    return Handed(world)


def test_it_sees_the_graph_of_the_box_as_it_was_handed_over(handed: Handed) -> None:
    service = handed.world.service
    assert [node.name for node in service.graph_for(handed.reviewer).find("shop/money.py#tax")] == ["tax"]
    assert not service.graph_for(handed.author).find("shop/money.py#tax"), "the author has not pushed it"
    assert service.content(handed.reviewer, MONEY) == CHANGED


def test_it_writes_nothing(handed: Handed) -> None:
    with pytest.raises(ScopeViolation, match="only reads"):
        handed.world.service.update(handed.reviewer, (FileChange(path=MONEY, content=b""),))
    with pytest.raises(ScopeViolation):
        handed.world.service.checkpoint(handed.reviewer, (MONEY,))


def test_its_end_leaves_the_authors_box_and_claims_none_of_its_changes(handed: Handed) -> None:
    closed = handed.world.service.close(handed.reviewer, "completed")
    assert closed.files_written == ()
    assert handed.world.driver.destroyed == []
    assert handed.world.service.close(handed.author, "completed").files_written == (MONEY,)
    assert handed.world.driver.destroyed == [handed.box]


def test_its_expiry_leaves_the_authors_box(handed: Handed) -> None:
    handed.world.clock.forward(11)
    assert handed.world.service.expire_due() == 1
    assert handed.world.driver.destroyed == []
    assert handed.world.service.content(handed.author, MONEY) == CHANGED


def test_each_of_its_calls_is_announced_and_no_other(handed: Handed) -> None:
    service = handed.world.service
    assert handed.calls == [], "opening it is the author's doing"
    service.note_read(handed.author, method="smp/navigate")
    assert handed.calls == []
    service.note_read(handed.reviewer, method="smp/navigate")
    service.recover(handed.reviewer, "reviewer")
    service.check_guard(handed.reviewer, "shop/money.py")
    assert handed.calls == [handed.reviewer] * 3


def test_a_box_that_is_gone_leaves_the_reviewer_the_shared_graph(world: World) -> None:
    author = world.id(concurrency=Concurrency.MVCC)
    box = world.box(author)
    _write(world, author, CHANGED)
    world.service.close(author, "aborted")
    reviewer = _review(world, author, box)
    assert not world.service.graph_for(reviewer).find("shop/money.py#tax")
