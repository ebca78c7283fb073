"""A swarm of sessions on one repository, measured: wall, CPU by process, steps, history and store bytes a session.

    python tests/benchmarks/bench_swarm.py [--profile embedded|server] [--sizes 10,30,100] [--limit 8] [--write]

Each session changes another function of one file and its test, in a box of its own, through tests, mutants and branch, by the
product's own processes. Every size runs on a new repository with new servers, after one session that warms them up. The first size
runs twice: one session at a time, for the CPU of each step, and `--limit` at once. `--write` keeps the figures in
`infra/scale/figures-<profile>.json`, which `infra/scale/simulation.py` and `infra/scale/model.py` calculate with.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from temporalio.client import Client

from smp.adapters.runs_temporal import connect
from smp.bootstrap import build_platform
from smp.cli import devserver
from smp.domain.runs import workflow_id_of
from smp.domain.swarms import SwarmOutcome, swarm_workflow_id
from tests.benchmarks.meters import Meter, bytes_below, memory_peak_mb
from tests.builders.server_profile import TestServer, started
from tests.builders.shop_repository import Shop, served

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = 104
"""The same for every size, so that a session costs the same; more than the largest swarm."""
FIRST_SPARE = 100
TEST_COMMAND = "python -m pytest -q -p no:cacheprovider"

Figures = dict[str, Any]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--profile", choices=("embedded", "server"), default="embedded")
    options.add_argument("--sizes", default="10,30,100", help="sessions of each run, at most 100")
    options.add_argument("--limit", type=int, default=8, help="sessions at once")
    options.add_argument("--write", action="store_true", help="keep the figures beside the model")
    chosen = options.parse_args()
    sizes = [int(size) for size in chosen.sizes.split(",")]
    runs = []
    for size, limit in [(sizes[0], 1), *((size, chosen.limit) for size in sizes)]:
        runs.append(measured(chosen.profile, size, limit))
        print(json.dumps({k: v for k, v in runs[-1].items() if k != "steps"}), flush=True)
    figures = {"profile": chosen.profile, "cores": os.cpu_count(), "commit": commit(), "runs": runs}
    report(figures)
    if chosen.write:
        path = ROOT / "infra" / "scale" / f"figures-{chosen.profile}.json"
        path.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
        print(f"written: {path.relative_to(ROOT)}")


def commit() -> str:
    """What was measured."""
    done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, check=True)
    return done.stdout.decode().strip()


# The repository and its tasks.


def function(number: int, divisor: int) -> str:
    """A function whose right divisor is 100."""
    return (
        f"def rate_{number:03}(cents: int, percent: int) -> int:\n"
        f'    """What rate {number} leaves of an amount."""\n'
        f"    return cents - cents * percent // {divisor}\n"
    )


def test_of(number: int, *, fixed: bool) -> str:
    """Its test, which misses the fault unless it is the fixed one."""
    more = f"    assert rates.rate_{number:03}(1999, 10) == 1800\n" if fixed else ""
    return f"def test_rate_{number:03}() -> None:\n    assert rates.rate_{number:03}(500, 0) == 500\n{more}"


def sources(fixed: int | None = None) -> dict[str, str]:
    """The module and its tests; one function may be right."""
    functions = [function(number, 100 if number == fixed else 10) for number in range(FUNCTIONS)]
    tests = [test_of(number, fixed=number == fixed) for number in range(FUNCTIONS)]
    return {
        "shop/rates.py": "\n\n".join(functions),
        "tests/test_rates.py": "from shop import rates\n\n\n" + "\n\n".join(tests),
    }


def make_repository(root: Path) -> None:
    """One commit, pushed to a bare `origin` beside it."""
    fixed_files = {
        "smp.toml": '[sandbox]\nrequirements = ["pytest"]\n',
        ".gitignore": "__pycache__/\n.pytest_cache/\n",
        "shop/__init__.py": "",
    }
    for name, content in (fixed_files | sources()).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "."],
        [*identity, "commit", "--quiet", "--message", "first"],
        ["clone", "--quiet", "--bare", ".", str(root.parent / "origin.git")],
        ["remote", "add", "origin", str(root.parent / "origin.git")],
    ):
        subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


def swarm(shop: Shop, folder: Path, numbers: Sequence[int], limit: int) -> SwarmOutcome:
    """Run a session for each function."""
    tasks = [
        {
            "task": f"rate {number} takes a percentage",
            "edits": [{"file": file, "content": content} for file, content in sources(number).items()],
        }
        for number in numbers
    ]
    file = folder / "tasks.json"
    file.write_text(json.dumps({"defaults": {"test_cmd": TEST_COMMAND}, "tasks": tasks}))
    process = shop.smp("swarm", "run", str(file), "--limit", str(limit), "--json")
    said, complaints = process.communicate(timeout=7200)
    outcome = msgspec.json.decode(said, type=SwarmOutcome) if said else None
    if outcome is None or outcome.status != "completed":
        raise SystemExit(f"the swarm did not complete: {said[-2000:]}\n{complaints[-2000:]}")
    return outcome


# A run.


@contextlib.contextmanager
def served_shop(profile: str, folder: Path) -> Iterator[tuple[Shop, dict[str, TestServer]]]:
    """The repository with its servers."""
    root = folder / "shop"
    root.mkdir()
    make_repository(root)
    with contextlib.ExitStack() as stack:
        servers = {}
        environment: dict[str, str] = {}
        if profile == "server":
            servers = {name: stack.enter_context(started(name, folder)) for name in ("neo4j", "weaviate")}
            environment = {"SMP_PROFILE": "server"}
            for server in servers.values():
                environment |= server.settings()
        shop = stack.enter_context(served(root, environment))
        yield shop, servers


def measured(profile: str, size: int, limit: int) -> Figures:
    """Everything of one run."""
    with (
        tempfile.TemporaryDirectory(prefix="smp-swarm-") as name,
        served_shop(profile, Path(name)) as (shop, servers),
        shop.worker() as worker,
    ):
        folder = Path(name)
        build_platform(shop.settings).indexer.refresh()
        temporal = devserver.status(shop.settings).pid
        assert temporal is not None
        swarm(shop, folder, [FIRST_SPARE], limit)
        processes = {"worker": worker.pid, "temporal": temporal, "bench": os.getpid()}
        processes |= {name: server.pid() for name, server in servers.items()}
        meter = Meter(processes, {"worker": "boxes", "bench": "command"})
        before = sizes_of(shop, servers, folder)
        load = os.getloadavg()[0]
        with meter.running():
            outcome = swarm(shop, folder, range(size), limit)
        after = sizes_of(shop, servers, folder)
        runs = asyncio.run(histories(shop, outcome))
        figures = told(meter, runs, size)
        figures |= {
            "sessions": size,
            "limit": limit,
            "load_before": round(load, 2),
            "load_after": round(os.getloadavg()[0], 2),
            "bytes_per_session": {name: round((after[name] - before[name]) / size) for name in after},
            "memory_peak_mb": {name: round(memory_peak_mb(pid)) for name, pid in processes.items() if name != "bench"},
        }
    return figures


def sizes_of(shop: Shop, servers: Mapping[str, TestServer], folder: Path) -> dict[str, int]:
    """Bytes on disk, by whose they are."""
    data = shop.settings.data_dir
    found = {"temporal": bytes_below(data / "temporal")}
    found["store"] = bytes_below(data) - found["temporal"] - bytes_below(data / "boxes")
    found["origin"] = bytes_below(folder / "origin.git")
    return found | {name: bytes_below(folder / name) for name in servers}


class Step(msgspec.Struct, frozen=True):
    """An activity of a history; seconds since the epoch."""

    name: str
    scheduled: float
    started: float
    ended: float


class Run(msgspec.Struct, frozen=True):
    """What a history says."""

    begun: float
    ended: float
    events: int
    size: int
    steps: tuple[Step, ...]


async def histories(shop: Shop, outcome: SwarmOutcome) -> list[Run]:
    """Of the swarm, then of its sessions."""
    client = await connect(shop.settings.temporal)
    ids = [swarm_workflow_id(outcome.swarm_id), *(workflow_id_of(row.session_id) for row in outcome.rows)]
    return [await history(client, one) for one in ids]


async def history(client: Client, workflow_id: str) -> Run:
    """Of one run."""
    handle = client.get_workflow_handle(workflow_id)
    described = await handle.describe()
    info = described.raw_description.workflow_execution_info
    scheduled: dict[int, tuple[str, float]] = {}
    begun: dict[int, float] = {}
    steps = []
    async for event in handle.fetch_history_events():
        at = seconds(event.event_time.ToDatetime())
        if event.HasField("activity_task_scheduled_event_attributes"):
            name = event.activity_task_scheduled_event_attributes.activity_type.name
            scheduled[event.event_id] = (name, at)
        elif event.HasField("activity_task_started_event_attributes"):
            begun[event.activity_task_started_event_attributes.scheduled_event_id] = at
        elif event.HasField("activity_task_completed_event_attributes"):
            of = event.activity_task_completed_event_attributes.scheduled_event_id
            steps.append(Step(*scheduled[of], begun[of], at))
    assert described.close_time is not None
    return Run(
        begun=described.start_time.timestamp(),
        ended=described.close_time.timestamp(),
        events=info.history_length,
        size=info.history_size_bytes,
        steps=tuple(steps),
    )


def seconds(naive_utc: datetime) -> float:
    """Since the epoch."""
    return naive_utc.replace(tzinfo=UTC).timestamp()


def told(meter: Meter, runs: list[Run], size: int) -> Figures:
    """Figures of the meter and of the histories."""
    parent, *sessions = runs
    cpu = meter.between(parent.begun, parent.ended)
    bench = cpu.pop("bench")
    # worker and Temporal are children of this process as well
    cpu["command"] -= cpu["worker"] + cpu["boxes"] + cpu["temporal"]
    own = sum(cpu.values()) + bench
    merge = next((step for step in parent.steps if step.name == "swarm.merge"), None)
    return {
        "wall_s": round(parent.ended - parent.begun, 2),
        "others_cores": round(meter.others(parent.begun, parent.ended, own), 2),
        "cpu_s_per_session": {name: round(spent / size, 3) for name, spent in cpu.items()},
        "cpu_s_per_session_sum": round(sum(cpu.values()) / size, 3),
        "session_s_p50": round(sorted(run.ended - run.begun for run in sessions)[size // 2], 2),
        "merge_s": round(merge.ended - merge.started, 3) if merge else None,
        "merge_cpu_s": spent_in(meter, [merge]) if merge else None,
        "events_per_session": round(sum(run.events for run in sessions) / size, 1),
        "history_bytes_per_session": round(sum(run.size for run in sessions) / size),
        "swarm_events": parent.events,
        "swarm_bytes": parent.size,
        "steps": steps_of(meter, sessions),
    }


def steps_of(meter: Meter, sessions: list[Run]) -> Figures:
    """Each kind of activity: how many a session, and means in seconds. CPU is that of all sessions in the same time."""
    by_name: dict[str, list[Step]] = defaultdict(list)
    for run in sessions:
        for step in run.steps:
            by_name[step.name].append(step)
    found: Figures = {}
    for name, steps in by_name.items():
        found[name] = {
            "per_session": round(len(steps) / len(sessions), 3),
            "waits_s": round(sum(step.started - step.scheduled for step in steps) / len(steps), 4),
            "runs_s": round(sum(step.ended - step.started for step in steps) / len(steps), 4),
            "cpu_s": {kind: round(spent / len(steps), 4) for kind, spent in spent_in(meter, steps).items()},
        }
    return found


def spent_in(meter: Meter, steps: Sequence[Step]) -> dict[str, float]:
    """CPU seconds while these steps ran."""
    total: dict[str, float] = defaultdict(float)
    for step in steps:
        for kind, spent in meter.between(step.started, step.ended).items():
            if kind not in ("bench", "command"):
                total[kind] += spent
    return {kind: round(spent, 4) for kind, spent in total.items()}


def report(figures: Figures) -> None:
    """The table."""
    runs = figures["runs"]
    print(f"\n{figures['profile']} profile, {figures['cores']} cores, {figures['commit']}, {time.strftime('%Y-%m-%d')}")
    print("| sessions, at once | " + " | ".join(f"{run['sessions']}, {run['limit']}" for run in runs) + " |")
    print("|---|" + "---|" * len(runs))
    rows: dict[str, list[str]] = {"wall, s": [f"{run['wall_s']:.1f}" for run in runs]}
    for kind in runs[0]["cpu_s_per_session"]:
        rows[f"CPU s a session, {kind}"] = [f"{run['cpu_s_per_session'][kind]:.2f}" for run in runs]
    rows["merge order and conflicts, s"] = [f"{run['merge_s']:.2f}" for run in runs]
    rows["history events a session"] = [f"{run['events_per_session']:.0f}" for run in runs]
    rows["history KB a session"] = [f"{run['history_bytes_per_session'] / 1000:.1f}" for run in runs]
    for kind in runs[0]["bytes_per_session"]:
        rows[f"KB on disk a session, {kind}"] = [f"{run['bytes_per_session'][kind] / 1000:.0f}" for run in runs]
    rows["cores busy with other work"] = [f"{run['others_cores']:.2f}" for run in runs]
    for name, values in rows.items():
        print(f"| {name} | " + " | ".join(values) + " |")


if __name__ == "__main__":
    main()
