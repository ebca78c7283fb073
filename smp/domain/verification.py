"""What a verdict is bound to, and which verdicts still count. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from smp.domain.errors import VerificationRequired
from smp.domain.ids import CommitSha, ContentHash, SandboxId
from smp.domain.mutants import IntegrityReport
from smp.domain.sandboxes import ChangedFile


def tree_hash(commit: CommitSha, changes: Iterable[ChangedFile]) -> ContentHash:
    """Hash of a box's whole content: its commit and everything that differs from it."""
    digest = hashlib.sha256(commit.encode())
    for change in sorted(changes, key=lambda one: one.path):
        content = "-" if change.content is None else hashlib.sha256(change.content).hexdigest()
        digest.update(f"\0{change.path}\0{change.mode:o}\0{change.link or ''}\0{content}".encode())
    return ContentHash(digest.hexdigest())


def passed_reports(
    reports: Iterable[IntegrityReport], *, sandbox_id: SandboxId, present: ContentHash, verify_id: str | None
) -> tuple[IntegrityReport, ...]:
    """The passed verdicts that let a box's present content out, by target and test.

    Of each (target, test) pair the latest verdict on the present content counts. Every target that was judged must have a
    passed one, by whichever test file; no test file may be red.

    Args:
        reports: All of the session.
        verify_id: The verdict the caller relies on; any when None.

    Raises:
        VerificationRequired: None passed, a target has none or a red suite, or `verify_id` is unknown, about other
            content, or has not passed.
    """
    latest: dict[tuple[str, str], IntegrityReport] = {}
    named = verify_id is None
    for report in sorted(reports, key=lambda one: (one.verified_at, one.id)):
        if report.sandbox_id != sandbox_id or report.tree_hash != present:
            continue
        named = named or (report.id == verify_id and report.status == "passed")
        latest[report.target_file, report.test_file] = report
    if not latest or not named:
        raise VerificationRequired(
            "no passed verification of the box's present content; run smp/verify/integrity after the last edit",
            sandbox_id=sandbox_id,
            verify_result_id=verify_id,
        )
    passed = {pair[0] for pair, report in latest.items() if report.status == "passed"}
    failed = sorted(
        {pair[0] for pair, report in latest.items() if pair[0] not in passed or report.failure_code == "TESTS_FAILING"}
    )
    if failed:
        raise VerificationRequired(
            f"the verification of {', '.join(failed)} failed; repair it and run smp/verify/integrity again",
            sandbox_id=sandbox_id,
            files=failed,
        )
    return tuple(latest[pair] for pair in sorted(latest) if latest[pair].status == "passed")
