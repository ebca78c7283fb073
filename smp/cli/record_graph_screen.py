"""What `smp graph` prints for people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from smp.domain.records import KnownAboutFile, RecordEdge
from smp.records.recorder import GraphStats
from smp.records.traversal import Walk

Around = Sequence[tuple[str, RecordEdge, bool]]


def heading(text: str) -> None:
    """A title with a line under it."""
    shown = f"▸ {printable(text)}"
    click.echo(f"\n{shown}\n{'─' * (len(shown) + 2)}")


def warn(warnings: Sequence[str]) -> None:
    """Warnings, on standard error."""
    for warning in warnings:
        click.echo(f"⚠ {printable(warning)}", err=True)


def printable(text: str) -> str:
    """Text from records as one line that cannot move the cursor or turn the writing around."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


def show_stats(found: GraphStats, max_edges: int) -> None:
    """The screen of `graph stats`."""
    heading("Graph")
    click.echo("  Typed edges over what sessions left on record: which touched which file,")
    click.echo("  what failed there, what resolved it. Derived data: the store can be deleted,")
    click.echo("  and `smp graph backfill` rebuilds every edge.\n")
    click.echo(f"  dir             {found.dir}")
    click.echo(f"  edges           {found.edges} of {max_edges} max")
    click.echo(f"  nodes           {found.nodes}")
    click.echo(f"  log size        {_size(found.log_bytes)}\n")
    if not found.edges:
        click.echo("  (no edges yet — the graph is derived from the records of sessions)")
        click.echo("  run `smp graph backfill` to materialize them, or end a session once")
    for type_, count in found.by_type.items():
        click.echo(f"  {type_:<15} {count}")


def show_known(known: KnownAboutFile) -> None:
    """The screen of `graph file`."""
    heading(f"Graph: {known.file}")
    click.echo(f"  episodes       {len(known.episodes)}")
    for episode in known.episodes:
        click.echo(f"      {printable(episode)}")
    click.echo(f"\n  failures       {len(known.failures)}")
    for failure in known.failures:
        click.echo(f"      {printable(failure):<24} seen {known.seen_counts[failure]}\u00d7")
        fixed = known.fixed_by.get(failure)
        if fixed:
            click.echo(f"        fixed by {printable(', '.join(fixed))}")
        else:
            click.echo("        ⚠ no rule has resolved this class")
    click.echo(f"\n  rules          {printable(', '.join(known.rules)) or '-'}")
    click.echo("  inspect one with `smp evolve rules`" if known.rules else "")


def show_neighbors(node: str, direction: str, types: Sequence[str], around: Around) -> None:
    """The screen of `graph neighbors`."""
    heading(f"Neighbors: {node}")
    _asked(direction, types)
    click.echo("")
    now = datetime.now(UTC)
    for far, edge, forward in around:
        click.echo(f"  {'→' if forward else '←'} {edge.type:<14} {printable(far)}  {_ago(edge.at, now)}")
        if edge.note:
            click.echo(f"      {printable(edge.note)}")
    click.echo(f"\n  {len(around)} edge(s), {len({far for far, _, _ in around})} distinct neighbor(s)")


def show_walk(node: str, found: Walk, *, direction: str, depth: int, max_depth: int, types: Sequence[str]) -> None:
    """The screen of `graph walk`, below its heading."""
    click.echo(f"  direction       {direction}")
    click.echo(f"  depth           {depth} (max {max_depth})")
    click.echo(f"  types           {', '.join(types) or '-'}\n")
    for path in found.paths:
        line = f"  {path.depth} {printable(node)}"
        for hop in path.hops:
            line += f" -{hop.type}-> " if hop.forward else f" <-{hop.type}- "
            line += printable(hop.target)
        click.echo(line)
    click.echo(f"\n  {len(found.paths)} node(s) reached{', more left out' if found.truncated else ''}")


def _asked(direction: str, types: Sequence[str]) -> None:
    click.echo(f"  direction       {direction}")
    click.echo(f"  types           {', '.join(types) or '-'}")


def _size(count: int) -> str:
    if count < 1024:
        return f"{count} B"
    return f"{count / 1024:.1f} KB" if count < 1024**2 else f"{count / 1024**2:.1f} MB"


def _ago(at: str, now: datetime) -> str:
    try:
        seconds = (now - datetime.fromisoformat(at)).total_seconds()
    except (ValueError, TypeError):
        return printable(at)
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{int(seconds // length)}{unit} ago"
    return "just now"
