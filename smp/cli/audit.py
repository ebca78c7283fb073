"""`smp audit list|export|verify`: the record of what sessions did."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from smp.bootstrap import build_platform
from smp.cli.options import json_option, repository_options
from smp.domain.errors import Invalid, NotFound
from smp.domain.ids import SessionId
from smp.domain.sessions import Session
from smp.ports.session_store import SessionStore
from smp.safety.audit_export import Flaw, export_lines, flaws
from smp.settings import Settings

session_option = click.option("--session", "session_id", default=None, help="One session only.")


@click.group()
def audit() -> None:
    """What sessions did: one hash-chained record each, append-only.

    \b
    Example: smp audit export > audit.jsonl && smp audit verify audit.jsonl
    """


@audit.command(name="list")
@json_option
@repository_options
def list_audits(settings: Settings, as_json: bool) -> None:
    """List all sessions, oldest first, with the ids of their audits."""
    sessions = build_platform(settings).session_store.sessions()
    if as_json:
        rows = [
            {"session_id": one.id, "audit_log_id": one.audit_id, "agent_id": one.agent_id, "status": one.status}
            for one in sessions
        ]
        click.echo(msgspec.json.encode({"sessions": rows}).decode())
        return
    for one in sessions:
        opened = one.opened_at.isoformat(timespec="seconds").replace("+00:00", "Z")
        click.echo(f"{opened}  {one.id}  {one.audit_id}  {one.status.value:<11}  {one.agent_id}")
    if not sessions:
        click.echo("no sessions yet")


@audit.command()
@session_option
@repository_options
def export(settings: Settings, session_id: str | None) -> None:
    """Write every event to standard output, a JSON object a line."""
    store = build_platform(settings).session_store
    out = sys.stdout.buffer
    for line in export_lines(store, _chosen(store, session_id)):
        out.write(line + b"\n")
    out.flush()


@audit.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@session_option
@json_option
@repository_options
def verify(settings: Settings, file: Path | None, session_id: str | None, as_json: bool) -> None:
    """Check that no line was changed, left out, put in or cut off: of the store, or of an exported FILE.

    Exit code 1 when something is wrong.
    """
    if file is not None:
        try:
            lines = file.read_bytes().split(b"\n")
        except OSError as error:
            raise Invalid(f"cannot read {str(file)!r}: {error.strerror}", path="FILE") from error
    else:
        store = build_platform(settings).session_store
        lines = list(export_lines(store, _chosen(store, session_id)))
    try:
        found = flaws(lines)
    except msgspec.DecodeError as error:
        raise Invalid(f"not the lines of `smp audit export`: {error}", path="FILE") from error
    _report(found, sum(1 for line in lines if line.strip()), as_json)
    if found:
        raise click.exceptions.Exit(1)


def _chosen(store: SessionStore, session_id: str | None) -> tuple[Session, ...]:
    if session_id is None:
        return store.sessions()
    found = store.get(SessionId(session_id))
    if found is None:
        raise NotFound(f"no session {session_id!r}; `smp audit list` shows them", session_id=session_id)
    return (found,)


def _report(found: list[Flaw], count: int, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode({"events": count, "flaws": found}).decode())
        return
    for flaw in found:
        click.echo(f"{flaw.session_id}: event {flaw.position}: {flaw.problem}")
    if not found:
        click.echo(f"{count} events, whole")


COMMANDS = (audit,)
