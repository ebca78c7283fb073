"""The console in a real browser against a live server: what each page shows, that no source is read as HTML, keyboard, access, token."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from smp.client import Client
from smp.domain.sessions import Concurrency
from tests.builders.browser import Browser
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
def test_no_page_has_a_serious_accessibility_fault(browser: Browser, page: str) -> None:
    browser.open(PAGES[page])
    browser.picture(page)
    assert browser.serious_faults() == []


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
