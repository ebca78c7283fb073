"""What the gate is asked about a change, and what happens when there is nothing to ask."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.testing import ActivityEnvironment

from activities import contract
from activities.integrity import IntegrityActivities
from smp.adapters.memory import MemoryStore
from smp.adapters.mutator_native import NativeMutator
from smp.adapters.sessions_sqlite.artifacts import SqliteArtifactStore
from smp.domain.errors import VerificationRequired
from smp.domain.ids import CommitSha, FilePath, SandboxId
from smp.domain.sandboxes import ChangedFile, Execution, ExecutionRecord, SandboxSpec
from smp.domain.verification import passed_reports, tree_hash
from smp.integrity.verdict import IntegrityService
from smp.settings import Settings
from tests.builders.folder_boxes import START, make_session
from tests.builders.graph_text import build_store
from tests.builders.session_world import FakeDriver, ManualClock

COMMIT = CommitSha("a" * 40)
SESSION = make_session(COMMIT)
GRAPH = """
file src/prices.py
function src/prices.py#net
file src/lonely.py
function src/lonely.py#alone
file web/show.ts
function web/show.ts#show
file web/alone.ts
function web/alone.ts#alone
file web/show.test.ts role=test
test web/show.test.ts#shows
file tests/test_prices.py role=test
test tests/test_prices.py#test_net
tests/test_prices.py#test_net TESTS src/prices.py#net
web/show.test.ts#shows TESTS web/show.ts#show
"""


class Bench:
    """The activity over a graph, a box, and the log of what ran in it."""

    def __init__(self, root: Path) -> None:
        settings = Settings(repo=root, data_dir=root, cache_dir=root)
        self.driver, self.artifacts, store = FakeDriver(), SqliteArtifactStore(settings), MemoryStore()
        self.box = self.driver.spawn(
            SandboxSpec(sandbox_id=SandboxId("box_1"), session_id=SESSION.id, commit_sha=COMMIT)
        )
        self.gate = IntegrityService(
            settings=settings,
            clock=ManualClock(),
            driver=self.driver,
            artifacts=self.artifacts,
            graph=store,
            metadata=store,
            mutator=NativeMutator(),
        )
        self.log: list[ExecutionRecord] = []
        services = SimpleNamespace(
            integrity=self.gate,
            indexer=SimpleNamespace(view=lambda changes: build_store(GRAPH), ensure_fresh=lambda: None),
            sessions=SimpleNamespace(require=lambda session_id, **_: SESSION),
            sandboxes=SimpleNamespace(
                get=lambda sandbox_id, **_: self.box,
                read=lambda sandbox_id, files, **_: tuple(ChangedFile(path=file, content=b"x") for file in files),
                executions=lambda session_id: tuple(self.log),
            ),
            sources=SimpleNamespace(read_at=lambda commit, files: ()),
        )
        self.activity = IntegrityActivities(cast("Any", services))

    def ran(self, command: str, exit_code: int) -> None:
        done = Execution(exit_code=exit_code, stdout="", stderr="", duration_ms=1.0)
        self.log.append(
            ExecutionRecord(
                id=command,
                sandbox_id=SandboxId("box_1"),
                session_id=SESSION.id,
                command=command,
                started_at=START,
                execution=done,
            )
        )

    def targets(self, *files: str, **more: Any) -> contract.Targets:
        step = contract.TargetsStep(
            key="k#1:verify.targets",
            session_id=SESSION.id,
            driver="d",
            sandbox_id=SandboxId("box_1"),
            files=tuple(map(FilePath, files)),
            **more,
        )
        return ActivityEnvironment().run(self.activity.targets, step)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_code_that_can_be_judged_is_paired_and_the_rest_of_the_change_is_not_in_the_way(bench: Bench) -> None:
    got = bench.targets("README.md", "src/prices.py", "web/show.ts")
    assert got == contract.Targets(pairs=((FilePath("src/prices.py"), FilePath("tests/test_prices.py")),))


def test_typescript_is_held_to_verdicts_where_its_tests_can_be_run(bench: Bench) -> None:
    bench.driver.write(bench.box, [ChangedFile(path=FilePath("web/show.test.ts"), content=b"import 'vitest';")])
    pair = (FilePath("web/show.ts"), FilePath("web/show.test.ts"))
    assert bench.targets("web/show.ts") == contract.Targets(pairs=(pair,))


def test_typescript_that_no_test_reaches_is_named_where_the_project_has_a_runner(bench: Bench) -> None:
    bench.ran("make test", 0)
    assert bench.targets("web/alone.ts").untested == ()
    package = b'{"devDependencies": {"vitest": "^3"}}'
    bench.driver.write(bench.box, [ChangedFile(path=FilePath("package.json"), content=package)])
    assert bench.targets("web/alone.ts").untested == ("web/alone.ts",)


def test_judgeable_code_without_a_test_is_named_not_excused(bench: Bench) -> None:
    bench.ran("make test", 0)
    assert bench.targets("README.md", "src/lonely.py").untested == ("src/lonely.py",)
    assert bench.artifacts.list("verify") == ()


@pytest.mark.parametrize("files", [("README.md",), ("web/show.ts", "web/show.test.ts"), ("tests/test_prices.py",)])
def test_without_code_to_judge_a_green_test_command_is_the_verdict(bench: Bench, files: tuple[str, ...]) -> None:
    bench.ran("false", 1)
    bench.ran("make test", 0)
    got = bench.targets(*files)
    assert (got.pairs, got.untested) == ((), ())
    assert got.verify_id is not None
    assert "make test" in got.detail
    report = bench.gate.report(got.verify_id)
    assert report is not None
    assert (report.status, report.nothing_to_judge) == ("passed", True)
    assert bench.targets(*files) == got, "a retry finds its own verdict"


def test_that_verdict_too_is_void_after_an_edit(bench: Bench) -> None:
    bench.ran("make test", 0)
    verify_id = bench.targets("README.md").verify_id
    assert verify_id is not None
    report = bench.gate.report(verify_id)
    assert report is not None
    present = tree_hash(COMMIT, bench.driver.changes(bench.box))
    box_id = SandboxId("box_1")
    assert passed_reports([report], sandbox_id=box_id, present=present, verify_id=verify_id) == (report,)
    bench.driver.write(bench.box, [ChangedFile(path=FilePath("README.md"), content=b"later")])
    present = tree_hash(COMMIT, bench.driver.changes(bench.box))
    with pytest.raises(VerificationRequired):
        passed_reports([report], sandbox_id=box_id, present=present, verify_id=verify_id)


def test_without_a_green_command_nothing_vouches(bench: Bench) -> None:
    with pytest.raises(VerificationRequired):
        bench.targets("README.md")
    bench.ran("make test", 0)
    bench.ran("make test again", 1)
    with pytest.raises(VerificationRequired):
        bench.targets("README.md")


def test_declared_pairs_are_taken_as_they_are(bench: Bench) -> None:
    pair = (FilePath("web/show.ts"), FilePath("web/show.test.ts"))
    assert bench.targets("README.md", declared=(pair,)).pairs == (pair,)
