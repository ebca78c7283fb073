"""`smp doctor`: what is there, what is missing, and the command that mends it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

import click
import msgspec
from msgspec import Struct
from rich.console import Console
from rich.table import Table

from smp.bootstrap import build_platform, forge_host
from smp.cli import devserver
from smp.cli.options import repository_options
from smp.domain.errors import SmpError
from smp.handoff.code_hosts import HostKind
from smp.services import Services
from smp.settings import Settings

_MARKS = {True: "[green]ok[/green]", False: "[red]missing[/red]"}


class Finding(Struct, frozen=True, kw_only=True):
    """One line: what was tried, whether it works, what was seen, and what to do where it does not."""

    subject: str
    good: bool
    seen: str
    mend: str = ""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as one JSON object.")
@click.option("--repair", is_flag=True, help="Hold every vector against the graph and make both agree.")
@repository_options
def doctor(settings: Settings, as_json: bool, repair: bool) -> None:
    """Try everything that sessions need; exit code 1 when something is missing.

    \b
    Example: smp doctor --repo ~/src/myproject
    """
    findings = [*_platform(settings, repair=repair), forge(settings, os.environ), _temporal(settings)]
    if as_json:
        click.echo(msgspec.json.encode({"findings": findings}).decode())
    else:
        table = Table("", "what", "seen", "what to do", box=None)
        for finding in findings:
            table.add_row(_MARKS[finding.good], finding.subject, finding.seen, finding.mend)
        Console(highlight=False).print(table)
    if not all(finding.good for finding in findings):
        raise click.exceptions.Exit(1)


def _platform(settings: Settings, *, repair: bool = False) -> list[Finding]:
    try:
        services = build_platform(settings)
    except SmpError as error:
        return [Finding(subject="repository", good=False, seen=str(settings.repo), mend=error.message)]
    return [
        Finding(subject="repository", good=True, seen=str(settings.repo)),
        _stores(settings),
        *([_repaired(services)] if repair else []),
        _index(services),
        _sandbox(services),
    ]


def _stores(settings: Settings) -> Finding:
    """They have answered by now, or there were no services."""
    graph = f"Neo4j at {settings.graph.url}" if settings.graph_in_neo4j else "SQLite"
    sessions = f"Neo4j at {settings.graph.url}" if settings.sessions_in_neo4j else "SQLite"
    vectors = f"Weaviate at {settings.vectors.url}" if settings.vectors_in_weaviate else "embedded"
    return Finding(subject="stores", good=True, seen=f"graph {graph}, vectors {vectors}, sessions {sessions}")


def _repaired(services: Services) -> Finding:
    try:
        services.indexer.ensure_fresh()
        found = services.indexer.repair_vectors()
    except SmpError as error:
        return Finding(subject="vectors", good=False, seen="cannot be repaired", mend=error.message)
    if not found.made and not found.forgotten:
        return Finding(subject="vectors", good=True, seen="agree with the graph")
    seen = f"agree with the graph again: {found.made} made, {found.forgotten} forgotten"
    return Finding(subject="vectors", good=True, seen=seen)


def _index(services: Services) -> Finding:
    state = services.indexer.state()
    if state.built_at is None:
        return Finding(subject="index", good=False, seen="none yet", mend="smp index")
    if state.stale:
        return Finding(
            subject="index", good=True, seen=f"{len(state.stale)} files have changed; the next question reads them"
        )
    return Finding(subject="index", good=True, seen=f"{state.files} files, up to date")


def _sandbox(services: Services) -> Finding:
    able = services.sandboxes.capabilities()
    traced = ", ".join(able.tracers) or "none"
    seen = f"{able.driver}: memory limit {able.memory_limit}, egress {able.egress}, tracers {traced}"
    return Finding(subject="sandbox", good=able.available, seen=seen, mend="; ".join(able.missing))


def forge(settings: Settings, environ: Mapping[str, str]) -> Finding:
    """Where pull requests go, and what is missing for that. A host that was guessed works without a token, as plain git."""
    try:
        host = forge_host(settings, environ)
    except SmpError as error:
        return Finding(subject="forge", good=False, seen="cannot be used", mend=error.message)
    if host.kind is HostKind.GIT:
        return Finding(subject="forge", good=True, seen="plain git: a branch is pushed, the pull request is a document")
    place = f"{host.name} {host.project} at {host.api_url}"
    if host.missing:
        seen = f"{place}, no token: no pull request is opened" + ("" if host.explicit else ", the branch is pushed")
        return Finding(subject="forge", good=not host.explicit, seen=seen, mend=host.missing)
    return Finding(subject="forge", good=True, seen=place)


def _temporal(settings: Settings) -> Finding:
    if devserver.answers(settings.temporal):
        return Finding(subject="workflows", good=True, seen=f"Temporal answers at {settings.temporal.address}")
    built = settings.cache_dir / "bin" / "temporal"
    if shutil.which("temporal") or built.is_file():
        return Finding(
            subject="workflows", good=False, seen="Temporal is installed and not running", mend="smp temporal start"
        )
    mend = "smp temporal start (builds it once)" if shutil.which("go") else "install Go, or put temporal on PATH"
    return Finding(subject="workflows", good=False, seen="Temporal is neither on PATH nor built", mend=mend)


COMMANDS = (doctor,)
