"""A headless Chromium at the console, and what finds faults of accessibility in it."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

WAIT_S = 60
SCREENSHOTS = "SMP_SCREENSHOTS"
"""Folder into which tests put pictures of the pages; none are made without it."""
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

    def serious_faults(self) -> list[Any]:
        """Accessibility faults of the page that axe calls serious or critical: (rule, elements)."""
        self.driver.execute_script(axe())
        found = self.driver.execute_async_script("axe.run().then(arguments[0])")
        assert found["passes"]
        serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
        return [(one["id"], [node["html"] for node in one["nodes"]]) for one in serious]

    def picture(self, name: str) -> None:
        """Of the whole page, for docs/images, where the environment names a folder."""
        folder = os.environ.get(SCREENSHOTS)
        if folder:
            height = self.driver.execute_script("return document.documentElement.scrollHeight")
            self.driver.set_window_size(1400, min(max(1000, height), 2400))
            self.driver.save_screenshot(str(Path(folder) / f"console-{name}.png"))
            self.driver.set_window_size(1400, 1000)


@functools.cache
def axe() -> str:
    """The accessibility checker's source, from its npm package."""
    pack = ["npm", "pack", "--json", "--silent", "axe-core@4.10.3"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(pack, cwd=folder, capture_output=True, text=True, check=True)
        with tarfile.open(Path(folder) / json.loads(done.stdout)[0]["filename"]) as archive:
            member = archive.extractfile("package/axe.min.js")
            assert member is not None
            return member.read().decode()
