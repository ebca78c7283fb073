"""What a verdict is bound to."""

from __future__ import annotations

from msgspec.structs import replace

from smp.domain.ids import CommitSha, FilePath
from smp.domain.sandboxes import ChangedFile
from smp.domain.verification import tree_hash

COMMIT = CommitSha("a" * 40)
FILE = ChangedFile(path=FilePath("a.py"), content=b"x")
OTHER = ChangedFile(path=FilePath("b.py"), content=None)


def test_order_of_the_change_set_is_of_no_matter() -> None:
    assert tree_hash(COMMIT, [FILE, OTHER]) == tree_hash(COMMIT, [OTHER, FILE])


def test_everything_about_a_file_and_the_commit_counts() -> None:
    different = [
        tree_hash(CommitSha("b" * 40), [FILE]),
        *(
            tree_hash(COMMIT, [changed])
            for changed in (
                FILE,
                replace(FILE, content=b"y"),
                replace(FILE, content=b""),
                replace(FILE, content=None),
                replace(FILE, mode=0o755),
                replace(FILE, path=FilePath("c.py")),
                replace(FILE, content=None, link="b.py"),
            )
        ),
        tree_hash(COMMIT, []),
    ]
    assert len(set(different)) == len(different)
