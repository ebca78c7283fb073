"""From a verified folder box to a pushed branch and its document, on real git."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import cast

import msgspec
import pytest
from msgspec.structs import replace

from smp.adapters.clock_system import SystemClock
from smp.adapters.forge_git import GitForge
from smp.adapters.memory import MemoryStore
from smp.adapters.sessions_sqlite.artifacts import SqliteArtifactStore
from smp.adapters.sessions_sqlite.sessions import SqliteSessionStore
from smp.domain.errors import ForgeFailed, Invalid, SandboxNotFound, ScopeViolation, VerificationRequired
from smp.domain.graph import Edge, EdgeKind, GraphDelta, GraphPart, Node, NodeKind, Owner
from smp.domain.handoffs import ReviewDecision, ReviewRequest, ReviewStatus
from smp.domain.ids import AgentId, FilePath, HandoffId, NodeId, SandboxId, SessionId, VerifyId
from smp.domain.mutants import IntegrityReport, Mutant, MutantOutcome, MutantStatus
from smp.domain.records import KnownAboutFile
from smp.domain.sandboxes import ChangedFile, Execution, ExecutionRecord, RuntimeCall, Sandbox, SandboxSpec
from smp.domain.sessions import AuditEvent
from smp.domain.verification import tree_hash
from smp.handoff.document import Sections
from smp.handoff.pull_request import HandoffService, PullRequestRequest
from smp.indexing.pipeline import Indexer
from smp.indexing.reports import FileChange, GraphPreview
from smp.settings import load_settings
from tests.builders.folder_boxes import START, FolderDriver, git, make_repository, make_session, write_files

PRICES = "def net(cents):\n    return cents\n\n\ndef tax(cents):\n    return 2 * cents\n"
NET, TAX = NodeId("function:src/prices.py#net"), NodeId("function:src/prices.py#tax")
REQUEST = PullRequestRequest(title="fix: net of tax", issue_refs=("#42",))


class CallsByName:
    """The part of an indexer that a handoff uses: calls between top-level functions of one file."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def preview(self, changes: Iterable[FileChange]) -> GraphPreview:
        given = [change for change in changes if change.path.endswith(".py")]
        before = [edge for c in given for edge in _calls(c.path, (self._root / c.path).read_bytes())]
        after = [edge for c in given for edge in _calls(c.path, c.content or b"")]
        return GraphPreview(files=tuple(c.path for c in given), before_edges=tuple(before), after_edges=tuple(after))


def _calls(path: FilePath, content: bytes) -> list[Edge]:
    functions = {node.name: node for node in ast.parse(content).body if isinstance(node, ast.FunctionDef)}
    return [
        Edge(
            kind=EdgeKind.CALLS_STATIC,
            source=NodeId(f"function:{path}#{name}"),
            target=NodeId(f"function:{path}#{call.func.id}"),
        )
        for name, function in functions.items()
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in functions
    ]


class Desk:
    """A session with a box, stores and a handoff service."""

    def __init__(self, root: Path, scope: tuple[str, ...] = ("src/",)) -> None:
        self.repo, self.remote = root / "repo", root / "remote.git"
        self.commit = make_repository(self.repo, {"src/prices.py": PRICES, "README.md": "r\n", ".gitignore": ".smp/\n"})
        git(root, "init", "-q", "--bare", "-b", "main", str(self.remote))
        git(self.repo, "remote", "add", "origin", str(self.remote))
        git(self.repo, "push", "-q", "origin", "main")
        self.settings = load_settings(self.repo, data_dir=root / "data", environ={})
        self.driver = FolderDriver(self.repo, root / "boxes")
        self.artifacts = SqliteArtifactStore(self.settings)
        self.store = SqliteSessionStore(self.settings)
        self.session = make_session(self.commit, scope=scope)
        self.store.insert(self.session, AuditEvent(seq=1, at=START, method="smp/session/open"))
        spec = SandboxSpec(sandbox_id=SandboxId("box_1"), session_id=self.session.id, commit_sha=self.commit)
        self.box: Sandbox = self.driver.spawn(spec)
        self.known: dict[str, KnownAboutFile] = {}
        self.graph = MemoryStore()
        self.service = HandoffService(
            settings=self.settings,
            clock=SystemClock(),
            forge=GitForge(self.settings),
            driver=self.driver,
            artifacts=self.artifacts,
            graph=self.graph,
            indexer=cast("Indexer", CallsByName(self.repo)),
            session_store=self.store,
            known=self.known.get,
        )

    def hold(self, node_id: NodeId, calls: NodeId | None = None) -> None:
        """Something of the repository that is in the graph."""
        path, _, name = node_id.partition(":")[2].partition("#")
        node = Node(id=node_id, kind=NodeKind.FUNCTION, name=name, qualname=name, file=FilePath(path))
        edges = (Edge(kind=EdgeKind.CALLS_STATIC, source=node_id, target=calls),) if calls is not None else ()
        self.graph.apply(GraphDelta(parts=(GraphPart(owner=Owner(path), nodes=(node,), edges=edges),)))

    def edit(
        self, path: str = "src/prices.py", text: str = PRICES.replace("return cents\n", "return cents - tax(cents)\n")
    ) -> None:
        self.driver.write(self.box, [ChangedFile(path=FilePath(path), content=text.encode())])

    def vouch(self, **fields: object) -> None:
        """A verdict on the present content, as the gate would store it."""
        report = IntegrityReport(
            id=VerifyId("ver_1"),
            session_id=self.session.id,
            sandbox_id=SandboxId("box_1"),
            target_file=FilePath("src/prices.py"),
            test_file=FilePath("tests/test_prices.py"),
            tree_hash=tree_hash(self.commit, self.driver.changes(self.box)),
            status="passed",
            mutants_total=4,
            mutants_killed=4,
            coverage_delta_pct=12.5,
            tests_passed=3,
        )
        report = replace(report, **fields)
        self.artifacts.put("verify", report.id, msgspec.json.encode(report), session_id=self.session.id)

    def log(self, command: str, *calls: RuntimeCall, exit_code: int = 0) -> None:
        record = ExecutionRecord(
            id=f"exe_{command}",
            sandbox_id=SandboxId("box_1"),
            session_id=self.session.id,
            command=command,
            started_at=START,
            execution=Execution(exit_code=exit_code, stdout="", stderr="", duration_ms=12.0),
            calls=calls,
        )
        self.artifacts.put("execution", record.id, msgspec.json.encode(record), session_id=self.session.id)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_verified_change_is_pushed_with_its_document(desk: Desk) -> None:
    desk.edit()
    desk.vouch()
    desk.log("pytest -q", RuntimeCall(source=NET, target=TAX, count=3, new=True))
    result = desk.service.pull_request(desk.session, desk.box, REQUEST)
    assert result.pull_request is not None
    assert (result.status, result.pull_request.files_changed) == ("open", ("src/prices.py",))
    assert (result.diff.modified, result.diff.calls_added, result.calls_runtime_added) == ((NET,), ((NET, TAX),), 1)
    assert (result.coverage_delta_pct, result.mutation_score) == (12.5, 1.0)
    assert git(desk.remote, "rev-parse", f"refs/heads/smp/{desk.session.id}") == result.pull_request.head_sha
    text = Path(result.document).read_text("utf-8")
    for part in (
        "# fix: net of tax",
        "#42",
        f"`{NET}` → `{TAX}`",
        "```mermaid",
        "-->|new|",
        "4 of 4",
        "`pytest -q`",
        "+12.50",
    ):
        assert part in text


def test_repeating_gives_the_same_result_and_one_line_of_audit(desk: Desk) -> None:
    desk.edit()
    desk.vouch()
    first = desk.service.pull_request(desk.session, desk.box, REQUEST)
    text = Path(first.document).read_bytes()
    assert desk.service.pull_request(desk.session, desk.box, REQUEST) == first
    assert Path(first.document).read_bytes() == text
    assert [event.method for event in desk.store.events(desk.session.id)] == ["smp/session/open", "smp/handoff/pr"]


def test_sections_that_are_not_wanted_are_left_out(desk: Desk) -> None:
    desk.edit()
    desk.vouch()
    none = Sections(structural_diff=False, runtime_edges=False, mutation_score=False, execution_log=False)
    result = desk.service.pull_request(desk.session, desk.box, replace(REQUEST, include=none))
    headings = [line for line in Path(result.document).read_text("utf-8").splitlines() if line.startswith("## ")]
    assert headings == ["## Files", "## Tests"]


def test_calls_are_compared_with_the_base_commit_not_with_the_working_tree(desk: Desk) -> None:
    write_files(desk.repo, {"src/prices.py": PRICES.replace("return 2 * cents", "return net(cents)")})
    desk.edit()
    desk.vouch()
    result = desk.service.pull_request(desk.session, desk.box, REQUEST)
    assert (result.diff.calls_added, result.diff.calls_removed) == (((NET, TAX),), ())


def test_a_reviewer_sees_who_is_affected_what_was_known_and_what_to_close(desk: Desk) -> None:
    caller = NodeId("function:src/till.py#pay")
    desk.hold(NET)
    desk.hold(caller, calls=NET)
    desk.known["src/prices.py"] = KnownAboutFile(
        episodes=("ep_1",),
        failures=("f1",),
        file="src/prices.py",
        fixed_by={"f1": ("r1",)},
        node="n",
        rules=("r1",),
        seen_counts={},
    )
    desk.edit()
    desk.vouch()
    text = Path(desk.service.pull_request(desk.session, desk.box, REQUEST).document).read_text("utf-8")
    for part in (
        "Fixes #42",
        f"- `{caller}` → `{NET}`",
        "called by 1 unchanged definition in 1 file;",
        "1 earlier session, 1 known failure",
        "rules `r1`",
    ):
        assert part in text
    assert re.search(r"n\d --> n\d", text)


def test_neither_secrets_nor_places_of_this_machine_get_out(desk: Desk) -> None:
    desk.edit()
    desk.vouch()
    desk.log(f"cd {desk.repo}/src && API_TOKEN=planted-secret-1 pytest")
    result = desk.service.pull_request(desk.session, desk.box, REQUEST)
    text = Path(result.document).read_text("utf-8")
    assert "cd <repo>/src && API_TOKEN=*** pytest" in text
    stored = b"".join(path.read_bytes() for path in (desk.settings.data_dir / "pull_requests").rglob("*.md"))
    assert b"planted-secret-1" not in stored
    assert str(desk.repo).encode() not in stored


def test_however_many_commands_the_document_stays_within_what_hosts_take(desk: Desk) -> None:
    desk.edit()
    desk.vouch()
    for number in range(60):
        calls = [
            RuntimeCall(source=NodeId(f"function:src/{'d/' * 700}{number}.py#a{at}"), target=NET, count=1, new=True)
            for at in range(3)
        ]
        desk.log(f"run {number} {'x' * 300}", *calls)
    text = Path(desk.service.pull_request(desk.session, desk.box, REQUEST).document).read_text("utf-8")
    assert len(text) < 65_536
    assert "## Runtime edges\n\n_Left out" in text


def test_a_base_that_moved_over_the_same_lines_is_a_conflict_whose_branch_is_left_for_people(desk: Desk) -> None:
    desk.edit()
    desk.vouch()
    rival = desk.repo.parent / "rival"
    git(desk.repo.parent, "clone", "-q", str(desk.remote), str(rival))
    write_files(rival, {"src/prices.py": PRICES.replace("return cents\n", "return cents + 1\n")})
    git(rival, "commit", "-q", "-am", "rival")
    git(rival, "push", "-q", "origin", "HEAD:main")
    result = desk.service.pull_request(desk.session, desk.box, REQUEST)
    assert (result.status, [one.file for one in result.conflicts], result.pull_request) == (
        "conflict",
        ["src/prices.py"],
        None,
    )
    assert result.conflicts[0].hunks[0].theirs == "    return cents + 1\n"
    assert result.pushed is not None
    assert git(desk.remote, "rev-parse", f"refs/heads/smp/{desk.session.id}") == result.pushed.head_sha
    assert not (desk.settings.data_dir / "pull_requests").exists()


def test_without_a_verdict_on_the_present_content_nothing_leaves(desk: Desk) -> None:
    with pytest.raises(VerificationRequired):
        desk.service.pull_request(desk.session, desk.box, REQUEST)
    desk.edit()
    desk.vouch()
    desk.edit(text=PRICES + "\n\nLATE = 1\n")
    with pytest.raises(VerificationRequired):
        desk.service.pull_request(desk.session, desk.box, REQUEST)
    assert git(desk.remote, "for-each-ref", "refs/heads/smp") == ""


def test_a_target_may_be_vouched_for_by_any_of_its_test_files_unless_one_is_red(desk: Desk) -> None:
    desk.edit()
    desk.vouch()
    desk.vouch(
        id=VerifyId("ver_2"), test_file=FilePath("tests/weak.py"), status="failed", failure_code="SURVIVING_MUTANT"
    )
    assert desk.service.pull_request(desk.session, desk.box, REQUEST).status == "open"
    with pytest.raises(VerificationRequired):
        desk.service.pull_request(desk.session, desk.box, replace(REQUEST, verify_id=VerifyId("ver_2")))
    desk.vouch(id=VerifyId("ver_3"), test_file=FilePath("tests/red.py"), status="failed", failure_code="TESTS_FAILING")
    with pytest.raises(VerificationRequired, match="failed"):
        desk.service.pull_request(desk.session, desk.box, REQUEST)


def test_one_failed_verdict_holds_the_others_back(desk: Desk) -> None:
    desk.edit()
    desk.vouch()
    desk.vouch(id=VerifyId("ver_2"), target_file=FilePath("src/other.py"), status="failed")
    with pytest.raises(VerificationRequired, match=r"src/other\.py failed"):
        desk.service.pull_request(desk.session, desk.box, REQUEST)


def test_a_verdict_that_was_named_must_be_one_of_this_content(desk: Desk) -> None:
    desk.edit()
    desk.vouch()
    with pytest.raises(VerificationRequired):
        desk.service.pull_request(desk.session, desk.box, replace(REQUEST, verify_id=VerifyId("ver_other")))
    assert (
        desk.service.pull_request(desk.session, desk.box, replace(REQUEST, verify_id=VerifyId("ver_1"))).status
        == "open"
    )


def test_a_file_outside_the_scope_is_refused(desk: Desk) -> None:
    desk.edit()
    desk.edit("README.md", "mine\n")
    desk.vouch()
    with pytest.raises(ScopeViolation) as caught:
        desk.service.pull_request(desk.session, desk.box, REQUEST)
    assert caught.value.data()["attempted_file"] == "README.md"


def test_bad_input_is_named(desk: Desk) -> None:
    desk.vouch()
    with pytest.raises(Invalid) as nothing:
        desk.service.pull_request(desk.session, desk.box, REQUEST)
    desk.edit()
    desk.vouch()
    with pytest.raises(Invalid) as base:
        desk.service.pull_request(desk.session, desk.box, replace(REQUEST, base_sha="f" * 40))
    assert (nothing.value.path, base.value.path) == ("sandbox_id", "base_sha")
    short = replace(REQUEST, base_sha=desk.commit[:8])
    assert desk.service.pull_request(desk.session, desk.box, short).base_sha == desk.commit


def test_a_box_of_another_session_is_not_found(desk: Desk) -> None:
    other = replace(desk.session, id=SessionId("ses_other"))
    with pytest.raises(SandboxNotFound):
        desk.service.pull_request(other, desk.box, REQUEST)


def test_a_document_that_cannot_be_written_is_said_and_a_repeat_heals_it(desk: Desk) -> None:
    desk.edit()
    desk.vouch()
    blocked = desk.settings.data_dir / "pull_requests"
    blocked.write_text("in the way")
    with pytest.raises(ForgeFailed, match="document cannot be written"):
        desk.service.pull_request(desk.session, desk.box, REQUEST)
    os.unlink(blocked)
    assert Path(desk.service.pull_request(desk.session, desk.box, REQUEST).document).is_file()


def test_an_unanswered_review_holds_the_branch_back_from_any_box_of_the_session(desk: Desk) -> None:
    desk.edit()
    desk.vouch()
    present = tree_hash(desk.commit, desk.driver.changes(desk.box))
    asked = ReviewRequest(
        id=HandoffId("hnd_1"),
        session_id=desk.session.id,
        sandbox_id=SandboxId("box_0"),
        reviewer_agent=AgentId("reviewer"),
        reviewer_session=SessionId("ses_reviewer"),
        verify_result_id=VerifyId("ver_1"),
        tree_hash=present,
    )
    desk.artifacts.put("handoff", asked.id, msgspec.json.encode(asked), session_id=desk.session.id)
    with pytest.raises(VerificationRequired, match="has not decided on hnd_1"):
        desk.service.pull_request(desk.session, desk.box, REQUEST)
    assert git(desk.remote, "for-each-ref", "refs/heads/smp") == ""
    decided = ReviewDecision(status=ReviewStatus.APPROVED, comments="clear\nand short", decided_at=START)
    desk.artifacts.put("handoff_decision", asked.id, msgspec.json.encode(decided), session_id=desk.session.id)
    result = desk.service.pull_request(desk.session, desk.box, REQUEST)
    text = Path(result.document).read_text("utf-8")
    assert "- Review: approved by `reviewer` (`hnd_1`): clear and short" in text


def test_survivors_declared_equivalent_are_named_with_their_reason(desk: Desk) -> None:
    desk.edit()
    mutant = Mutant(
        index=0,
        file=FilePath("src/prices.py"),
        node_id=NET,
        line=2,
        operator="constant",
        original="1",
        mutated="2",
        start_byte=0,
        end_byte=1,
    )
    marked = MutantOutcome(mutant=mutant, status=MutantStatus.EQUIVALENT, reason="never read")
    desk.vouch(outcomes=(marked,), mutants_marked=1)
    text = Path(desk.service.pull_request(desk.session, desk.box, REQUEST).document).read_text("utf-8")
    assert "survived, declared equivalent: line 2 `1` → `2`: never read" in text


def test_files_that_the_gate_did_not_judge_are_listed(desk: Desk) -> None:
    desk.edit()
    desk.edit("src/notes.md", "new\n")
    desk.vouch()
    text = Path(desk.service.pull_request(desk.session, desk.box, REQUEST).document).read_text("utf-8")
    listed = text.partition("Not judged by the integrity gate:")[2].partition("##")[0]
    assert "`src/notes.md`" in listed
    assert "`src/prices.py`" not in listed


def test_a_change_with_nothing_to_judge_says_so_and_names_the_command_that_was_green(desk: Desk) -> None:
    desk.edit("src/notes.md", "new\n")
    nowhere = FilePath("")
    desk.vouch(
        target_file=nowhere,
        test_file=nowhere,
        nothing_to_judge=True,
        test_output="The test command was green: make test",
        mutants_total=0,
        mutants_killed=0,
        coverage_delta_pct=None,
    )
    result = desk.service.pull_request(desk.session, desk.box, REQUEST)
    text = Path(result.document).read_text("utf-8")
    assert "The integrity gate had nothing to judge" in text
    assert "make test" in text
    assert "No mutants were made" in text
    assert "``" not in text, "no empty target or test is shown"
    assert (result.mutation_score, result.coverage_delta_pct) == (1.0, None)
