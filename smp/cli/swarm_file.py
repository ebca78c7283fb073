"""The task file of `smp swarm run`: YAML or JSON, read whole, with everything that is wrong said at once.

    limit: 4                      # sessions at a time
    defaults: {test_cmd: "pytest -q", max_attempts: 3}
    tasks:
      - task: round half up
        edits: round.diff         # a diff or JSON file beside this one; a list: what to try when a step is sent back
      - {name: docs, task: describe it, agent_cmd: ./agent.sh, scope: [docs/]}

`docs/workflows.md` has all keys. Each of `defaults` stands for every task that does not say it itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import yaml  # type: ignore[import-untyped]
from msgspec import Meta, Struct

from smp.cli.session_edits import as_list, read_edits
from smp.domain.errors import Invalid
from smp.domain.ids import CommitSha, FilePath
from smp.domain.runs import Agent, Command, Edit, EditList, EditStep, Remote
from smp.domain.swarms import ABANDON, CANCEL, DEFAULT_LIMIT

MAX_TASKS = 1000
MAX_LIMIT = 64
SHOWN_FAULTS = 20

Text = Annotated[str, Meta(min_length=1)]


class Entry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One task as it is written.

    Attributes:
        edits: A file of edits, several of them (one an attempt), or edits themselves (one attempt).
        on_cancel: What becomes of the session when the swarm is cancelled: it undoes what it did, or goes on.
    """

    task: Text
    name: Annotated[str, Meta(max_length=100)] = ""
    edits: str | list[str | Edit] | None = None
    agent_cmd: str | None = None
    remote: bool = False
    scope: list[str] = []
    test_cmd: str | None = None
    verify: list[str] = []
    title: str = ""
    issues: list[str] = []
    agent_id: Text = "swarm"
    reviewer: str | None = None
    max_attempts: Annotated[int, Meta(ge=1, le=100)] = 3
    ttl: Annotated[int, Meta(ge=1, le=86_400)] | None = None
    on_cancel: Literal["undo", "go_on"] = "undo"

    @property
    def parent_close(self) -> str:
        """In the words of the workflow."""
        return ABANDON if self.on_cancel == "go_on" else CANCEL


class Task(Struct, frozen=True, kw_only=True):
    """An entry with its agent made and its scope known."""

    entry: Entry
    name: str
    agent: Agent
    scope: tuple[FilePath, ...]


class TaskFile(Struct, frozen=True, kw_only=True):
    """A whole file."""

    limit: int
    tasks: tuple[Task, ...]


class _Top(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    tasks: list[Any]
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT
    defaults: dict[str, Any] = {}


def read_tasks(path: Path, *, repo: Path, commit: CommitSha) -> TaskFile:
    """The tasks of a file.

    Raises:
        Invalid: It cannot be read, or entries are wrong; the message names each with what is wrong with it.
    """
    top = _top(path)
    if not 1 <= len(top.tasks) <= MAX_TASKS:
        raise Invalid(f"{str(path)!r} has {len(top.tasks)} tasks; write 1 to {MAX_TASKS} under tasks:", path="tasks")
    tasks: list[Task] = []
    faults: list[str] = []
    for number, raw in enumerate(top.tasks, start=1):
        try:
            tasks.append(_task(raw, number, top.defaults, folder=path.parent, repo=repo, commit=commit))
        except Invalid as fault:
            faults.append(f"  task {number}{_named(raw)}: {fault.message}")
    numbers: dict[str, int] = {}
    for number, task in enumerate(tasks, start=1):
        if numbers.setdefault(task.name, number) != number and not faults:
            faults.append(f"  task {number} is called {task.name!r} as task {numbers[task.name]} is; name each once")
    if faults:
        more = f"\n  and {len(faults) - SHOWN_FAULTS} more" if len(faults) > SHOWN_FAULTS else ""
        raise Invalid(
            f"{str(path)!r} cannot be run:\n" + "\n".join(faults[:SHOWN_FAULTS]) + f"{more}\nsee docs/workflows.md",
            path="tasks",
        )
    return TaskFile(limit=top.limit, tasks=tuple(tasks))


def _top(path: Path) -> _Top:
    try:
        loaded = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise Invalid(f"cannot read the tasks {str(path)!r}: {why}", path="file") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        why = getattr(error, "problem", None) or "it is no YAML or JSON"
        raise Invalid(f"the tasks {str(path)!r} are not understood{where}: {why}", path="file") from error
    try:
        return msgspec.convert({"tasks": loaded} if isinstance(loaded, list) else loaded, _Top)
    except msgspec.ValidationError as error:
        raise Invalid(
            f"the tasks {str(path)!r} are not understood: {error}; write tasks: and below it a list, one entry a task",
            path="file",
        ) from error


def _task(raw: object, number: int, defaults: dict[str, Any], *, folder: Path, repo: Path, commit: CommitSha) -> Task:
    if not isinstance(raw, dict):
        raise Invalid("it is no mapping; write task: and what to do", path="tasks")
    agents = {"edits", "agent_cmd", "remote"}
    # A task that names its own agent takes none of the defaults.
    general = {key: value for key, value in defaults.items() if not (key in agents and agents & raw.keys())}
    try:
        entry = msgspec.convert(general | raw, Entry)
    except msgspec.ValidationError as error:
        raise Invalid(str(error), path="tasks") from error
    agent = _agent(entry, folder=folder, repo=repo, commit=commit)
    scope = tuple(FilePath(name) for name in entry.scope)
    if not scope:
        if not isinstance(agent, EditList):
            raise Invalid("say with scope: which files or folders (src/) the agent may change", path="scope")
        scope = tuple(sorted({edit.file for step in agent.steps for edit in step.edits}))
    return Task(entry=entry, name=entry.name or f"task-{number}", agent=agent, scope=scope)


def _agent(entry: Entry, *, folder: Path, repo: Path, commit: CommitSha) -> Agent:
    if (entry.edits is not None) + (entry.agent_cmd is not None) + entry.remote != 1:
        raise Invalid("it needs one of edits:, agent_cmd: or remote: true", path="edits")
    if entry.remote:
        return Remote()
    if entry.agent_cmd is not None:
        return Command(command=entry.agent_cmd)
    given = [entry.edits] if isinstance(entry.edits, str) else entry.edits or []
    files = [one for one in given if isinstance(one, str)]
    edits = tuple(one for one in given if isinstance(one, Edit))
    if bool(files) == bool(edits):
        raise Invalid("edits: is a file, a list of files, or a list of {file, content}", path="edits")
    if edits:
        return EditList(steps=(EditStep(edits=edits),))
    return as_list([read_edits(folder / name, repo=repo, commit=commit) for name in files])


def _named(raw: object) -> str:
    said = raw.get("name") or raw.get("task") if isinstance(raw, dict) else None
    return f" ({said[:60]})" if isinstance(said, str) else ""
