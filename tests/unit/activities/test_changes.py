"""Change sets by reference, and the words that people and agents are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from activities.changes import ProposedFile, as_change, as_written, loaded, stored
from activities.contract import ChangeSet
from activities.integrity import changed_lines, verdict_words
from activities.sandboxes import execution_words
from smp.adapters.sessions_sqlite.artifacts import SqliteArtifactStore
from smp.domain.errors import NotFound
from smp.domain.ids import ContentHash, FilePath, NodeId, SandboxId, SessionId, VerifyId
from smp.domain.mutants import IntegrityReport, Mutant, MutantOutcome, MutantStatus
from smp.domain.sandboxes import ChangedFile, Execution
from smp.settings import load_settings

A, B = FilePath("a.py"), FilePath("b.py")


@pytest.fixture
def store(tmp_path: Path) -> SqliteArtifactStore:
    """An empty one."""
    return SqliteArtifactStore(load_settings(tmp_path, environ={}))


def test_a_proposal_survives_its_store_and_is_named_by_its_content(store: SqliteArtifactStore) -> None:
    files = (
        ProposedFile(path=B, content=b"\xff\x00"),
        ProposedFile(path=A, content=None, intended_change="delete_file:a"),
    )
    change = stored(store, files)
    assert change.files == (A, B)
    assert loaded(store, change) == tuple(sorted(files, key=lambda file: file.path))
    assert stored(store, tuple(reversed(files))).digest == change.digest


def test_a_proposal_whose_blob_is_gone_says_what_the_run_needs(store: SqliteArtifactStore) -> None:
    change = ChangeSet(digest=ContentHash("0" * 64), files=(A,))
    with pytest.raises(NotFound, match="data directory it began with"):
        loaded(store, change)


def test_a_rewritten_file_keeps_its_mode_unless_the_proposal_names_one() -> None:
    script = ChangedFile(path=A, content=b"#!", mode=0o755)
    assert as_written(ProposedFile(path=A, content=b"new"), script).mode == 0o755
    assert as_written(ProposedFile(path=A, content=b"new", mode=0o600), script).mode == 0o600
    assert as_written(ProposedFile(path=A, content=b"new"), None).mode == 0o644


def test_a_deletion_is_a_deletion_for_the_indexer() -> None:
    assert as_change(ProposedFile(path=A, content=None)).change_type == "deleted"
    assert as_change(ProposedFile(path=A, content=b"")).content == b""


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("a\nb\nc\n", "a\nX\nc\n", {2}),
        ("a\nb\n", "a\nnew\nb\nend\n", {2, 4}),
        ("a\nb\nc\n", "a\nc\n", set()),
        ("", "one\ntwo\n", {1, 2}),
        ("same\n", "same\n", set()),
    ],
)
def test_changed_lines_are_those_that_were_not_there(before: str, after: str, lines: set[int]) -> None:
    assert changed_lines(before.encode(), after.encode()) == lines


def test_a_failed_verdict_names_each_survivor_with_its_line_and_test() -> None:
    mutant = Mutant(
        index=0,
        file=A,
        node_id=NodeId("function:a.py#f"),
        line=7,
        operator="comparison",
        original="<",
        mutated="<=",
        start_byte=0,
        end_byte=1,
    )
    report = IntegrityReport(
        id=VerifyId("ver_1"),
        session_id=SessionId("ses_1"),
        sandbox_id=SandboxId("box_1"),
        target_file=A,
        test_file=B,
        tree_hash=ContentHash("0"),
        status="failed",
        failure_code="SURVIVING_MUTANT",
        outcomes=(MutantOutcome(mutant=mutant, status=MutantStatus.SURVIVED, test="b.py::test_f"),),
        mutants_total=3,
        mutants_killed=2,
        mutants_survived=1,
    )
    words = verdict_words(report)
    assert "2 of 3 mutants of the changed lines were noticed" in words
    assert "line 7: '<' -> '<=' was not noticed by b.py::test_f" in words


def test_an_execution_is_worded_by_how_it_ended() -> None:
    done = Execution(exit_code=1, stdout="out\n", stderr="err\n", duration_ms=1500)
    assert execution_words(done) == "exit code 1 after 1.5 s\nout\nerr"
    timed_out = Execution(exit_code=-9, stdout="", stderr="", duration_ms=10, timed_out=True)
    assert execution_words(timed_out).startswith("stopped at its time limit")
    killed = Execution(exit_code=-9, stdout="", stderr="", duration_ms=10, memory_killed=True)
    assert execution_words(killed).startswith("killed at its memory limit")
