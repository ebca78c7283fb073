"""Linking is a pure function of its files: order, hash seeds and increments do not show; tests and imports are found."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from smp.domain.graph import Edge, EdgeKind, UnresolvedReason
from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis
from smp.indexing.analyse import analyse, wants_config
from smp.indexing.link import link

ROOT = Path(__file__).parents[4]
PROJECT: dict[str, str] = {
    "app/__init__.py": "from .core import Engine, run\nfrom .plugins import *\n",
    "app/core.py": (
        "from __future__ import annotations\nfrom . import plugins\nfrom .base import Base\n\n"
        "class Engine(Base):\n    def __init__(self, plugin: plugins.Plugin):\n        self.plugin = plugin\n"
        "    def go(self):\n        self.prepare()\n        return self.plugin.act(self.go)\n\n"
        "def run(callback=None):\n    engine = Engine(plugins.Plugin())\n    engine.go()\n    callback()\n"
    ),
    "app/base.py": "class Base:\n    def prepare(self):\n        self.hook()\n    def hook(self):\n        pass\n",
    "app/plugins.py": (
        "from .base import Base\n__all__ = ['Plugin', 'helper']\nclass Plugin(Base):\n    def act(self, done):\n"
        "        done()\n        helper()\n    def hook(self):\n        helper()\n\ndef helper():\n    return _inner()\n"
        "def _inner():\n    return helper\n"
    ),
    "app/cycle_a.py": "from .cycle_b import b\ndef a():\n    b()\n",
    "app/cycle_b.py": "from .cycle_a import a\ndef b():\n    a()\n    save()\n",
    "tests/conftest.py": "import pytest\nfrom app import Engine, Plugin\n@pytest.fixture\ndef engine():\n    return Engine(Plugin())\n",
    "tests/test_app.py": (
        "import unittest\nfrom app import run, helper\ndef test_engine(engine):\n    engine.go()\n"
        "class RunTest(unittest.TestCase):\n    def setUp(self):\n        helper()\n    def test_run(self):\n        run(helper)\n"
    ),
    "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\n",
}


def analysed(texts: dict[str, str]) -> dict[FilePath, FileAnalysis]:
    return {FilePath(path): analyse(FilePath(path), text.encode()) for path, text in texts.items()}


def configured(texts: dict[str, str]) -> dict[FilePath, bytes]:
    return {FilePath(path): text.encode() for path, text in texts.items() if wants_config(FilePath(path))}


def linked(texts: dict[str, str]) -> Mapping[FilePath, tuple[Edge, ...]]:
    return link(analysed(texts), configs=configured(texts)).edges


def edges(texts: dict[str, str], kind: EdgeKind) -> set[tuple[str, str]]:
    return {
        (edge.source.partition(":")[2], (edge.target or "").partition(":")[2])
        for found in linked(texts).values()
        for edge in found
        if edge.kind is kind
    }


def digest(found: Mapping[FilePath, tuple[Edge, ...]]) -> str:
    return hashlib.sha256(msgspec.msgpack.encode(sorted(found.items()))).hexdigest()


def test_the_order_of_files_does_not_show() -> None:
    expected = digest(linked(PROJECT))
    for seed in range(5):
        names = list(PROJECT)
        random.Random(seed).shuffle(names)
        assert digest(linked({name: PROJECT[name] for name in names})) == expected


_PROGRAM = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("test_link_again", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = module
spec.loader.exec_module(module)
print(module.digest(module.linked(module.PROJECT)))
"""


def test_the_hash_seed_does_not_show() -> None:
    seen = set()
    for seed in ("0", "1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", _PROGRAM, __file__]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        seen.add(done.stdout.strip())
    assert seen == {digest(linked(PROJECT))}


def mutate(texts: dict[str, str], chooser: random.Random) -> dict[str, str]:
    """One random edit of a project."""
    changed = dict(texts)
    sources = sorted(path for path in changed if path.endswith(".py"))
    path = chooser.choice(sources)
    kind = chooser.choice(["blank", "rename", "delete", "restore", "override", "star", "break", "swap", "all", "init"])
    if kind == "blank":
        changed[path] = "\n" + changed[path]
    elif kind == "rename":
        changed[path] = changed[path].replace("helper", chooser.choice(["helper", "assistant", "run"]))
    elif kind == "delete" and len(sources) > 2:
        del changed[path]
    elif kind == "restore":
        missing = sorted(set(PROJECT) - set(changed))
        if missing:
            changed[missing[0]] = PROJECT[missing[0]]
    elif kind == "override":
        changed[path] += (
            "\nfrom app.base import Base\nclass Extra(Base):\n    def hook(self):\n        self.prepare()\n"
        )
    elif kind == "star":
        changed[path] = "from app.plugins import *\n" + changed[path] + "\nhelper()\n"
    elif kind == "break":
        changed[path] += "\ndef damaged(:\n    helper(\n"
    elif kind == "swap":
        changed[path] = changed[path].replace("(Base)", chooser.choice(["(Base)", "", "(Exception)"]))
    elif kind == "all":
        changed[path] += "\n__all__ = ['run']\n"
    else:
        if changed.pop("app/__init__.py", None) is None:
            changed["app/__init__.py"] = PROJECT["app/__init__.py"]
    return changed


@pytest.mark.parametrize("seed", range(6))
def test_increments_give_what_a_full_link_gives(seed: int) -> None:
    chooser = random.Random(seed)
    texts = dict(PROJECT)
    result = link(analysed(texts), configs=configured(texts))
    held = dict(result.edges)
    for _ in range(8):
        after = mutate(texts, chooser)
        touched = {path for path in texts.keys() | after.keys() if texts.get(path) != after.get(path)}
        result = link(
            analysed(after),
            configs=configured(after),
            changed=frozenset(FilePath(path) for path in touched),
            state=result.state,
            digests=result.digests,
        )
        held = {path: found for path, found in held.items() if path in after} | dict(result.edges)
        assert digest(held) == digest(linked(after))
        texts = after


def test_an_edit_that_no_one_else_sees_gives_edges_of_its_own_file_only() -> None:
    first = link(analysed(PROJECT), configs=configured(PROJECT))
    after = {**PROJECT, "app/core.py": PROJECT["app/core.py"] + "\n# a remark\n"}
    again = link(
        analysed(after),
        configs=configured(after),
        changed=frozenset({FilePath("app/core.py")}),
        state=first.state,
        digests=first.digests,
    )
    assert set(again.edges) == {"app/core.py"}


def test_a_state_of_another_format_is_as_none() -> None:
    digests = link(analysed(PROJECT), configs=configured(PROJECT)).digests
    again = link(
        analysed(PROJECT), configs=configured(PROJECT), changed=frozenset(), state=b"not a state", digests=digests
    )
    assert set(again.edges) == set(PROJECT)


def test_tests_reach_what_they_call_and_what_their_fixtures_and_setups_call() -> None:
    found = edges(PROJECT, EdgeKind.TESTS)
    assert ("tests/test_app.py#test_engine", "app/core.py#Engine") in found
    assert ("tests/test_app.py#test_engine", "app/core.py#Engine.go") in found
    assert ("tests/test_app.py#RunTest.test_run", "app/core.py#run") in found
    assert ("tests/test_app.py#RunTest.test_run", "app/plugins.py#helper") in found
    assert ("tests/test_app.py#test_engine", "app/core.py#run") not in found


def test_a_test_is_about_the_decorated_name_that_it_calls_not_about_the_wrapper() -> None:
    texts = {
        "deco.py": "def traced(f):\n    def wrapper(*a):\n        return f(*a)\n    return wrapper\n",
        "app.py": "from deco import traced\n@traced\ndef pay():\n    return 1\n",
        "test_app.py": "from app import pay\ndef test_pay():\n    assert pay() == 1\n",
    }
    assert ("test_app.py#test_pay", "deco.py#traced.wrapper") in edges(texts, EdgeKind.CALLS_STATIC)
    assert edges(texts, EdgeKind.TESTS) == {("test_app.py#test_pay", "app.py#pay")}


def test_imports_go_to_the_module_that_the_statement_names() -> None:
    found = edges(PROJECT, EdgeKind.IMPORTS)
    assert ("app/core.py", "app/plugins.py") in found
    assert ("app/core.py", "app/__init__.py") not in found
    assert ("app/cycle_a.py", "app/cycle_b.py") in found


def test_a_call_of_a_name_that_was_not_imported_has_candidates_and_no_edge() -> None:
    texts = {"a.py": "def save():\n    pass\n", "b.py": "def go():\n    save()\n"}
    found = [edge for edge in linked(texts)[FilePath("b.py")] if edge.kind is EdgeKind.CALLS_UNRESOLVED]
    assert [(edge.reason, edge.candidates) for edge in found] == [
        (UnresolvedReason.NOT_IN_IMPORTS, ("function:a.py#save",))
    ]
    assert not edges(texts, EdgeKind.CALLS_STATIC)


def test_type_only_imports_are_marked() -> None:
    texts = {
        "a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from b import B\ndef f(x: 'B'):\n    x.m()\n",
        "b.py": "import a\nclass B:\n    def m(self):\n        pass\n",
    }
    found = [edge for edge in linked(texts)[FilePath("a.py")] if edge.kind is EdgeKind.IMPORTS]
    assert [edge.type_only for edge in found] == [True]
    assert ("a.py#f", "b.py#B.m") in edges(texts, EdgeKind.CALLS_STATIC)


def test_one_edge_has_all_lines_and_the_first() -> None:
    texts = {"a.py": "def f():\n    pass\n\ndef g():\n    f()\n    f()\n\n    f()\n"}
    found = [edge for edge in linked(texts)[FilePath("a.py")] if edge.kind is EdgeKind.CALLS_STATIC]
    assert [(edge.line, edge.lines) for edge in found] == [(5, (5, 6, 8))]


def test_an_endless_chain_of_external_attributes_ends() -> None:
    lines = ["import lib", "def f(x):", "    node = lib.start()", "    while True:"]
    lines += [f"        node = node.a{n}.b{n}().c{n}" for n in range(12)]
    result = linked({"a.py": "\n".join(lines) + "\n"})
    assert all(edge.reason is UnresolvedReason.EXTERNAL for edge in result[FilePath("a.py")])


def test_a_variable_that_is_only_ever_itself_ends() -> None:
    result = linked(
        {
            "a.py": "def f():\n    def g():\n        nonlocal x\n        x = x\n        x.y()\n    while x:\n        x = x\n"
        }
    )
    assert [edge.reason for edge in result[FilePath("a.py")]] == [UnresolvedReason.DYNAMIC]


def test_an_instance_whose_call_returns_a_call_of_itself_is_followed_once() -> None:
    text = (
        b"class Reader:\n    def __call__(self, data):\n        if data:\n            return self(data)\n        return done()\n"
        b"def done(): ...\ndef use():\n    reader = Reader()\n    reader(1)\n"
    )
    found = link({FilePath("a.py"): analyse(FilePath("a.py"), text)}, configs={}).edges[FilePath("a.py")]
    calls = {(edge.source, edge.target) for edge in found if edge.kind is EdgeKind.CALLS_STATIC}
    call = "function:a.py#Reader.__call__"
    assert {(call, call), (call, "function:a.py#done"), ("function:a.py#use", call)} <= calls
