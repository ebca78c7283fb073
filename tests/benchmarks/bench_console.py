"""How long the console's pages take on a graph of 50,000 nodes: first paint, search, a node's page, and the frames while one zooms.

    python tests/benchmarks/bench_console.py [--times N]

The repository is that of `bench_queries.py`, served by `smp serve` in a process of its own, looked at by a headless Chromium without
a graphics card. Times are taken in the page, from the click to the moment it is no longer busy; beside each stands what the server's
answer alone took in the same page (`fetch`), so that the ratio tells what the console adds. Frames are those that the browser drew
while the wheel was turned once a frame.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parents[2]))

from smp.domain.graph import NodeKind, Scope
from tests.benchmarks.bench_queries import QUESTIONS, prepared, repository
from tests.builders.browser import Browser
from tests.builders.served_shop import Server

FRAMES = 60
_OPEN = """
const [hash, done] = [arguments[0], arguments[arguments.length - 1]];
const main = document.getElementById("page");
const start = performance.now();
const look = () => main.hasAttribute("aria-busy")
  ? requestAnimationFrame(look) : requestAnimationFrame(() => done(performance.now() - start));
addEventListener("hashchange", () => requestAnimationFrame(look), { once: true });
location.hash = hash;
"""
_ASK = """
const [method, params, done] = [arguments[0], arguments[1], arguments[arguments.length - 1]];
const start = performance.now();
fetch("/rpc", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) })
  .then((answer) => answer.json()).then(() => done(performance.now() - start));
"""
_ZOOM = """
const [frames, by, done] = [arguments[0], arguments[1], arguments[arguments.length - 1]];
const canvas = document.querySelector(".map canvas");
const box = canvas.getBoundingClientRect();
const at = { clientX: box.x + box.width / 3, clientY: box.y + box.height / 3, bubbles: true, cancelable: true, deltaY: by };
const times = [];
let last = 0;
const turn = (now) => {
  if (last) times.push(now - last);
  last = now;
  if (times.length === frames) return done(times);
  canvas.dispatchEvent(new WheelEvent("wheel", at));
  requestAnimationFrame(turn);
};
requestAnimationFrame(turn);
"""
_PAINTED = """
const paint = performance.getEntriesByName("first-contentful-paint")[0];
return paint ? paint.startTime : null;
"""
_READY = """
const done = arguments[arguments.length - 1];
const look = () => document.querySelector(".map canvas") ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(look);
look();
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--times", type=int, default=7, help="each is done so often")
    times: int = options.parse_args().times
    repo = repository()
    services = prepared(repo)
    size = services.graph.size()
    files = [node.qualname for node in services.graph.scan(Scope(), (NodeKind.FILE,)) if node.language == "python"]
    functions = [node.id.partition(":")[2] for node in services.graph.scan(Scope(), (NodeKind.FUNCTION,))]
    server = Server(repo)
    browser = Browser(server.url)
    browser.driver.set_script_timeout(60)
    try:
        print(f"{size.nodes} nodes, {size.edges} edges, {len(files)} Python files; milliseconds, median of {times}")
        report(browser, times, files[:: len(files) // times], functions[:: len(functions) // times])
        assert browser.trouble() == []
    finally:
        browser.driver.quit()
        server.stop()


def report(browser: Browser, times: int, files: list[str], functions: list[str]) -> None:
    """Prints a line for each thing that people do."""
    driver = browser.driver
    painted, ready = [], []
    for _ in range(times):
        driver.get("about:blank")
        driver.get(browser.url + "#/map")
        ready.append(driver.execute_async_script(_READY))
        painted.append(driver.execute_script(_PAINTED))
    print(f"  {'first contentful paint':34}{statistics.median(filter(None, painted)):8.0f}")
    line("the map is drawn", ready, [asked(browser, "smp/operations/map", {}) for _ in range(times)])
    for name, by in (("zooming in", -40), ("zooming out", 40)):
        frames = sorted(driver.execute_async_script(_ZOOM, FRAMES, by))
        print(
            f"  {name + ', a frame':34}{statistics.median(frames):8.1f}   p95 {frames[int(0.95 * FRAMES)]:.1f}   longest {frames[-1]:.1f}"
        )
    queries = [QUESTIONS[number % len(QUESTIONS)] for number in range(times)]
    line(
        "a search, results shown",
        [opened(browser, f"#/find?q={quote(query)}&n={number}") for number, query in enumerate(queries)],
        [asked(browser, "smp/locate", {"query": query, "ranking": "fusion"}) for query in queries],
    )
    for name, chosen in (("a definition's page", functions), ("a file's page", files)):
        shown = chosen[:times]
        line(
            name,
            [opened(browser, "#/node/" + quote(one, safe="")) for one in shown],
            [asked(browser, "smp/navigate", {"query": one, "include_relationships": True}) for one in shown],
        )
    line(
        "back to the map", [opened(browser, f"#/{page}") for _ in range(times) for page in ("health", "map")][1::2], []
    )


def opened(browser: Browser, address: str) -> float:
    """Milliseconds until a page is there."""
    taken: float = browser.driver.execute_async_script(_OPEN, address)
    return taken


def asked(browser: Browser, method: str, params: dict[str, Any]) -> float:
    """Milliseconds of one call from the page."""
    taken: float = browser.driver.execute_async_script(_ASK, method, params)
    return taken


def line(name: str, page: list[float], answer: list[float]) -> None:
    """Prints the median, and how it compares with that of the answer alone."""
    median = statistics.median(page)
    beside = (
        f"   answer alone {statistics.median(answer):.0f}, {median / statistics.median(answer):.1f} x" if answer else ""
    )
    print(f"  {name:34}{median:8.0f}   longest {max(page):.0f}{beside}")


if __name__ == "__main__":
    main()
