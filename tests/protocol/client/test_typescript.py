"""The TypeScript SDK: built from a clean copy, its own tests against a live server, and the package that `npm pack` makes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.command_line import Checkout
from tests.builders.served_shop import FILES, Server

SOURCES = Path(__file__).resolve().parents[3] / "clients" / "typescript"
USE = """
import { Client } from "@smp/client";
const found = await new Client(process.env.SMP_TEST_URL).navigate({ query: "total" });
console.log(found.entity.name);
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy with its development dependencies installed."""
    folder = tmp_path_factory.mktemp("typescript") / "client"
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("node_modules", "dist", "build"))
    run(folder, "npm", "ci", "--silent", "--no-audit", "--no-fund")
    return folder


@pytest.fixture(scope="module", params=["", "a secret"], ids=["open", "token"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(Checkout(tmp_path_factory.mktemp("served") / "shop", FILES).root, token=request.param)
    yield running
    running.stop()


def test_its_own_tests_pass_against_a_live_server(package: Path, server: Server) -> None:
    told = {"SMP_TEST_URL": server.url} | ({"SMP_TEST_TOKEN": server.token} if server.token else {})
    shown = run(package, "npm", "test", "--silent", **told)
    assert "# fail 0" in shown
    assert "# pass 0" not in shown


def test_the_packed_package_has_no_dependencies_and_works(package: Path, tmp_path: Path) -> None:
    (packed,) = json.loads(run(package, "npm", "pack", "--json", "--pack-destination", str(tmp_path)))
    assert {"dist/index.js", "dist/index.d.ts", "README.md"} <= {file["path"] for file in packed["files"]}
    assert [file["path"] for file in packed["files"] if file["path"].startswith(("src/", "test/", "build/"))] == []
    run(tmp_path, "npm", "install", "--silent", "--no-audit", "--no-fund", packed["filename"])
    assert [path.name for path in (tmp_path / "node_modules").iterdir() if path.name[0] not in ".@"] == []
    (tmp_path / "use.mjs").write_text(USE)
    running = Server(Checkout(tmp_path / "shop", FILES).root)
    try:
        assert run(tmp_path, "node", "use.mjs", SMP_TEST_URL=running.url) == "total\n"
    finally:
        running.stop()


def test_the_console_uses_the_protocol_as_it_is(package: Path) -> None:
    """Its sources are JavaScript whose types are checked against those of the SDK; there is no build step."""
    run(package, "node_modules/.bin/tsc", "-p", str(SOURCES.parents[1] / "console" / "tsconfig.json"))


def run(folder: Path, *command: str, **environment: str) -> str:
    """What a command prints; it must succeed."""
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout
