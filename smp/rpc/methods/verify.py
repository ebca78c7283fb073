"""The integrity gate: do the tests of a change look at what it does, and would they notice if it did something else?"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from smp.domain.errors import NotFound
from smp.domain.mutants import IntegrityReport, MutantStatus
from smp.rpc.context import RequestContext
from smp.rpc.method import rpc_method
from smp.rpc.wire import AnyRef, Params, Path, Text


class IntegrityParams(Params, frozen=True, kw_only=True):
    """One target and the test file that vouches for it, as both lie in the box."""

    sandbox_id: AnyRef
    target_file: Path
    test_file: Path


class SurvivorResult(Struct, frozen=True, kw_only=True):
    """A mutant that no test noticed. surviving_test: the first test that runs the line; mutant: its number."""

    mutant: int
    node_id: str
    file: str
    line: int
    original_op: str
    mutated_op: str
    surviving_test: str
    operator: str


class MarkedResult(Struct, frozen=True, kw_only=True):
    """A survivor that somebody declared equivalent (smp/verify/mark_equivalent); not in the total."""

    mutant: int
    node_id: str
    file: str
    line: int
    original_op: str
    mutated_op: str
    reason: str


class MissingAssertResult(Struct, frozen=True, kw_only=True):
    """A function that `test` calls without any of its results reaching an assertion."""

    node_id: str
    output_type: str | None
    test: str


class PassedResult(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status", tag="passed"):
    """mutants_timed_out: part of the killed ones. mutants_equivalent, mutants_not_covered: not in the total.

    marked_equivalent: survivors that somebody declared equivalent; left out when there are none.
    """

    verify_result_id: str
    coverage_delta_pct: float | None
    ast_assert_check: Literal["passed"]
    mutation_score: float
    mutants_total: int
    mutants_killed: int
    mutants_survived: int
    mutants_timed_out: int
    mutants_equivalent: int
    mutants_not_covered: int
    marked_equivalent: tuple[MarkedResult, ...] = ()


class FailedResult(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status", tag="failed"):
    """failure_code decides which of the others are there."""

    failure_code: Literal["SURVIVING_MUTANT", "MISSING_AST_ASSERT", "TESTS_FAILING"]
    verify_result_id: str
    ast_assert_check: Literal["passed", "failed"] | None = None
    mutation_score: float | None = None
    mutants_total: int | None = None
    mutants_killed: int | None = None
    mutants_survived: int | None = None
    mutants_timed_out: int | None = None
    mutants_equivalent: int | None = None
    mutants_not_covered: int | None = None
    survivors: tuple[SurvivorResult, ...] = ()
    marked_equivalent: tuple[MarkedResult, ...] = ()
    missing_assert_for: tuple[MissingAssertResult, ...] = ()
    tests_failed: int | None = None
    test_output: str | None = None


class MarkParams(Params, frozen=True, kw_only=True):
    """A survivor, by its number in a verdict, that no test could tell from the original; and why."""

    verify_result_id: AnyRef
    mutant: Annotated[int, Meta(ge=0)]
    reason: Annotated[Text, Meta(max_length=2000)]


@rpc_method("smp/verify/integrity")
def integrity(params: IntegrityParams, ctx: RequestContext) -> PassedResult | FailedResult:
    """Check that results reach assertions, then run the tests against mutants of the target, all in the box."""
    services = ctx.services
    box = services.sandboxes.get(params.sandbox_id)
    session = services.sessions.require(box.spec.session_id, method="smp/verify/integrity")
    services.indexer.ensure_fresh()
    report = services.integrity.verify(session, box, params.target_file, params.test_file)
    services.sessions.note_verdict(session, report)
    return integrity_result(report)


@rpc_method("smp/verify/mark_equivalent")
def mark_equivalent(params: MarkParams, ctx: RequestContext) -> PassedResult | FailedResult:
    """Declare a surviving mutant equivalent: it holds the verdict back no longer; audit and pull request tell of it."""
    services = ctx.services
    known = services.integrity.report(params.verify_result_id)
    if known is None:
        raise NotFound(
            f"no verdict {params.verify_result_id!r}; smp/verify/integrity returns its id",
            verify_result_id=params.verify_result_id,
        )
    session = services.sessions.require(known.session_id, method="smp/verify/mark_equivalent")
    return integrity_result(services.equivalents.mark(session, known.id, params.mutant, params.reason))


def integrity_result(report: IntegrityReport) -> PassedResult | FailedResult:
    """A verdict as it goes onto the wire."""
    if report.status == "passed":
        return PassedResult(
            verify_result_id=report.id,
            coverage_delta_pct=report.coverage_delta_pct,
            ast_assert_check="passed",
            mutation_score=report.mutation_score,
            mutants_total=report.mutants_total,
            mutants_killed=report.mutants_killed,
            mutants_survived=report.mutants_survived,
            mutants_timed_out=report.mutants_timed_out,
            mutants_equivalent=report.mutants_equivalent,
            mutants_not_covered=report.mutants_not_covered,
            marked_equivalent=_marked(report),
        )
    match report.failure_code:
        case "MISSING_AST_ASSERT":
            return FailedResult(
                failure_code="MISSING_AST_ASSERT",
                verify_result_id=report.id,
                ast_assert_check="failed",
                missing_assert_for=tuple(
                    MissingAssertResult(node_id=one.node_id, output_type=one.output_type, test=one.test)
                    for one in report.missing_asserts
                ),
            )
        case "SURVIVING_MUTANT":
            return FailedResult(
                failure_code="SURVIVING_MUTANT",
                verify_result_id=report.id,
                ast_assert_check="passed",
                mutation_score=report.mutation_score,
                mutants_total=report.mutants_total,
                mutants_killed=report.mutants_killed,
                mutants_survived=report.mutants_survived,
                mutants_timed_out=report.mutants_timed_out,
                mutants_equivalent=report.mutants_equivalent,
                mutants_not_covered=report.mutants_not_covered,
                survivors=_survivors(report),
                marked_equivalent=_marked(report),
            )
        case _:
            return FailedResult(
                failure_code="TESTS_FAILING",
                verify_result_id=report.id,
                tests_failed=report.tests_failed,
                test_output=report.test_output,
            )


def _survivors(report: IntegrityReport) -> tuple[SurvivorResult, ...]:
    return tuple(
        SurvivorResult(
            mutant=outcome.mutant.index,
            node_id=outcome.mutant.node_id,
            file=outcome.mutant.file,
            line=outcome.mutant.line,
            original_op=outcome.mutant.original,
            mutated_op=outcome.mutant.mutated.strip() or outcome.mutant.mutated,
            surviving_test=outcome.test or report.test_file,
            operator=outcome.mutant.operator,
        )
        for outcome in report.outcomes
        if outcome.status is MutantStatus.SURVIVED
    )


def _marked(report: IntegrityReport) -> tuple[MarkedResult, ...]:
    return tuple(
        MarkedResult(
            mutant=outcome.mutant.index,
            node_id=outcome.mutant.node_id,
            file=outcome.mutant.file,
            line=outcome.mutant.line,
            original_op=outcome.mutant.original,
            mutated_op=outcome.mutant.mutated.strip() or outcome.mutant.mutated,
            reason=outcome.reason,
        )
        for outcome in report.outcomes
        if outcome.reason is not None
    )


METHODS = (integrity, mark_equivalent)
