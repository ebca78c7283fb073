"""The gate on JavaScript, on real runs of Node's own test runner in folder boxes.

Where Node is not installed, what is tested is that the gate says so.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping

import pytest

from smp.domain.errors import Invalid, SandboxFailed
from smp.domain.ids import FilePath
from smp.domain.mutants import IntegrityReport, MutantStatus
from tests.contract.integrity.conftest import Gate

Make = Callable[[Mapping[str, str]], Gate]

SOURCE = """\
export const net = (a, b) =>
  a + b;
export function down(n) {
  while (n > 0) {
    n--;
  }
  if (n < 0)
    return "never";
  return n;
}
"""
TEST = """\
import { test } from "node:test";
import assert from "node:assert/strict";
import { net, down } from "../src/prices.mjs";
test("adds", () => { assert.equal(net(1, 2), 3); });
test("counts", () => { assert.equal(down(2), 0); });
"""
NODE = {"src/prices.mjs": SOURCE, "tests/prices.test.mjs": TEST}


def box(gate: Make, files: Mapping[str, str]) -> Gate:
    made = gate(files)
    made.target, made.test = "src/prices.mjs", "tests/prices.test.mjs"
    return made


def judged(made: Gate, **options: object) -> IntegrityReport | None:
    """The verdict; None where there is no Node, once the gate has said so."""
    if shutil.which("node") is not None:
        return made.verify(**options)
    with pytest.raises(SandboxFailed, match="node is not in the box"):
        made.verify(**options)
    return None


def test_mutants_die_live_hang_or_are_not_reached(gate: Make) -> None:
    made = box(gate, NODE)
    before = made.text("src/prices.mjs")
    report = judged(made, lines=frozenset({2, 5, 8}))
    if report is None:
        return
    found = {(one.mutant.line, one.mutant.original, one.mutant.mutated): one for one in report.outcomes}
    assert {key: one.status for key, one in found.items()} == {
        (2, "+", "-"): MutantStatus.KILLED,
        (2, "a + b", "undefined"): MutantStatus.KILLED,
        (5, "n--;", ";"): MutantStatus.TIMEOUT,
        (5, "--", "++"): MutantStatus.TIMEOUT,
        (8, '"never"', '""'): MutantStatus.NOT_COVERED,
    }
    assert found[2, "+", "-"].test == "tests/prices.test.mjs::adds"
    assert (report.status, report.mutants_total, report.mutants_killed, report.tests_passed) == ("passed", 4, 4, 2)
    assert report.coverage_delta_pct == 0.0
    assert made.text("src/prices.mjs") == before
    assert made.driver.changes(made.box) == ()


def test_a_weak_test_leaves_survivors_with_their_place_and_test_file(gate: Make) -> None:
    report = judged(
        box(gate, {**NODE, "tests/prices.test.mjs": TEST.replace("net(1, 2), 3", "net(1, 0), 1")}), lines=frozenset({2})
    )
    if report is None:
        return
    assert (report.status, report.failure_code, report.mutation_score) == ("failed", "SURVIVING_MUTANT", 0.5)
    assert [(one.mutant.mutated, one.test) for one in report.outcomes if one.status is MutantStatus.SURVIVED] == [
        ("-", "tests/prices.test.mjs::adds")
    ]


def test_a_red_suite_is_no_verdict_on_mutants(gate: Make) -> None:
    report = judged(box(gate, {**NODE, "tests/prices.test.mjs": TEST.replace("3)", "4)")}))
    if report is None:
        return
    assert (report.status, report.failure_code, report.tests_failed, report.outcomes) == (
        "failed",
        "TESTS_FAILING",
        1,
        (),
    )
    assert "adds" in report.test_output


def test_what_the_box_lacks_is_named(gate: Make) -> None:
    expecting = 'import { net } from "../src/prices.mjs";\nit("adds", () => { expect(net(1, 2)).toBe(3); });\n'
    package = json.dumps({"devDependencies": {"vitest": "^1"}})
    if shutil.which("node") is not None:
        with pytest.raises(SandboxFailed, match=r"vitest is not installed .*npm install"):
            box(gate, {**NODE, "tests/prices.test.mjs": expecting, "package.json": package}).verify()
    else:
        judged(box(gate, {**NODE, "tests/prices.test.mjs": expecting, "package.json": package}))


def test_a_file_that_imports_from_two_runners_is_the_one_s_that_works_under_no_other(gate: Make) -> None:
    both = TEST.replace(
        'import { test } from "node:test";', 'import { describe } from "node:test";\nimport { test } from "vitest";'
    )
    made = box(gate, {**NODE, "tests/prices.test.mjs": both})
    with pytest.raises(SandboxFailed, match=r"(node is not in the box|vitest is not installed)"):
        made.verify()


def test_a_vacuous_test_fails_without_running_anything(gate: Make) -> None:
    made = box(gate, {**NODE, "tests/prices.test.mjs": TEST.replace("assert.equal(net(1, 2), 3)", "net(1, 2)")})
    report = made.verify()
    assert [(one.node_id, one.test) for one in report.missing_asserts] == [
        ("function:src/prices.mjs#net", "tests/prices.test.mjs::adds")
    ]
    assert made.driver.commands == []


def test_a_test_of_another_language_is_refused(gate: Make) -> None:
    made = box(gate, {**NODE, "tests/test_prices.py": "def test_a(): pass\n"})
    made.test = "tests/test_prices.py"
    with pytest.raises(Invalid, match="another language"):
        made.verify()


@pytest.mark.parametrize(
    ("test", "package", "held"),
    [
        (TEST, {}, (True, False)),
        ("import { expect } from 'vitest';\n", {}, (True, False)),
        ("it('adds', () => {});\n", {}, (False, False)),
        ("it('adds', () => {});\n", {"devDependencies": {"mocha": "^10"}}, (True, True)),
        ("import { t } from './own.mjs';\n", {"scripts": {"test": "node --import tsx --test"}}, (True, True)),
        ("it('adds', () => {});\n", {"devDependencies": {"jasmine": "^5"}, "scripts": []}, (False, False)),
    ],
)
def test_a_session_is_held_to_verdicts_where_the_gate_can_run_the_project_s_tests(
    gate: Make, test: str, package: dict[str, object], held: tuple[bool, bool]
) -> None:
    made = box(gate, {**NODE, "tests/prices.test.mjs": test, "package.json": json.dumps(package)})
    assert made.service.judges(FilePath(made.target))
    runs = made.service.runs_tests
    found = runs(made.box, FilePath(made.test)), runs(made.box, FilePath(made.target), is_test=False)
    assert found == held
    assert runs(made.box, FilePath("src/prices.py"), is_test=False)
