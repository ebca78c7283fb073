"""What a test's set-up calls is tested by it: the indexer hands the linker the role of each file."""

from __future__ import annotations

import subprocess
from pathlib import Path

from smp.bootstrap import build_platform
from smp.domain.graph import EdgeKind, Scope
from smp.settings import load_settings

SOURCE = "class Shop:\n    def open(self):\n        return 1\n"
TEST = """import unittest
from shop import Shop

class TestShop(unittest.TestCase):
    def setUp(self):
        self.shop = Shop()

    def test_opens(self):
        assert self.shop.open() == 1
"""


def test_calls_of_set_up_are_tests_of_every_test_in_the_class(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "shop.py").write_text(SOURCE)
    (tmp_path / "test_shop.py").write_text(TEST)
    services = build_platform(load_settings(tmp_path, environ={}))
    services.indexer.refresh()
    tested = {(edge.source, edge.target) for edge in services.graph.scan_edges(Scope(), (EdgeKind.TESTS,))}
    assert ("test:test_shop.py#TestShop.test_opens", "class:shop.py#Shop") in tested


def test_another_process_knows_which_files_are_tests(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "shop.py").write_text(SOURCE)
    (tmp_path / "test_shop.py").write_text(TEST)
    build_platform(load_settings(tmp_path, environ={})).indexer.refresh()
    (tmp_path / "shop.py").write_text("\n" + SOURCE)
    services = build_platform(load_settings(tmp_path, environ={}))
    services.indexer.refresh()
    tested = {(edge.source, edge.target) for edge in services.graph.scan_edges(Scope(), (EdgeKind.TESTS,))}
    assert ("test:test_shop.py#TestShop.test_opens", "class:shop.py#Shop") in tested
