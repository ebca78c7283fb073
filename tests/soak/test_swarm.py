"""Twenty sessions on one file through the product's own processes: boxes, tests, mutants, branches. Run by `make soak`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import msgspec
import pytest

from smp.bootstrap import build_platform
from smp.domain.ids import FilePath
from smp.domain.swarms import SwarmOutcome
from tests.builders.shop_repository import FIXED, TESTS, Shop

pytestmark = [pytest.mark.temporal, pytest.mark.sandbox, pytest.mark.slow, pytest.mark.timeout(1860)]
SESSIONS = 20
PRICES = FilePath("shop/prices.py")


def test_twenty_mvcc_sessions_on_one_file_all_end_and_their_conflict_is_reported_once(
    shop: Shop, tmp_path: Path
) -> None:
    tasks = [
        {
            "task": f"the fix as number {number} words it",
            "edits": [
                {"file": PRICES, "content": f"# {number}\n{FIXED}"},
                {"file": "tests/test_prices.py", "content": TESTS},
            ],
        }
        for number in range(SESSIONS)
    ]
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps({"defaults": {"test_cmd": "python -m pytest -q -p no:cacheprovider"}, "tasks": tasks}))
    process = shop.smp("swarm", "run", str(file), "--json")
    try:
        said, complaints = process.communicate(timeout=1800)
    finally:
        process.kill()  # its worker notices, and ends with it
    outcome = msgspec.json.decode(said, type=SwarmOutcome)
    assert [row.status for row in outcome.rows] == ["completed"] * SESSIONS, complaints
    assert process.returncode == 1, "branches that do not merge are no success"
    assert (outcome.status, outcome.detail) == ("conflicts", "")
    assert [(conflict.file, len(conflict.sessions)) for conflict in outcome.conflicts] == [(PRICES, SESSIONS)]
    assert sorted(outcome.merge_order) == sorted(row.session_id for row in outcome.rows)
    assert shop.branches() == sorted(f"smp/{row.session_id}" for row in outcome.rows)
    services = build_platform(shop.settings)
    assert services.session_store.locks() == ()
    assert services.session_store.active() == ()
    assert list((shop.settings.data_dir / "boxes").glob("box_*")) == []
    for row in outcome.rows:
        methods = [event.method for event in services.session_store.events(row.session_id)]
        assert methods.count("smp/session/open") == methods.count("smp/session/close") == 1
    clean = subprocess.run(["git", "-C", str(shop.repo), "status", "--porcelain"], capture_output=True, check=True)
    assert clean.stdout == b""
