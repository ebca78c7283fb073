"""Dry runs over the graph that the product itself links: what only real name resolution can tell apart."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from smp.adapters.graph_sqlite import SqliteGraphStore
from smp.adapters.sessions_sqlite.artifacts import SqliteArtifactStore
from smp.adapters.sessions_sqlite.notifications import SqliteNotifier
from smp.adapters.sessions_sqlite.sessions import SqliteSessionStore
from smp.adapters.sources_git import GitSourceTree
from smp.domain.ids import AgentId, FilePath
from smp.domain.session_steps import DryrunReport, DryrunVerdict, OpenSession
from smp.indexing.analyse import analyse
from smp.indexing.pipeline import Indexer
from smp.indexing.reports import FileChange
from smp.safety.sessions import SessionService
from smp.settings import Settings
from tests.builders.session_world import FakeDriver, ManualClock

Rehearse = Callable[[Mapping[str, str], Mapping[str, str | None]], DryrunReport]


@pytest.fixture
def rehearse(tmp_path: Path) -> Rehearse:
    """Index some files, open a session over all of them, and dry-run a change (None deletes)."""

    def run(files: Mapping[str, str], change: Mapping[str, str | None]) -> DryrunReport:
        root = tmp_path / "repo"
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8")
        subprocess.run(["git", "init", "-q", "--template="], cwd=root, check=True)
        settings = Settings(repo=root, data_dir=tmp_path / "data", cache_dir=tmp_path / "cache")
        clock, sources, graph, notifier = (
            ManualClock(),
            GitSourceTree(settings),
            SqliteGraphStore(settings),
            SqliteNotifier(settings),
        )
        unused = cast("Any", None)  # ranks, vectors and communities are made on demand, and nobody asks here
        indexer = Indexer(
            settings=settings,
            clock=clock,
            sources=sources,
            graph=graph,
            metadata=graph,
            cache=graph,
            telemetry=graph,
            vectors=unused,
            embedder=unused,
            analytics=unused,
            notifier=notifier,
            analyse=analyse,
        )
        indexer.refresh()
        service = SessionService(
            settings=settings,
            clock=clock,
            store=SqliteSessionStore(settings),
            artifacts=SqliteArtifactStore(settings),
            notifier=notifier,
            sources=sources,
            indexer=indexer,
            graph=graph,
            telemetry=graph,
            sandbox_driver=FakeDriver(),
        )
        scope = tuple(sorted({*files, *change}))
        session = service.open(OpenSession(agent_id=AgentId("a"), task="t", scope=scope)).session
        return service.dryrun(
            session.id,
            tuple(
                FileChange(path=FilePath(path), change_type="deleted")
                if text is None
                else FileChange(path=FilePath(path), content=text.encode())
                for path, text in change.items()
            ),
        )

    return run


def broken(report: DryrunReport) -> list[tuple[str, str]]:
    return [(entry.file, entry.function) for entry in (*report.broken_callers, *report.broken_tests)]


MOVED = {
    "shop/__init__.py": "",
    "shop/money.py": "def rounded(value):\n    return int(value)\n",
    "shop/cart.py": "from shop.money import rounded\n\n\ndef total():\n    return rounded(2.5)\n",
}


def test_a_definition_that_moved_and_is_exported_again_breaks_nobody(rehearse: Rehearse) -> None:
    change = {
        "shop/exact.py": "def rounded(value):\n    return int(value)\n",
        "shop/money.py": "from shop.exact import rounded\n",
    }
    report = rehearse(MOVED, change)
    assert (report.verdict, broken(report)) == (DryrunVerdict.SAFE, [])


def test_a_definition_that_moved_away_breaks_who_imports_it_from_there(rehearse: Rehearse) -> None:
    change = {"shop/exact.py": "def rounded(value):\n    return int(value)\n", "shop/money.py": ""}
    assert broken(rehearse(MOVED, change)) == [("shop/cart.py", "total")]


INHERITED = {
    "animals.py": "class Animal:\n    def name(self):\n        return 'animal'\n\n\n"
    "class Dog(Animal):\n    def name(self):\n        return 'dog'\n",
    "use.py": "from animals import Dog\n\n\ndef call():\n    dog = Dog()\n    return dog.name()\n",
}


def test_removing_an_override_breaks_nobody_since_the_base_answers(rehearse: Rehearse) -> None:
    text = INHERITED["animals.py"].replace("\n    def name(self):\n        return 'dog'\n", "\n    pass\n")
    report = rehearse(INHERITED, {"animals.py": text})
    assert (report.verdict, broken(report)) == (DryrunVerdict.SAFE, [])


def test_a_constructor_with_a_new_required_parameter_breaks_who_creates_objects(rehearse: Rehearse) -> None:
    files = {
        "box.py": "class Box:\n    def __init__(self, size):\n        self.size = size\n",
        "use.py": "from box import Box\n\n\ndef make():\n    return Box(1)\n",
    }
    text = files["box.py"].replace("size):", "size, colour):")
    assert broken(rehearse(files, {"box.py": text})) == [("use.py", "make")]


def test_removing_a_base_class_breaks_its_subclasses(rehearse: Rehearse) -> None:
    files = {"base.py": "class Base:\n    pass\n", "sub.py": "from base import Base\n\n\nclass Sub(Base):\n    pass\n"}
    assert ("sub.py", "Sub") in broken(rehearse(files, {"base.py": "x = 1\n"}))


def test_a_function_that_becomes_async_breaks_its_callers(rehearse: Rehearse) -> None:
    text = MOVED["shop/money.py"].replace("def rounded", "async def rounded")
    assert broken(rehearse(MOVED, {"shop/money.py": text})) == [("shop/cart.py", "total")]


def test_a_typescript_function_that_is_no_longer_exported_breaks_its_importers(rehearse: Rehearse) -> None:
    files = {
        "src/money.ts": "export function rounded(value: number): number {\n  return Math.floor(value);\n}\n",
        "src/cart.ts": 'import { rounded } from "./money";\n\nexport function total(): number {\n  return rounded(2.5);\n}\n',
    }
    text = files["src/money.ts"].removeprefix("export ")
    assert broken(rehearse(files, {"src/money.ts": text})) == [("src/cart.ts", "total")]


def test_a_renamed_parameter_of_typescript_breaks_nobody_who_passes_by_position(rehearse: Rehearse) -> None:
    files = {
        "src/money.ts": "export function rounded(value: number): number {\n  return Math.floor(value);\n}\n",
        "src/cart.ts": 'import { rounded } from "./money";\n\nexport function total(): number {\n  return rounded(2.5);\n}\n',
    }
    report = rehearse(files, {"src/money.ts": files["src/money.ts"].replace("value", "amount")})
    assert (report.verdict, broken(report)) == (DryrunVerdict.SAFE, [])


def test_deleting_a_module_breaks_who_imports_it(rehearse: Rehearse) -> None:
    assert broken(rehearse(MOVED, {"shop/money.py": None})) == [("shop/cart.py", "total")]


def test_a_change_inside_a_method_counts_the_method_and_not_its_class(rehearse: Rehearse) -> None:
    report = rehearse(INHERITED, {"animals.py": INHERITED["animals.py"].replace("'dog'", "'hound'")})
    delta = report.delta
    assert (delta.nodes_added, delta.nodes_modified, delta.nodes_removed) == (0, 1, 0)
    assert (report.verdict, delta.signature_changed) == (DryrunVerdict.SAFE, False)


def test_a_definition_that_only_moves_down_is_unchanged(rehearse: Rehearse) -> None:
    report = rehearse(MOVED, {"shop/money.py": "# a comment\n\n\n" + MOVED["shop/money.py"]})
    assert (report.delta.nodes_modified, report.verdict) == (0, DryrunVerdict.SAFE)
