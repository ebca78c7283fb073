"""`smp memory episodes|facts`, `smp evolve rules …`: list the records of earlier sessions, and judge repair rules."""

from __future__ import annotations

from collections.abc import Sequence

import click
import msgspec
from msgspec import Struct

from smp.bootstrap import build_records
from smp.cli.options import json_option, repository_options
from smp.cli.record_graph_screen import printable, warn
from smp.domain.records import Episode, Rule
from smp.settings import Settings

last_argument = click.argument("last", type=click.IntRange(1), default=20)


@click.group()
def memory() -> None:
    """What sessions left on record.

    \b
    Example: smp memory episodes 5
    """


@memory.command()
@last_argument
@json_option
@repository_options
def episodes(settings: Settings, last: int, as_json: bool) -> None:
    """List the LAST episodes, newest last: one a session that has ended."""
    records = build_records(settings).records()
    shown = records.episodes[-last:]
    if as_json:
        _print("episodes", shown, records.warnings)
        return
    for episode in shown:
        _show_episode(episode)
    if not shown:
        click.echo("no episodes yet; each session that ends leaves one")
    warn(records.warnings)


@memory.command()
@last_argument
@json_option
@repository_options
def facts(settings: Settings, last: int, as_json: bool) -> None:
    """List the LAST facts, newest last."""
    records = build_records(settings).records()
    shown = records.facts[-last:]
    if as_json:
        _print("facts", shown, records.warnings)
        return
    for fact in shown:
        click.echo(f"{fact.at}  {fact.id}  {printable(fact.kind)}: {printable(fact.text)}")
    if not shown:
        click.echo("no facts yet; they are lines of .smp/memory/facts.jsonl")
    warn(records.warnings)


@click.group()
def evolve() -> None:
    """Repair rules: proposed when one kind of change has resolved one kind of failure three times.

    \b
    Example: smp evolve rules accept rule_0123456789ab
    """


@evolve.group(invoke_without_command=True)
@json_option
@repository_options
@click.pass_context
def rules(ctx: click.Context, settings: Settings, as_json: bool) -> None:
    """List the rules; `accept ID` and `reject ID` judge one."""
    if ctx.invoked_subcommand is not None:
        return
    records = build_records(settings).records()
    if as_json:
        _print("rules", records.rules, records.warnings)
        return
    for rule in records.rules:
        _show_rule(rule)
    if not records.rules:
        click.echo("no rules yet; one is proposed when the same kind of change has resolved a failure three times")
    warn(records.warnings)


@rules.command()
@click.argument("rule_id")
@json_option
@repository_options
def accept(settings: Settings, rule_id: str, as_json: bool) -> None:
    """Accept a rule: from now on it is named where it resolves a failure."""
    _judged(build_records(settings).judge(rule_id, "accepted"), as_json)


@rules.command()
@click.argument("rule_id")
@json_option
@repository_options
def reject(settings: Settings, rule_id: str, as_json: bool) -> None:
    """Reject a rule: it is not proposed again."""
    _judged(build_records(settings).judge(rule_id, "rejected"), as_json)


def _judged(rule: Rule, as_json: bool) -> None:
    click.echo(msgspec.json.encode(rule).decode() if as_json else f"✔ {rule.id} is {rule.status}")


def _show_episode(episode: Episode) -> None:
    click.echo(f"{episode.at}  {episode.id}  {episode.status or '-'}  {printable(episode.task)}")
    for path in episode.files_changed:
        click.echo(f"    touched {printable(path)}")
    for note in episode.failures:
        click.echo(f"    {note.fingerprint} {printable(note.class_)}: {printable(note.message[:120])}")
        click.echo(f"        resolved by {printable(note.resolved_by)}" if note.resolved_by else "        not resolved")


def _show_rule(rule: Rule) -> None:
    click.echo(f"{rule.id}  {'shipped' if rule.seeded else rule.status}  {printable(rule.text)}")
    click.echo(f"    repairs {printable(', '.join(rule.fingerprints)) or '-'}, seen in {len(rule.evidence)} episode(s)")


def _print(name: str, records: Sequence[Struct], warnings: Sequence[str]) -> None:
    answer = {name: records, "warnings": list(warnings) or None}
    click.echo(msgspec.json.encode(answer).decode())


COMMANDS = (memory, evolve)
