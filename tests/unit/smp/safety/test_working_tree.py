"""Files are saved and restored inside the repository only, whatever links lie on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from smp.domain.errors import Invalid, TooLarge, Unavailable
from smp.domain.ids import FilePath
from smp.domain.sessions import FileSnapshot
from smp.safety import working_tree
from smp.safety.working_tree import WorkingTree


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("secret")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    return folder


def test_a_folder_link_that_leads_out_is_neither_read_nor_written(root: Path, outside: Path) -> None:
    (root / "way").symlink_to(outside, target_is_directory=True)
    tree, file = WorkingTree(root), FilePath("way/secret.txt")
    for step in (
        lambda: tree.snapshot(file),
        lambda: tree.read(file, path="file_path"),
        lambda: tree.restore(FileSnapshot(path=file, content=b"overwritten")),
        lambda: tree.restore(FileSnapshot(path=file, content=None)),
    ):
        with pytest.raises(Invalid, match="out of the repository"):
            step()
    assert (outside / "secret.txt").read_text() == "secret"


def test_a_link_is_saved_without_what_lies_behind_it(root: Path, outside: Path) -> None:
    (root / "link").symlink_to(outside / "secret.txt")
    tree = WorkingTree(root)
    saved = tree.snapshot(FilePath("link"))
    assert (saved.content, saved.link) == (b"", str(outside / "secret.txt"))
    with pytest.raises(Invalid):
        tree.read(FilePath("link"), path="file_path")
    tree.restore(FileSnapshot(path=FilePath("link"), content=b"mine"))
    assert (outside / "secret.txt").read_text() == "secret"
    assert (root / "link").read_bytes() == b"mine"


def test_a_link_inside_may_be_followed_for_reading(root: Path) -> None:
    (root / "a").write_text("a")
    (root / "b").symlink_to("a")
    assert WorkingTree(root).read(FilePath("b"), path="file_path") == b"a"


def test_a_link_that_leads_to_itself_is_saved_and_not_followed(root: Path) -> None:
    (root / "loop").symlink_to("loop")
    tree = WorkingTree(root)
    assert tree.snapshot(FilePath("loop")).link == "loop"
    with pytest.raises((Invalid, Unavailable)):
        tree.restore(FileSnapshot(path=FilePath("loop/x"), content=b""))


def test_a_folder_cannot_be_saved_as_a_file(root: Path) -> None:
    (root / "folder").mkdir()
    with pytest.raises(Invalid, match="neither a file"):
        WorkingTree(root).snapshot(FilePath("folder"))


def test_what_is_too_large_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The bound is a constant; writing 64 MB would only make the suite slow.
    monkeypatch.setattr(working_tree, "MAX_SNAPSHOT_BYTES", 3)
    (root / "a").write_text("1234")
    with pytest.raises(TooLarge):
        WorkingTree(root).snapshot(FilePath("a"))


def test_a_file_in_the_way_of_a_folder_is_named_and_absence_is_then_kept(root: Path) -> None:
    (root / "a").write_text("a file")
    tree = WorkingTree(root)
    assert tree.snapshot(FilePath("a/b")).content is None
    tree.restore(FileSnapshot(path=FilePath("a/b"), content=None))
    with pytest.raises((Invalid, Unavailable)):
        tree.restore(FileSnapshot(path=FilePath("a/b"), content=b"x"))
    assert (root / "a").read_text() == "a file"


def test_a_failed_restore_leaves_the_old_file_and_no_rest(root: Path) -> None:
    (root / "a").mkdir()
    (root / "a" / "kept").write_text("kept")
    with pytest.raises(Unavailable):
        WorkingTree(root).restore(FileSnapshot(path=FilePath("a"), content=b"x"))
    assert [path.name for path in root.iterdir()] == ["a"]
    assert (root / "a" / "kept").read_text() == "kept"
