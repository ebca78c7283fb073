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
    """The verdicts that let a box's present content out, by target and test.

    Args:
        reports: All of the session. Of each (target, test) pair the latest verdict on the present content counts.
        verify_id: The verdict the caller relies on; any when None.

    Raises:
        VerificationRequired: None passed, one failed, or `verify_id` is unknown or about other content.
    """
    latest: dict[tuple[str, str], IntegrityReport] = {}
    named = False
    for report in sorted(reports, key=lambda one: (one.verified_at, one.id)):
        if report.sandbox_id != sandbox_id or report.tree_hash != present:
            continue
        named = named or report.id == verify_id
        latest[report.target_file, report.test_file] = report
    if not latest or (verify_id is not None and not named):
        raise VerificationRequired(
            "no passed verification of the box's present content; run smp/verify/integrity after the last edit",
            sandbox_id=sandbox_id,
            verify_result_id=verify_id,
        )
    failed = sorted(pair[0] for pair, report in latest.items() if report.status != "passed")
    if failed:
        raise VerificationRequired(
            f"the verification of {', '.join(failed)} failed; repair it and run smp/verify/integrity again",
            sandbox_id=sandbox_id,
            files=failed,
        )
    return tuple(latest[pair] for pair in sorted(latest))
