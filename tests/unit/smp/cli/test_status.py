"""`smp status`: the checkout, its index, and who has it open."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from smp.cli.servers import announced, running
from smp.settings import load_settings
from tests.builders.command_line import Checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "repo", {"a.py": "def one(): ...\n", ".gitignore": "build/\n"})


def test_it_builds_nothing_and_says_how(checkout: Checkout) -> None:
    assert "smp index" in checkout.run("status").stdout
    assert checkout.answer("status", "--json")["index"]["built_at"] is None


def test_dirty_is_against_the_commit_and_stale_against_the_index(checkout: Checkout) -> None:
    checkout.write("b.py", "def two(): ...\n")
    checkout.run("index")
    checkout.write("a.py", "def one(): pass\n")
    checkout.write("build/x.py", "")
    report = checkout.answer("status", "--json")
    assert report["dirty"] == ["a.py", "b.py"]
    assert report["index"]["stale"] == ["a.py"]
    assert report["commit"] == report["index"]["commit"] == checkout.git("rev-parse", "HEAD").strip()


def test_a_server_is_listed_while_it_lives(checkout: Checkout) -> None:
    settings = load_settings(checkout.root, environ={})
    with announced(settings, "http://127.0.0.1:1/"):
        assert [(one.pid, one.address) for one in running(settings)] == [(os.getpid(), "http://127.0.0.1:1/")]
    assert running(settings) == ()


def test_a_server_that_was_killed_is_not(checkout: Checkout) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom smp.cli.servers import announced\nfrom smp.settings import load_settings\n"
        f"with announced(load_settings(Path({str(checkout.root)!r}), environ={{}}), 'stdio'):\n"
        "    print('up', flush=True)\n    sys.stdin.read()\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    settings = load_settings(checkout.root, environ={})
    assert [one.pid for one in running(settings)] == [child.pid]
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert running(settings) == ()
