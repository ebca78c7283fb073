"""A swarm as a discrete-event simulation: cores, slots, steps, and what is serial. Checked against the measured swarm.

    python infra/scale/simulation.py [figures.json …]        foretell every run of the figures, print it beside what was measured

Source: `tests/benchmarks/bench_swarm.py` writes the figures. From its *small* runs only (up to `SMALL` sessions) come the
demands: of each step its CPU in the worker, in the boxes and in the servers, and the time in which it only waits; what a session costs
besides its steps; what a branch costs when the merges are planned. Larger runs are foretold, never read.

What runs: at most `limit` sessions at once, one step of a session at a time. A step's demands are met in slices of `SLICE_S` on one of
the cores, in the order of asking. All that the worker computes needs its interpreter's lock as well: there is one. Planning
the merges is one step at the end. Cores that other work kept busy while the real run was measured are taken first.
What no step's figures hold (waiting for the disk, and for a kernel that serves other programs) is one factor, `stretch`: by how much the
small runs took longer than this model says. A model that needed a large one would be wrong; a test bounds it.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import simpy

SMALL = 30
"""Sessions of the largest run whose figures may be used."""
SLICE_S = 0.02
OTHERS_TURN_S = 2.0
WORKER, BOXES = "worker", "boxes"
HERE = Path(__file__).resolve().parent

Run = Mapping[str, Any]
Events = Generator[simpy.Event, Any, None]


@dataclass(frozen=True)
class Step:
    """One activity of a session: CPU seconds by process, and seconds in which it waits for neither cores nor locks."""

    cpu: Mapping[str, float]
    idle: float


@dataclass(frozen=True)
class Demand:
    """What a session asks for.

    Attributes:
        steps: In order, at what they cost in the small runs.
        merge: CPU seconds a branch when the merges are planned, by process.
    """

    steps: tuple[Step, ...]
    merge: Mapping[str, float]


def demand_of(runs: Sequence[Run]) -> Demand:
    """Demands from small runs: steps from the one with one session at a time, their level from those at the limit.

    Raises:
        ValueError: A run is too large, or the runs do not suffice.
    """
    if any(run["sessions"] > SMALL for run in runs):
        raise ValueError(f"runs of more than {SMALL} sessions are foretold, not read")
    alone = [run for run in runs if run["limit"] == 1]
    crowded = sorted((run for run in runs if run["limit"] > 1), key=lambda run: run["sessions"])
    if not alone or len({run["sessions"] for run in crowded}) < 2:
        raise ValueError("one run with a session at a time and two of different size at the limit are needed")
    level = {kind: _mean(_without_merges(run, kind) for run in crowded) for kind in crowded[0]["cpu_s_per_session"]}
    merges = {
        kind: _mean(run["merge_cpu_s"][kind] / run["sessions"] for run in crowded) for kind in crowded[0]["merge_cpu_s"]
    }
    return Demand(steps=_steps(alone[0], level), merge=merges)


def wall_of(demand: Demand, *, sessions: int, limit: int, cores: int, others: float = 0.0) -> float:
    """Seconds from the start of a swarm to its end.

    Args:
        limit: Sessions at once.
        others: Cores that other work keeps busy.
    """
    return _Swarm(demand, sessions, limit, cores, others).wall()


class _Swarm:
    def __init__(self, demand: Demand, sessions: int, limit: int, cores: int, others: float) -> None:
        self._demand = demand
        self._sessions = sessions
        self._world = simpy.Environment()
        self._cores = simpy.PriorityResource(self._world, capacity=cores)
        self._lock = simpy.Resource(self._world, capacity=1)
        self._slots = simpy.Resource(self._world, capacity=limit)
        for number in range(math.ceil(others)):
            self._world.process(self._other_work(min(1.0, others - number)))

    def wall(self) -> float:
        """Run it."""
        self._world.run(until=self._world.process(self._all()))
        return float(self._world.now)

    def _all(self) -> Events:
        yield self._world.all_of([self._world.process(self._session()) for _ in range(self._sessions)])
        yield from self._meet({kind: spent * self._sessions for kind, spent in self._demand.merge.items()})

    def _session(self) -> Events:
        with self._slots.request() as slot:
            yield slot
            for step in self._demand.steps:
                yield self._world.timeout(step.idle)
                yield from self._meet(step.cpu)

    def _meet(self, cpu: Mapping[str, float]) -> Events:
        for kind, spent in cpu.items():
            while spent > 0:
                piece = min(spent, SLICE_S)
                spent -= piece
                if kind == WORKER:
                    with self._lock.request() as lock:
                        yield lock
                        yield from self._compute(piece)
                else:
                    yield from self._compute(piece)

    def _compute(self, seconds: float) -> Events:
        with self._cores.request(priority=1) as core:
            yield core
            yield self._world.timeout(seconds)

    def _other_work(self, share: float) -> Events:
        """It got this share in the measured run, so it goes first here, in turns so long that the wait for them does not count."""
        while True:
            begun = self._world.now
            with self._cores.request(priority=0) as core:
                yield core
                yield self._world.timeout(share * OTHERS_TURN_S)
            yield self._world.timeout(max(0.0, begun + OTHERS_TURN_S - self._world.now))


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def _without_merges(run: Run, kind: str) -> float:
    """CPU seconds of a session."""
    return float(max(0.0, run["cpu_s_per_session"][kind] - run["merge_cpu_s"].get(kind, 0.0) / run["sessions"]))


def _steps(alone: Run, level: Mapping[str, float]) -> tuple[Step, ...]:
    """The steps of a session alone, raised or lowered to the level of the crowded runs; what is between steps is spread evenly."""
    rows = [step for step in alone["steps"].values() for _ in range(max(1, round(step["per_session"])))]
    within = {kind: sum(row["cpu_s"].get(kind, 0.0) for row in rows) for kind in level}
    steps = []
    for row in rows:
        cpu = {}
        for kind, whole in level.items():
            measured, inside = alone["cpu_s_per_session"][kind], within[kind]
            between = max(0.0, measured - inside) / len(rows)
            scale = whole / (inside + between * len(rows)) if inside + between > 0 else 0.0
            cpu[kind] = (row["cpu_s"].get(kind, 0.0) + between) * scale
        idle = max(0.0, row["waits_s"] + row["runs_s"] - sum(row["cpu_s"].values()))
        steps.append(Step(cpu=cpu, idle=idle))
    return tuple(steps)


@dataclass(frozen=True)
class Foretold:
    """A run with the wall time that the model alone says, and with the stretch of the small runs."""

    run: Run
    model_s: float
    wall_s: float


def foretold(figures: Mapping[str, Any]) -> tuple[float, list[Foretold]]:
    """The stretch, and every run at the limit with what the small ones foretell for it."""
    demand = demand_of([run for run in figures["runs"] if run["sessions"] <= SMALL])
    crowded = [run for run in figures["runs"] if run["limit"] > 1]
    model = [
        wall_of(
            demand,
            sessions=run["sessions"],
            limit=run["limit"],
            cores=figures["cores"],
            others=run["others_cores"],
        )
        for run in crowded
    ]
    small = [run["wall_s"] / wall for run, wall in zip(crowded, model, strict=True) if run["sessions"] <= SMALL]
    stretch = _mean(small)
    return stretch, [Foretold(run, wall, wall * stretch) for run, wall in zip(crowded, model, strict=True)]


def table(figures: Mapping[str, Any]) -> str:
    """Measured beside foretold, as Markdown."""
    stretch, rows = foretold(figures)
    lines = [
        f"| sessions, at once | cores busy with other work | measured, s | model alone, s | times {stretch:.2f}, s | off by |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        run = row.run
        role = "" if run["sessions"] <= SMALL else " (foretold)"
        cells = (
            f"{run['sessions']}, {run['limit']}{role}",
            f"{run['others_cores']:.2f}",
            f"{run['wall_s']:.0f}",
            f"{row.model_s:.0f}",
            f"{row.wall_s:.0f}",
            f"{row.wall_s / run['wall_s'] - 1:+.0%}",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Every file of figures named, or those beside this one."""
    for path in [Path(name) for name in sys.argv[1:]] or sorted(HERE.glob("figures-*.json")):
        figures = json.loads(path.read_text("utf-8"))
        if "runs" in figures:
            print(f"{figures['profile']} profile, {figures['cores']} cores, {figures['commit']}\n\n{table(figures)}\n")


if __name__ == "__main__":
    main()
