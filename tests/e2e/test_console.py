"""The console in a real browser against a live server: what each page shows, that no source is read as HTML, keyboard, access, token."""

from __future__ import annotations

import json
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import httpx
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from smp.client import Client
from smp.domain.sessions import Concurrency
from tests.builders.command_line import Checkout
from tests.builders.served_shop import FILES, Server

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = '"""<img src=x onerror="document.title=\'owned\'">"""\n\n\ndef shown() -> str:\n    return "<script>document.title=\'owned\'</script>"\n'
PAGES = {
    "map": "#/map",
    "find": "#/find?q=what%20the%20customer%20pays",
    "definition": "#/node/" + quote("shop/cart.py#total", safe=""),
    "file": "#/node/" + quote("shop/cart.py", safe=""),
    "sessions": "#/sessions",
    "health": "#/health",
}
WAIT_S = 60
T = TypeVar("T")


class Browser:
    """A headless Chromium at one server."""

    def __init__(self, url: str) -> None:
        options = Options()
        for argument in (
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1400,1000",
        ):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.url = url

    def open(self, address: str) -> str:
        """Go to a page of the console and wait until it is there; its text."""
        self.driver.get("about:blank")
        self.driver.get(self.url + address)
        return self.until(lambda: self.text())

    def text(self) -> str:
        """What the page shows; empty while it is being made."""
        main = self.driver.find_element(By.ID, "page")
        return "" if main.get_attribute("aria-busy") else main.text

    def until(self, look: Callable[[], T]) -> T:
        """The first true thing that a look gives."""
        return WebDriverWait(self.driver, WAIT_S).until(lambda _: look())

    def trouble(self) -> list[str]:
        """What the browser complained of since it was asked last."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]  # type: ignore[no-untyped-call]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    checkout = Checkout(tmp_path_factory.mktemp("console") / "shop", FILES | {"shop/hostile.py": HOSTILE})
    running = Server(checkout.root)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def browser(server: Server) -> Iterator[Browser]:
    opened = Browser(server.url)
    yield opened
    opened.driver.quit()


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The accessibility checker's source, from its npm package."""
    folder = tmp_path_factory.mktemp("axe")
    done = subprocess.run(
        ["npm", "pack", "--json", "--silent", "axe-core@4.10.3"], cwd=folder, capture_output=True, text=True, check=True
    )
    with tarfile.open(folder / json.loads(done.stdout)[0]["filename"]) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()


@pytest.mark.parametrize(
    ("page", "shows"),
    [
        ("map", ["files", "definitions", "shop"]),
        ("find", ["total(prices: list[float]) -> int", "What the customer pays.", "shop/cart.py:4"]),
        ("definition", ["round_half_up", "What the customer pays.", "return round_half_up(sum(prices))"]),
        ("file", ["Defines", "total", "Imports", "shop/money.py"]),
        ("sessions", ["Sessions", "Locks"]),
        ("health", ["definitions", "every answer is of the present text"]),
    ],
)
def test_each_page_shows_what_the_server_knows(browser: Browser, page: str, shows: list[str]) -> None:
    text = browser.open(PAGES[page])
    assert [words for words in shows if words not in text] == []
    assert browser.driver.find_element(By.ID, "trouble").text == ""
    assert browser.trouble() == []


@pytest.mark.parametrize("page", PAGES)
def test_no_page_has_a_serious_accessibility_fault(browser: Browser, axe: str, page: str) -> None:
    browser.open(PAGES[page])
    browser.driver.execute_script(axe)
    found = browser.driver.execute_async_script("axe.run().then(arguments[0])")
    serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in serious] == []
    assert found["passes"]


def test_source_and_docstrings_are_text_and_never_html(browser: Browser) -> None:
    text = browser.open("#/node/" + quote("shop/hostile.py", safe=""))
    assert "<script>document.title='owned'</script>" in text
    assert browser.driver.find_elements(By.CSS_SELECTOR, "#page img, #page script") == []
    assert "owned" not in browser.driver.title


def test_nothing_but_its_own_files_may_run_or_be_loaded(server: Server) -> None:
    policy = httpx.get(server.url).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for path in ("console/../pyproject.toml", "console/%2e%2e%2fpyproject.toml", "console/tsconfig.json"):
        assert httpx.get(server.url + path).status_code in (400, 404)


def test_the_keyboard_finds_code(browser: Browser) -> None:
    browser.open("#/map")
    browser.driver.find_element(By.ID, "page").send_keys("/")
    browser.driver.switch_to.active_element.send_keys("round_half_up", Keys.ENTER)
    text = browser.until(lambda: browser.text() if "round_half_up(value" in browser.text() else "")
    assert "shop/money.py:1" in text


def test_a_file_on_the_map_opens_its_page(browser: Browser) -> None:
    browser.open("#/map")
    canvas = browser.driver.find_element(By.TAG_NAME, "canvas")
    canvas.send_keys(Keys.ENTER)
    assert browser.until(lambda: "#/node/" in browser.driver.current_url)


def test_a_session_shows_as_it_runs_and_each_of_its_steps(browser: Browser, server: Server) -> None:
    browser.open("#/sessions")
    with Client.http(server.url) as client:
        opened = client.session(
            agent_id="ada", task="round half up", scope=["shop/"], concurrency=Concurrency.EXCLUSIVE
        )
        with opened as session:
            session.lock(files=("shop/money.py",))
            session.update(file_path="shop/money.py", content=FILES["shop/money.py"] + "\n", change_type="modified")
            text = browser.until(lambda: browser.text() if "shop/money.py" in browser.text() else "")
            assert "ada" in text
            steps = browser.open(f"#/session/{session.id}")
            assert "smp/session/open" in steps
            assert browser.driver.find_element(By.CSS_SELECTOR, "ol.steps .done").text == "open"


def test_what_an_edit_would_touch_is_asked_for(browser: Browser) -> None:
    browser.open("#/node/" + quote("shop/money.py#round_half_up", safe=""))
    browser.driver.find_element(By.XPATH, "//button[text()='signature changes']").click()
    assert "CALLS" in browser.until(lambda: browser.text() if "1 files" in browser.text() else "")


def test_an_error_is_said_where_it_can_be_read(browser: Browser) -> None:
    browser.driver.get("about:blank")
    browser.driver.get(f"{browser.url}#/node/nowhere")
    trouble = browser.driver.find_element(By.ID, "trouble")
    assert "no node 'nowhere'" in browser.until(lambda: trouble.text)


def test_a_token_is_asked_for_once_and_kept_in_the_tab(tmp_path: Path) -> None:
    server = Server(Checkout(tmp_path / "shop", FILES).root, token="a secret")
    browser = Browser(server.url)
    try:
        browser.driver.get(server.url + "#/health")
        field = browser.driver.find_element(By.CSS_SELECTOR, "#token input")
        browser.until(field.is_displayed)
        field.send_keys("a secret", Keys.ENTER)
        assert "definitions" in browser.until(browser.text)
        browser.driver.get(server.url + "#/map")
        assert "files" in browser.until(lambda: browser.text() if "communities" in browser.text() else "")
    finally:
        browser.driver.quit()
        server.stop()
