"""What the record graph believes, at its edges: times, sizes, and a crash in the middle of a rewrite."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from smp.adapters.records_directory import DirectoryRecordFiles
from smp.domain.records import Episode, FailureNote, RecordEdge
from smp.ports.record_files import RecordFile
from smp.records import edge_store
from smp.records.derive import edge_id
from smp.records.edge_store import EdgeStore
from smp.records.episodes import fitting
from smp.records.reading import MAX_RECORD_BYTES, read_records
from smp.settings import Settings


class Dies(BaseException):
    """What ends a process."""


class MortalFiles(DirectoryRecordFiles):
    """Dies when it comes to replace a file."""

    dies_at: RecordFile | None = None

    def replace(self, file: RecordFile, body: bytes) -> None:
        if file is self.dies_at:
            raise Dies
        super().replace(file, body)


@pytest.fixture
def files(tmp_path: Path) -> MortalFiles:
    return MortalFiles(Settings(repo=tmp_path, data_dir=tmp_path / "data", cache_dir=tmp_path / "cache"))


def edge(number: int, at: str) -> RecordEdge:
    source, target = f"episode:ep_{number:04}", "file:a.py"
    return RecordEdge(id=edge_id(source, target, "touched"), source=source, target=target, type="touched", at=at)


def add(files: DirectoryRecordFiles, *edges: RecordEdge) -> None:
    with files.writing(RecordFile.EDGES):
        EdgeStore(files).add(edges)


def written(files: DirectoryRecordFiles, *lines: str | dict[str, object]) -> None:
    body = [(line if isinstance(line, str) else json.dumps(line)).encode() for line in lines]
    with files.writing(RecordFile.EPISODES):
        files.append(RecordFile.EPISODES, body)


def sources(files: DirectoryRecordFiles) -> list[str]:
    return sorted(one.source for one in EdgeStore(files).edges.values())


def test_an_index_of_the_log_before_is_not_believed_though_the_new_log_is_as_long(
    files: MortalFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_store, "MAX_EDGES", 2)
    add(files, edge(1, "2026-01-01T00:00:00Z"), edge(2, "2026-01-02T00:00:00Z"))
    length = len(files.read(RecordFile.EDGES) or b"")
    files.dies_at = RecordFile.INDEX
    with pytest.raises(Dies):
        add(files, edge(3, "2026-01-03T00:00:00Z"))
    files.dies_at = None
    assert len(files.read(RecordFile.EDGES) or b"") == length
    assert sources(files) == ["episode:ep_0002", "episode:ep_0003"]


def test_a_crash_before_the_log_is_replaced_leaves_the_log_before(files: MortalFiles) -> None:
    add(files, edge(1, "2026-01-01T00:00:00Z"), edge(2, "2026-01-02T00:00:00Z"))
    files.dies_at = RecordFile.EDGES
    with files.writing(RecordFile.EDGES), pytest.raises(Dies):
        EdgeStore(files).prune("2026-01-01T00:00:00Z")
    files.dies_at = None
    assert sources(files) == ["episode:ep_0001", "episode:ep_0002"]
    assert EdgeStore(files).warnings == []


def test_fractions_of_a_second_are_later_than_the_second(files: MortalFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_store, "MAX_EDGES", 1)
    add(files, edge(1, "2026-01-01T00:00:00Z"), edge(2, "2026-01-01T00:00:00.5Z"))
    assert sources(files) == ["episode:ep_0002"]
    with files.writing(RecordFile.EDGES):
        assert EdgeStore(files).prune("2026-01-01T00:00:00Z") == 0


@pytest.mark.parametrize("at", ["yesterday", "2026-01-01", "2026-01-01T00:00:00+02:00", "9999", "2026-13-41T00:00:00Z"])
def test_a_record_without_a_time_that_can_be_compared_is_left_out_and_named(files: MortalFiles, at: str) -> None:
    written(files, {"id": "ep_0001", "at": at}, {"id": "ep_0002", "at": "2026-01-01T00:00:00+00:00"})
    records = read_records(files)
    assert [(one.id, one.at) for one in records.episodes] == [("ep_0002", "2026-01-01T00:00:00Z")]
    assert "episodes.jsonl:1" in records.warnings[0]


def test_a_record_that_is_too_long_is_left_out_and_what_it_does_not_know_is_no_fault(files: MortalFiles) -> None:
    known: dict[str, object] = {"id": "ep_0001", "at": "2026-01-01T00:00:00Z", "of a later version": {"x": [1]}}
    written(files, known, {"id": "ep_0002", "at": "2026-01-01T00:00:00Z", "task": "x" * MAX_RECORD_BYTES})
    records = read_records(files)
    assert [one.id for one in records.episodes] == ["ep_0001"]
    assert str(MAX_RECORD_BYTES) in records.warnings[0]


def test_an_episode_beyond_every_bound_is_cut_to_what_a_record_holds_and_reads_back(files: MortalFiles) -> None:
    note = FailureNote(fingerprint="fp_aaaa", class_="gate_tests", tool="execute", message="\u2026" * 2000)
    huge = Episode(
        id="ep_0001",
        files_changed=tuple(f"{'folder/' * 30}{number}.py" for number in range(1000)),
        failures=(note,) * 100,
        at="2026-01-01T00:00:00Z",
    )
    assert len(msgspec.json.encode(huge)) > 10 * MAX_RECORD_BYTES
    cut = fitting(huge)
    assert len(msgspec.json.encode(cut)) <= MAX_RECORD_BYTES
    assert (cut.id, len(cut.failures), cut.files_changed[0]) == ("ep_0001", 100, huge.files_changed[0])
    written(files, msgspec.json.encode(cut).decode())
    assert read_records(files).episodes == (cut,)


def test_reading_changes_nothing(files: MortalFiles) -> None:
    add(files, edge(1, "2026-01-01T00:00:00Z"))
    folder = Path(files.place(RecordFile.EDGES))
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    store = EdgeStore(files)
    assert (len(store.edges), store.warnings) == (1, [])
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()} == before
