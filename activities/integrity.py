"""Activities of the integrity gate: which pairs to judge, and the verdict on one of them."""

from __future__ import annotations

import difflib
import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING

from temporalio import activity

from activities import contract
from activities.heartbeat import stop_if_cancelled
from smp.domain.errors import VerificationRequired
from smp.domain.ids import FilePath, NodeId
from smp.domain.mutants import IntegrityReport, MutantStatus
from smp.domain.runs import Verdict
from smp.indexing.reports import FileChange
from smp.query.tested_by import guarding_tests

if TYPE_CHECKING:
    from smp.services import Services

NAMED = 20
"""Findings that are worded one by one; the rest is counted."""
VERDICTS = {
    None: Verdict.PASSED,
    "SURVIVING_MUTANT": Verdict.SURVIVING_MUTANT,
    "MISSING_AST_ASSERT": Verdict.MISSING_ASSERT,
    "TESTS_FAILING": Verdict.FAIL,
}


class IntegrityActivities:
    """Reads only, but for the verdict itself, which has an id derived from the step's key."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @activity.defn(name=contract.VERIFY_TARGETS, no_thread_cancel_exception=True)
    def targets(self, step: contract.TargetsStep) -> contract.Targets:
        """The pairs of changed code and the tests that reach it, as the box has them.

        Code in a language that the gate cannot judge, or whose tests it cannot run, has no pair. A change without any code to judge gets a verdict that
        says so, on the strength of the test command that was green before. Idempotent by `key`: the first verdict stands.
        """
        if step.declared:
            return contract.Targets(pairs=tuple(sorted(step.declared)))
        self._services.indexer.ensure_fresh()
        changes = [
            FileChange(path=file.path, content=file.content)
            if file.content is not None
            else FileChange(path=file.path, change_type="deleted")
            for file in self._services.sandboxes.read(step.sandbox_id, step.files, session_id=step.session_id)
        ]
        judges = self._services.integrity.judges
        files = tuple(file for file in step.files if judges(file))
        lines = {file: self._changed_lines(step, file) for file in files}
        seen = self._seen_calls(step)
        found = guarding_tests(self._services.indexer.view(changes), lines, offered=step.files, seen=seen)
        box = self._services.sandboxes.get(step.sandbox_id, session_id=step.session_id)
        runs = self._services.integrity.runs_tests
        tests = {test: runs(box, test) for test in {test for _, test in found.pairs} if judges(test)}
        pairs = tuple(pair for pair in found.pairs if tests.get(pair[1]))
        excused = {target for target, test in found.pairs if tests.get(test) is False}
        unguarded = {target for target, _ in found.pairs} - {target for target, _ in pairs} - excused
        lonely = (file for file in found.untested if runs(box, file, is_test=False))
        untested = tuple(sorted({*lonely, *unguarded}))
        if pairs or untested:
            return contract.Targets(pairs=pairs, untested=untested)
        return self._nothing_to_judge(step)

    def _seen_calls(self, step: contract.BoxStep) -> dict[NodeId, list[NodeId]]:
        """Who called whom in the last command that was traced in this box: the run of the tests. Callers by callee."""
        callers: dict[NodeId, list[NodeId]] = defaultdict(list)
        ran = [one for one in self._services.sandboxes.executions(step.session_id) if one.sandbox_id == step.sandbox_id]
        for call in next((one.calls for one in reversed(ran) if one.calls), ()):
            callers[call.target].append(call.source)
        return callers

    def _nothing_to_judge(self, step: contract.TargetsStep) -> contract.Targets:
        session = self._services.sessions.require(step.session_id, driver=step.driver, method="smp/verify/integrity")
        box = self._services.sandboxes.get(step.sandbox_id, session_id=step.session_id)
        ran = [one for one in self._services.sandboxes.executions(session.id) if one.sandbox_id == step.sandbox_id]
        if not ran or ran[-1].execution.exit_code != 0 or ran[-1].execution.timed_out:
            raise VerificationRequired("the change holds no code to judge, and no green test command vouches for it")
        evidence = f"The test command was green: {ran[-1].command}"
        report = self._services.integrity.nothing_to_judge(session, box, evidence, key=_verify_id(step.key))
        return contract.Targets(
            verify_id=report.id,
            detail=f"tests apart, no changed file defines functions that the gate can judge. {evidence}",
        )

    @activity.defn(name=contract.VERIFY_INTEGRITY, no_thread_cancel_exception=True)
    def verify(self, step: contract.VerifyStep) -> contract.Verified:
        """Do these tests notice when the changed lines are wrong? Idempotent by `key`: the first verdict stands."""
        session = self._services.sessions.require(step.session_id, driver=step.driver, method="smp/verify/integrity")
        box = self._services.sandboxes.get(step.sandbox_id, session_id=step.session_id)
        self._services.indexer.ensure_fresh()
        report = self._services.integrity.verify(
            session,
            box,
            step.target_file,
            step.test_file,
            lines=self._changed_lines(step, step.target_file),
            key=_verify_id(step.key),
            heartbeat=stop_if_cancelled,
        )
        self._services.sessions.note_verdict(session, report, key=step.key)
        return contract.Verified(
            verdict=VERDICTS[report.failure_code],
            verify_id=report.id,
            detail=contract.shortened(verdict_words(report)),
            reached=not is_beside_the_point(report),
        )

    def _changed_lines(self, step: contract.BoxStep, target: str) -> frozenset[int] | None:
        """Lines of the target that the session changed: a change answers for itself, not for the file's past.

        None (all lines) for a file that is new, or where only lines were taken away.
        """
        box = self._services.sandboxes.get(step.sandbox_id, session_id=step.session_id)
        path = FilePath(target)
        now = next(iter(self._services.sandboxes.read(step.sandbox_id, (path,), session_id=step.session_id)), None)
        before = next(iter(self._services.sources.read_at(box.spec.commit_sha, (path,))), None)
        if now is None or now.content is None or before is None:
            return None
        return changed_lines(before.content, now.content) or None


def _verify_id(key: str) -> str:
    """The id of a verdict, a function of the step's key."""
    return f"ver_{hashlib.sha256(key.encode()).hexdigest()[:32]}"


def changed_lines(before: bytes, after: bytes) -> frozenset[int]:
    """Lines of `after`, from 1, that `before` does not have at that place."""
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return frozenset(
        line + 1
        for kind, _, _, start, end in matcher.get_opcodes()
        if kind in ("replace", "insert")
        for line in range(start, end)
    )


def is_beside_the_point(report: IntegrityReport) -> bool:
    """Whether the tests ran, and never what is judged."""
    return report.failure_code == "MISSING_AST_ASSERT" and report.tests_passed > 0


def verdict_words(report: IntegrityReport) -> str:
    """The verdict for people and for agents: the score, then what to tighten."""
    pair = f"{report.target_file} against {report.test_file}"
    if report.failure_code == "TESTS_FAILING":
        return f"{pair}: {report.tests_failed} tests fail\n{report.test_output}"
    if is_beside_the_point(report):
        unreached = ", ".join(str(item.node_id) for item in report.missing_asserts[:NAMED])
        return f"{pair}: the tests never run what was changed in {unreached}; add one that does"
    if report.failure_code == "MISSING_AST_ASSERT":
        wanted = "\n".join(
            f"{item.test}: no result of {item.node_id} reaches an assertion" for item in report.missing_asserts[:NAMED]
        )
        return f"{pair}: assertions are missing\n{wanted}"
    score = f"{pair}: {report.mutants_killed} of {report.mutants_total} mutants of the changed lines were noticed"
    if report.mutants_marked:
        score += f", {report.mutants_marked} declared equivalent"
    survivors = [item for item in report.outcomes if item.status is MutantStatus.SURVIVED]
    lines = [
        f"line {item.mutant.line}: {item.mutant.original!r} -> {item.mutant.mutated!r} was not noticed by {item.test}"
        for item in survivors[:NAMED]
    ]
    more = len(survivors) - len(lines)
    return "\n".join([score, *lines, *([f"and {more} more"] if more > 0 else [])])
