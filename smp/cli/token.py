"""`smp token new|list|revoke`: tokens that are bound to an agent."""

from __future__ import annotations

import click
import msgspec

from smp.bootstrap import build_tokens
from smp.cli.options import json_option, repository_options, say
from smp.domain.ids import AgentId
from smp.ports.clock import Clock
from smp.settings import Settings


@click.group()
def token() -> None:
    """Tokens of agents: each speaks for one agent, and may act in that agent's sessions only.

    From the first token on, `smp serve` answers nobody without one (or without the server's own, SMP_TOKEN).

    \b
    Example: smp token new --agent coder-1
    """


@token.command()
@click.option("--agent", required=True, help="The agent that it speaks for, as it names itself in sessions.")
@click.option("--read-only", is_flag=True, help="Questions only.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@repository_options
def new(settings: Settings, agent: str, read_only: bool, as_json: bool) -> None:
    """Issue a token. It is printed now and never again; the server keeps its hash."""
    if not agent.strip() or len(agent) > 200:
        raise click.BadParameter("name an agent in at most 200 characters", param_hint="--agent")
    store, clock = build_tokens(settings)
    grant, issued = store.issue(AgentId(agent), may_write=not read_only, made_at=_moment(clock))
    if as_json:
        click.echo(msgspec.json.encode({**msgspec.to_builtins(grant), "token": issued}).decode())
        return
    click.echo(issued)
    click.echo(f"{grant.id} speaks for {agent}; send it as Authorization: Bearer …", err=True)


@token.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@repository_options
def list_tokens(settings: Settings, as_json: bool) -> None:
    """List the tokens that hold."""
    grants = build_tokens(settings)[0].grants()
    if as_json:
        click.echo(msgspec.json.encode({"tokens": grants}).decode())
        return
    for grant in grants:
        click.echo(
            f"{grant.id}  {grant.made_at}  {'read, write' if grant.may_write else 'read only'}  {grant.agent_id}"
        )
    if not grants:
        click.echo("no tokens; `smp token new --agent NAME` issues one")


@token.command()
@click.argument("token_id")
@json_option
@repository_options
def revoke(settings: Settings, token_id: str, as_json: bool) -> None:
    """End a token at once."""
    build_tokens(settings)[0].revoke(token_id)
    say(as_json, {"revoked": token_id}, f"{token_id} is revoked")


def _moment(clock: Clock) -> str:
    return clock.now().isoformat(timespec="seconds").replace("+00:00", "Z")


COMMANDS = (token,)
