"""Mutants and verdicts of the integrity gate (decisions.md section 11)."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum

from msgspec import Struct

from smp.domain.ids import ContentHash, FilePath, NodeId, SandboxId, SessionId, VerifyId


class Mutant(Struct, frozen=True, kw_only=True):
    """One small change of a file.

    Attributes:
        index: Position in the file's deterministic order (line, column, operator), from 0.
        operator: `comparison`, `boundary`, `boolean`, `arithmetic`, `constant`, `return_value`, `statement_deletion` …
        start_byte, end_byte: What `mutated` replaces in the file's bytes.
    """

    index: int
    file: FilePath
    node_id: NodeId
    line: int
    operator: str
    original: str
    mutated: str
    start_byte: int
    end_byte: int


class MutantStatus(StrEnum):
    KILLED = "killed"
    SURVIVED = "survived"
    TIMEOUT = "timeout"
    NOT_COVERED = "not_covered"
    EQUIVALENT = "equivalent"
    INVALID = "invalid"


class MutantOutcome(Struct, frozen=True, kw_only=True):
    """What became of a mutant.

    Attributes:
        test: The killer, or the test that should have killed it.
        reason: Why somebody declared a survivor equivalent (`EquivalentMark`); None when nobody did.
    """

    mutant: Mutant
    status: MutantStatus
    test: str | None = None
    reason: str | None = None


class EquivalentMark(Struct, frozen=True, kw_only=True):
    """Somebody's word that a surviving mutant changes nothing that could be seen.

    Attributes:
        target_hash: SHA-256 of the file that was mutated; the mark holds for this content only.
    """

    session_id: SessionId
    target_hash: ContentHash
    mutant: Mutant
    reason: str
    marked_at: datetime


class MissingAssert(Struct, frozen=True, kw_only=True):
    """A function that a test calls without any of its results reaching an assertion."""

    node_id: NodeId
    test: str
    output_type: str | None = None


class IntegrityReport(Struct, frozen=True, kw_only=True):
    """The gate's verdict on one target and one test file.

    Attributes:
        status: `passed` or `failed`. failure_code: SURVIVING_MUTANT, MISSING_AST_ASSERT, TESTS_FAILING, or None.
        tree_hash: Merkle root of the box's files when judged; a later edit voids the verdict.
        mutation_score: killed / (killed + survived), in [0, 1]; 1.0 when there was nothing to kill.
        mutants_total: Killed and survived. Timed-out ones count as killed; those that no test reaches, or that compile
            to the same code as the original, are counted apart and not in the total.
        coverage_delta_pct: Percentage points of the target's lines, after minus before; None when not measurable.
        target_hash: SHA-256 of the target when judged.
        mutants_marked: Survivors that were declared equivalent, with a reason each; neither killed, survived nor total.
        nothing_to_judge: No changed file holds code that the gate can judge; target and test are empty then, and
            `test_output` says which test command was green.
    """

    id: VerifyId
    session_id: SessionId
    sandbox_id: SandboxId
    target_file: FilePath
    test_file: FilePath
    tree_hash: ContentHash
    status: str
    failure_code: str | None = None
    missing_asserts: tuple[MissingAssert, ...] = ()
    outcomes: tuple[MutantOutcome, ...] = ()
    mutants_total: int = 0
    mutants_killed: int = 0
    mutants_survived: int = 0
    mutation_score: float = 1.0
    coverage_delta_pct: float | None = None
    mutants_equivalent: int = 0
    mutants_timed_out: int = 0
    mutants_not_covered: int = 0
    verified_at: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    tests_passed: int = 0
    tests_failed: int = 0
    test_output: str = ""
    target_hash: ContentHash = ContentHash("")
    mutants_marked: int = 0
    nothing_to_judge: bool = False
