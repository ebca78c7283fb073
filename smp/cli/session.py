"""`smp session run|list|show|cancel`: durable sessions from the command line."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from smp.bootstrap import build_platform
from smp.cli import devserver
from smp.cli.driving import CANCEL_WAIT_MS, driven
from smp.cli.failures import stderr
from smp.cli.options import json_option, open_indexed, repository_options, say
from smp.cli.session_answers import ANSWERS, how_to_answer, waiting_for
from smp.cli.session_edits import as_list, read_edits
from smp.cli.session_screen import final_screen, stdout, watch
from smp.domain.errors import Invalid, Unavailable
from smp.domain.ids import AgentId, CommitSha, FilePath, SandboxId, SessionId
from smp.domain.runs import (
    Agent,
    Command,
    EditList,
    Remote,
    SessionOutcome,
    SessionRunRequest,
    queue_of,
    workflow_id_of,
)
from smp.services import Services
from smp.settings import Settings

LOOK_MS = 2_000


@click.group()
def session() -> None:
    """Durable agent sessions: each is a Temporal workflow that survives the death of any process."""


@session.command()
@click.option("--task", required=True, help="What the agent is to do, in a sentence.")
@click.option(
    "--edits",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A unified diff, or a JSON file of edits; given again: what to try after a step was sent back.",
)
@click.option("--agent-cmd", help="A command, run in the box, whose changes there are the edits.")
@click.option("--remote", is_flag=True, help="Wait for edits: smp session propose, or Updates of a Temporal client.")
@click.option("--test-cmd", help="Run in the box; exit code 0 passes.  [default: by the project's files]")
@click.option("--scope", multiple=True, help="A file, or a folder ending in /, that may be written; may be repeated.")
@click.option("--verify", multiple=True, metavar="TARGET=TEST", help="A pair for the integrity gate.")
@click.option("--commit", default="HEAD", show_default=True, help="The commit to work on.")
@click.option("--title", default="", help="Title of the pull request.  [default: the task]")
@click.option("--issue", multiple=True, help="An issue that the pull request refers to; may be repeated.")
@click.option("--agent-id", default="cli", show_default=True, help="Who works, as the audit names it.")
@click.option("--reviewer", default=None, help="Another agent who has to approve the verified change first.")
@click.option(
    "--max-attempts", type=click.IntRange(1, 100), default=3, show_default=True, help="Loops back per reason."
)
@click.option("--ttl", type=click.IntRange(1, 86_400), default=None, help="Seconds without progress until it expires.")
@click.option("--start-server", is_flag=True, help="Start a Temporal server if none answers; it goes on afterwards.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as one JSON object instead of the screen.")
@repository_options
def run(
    settings: Settings,
    task: str,
    edits: tuple[Path, ...],
    agent_cmd: str | None,
    remote: bool,
    test_cmd: str | None,
    scope: tuple[str, ...],
    verify: tuple[str, ...],
    commit: str,
    title: str,
    issue: tuple[str, ...],
    agent_id: str,
    reviewer: str | None,
    max_attempts: int,
    ttl: int | None,
    start_server: bool,
    as_json: bool,
) -> None:
    """Take a change from open to a pushed branch: guard, dry run, box, tests, mutants, pull request.

    \b
    Examples:
      smp session run --task "round half up" --edits change.diff --start-server
      smp session run --task "fix issue 12" --agent-cmd ./agent.sh --scope src/ --test-cmd "pytest -q"
    """
    if bool(edits) + bool(agent_cmd) + remote != 1:
        raise Invalid(
            "name one of --edits (a diff or JSON file), --agent-cmd (a command run in the box), --remote (edits come by "
            "smp session propose or a Temporal client)",
            path="edits",
        )
    services = open_indexed(settings)
    sha = services.sources.resolve(commit) if commit != "HEAD" else services.sources.head()
    if sha is None:
        raise Invalid("the repository has no commit yet; make one with git commit", path="commit")
    agent = _agent(edits, agent_cmd, remote, settings.repo, sha)
    request = SessionRunRequest(
        session_id=SessionId(services.clock.fresh_id("ses")),
        sandbox_id=SandboxId(services.clock.fresh_id("box")),
        agent_id=AgentId(agent_id),
        task=task,
        repository=settings.repo.name,
        scope=_scope(scope, agent),
        commit_sha=sha,
        agent=agent,
        test_command=test_cmd or default_test_command(settings.repo),
        verify=tuple(pair(text) for text in verify),
        title=title,
        issue_refs=issue,
        reviewer=None if reviewer is None else AgentId(reviewer),
        max_attempts=max_attempts,
        ttl_seconds=ttl or settings.safety.ttl_seconds,
        limits=services.sandboxes.limits(),
        task_queue=queue_of(settings.runs_of),
    )
    if remote or reviewer:
        stderr.print("\n".join(how_to_answer(request)), soft_wrap=True, highlight=False)
    with server_for(settings, start=start_server):
        outcome = drive(services, request)
    if as_json:
        click.echo(msgspec.json.encode(outcome).decode())
    else:
        final_screen(settings, outcome, stdout())
    if outcome.status != "completed":
        raise click.exceptions.Exit(1)


@session.command("list")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True)
@json_option
@repository_options
def list_sessions(settings: Settings, limit: int, as_json: bool) -> None:
    """This repository's session runs, newest first."""
    services = build_platform(settings)
    rows = services.runs.sessions(queue_of(settings.runs_of), limit=limit)
    if as_json:
        click.echo(msgspec.json.encode({"sessions": rows}).decode())
        return
    click.echo(f"{'SESSION':<28}{'RUN':<12}{'PHASE':<12}{'STARTED':<27}ENDED")
    for row in rows:
        started = row.started_at.isoformat(sep=" ", timespec="seconds")
        ended = row.closed_at.isoformat(sep=" ", timespec="seconds") if row.closed_at else ""
        name = row.workflow_id.removeprefix("session/")
        click.echo(f"{name:<28}{row.status:<12}{row.phase:<12}{started:<27}{ended}".rstrip())


@session.command()
@click.argument("session_id")
@json_option
@repository_options
def show(settings: Settings, session_id: str, as_json: bool) -> None:
    """Where a session is, or how it ended."""
    services = build_platform(settings)
    run = workflow_id_of(SessionId(session_id))
    outcome = services.runs.outcome_within(run, LOOK_MS)
    if outcome is None:
        state = services.runs.state(run)
        if as_json:
            click.echo(msgspec.json.encode(state).decode())
            return
        click.echo(f"{session_id}: {state.phase}, expires {state.deadline} without progress")
        for step in state.steps:
            click.echo(f"  {step}")
        for line in waiting_for(session_id, state):
            click.echo(line)
        return
    if as_json:
        click.echo(msgspec.json.encode(outcome).decode())
    else:
        final_screen(settings, outcome, stdout())


@session.command()
@click.argument("session_id")
@json_option
@repository_options
def cancel(settings: Settings, session_id: str, as_json: bool) -> None:
    """Stop a session; it undoes what it did. After its branch has been pushed it completes instead."""
    services = build_platform(settings)
    services.runs.cancel(workflow_id_of(SessionId(session_id)))
    words = f"asked {session_id} to stop; smp session show {session_id} tells how it ended"
    say(as_json, {"session_id": session_id, "asked": "cancel"}, words)


@contextlib.contextmanager
def server_for(settings: Settings, *, start: bool) -> Iterator[None]:
    """A server while the context lasts; one that this started is stopped again when the context is left by force.

    Raises:
        Unavailable: None answers and `start` is false, or it cannot be started.
    """
    if not start:
        if not devserver.answers(settings.temporal):
            raise Unavailable(
                f"no Temporal server answers at {settings.temporal.address}; start one with: smp temporal start "
                "(or add --start-server)",
                backend="temporal",
            )
        yield
        return
    _, started = devserver.start(settings, lambda line: stderr.print(line, soft_wrap=True))
    try:
        yield
    except BaseException:
        if started:
            devserver.stop(settings)
        raise


def drive(services: Services, request: SessionRunRequest) -> SessionOutcome:
    """Run a request to its end, with a worker of its own if none lives; a Ctrl-C cancels it and waits for the undoing."""
    workflow_id = workflow_id_of(request.session_id)
    return driven(
        services,
        workflow_id,
        what="session",
        undoing="the session undoes what it did",
        start=lambda: services.runs.start_session(request),
        watch=lambda tend: watch(services.runs, workflow_id, stderr, tend=tend),
        undone=lambda: services.runs.result(workflow_id, timeout_ms=CANCEL_WAIT_MS),
    )


def default_test_command(repo: Path) -> str:
    """`npm test` where a package.json has a test script, else pytest."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if json.loads((repo / "package.json").read_text("utf-8")).get("scripts", {}).get("test"):
            return "npm test --silent"
    return "python -m pytest -q"


def _agent(edits: tuple[Path, ...], command: str | None, remote: bool, repo: Path, commit: CommitSha) -> Agent:
    if remote:
        return Remote()
    if command is not None:
        return Command(command=command)
    return as_list([read_edits(path, repo=repo, commit=commit) for path in edits])


def _scope(given: tuple[str, ...], agent: Agent) -> tuple[FilePath, ...]:
    if given:
        return tuple(FilePath(path) for path in given)
    if not isinstance(agent, EditList):
        raise Invalid("say with --scope which files or folders (src/) the agent may change", path="scope")
    return tuple(sorted({edit.file for step in agent.steps for edit in step.edits}))


def pair(text: str) -> tuple[FilePath, FilePath]:
    """A pair for the gate, of `TARGET=TEST`.

    Raises:
        Invalid: It is none.
    """
    target, equals, test = text.partition("=")
    if not (target and equals and test):
        raise Invalid(f"{text!r} is no pair; write --verify src/a.py=tests/test_a.py", path="verify")
    return FilePath(target), FilePath(test)


for answer in ANSWERS:
    session.add_command(answer)

COMMANDS = (session,)
