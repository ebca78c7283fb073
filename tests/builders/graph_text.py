"""Small graphs from a few lines of text.

file src/a.py hash=h1
function src/a.py#f complexity=3 exported doc="Adds." params="x:int,y" returns=str
src/a.py#f CALLS_STATIC src/b.py#g line=3
src/a.py#f CALLS_UNRESOLVED ? name=save reason=ambiguous candidates=src/b.py#g
"""

from __future__ import annotations

import shlex
from collections import defaultdict

from smp.adapters.memory import MemoryStore
from smp.domain.graph import (
    OWNER_STRUCTURE,
    Edge,
    EdgeKind,
    GraphDelta,
    GraphPart,
    Node,
    NodeKind,
    Owner,
    Parameter,
    Resolution,
    UnresolvedReason,
)
from smp.domain.ids import ContentHash, FilePath, NodeId, mint_node_id
from smp.domain.metadata import Metadata

KINDS = {kind.value.lower(): kind for kind in NodeKind}


def build_store(text: str) -> MemoryStore:
    """A store that holds the graph a text describes."""
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        first, second, *rest = shlex.split(line)
        if first in KINDS:
            nodes[second] = _node(KINDS[first], second, _options(rest))
        else:
            edges.append(_edge(nodes, first, EdgeKind(second), rest[0], _options(rest[1:])))
    store = MemoryStore()
    owned: defaultdict[Owner, list[Node]] = defaultdict(list)
    for node in nodes.values():
        owned[Owner(node.file) if node.file else OWNER_STRUCTURE].append(node)
    owner_of = {node.id: owner for owner, held in owned.items() for node in held}
    leaving: defaultdict[Owner, list[Edge]] = defaultdict(list)
    for edge in edges:
        if edge.kind is not EdgeKind.CALLS_RUNTIME:
            leaving[owner_of[edge.source]].append(edge)
    parts = tuple(
        GraphPart(owner=owner, nodes=tuple(held), edges=tuple(leaving[owner])) for owner, held in owned.items()
    )
    store.apply(GraphDelta(parts=parts))
    store.observe_calls(edge for edge in edges if edge.kind is EdgeKind.CALLS_RUNTIME)
    return store


def _options(words: list[str]) -> dict[str, str]:
    return {key: value for key, _, value in (word.partition("=") for word in words)}


def _node(kind: NodeKind, ref: str, options: dict[str, str]) -> Node:
    path, _, qualname = ref.partition("#")
    lies_in_file = kind not in (NodeKind.PACKAGE, NodeKind.REPOSITORY)
    parameters = tuple(
        Parameter(name=name, annotation=kind_ or None, receiver=name == "self")
        for name, _, kind_ in (one.partition(":") for one in filter(None, options.get("params", "").split(",")))
    )
    return Node(
        id=mint_node_id(kind.value.lower(), path, qualname or None),
        kind=kind,
        name=(qualname or path.rpartition("/")[2]).rpartition(".")[2] if qualname else path.rpartition("/")[2],
        qualname=qualname or path,
        file=FilePath(path) if lies_in_file else None,
        language="python",
        start_line=int(options.get("line", "1")),
        end_line=int(options.get("end", "0")),
        signature=options.get("sig"),
        parameters=parameters,
        return_type=options.get("returns"),
        complexity=int(options.get("complexity", "1" if kind in (NodeKind.FUNCTION, NodeKind.TEST) else "0")),
        exported="exported" in options,
        role=options.get("role", ""),
        source_hash=ContentHash(options.get("hash", "0" * 64)),
        lines=int(options.get("lines", "1")),
        metadata=Metadata(
            docstring=options.get("doc"),
            decorators=tuple(filter(None, options.get("decorators", "").split(","))),
            returns=options.get("returns"),
        ),
    )


def _edge(nodes: dict[str, Node], source: str, kind: EdgeKind, target: str, options: dict[str, str]) -> Edge:
    return Edge(
        kind=kind,
        source=nodes[source].id,
        target=None if target == "?" else nodes[target].id,
        line=int(options.get("line", "1")),
        lines=(int(options.get("line", "1")),),
        resolution=Resolution(options["resolution"]) if "resolution" in options else None,
        candidates=tuple(NodeId(nodes[ref].id) for ref in filter(None, options.get("candidates", "").split(","))),
        to_name=options.get("name"),
        reason=UnresolvedReason(options["reason"]) if "reason" in options else None,
        items=tuple(filter(None, options.get("items", "").split(","))),
        call_count=int(options.get("count", "0")),
        commit_sha=options.get("commit"),  # type: ignore[arg-type]  # NewType of str
    )
