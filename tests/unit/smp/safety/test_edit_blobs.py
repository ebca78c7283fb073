"""Large edits by reference: what is believed of a reference is only what its blob bears out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from smp.adapters.sessions_sqlite.artifacts import SqliteArtifactStore
from smp.domain.errors import Invalid, NotFound, TooLarge
from smp.domain.ids import ContentHash, FilePath
from smp.domain.runs import MAX_PROPOSAL_BYTES, Command, Edit, EditList, EditStep, Proposed
from smp.safety import edit_blobs
from smp.settings import Settings

A, B = FilePath("a.py"), FilePath("b.py")
SMALL = (Edit(file=A, content="x = 1\n"), Edit(file=B, content=None))
LARGE = (Edit(file=A, content="x" * MAX_PROPOSAL_BYTES, intended_change="add_function:f"), Edit(file=B, content=None))


@pytest.fixture
def artifacts(tmp_path: Path) -> Iterator[SqliteArtifactStore]:
    store = SqliteArtifactStore(Settings(repo=tmp_path, data_dir=tmp_path / "data", cache_dir=tmp_path))
    yield store
    store.close()


def test_edits_come_back_as_they_were_and_equal_ones_are_one_blob(artifacts: SqliteArtifactStore) -> None:
    first, again = (edit_blobs.stored(artifacts, LARGE) for _ in range(2))
    assert first == again
    assert (first.files, first.size > MAX_PROPOSAL_BYTES) == ((A, B), True)
    assert edit_blobs.loaded(artifacts, first) == LARGE


def test_only_what_is_large_becomes_a_reference(artifacts: SqliteArtifactStore) -> None:
    small = EditList(steps=(EditStep(edits=SMALL), EditStep(edits=SMALL)))
    assert edit_blobs.lighter_agent(artifacts, small) is small
    command = Command(command="./agent")
    assert edit_blobs.lighter_agent(artifacts, command) is command
    assert edit_blobs.lighter_proposal(artifacts, Proposed(seq=1, edits=SMALL)).stored is None


def test_every_attempt_of_a_large_list_becomes_a_reference(artifacts: SqliteArtifactStore) -> None:
    large = EditList(steps=(EditStep(edits=SMALL, summary="first"), EditStep(edits=LARGE), EditStep()))
    lighter = edit_blobs.lighter_agent(artifacts, large)
    assert isinstance(lighter, EditList)
    assert [(step.edits, step.summary, step.stored is not None) for step in lighter.steps] == [
        ((), "first", True),
        ((), "", True),
        ((), "", False),
    ]
    proposed = edit_blobs.lighter_proposal(artifacts, Proposed(seq=3, edits=LARGE, summary="s"))
    assert (proposed.seq, proposed.summary, proposed.edits, proposed.files) == (3, "s", (), (A, B))


def test_a_reference_that_its_blob_does_not_bear_out_is_refused(artifacts: SqliteArtifactStore) -> None:
    genuine = edit_blobs.stored(artifacts, SMALL)
    for files in ((A,), (B, A), (A, B, A)):
        with pytest.raises(Invalid, match="other files"):
            edit_blobs.loaded(artifacts, replace(genuine, files=files))
    with pytest.raises(NotFound, match="data directory"):
        edit_blobs.loaded(artifacts, replace(genuine, digest=ContentHash("0" * 64)))
    other = artifacts.put_blob(b"no edits")
    with pytest.raises(Invalid, match="no set of edits"):
        edit_blobs.loaded(artifacts, replace(genuine, digest=other))


def test_edits_without_end_are_refused_before_anything_is_kept(
    artifacts: SqliteArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edit_blobs, "MAX_EDITS_BYTES", 100)
    with pytest.raises(TooLarge, match="agent command"):
        edit_blobs.stored(artifacts, LARGE)
