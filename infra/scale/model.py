"""What a cluster of SMP needs, calculated from the benches' own figures, and what runs out first.

    python infra/scale/model.py           print the tables of docs/scale.md
    python infra/scale/model.py --write   put them, and the simulation's, into docs/scale.md
    python infra/scale/model.py --check   exit 1 when docs/scale.md has others

Source of the figures: `tests/benchmarks/bench_swarm.py --write` (a session: CPU by process, history, bytes) and
`tests/benchmarks/bench_profiles.py --write` (an index and a question on 50,000 nodes: CPU, memory, bytes). Everything that is assumed and not
measured is a constant here: the loads, and the machines. The model is linear: demand a unit times units. It knows no waiting; what
queues do to a single swarm is `simulation.py`'s to say.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from infra.scale import simulation  # noqa: E402 - run as a program, the root is not on the path

HERE = ROOT / "infra" / "scale"
PAGE = ROOT / "docs" / "scale.md"
DAY_S = 86_400
GB = 1e9

HOST_CORES, HOST_MEMORY_GB, HOST_DISK_GB = 32, 128, 4_000
"""The machine that is counted in."""
PEAK = 4.0
"""The busiest minute over the day's mean."""
FULL = 0.6
"""How much of a machine's CPU may be planned for."""
RETENTION_DAYS = 3
"""How long Temporal keeps ended histories: Temporal's own default is a day for a dev server, three are enough to look into a failure."""
IN_USE = 0.1
"""Share of the repositories whose graphs are asked at the same time, and so are to be in memory."""
SESSIONS_KEPT_DAYS = 30
"""How long sessions with their audit and artifacts stay in the store."""

Figures = Mapping[str, Any]


@dataclass(frozen=True)
class Load:
    """A day of a site.

    Attributes:
        repositories: Indexed, all of 50,000 nodes.
        sessions, queries: A day, over all repositories.
        anew: Repositories that are indexed from nothing in a day; edits cost next to nothing beside that.
    """

    name: str
    repositories: int
    sessions: int
    queries: int
    anew: int


LOADS = (
    Load("100 repositories", 100, 2_000, 200_000, 5),
    Load("10,000 repositories", 10_000, 200_000, 20_000_000, 500),
    Load("a million sessions a day", 10_000, 1_000_000, 100_000_000, 500),
)


@dataclass(frozen=True)
class Unit:
    """What one session, one question and one indexed repository ask of each part.

    Attributes:
        origin: Where the figures are from, in words.
        session_cpu, query_cpu, index_cpu: CPU seconds by part.
        history_bytes, events: A session's history in Temporal.
        session_bytes: What a session leaves in the store.
        graph_bytes: An indexed repository on disk: graph, vectors, caches.
        worker_memory: Bytes of a worker process at its peak.
    """

    origin: str
    session_cpu: Mapping[str, float]
    query_cpu: Mapping[str, float]
    index_cpu: Mapping[str, float]
    history_bytes: float
    events: float
    session_bytes: float
    graph_bytes: float
    worker_memory: float


def unit_of(swarm: Figures, profiles: Figures) -> Unit:
    """From the largest swarm, and from the server profile's column (the embedded one's where that has not been measured)."""
    run = max(swarm["runs"], key=lambda one: one["sessions"])
    whose = "server" if "nodes" in profiles["server"] else "embedded"
    column = profiles[whose]
    cpu = run["cpu_s_per_session"]
    session = {"worker": cpu["worker"], "boxes": cpu["boxes"], "temporal": cpu["temporal"]}
    session["stores"] = cpu.get("neo4j", 0.0) + cpu.get("weaviate", 0.0)
    return Unit(
        origin=f"Sessions: {swarm['profile']} profile, {swarm['commit']}. Index and questions: {whose} profile.",
        session_cpu=session,
        query_cpu={
            "serve": column["locate, fusion, CPU ms here"] / 1000,
            "stores": column["locate, fusion, CPU ms of the servers"] / 1000,
        },
        index_cpu={"worker": column["load, CPU s here"], "stores": column["load, CPU s of the servers"]},
        history_bytes=run["history_bytes_per_session"] + run["swarm_bytes"] / run["sessions"],
        events=run["events_per_session"] + run["swarm_events"] / run["sessions"],
        session_bytes=run["bytes_per_session"]["store"],
        graph_bytes=1e6 * profiles["embedded"]["disk of the data directory, MB"],
        worker_memory=1e6 * run["memory_peak_mb"]["worker"],
    )


@dataclass(frozen=True)
class Need:
    """What a load asks for. Cores are at the peak, with room (`FULL`); processes are whole."""

    load: Load
    workers: int
    box_cores: float
    temporal_cores: float
    store_cores: float
    serve_cores: float
    events_per_s: float
    history_gb: float
    sessions_gb: float
    graph_gb: float
    worker_memory_gb: float
    graph_memory_gb: float

    @property
    def hosts(self) -> int:
        """Machines for workers and boxes."""
        return math.ceil((self.workers + self.box_cores) / HOST_CORES)


def need(load: Load, unit: Unit) -> Need:
    """What a load asks for."""
    per_s = PEAK / FULL / DAY_S

    def cores(part: str) -> float:
        session = unit.session_cpu.get(part, 0.0) * load.sessions
        query = unit.query_cpu.get(part, 0.0) * load.queries
        index = unit.index_cpu.get(part, 0.0) * load.anew
        return (session + query + index) * per_s

    # A worker computes on one core: its interpreter has one lock.
    workers = max(1, math.ceil(cores("worker")))
    return Need(
        load=load,
        workers=workers,
        box_cores=cores("boxes"),
        temporal_cores=cores("temporal"),
        store_cores=cores("stores"),
        serve_cores=cores("serve"),
        events_per_s=unit.events * load.sessions * PEAK / DAY_S,
        history_gb=unit.history_bytes * load.sessions * RETENTION_DAYS / GB,
        sessions_gb=unit.session_bytes * load.sessions * SESSIONS_KEPT_DAYS / GB,
        graph_gb=unit.graph_bytes * load.repositories / GB,
        worker_memory_gb=unit.worker_memory * workers / GB,
        graph_memory_gb=unit.graph_bytes * load.repositories * IN_USE / GB,
    )


@dataclass(frozen=True)
class Limit:
    """A part that one machine holds up to some load: how often a load asks for that machine, and what moves it."""

    part: str
    times: float
    moves: str


def limits(one: Need) -> list[Limit]:
    """What runs out, the worst first. `times` over 1: one machine, or one process, is not enough."""
    found = [
        Limit(
            "a worker's interpreter",
            float(one.workers),
            "more `smp worker` processes on the same queues, a host's boxes with it; task-queue partitions once they are dozens",
        ),
        Limit(
            "cores for boxes",
            one.box_cores / HOST_CORES,
            "more hosts, each with its own `…-sandbox@<host>` queue",
        ),
        Limit(
            "Temporal's CPU",
            one.temporal_cores / HOST_CORES,
            "a Temporal cluster instead of the dev server: `numHistoryShards` (fixed at creation), history and matching hosts; "
            "`matching.numTaskqueueReadPartitions`/`WritePartitions` above 4 for the session queue; a namespace a team",
        ),
        Limit(
            "Temporal's disk", one.history_gb / HOST_DISK_GB, "the namespace's retention; archival; more database nodes"
        ),
        Limit(
            "CPU of Neo4j and Weaviate",
            one.store_cores / HOST_CORES,
            "Neo4j read replicas for questions, one database a group of repositories for writes; Weaviate tenants spread over nodes, "
            "replication factor for reads",
        ),
        Limit(
            "the graph store's disk",
            (one.graph_gb + one.sessions_gb) / HOST_DISK_GB,
            "fewer days of ended sessions (`smp` keeps them until they are removed); databases on several Neo4j servers; "
            "Weaviate tenants of resting repositories `INACTIVE` or `OFFLOADED`",
        ),
        Limit(
            "memory for graphs in use",
            one.graph_memory_gb / HOST_MEMORY_GB,
            "Neo4j's page cache on more servers, a database each; Weaviate's `flat` index stays on disk",
        ),
        Limit(
            "cores for `smp serve`",
            one.serve_cores / HOST_CORES,
            "more `smp serve` processes: they keep no state of their own",
        ),
    ]
    return sorted(found, key=lambda limit: -limit.times)


def units_table(unit: Unit) -> str:
    """What one of each costs."""
    rows = [
        f"{unit.origin}\n",
        "| | worker or serve, CPU s | boxes, CPU s | Temporal, CPU s | stores, CPU s | disk |",
        "|---|---|---|---|---|---|",
        f"| a session | {unit.session_cpu['worker']:.2f} | {unit.session_cpu['boxes']:.2f} | {unit.session_cpu['temporal']:.2f} "
        f"| {unit.session_cpu['stores']:.2f} | history {unit.history_bytes / 1000:.0f} KB ({unit.events:.0f} events), "
        f"store {unit.session_bytes / 1000:.0f} KB |",
        f"| an index of 50,000 nodes | {unit.index_cpu['worker']:.0f} | | | {unit.index_cpu['stores']:.0f} "
        f"| {unit.graph_bytes / 1e6:.0f} MB |",
        f"| a question (`smp/locate`, fusion) | {unit.query_cpu['serve']:.3f} | | | {unit.query_cpu['stores']:.3f} | |",
    ]
    return "\n".join(rows)


def needs_table(unit: Unit) -> str:
    """What each load asks for."""
    found = [need(load, unit) for load in LOADS]
    rows: list[tuple[str, list[str]]] = [
        ("sessions, questions a day", [f"{one.load.sessions:,}, {one.load.queries:,}" for one in found]),
        ("worker processes", [f"{one.workers:,}" for one in found]),
        ("cores for boxes", [f"{one.box_cores:,.1f}" for one in found]),
        (f"hosts of {HOST_CORES} cores for both", [f"{one.hosts:,}" for one in found]),
        ("cores of Temporal", [f"{one.temporal_cores:,.1f}" for one in found]),
        ("history events a second at the peak", [f"{one.events_per_s:,.0f}" for one in found]),
        (f"GB of histories ({RETENTION_DAYS} days)", [f"{one.history_gb:,.1f}" for one in found]),
        ("cores of Neo4j and Weaviate", [f"{one.store_cores:,.1f}" for one in found]),
        ("GB of graphs and vectors", [f"{one.graph_gb:,.0f}" for one in found]),
        (f"GB of sessions ({SESSIONS_KEPT_DAYS} days)", [f"{one.sessions_gb:,.0f}" for one in found]),
        ("GB of memory of workers", [f"{one.worker_memory_gb:,.1f}" for one in found]),
        (f"GB of memory for graphs in use ({IN_USE:.0%})", [f"{one.graph_memory_gb:,.0f}" for one in found]),
        ("cores for `smp serve`", [f"{one.serve_cores:,.1f}" for one in found]),
    ]
    head = "| | " + " | ".join(load.name for load in LOADS) + " |"
    return "\n".join(
        [head, "|---|" + "---|" * len(LOADS), *(f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows)]
    )


def limits_table(unit: Unit) -> str:
    """What runs out first, by load."""
    rows = ["| load | runs out first (times one machine or process) | what moves it |", "|---|---|---|"]
    for load in LOADS:
        worst = limits(need(load, unit))
        short = [limit for limit in worst if limit.times > FULL] or worst[:1]
        rows += [f"| {load.name} | {limit.part} ({limit.times:,.1f}) | {limit.moves} |" for limit in short]
    return "\n".join(rows)


def swarm_table(figures: Figures) -> str:
    """The runs of `bench_swarm.py` side by side."""
    runs = figures["runs"]
    rows: list[tuple[str, list[str]]] = [("wall, s", [f"{run['wall_s']:.0f}" for run in runs])]
    rows.append(("cores busy with other work", [f"{run['others_cores']:.2f}" for run in runs]))
    rows += [
        (f"CPU s a session: {name}", [f"{run['cpu_s_per_session'][name]:.2f}" for run in runs])
        for name in runs[0]["cpu_s_per_session"]
    ]
    rows.append(("CPU s a session: all", [f"{run['cpu_s_per_session_sum']:.2f}" for run in runs]))
    rows.append(("merge order and conflicts, s", [f"{run['merge_s']:.2f}" for run in runs]))
    rows.append(
        (
            "history events a session, of the swarm",
            [f"{run['events_per_session']:.0f}, {run['swarm_events']}" for run in runs],
        )
    )
    rows.append(("history KB a session", [f"{run['history_bytes_per_session'] / 1000:.0f}" for run in runs]))
    rows += [
        (f"KB on disk a session: {name}", [f"{run['bytes_per_session'][name] / 1000:.0f}" for run in runs])
        for name in runs[0]["bytes_per_session"]
    ]
    rows += [
        (f"peak memory, MB: {name}", [f"{run['memory_peak_mb'][name]}" for run in runs])
        for name in runs[0]["memory_peak_mb"]
    ]
    head = "| sessions, at once | " + " | ".join(f"{run['sessions']}, {run['limit']}" for run in runs) + " |"
    return "\n".join(
        [head, "|---|" + "---|" * len(runs), *(f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows)]
    )


def tables() -> dict[str, str]:
    """Every table of the page, by the name of its place."""
    swarms = {
        path.stem.removeprefix("figures-"): json.loads(path.read_text("utf-8")) for path in HERE.glob("figures-*.json")
    }
    profiles = swarms.pop("profiles")
    unit = unit_of(swarms.get("server", swarms["embedded"]), profiles)
    found = {"units": units_table(unit), "needs": needs_table(unit), "limits": limits_table(unit)}
    for name, figures in sorted(swarms.items()):
        found[f"swarm-{name}"] = swarm_table(figures)
        found[f"simulation-{name}"] = simulation.table(figures)
    return found


def _around(text: str) -> Callable[[re.Match[str]], str]:
    return lambda match: f"{match[1]}{text}\n\n{match[2]}"


def written(page: str, found: Mapping[str, str]) -> str:
    """The page with its tables: each stands between `<!-- table NAME -->` and `<!-- end -->`.

    Raises:
        SystemExit: A table has no place on the page.
    """
    for name, text in found.items():
        place = re.compile(rf"(<!-- table {re.escape(name)} -->\n\n).*?(<!-- end -->)", re.DOTALL)
        if not place.search(page):
            raise SystemExit(f"docs/scale.md has no place for table {name}: <!-- table {name} --> … <!-- end -->")
        page = place.sub(_around(text), page)
    return page


def main() -> int:
    """See the module."""
    found = tables()
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(written(PAGE.read_text("utf-8"), found), "utf-8")
    elif sys.argv[1:] == ["--check"]:
        return int(written(PAGE.read_text("utf-8"), found) != PAGE.read_text("utf-8"))
    else:
        print("\n\n".join(f"{name}\n\n{text}" for name, text in found.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
