"""`smp swarm run|show|cancel`: many durable sessions at once, from a file of tasks."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from smp.bootstrap import build_platform
from smp.cli.driving import CANCEL_WAIT_MS, driven
from smp.cli.failures import stderr
from smp.cli.options import json_option, open_indexed, repository_options, say
from smp.cli.session import LOOK_MS, default_test_command, pair, server_for
from smp.cli.session_screen import stdout
from smp.cli.swarm_file import MAX_LIMIT, Task, read_tasks
from smp.cli.swarm_screen import final_swarm, phases_of, progress, watch_swarm
from smp.domain.errors import Invalid
from smp.domain.ids import AgentId, CommitSha, SandboxId, SessionId
from smp.domain.runs import SessionRunRequest, queue_of
from smp.domain.swarms import SwarmOutcome, SwarmRequest, SwarmSession, swarm_workflow_id
from smp.services import Services
from smp.settings import Settings


@click.group()
def swarm() -> None:
    """Many durable sessions at once: each task of a file a session, each session a branch.

    \b
    Example: smp swarm run tasks.yaml
    """


@swarm.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--limit", type=click.IntRange(1, MAX_LIMIT), default=None, help="Sessions at once.  [default: the file's]"
)
@click.option("--commit", default="HEAD", show_default=True, help="The commit that every session works on.")
@click.option("--start-server", is_flag=True, help="Start a Temporal server if none answers; it goes on afterwards.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as one JSON object instead of the screen.")
@repository_options
def run(settings: Settings, file: Path, limit: int | None, commit: str, start_server: bool, as_json: bool) -> None:
    """Run every task of FILE (YAML or JSON) as a session of its own and say in which order their branches merge.

    Exit code 0 when every session completed and all branches merge with one another. Ctrl-C cancels the swarm.

    \b
    A file:
      limit: 4
      defaults: {test_cmd: "pytest -q"}
      tasks:
        - {task: "round half up", edits: round.diff}
        - {task: "fix issue 12", agent_cmd: ./agent.sh, scope: [src/]}
    """
    services = open_indexed(settings)
    sha = services.sources.resolve(commit) if commit != "HEAD" else services.sources.head()
    if sha is None:
        raise Invalid("the repository has no commit yet; make one with git commit", path="commit")
    tasks = read_tasks(file, repo=settings.repo, commit=sha)
    queue = queue_of(settings.runs_of)
    request = SwarmRequest(
        swarm_id=services.clock.fresh_id("swm"),
        repository=settings.repo.name,
        sessions=tuple(_session(services, task, sha, queue) for task in tasks.tasks),
        limit=limit or tasks.limit,
        task_queue=queue,
    )
    stderr.print(f"swarm {request.swarm_id}: {len(request.sessions)} sessions, {request.limit} at once", soft_wrap=True)
    with server_for(settings, start=start_server):
        outcome = _drive(services, request)
    _print(outcome, as_json=as_json)
    if outcome.status != "completed":
        raise click.exceptions.Exit(1)


@swarm.command()
@click.argument("swarm_id")
@click.option("--json", "as_json", is_flag=True, help="Print the state or the outcome as one JSON object.")
@repository_options
def show(settings: Settings, swarm_id: str, as_json: bool) -> None:
    """Where each session of a swarm is, or how the swarm ended."""
    runs = build_platform(settings).runs
    workflow_id = swarm_workflow_id(swarm_id)
    outcome = runs.swarm_within(workflow_id, LOOK_MS)
    if outcome is not None:
        _print(outcome, as_json=as_json)
        return
    state = runs.swarm_state(workflow_id)
    if as_json:
        click.echo(msgspec.json.encode(state).decode())
    else:
        stdout().print(progress(state, phases_of(runs, state)))


@swarm.command()
@click.argument("swarm_id")
@json_option
@repository_options
def cancel(settings: Settings, swarm_id: str, as_json: bool) -> None:
    """Stop a swarm; its running sessions undo what they did, those with `on_cancel: go_on` excepted."""
    build_platform(settings).runs.cancel(swarm_workflow_id(swarm_id))
    words = f"asked {swarm_id} to stop; smp swarm show {swarm_id} tells how it ended"
    say(as_json, {"swarm_id": swarm_id, "asked": "cancel"}, words)


def _session(services: Services, task: Task, commit: CommitSha, queue: str) -> SwarmSession:
    entry, settings = task.entry, services.settings
    request = SessionRunRequest(
        session_id=SessionId(services.clock.fresh_id("ses")),
        sandbox_id=SandboxId(services.clock.fresh_id("box")),
        agent_id=AgentId(entry.agent_id),
        task=entry.task,
        repository=settings.repo.name,
        scope=task.scope,
        commit_sha=commit,
        agent=task.agent,
        test_command=entry.test_cmd or default_test_command(settings.repo),
        verify=tuple(map(pair, entry.verify)),
        title=entry.title,
        issue_refs=tuple(entry.issues),
        reviewer=None if entry.reviewer is None else AgentId(entry.reviewer),
        max_attempts=entry.max_attempts,
        ttl_seconds=entry.ttl or settings.safety.ttl_seconds,
        limits=services.sandboxes.limits(),
        task_queue=queue,
    )
    return SwarmSession(name=task.name, request=request, parent_close=entry.parent_close)


def _drive(services: Services, request: SwarmRequest) -> SwarmOutcome:
    """Run it to its end, with a worker of its own if none lives; a Ctrl-C cancels it and waits for the undoing."""
    workflow_id = swarm_workflow_id(request.swarm_id)
    return driven(
        services,
        workflow_id,
        what="swarm",
        undoing="the sessions undo what they did",
        start=lambda: services.runs.start_swarm(request),
        watch=lambda tend: watch_swarm(services.runs, workflow_id, stderr, tend=tend),
        undone=lambda: services.runs.swarm_within(workflow_id, CANCEL_WAIT_MS),
    )


def _print(outcome: SwarmOutcome, *, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode(outcome).decode())
    else:
        final_swarm(outcome, stdout())


COMMANDS = (swarm,)
