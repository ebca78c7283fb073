"""The gate: assert check, then mutation testing, then a verdict bound to the box's present content.

A verdict is a document (artifacts, kind `verify`). Results of mutation runs are kept by what they depend on (the box's
whole content, target, test, lines), so that asking again about unchanged content gives the same answer without a run.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from smp.domain.errors import Invalid, SandboxFailed
from smp.domain.graph import Node, NodeKind
from smp.domain.ids import ContentHash, FilePath, NodeId, SandboxId, VerifyId, mint_node_id
from smp.domain.mutants import IntegrityReport, MissingAssert, Mutant, MutantOutcome, MutantStatus
from smp.domain.paths import repository_path
from smp.domain.sandboxes import ChangedFile, Limits, Sandbox, SandboxSpec
from smp.domain.sessions import Session
from smp.domain.verification import passed_reports, tree_hash
from smp.indexing.analyse import analyse
from smp.integrity.assertions import missing_asserts, rules_for
from smp.integrity.equivalents import marks_of, with_marks
from smp.integrity.mutation import MutationTester, SuiteRun
from smp.languages.assertions import assertion_rules
from smp.ports.artifact_store import VERIFY, ArtifactStore
from smp.ports.clock import Clock
from smp.ports.graph_store import GraphStore
from smp.ports.metadata_store import MetadataStore
from smp.ports.mutator import Mutator
from smp.ports.sandbox_driver import SandboxDriver
from smp.settings import Settings

MUTATION = "mutation"
COVERAGE = "coverage"
_CALLABLE = (NodeKind.FUNCTION, NodeKind.CLASS)
_MAX_OUTPUT = 20_000


class IntegrityService:
    """See the module. Keeps no state of its own; safe from several threads."""

    def __init__(
        self,
        *,
        settings: Settings,
        clock: Clock,
        driver: SandboxDriver,
        artifacts: ArtifactStore,
        graph: GraphStore,
        metadata: MetadataStore,
        mutator: Mutator,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._driver = driver
        self._artifacts = artifacts
        self._graph = graph
        self._metadata = metadata
        self._mutator = mutator
        self._tester = MutationTester(driver, mutator=settings.gate.mutator)

    def verify(
        self,
        session: Session,
        sandbox: Sandbox,
        target_file: str,
        test_file: str,
        *,
        lines: frozenset[int] | None = None,
        key: str = "",
        heartbeat: Callable[[], None] | None = None,
    ) -> IntegrityReport:
        """Judge one test file against one target, as both lie in the box.

        Args:
            lines: Lines of the target whose mutants count; all when None.
            key: Chosen id of the verdict; the same key again returns the first verdict. Minted when empty.
            heartbeat: Called at least once a second while something runs in the box.

        Raises:
            Invalid: A file does not exist in the box, lies outside it, or is of a kind that cannot be verified.
            SandboxNotFound: The box is gone.
            SandboxFailed: The tests cannot be run in the box; the message says what is missing.
            TooLarge: The mutants do not get done; verify fewer lines.
        """
        verify_id = VerifyId(key or self._clock.fresh_id("ver"))
        stored = self._artifacts.get(VERIFY, verify_id)
        if stored is not None:
            return msgspec.json.decode(stored, type=IntegrityReport)
        target = repository_path(target_file, path="target_file")
        test = repository_path(test_file, path="test_file")
        if assertion_rules(target) not in (None, rules_for(test)):
            raise Invalid(f"{test!r} is a test of another language than {target!r}", path="test_file")
        source, test_source = self._read_both(sandbox, target, test)
        changes = self._driver.changes(sandbox)
        report = IntegrityReport(
            id=verify_id,
            session_id=session.id,
            sandbox_id=sandbox.spec.sandbox_id,
            target_file=target,
            test_file=test,
            tree_hash=tree_hash(sandbox.spec.commit_sha, changes),
            status="failed",
            verified_at=self._clock.now(),
            target_hash=ContentHash(hashlib.sha256(source).hexdigest()),
        )
        nodes = [node for node in analyse(target, source).nodes if node.kind in _CALLABLE]
        missing = missing_asserts(
            target,
            source,
            test,
            test_source,
            nodes={node.qualname: node for node in nodes},
            read=lambda paths: self._read(sandbox, paths),
        )
        if missing:
            report = replace(report, failure_code="MISSING_AST_ASSERT", missing_asserts=missing)
        else:
            owner = _owners(target, nodes)
            found = self._mutator.enumerate(target, source, lines=lines)
            mutants = tuple(replace(mutant, node_id=owner(mutant.line)) for mutant in found)
            limits = self._limits()
            with self._left_as_found(sandbox, changes):
                suite = self._suite(report, sandbox, source, mutants, lines, limits, heartbeat)
                suite = replace(suite, outcomes=tuple(_with_owner(one, owner) for one in suite.outcomes))
                report = _judged(report, suite, [node for node in nodes if _touches(node, lines)])
                report = with_marks(report, marks_of(self._artifacts, session.id, report.target_hash))
            if suite.is_green:
                delta = self._coverage_delta(sandbox, target, test, changes, suite, limits, heartbeat)
                report = replace(report, coverage_delta_pct=delta)
        body = self._artifacts.put_if_absent(VERIFY, verify_id, msgspec.json.encode(report), session_id=session.id)
        return msgspec.json.decode(body, type=IntegrityReport)

    def judges(self, path: FilePath) -> bool:
        """Whether the gate can judge code in a file of this kind."""
        if assertion_rules(path) is None:
            return False
        try:
            self._mutator.enumerate(path, b"", lines=None)
        except Invalid:
            return False
        return True

    def runs_tests(self, sandbox: Sandbox, path: FilePath, *, is_test: bool = True) -> bool:
        """Whether the gate can run this test file of a box or, when it is none, tests of code in this file at all.

        What is merely not installed is not asked here: the verdict says so.

        Raises:
            SandboxNotFound: The box is gone.
        """
        rules = rules_for(path)
        wanted = ((path,) if is_test else ()) + ((rules.manifest,) if rules.manifest is not None else ())
        found = self._read(sandbox, wanted)
        manifest = found.get(rules.manifest) if rules.manifest is not None else None
        return rules.has_known_runner(found.get(path) if is_test else None, manifest)

    def nothing_to_judge(self, session: Session, sandbox: Sandbox, evidence: str, *, key: str = "") -> IntegrityReport:
        """Let a box's present content out unjudged: no changed file holds code that the gate can judge.

        The caller has seen to that, and to a green test command.

        Args:
            evidence: Which command was green; the pull request says so.
            key: Chosen id of the verdict; the same key again returns the first verdict.
        """
        verify_id = VerifyId(key or self._clock.fresh_id("ver"))
        report = IntegrityReport(
            id=verify_id,
            session_id=session.id,
            sandbox_id=sandbox.spec.sandbox_id,
            target_file=FilePath(""),
            test_file=FilePath(""),
            tree_hash=tree_hash(sandbox.spec.commit_sha, self._driver.changes(sandbox)),
            status="passed",
            verified_at=self._clock.now(),
            test_output=evidence,
            nothing_to_judge=True,
        )
        body = self._artifacts.put_if_absent(VERIFY, verify_id, msgspec.json.encode(report), session_id=session.id)
        return msgspec.json.decode(body, type=IntegrityReport)

    def report(self, verify_id: str) -> IntegrityReport | None:
        """A stored verdict."""
        body = self._artifacts.get(VERIFY, verify_id)
        return msgspec.json.decode(body, type=IntegrityReport) if body is not None else None

    def require_passed(
        self, session: Session, sandbox: Sandbox, verify_id: str | None = None
    ) -> tuple[IntegrityReport, ...]:
        """The verdicts that let the box's present content out.

        Raises:
            VerificationRequired: See `passed_reports`.
        """
        present = tree_hash(sandbox.spec.commit_sha, self._driver.changes(sandbox))
        stored = self._artifacts.list(VERIFY, session_id=session.id)
        reports = [msgspec.json.decode(body, type=IntegrityReport) for _, body in stored]
        return passed_reports(reports, sandbox_id=sandbox.spec.sandbox_id, present=present, verify_id=verify_id)

    def _limits(self) -> Limits:
        chosen = self._settings.sandbox
        return Limits(
            memory_mb=chosen.memory_mb,
            disk_mb=chosen.disk_mb,
            pids=chosen.pids,
            cpu_pct=chosen.cpu_pct,
            timeout_ms=chosen.timeout_ms,
        )

    def _read(self, sandbox: Sandbox, paths: tuple[FilePath, ...]) -> Mapping[FilePath, bytes]:
        return {file.path: file.content for file in self._driver.read(sandbox, paths) if file.content is not None}

    def _read_both(self, sandbox: Sandbox, target: FilePath, test: FilePath) -> tuple[bytes, bytes]:
        found = self._read(sandbox, (target, test))
        for path, parameter in ((target, "target_file"), (test, "test_file")):
            if path not in found:
                raise Invalid(f"no file {path!r} in the box; write it there first or correct the path", path=parameter)
        return found[target], found[test]

    def _suite(
        self,
        report: IntegrityReport,
        sandbox: Sandbox,
        source: bytes,
        mutants: tuple[Mutant, ...],
        lines: frozenset[int] | None,
        limits: Limits,
        heartbeat: Callable[[], None] | None,
    ) -> SuiteRun:
        asked = "all" if lines is None else ",".join(str(line) for line in sorted(lines))
        texts = (mutant.mutated for mutant in mutants)
        parts = (report.tree_hash, report.target_file, report.test_file, asked, self._settings.gate.mutator, *texts)
        key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        kept = self._artifacts.get(MUTATION, key)
        if kept is not None:
            return msgspec.json.decode(kept, type=SuiteRun)
        suite = self._tester.run(
            sandbox,
            report.target_file,
            source,
            report.test_file,
            mutants,
            limits=limits,
            lines=lines,
            heartbeat=heartbeat,
        )
        if suite.is_green:  # a red suite may be red by chance
            self._artifacts.put(MUTATION, key, msgspec.json.encode(suite))
        return suite

    @contextlib.contextmanager
    def _left_as_found(self, sandbox: Sandbox, before: tuple[ChangedFile, ...]) -> Iterator[None]:
        """Put the checkout back when tests of mutants wrote into it."""
        try:
            yield
        finally:
            after = {change.path: change for change in self._driver.changes(sandbox)}
            known = {change.path: change for change in before}
            repairs = [change for path, change in known.items() if after.get(path) != change]
            strays = [path for path in after if path not in known]
            if strays:
                repairs += self._at_commit(sandbox, tuple(sorted(strays)))
            if repairs:
                self._driver.write(sandbox, repairs)

    def _at_commit(self, sandbox: Sandbox, paths: tuple[FilePath, ...]) -> list[ChangedFile]:
        with self._baseline(sandbox) as box:
            return list(self._driver.read(box, paths))

    @contextlib.contextmanager
    def _baseline(self, sandbox: Sandbox) -> Iterator[Sandbox]:
        """A box of the same commit without the session's changes, for as long as it is needed."""
        spec = SandboxSpec(
            sandbox_id=SandboxId(self._clock.fresh_id("box")),
            session_id=sandbox.spec.session_id,
            commit_sha=sandbox.spec.commit_sha,
            limits=sandbox.spec.limits,
            egress=sandbox.spec.egress,
            image=sandbox.spec.image,
        )
        box = self._driver.spawn(spec)
        try:
            yield box
        finally:
            self._driver.destroy(box)

    def _coverage_delta(
        self,
        sandbox: Sandbox,
        target: FilePath,
        test: FilePath,
        changes: tuple[ChangedFile, ...],
        suite: SuiteRun,
        limits: Limits,
        heartbeat: Callable[[], None] | None,
    ) -> float | None:
        """Percentage points of the target's lines that the test file reaches, now against at the commit."""
        after = suite.coverage_pct()
        if after is None:
            return None
        if not changes:
            return 0.0
        key = hashlib.sha256("\0".join((sandbox.spec.commit_sha, target, test)).encode()).hexdigest()
        kept = self._artifacts.get(COVERAGE, key)
        if kept is not None:
            before = msgspec.json.decode(kept, type=float | None)
        else:
            before = self._coverage_before(sandbox, target, test, limits, heartbeat)
            self._artifacts.put(COVERAGE, key, msgspec.json.encode(before))
        return None if before is None else round(after - before, 2)

    def _coverage_before(
        self,
        sandbox: Sandbox,
        target: FilePath,
        test: FilePath,
        limits: Limits,
        heartbeat: Callable[[], None] | None,
    ) -> float | None:
        """None when the tests do not pass at the commit; 0 when one of the files is new."""
        with self._baseline(sandbox) as box:
            found = self._read(box, (target, test))
            if target not in found or test not in found:
                return 0.0
            try:
                suite = self._tester.run(box, target, found[target], test, (), limits=limits, heartbeat=heartbeat)
            except SandboxFailed:
                return None
            return suite.coverage_pct() if suite.is_green else None


def _owners(target: FilePath, nodes: list[Node]) -> Callable[[int], NodeId]:
    """Line of a file → the innermost definition that holds it."""
    narrow = sorted(nodes, key=lambda node: node.end_line - node.start_line)
    whole = mint_node_id("file", target)

    def owner(line: int) -> NodeId:
        return next((node.id for node in narrow if node.start_line <= line <= node.end_line), whole)

    return owner


def _with_owner(outcome: MutantOutcome, owner: Callable[[int], NodeId]) -> MutantOutcome:
    """A tool of the project's own knows lines, not definitions."""
    mutant = outcome.mutant
    return outcome if mutant.node_id else replace(outcome, mutant=replace(mutant, node_id=owner(mutant.line)))


def _touches(node: Node, lines: frozenset[int] | None) -> bool:
    return lines is None or any(node.start_line <= line <= node.end_line for line in lines)


def _judged(report: IntegrityReport, suite: SuiteRun, nodes: list[Node]) -> IntegrityReport:
    """The verdict on a suite's run.

    A test file that never runs what is judged says nothing about it: its functions are reported as lacking an assertion,
    because a score over no mutants would pass for perfect.
    """
    output = suite.output[-_MAX_OUTPUT:]
    report = replace(report, tests_passed=suite.passed, tests_failed=suite.failed, test_output=output)
    if not suite.is_green:
        return replace(report, failure_code="TESTS_FAILING")
    functions = [node for node in nodes if node.kind is NodeKind.FUNCTION]
    count = {status: sum(outcome.status is status for outcome in suite.outcomes) for status in MutantStatus}
    ran = sum(count.values()) - count[MutantStatus.NOT_COVERED] - count[MutantStatus.EQUIVALENT]
    if functions and (not any(suite.lines) or (count[MutantStatus.NOT_COVERED] and not ran)):
        absent = tuple(
            MissingAssert(node_id=node.id, test=report.test_file, output_type=node.return_type) for node in functions
        )
        not_covered = count[MutantStatus.NOT_COVERED]
        return replace(
            report, failure_code="MISSING_AST_ASSERT", missing_asserts=absent, mutants_not_covered=not_covered
        )
    killed = count[MutantStatus.KILLED] + count[MutantStatus.TIMEOUT]
    survived = count[MutantStatus.SURVIVED]
    return replace(
        report,
        status="failed" if survived else "passed",
        failure_code="SURVIVING_MUTANT" if survived else None,
        outcomes=suite.outcomes,
        mutants_total=killed + survived,
        mutants_killed=killed,
        mutants_survived=survived,
        mutants_equivalent=count[MutantStatus.EQUIVALENT],
        mutants_timed_out=count[MutantStatus.TIMEOUT],
        mutants_not_covered=count[MutantStatus.NOT_COVERED],
        mutation_score=killed / (killed + survived) if killed + survived else 1.0,
    )
