"""How long questions take on a graph of 50,000 nodes: p50 and p99 of every query method, and of a command's start.

    python tests/benchmarks/bench_queries.py [--calls N] [--json FILE]

The repository is the Django source distribution of `bench_index.py`, indexed once into the user's cache folder. Vectors
are random unit vectors under the right hashes: what a search costs does not depend on what they mean, and embedding 45,000
nodes takes minutes. Methods go through the dispatcher, bytes in, bytes out, with the looks at the working tree that keep an
answer true; those "alone" are the question without them. Which nodes are asked about is drawn by a fixed seed. Times are CPU
time of the calling process and its children, since other programs make the wall time longer, which stands beside them, and
the ratio of the medians to that of one node looked up by its key in SQLite in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path

from smp.adapters.analytics_igraph import IgraphAnalytics
from smp.bootstrap import build_platform
from smp.domain.graph import Direction, EdgeKind, NodeKind, Scope
from smp.indexing.clustering import clusters_from_scratch
from smp.indexing.collector import set_aside
from smp.indexing.embed import AHEAD_KINDS, NODES, embedded_text, text_hash
from smp.indexing.partition import MIN_SIZE, RESOLUTIONS, detect, go_on
from smp.indexing.projection import RELATIONSHIPS, project
from smp.query.locate import COMPOSITE, FUSION, WALKED_EDGES, Query, Stores, locate
from smp.query.search import search
from smp.rpc.dispatcher import Dispatcher
from smp.rpc.methods import METHOD_GROUPS
from smp.rpc.registry import MethodRegistry
from smp.services import Services
from smp.settings import load_settings
from tests.benchmarks.bench_index import fetch, unpack

SEED = 4
QUESTIONS = (
    "render a template with a context",
    "validate an email address",
    "open a database connection and run a query",
    "middleware that adds security headers to a response",
    "serialize a model to json",
    "parse an accept-language header",
    "cache a view for some seconds",
    "hash a password with pbkdf2",
    "delete objects with their related objects",
    "find static files in apps",
)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--calls", type=int, default=100, help="of each method")
    options.add_argument("--json", type=Path, help="write the figures here as well")
    chosen = options.parse_args()
    repo = repository()
    services = prepared(repo)
    set_aside()
    size = services.graph.size()
    print(f"{size.nodes} nodes, {size.edges} edges, {services.vectors.count(NODES)} vectors")
    figures = {name: measured(call, chosen.calls) for name, call in calls(services).items()}
    figures["command: smp call smp/navigate"] = measured(lambda number: command(repo), 3)
    figures |= {name: measured(call, 3) for name, call in analytics(services).items()}
    report(figures)
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def repository() -> Path:
    """The unpacked distribution, made once."""
    folder = user_cache_path("smp") / "bench" / "queries"
    if not folder.exists():
        fresh = folder.with_suffix(".new")
        unpack(fetch(), fresh)
        (made,) = (path for path in fresh.iterdir() if path.is_dir())
        who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
        subprocess.run(["git", "-C", str(made), "add", "-A"], check=True)
        subprocess.run(["git", "-C", str(made), *who, "commit", "-qm", "Django"], check=True)
        fresh.rename(folder)
    (repo,) = (path for path in folder.iterdir() if path.is_dir())
    return repo


def prepared(repo: Path) -> Services:
    """Indexed, ranked, and with a vector for each node that is to have one."""
    services = build_platform(load_settings(repo, environ={}))
    services.indexer.ensure_fresh()
    services.indexer.ensure_ranked()
    with_vectors(services)
    return services


def with_vectors(services: Services) -> None:
    """A random unit vector for each node that is to have one, under the right hash."""
    known = services.vectors.hashes(NODES)
    wanted = list(services.graph.scan(Scope(), AHEAD_KINDS))
    texts = {node.id: text_hash(embedded_text(node), services.embedder.model) for node in wanted}
    missing = tuple(key for key, digest in texts.items() if known.get(key) != digest)
    if missing:
        rows = np.random.default_rng(SEED).standard_normal(
            (len(missing), services.embedder.dimension), dtype=np.float32
        )
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        services.vectors.upsert(NODES, missing, rows, tuple(texts[key] for key in missing))
    services.indexer.ensure_embedded()


def calls(services: Services) -> dict[str, Callable[[int], object]]:
    """What is measured: each takes the number of the call and picks its arguments by it."""
    dispatcher = Dispatcher(MethodRegistry(METHOD_GROUPS), services)
    drawn = random.Random(SEED)
    functions = [node.id for node in services.graph.scan(Scope(), (NodeKind.FUNCTION,))]
    files = [node.qualname for node in services.graph.scan(Scope(), (NodeKind.FILE,)) if node.language]
    drawn.shuffle(functions)
    drawn.shuffle(files)

    def rpc(method: str, params: Callable[[int], dict[str, Any]]) -> Callable[[int], object]:
        def call(number: int) -> object:
            request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params(number)}
            answer = dispatcher.handle_bytes(json.dumps(request).encode())
            if answer is None or b'"error":' in answer[:200]:
                raise SystemExit(f"{method}: {answer!r}")
            return answer

        return call

    def question(number: int) -> str:
        return QUESTIONS[number % len(QUESTIONS)]

    def function(number: int) -> str:
        return functions[number % len(functions)]

    def walk(number: int) -> object:
        seeds = [functions[(number * 3 + step) % len(functions)] for step in range(3)]
        return services.graph.walk(seeds, hops=2, kinds=WALKED_EDGES, direction=Direction.BOTH, limit=1_000)

    stores = Stores(
        graph=services.graph,
        metadata=services.metadata,
        telemetry=services.telemetry,
        vectors=services.vectors,
        embedder=services.embedder,
    )
    partition = services.indexer.partition()

    def found(number: int, ranking: str) -> object:
        return locate(stores, partition, Query(text=question(number), since="", ranking=ranking))

    def searched(number: int) -> object:
        asked = question(number)
        return search(services.metadata, asked, match="any", node_types=(), tags=(), scope=Scope(), limit=10)

    return {
        "node by key": lambda number: services.graph.nodes([functions[number % len(functions)]]),
        "edges of a node": lambda number: services.graph.edges(
            [functions[number % len(functions)]], kinds=(EdgeKind.CALLS_STATIC,)
        ),
        "walk, 2 hops from 3 seeds": walk,
        "still fresh": lambda number: services.indexer.ensure_fresh(),
        "search for any word, alone": searched,
        "the question embedded": lambda number: services.embedder.embed([question(number)]),
        "locate, composite, alone": lambda number: found(number, COMPOSITE),
        "locate, fusion, alone": lambda number: found(number, FUSION),
        "smp/navigate": rpc("smp/navigate", lambda n: {"query": function(n), "include_relationships": True}),
        "smp/trace": rpc("smp/trace", lambda n: {"start": function(n), "relationship": "CALLS", "depth": 3}),
        "smp/context": rpc("smp/context", lambda n: {"file_path": files[n % len(files)]}),
        "smp/impact": rpc("smp/impact", lambda n: {"entity": function(n), "change_type": "signature_change"}),
        "smp/search, all words": rpc("smp/search", lambda n: {"query": question(n).split()[-1]}),
        "smp/search, any word": rpc("smp/search", lambda n: {"query": question(n), "match": "any"}),
        "smp/locate, composite": rpc("smp/locate", lambda n: {"query": question(n)}),
        "smp/locate, fusion": rpc("smp/locate", lambda n: {"query": question(n), "ranking": "fusion"}),
    }


def command(repo: Path) -> object:
    """A whole command, as a user runs it: with its modules compiled, as an installed program has them."""
    executable = str(Path(sys.executable).with_name("smp"))
    asked = json.dumps({"query": "django/utils/text.py#slugify"})
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    compiled = {"PYTHONPYCACHEPREFIX": str(user_cache_path("smp") / "bench" / "compiled")}
    return subprocess.run(
        [executable, "call", "smp/navigate", asked, "--repo", str(repo)],
        check=True,
        capture_output=True,
        env=environment | compiled,
    )


def analytics(services: Services) -> dict[str, Callable[[int], object]]:
    """What ranks and communities cost by themselves, the graph being in memory."""
    engine = IgraphAnalytics()
    nodes = list(services.graph.scan(Scope()))
    kinds = (*RELATIONSHIPS, EdgeKind.DEFINES, EdgeKind.CONTAINS)
    graph = project(nodes, services.graph.scan_edges(Scope(), kinds), relationship_types=RELATIONSHIPS)
    pairs = sorted({(source, target) for source, target, _ in graph.edges})
    known = detect(graph, engine)
    return {
        "PageRank": lambda number: engine.pagerank(len(graph.nodes), pairs),
        "Louvain, two levels": lambda number: clusters_from_scratch(
            graph, engine, resolutions=RESOLUTIONS, min_size=MIN_SIZE
        ),
        "communities with names and counts": lambda number: detect(graph, engine),
        "communities after an edit": lambda number: go_on(graph, engine, known),
    }


def measured(call: Callable[[int], object], count: int) -> dict[str, float]:
    """Milliseconds: median and 99th percentile of the CPU time of this process and its children, and of the wall."""
    for number in range(min(3, count - 1)):
        call(number)
    walls: list[float] = []
    processor: list[float] = []
    for number in range(count):
        before, started = cpu(), time.perf_counter()
        call(number)
        walls.append(1000 * (time.perf_counter() - started))
        processor.append(1000 * (cpu() - before))
    last = min(count - 1, int(0.99 * count))
    return {
        "cpu_p50_ms": statistics.median(processor),
        "cpu_p99_ms": sorted(processor)[last],
        "p50_ms": statistics.median(walls),
        "p99_ms": sorted(walls)[last],
    }


def cpu() -> float:
    """CPU seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def report(figures: dict[str, dict[str, float]]) -> None:
    """The table."""
    base = figures["node by key"]["cpu_p50_ms"]
    print("| what | CPU p50 ms | CPU p99 ms | wall p50 ms | x node by key |\n|---|---|---|---|---|")
    for name, one in figures.items():
        print(
            f"| {name} | {one['cpu_p50_ms']:.2f} | {one['cpu_p99_ms']:.2f} | {one['p50_ms']:.2f} "
            f"| {one['cpu_p50_ms'] / base:.0f} |"
        )


if __name__ == "__main__":
    main()
