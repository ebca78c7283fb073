"""Archives of links: whole or not there, and none that was written otherwise is believed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from smp.adapters.link_archives_sqlite import ABANDONED_S, SqliteLinkArchives
from smp.ports.link_archive import LinkArchives

ENTRIES = [(f"key{n}", bytes([n % 251]) * (n * 7)) for n in range(2000)]


@pytest.fixture
def archives(tmp_path: Path) -> LinkArchives:
    return SqliteLinkArchives(tmp_path)


def test_what_was_written_is_read_by_key(archives: LinkArchives) -> None:
    assert archives.write("python", "1.1", ENTRIES)
    archive = archives.open("python", "1.1")
    assert archive is not None
    assert all(archive.get(key) == body for key, body in ENTRIES)
    assert archive.get("another") is None
    archive.close()


def test_there_is_none_before_one_was_written_and_none_of_another_name_or_stamp(archives: LinkArchives) -> None:
    assert archives.open("python", "1.1") is None
    archives.write("python", "1.1", ENTRIES)
    assert archives.open("python", "1.2") is None
    assert archives.open("go", "1.1") is None


def test_one_that_is_open_stays_readable_when_it_is_replaced_or_dropped(archives: LinkArchives) -> None:
    archives.write("python", "1.1", ENTRIES)
    before = archives.open("python", "1.1")
    archives.write("python", "1.1", [("key5", b"new")])
    after = archives.open("python", "1.1")
    archives.drop("python")
    assert before is not None
    assert after is not None
    assert before.get("key1999") == ENTRIES[1999][1]
    assert (after.get("key5"), after.get("key6")) == (b"new", None)
    assert archives.open("python", "1.1") is None


def test_an_error_while_writing_leaves_the_one_before(archives: LinkArchives, tmp_path: Path) -> None:
    def broken() -> Iterator[tuple[str, bytes]]:
        yield from ENTRIES
        raise RuntimeError("the linker has a fault")

    archives.write("python", "1.1", ENTRIES[:10])
    with pytest.raises(RuntimeError):
        archives.write("python", "1.1", broken())
    kept = archives.open("python", "1.1")
    assert kept is not None
    assert kept.get("key9") == ENTRIES[9][1]
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_folder_that_cannot_be_written_keeps_nothing_and_says_so(
    archives: LinkArchives, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "link").write_text("a file stands in the way")
    assert not archives.write("python", "1.1", ENTRIES)
    assert "cannot be kept" in caplog.text
    assert archives.open("python", "1.1") is None


def test_what_a_killed_process_left_goes_away_after_a_while(archives: LinkArchives, tmp_path: Path) -> None:
    archives.write("python", "1.1", ENTRIES[:10])
    old, new = tmp_path / "link" / "python-old.tmp", tmp_path / "link" / "python-new.tmp"
    old.write_bytes(b"half")
    new.write_bytes(b"half")
    long_ago = new.stat().st_mtime - 2 * ABANDONED_S
    os.utime(old, (long_ago, long_ago))
    archives.write("python", "1.1", ENTRIES[:10])
    assert not old.exists()
    assert new.exists()
