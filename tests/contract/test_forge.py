"""What every forge promises, on real git with a bare remote; the code hosts are stand-ins that judge each request."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from smp.adapters.forge_git import GitForge
from smp.domain.errors import ForgeBusy, ForgeFailed, Invalid
from smp.domain.handoffs import BranchChange
from smp.domain.ids import CommitSha, FilePath, SessionId
from smp.domain.sandboxes import ChangedFile
from smp.domain.swarms import BranchClash, SwarmBranch
from smp.ports.forge import Forge
from smp.settings import load_settings
from tests.builders.folder_boxes import START, git, make_repository, write_files
from tests.builders.stand_in_forge import StandIn, code_forge, serving

FILES = {"a.txt": "one\ntwo\nthree\nfour\nfive\n", "b.txt": "b\n", "run.sh": "echo\n", "docs/c.txt": "c\n"}


class World:
    """A checkout, its bare remote, and a forge on it."""

    def __init__(self, root: Path, host: StandIn | None = None) -> None:
        self.host = host
        self.repo, self.remote = root / "repo", root / "remote.git"
        self.base = make_repository(self.repo, FILES)
        git(root, "init", "-q", "--bare", "-b", "main", str(self.remote))
        git(self.repo, "remote", "add", "origin", str(self.remote))
        git(self.repo, "push", "-q", "-u", "origin", "main")
        branches = GitForge(load_settings(self.repo, environ={}))
        self.forge: Forge = branches if host is None else code_forge(host, branches)

    def change(self, **fields: object) -> BranchChange:
        given = BranchChange(
            branch="smp/ses_1",
            base_sha=self.base,
            title="fix: two",
            body="",
            author="coder",
            files=(FilePath("a.txt"),),
            authored_at=START,
            trailers=("Smp-Session: ses_1",),
        )
        return replace(given, **fields)

    def rival(self, path: str, text: str | None) -> None:
        """Somebody else pushes to the base branch."""
        other = self.repo.parent / "rival"
        if not other.exists():
            git(self.repo.parent, "clone", "-q", str(self.remote), str(other))
        if text is None:
            (other / path).unlink()
        else:
            write_files(other, {path: text})
        git(other, "add", "-A")
        git(other, "commit", "-q", "-m", "rival")
        git(other, "push", "-q", "origin", "HEAD:main")

    def state(self) -> tuple[str, ...]:
        """All that belongs to the user."""
        return (
            git(self.repo, "rev-parse", "HEAD"),
            git(self.repo, "symbolic-ref", "HEAD"),
            git(self.repo, "status", "--porcelain"),
            git(self.repo, "ls-files", "--stage"),
            git(self.repo, "for-each-ref", "refs/remotes", "refs/heads/main"),
            git(self.repo, "stash", "list"),
        )


def edited(path: str, text: str | None, **fields: object) -> ChangedFile:
    return replace(ChangedFile(path=FilePath(path), content=None if text is None else text.encode()), **fields)


TWO = edited("a.txt", FILES["a.txt"].replace("two", "2"))


@pytest.fixture(params=["git", "github", "gitlab"])
def world(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "git":
        yield World(tmp_path)
        return
    with serving(StandIn(request.param, tmp_path / "remote.git")) as host:
        yield World(tmp_path, host)


@pytest.fixture
def plain(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_branch_with_exactly_these_files_is_pushed(world: World) -> None:
    files = (TWO, edited("new/d.txt", "d\n"), edited("b.txt", None), edited("run.sh", "echo\n", mode=0o755))
    made = world.forge.publish(world.change(), files)
    shown = git(world.remote, "diff", "--name-status", world.base, made.head_sha)
    assert shown.split("\n") == ["M\ta.txt", "D\tb.txt", "A\tnew/d.txt", "M\trun.sh"]
    assert git(world.remote, "rev-parse", "refs/heads/smp/ses_1") == made.head_sha
    assert git(world.repo, "rev-parse", "refs/heads/smp/ses_1") == made.head_sha
    assert git(world.remote, "ls-tree", made.head_sha, "run.sh").startswith("100755")
    assert git(world.remote, "log", "-1", "--format=%an|%s|%b", made.head_sha) == "coder|fix: two|Smp-Session: ses_1"
    number = "pr_git_" + made.head_sha[:10] if world.host is None else f"pr_{world.host.kind}_1"
    assert (made.id, made.branch, made.base_sha) == (number, "smp/ses_1", world.base)


def test_a_link_and_a_folder_that_became_a_file_are_kept(world: World) -> None:
    files = (
        edited("docs/c.txt", None),
        edited("docs", "text\n"),
        ChangedFile(path=FilePath("l"), content=None, link="b.txt"),
    )
    made = world.forge.publish(world.change(), files)
    assert git(world.remote, "show", f"{made.head_sha}:docs") == "text"
    assert git(world.remote, "ls-tree", made.head_sha, "l").startswith("120000")


def test_nothing_of_the_user_is_touched(world: World) -> None:
    write_files(world.repo, {"b.txt": "mine\n", "untracked.txt": "u\n"})
    git(world.repo, "add", "b.txt")
    for hook in ("pre-push", "post-commit", "reference-transaction", "pre-commit"):
        path = world.repo / ".git" / "hooks" / hook
        path.write_text(f"#!/bin/sh\ntouch '{world.repo}/hook-ran'\nexit 1\n")
        path.chmod(0o755)
    before = world.state()
    world.rival("docs/c.txt", "else\n")
    assert world.forge.conflicts(world.change(), (TWO,)) == ()
    world.forge.publish(world.change(), (TWO,))
    assert not (world.repo / "hook-ran").exists()
    shutil.rmtree(world.repo / ".git" / "hooks")
    after = world.state()
    pushed = [line for line in after[4].split("\n") if "smp/ses_1" not in line]
    assert (after[:4], pushed, after[5]) == (before[:4], before[4].split("\n"), before[5])


def test_repeating_gives_the_same_commit_and_branch(world: World) -> None:
    first = world.forge.publish(world.change(), (TWO,))
    assert world.forge.publish(world.change(), (TWO,)) == first
    later = world.forge.publish(world.change(), (edited("a.txt", "other\n"),))
    assert later.head_sha != first.head_sha
    assert git(world.remote, "rev-parse", "refs/heads/smp/ses_1") == later.head_sha


def test_a_branch_that_somebody_else_moved_is_not_overwritten(world: World) -> None:
    world.forge.publish(world.change(), (TWO,))
    git(world.remote, "update-ref", "refs/heads/smp/ses_1", world.base)
    with pytest.raises(ForgeFailed, match="somebody else"):
        world.forge.publish(world.change(), (edited("a.txt", "other\n"),))
    assert git(world.remote, "rev-parse", "refs/heads/smp/ses_1") == world.base


def test_a_base_that_moved_elsewhere_is_no_conflict(world: World) -> None:
    world.rival("b.txt", "else\n")
    assert world.forge.conflicts(world.change(), (TWO,)) == ()


def test_a_base_that_changed_the_same_lines_is_a_conflict_with_hunks(world: World) -> None:
    world.rival("a.txt", FILES["a.txt"].replace("two", "zwei").replace("five", "fünf"))
    (conflict,) = world.forge.conflicts(world.change(), (TWO,))
    assert git(world.remote, "for-each-ref", "refs/heads/smp") == ""
    assert conflict.file == "a.txt"
    assert [(hunk.start_line, hunk.ours, hunk.theirs) for hunk in conflict.hunks] == [(2, "2\n", "zwei\n")]
    pushed = world.forge.push(world.change(), (TWO,))
    assert git(world.remote, "rev-parse", "refs/heads/smp/ses_1") == pushed.head_sha
    assert (pushed.base_branch, world.host.pulls if world.host else []) == ("main", [])


@pytest.mark.parametrize(
    ("rival", "ours"),
    [
        (("a.txt", None), TWO),
        (("a.txt", "other\n"), edited("a.txt", None)),
        (("n.txt", "theirs\n"), edited("n.txt", "ours\n")),
    ],
)
def test_deletions_and_double_additions_conflict(
    world: World, rival: tuple[str, str | None], ours: ChangedFile
) -> None:
    world.rival(*rival)
    (conflict,) = world.forge.conflicts(world.change(), (ours,))
    assert (conflict.file, len(conflict.hunks)) == (ours.path, 1)


def test_both_sides_making_the_same_edit_is_no_conflict(world: World) -> None:
    world.rival("a.txt", FILES["a.txt"].replace("two", "2"))
    assert world.forge.conflicts(world.change(), (TWO,)) == ()


def test_headings_underlined_with_equal_signs_are_no_markers(world: World) -> None:
    world.rival("a.txt", "Title\n=======\nzwei\n")
    (conflict,) = world.forge.conflicts(world.change(), (edited("a.txt", "Title\n=======\n2\n"),))
    assert "zwei\n" in "".join(hunk.theirs for hunk in conflict.hunks)
    assert "zwei" not in "".join(hunk.ours for hunk in conflict.hunks)


def test_without_a_remote_the_branch_stays_here(plain: World) -> None:
    world = plain
    git(world.repo, "remote", "remove", "origin")
    made = world.forge.publish(world.change(), (TWO,))
    assert git(world.repo, "rev-parse", "refs/heads/smp/ses_1") == made.head_sha
    assert made.url == str(world.repo)
    write_files(world.repo, {"a.txt": FILES["a.txt"].replace("two", "zwei")})
    git(world.repo, "commit", "-q", "-am", "rival")
    assert [one.file for one in world.forge.conflicts(world.change(), (TWO,))] == ["a.txt"]


def test_a_remote_that_is_gone_is_named_without_its_password(world: World) -> None:
    git(world.repo, "remote", "set-url", "origin", "file://joe:secret@localhost/nowhere/repo.git")
    with pytest.raises(ForgeFailed) as caught:
        world.forge.publish(world.change(), (TWO,))
    assert "ls-remote" in caught.value.message
    assert "secret" not in caught.value.message
    assert git(world.repo, "for-each-ref", "refs/heads/smp") == ""


def test_a_refused_push_says_why_and_can_be_repeated(world: World) -> None:
    hook = world.remote / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'reviews only on Tuesdays' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(ForgeFailed, match="Tuesdays"):
        world.forge.publish(world.change(), (TWO,))
    hook.unlink()
    made = world.forge.publish(world.change(), (TWO,))
    assert git(world.remote, "rev-parse", "refs/heads/smp/ses_1") == made.head_sha


def test_a_branch_that_is_checked_out_is_left_alone(world: World) -> None:
    git(world.repo, "switch", "-q", "-c", "smp/ses_1")
    with pytest.raises(ForgeFailed, match="checked out"):
        world.forge.publish(world.change(), (TWO,))


def test_bad_input_is_named(world: World) -> None:
    with pytest.raises(Invalid) as nothing:
        world.forge.publish(world.change(), ())
    with pytest.raises(Invalid) as unknown:
        world.forge.publish(world.change(base_sha=CommitSha("0" * 40)), (TWO,))
    assert (nothing.value.path, unknown.value.path) == ("sandbox_id", "base_sha")


def _branch(world: World, name: str, *files: ChangedFile) -> SwarmBranch:
    """A session's branch, published."""
    change = world.change(branch=f"smp/{name}", files=tuple(file.path for file in files))
    published = world.forge.publish(change, files)
    return SwarmBranch(
        session_id=SessionId(name), base_sha=world.base, head_sha=published.head_sha, files=published.files_changed
    )


def test_branches_that_do_not_merge_with_one_another_are_named_with_the_files(world: World) -> None:
    branches = (
        _branch(world, "upper", edited("a.txt", FILES["a.txt"].replace("two", "TWO"))),
        _branch(world, "digit", TWO, edited("b.txt", "bb\n")),
        _branch(world, "elsewhere", edited("a.txt", FILES["a.txt"].replace("five", "5"))),
        _branch(world, "gone", edited("b.txt", None)),
    )
    before = world.state()
    assert world.forge.clashes(branches) == (
        BranchClash(sessions=(SessionId("upper"), SessionId("digit")), files=(FilePath("a.txt"),)),
        BranchClash(sessions=(SessionId("digit"), SessionId("gone")), files=(FilePath("b.txt"),)),
    )
    assert world.state() == before


def test_a_branch_that_another_host_has_pushed_is_fetched(world: World) -> None:
    here = _branch(world, "here", edited("a.txt", FILES["a.txt"].replace("two", "TWO")))
    there = _branch(world, "there", edited("a.txt", FILES["a.txt"].replace("two", "2")))
    git(world.repo, "update-ref", "-d", "refs/heads/smp/there")
    git(world.repo, "-c", "gc.reflogExpire=now", "reflog", "expire", "--expire=now", "--all")
    git(world.repo, "prune", "--expire=now")
    assert world.forge.clashes((here, there)) == (
        BranchClash(sessions=(SessionId("here"), SessionId("there")), files=(FilePath("a.txt"),)),
    )


def test_branches_that_make_the_same_change_merge(world: World) -> None:
    assert world.forge.clashes((_branch(world, "one", TWO), _branch(world, "two", TWO))) == ()


def test_a_branch_whose_commit_is_not_here_is_named_with_the_way_out(world: World) -> None:
    known = _branch(world, "one", TWO)
    lost = replace(known, session_id=SessionId("lost"), head_sha=CommitSha("0" * 40))
    with pytest.raises(ForgeFailed, match=r"git fetch origin smp/lost"):
        world.forge.clashes((known, lost))


@pytest.mark.parametrize(
    ("url", "passing"), [("https://127.0.0.1:9/acme/shop.git", True), ("file://localhost/nowhere/repo.git", False)]
)
def test_a_remote_that_does_not_answer_may_answer_later_and_one_that_is_not_there_may_not(
    plain: World, url: str, passing: bool
) -> None:
    git(plain.repo, "remote", "set-url", "origin", url)
    with pytest.raises(ForgeFailed) as caught:
        plain.forge.publish(plain.change(), (TWO,))
    assert isinstance(caught.value, ForgeBusy) is passing, caught.value.message
