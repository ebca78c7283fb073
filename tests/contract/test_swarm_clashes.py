"""Clashes of a swarm's branches are found without merging every two, and are those that merging every two finds."""

from __future__ import annotations

import itertools
import random
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from smp.adapters.forge_git import GitForge
from smp.domain.ids import CommitSha, FilePath, SessionId
from smp.domain.swarms import SwarmBranch, SwarmConflict, conflicts_of
from smp.settings import load_settings
from tests.builders.folder_boxes import git, make_repository

LINES = 60
FILES = {name: "".join(f"{name} {number % 7}\n" for number in range(LINES)) for name in ("a.py", "b.py", "c\td.py")}
DISTINCT = "".join(f"line {number}\n" for number in range(LINES))
"""In `FILES` lines repeat, so that comparisons are ambiguous; here none does."""


class Swarm:
    """A repository and branches made of objects."""

    def __init__(self, repo: Path) -> None:
        self.repo = repo
        self.base = make_repository(repo, FILES | {"distinct.py": DISTINCT})
        self.forge = GitForge(load_settings(repo, environ={}))

    def branch(self, name: str, files: Mapping[str, str | None], *, base: CommitSha | None = None) -> SwarmBranch:
        base = base or self.base
        git(self.repo, "read-tree", base)
        for path, content in files.items():
            if content is None:
                git(self.repo, "update-index", "--force-remove", path)
                continue
            blob = git(self.repo, "hash-object", "-w", "--stdin", stdin=content)
            git(self.repo, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
        tree = git(self.repo, "write-tree")
        head = git(self.repo, "commit-tree", tree, "-p", base, "-m", name)
        touched = git(self.repo, "diff-tree", "-r", "-z", "--no-renames", "--name-only", base, head)
        return SwarmBranch(
            session_id=SessionId(name),
            base_sha=base,
            head_sha=CommitSha(head),
            files=tuple(map(FilePath, filter(None, touched.split("\0")))),
        )

    def by_trying_all(self, branches: Sequence[SwarmBranch]) -> dict[tuple[str, str], set[str]]:
        """Files in which each two do not merge, by git itself."""
        found: dict[tuple[str, str], set[str]] = {}
        for one, other in itertools.combinations(branches, 2):
            done = subprocess.run(
                ["git", "-C", str(self.repo), "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z",
                 one.head_sha, other.head_sha],
                capture_output=True, check=False,
            )  # fmt: skip
            if done.returncode and set(one.files) & set(other.files):
                found[one.session_id, other.session_id] = set(done.stdout.decode().split("\0")[1:]) - {""}
        return found

    def conflicts(self, branches: Sequence[SwarmBranch]) -> tuple[SwarmConflict, ...]:
        order = tuple(branch.session_id for branch in branches)
        return conflicts_of(self.forge.clashes(tuple(branches)), order)


def grouped(pairs: Mapping[tuple[str, str], set[str]]) -> dict[str, set[frozenset[str]]]:
    """Chains of clashing branches, by file."""
    groups: dict[str, set[frozenset[str]]] = {}
    for (one, other), files in pairs.items():
        for file in files:
            of_file = groups.setdefault(file, set())
            met = {group for group in of_file if {one, other} & group}
            of_file -= met
            of_file.add(frozenset({one, other}).union(*met))
    return groups


@pytest.fixture
def swarm(tmp_path: Path) -> Swarm:
    return Swarm(tmp_path / "repo")


def a_random_change(random_: random.Random) -> dict[str, str | None]:
    """Lines replaced, inserted and taken out near one another, now and then a file removed, added or emptied."""
    changed: dict[str, str | None] = {}
    for path in random_.sample(sorted(FILES), random_.choice((1, 1, 2))):
        lines = FILES[path].splitlines(keepends=True)
        for _ in range(random_.choice((1, 1, 2, 3))):
            at = random_.randrange(len(lines))
            kind = random_.choice("rid")
            if kind == "d":
                del lines[at : at + random_.choice((1, 2))]
            else:
                lines[at : at + (kind == "r")] = [f"new {random_.randrange(3)}\n"]
        changed[path] = "".join(lines)
    wild = random_.random()
    if wild < 0.1:
        changed[random_.choice(sorted(FILES))] = None
    elif wild < 0.2:
        changed["added.py"] = f"{random_.randrange(2)}\n"
    elif wild < 0.25:
        changed[random_.choice(sorted(FILES))] = ""
    return changed


@pytest.mark.parametrize("seed", range(6))
def test_the_conflicts_are_those_that_trying_every_two_finds(swarm: Swarm, seed: int) -> None:
    random_ = random.Random(seed)
    moved = swarm.branch("moved", {"a.py": "on top\n" + str(FILES["a.py"])}).head_sha
    branches = [
        swarm.branch(f"s{number:02}", a_random_change(random_), base=moved if number % 9 == 8 else None)
        for number in range(18)
    ]
    branches = [branch for branch in branches if branch.files]
    expected = grouped(swarm.by_trying_all(branches))
    found = swarm.conflicts(branches)
    assert {(one.file, frozenset(one.sessions)) for one in found} == {
        (file, group) for file, groups in expected.items() for group in groups
    }
    assert expected, "a seed in which nothing clashes shows nothing"


def merges(swarm: Swarm, branches: Sequence[SwarmBranch], monkeypatch: pytest.MonkeyPatch) -> int:
    """Trial merges that finding the clashes takes."""
    trace = swarm.repo.parent / "trace"
    trace.unlink(missing_ok=True)

    monkeypatch.setenv("HOME", str(swarm.repo.parent))
    (swarm.repo.parent / ".gitconfig").write_text(f"[trace2]\n\tnormalTarget = {trace}\n")
    swarm.forge.clashes(tuple(branches))
    return sum("start git" in line and " merge-tree " in line for line in trace.read_text().splitlines())


def test_branches_that_touch_other_lines_of_one_file_are_not_merged_with_one_another(
    swarm: Swarm, monkeypatch: pytest.MonkeyPatch
) -> None:
    branches = []
    for number in range(12):
        lines = DISTINCT.splitlines(keepends=True)
        lines[5 * number] = f"by {number}\n"
        branches.append(swarm.branch(f"s{number:02}", {"distinct.py": "".join(lines)}))
    assert merges(swarm, branches, monkeypatch) == 0
    assert swarm.conflicts(branches) == ()


def test_branches_that_all_clash_in_a_line_are_merged_once_each_and_told_as_one_conflict(
    swarm: Swarm, monkeypatch: pytest.MonkeyPatch
) -> None:
    branches = [swarm.branch(f"s{number:02}", {"a.py": f"{number}\n{FILES['a.py']}"}) for number in range(12)]
    assert merges(swarm, branches, monkeypatch) == len(branches) - 1
    assert [(one.file, len(one.sessions)) for one in swarm.conflicts(branches)] == [("a.py", len(branches))]


def test_a_file_with_a_merge_driver_is_merged_whole_whatever_lines_were_touched(
    swarm: Swarm, monkeypatch: pytest.MonkeyPatch
) -> None:
    (swarm.repo / ".gitattributes").write_text("*.py merge=binary\n")
    texts = FILES["a.py"].splitlines(keepends=True)
    first = swarm.branch("first", {"a.py": "".join(["new\n", *texts[1:]])})
    last = swarm.branch("last", {"a.py": "".join([*texts[:-1], "new\n"])})
    assert merges(swarm, [first, last], monkeypatch) == 1
    assert [one.file for one in swarm.conflicts([first, last])] == ["a.py"]
