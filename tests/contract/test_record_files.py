"""The port of record files: whole lines, whole files, and no trace of a read."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from smp.adapters.records_directory import DirectoryRecordFiles
from smp.domain.errors import Unavailable
from smp.ports.record_files import RecordFile, RecordFiles
from smp.settings import Settings


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def files(tmp_path: Path, data: Path) -> RecordFiles:
    return DirectoryRecordFiles(Settings(repo=tmp_path, data_dir=data, cache_dir=tmp_path / "cache"))


def test_reading_creates_nothing(files: RecordFiles, data: Path) -> None:
    assert [files.read(file) for file in RecordFile] == [None] * len(RecordFile)
    assert not data.exists()


def test_lines_are_added_behind_those_that_are_there(files: RecordFiles) -> None:
    with files.writing(RecordFile.EDGES):
        assert files.append(RecordFile.EDGES, [b"a", b"bc"]) == 5
        assert files.append(RecordFile.EDGES, [b"d"]) == 7
    assert files.read(RecordFile.EDGES) == b"a\nbc\nd\n"


def test_a_torn_line_is_ended_before_the_next(files: RecordFiles, data: Path) -> None:
    (data / "graph").mkdir(parents=True)
    (data / RecordFile.EDGES).write_bytes(b"whole\nto")
    with files.writing(RecordFile.EDGES):
        assert files.append(RecordFile.EDGES, [b"next"]) == 14
    assert files.read(RecordFile.EDGES) == b"whole\nto\nnext\n"


def test_a_file_is_replaced_whole_and_leaves_nothing_beside_it(files: RecordFiles, data: Path) -> None:
    with files.writing(RecordFile.RULES):
        files.replace(RecordFile.RULES, b"one")
        files.replace(RecordFile.RULES, b"two")
    assert files.read(RecordFile.RULES) == b"two"
    assert sorted(path.name for path in (data / "evolve").iterdir()) == [".lock", "rules.json"]


def test_a_damaged_file_is_kept_under_another_name(files: RecordFiles, data: Path) -> None:
    with files.writing(RecordFile.INDEX):
        files.replace(RecordFile.INDEX, b"{")
        files.set_aside(RecordFile.INDEX)
        files.set_aside(RecordFile.INDEX)
    assert files.read(RecordFile.INDEX) is None
    assert (data / "graph" / "edges.index.json.corrupt").read_bytes() == b"{"


def test_deleting_what_is_not_there_is_no_error(files: RecordFiles) -> None:
    with files.writing(RecordFile.EDGES):
        files.append(RecordFile.EDGES, [b"a"])
        files.delete((RecordFile.EDGES, RecordFile.INDEX))
    assert files.read(RecordFile.EDGES) is None


def test_one_writer_at_a_time(files: RecordFiles) -> None:
    def add() -> None:
        for _ in range(20):
            with files.writing(RecordFile.EDGES):
                before = files.read(RecordFile.EDGES) or b""
                files.replace(RecordFile.EDGES, before + b"x")

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert files.read(RecordFile.EDGES) == b"x" * 80


def test_what_is_in_the_way_is_named(files: RecordFiles, data: Path) -> None:
    data.mkdir()
    (data / "graph").write_text("in the way")
    with pytest.raises(Unavailable, match="graph"), files.writing(RecordFile.EDGES):
        pass
    with pytest.raises(Unavailable, match=r"edges\.jsonl"):
        files.read(RecordFile.EDGES)


@pytest.mark.parametrize("link", ["memory/episodes.jsonl", "memory", "memory/.lock"])
def test_nothing_is_read_or_written_through_a_link(files: RecordFiles, data: Path, tmp_path: Path, link: str) -> None:
    victim = tmp_path / "victim"
    if link == "memory":
        victim.mkdir()
    place = data / link
    place.parent.mkdir(parents=True)
    place.symlink_to(victim)
    before = sorted(path.name for path in tmp_path.rglob("*"))
    with pytest.raises(Unavailable, match="memory"), files.writing(RecordFile.EPISODES):
        files.append(RecordFile.EPISODES, [b"x"])
    assert [name for name in sorted(path.name for path in tmp_path.rglob("*")) if name != ".lock"] == [
        name for name in before if name != ".lock"
    ]
    assert victim.is_dir() if link == "memory" else not victim.exists()


def test_what_is_no_file_does_not_hold_a_reader_up(files: RecordFiles, data: Path) -> None:
    (data / "memory").mkdir(parents=True)
    os.mkfifo(data / RecordFile.EPISODES)
    with pytest.raises(Unavailable, match="no file"):
        files.read(RecordFile.EPISODES)
