"""The unified diff of a session's change."""

from __future__ import annotations

from smp.domain.ids import FilePath
from smp.handoff.unified import unified_diff

A, B, C, D = FilePath("a.py"), FilePath("b.py"), FilePath("c.bin"), FilePath("d.py")


def test_changed_new_and_deleted_files_come_by_path_and_equal_ones_not_at_all() -> None:
    before = {A: b"one\ntwo\n", B: b"gone\n", D: b"same\n"}
    after = {A: b"one\n2\n", B: None, C: b"\0\1", D: b"same\n"}
    assert list(unified_diff(before, after)) == [
        "--- a/a.py", "+++ b/a.py", "@@ -1,2 +1,2 @@", " one", "-two", "+2",
        "--- a/b.py", "+++ /dev/null", "@@ -1 +0,0 @@", "-gone",
        "Binary files /dev/null and b/c.bin differ",
    ]  # fmt: skip


def test_what_cannot_be_decoded_is_shown_with_marks() -> None:
    assert list(unified_diff({A: b"\xff\n"}, {A: b"x\n"}))[-2:] == ["-�", "+x"]
