"""The examples for authors of orchestrators, run as a reader would run them, on the example shop."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.shop.making import make_shop
from tests.builders.shop_repository import Shop, served
from tests.builders.stand_in_forge import PROJECT, TOKEN, StandIn, serving

pytestmark = [pytest.mark.temporal, pytest.mark.sandbox, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[2]
FIX = "sed -i 's/int(cents)/int(cents + 0.5)/' src/shop/money.py"


@pytest.fixture
def example_shop(tmp_path: Path) -> Iterator[Shop]:
    make_shop(tmp_path / "shop")
    with served(tmp_path / "shop") as made:
        yield made


def _run(shop: Shop, name: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", f"examples.{name}", str(shop.repo), *arguments],
        cwd=ROOT,
        env=shop.environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_an_orchestrator_starts_one_session(example_shop: Shop) -> None:
    with example_shop.worker():
        said = _run(example_shop, "start_session", "Half a cent goes up", FIX, "src/shop/money.py")
    assert "  verify: passed" in said
    assert [f"completed: {branch}" for branch in example_shop.branches()] == [said.splitlines()[-1]]


def test_a_swarm_of_ten_leaves_ten_branches_their_order_and_the_one_clash(example_shop: Shop) -> None:
    with example_shop.worker():
        said = _run(example_shop, "swarm_of_ten")
    assert len(example_shop.branches()) == 10
    assert said.count(": completed") == 10
    assert "CURRENCIES.md: 10 branches clash" in said


def test_an_issue_becomes_a_session_becomes_a_pull_request(example_shop: Shop) -> None:
    with serving(StandIn("github", example_shop.repo.with_name("shop-origin.git"))) as host:
        host.ask_for(12, "Half a cent is lost", "Ten percent of 1.05 is 11 cents, not 10.")
        example_shop.environment |= {
            "SMP_FORGE_KIND": "github",
            "SMP_FORGE_URL": host.url,
            "SMP_FORGE_PROJECT": PROJECT,
            "SMP_GITHUB_TOKEN": TOKEN,
        }
        with example_shop.worker():
            said = _run(example_shop, "issue_to_pull_request", PROJECT, "12", FIX, "src/shop/money.py")
        (pull,) = host.pulls
    assert pull["title"] == "Half a cent is lost"
    assert "#12" in pull["body"]
    assert said.splitlines()[-1] == f"completed: {pull['html_url']}"
