"""`smp status`: what is indexed, what has changed since, and what runs. Changes nothing and builds nothing."""

from __future__ import annotations

import click
import msgspec
from msgspec import Struct

from smp.bootstrap import build_platform
from smp.cli.hooks import EVENTS, hook_states
from smp.cli.options import repository_options
from smp.cli.servers import RunningServer, running
from smp.services import Services
from smp.settings import Settings

SHOWN = 10


class IndexStatus(Struct, frozen=True, kw_only=True):
    """The index. commit: that it was made at. stale: files that differ from what was indexed."""

    built_at: str | None
    commit: str | None
    root_hash: str
    files: int
    nodes: int
    edges: int
    unresolved: int
    stale: tuple[str, ...]


class SessionStatus(Struct, frozen=True, kw_only=True):
    """An open session. box: its sandbox, if it has one."""

    session_id: str
    agent_id: str
    task: str
    mode: str
    expires_at: str
    box: str | None


class RepositoryStatus(Struct, frozen=True, kw_only=True):
    """Everything. commit: that is checked out. dirty: files that differ from it. hooks: events that are followed."""

    repository: str
    commit: str | None
    dirty: tuple[str, ...]
    index: IndexStatus
    hooks: tuple[str, ...]
    servers: tuple[RunningServer, ...]
    sessions: tuple[SessionStatus, ...]
    boxes: tuple[str, ...]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the status as one JSON object.")
@repository_options
def status(settings: Settings, as_json: bool) -> None:
    """Show the index and its commit, dirty and stale files, git hooks, servers, sessions and boxes.

    \b
    Example: smp status --json | jq .index.stale
    """
    found = status_of(build_platform(settings), settings)
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
        return
    for name, text in _lines(found):
        click.echo(f"{name:<9} {text}")


def status_of(services: Services, settings: Settings) -> RepositoryStatus:
    """What the stores and git say now."""
    state, size = services.indexer.state(), services.graph.size()
    sessions = services.session_store.active()
    return RepositoryStatus(
        repository=str(settings.repo),
        commit=services.sources.head(),
        dirty=services.sources.dirty(),
        index=IndexStatus(
            built_at=state.built_at,
            commit=state.commit_sha,
            root_hash=state.root_hash,
            files=state.files,
            nodes=size.nodes,
            edges=size.edges,
            unresolved=size.unresolved,
            stale=state.stale,
        ),
        hooks=tuple(one.event for one in hook_states(settings.repo) if one.state == "installed"),
        servers=running(settings),
        sessions=tuple(
            SessionStatus(
                session_id=one.id,
                agent_id=one.agent_id,
                task=one.task,
                mode=one.mode.value,
                expires_at=one.expires_at.isoformat(),
                box=one.sandbox_id,
            )
            for one in sorted(sessions, key=lambda one: (one.opened_at, one.id))
        ),
        boxes=tuple(sorted(one.sandbox_id for one in sessions if one.sandbox_id is not None)),
    )


def _lines(found: RepositoryStatus) -> list[tuple[str, str]]:
    index = found.index
    made = "none yet; smp index builds one"
    if index.built_at is not None:
        at = (index.commit or "no commit")[:10]
        made = f"{index.files} files, {index.nodes} nodes, {index.edges} edges at {at}, {index.built_at}"
    sessions = [f"{one.session_id} {one.agent_id}: {one.task} (until {one.expires_at})" for one in found.sessions]
    return [
        ("checkout", f"{found.repository} at {(found.commit or 'no commit')[:10]}"),
        ("index", made),
        ("dirty", _named(found.dirty)),
        ("stale", _named(index.stale)),
        ("hooks", _named(found.hooks) if len(found.hooks) < len(EVENTS) else "all installed"),
        ("servers", ", ".join(f"{one.address} (pid {one.pid})" for one in found.servers) or "none"),
        ("sessions", "; ".join(sessions) or "none"),
        ("boxes", _named(found.boxes)),
    ]


def _named(names: tuple[str, ...]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "") if names else "none"


COMMANDS = (status,)
