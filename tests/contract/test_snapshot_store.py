"""The port of stored snapshots: whole or not there, found by id and by nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from smp.adapters.snapshots_directory import DirectorySnapshotStore
from smp.domain.errors import SnapshotInvalid, Unavailable
from smp.ports.snapshot_store import SnapshotStore
from smp.settings import Settings

ID = "snap_0000000000000000"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "snapshots"


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    return DirectorySnapshotStore(Settings(repo=tmp_path, data_dir=tmp_path / "data", cache_dir=tmp_path / "cache"))


def test_what_is_written_is_read(store: SnapshotStore, folder: Path) -> None:
    with store.create(ID) as out:
        out.write(b"one")
        out.write(b"two")
    with store.open(ID) as source:
        assert source.read() == b"onetwo"
    assert [path.name for path in folder.iterdir()] == [f"{ID}.tar.zst"]


def test_nothing_is_there_when_writing_fails(store: SnapshotStore, folder: Path) -> None:
    def write() -> None:
        with store.create(ID) as out:
            out.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert list(folder.iterdir()) == []


def test_nothing_is_seen_before_it_is_whole(store: SnapshotStore) -> None:
    with store.create(ID) as out:
        out.write(b"half")
        with pytest.raises(SnapshotInvalid), store.open(ID):
            pass


@pytest.mark.parametrize(
    "snapshot_id",
    [ID, "", "snap_", "snap_../x", "../snapshots/x", "/etc/passwd", "snap_a/b", "snap_x\0", "snap_" + "x" * 999],
)
def test_what_is_not_there_is_no_snapshot(store: SnapshotStore, snapshot_id: str) -> None:
    with pytest.raises(SnapshotInvalid) as caught, store.open(snapshot_id):
        pass
    assert caught.value.fields == {"snapshot_id": snapshot_id}


def test_links_and_folders_are_not_followed(store: SnapshotStore, folder: Path, tmp_path: Path) -> None:
    folder.mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (folder / f"{ID}.tar.zst").symlink_to(tmp_path / "secret")
    (folder / "snap_folder.tar.zst").mkdir()
    os.mkfifo(folder / "snap_pipe.tar.zst")
    for snapshot_id in (ID, "snap_folder", "snap_pipe"):
        with pytest.raises((SnapshotInvalid, Unavailable)) as caught, store.open(snapshot_id):
            pass
        assert "secret" not in caught.value.message


def test_a_folder_that_cannot_be_made_is_unavailable(store: SnapshotStore, folder: Path) -> None:
    folder.parent.mkdir()
    folder.write_text("a file in its place")
    with pytest.raises(Unavailable), store.create(ID):
        pass
