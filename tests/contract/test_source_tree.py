"""What every source tree must do, on git."""

from __future__ import annotations

import hashlib
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from smp.adapters.sources_git import GitSourceTree
from smp.domain.errors import Invalid
from smp.domain.ids import CommitSha, FilePath
from smp.domain.paths import MAX_FOLDERS
from smp.settings import load_settings


class Checkout:
    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        command = ["git", "-c", "user.name=Ann", "-c", "user.email=a@example.org", *arguments]
        return subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True).stdout

    def write(self, path: str, content: str | bytes = "x = 1\n") -> None:
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, message: str = "change") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def sources(self, **environ: str) -> GitSourceTree:
        return GitSourceTree(load_settings(self.root, environ=environ))


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "repo")


def reasons(sources: GitSourceTree) -> dict[str, str]:
    return {one.path: one.reason for one in sources.list().skipped}


def test_a_folder_that_is_no_repository_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="git init"):
        GitSourceTree(load_settings(tmp_path, environ={}))


def test_a_folder_inside_a_repository_is_refused_naming_the_root(checkout: Checkout) -> None:
    checkout.write("sub/a.py")
    with pytest.raises(Invalid, match="repo"):
        GitSourceTree(load_settings(checkout.root / "sub", environ={}))


def test_an_empty_repository_has_no_commit_and_no_file(checkout: Checkout) -> None:
    sources = checkout.sources()
    assert sources.head() is None
    assert sources.list().files == {}
    assert sources.history(since_days=90) == ()


def test_hashes_are_those_of_the_content_and_follow_it(checkout: Checkout) -> None:
    checkout.write("a.py", "one")
    sources = checkout.sources()
    assert sources.list().files == {"a.py": hashlib.sha256(b"one").hexdigest()}
    checkout.write("a.py", "two")
    assert sources.list().files == {"a.py": hashlib.sha256(b"two").hexdigest()}


def test_an_old_file_is_not_read_again_and_a_changed_one_is(checkout: Checkout) -> None:
    checkout.write("a.py", "one")
    os.utime(checkout.root / "a.py", (1_000_000_000, 1_000_000_000))
    sources = checkout.sources()
    before = sources.list()
    assert sources.list() == before
    checkout.write("a.py", "two")
    assert sources.list().files["a.py"] == hashlib.sha256(b"two").hexdigest()  # type: ignore[index]


def test_a_listing_of_some_paths_is_that_part_of_the_whole(checkout: Checkout) -> None:
    checkout.write(".gitignore", "dist/\n")
    for path in ("a.py", "b.py", "src/c.py", "src/deep/d.py", "src2/e.py", "dist/f.py", "[x].py", "big.py"):
        checkout.write(path, path)
    checkout.write("blob.py", b"\0")
    sources = checkout.sources()
    whole = sources.list()
    asked = [FilePath(p) for p in ("a.py", "src", "dist/f.py", "[x].py", "gone.py", "blob.py")]
    part = sources.list_below(asked)
    expected = {"a.py", "src/c.py", "src/deep/d.py", "[x].py"}
    assert part.files == {path: digest for path, digest in whole.files.items() if path in expected}
    assert part.skipped == whole.skipped
    assert sources.list_below([]).files == {}
    (checkout.root / "link").symlink_to("src", target_is_directory=True)
    assert sources.list_below([FilePath("link/c.py")]).files == {}


def test_ignore_rules_hold_at_every_level(checkout: Checkout) -> None:
    """BL-028: what git would show, minus dependency folders."""
    checkout.write(".gitignore", "dist/\n*.gen.py\nvendor/\n")
    checkout.write("web/.gitignore", ".output/\n!keep.gen.py\n!vendor/\n")
    with (checkout.root / ".git/info/exclude").open("a") as stream:
        stream.write("private.py\n")
    kept = ["app.py", "web/page.py", "web/keep.gen.py", "web/vendor/v.py"]
    left_out = [
        "dist/bundle.py",
        "web/.output/out.py",
        "node_modules/p/index.py",
        "other/vendor/v.py",
        "root.gen.py",
        "private.py",
        ".smp/state.py",
    ]
    for path in (*kept, *left_out):
        checkout.write(path)
    assert sorted(checkout.sources().list().files) == sorted([*kept, ".gitignore", "web/.gitignore"])


def test_tracked_files_count_even_when_a_rule_matches_and_deleted_ones_do_not(checkout: Checkout) -> None:
    checkout.write("kept.log")
    checkout.write("gone.py")
    checkout.commit()
    checkout.write(".gitignore", "*.log\n")
    (checkout.root / "gone.py").unlink()
    assert sorted(checkout.sources().list().files) == [".gitignore", "kept.log"]


def test_large_binary_and_generated_files_are_named_with_the_reason(checkout: Checkout) -> None:
    """BL-030."""
    checkout.write("src/app.ts", "export const a = 1\n")
    checkout.write("src/big.mp4", b"\0" * 3000)
    checkout.write("src/big.txt", "a line\n" * 1000)
    checkout.write("src/min.js", "var a=0;" * 700)
    checkout.write("src/lib.min.js", "var a\n")
    checkout.write("package-lock.json", "{}")
    checkout.write("long.txt", "word " * 1200 + "\n")
    sources = checkout.sources(SMP_INDEX_MAX_FILE_BYTES="6900")
    assert reasons(sources) == {
        "package-lock.json": "generated",
        "src/big.mp4": "binary",
        "src/big.txt": "too_large",
        "src/lib.min.js": "generated",
        "src/min.js": "generated",
    }
    assert sorted(sources.list().files) == ["long.txt", "src/app.ts"]


def test_links_are_followed_inside_and_named_when_they_lead_outside(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("secret = 1\n")
    checkout.write("a.py")
    (checkout.root / "inside.py").symlink_to("a.py")
    (checkout.root / "outside.py").symlink_to(tmp_path / "outside.py")
    (checkout.root / "broken.py").symlink_to("nowhere.py")
    (checkout.root / "folder").symlink_to(tmp_path)
    sources = checkout.sources()
    assert sorted(sources.list().files) == ["a.py", "inside.py"]
    assert reasons(sources) == {"broken.py": "link_broken", "folder": "link_outside", "outside.py": "link_outside"}


def test_reading_gives_bytes_as_they_are_and_leaves_out_what_is_missing(checkout: Checkout) -> None:
    checkout.write("a.py", b"\xef\xbb\xbfx\r\n\xff")
    found = checkout.sources().read([FilePath("a.py"), FilePath("no.py"), FilePath("a.py/x")])
    assert [(one.path, one.content) for one in found] == [("a.py", b"\xef\xbb\xbfx\r\n\xff")]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "link/passwd", "a/../../x"])
def test_reading_outside_is_refused(checkout: Checkout, path: str) -> None:
    (checkout.root / "link").symlink_to("/etc")
    with pytest.raises(Invalid):
        checkout.sources().read([FilePath(path)])


def test_files_at_a_commit_are_those_of_that_commit(checkout: Checkout) -> None:
    checkout.write("a.py", "one\n")
    checkout.write("odd näme.py", "odd\n")
    first = checkout.commit()
    checkout.write("a.py", "two\n")
    checkout.commit()
    found = checkout.sources().read_at(
        CommitSha(first), [FilePath("odd näme.py"), FilePath("a.py"), FilePath("missing.py")]
    )
    assert [(one.path, one.content) for one in found] == [("a.py", b"one\n"), ("odd näme.py", b"odd\n")]
    assert found[0].hash == hashlib.sha256(b"one\n").hexdigest()


def test_revisions_are_resolved_by_hash_only(checkout: Checkout) -> None:
    checkout.write("a.py")
    sha = checkout.commit()
    sources = checkout.sources()
    assert sources.head() == sources.resolve(sha) == sources.resolve(sha[:8]) == sha
    for wrong in ("0" * 40, "main", "HEAD", "--all", "zz", ""):
        with pytest.raises(Invalid) as caught:
            sources.resolve(wrong)
        assert caught.value.path == "commit_sha"


def test_history_tells_which_commit_changed_which_files_newest_first(checkout: Checkout) -> None:
    checkout.write("a.py", "1\n")
    checkout.write("lib/b.py", "1\n")
    first = checkout.commit("one")
    checkout.write("a.py", "2\n")
    second = checkout.commit("two")
    got = checkout.sources().history(since_days=90)
    assert [(one.sha, one.files, one.author) for one in got] == [
        (second, ("a.py",), "Ann"),
        (first, ("a.py", "lib/b.py"), "Ann"),
    ]


def test_history_tells_the_lines_that_changed(checkout: Checkout) -> None:
    checkout.write('odd näme "q".py', "1\n2\n3\n4\n")
    checkout.write("blob.bin", b"\0\1")
    checkout.commit("one")
    checkout.write('odd näme "q".py', "1\n++ b/x\n@@ -1 +1 @@\n4\n5")
    checkout.write("blob.bin", b"\0\2")
    checkout.commit("two")
    (checkout.root / 'odd näme "q".py').unlink()
    checkout.commit("three")
    three, two, one = checkout.sources().history(since_days=90)
    name = 'odd näme "q".py'
    assert three.hunks == {name: ((1, 5, 0, 0),)}
    assert two.files == ("blob.bin", name)
    assert two.hunks == {name: ((2, 2, 2, 2), (4, 0, 5, 1))}
    assert one.hunks == {name: ((0, 0, 1, 4),)}


def test_history_ends_at_the_window(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout.write("a.py", "1\n")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z")
    checkout.commit("old")
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    checkout.write("a.py", "2\n")
    new = checkout.commit("new")
    assert [one.sha for one in checkout.sources().history(since_days=90)] == [new]


def test_the_watcher_reports_edits_and_keeps_silent_about_what_is_ignored(checkout: Checkout) -> None:
    checkout.write(".gitignore", "dist/\n")
    checkout.write("a.py")
    checkout.write("dist/x.py")
    seen: set[str] = set()
    arrived = threading.Event()

    def on_change(paths: Any) -> None:
        seen.update(paths)
        if "a.py" in seen:
            arrived.set()

    with checkout.sources().watch(on_change):
        checkout.write("dist/x.py", "y = 2\n")
        checkout.write(".smp/graph.db", "z")
        checkout.write("node_modules/p.js", "z")
        checkout.write("a.py", "y = 2\n")
        assert arrived.wait(20)
    assert seen == {"a.py"}


@pytest.mark.parametrize("linked", [False, True])
def test_the_watcher_tells_of_another_commit_in_linked_worktrees_too(
    checkout: Checkout, tmp_path: Path, linked: bool
) -> None:
    checkout.write("a.py")
    checkout.commit()
    place = checkout
    if linked:
        checkout.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
        place = Checkout.__new__(Checkout)
        place.root = tmp_path / "linked"
    told = threading.Event()
    with place.sources().watch(lambda paths: None if paths else told.set()):
        place.git("commit", "-q", "--allow-empty", "-m", "nothing")
        assert told.wait(20)


def test_dirty_files_are_those_that_differ_from_the_commit(checkout: Checkout) -> None:
    for name in ("kept.py", "edited.py", "gone.py", "staged.py"):
        checkout.write(name)
    checkout.write(".gitignore", "ignored.py\n")
    assert checkout.sources().dirty() == (".gitignore", "edited.py", "gone.py", "kept.py", "staged.py")
    checkout.commit()
    for name in ("edited.py", "staged.py", "new folder/\u00e9 new.py", "ignored.py", "node_modules/x.js"):
        checkout.write(name, "y = 2\n")
    (checkout.root / "gone.py").unlink()
    checkout.git("add", "staged.py")
    assert checkout.sources().dirty() == ("edited.py", "gone.py", "new folder/\u00e9 new.py", "staged.py")


def test_two_checkouts_with_one_folder_name_are_apart(tmp_path: Path) -> None:
    """BL-037."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        Checkout(tmp_path / name / "app").write(f"{name}.py")
    listed = [
        sorted(GitSourceTree(load_settings(tmp_path / name / "app", environ={})).list().files)
        for name in ("one", "two")
    ]
    assert listed == [["one.py"], ["two.py"]]


def test_a_bare_repository_is_refused_with_the_advice_to_clone_it(checkout: Checkout, tmp_path: Path) -> None:
    checkout.git("init", "-q", "--bare", str(tmp_path / "bare.git"))
    with pytest.raises(Invalid, match="name a clone"):
        GitSourceTree(load_settings(tmp_path / "bare.git", environ={}))


def test_a_broken_repository_is_told_from_none(checkout: Checkout) -> None:
    (checkout.root / ".git" / "HEAD").unlink()
    with pytest.raises(Invalid, match="git cannot use the repository"):
        checkout.sources()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_is_refused_with_what_git_wants(checkout: Checkout) -> None:
    os.chown(checkout.root, 1500, 1500)
    os.chown(checkout.root / ".git", 1500, 1500)
    with pytest.raises(Invalid, match=r"safe\.directory"):
        checkout.sources()


def test_what_cannot_be_read_is_skipped_by_name_and_the_rest_is_listed(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout.write("a.py")
    checkout.write("closed.py")
    (checkout.root / "closed.py").chmod(0)
    (checkout.root / "one.py").symlink_to("two.py")
    (checkout.root / "two.py").symlink_to("one.py")
    if os.geteuid() == 0:  # permissions do not bind root
        opened = Path.open

        def refusing(path: Path, *arguments: Any, **options: Any) -> Any:
            if path.name == "closed.py":
                raise PermissionError(13, "Permission denied", str(path))
            return opened(path, *arguments, **options)

        monkeypatch.setattr(Path, "open", refusing)
    sources = checkout.sources()
    assert reasons(sources) == {"closed.py": "unreadable", "one.py": "link_loop", "two.py": "link_loop"}
    assert list(sources.list().files) == ["a.py"]


def test_a_name_that_is_no_utf8_is_skipped_with_its_bytes_written_out(checkout: Checkout) -> None:
    (checkout.root / os.fsdecode(b"odd\xff.py")).write_text("x = 1\n")
    assert reasons(checkout.sources()) == {"odd\\xff.py": "name_not_utf8"}


def test_what_lies_in_too_many_folders_is_skipped(checkout: Checkout) -> None:
    fits, deep = "d/" * MAX_FOLDERS + "a.py", "e/" * (MAX_FOLDERS + 1) + "a.py"
    for path in (fits, deep):
        (checkout.root / path).parent.mkdir(parents=True)
        (checkout.root / path).write_text("x = 1\n")
    sources = checkout.sources()
    assert reasons(sources) == {deep: "too_deep"}
    assert fits in sources.list().files


class Asked:
    """How often a source tree asks git."""

    def __init__(self, sources: GitSourceTree, monkeypatch: pytest.MonkeyPatch) -> None:
        self.commands: list[str] = []
        run = sources._run

        def counted(*arguments: str, **options: Any) -> Any:
            self.commands.append(arguments[0])
            return run(*arguments, **options)

        monkeypatch.setattr(sources, "_run", counted)


@pytest.mark.parametrize(
    "change",
    [
        "edit",
        "new file",
        "new file in an empty folder",
        "delete",
        "ignore",
        "exclude",
        "stage",
        "through a link",
        "none",
    ],
)
def test_git_is_asked_again_after_any_change_and_only_then(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    checkout.write("a.py", "one")
    checkout.write("b.py", "two")
    checkout.write("out/c.py", "three")
    (checkout.root / "empty").mkdir()
    (checkout.root / "link.py").symlink_to("out/c.py")
    checkout.git("add", "a.py")
    sources = checkout.sources()
    # change times cannot be set: the clock is moved on instead
    monkeypatch.setattr("smp.adapters.sources_git.tree.time.time_ns", lambda: 2**62)
    before = sources.list()
    asked = Asked(sources, monkeypatch)
    assert sources.list() is before
    assert asked.commands == []
    changes: dict[str, Any] = {
        "edit": lambda: checkout.write("a.py", "One"),
        "new file": lambda: checkout.write("d.py"),
        "new file in an empty folder": lambda: checkout.write("empty/d.py"),
        "delete": (checkout.root / "b.py").unlink,
        "ignore": lambda: checkout.write(".gitignore", "b.py\n"),
        "exclude": lambda: checkout.write(".git/info/exclude", "b.py\n"),
        "stage": lambda: checkout.git("rm", "-q", "--cached", "a.py"),
        "through a link": lambda: checkout.write("out/c.py", "Three"),
        "none": lambda: None,
    }
    changes[change]()
    after = sources.list()
    assert bool(asked.commands) == (change != "none")
    assert after == checkout.sources().list()
    assert (after == before) == (change in ("none", "stage"))


def test_what_was_just_written_is_not_believed_to_be_unchanged(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout.write("a.py", "one")
    sources = checkout.sources()
    sources.list()
    asked = Asked(sources, monkeypatch)
    sources.list()
    assert "ls-files" in asked.commands


def test_the_commit_is_read_off_the_files_and_follows_them(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout.write("a.py")
    first = checkout.commit()
    sources = checkout.sources()
    assert sources.head() == first
    asked = Asked(sources, monkeypatch)
    assert (sources.head(), asked.commands) == (first, [])
    checkout.git("commit", "-q", "--allow-empty", "-m", "second")
    assert sources.head() == checkout.git("rev-parse", "HEAD").strip() != first
    checkout.git("pack-refs", "--all")
    assert sources.head() == checkout.git("rev-parse", "HEAD").strip()
    checkout.git("checkout", "-q", "--detach", first)
    assert sources.head() == first
