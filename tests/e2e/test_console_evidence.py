"""What sessions and swarms leave, as the console shows it: the change, mutants, blocked connections, the board."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from examples.shop.making import make_shop
from smp.client import Client
from tests.builders.browser import Browser
from tests.builders.command_line import command
from tests.builders.served_shop import Server
from tests.builders.shop_repository import Shop, served

pytestmark = [pytest.mark.temporal, pytest.mark.sandbox, pytest.mark.slow]
SHIPPING, TESTS = "src/shop/shipping.py", "tests/test_shipping.py"
SWARM = """
limit: 2
defaults: {test_cmd: "python -m pytest -q"}
tasks:
  - {name: money, task: say more, scope: [src/shop/money.py], agent_cmd: "sed -i 's/people write it/we write it/' src/shop/money.py"}
  - {name: nothing, task: do nothing, scope: [src/shop/cart.py], agent_cmd: "true"}
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    root = tmp_path_factory.mktemp("evidence") / "shop"
    make_shop(root)
    with served(root) as made:
        yield made


@pytest.fixture(scope="module")
def browser(shop: Shop) -> Iterator[Browser]:
    keys = ("SMP_TEMPORAL_ADDRESS", "SMP_TEMPORAL_UI_URL")
    running = Server(shop.repo, settings={key: shop.environment[key] for key in keys})
    opened = Browser(running.url)
    try:
        yield opened
    finally:
        opened.driver.quit()
        running.stop()


def test_a_session_shows_its_change_its_mutants_and_what_it_was_refused(browser: Browser) -> None:
    with (
        Client.http(browser.url) as client,
        client.session(agent_id="ada", task="Free above the limit only", scope=[SHIPPING, TESTS]) as session,
    ):
        box = session.sandbox_spawn().sandbox_id
        edit = (
            f"sed -i 's/>= FREE_FROM/> FREE_FROM/' {SHIPPING}; python -m pytest -q; curl -s https://example.org || true"
        )
        session.sandbox_execute(sandbox_id=box, command=edit)
        session.verify_integrity(sandbox_id=box, target_file=SHIPPING, test_file=TESTS)
        text = browser.open(f"#/session/{session.id}")
        assert "a mutant survived" in text
        assert "example.org:443" in text
        assert browser.driver.find_elements(By.CSS_SELECTOR, "pre.diff .added")[0].text.endswith(
            "> FREE_FROM else PARCEL"
        )
        fates = [one.get_attribute("class") for one in browser.driver.find_elements(By.CSS_SELECTOR, "ol.mutants li")]
        assert {"killed", "survived"} == set(fates)
        browser.picture("session")
        assert browser.serious_faults() == []
        assert browser.trouble() == []
    assert "what did is gone" in browser.open(f"#/session/{session.id}")


def test_a_swarm_has_a_board_that_leads_to_its_sessions_and_into_temporal(
    browser: Browser, shop: Shop, tmp_path: Path
) -> None:
    tasks = tmp_path / "swarm.yaml"
    tasks.write_text(SWARM)
    with shop.worker():
        arguments = command("swarm", "run", str(tasks), "--json", repo=shop.repo)
        done = subprocess.run(arguments, capture_output=True, text=True, env=shop.environment, check=False)
        outcome = json.loads(done.stdout)
        assert "No swarm ran here" not in browser.open("#/swarms")
        browser.picture("swarms")
        text = browser.open(f"#/swarm/{outcome['swarm_id']}")
    assert [row["status"] for row in outcome["rows"]] == ["completed", "aborted"]
    for shown in ("money", "nothing", "budget spent", "Merge in this order", f"smp/{outcome['merge_order'][0]}"):
        assert shown in text
    browser.picture("swarm")
    assert browser.serious_faults() == []
    links = [one.get_attribute("href") for one in browser.driver.find_elements(By.CSS_SELECTOR, "#page a")]
    assert any("/namespaces/default/workflows/swarm%2F" in str(link) for link in links)
    browser.driver.find_element(By.LINK_TEXT, outcome["rows"][0]["session_id"]).click()
    page = browser.until(lambda: browser.text() if "Integrity gate" in browser.text() else "")
    assert "with two digits" not in page
    assert "we write it" in page
    assert browser.trouble() == []
