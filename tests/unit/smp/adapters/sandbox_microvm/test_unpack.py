"""What a guest says of its files: taken when it is a file below its tree, refused when it is anything else."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from smp.adapters.sandbox_microvm.unpack import Entry, Unpacker, decode_entry
from smp.domain.errors import SandboxFailed


@pytest.fixture
def unpacker(tmp_path: Path) -> Unpacker:
    made = Unpacker(tmp_path / "incoming", owner=None, limit_bytes=1_000)
    made.entry(Entry(tree="upper", path="", kind="folder"))
    return made


def put(unpacker: Unpacker, path: str, body: bytes, *, mode: int = 0o644) -> None:
    unpacker.entry(Entry(tree="upper", path=path, kind="file", mode=mode, size=len(body), mtime_ns=10**18))
    unpacker.piece(body)


def test_trees_take_the_place_of_what_stood_there(unpacker: Unpacker, tmp_path: Path) -> None:
    place = tmp_path / "upper"
    place.mkdir()
    (place / "old").write_text("old")
    unpacker.entry(Entry(tree="upper", path="shut", kind="folder", mode=0o500))
    put(unpacker, "shut/deep", b"deep", mode=0o6755)
    unpacker.entry(Entry(tree="upper", path="link", kind="link", target="/etc/passwd"))
    unpacker.take_over({"upper": place})
    assert sorted(path.name for path in place.iterdir()) == ["link", "shut"]
    assert stat.S_IMODE((place / "shut").stat().st_mode) == 0o500
    kind = (place / "shut/deep").stat()
    assert (stat.S_IMODE(kind.st_mode), kind.st_mtime_ns) == (0o755, 10**18)
    assert os.readlink(place / "link") == "/etc/passwd"
    assert not (tmp_path / "incoming").exists()


@pytest.mark.parametrize("path", ["../out", "a/../../out", "/out", "a//b", ".", "..", "a/\0"])
def test_a_path_that_leaves_its_tree_is_refused(unpacker: Unpacker, path: str) -> None:
    with pytest.raises(SandboxFailed, match="cannot be taken"):
        put(unpacker, path, b"x")


def test_a_link_is_not_followed(unpacker: Unpacker, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("kept")
    unpacker.entry(Entry(tree="upper", path="way", kind="link", target=str(outside)))
    unpacker.entry(Entry(tree="upper", path="file", kind="link", target=str(outside / "file")))
    for path in ("way/new", "file"):
        with pytest.raises(SandboxFailed):
            put(unpacker, path, b"x")
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("file", "kept")]


def test_more_than_was_announced_or_allowed_is_refused(unpacker: Unpacker) -> None:
    unpacker.entry(Entry(tree="upper", path="small", kind="file", size=1))
    with pytest.raises(SandboxFailed, match="more of a file"):
        unpacker.piece(b"xx")
    with pytest.raises(SandboxFailed, match="disk limit"):
        put(unpacker, "large", b"x" * 1_001)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"tree": "etc", "path": "passwd", "kind": "file"}',
        b'{"tree": "upper", "path": "x", "kind": "device"}',
        b'{"tree": "upper", "path": 1, "kind": "file"}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_entry_is_refused(body: bytes) -> None:
    with pytest.raises(SandboxFailed, match="speaks no entry"):
        decode_entry(body)


def test_names_that_are_no_text_are_kept(unpacker: Unpacker, tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    line = json.dumps({"tree": "upper", "path": name, "kind": "file", "size": 0}).encode()
    unpacker.entry(decode_entry(line))
    unpacker.take_over({"upper": tmp_path / "upper"})
    assert os.listdir(os.fsencode(tmp_path / "upper")) == [b"caf\xe9"]


def test_a_tree_that_is_missing_leaves_the_present_one(unpacker: Unpacker, tmp_path: Path) -> None:
    place = tmp_path / "out"
    place.mkdir()
    (place / "kept").touch()
    with pytest.raises(SandboxFailed, match="gave back no 'out'"):
        unpacker.take_over({"out": place})
    assert (place / "kept").exists()
