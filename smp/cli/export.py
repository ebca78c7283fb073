"""`smp export`: the whole graph as JSON lines, or the index as a signed snapshot."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from smp.cli.options import open_indexed, repository_options
from smp.domain.errors import Invalid
from smp.domain.graph import Edge, EdgeKind, Node, NodeKind, Scope
from smp.services import Services
from smp.settings import Settings

_CALLS = frozenset({EdgeKind.CALLS_STATIC, EdgeKind.CALLS_RUNTIME, EdgeKind.CALLS_UNRESOLVED})
_OUTSIDE_FILES = frozenset({NodeKind.REPOSITORY, NodeKind.PACKAGE, NodeKind.COMMUNITY})


class NodeLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`{"node": {…}}`, the node as protocol clients see it."""

    id: str
    type: str
    name: str
    qualname: str
    file: str | None
    start_line: int | None
    end_line: int | None
    language: str | None = None
    signature: str | None = None
    docstring: str | None = None
    complexity: int = 0
    exported: bool = False
    role: str = ""
    source_hash: str = ""


class EdgeLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`{"edge": {…}}`; `line` is never absent on a call, `to` only on an unresolved one."""

    type: str
    source: str = msgspec.field(name="from")
    to: str | None = None
    line: int | msgspec.UnsetType = msgspec.UNSET
    lines: tuple[int, ...] = ()
    resolution: str | None = None
    via: str | None = None
    resolved: bool | msgspec.UnsetType = msgspec.UNSET
    import_source: str | None = None
    to_name: str | None = None
    reason: str | None = None
    candidates: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    items: tuple[str, ...] = ()
    type_only: bool = False
    call_count: int = 0
    sandbox_id: str | None = None
    commit_sha: str | None = None
    first_seen: str | None = None
    weight: float = 0.0


def node_line(node: Node) -> NodeLine:
    """The exported form of a node."""
    outside = node.kind in _OUTSIDE_FILES
    return NodeLine(
        id=node.id,
        type=node.kind,
        name=node.name,
        qualname=node.qualname,
        file=node.file,
        start_line=None if outside else node.start_line,
        end_line=None if outside else node.end_line,
        language=node.language,
        signature=node.signature,
        docstring=node.metadata.docstring,
        complexity=node.complexity,
        exported=node.exported,
        role=node.role,
        source_hash=node.source_hash,
    )


def edge_line(edge: Edge) -> EdgeLine:
    """The exported form of an edge."""
    call = edge.kind in _CALLS
    return EdgeLine(
        type=edge.kind,
        source=edge.source,
        to=edge.target,
        line=edge.line if call or edge.line else msgspec.UNSET,
        lines=edge.lines,
        resolution=edge.resolution,
        via=edge.via,
        resolved=edge.kind is not EdgeKind.CALLS_UNRESOLVED if call else msgspec.UNSET,
        import_source=edge.import_source,
        to_name=edge.to_name,
        reason=edge.reason,
        candidates=edge.candidates if call else msgspec.UNSET,
        items=edge.items,
        type_only=edge.type_only,
        call_count=edge.call_count,
        sandbox_id=edge.sandbox_id,
        commit_sha=edge.commit_sha,
        first_seen=edge.first_seen,
        weight=edge.weight,
    )


@click.command()
@click.option("--format", "format_", type=click.Choice(["jsonl", "snapshot"]), default="jsonl", show_default=True)
@click.option("--nodes", is_flag=True, help="Nodes only (with --edges: both).")
@click.option("--edges", is_flag=True, help="Edges only (with --nodes: both).")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Snapshot: the file, or a folder for it.")
@click.option("--scope", default="full", show_default=True, help="Snapshot: full or package:PATH.")
@click.option("--key", default=None, help="Snapshot: the own key that signs.  [default: the only one]")
@repository_options
def export(
    settings: Settings,
    format_: str,
    nodes: bool,
    edges: bool,
    out: Path | None,
    scope: str,
    key: str | None,
) -> None:
    """Stream the graph to standard output, a JSON object a line; or write the index as a signed snapshot.

    \b
    Example: smp export --format jsonl --edges | grep CALLS_STATIC
             smp export --format snapshot --out /tmp/
    """
    services = open_indexed(settings)
    if format_ == "snapshot":
        click.echo(_snapshot(services, out, scope, key))
        return
    _stream(services, nodes=nodes, edges=edges)


def _snapshot(services: Services, out: Path | None, scope: str, key: str | None) -> Path:
    """The file that was written: a copy where one is wanted, else the one in the data directory."""
    kind, _, prefix = scope.partition(":")
    if (kind, bool(prefix)) not in {("full", False), ("package", True)}:
        raise Invalid(f"{scope!r} is no scope; full or package:<path>", path="scope")
    made = services.snapshots.export(Scope(kind=kind, prefix=prefix.rstrip("/")), key_id=key).manifest
    name = f"{made.snapshot_id}.tar.zst"
    if out is None:
        return services.settings.data_dir / "snapshots" / name
    target = out / name if out.is_dir() else out
    part = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with part.open("xb") as stream:
            services.snapshots.send(made.snapshot_id, stream)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target


def _stream(services: Services, *, nodes: bool, edges: bool) -> None:
    services.indexer.ensure_fresh()
    encoder, out = msgspec.json.Encoder(), sys.stdout.buffer
    both = nodes == edges
    if nodes or both:
        for node in services.graph.scan(Scope()):
            out.write(encoder.encode({"node": node_line(node)}) + b"\n")
    if edges or both:
        for edge in services.graph.scan_edges(Scope()):
            out.write(encoder.encode({"edge": edge_line(edge)}) + b"\n")
    out.flush()


COMMANDS = (export,)
