"""The simulation against the recorded swarm, and the page of scale against the model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from infra.scale import model, simulation
from infra.scale.simulation import SMALL, demand_of, foretold, wall_of

ROOT = Path(__file__).resolve().parents[3]
RECORDED = sorted(path for path in (ROOT / "infra" / "scale").glob("figures-*.json") if "profiles" not in path.name)
WITHIN = 0.20
LARGEST_FACTOR = 1.35


class Recorded(Struct, frozen=True):
    """Figures of a profile."""

    figures: dict[str, Any]

    @property
    def small(self) -> list[dict[str, Any]]:
        return [run for run in self.figures["runs"] if run["sessions"] <= SMALL]


@pytest.fixture(params=RECORDED, ids=lambda path: path.stem)
def recorded(request: pytest.FixtureRequest) -> Recorded:
    return Recorded(json.loads(request.param.read_text("utf-8")))


def test_there_are_figures_of_a_hundred_sessions() -> None:
    sizes = [run["sessions"] for path in RECORDED for run in json.loads(path.read_text("utf-8"))["runs"]]
    assert max(sizes) == 100


def test_the_largest_swarm_is_foretold_from_the_small_ones(recorded: Recorded) -> None:
    factor, rows = foretold(recorded.figures)
    largest = max(rows, key=lambda row: row.run["sessions"])
    assert abs(largest.wall_s / largest.run["wall_s"] - 1) <= WITHIN
    assert 1 / LARGEST_FACTOR <= factor <= LARGEST_FACTOR, "what the model leaves out is small"


def test_what_is_foretold_is_not_read_from_the_large_run(recorded: Recorded) -> None:
    doubled = [
        run if run["sessions"] <= SMALL else run | {"wall_s": 2 * run["wall_s"], "steps": {}, "cpu_s_per_session": {}}
        for run in recorded.figures["runs"]
    ]
    before = [row.wall_s for row in foretold(recorded.figures)[1]]
    assert [row.wall_s for row in foretold(recorded.figures | {"runs": doubled})[1]] == before


def test_a_large_run_is_no_source_of_demands(recorded: Recorded) -> None:
    with pytest.raises(ValueError, match="foretold, not read"):
        demand_of([*recorded.small, recorded.small[-1] | {"sessions": SMALL + 1}])


def test_too_few_runs_are_no_source_either(recorded: Recorded) -> None:
    with pytest.raises(ValueError, match="are needed"):
        demand_of(recorded.small[:1])


def test_cores_help_until_the_interpreter_is_what_everybody_waits_for(recorded: Recorded) -> None:
    demand = demand_of(recorded.small)
    walls = [wall_of(demand, sessions=20, limit=8, cores=cores) for cores in (1, 2, 4, 64)]
    assert walls == sorted(walls, reverse=True)
    locked = 20 * sum(step.cpu["worker"] for step in demand.steps)
    assert locked <= walls[-1] <= 1.3 * locked


def test_other_work_costs_what_it_takes(recorded: Recorded) -> None:
    demand = demand_of(recorded.small)
    quiet, beside = (wall_of(demand, sessions=20, limit=8, cores=2, others=others) for others in (0.0, 1.0))
    alone = wall_of(demand, sessions=20, limit=8, cores=1)
    assert quiet < beside
    assert beside == pytest.approx(alone, rel=0.05)


def test_the_page_has_the_tables_of_the_figures() -> None:
    done = subprocess.run([sys.executable, "infra/scale/model.py", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0, "run: .venv/bin/python infra/scale/model.py --write"


def test_ten_times_the_sessions_need_ten_times_the_boxes() -> None:
    unit = model.unit_of(*_figures())
    one, ten = (model.need(model.Load("a load", 10, sessions, 0, 0), unit) for sessions in (1_000, 10_000))
    assert ten.box_cores == pytest.approx(10 * one.box_cores)
    assert ten.history_gb == pytest.approx(10 * one.history_gb)
    assert ten.graph_gb == one.graph_gb


def test_limits_are_told_worst_first() -> None:
    unit = model.unit_of(*_figures())
    for load in model.LOADS:
        times = [limit.times for limit in model.limits(model.need(load, unit))]
        assert times == sorted(times, reverse=True)


def _figures() -> tuple[dict[str, Any], dict[str, Any]]:
    folder = simulation.HERE
    swarm = json.loads(RECORDED[-1].read_text("utf-8"))
    return swarm, json.loads((folder / "figures-profiles.json").read_text("utf-8"))
