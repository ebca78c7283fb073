"""Survivors declared equivalent: what the verdict says then, and where the word is kept."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from smp.adapters.sessions_sqlite.artifacts import SqliteArtifactStore
from smp.adapters.sessions_sqlite.sessions import SqliteSessionStore
from smp.domain.errors import Invalid, NotFound
from smp.domain.ids import CommitSha, ContentHash, FilePath, NodeId, SandboxId, SessionId, VerifyId
from smp.domain.mutants import IntegrityReport, Mutant, MutantOutcome, MutantStatus
from smp.domain.sessions import AuditEvent
from smp.integrity.equivalents import EquivalentMutants, marks_of, with_marks
from smp.settings import Settings
from tests.builders.folder_boxes import START, make_session
from tests.builders.session_world import ManualClock

SESSION = make_session(CommitSha("a" * 40))
STATUSES = (MutantStatus.KILLED, MutantStatus.SURVIVED, MutantStatus.SURVIVED, MutantStatus.EQUIVALENT)


def _mutant(index: int) -> Mutant:
    return Mutant(
        index=index,
        file=FilePath("a.py"),
        node_id=NodeId("function:a.py#f"),
        line=index + 1,
        operator="constant",
        original="1",
        mutated="2",
        start_byte=10 * index,
        end_byte=10 * index + 1,
    )


REPORT = IntegrityReport(
    id=VerifyId("ver_1"),
    session_id=SESSION.id,
    sandbox_id=SandboxId("box_1"),
    target_file=FilePath("a.py"),
    test_file=FilePath("test_a.py"),
    tree_hash=ContentHash("t" * 64),
    status="failed",
    failure_code="SURVIVING_MUTANT",
    outcomes=tuple(MutantOutcome(mutant=_mutant(n), status=status) for n, status in enumerate(STATUSES)),
    mutants_total=3,
    mutants_killed=1,
    mutants_survived=2,
    mutants_equivalent=1,
    mutation_score=1 / 3,
    target_hash=ContentHash("f" * 64),
)


class Desk:
    """The service over real stores that hold one verdict."""

    def __init__(self, root: Path) -> None:
        settings = Settings(repo=root, data_dir=root, cache_dir=root)
        self.artifacts = SqliteArtifactStore(settings)
        self.store = SqliteSessionStore(settings)
        self.store.insert(SESSION, AuditEvent(seq=0, at=START, method="smp/session/open"))
        self.keep(REPORT)
        self.service = EquivalentMutants(clock=ManualClock(), artifacts=self.artifacts, session_store=self.store)

    def keep(self, report: IntegrityReport) -> None:
        self.artifacts.put("verify", report.id, msgspec.json.encode(report), session_id=report.session_id)

    def stored(self) -> IntegrityReport:
        body = self.artifacts.get("verify", "ver_1")
        assert body is not None
        return msgspec.json.decode(body, type=IntegrityReport)

    def told(self) -> list[str | None]:
        events = self.store.events(SESSION.id)
        return [event.detail for event in events if event.method == "smp/verify/mark_equivalent"]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_marked_survivor_is_counted_apart_and_the_verdict_still_fails_for_the_other(desk: Desk) -> None:
    got = desk.service.mark(SESSION, "ver_1", 1, "the loop ends either way")
    assert (got.status, got.mutants_survived, got.mutants_total, got.mutation_score) == ("failed", 1, 2, 0.5)
    assert (got.mutants_marked, got.mutants_equivalent, got.mutants_killed) == (1, 1, 1)
    assert got.outcomes[1].reason == "the loop ends either way"
    assert desk.stored() == got


def test_the_last_marked_survivor_lifts_the_verdict(desk: Desk) -> None:
    for mutant in (1, 2):
        got = desk.service.mark(SESSION, "ver_1", mutant, f"reason {mutant}")
    assert (got.status, got.failure_code, got.mutation_score, got.mutants_total) == ("passed", None, 1.0, 1)
    assert desk.told() == [
        "mutant 1, line 2, '1' -> '2': reason 1",
        "mutant 2, line 3, '1' -> '2': reason 2",
    ]


def test_saying_it_again_changes_nothing_and_another_reason_is_refused(desk: Desk) -> None:
    first = desk.service.mark(SESSION, "ver_1", 1, "same")
    assert desk.service.mark(SESSION, "ver_1", 1, "same") == first
    with pytest.raises(Invalid, match="another reason: same"):
        desk.service.mark(SESSION, "ver_1", 1, "different")
    assert len(desk.told()) == 1


def test_a_mark_made_meanwhile_by_another_process_is_not_lost(desk: Desk) -> None:
    desk.service.mark(SESSION, "ver_1", 1, "first")
    desk.keep(REPORT)  # what the other process read before
    got = desk.service.mark(SESSION, "ver_1", 2, "second")
    assert [outcome.reason for outcome in got.outcomes] == [None, "first", "second", None]


@pytest.mark.parametrize("mutant", [0, 3, 99])
def test_only_survivors_can_be_marked(desk: Desk, mutant: int) -> None:
    with pytest.raises(Invalid) as caught:
        desk.service.mark(SESSION, "ver_1", mutant, "why not")
    assert caught.value.path == "mutant"
    assert desk.told() == []
    assert desk.stored() == REPORT


def test_a_verdict_of_another_session_or_without_a_reason_is_refused(desk: Desk) -> None:
    with pytest.raises(NotFound):
        desk.service.mark(replace(SESSION, id=SessionId("ses_other")), "ver_1", 1, "why")
    with pytest.raises(NotFound):
        desk.service.mark(SESSION, "ver_2", 1, "why")
    with pytest.raises(Invalid) as caught:
        desk.service.mark(SESSION, "ver_1", 1, " \n")
    assert caught.value.path == "reason"


def test_a_mark_holds_for_the_same_content_of_the_target_only(desk: Desk) -> None:
    desk.service.mark(SESSION, "ver_1", 1, "same")
    marks = marks_of(desk.artifacts, SESSION.id, REPORT.target_hash)
    assert marks_of(desk.artifacts, SESSION.id, ContentHash("0" * 64)) == ()
    assert marks_of(desk.artifacts, SessionId("ses_other"), REPORT.target_hash) == ()
    # A verdict on fewer lines numbers its mutants anew.
    narrow = replace(
        REPORT,
        outcomes=(MutantOutcome(mutant=replace(_mutant(1), index=0), status=MutantStatus.SURVIVED),),
        mutants_killed=0,
        mutants_survived=1,
        mutants_total=1,
    )
    assert with_marks(narrow, marks).status == "passed"


def test_a_marked_mutant_that_a_test_kills_is_killed(desk: Desk) -> None:
    desk.service.mark(SESSION, "ver_1", 1, "same")
    killed = replace(REPORT, outcomes=(MutantOutcome(mutant=_mutant(1), status=MutantStatus.KILLED),))
    got = with_marks(killed, marks_of(desk.artifacts, SESSION.id, REPORT.target_hash))
    assert (got.outcomes[0].status, got.mutants_marked) == (MutantStatus.KILLED, 0)


def test_a_red_suite_is_not_lifted_by_marks(desk: Desk) -> None:
    desk.service.mark(SESSION, "ver_1", 1, "same")
    red = replace(REPORT, failure_code="TESTS_FAILING", outcomes=())
    assert with_marks(red, marks_of(desk.artifacts, SESSION.id, REPORT.target_hash)) == red
