"""`smp graph …`: what broke in a file before and what fixed it (spec/record-graph.txt section 8)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import get_args

import click
import msgspec

from smp.bootstrap import build_records
from smp.cli.options import json_option, repository_options
from smp.cli.record_graph_screen import heading, show_known, show_neighbors, show_stats, show_walk, warn
from smp.domain.records import Direction, EdgeType, RecordEdge
from smp.records.edge_store import MAX_EDGES
from smp.records.nodes import asked_node
from smp.records.traversal import DEFAULT_DEPTH, MAX_DEPTH
from smp.settings import Settings

TYPES: tuple[str, ...] = get_args(EdgeType)
_AGE = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
MAX_AGE_DAYS = 100_000


class _Age(click.ParamType[timedelta]):
    """A number and `s`, `m`, `h` or `d`."""

    name = "age"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        found = _AGE.fullmatch(str(value))
        if found is None:
            self.fail(f"{value!r} is no age; write a number and s, m, h or d, such as 720h", param, ctx)
        amount = float(found.group(1))
        days = amount / {"s": 86_400, "m": 1440, "h": 24, "d": 1}[found.group(2)]
        return timedelta(days=min(days, MAX_AGE_DAYS)) if math.isfinite(days) else timedelta(days=MAX_AGE_DAYS)


class _Node(click.ParamType[str]):
    """A node id, or a path."""

    name = "node"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        node = asked_node(str(value))
        if node is None:
            self.fail(f"{value!r} names no node; write a path, or an id such as episode:ep_7f3a91", param, ctx)
        return node


direction_option = click.option(
    "--dir",
    "direction",
    type=click.Choice(get_args(Direction)),
    default="either",
    show_default=True,
    help="Which way edges are followed.",
)
types_option = click.option(
    "--type", "types", type=click.Choice(TYPES), multiple=True, help="Only edges of this type; may be repeated."
)


@click.group()
def graph() -> None:
    """What is known from earlier sessions: which touched a file, what failed there, what resolved it.

    \b
    smp graph file src/shop/cart.py
    smp graph walk src/shop/cart.py --depth 3
    """


@graph.command()
@json_option
@repository_options
def stats(settings: Settings, as_json: bool) -> None:
    """Count edges by type, nodes, and bytes."""
    found, warnings = build_records(settings).stats()
    if as_json:
        _print(msgspec.to_builtins(found) | {"max_edges": MAX_EDGES}, warnings)
        return
    show_stats(found, MAX_EDGES)
    warn(warnings)


@graph.command()
@click.argument("path")
@json_option
@repository_options
def file(settings: Settings, path: str, as_json: bool) -> None:
    """Say what broke in the file PATH before, and what fixed it.

    \b
    Example: smp graph file src/shop/cart.py
    """
    known, warnings = build_records(settings).file(path)
    if as_json:
        _print(msgspec.to_builtins(known), warnings)
        return
    show_known(known)
    warn(warnings)


@graph.command()
@click.argument("node", type=_Node())
@direction_option
@types_option
@json_option
@repository_options
def neighbors(settings: Settings, node: str, direction: Direction, types: tuple[str, ...], as_json: bool) -> None:
    """Show one hop around NODE: a path, or an id such as episode:ep_7f3a91."""
    around, warnings = build_records(settings).neighbors(node, direction, frozenset(types))
    if as_json:
        answer = {
            "node": node,
            "direction": direction,
            "types": _given(types),
            "edges": [_edge(edge) for _, edge, _ in around],
            "neighbors": sorted({far for far, _, _ in around}),
        }
        _print(answer, warnings)
        return
    show_neighbors(node, direction, types, around)
    warn(warnings)


@graph.command()
@click.argument("node", type=_Node())
@click.option("--depth", type=click.IntRange(1), default=DEFAULT_DEPTH, show_default=True, help=f"At most {MAX_DEPTH}.")
@direction_option
@types_option
@json_option
@repository_options
def walk(
    settings: Settings, node: str, depth: int, direction: Direction, types: tuple[str, ...], as_json: bool
) -> None:
    """Follow edges from NODE, breadth first.

    \b
    Example: smp graph walk src/shop/cart.py --depth 2 --type touched --type produced
    """
    held = min(depth, MAX_DEPTH)
    found, warnings = build_records(settings).walk(node, direction, frozenset(types), depth=held)
    if depth > MAX_DEPTH:
        warnings.append(f"--depth clamped to the package ceiling of {MAX_DEPTH}")
    if as_json:
        answer = {
            "node": node,
            "direction": direction,
            "depth": held,
            "max_depth": MAX_DEPTH,
            "types": _given(types),
            "paths": msgspec.to_builtins(found.paths),
            "reached": len(found.paths),
            "truncated": found.truncated,
        }
        _print(answer, warnings)
        return
    heading(f"Walk: {node}")
    show_walk(node, found, direction=direction, depth=held, max_depth=MAX_DEPTH, types=types)
    warn(warnings)


@graph.command()
@json_option
@repository_options
def backfill(settings: Settings, as_json: bool) -> None:
    """Materialise the edges that the records imply; runs by itself whenever a session ends."""
    done, warnings = build_records(settings).backfill()
    if as_json:
        _print(msgspec.to_builtins(done), warnings)
        return
    if done.added:
        click.echo(f"✔ materialized {done.added} new edge(s) — {done.edges} total")
    else:
        click.echo(f"✔ graph up to date — {done.edges} edge(s), nothing new to materialize")
    warn(warnings)


@graph.command()
@click.option("--max-age", type=_Age(), required=True, help="Drop edges last seen longer ago: 720h, 30d …")
@json_option
@repository_options
def prune(settings: Settings, max_age: timedelta, as_json: bool) -> None:
    """Drop old edges and rewrite the log; a backfill restores those whose records exist."""
    dropped, remaining, warnings = build_records(settings).prune(max_age)
    if as_json:
        _print({"dropped": dropped, "remaining": remaining}, warnings)
        return
    click.echo(f"✔ dropped {dropped} edge(s) — {remaining} remaining")
    warn(warnings)


@graph.command()
@click.option("--yes", is_flag=True, help="Do it.")
@json_option
@repository_options
def forget(settings: Settings, yes: bool, as_json: bool) -> None:
    """Delete the graph; the records stay, and a backfill rebuilds it."""
    if not yes:
        raise click.ClickException("this deletes the edge index; say --yes to do it")
    warnings = build_records(settings).forget()
    if as_json:
        _print({"deleted": True}, warnings)
        return
    click.echo("✔ edge index deleted — `smp graph backfill` rebuilds it")
    warn(warnings)


def _given(types: Sequence[str]) -> list[str] | None:
    return list(types) or None


def _edge(edge: RecordEdge) -> object:
    return msgspec.to_builtins(edge)


def _print(answer: Mapping[str, object], warnings: Sequence[str]) -> None:
    click.echo(msgspec.json.encode({**answer, "warnings": list(warnings) or None}).decode())


COMMANDS = (graph,)
