"""The project's own Stryker as judge of its mutants: the real one, which npm installs once into the user's cache."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from smp.domain.errors import SandboxFailed
from smp.domain.mutants import MutantStatus
from tests.builders.npm_packages import installed
from tests.contract.integrity.conftest import Gate

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")]
Make = Callable[[Mapping[str, str]], Gate]
STRYKER = "@stryker-mutator/core@9.6.1"
SOURCE = """\
export function discounted(cents, percent) {
  const off = Math.round((cents * percent) / 100);
  return cents - off;
}

export function unused(a) {
  return a + 1;
}
"""
TEST = """\
import test from "node:test";
import assert from "node:assert/strict";
import { discounted } from "../src/price.mjs";
test("a tenth off", () => { assert.equal(discounted(1000, %s), %s); });
"""


def box(gate: Make, percent: int, is_left: int, *, settings: str = "", stryker: bool = True) -> Gate:
    files = {
        "src/price.mjs": SOURCE, "tests/price.test.mjs": TEST % (percent, is_left), "package.json": json.dumps({"private": True}),
        ".gitignore": "node_modules/\n", "smp.toml": settings,
    }  # fmt: skip
    made = gate(files)
    made.target, made.test = "src/price.mjs", "tests/price.test.mjs"
    if stryker:
        (Path(made.box.state_dir) / "node_modules").symlink_to(installed(STRYKER))
    return made


def test_what_the_project_has_installed_makes_and_judges_the_mutants(gate: Make) -> None:
    made = box(gate, 10, 900)
    report = made.verify()
    found = {(one.mutant.original, one.mutant.mutated): one for one in report.outcomes}
    assert found["cents - off", "cents + off"].status is MutantStatus.KILLED
    assert found["cents - off", "cents + off"].mutant.operator == "ArithmeticOperator"
    assert found["cents - off", "cents + off"].mutant.node_id == "function:src/price.mjs#discounted"
    assert {one.mutant.line for one in report.outcomes if one.status is MutantStatus.NOT_COVERED} == {7}
    assert (report.status, report.mutation_score, report.failure_code) == ("passed", 1.0, None)
    assert report.mutants_total == report.mutants_killed == 4
    assert made.driver.changes(made.box) == ()


def test_a_survivor_has_its_line_and_the_test_that_should_have_noticed(gate: Make) -> None:
    report = box(gate, 0, 1000).verify(lines=frozenset({2, 3}))
    survivors = {
        (one.mutant.line, one.mutant.mutated, one.test)
        for one in report.outcomes
        if one.status is MutantStatus.SURVIVED
    }
    assert report.failure_code == "SURVIVING_MUTANT"
    assert (3, "cents + off", "tests/price.test.mjs") in survivors
    assert {line for line, *_ in survivors} <= {2, 3}


def test_our_own_mutants_where_the_settings_say_so(gate: Make) -> None:
    report = box(gate, 10, 900, settings='[gate]\nmutator = "native"\n').verify(lines=frozenset({3}))
    assert {one.mutant.operator for one in report.outcomes} == {"arithmetic", "return_value"}


def test_a_project_without_it_is_told_how_to_install_it(gate: Make) -> None:
    with pytest.raises(SandboxFailed, match="npm install --save-dev @stryker-mutator/core"):
        box(gate, 10, 900, settings='[gate]\nmutator = "stryker"\n', stryker=False).verify()
