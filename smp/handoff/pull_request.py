"""From a verified box to a pull request: what changed, what it means, on a branch and in a document.

The steps are ordered so that a refusal costs nothing and a repeat is harmless: verification, scope and conflicts are
checked before anything is published; the branch, the commit and the document are functions of the session and the box.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from smp.domain.errors import ForgeFailed, Invalid, SandboxNotFound, ScopeViolation
from smp.domain.handoffs import BranchChange, FileConflict, PullRequest, PushedBranch
from smp.domain.ids import CommitSha, ContentHash, FilePath, VerifyId
from smp.domain.mutants import IntegrityReport
from smp.domain.paths import covers
from smp.domain.records import KnownAboutFile
from smp.domain.sandboxes import ChangedFile, ExecutionRecord, Sandbox, SandboxStatus
from smp.domain.sessions import AuditEvent, Session
from smp.domain.swarms import BranchClash, SwarmBranch
from smp.domain.verification import passed_reports, tree_hash
from smp.handoff.clean_text import without_secrets
from smp.handoff.document import RuntimeEdge, Sections, files_of, write_document
from smp.handoff.review import require_approval
from smp.handoff.structural_diff import StructuralDiff, diff_definitions, diff_previews
from smp.handoff.surroundings import reach_of
from smp.indexing.pipeline import Indexer
from smp.indexing.reports import FileChange
from smp.ports.artifact_store import EXECUTION, VERIFY, ArtifactStore
from smp.ports.clock import Clock
from smp.ports.forge import Forge
from smp.ports.graph_store import GraphStore
from smp.ports.sandbox_driver import SandboxDriver
from smp.ports.session_store import SessionStore
from smp.settings import Settings

PULL_REQUEST = "pull_request"
METHOD = "smp/handoff/pr"
_MAX_KNOWN = 50
"""Files of a change whose records are read."""


class PullRequestRequest(Struct, frozen=True, kw_only=True):
    """What the caller says about it.

    Attributes:
        base_sha: The box's commit, possibly abbreviated; the box's when None.
        verify_id: The verdict the caller relies on; any on the present content when None.
    """

    title: str
    base_sha: str | None = None
    issue_refs: tuple[str, ...] = ()
    include: Sections = Sections()
    verify_id: VerifyId | None = None


class PullRequestResult(Struct, frozen=True, kw_only=True):
    """`conflict` with the conflicts, or `open` with everything else.

    Attributes:
        pushed: The branch, left for people to merge; for a conflict.
        document: Path of the Markdown file on this machine; empty for a conflict.
        coverage_delta_pct: The smallest of the verdicts'; None when none could be measured.
        mutation_score: Killed over all mutants of all verdicts.
    """

    status: str
    base_sha: CommitSha
    pull_request: PullRequest | None = None
    pushed: PushedBranch | None = None
    conflicts: tuple[FileConflict, ...] = ()
    diff: StructuralDiff = StructuralDiff()
    calls_runtime_added: int = 0
    coverage_delta_pct: float | None = None
    mutation_score: float = 1.0
    document: str = ""


class HandoffService:
    """See the module. Keeps no state of its own; safe from several threads."""

    def __init__(
        self,
        *,
        settings: Settings,
        clock: Clock,
        forge: Forge,
        driver: SandboxDriver,
        artifacts: ArtifactStore,
        graph: GraphStore,
        indexer: Indexer,
        session_store: SessionStore,
        known: Callable[[str], KnownAboutFile | None],
    ) -> None:
        """known: What earlier sessions left about a file."""
        self._settings = settings
        self._clock = clock
        self._forge = forge
        self._driver = driver
        self._artifacts = artifacts
        self._graph = graph
        self._indexer = indexer
        self._sessions = session_store
        self._known = known

    def pull_request(
        self, session: Session, sandbox: Sandbox, request: PullRequestRequest, *, key: str = ""
    ) -> PullRequestResult:
        """Publish the box's change set.

        Args:
            key: Of the step, for the audit. Repeating with unchanged content gives the same branch, commit and document.

        Raises:
            SandboxNotFound: The box is of another session, or gone.
            VerificationRequired: No passed verdict on the present content, or a reviewer who was asked did not approve it.
            ScopeViolation: A changed file lies outside the session's scope.
            Invalid: Nothing changed, or `base_sha` is not the box's commit.
            ForgeFailed: The remote refused; nothing is lost, the call may be repeated.
        """
        spec = sandbox.spec
        if spec.session_id != session.id or sandbox.status is SandboxStatus.DESTROYED:
            raise SandboxNotFound(spec.sandbox_id)
        files = self._driver.changes(sandbox)
        present = tree_hash(spec.commit_sha, files)
        reports = self._reports(session, sandbox, present, request.verify_id)
        reviews = require_approval(self._artifacts, session.id, present)
        _check(session, spec.commit_sha, request, files)
        change = BranchChange(
            branch=f"smp/{session.id}",
            base_sha=spec.commit_sha,
            title=" ".join(request.title.split()),
            body="",
            author=session.agent_id,
            files=files_of(files),
            authored_at=session.opened_at,
            trailers=(*(f"Refs: {ref}" for ref in request.issue_refs), f"Smp-Session: {session.id}"),
        )
        conflicts = self._forge.conflicts(change, files)
        if conflicts:
            pushed = self._forge.push(change, files)
            return PullRequestResult(status="conflict", base_sha=spec.commit_sha, conflicts=conflicts, pushed=pushed)
        diff = self._structural_diff(spec.commit_sha, files)
        executions = self._executions(session, sandbox)
        runtime = _runtime_edges(executions)
        body = write_document(
            session=session,
            base_sha=spec.commit_sha,
            issue_refs=request.issue_refs,
            files=files,
            diff=diff,
            runtime=runtime,
            reports=reports,
            reviews=reviews,
            executions=executions,
            reach=reach_of(self._graph, diff),
            known=tuple(found for path in files_of(files)[:_MAX_KNOWN] if (found := self._known(path)) is not None),
            include=request.include,
        )
        body = without_secrets(
            body, (self._settings.repo, self._settings.data_dir, self._settings.cache_dir, Path.home())
        )
        published = self._forge.publish(replace(change, body=body), files)
        document = self._write_document(change.branch, f"# {change.title}\n\n{body}")
        deltas = [report.coverage_delta_pct for report in reports if report.coverage_delta_pct is not None]
        total = sum(report.mutants_total for report in reports)
        result = PullRequestResult(
            status="open",
            base_sha=spec.commit_sha,
            pull_request=published,
            diff=diff,
            calls_runtime_added=sum(edge.is_new for edge in runtime),
            coverage_delta_pct=min(deltas, default=None),
            mutation_score=sum(report.mutants_killed for report in reports) / total if total else 1.0,
            document=str(document),
        )
        self._record(session, result, published, key)
        return result

    def clashes(self, branches: tuple[SwarmBranch, ...]) -> tuple[BranchClash, ...]:
        """Published branches that do not merge with one another.

        Raises:
            ForgeFailed: One of them is not there.
        """
        return self._forge.clashes(branches)

    def _reports(
        self, session: Session, sandbox: Sandbox, present: ContentHash, verify_id: str | None
    ) -> tuple[IntegrityReport, ...]:
        stored = self._artifacts.list(VERIFY, session_id=session.id)
        return passed_reports(
            [msgspec.json.decode(body, type=IntegrityReport) for _, body in stored],
            sandbox_id=sandbox.spec.sandbox_id,
            present=present,
            verify_id=verify_id,
        )

    def _structural_diff(self, commit: CommitSha, files: tuple[ChangedFile, ...]) -> StructuralDiff:
        """Definitions and calls against the base commit, whatever the working tree holds of the changed files.

        The graph lends the rest of the repository: both sides are linked against it.
        """
        plain = [file for file in files if file.link is None]
        before = self._at_commit(commit, files_of(files))
        base = self._indexer.preview(_change(file.path, before.get(file.path)) for file in plain)
        head = self._indexer.preview(_change(file.path, file.content) for file in plain)
        after = {file.path: file.content for file in files if file.content is not None}
        added, removed = diff_previews(base, head)
        return replace(diff_definitions(before, after), calls_added=tuple(added), calls_removed=tuple(removed))

    def _at_commit(self, commit: CommitSha, paths: tuple[FilePath, ...]) -> Mapping[FilePath, bytes]:
        root = Path(self._driver.lower(commit)).resolve()
        found: dict[FilePath, bytes] = {}
        for path in paths:
            file = root / path
            # A link in a checkout may lead anywhere on this machine.
            if file.is_file() and not file.is_symlink() and file.resolve().is_relative_to(root):
                found[path] = file.read_bytes()
        return found

    def _executions(self, session: Session, sandbox: Sandbox) -> tuple[ExecutionRecord, ...]:
        stored = self._artifacts.list(EXECUTION, session_id=session.id)
        records = [msgspec.json.decode(body, type=ExecutionRecord) for _, body in stored]
        mine = [record for record in records if record.sandbox_id == sandbox.spec.sandbox_id]
        return tuple(sorted(mine, key=lambda record: (record.started_at, record.id)))

    def _write_document(self, branch: str, body: str) -> Path:
        """Replaced whole: a reader never sees half a document."""
        path = self._settings.data_dir / "pull_requests" / f"{branch}.md"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", dir=path.parent, suffix=".part", delete=False
            ) as part:
                part.write(body)
            os.replace(part.name, path)
        except OSError as error:
            raise ForgeFailed(
                f"the branch is published, but its document cannot be written to {str(path)!r}: {error.strerror}; "
                "free the place and repeat"
            ) from error
        return path

    def _record(self, session: Session, result: PullRequestResult, published: PullRequest, key: str) -> None:
        self._artifacts.put(PULL_REQUEST, published.branch, msgspec.json.encode(result), session_id=session.id)
        event = AuditEvent(
            seq=0,
            at=self._clock.now(),
            method=METHOD,
            key=key or f"handoff:{published.head_sha}",
            target=published.branch,
            files=published.files_changed,
            result=published.status,
            detail=published.id,
        )
        self._sessions.append(session.id, event)


def _change(path: FilePath, content: bytes | None) -> FileChange:
    return FileChange(path=path, content=content, change_type="deleted" if content is None else "modified")


def _check(session: Session, commit: CommitSha, request: PullRequestRequest, files: tuple[ChangedFile, ...]) -> None:
    if request.base_sha is not None and not commit.startswith(request.base_sha):
        raise Invalid(
            f"base_sha {request.base_sha!r} is not the commit of the box ({commit}); leave it out or open a session at that commit",
            path="base_sha",
        )
    if not files:
        raise Invalid("nothing changed in the box; write the change there first", path="sandbox_id")
    outside = [file.path for file in files if not covers(session.scope, file.path)]
    if outside:
        raise ScopeViolation(
            f"{outside[0]!r} was changed in the box but is not in the session's scope; "
            "undo it there, or open a session whose scope holds it",
            session_id=session.id,
            attempted_file=outside[0],
            declared_scope=list(session.scope),
        )


def _runtime_edges(executions: tuple[ExecutionRecord, ...]) -> tuple[RuntimeEdge, ...]:
    """Calls of all commands in the box, counts added up; new when any command was the first to see it."""
    found: dict[tuple[str, str], RuntimeEdge] = {}
    for record in executions:
        for call in record.calls:
            known = found.get((call.source, call.target))
            found[call.source, call.target] = RuntimeEdge(
                source=call.source,
                target=call.target,
                count=call.count + (known.count if known else 0),
                is_new=call.new or bool(known and known.is_new),
            )
    return tuple(found[pair] for pair in sorted(found))
