"""Both profiles side by side on one graph of 50,000 nodes: load, walks, `locate`, ranks and communities, memory.

    python tests/benchmarks/bench_profiles.py [--calls N] [--seconds S] [--write] [--anew]

The repository and its vectors are those of `bench_queries.py`; the servers are those of `infra/servers.py`, started on ports of
their own. "Load" is an index from nothing, parsing and linking included, which both profiles do alike. Times are wall times, since
half of the work is another process's; CPU of the servers stands beside. Each kind of question is asked for at most `--seconds`.

Graphs and figures are kept in the user's cache folder, a figure as soon as it is known: a run that was stopped goes on where it was
(`--anew` forgets them; so does another commit). `--write` copies the whole to `infra/scale/figures-profiles.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from platformdirs import user_cache_path

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
from tests.benchmarks.meters import bytes_below
from tests.builders.server_profile import started

Figures = dict[str, float]


ROOT = Path(__file__).resolve().parents[2]
PROFILES = ("embedded", "server")
FEW = 10
"""Calls that are made of each kind of question however long they take."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--calls", type=int, default=60, help="of each kind of question")
    options.add_argument("--seconds", type=float, default=20.0, help="for each kind of question")
    options.add_argument("--write", action="store_true", help="keep the figures beside the model of scale")
    options.add_argument("--anew", action="store_true", help="forget what an earlier run has measured")
    chosen = options.parse_args()
    folder = user_cache_path("smp") / "bench" / "profiles"
    kept = Kept(folder, anew=chosen.anew)
    repo = repository()
    with started("neo4j", folder) as graph, started("weaviate", folder) as vectors:
        environment = graph.settings() | vectors.settings() | {"SMP_PROFILE": "server"}
        pids = [graph.pid(), vectors.pid()]
        for profile in PROFILES:
            given, servers = (environment, pids) if profile == "server" else ({}, [])
            settings = load_settings(repo, data_dir=folder / profile, environ=given)
            homes = [folder / "neo4j", folder / "weaviate"] if servers else []
            measure(settings, servers, homes, Columns(kept, profile), chosen.calls, chosen.seconds)
    report(kept.figures)
    if chosen.write:
        path = ROOT / "infra" / "scale" / "figures-profiles.json"
        path.write_text(json.dumps(kept.figures, indent=1) + "\n", "utf-8")


class Kept:
    """Figures of both profiles in a file, for one commit."""

    def __init__(self, folder: Path, *, anew: bool) -> None:
        done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, check=True)
        self._path = folder / "figures.json"
        commit = done.stdout.decode().strip()
        known = json.loads(self._path.read_text()) if self._path.exists() else {}
        if anew or known.get("commit") != commit:
            shutil.rmtree(folder, ignore_errors=True)
            known = {"commit": commit}
        folder.mkdir(parents=True, exist_ok=True)
        self._known = known
        self.figures: dict[str, Figures] = {name: known.setdefault(name, {}) for name in PROFILES}

    def save(self) -> None:
        """Write them."""
        self._path.write_text(json.dumps(self._known, indent=1) + "\n", "utf-8")


class Columns:
    """One profile's figures: those that are known are not measured again."""

    def __init__(self, kept: Kept, profile: str) -> None:
        self._kept = kept
        self._profile = profile
        self._figures = kept.figures[profile]

    def has(self, *names: str) -> bool:
        """Whether all of these are known."""
        return all(name in self._figures for name in names)

    def put(self, figures: Figures) -> None:
        """Keep and show them."""
        self._figures.update(figures)
        self._kept.save()
        words = ", ".join(f"{name} {value:,.1f}" for name, value in figures.items())
        print(f"{time.strftime('%H:%M:%S')} {self._profile}: {words} (load {os.getloadavg()[0]:.1f})", flush=True)


def measure(
    settings: Settings, servers: list[int], homes: list[Path], columns: Columns, count: int, seconds: float
) -> None:
    """Everything of one profile that is not known yet."""
    services = build_platform(settings)
    if not columns.has("load, s"):
        before = sum(map(cpu, servers))
        load = timed(services.indexer.ensure_fresh) / 1000
        columns.put(
            {
                "load, s": load,
                "load, CPU s of the servers": sum(map(cpu, servers)) - before,
                "load, CPU s here": own_cpu(),
            }
        )
    services.indexer.ensure_fresh()
    if not columns.has("ranks and communities for the first time, s"):
        columns.put({"ranks and communities for the first time, s": timed(services.indexer.ensure_ranked) / 1000})
    if not columns.has("vectors stored, s"):
        columns.put({"vectors stored, s": timed(lambda: with_vectors(services)) / 1000})
    for name, call in questions(services).items():
        if not columns.has(f"{name}, p50 ms"):
            columns.put(asked(name, call, servers, count, seconds))
    if not columns.has("PageRank, ms"):
        columns.put(ranked(services, analytics(services)))
    if not columns.has("nodes"):
        size = services.graph.size()
        columns.put(
            {
                "nodes": size.nodes,
                "edges": size.edges,
                "unresolved calls": size.unresolved,
                "memory of this process, MB": resident(os.getpid()),
                "memory of the servers, MB": sum(map(resident, servers)),
                "disk of the data directory, MB": bytes_below(settings.data_dir) / 1e6,
                "disk of the servers, MB": sum(bytes_below(home) for home in homes) / 1e6,
            }
        )


def asked(name: str, call: Callable[[int], object], servers: list[int], count: int, seconds: float) -> Figures:
    """One kind of question."""
    before, own, until = sum(map(cpu, servers)), own_cpu(), time.monotonic() + seconds
    times: list[float] = []
    while len(times) < count and (len(times) < FEW or time.monotonic() < until):
        times.append(timed(partial(call, len(times))))
    return {
        f"{name}, first ms": times[0],
        f"{name}, p50 ms": statistics.median(times),
        f"{name}, p99 ms": sorted(times)[min(len(times) - 1, int(0.99 * len(times)))],
        f"{name}, CPU ms here": 1000 * (own_cpu() - own) / len(times),
        f"{name}, CPU ms of the servers": 1000 * (sum(map(cpu, servers)) - before) / len(times),
        f"{name}, calls": len(times),
    }


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


def own_cpu() -> float:
    """CPU seconds of this process and of its ended children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


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
        server = figures["server"].get(name)
        print(f"| {name} | {figures['embedded'][name]:,.1f} | {'' if server is None else f'{server:,.1f}'} |")


if __name__ == "__main__":
    main()
