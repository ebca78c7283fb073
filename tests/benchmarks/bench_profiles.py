"""Both profiles side by side on one graph of 50,000 nodes: load, walks, `locate`, ranks and communities, memory.

    python tests/benchmarks/bench_profiles.py [--calls N] [--json FILE]

The repository and its vectors are those of `bench_queries.py`; the servers are those of `infra/servers.py`, started on ports of
their own with an empty folder and stopped at the end. "Load" is an index from nothing, parsing and linking included, which
both profiles do alike. Times are wall times, since half of the work is another process's; CPU of the servers stands beside.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from smp.bootstrap import build_platform
from smp.domain.graph import Direction, EdgeKind, NodeKind, Scope
from smp.indexing.clustering import clusters_from_scratch
from smp.indexing.partition import MIN_SIZE, RESOLUTIONS
from smp.indexing.projection import RELATIONSHIPS, project
from smp.ports.graph_analytics import GraphAnalytics
from smp.query.locate import COMPOSITE, FUSION, WALKED_EDGES, Query, Stores, locate
from smp.services import Services
from smp.settings import Settings, load_settings
from tests.benchmarks.bench_queries import QUESTIONS, SEED, repository, with_vectors
from tests.builders.server_profile import started

Figures = dict[str, float]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--calls", type=int, default=60, help="of each kind of question")
    options.add_argument("--json", type=Path, help="write the figures here as well")
    chosen = options.parse_args()
    repo = repository()
    with (
        tempfile.TemporaryDirectory(prefix="smp-profiles-") as folder,
        started("neo4j", Path(folder)) as graph,
        started("weaviate", Path(folder)) as vectors,
    ):
        environment = graph.settings() | vectors.settings() | {"SMP_PROFILE": "server"}
        pids = [graph.pid(), vectors.pid()]
        embedded = load_settings(repo, data_dir=Path(folder) / "e", environ={})
        server = load_settings(repo, data_dir=Path(folder) / "s", environ=environment)
        figures = {
            "embedded": measured(embedded, [], chosen.calls),
            "server": measured(server, pids, chosen.calls),
        }
    report(figures)
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def measured(settings: Settings, servers: list[int], count: int) -> Figures:
    """Everything of one profile."""
    services = build_platform(settings)
    figures: Figures = {"load, s": timed(services.indexer.ensure_fresh) / 1000}
    figures["load, CPU s of the servers"] = sum(map(cpu, servers))
    figures["ranks and communities for the first time, s"] = timed(services.indexer.ensure_ranked) / 1000
    figures["vectors stored, s"] = timed(lambda: with_vectors(services)) / 1000
    before = sum(map(cpu, servers))
    for name, call in questions(services).items():
        times = [timed(partial(call, number)) for number in range(count)]
        figures[f"{name}, first ms"] = times[0]
        figures[f"{name}, p50 ms"] = statistics.median(times)
        figures[f"{name}, p99 ms"] = sorted(times)[min(count - 1, int(0.99 * count))]
    figures["questions, CPU s of the servers"] = sum(map(cpu, servers)) - before
    figures |= ranked(services, analytics(services))
    size = services.graph.size()
    figures |= {"nodes": size.nodes, "edges": size.edges, "unresolved calls": size.unresolved}
    figures["memory of this process, MB"] = resident(os.getpid())
    figures["memory of the servers, MB"] = sum(map(resident, servers))
    figures["disk, MB"] = sum(path.stat().st_size for path in settings.data_dir.rglob("*") if path.is_file()) / 1e6
    return figures


def questions(services: Services) -> dict[str, Callable[[int], object]]:
    """What is asked; the arguments are drawn by the number of the call."""
    drawn = random.Random(SEED)
    functions = [node.id for node in services.graph.scan(Scope(), (NodeKind.FUNCTION,))]
    drawn.shuffle(functions)
    stores = Stores(
        graph=services.graph,
        metadata=services.metadata,
        telemetry=services.telemetry,
        vectors=services.vectors,
        embedder=services.embedder,
    )
    partition = services.indexer.partition()

    def walk(number: int) -> object:
        seeds = [functions[(number * 3 + step) % len(functions)] for step in range(3)]
        return services.graph.walk(seeds, hops=2, kinds=WALKED_EDGES, direction=Direction.BOTH, limit=1_000)

    def found(number: int, ranking: str) -> object:
        asked = Query(text=QUESTIONS[number % len(QUESTIONS)], since="", ranking=ranking)
        return locate(stores, partition, asked)

    return {
        "node by key": lambda number: services.graph.nodes([functions[number % len(functions)]]),
        "walk, 2 hops from 3 seeds": walk,
        "locate, composite": lambda number: found(number, COMPOSITE),
        "locate, fusion": lambda number: found(number, FUSION),
    }


def analytics(services: Services) -> GraphAnalytics:
    """The engine of the profile."""
    from smp.adapters.analytics_igraph import IgraphAnalytics
    from smp.adapters.neo4j.analytics import GdsAnalytics
    from smp.adapters.neo4j.database import Neo4jDatabase
    from smp.adapters.repository_id import repository_id

    settings = services.settings
    if not settings.graph_in_neo4j:
        return IgraphAnalytics()
    return GdsAnalytics(Neo4jDatabase(settings.graph, repository_id(settings)))


def ranked(services: Services, engine: GraphAnalytics) -> Figures:
    """Ranks and communities by themselves, the graph being in memory."""
    kinds = (*RELATIONSHIPS, EdgeKind.DEFINES, EdgeKind.CONTAINS)
    nodes = list(services.graph.scan(Scope()))
    graph = project(nodes, services.graph.scan_edges(Scope(), kinds), relationship_types=RELATIONSHIPS)
    pairs = sorted({(source, target) for source, target, _ in graph.edges})
    return {
        "PageRank, ms": timed(lambda: engine.pagerank(len(graph.nodes), pairs)),
        "Louvain, two levels, ms": timed(
            lambda: clusters_from_scratch(graph, engine, resolutions=RESOLUTIONS, min_size=MIN_SIZE)
        ),
    }


def timed(call: Callable[[], object]) -> float:
    """Milliseconds."""
    begun = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - begun)


def cpu(pid: int) -> float:
    """CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """Megabytes of memory of a process."""
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1000


def report(figures: dict[str, Figures]) -> None:
    """The table."""
    print("| what | embedded | server |\n|---|---|---|")
    for name in figures["embedded"]:
        print(f"| {name} | {figures['embedded'][name]:,.1f} | {figures['server'][name]:,.1f} |")


if __name__ == "__main__":
    main()
