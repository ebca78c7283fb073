"""Mutation testing of one file in a box: the clean run, the lines its tests reach, a verdict for every mutant.

The work is done by the language's runner inside the box (`smp/sandboxes/inside/mutation_runner.py` and its like); here
jobs are packed into its command line, its result files read, and the rest asked for again until every mutant has a
verdict. A job travels in the command itself, so that nothing has to be written into the checkout under test.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Callable

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from smp.domain.errors import SandboxFailed, TooLarge
from smp.domain.ids import FilePath
from smp.domain.mutants import Mutant, MutantOutcome, MutantStatus
from smp.domain.sandboxes import Execution, Limits, Sandbox
from smp.integrity.assertions import rules_for
from smp.integrity.stryker import StrykerMutant, outcomes
from smp.languages.assertions import AssertionRules
from smp.ports.sandbox_driver import SandboxDriver

INSIDE = "/opt/smp"
"""Where a driver binds `smp/sandboxes/inside`."""
RESULT = "mutation.json"
MAX_COMMAND_CHARS = 100_000
"""Linux takes 131,072 bytes in one argument; `sh -c` gets the whole job as one."""
MAX_ROUNDS = 40
BUDGET_SHARE = 0.6
"""Part of a command's time limit after which the runner stops by itself and reports what is left."""

MEMORY_SHARE = 0.5
"""Part of a box's memory that one mutant may use: it shall fail itself before the box's own limit hits the runner."""


class SuiteRun(Struct, frozen=True, kw_only=True):
    """What running the tests of one file against one target showed.

    Attributes:
        is_green: Every test passed without a mutant.
        output: Failures as the test framework words them, when not green.
        tests: Test ids in the order of the suite. lines: lines of the target that each of them reached.
        import_lines: Lines that ran while the tests were collected. executable: lines that can run at all.
        outcomes: One for each mutant, in the mutants' order.
    """

    is_green: bool
    passed: int
    failed: int
    output: str = ""
    tests: tuple[str, ...] = ()
    lines: tuple[tuple[int, ...], ...] = ()
    import_lines: tuple[int, ...] = ()
    executable: tuple[int, ...] = ()
    outcomes: tuple[MutantOutcome, ...] = ()

    def reached(self) -> frozenset[int]:
        """Executable lines that ran inside any test or at import."""
        return frozenset(self.import_lines).union(*self.lines) & frozenset(self.executable)

    def coverage_pct(self) -> float | None:
        """Share of the target's executable lines that ran, in percent; None when there are none."""
        return 100.0 * len(self.reached()) / len(self.executable) if self.executable else None


class _Result(Struct, kw_only=True):
    state: str
    passed: int = 0
    failed: int = 0
    output: str = ""
    tests: list[str] = []
    lines: list[list[int]] = []
    import_lines: list[int] = []
    executable: list[int] = []
    verdicts: list[tuple[int, str, str | None]] = []
    left: list[int] = []
    stryker: tuple[StrykerMutant, ...] | None = None


class MutationTester:
    """Runs jobs in boxes; keeps no state of its own, safe from any thread."""

    def __init__(self, driver: SandboxDriver, *, mutator: str = "native") -> None:
        """mutator: As in `smp.settings.GateSettings`."""
        self._driver = driver
        self._mutator = mutator

    def run(
        self,
        box: Sandbox,
        target: FilePath,
        source: bytes,
        test_file: FilePath,
        mutants: tuple[Mutant, ...],
        *,
        limits: Limits,
        lines: frozenset[int] | None = None,
        heartbeat: Callable[[], None] | None = None,
    ) -> SuiteRun:
        """Run the tests of `test_file` once clean, then against each mutant of `target`.

        Where the runner hands the work to the project's own tool, its mutants take the place of those that tests reach.

        Args:
            source: The target's bytes in the box; a target that differs from them is refused.
            mutants: Their `index` must be unique. None at all gives the clean run alone.
            lines: Lines of the target that count, for such a tool; all when None.

        Raises:
            SandboxFailed: The runner left no result; the message carries the end of its output.
            TooLarge: Not finished after `MAX_ROUNDS` commands, or the file is too large for one.
        """
        rules = rules_for(test_file)
        waiting = {mutant.index: mutant for mutant in mutants}
        verdicts: dict[int, tuple[str, str | None]] = {}
        first: _Result | None = None
        for _ in range(MAX_ROUNDS):
            job, batch = _pack(
                rules, target, source, test_file, tuple(waiting.values()), limits, mutator=self._mutator, lines=lines
            )
            result = self._execute(box, rules.runner, job, limits, heartbeat)
            first = first or result
            if result.state != "clean":
                return SuiteRun(is_green=False, passed=result.passed, failed=result.failed, output=result.output)
            verdicts |= {index: (status, test) for index, status, test in result.verdicts}
            if result.stryker is not None:
                judged = tuple(mutant for mutant in mutants if mutant.index in verdicts)
                own = _suite_run(first, judged, verdicts)
                theirs = outcomes(result.stryker, target, source, test_file, first_index=len(mutants))
                return replace(own, outcomes=(*own.outcomes, *theirs))
            waiting = {index: mutant for index, mutant in waiting.items() if index in result.left or index not in batch}
            if not waiting:
                return _suite_run(first, mutants, verdicts)
        raise TooLarge(
            f"{len(waiting)} of {len(mutants)} mutants of {target!r} have no verdict after {MAX_ROUNDS} runs; "
            "verify fewer lines, raise [sandbox] timeout_ms, or make the tests faster",
            mutants=len(mutants),
            left=len(waiting),
        )

    def _execute(
        self, box: Sandbox, runner: str, job: str, limits: Limits, heartbeat: Callable[[], None] | None
    ) -> _Result:
        # A seed for hashes: sets of texts have one order in all runs, so that verdicts cannot differ by it.
        command = f"PYTHONHASHSEED=0 python {INSIDE}/{runner} <<'SMP_JOB'\n{job}\nSMP_JOB\n"
        execution = self._driver.execute(box, command, limits=limits, heartbeat=heartbeat, trace=False)
        body = execution.outputs.get(RESULT)
        if body is None:
            raise SandboxFailed(_why_nothing(execution))
        result = msgspec.json.decode(body, type=_Result)
        if result.state == "missing":
            raise SandboxFailed(result.output)
        if result.state == "changed":
            raise SandboxFailed("the target changed in the box while it was verified; verify again")
        return result


def _pack(
    rules: AssertionRules,
    target: FilePath,
    source: bytes,
    test_file: FilePath,
    mutants: tuple[Mutant, ...],
    limits: Limits,
    *,
    mutator: str,
    lines: frozenset[int] | None,
) -> tuple[str, frozenset[int]]:
    """A job and the indices in it: as many mutants as fit into one command, at least one."""
    rows = [[m.index, m.line, m.start_byte, m.end_byte, m.mutated] for m in mutants]
    own = rules.job(target, source, mutants)
    while True:
        job = {
            **own,
            "target": target,
            "tests": [test_file],
            "sha256": hashlib.sha256(source).hexdigest(),
            "budget_seconds": limits.timeout_ms / 1000 * BUDGET_SHARE,
            "memory_mb": int(limits.memory_mb * MEMORY_SHARE),
            "mutants": rows,
            "mutator": mutator,
            "only": None if lines is None else sorted(lines),
        }
        packed = base64.b64encode(zlib.compress(msgspec.json.encode(job), 9)).decode("ascii")
        if len(packed) <= MAX_COMMAND_CHARS:
            return packed, frozenset(int(str(row[0])) for row in rows)
        if len(rows) <= 1:
            raise TooLarge(f"{target!r} is too large to be mutated; split it", path="target_file")
        rows = rows[: len(rows) // 2]


def _why_nothing(execution: Execution) -> str:
    text = (execution.stderr or execution.stdout)[-2000:]
    if execution.timed_out:
        return "the tests did not end within the box's time limit; raise [sandbox] timeout_ms or make them faster"
    if "No module named 'pytest'" in text:
        return "pytest is not installed in the box; add it to [sandbox] requirements in smp.toml"
    if execution.memory_killed:
        return "the tests used more memory than the box has; raise [sandbox] memory_mb"
    return f"the mutation runner left no result (exit code {execution.exit_code}): {text.strip()}"


def _suite_run(result: _Result, mutants: tuple[Mutant, ...], verdicts: dict[int, tuple[str, str | None]]) -> SuiteRun:
    by_line: dict[int, str] = {}
    for test, lines in zip(result.tests, result.lines, strict=True):
        for line in lines:
            by_line.setdefault(line, test)
    fallback = result.tests[0] if result.tests else None
    outcomes: list[MutantOutcome] = []
    for mutant in mutants:
        status, killer = verdicts[mutant.index]
        blamed = by_line.get(mutant.line, fallback) if status == MutantStatus.SURVIVED else killer
        outcomes.append(MutantOutcome(mutant=mutant, status=MutantStatus(status), test=blamed))
    return SuiteRun(
        is_green=True,
        passed=result.passed,
        failed=result.failed,
        tests=tuple(result.tests),
        lines=tuple(tuple(lines) for lines in result.lines),
        import_lines=tuple(result.import_lines),
        executable=tuple(result.executable),
        outcomes=tuple(outcomes),
    )
