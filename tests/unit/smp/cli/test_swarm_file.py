"""A task file: what it may say, and that everything wrong with it is said at once, each with its task."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from smp.cli.swarm_file import read_tasks
from smp.domain.errors import Invalid
from smp.domain.ids import CommitSha
from smp.domain.runs import Command, EditList, Remote
from tests.builders.folder_boxes import git, make_repository

FILES = {"a.py": "one\ntwo\n", "b.py": "b\n"}


class Place:
    """A repository, and a folder beside it for the task file."""

    def __init__(self, root: Path) -> None:
        self.repo = root / "repo"
        self.commit: CommitSha = make_repository(self.repo, FILES)
        self.folder = root / "tasks"
        self.folder.mkdir()

    def read(self, text: str, name: str = "tasks.yaml") -> object:
        path = self.folder / name
        path.write_text(text)
        return read_tasks(path, repo=self.repo, commit=self.commit)

    def refusal(self, text: str) -> str:
        with pytest.raises(Invalid) as refused:
            self.read(text)
        return refused.value.message


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_each_way_to_name_an_agent_and_defaults_that_a_task_overrules(place: Place) -> None:
    (place.repo / "a.py").write_text("one\n2\n")
    (place.folder / "round.diff").write_text(git(place.repo, "diff") + "\n")
    git(place.repo, "checkout", "-q", ".")
    (place.folder / "second.json").write_text(json.dumps([{"file": "b.py", "content": "bb\n"}]))
    path = place.folder / "tasks.yaml"
    path.write_text(
        """
limit: 7
defaults: {test_cmd: "pytest -q", agent_cmd: ./agent.sh, scope: [src/], max_attempts: 5}
tasks:
  - {task: by a diff, edits: round.diff, scope: []}
  - {task: two attempts, edits: [round.diff, second.json], scope: [a.py, b.py]}
  - {name: inline, task: said here, edits: [{file: new.py, content: "x\\n"}], scope: [], max_attempts: 1}
  - {task: by the default}
  - {task: from outside, remote: true, on_cancel: go_on}
"""
    )
    found = read_tasks(path, repo=place.repo, commit=place.commit)
    assert found.limit == 7
    assert [task.name for task in found.tasks] == ["task-1", "task-2", "inline", "task-4", "task-5"]
    diff, two, inline, default, remote = found.tasks
    assert isinstance(diff.agent, EditList)
    assert [edit.content for edit in diff.agent.steps[0].edits] == ["one\n2\n"]
    assert diff.scope == ("a.py",)
    assert isinstance(two.agent, EditList)
    assert len(two.agent.steps) == 2
    assert inline.scope == ("new.py",)
    assert [task.entry.max_attempts for task in found.tasks] == [5, 5, 1, 5, 5]
    assert (default.agent, default.scope) == (Command(command="./agent.sh"), ("src/",))
    assert (remote.agent, remote.entry.parent_close) == (Remote(), "abandon")
    assert {task.entry.test_cmd for task in found.tasks} == {"pytest -q"}


def test_json_and_a_bare_list_are_task_files_too(place: Place) -> None:
    task = {"task": "say it", "edits": [{"file": "a.py", "content": None}]}
    assert place.read(json.dumps([task])) == place.read(json.dumps({"tasks": [task]}), "tasks.json")


def test_every_wrong_entry_is_named_with_what_is_wrong_with_it(place: Place) -> None:
    message = place.refusal(
        """
tasks:
  - {task: fine, edits: [{file: a.py, content: "x"}]}
  - {name: nobody, task: no agent}
  - {task: typo, agent_cmd: x, scope: [src/], tset_cmd: y}
  - {task: unbounded, agent_cmd: x}
  - {task: too often, agent_cmd: x, scope: [a.py], max_attempts: 0}
  - just words
  - {task: lost, edits: missing.diff}
"""
    )
    lines = message.splitlines()
    assert lines[0].endswith("cannot be run:")
    assert lines[1] == "  task 2 (nobody): it needs one of edits:, agent_cmd: or remote: true"
    assert lines[2].startswith("  task 3 (typo): ")
    assert "tset_cmd" in lines[2]
    assert "say with scope:" in lines[3]
    assert lines[4].startswith("  task 5 (too often): ")
    assert "max_attempts" in lines[4]
    assert lines[5] == "  task 6: it is no mapping; write task: and what to do"
    assert "missing.diff" in lines[6]
    assert lines[7] == "see docs/workflows.md"
    assert not any("task 1" in line for line in lines)


def test_two_tasks_of_one_name_are_refused(place: Place) -> None:
    edits = 'edits: [{file: a.py, content: "x"}]'
    message = place.refusal(f"- {{name: same, task: one, {edits}}}\n- {{name: same, task: two, {edits}}}\n")
    assert "task 2 is called 'same' as task 1 is; name each once" in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tasks: [", "are not understood at line 1"),
        ("just words", "write tasks: and below it a list"),
        ("tasks: []", "has 0 tasks"),
        ("limit: 0\ntasks: [{task: x}]", "limit"),
        ("tusks: []", "tusks"),
        ("", "write tasks: and below it a list"),
    ],
)
def test_a_file_that_is_none_says_what_would_be_one(place: Place, text: str, words: str) -> None:
    assert words in place.refusal(text)


def test_a_file_that_is_not_there_is_named(place: Place) -> None:
    with pytest.raises(Invalid, match=r"nowhere\.yaml"):
        read_tasks(place.folder / "nowhere.yaml", repo=place.repo, commit=place.commit)
