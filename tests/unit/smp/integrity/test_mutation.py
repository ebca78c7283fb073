"""Jobs and results of mutation runs: packing, asking again for the rest, and what a missing result means."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from typing import Any, cast

import pytest

from smp.domain.errors import SandboxFailed, TooLarge
from smp.domain.ids import FilePath, NodeId
from smp.domain.mutants import Mutant, MutantStatus
from smp.domain.sandboxes import Execution, Limits, Sandbox
from smp.integrity.mutation import MAX_COMMAND_CHARS, MutationTester, SuiteRun
from smp.ports.sandbox_driver import SandboxDriver

TARGET, TEST = FilePath("a.py"), FilePath("test_a.py")
CLEAN = {"state": "clean", "passed": 1, "tests": ["test_a.py::t"], "lines": [[1, 2]], "executable": [1, 2, 3, 4]}


def mutants(count: int, text: str = "2") -> tuple[Mutant, ...]:
    return tuple(
        Mutant(
            index=index, file=TARGET, node_id=NodeId(""), line=2, operator="constant", original="1", mutated=f"{index}{text}",
            start_byte=0, end_byte=1,
        )
        for index in range(count)
    )  # fmt: skip


class Answering:
    """A driver whose `execute` answers each job by a function; keeps the jobs."""

    def __init__(self, answer: Callable[[dict[str, Any]], Execution]) -> None:
        self.answer = answer
        self.jobs: list[dict[str, Any]] = []
        self.longest = 0

    def execute(self, box: Sandbox, command: str, **options: object) -> Execution:
        self.longest = max(self.longest, len(command))
        job = json.loads(zlib.decompress(base64.b64decode(command.split("\n")[1])))
        self.jobs.append(job)
        return self.answer(job)


def result(body: dict[str, Any]) -> Execution:
    return Execution(
        exit_code=0, stdout="", stderr="", duration_ms=1.0, outputs={"mutation.json": json.dumps(body).encode()}
    )


def run(driver: Answering, given: tuple[Mutant, ...]) -> SuiteRun:
    tester = MutationTester(cast("SandboxDriver", driver))
    return tester.run(cast("Sandbox", None), TARGET, b"x = 1\n", TEST, given, limits=Limits())


def judged(status: str, *, at_once: int = 10**6) -> Callable[[dict[str, Any]], Execution]:
    def answer(job: dict[str, Any]) -> Execution:
        indices = [row[0] for row in job["mutants"]]
        verdicts = [[index, status, None] for index in indices[:at_once]]
        return result({**CLEAN, "verdicts": verdicts, "left": indices[at_once:]})

    return answer


def test_what_the_budget_left_is_asked_for_again_and_the_order_kept() -> None:
    driver = Answering(judged("killed", at_once=3))
    done = run(driver, mutants(7))
    assert [outcome.mutant.index for outcome in done.outcomes] == list(range(7))
    assert [len(job["mutants"]) for job in driver.jobs] == [7, 4, 1]


def test_more_mutants_than_a_command_can_carry_go_in_several() -> None:
    random_text = base64.b64encode(bytes((i * i * 7 + i // 3) % 251 for i in range(3000))).decode()
    driver = Answering(judged("killed"))
    given = tuple(
        Mutant(
            index=m.index, file=m.file, node_id=m.node_id, line=2, operator="constant", original="1",
            mutated=random_text[m.index :] + random_text[: m.index] + str(hash((m.index, 1))), start_byte=0, end_byte=1,
        )
        for m in mutants(600)
    )  # fmt: skip
    done = run(driver, given)
    assert len(done.outcomes) == 600
    assert driver.longest < MAX_COMMAND_CHARS + 1000


def test_survivors_are_laid_at_the_first_test_that_runs_the_line() -> None:
    done = run(Answering(judged("survived")), mutants(1))
    assert [(outcome.status, outcome.test) for outcome in done.outcomes] == [(MutantStatus.SURVIVED, "test_a.py::t")]


def test_coverage_is_the_share_of_executable_lines() -> None:
    assert run(Answering(judged("killed")), ()).coverage_pct() == 50.0


def test_no_end_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(TooLarge, match="fewer lines"):
        run(Answering(judged("killed", at_once=0)), mutants(1))


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"timed_out": True}, "time limit"),
        ({"memory_killed": True}, "memory_mb"),
        ({"stderr": "ModuleNotFoundError: No module named 'pytest'"}, "requirements"),
        ({"stderr": "sh: python: not found", "exit_code": 127}, "exit code 127"),
    ],
)
def test_a_run_without_a_result_is_explained(fields: dict[str, Any], says: str) -> None:
    nothing = Execution(**{"exit_code": 1, "stdout": "", "stderr": "", "duration_ms": 1.0, **fields})
    with pytest.raises(SandboxFailed, match=says):
        run(Answering(lambda job: nothing), mutants(1))


def test_a_target_that_changed_meanwhile_is_an_error() -> None:
    with pytest.raises(SandboxFailed, match="changed in the box"):
        run(Answering(lambda job: result({"state": "changed"})), mutants(1))
