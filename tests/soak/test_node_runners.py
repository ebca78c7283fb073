"""The gate on JavaScript and TypeScript with real vitest, jest and mocha, which npm installs once into the user's cache."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from smp.domain.mutants import IntegrityReport, MutantStatus
from tests.builders.npm_packages import installed
from tests.contract.integrity.conftest import Gate
from tests.contract.integrity.conftest import gate as gate

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")]

Make = Callable[[Mapping[str, str]], Gate]
BODY = """\
{export}net(a{number}, b{number}) {{
  return a + b;
}}
{export}down(n{number}) {{
  while (n > 0) {{
    n--;
  }}
  if (n < 0)
    return "never";
  return n;
}}
{export}spare(n{number}) {{
  return n * 2;
}}
"""
TESTS = """
describe("net (of all)", () => {
  it("adds", () => { same(net(1, 2), 3); });
  it("adds nothing", () => { same(net(4, 0), 4); });
});
it("counts down", () => { same(down(2), 0); });
it("doubles | spares", () => { same(spare(0), 0); });
"""
KINDS = {
    "vitest@1": ("vitest", "ts"), "vitest@3": ("vitest", "ts"), "vitest@4": ("vitest", "ts"), "jest@29": ("jest", "js"),
    "jest@30": ("jest", "js"), "mocha@11": ("mocha", "js"),
}  # fmt: skip


def shop(gate: Make, kind: str, *, tests: str = TESTS) -> Gate:
    runner, suffix = KINDS[kind]
    typed = suffix == "ts"
    source = BODY.format(export="export function " if typed else "exports.", number=": number" if typed else "")
    if not typed:
        source = source.replace("exports.net(", "exports.net = function (").replace(
            "exports.down(", "exports.down = function ("
        )
        source = source.replace("exports.spare(", "exports.spare = function (")
    heads = {
        "vitest": 'import { describe, expect, it } from "vitest";\nimport { down, net, spare } from "../src/prices";\n',
        "jest": 'const { down, net, spare } = require("../src/prices");\n',
        "mocha": 'const { down, net, spare } = require("../src/prices");\n',
    }
    same = {
        "vitest": "const same = (a: unknown, b: unknown) => expect(a).toBe(b);\n",
        "jest": "const same = (a, b) => expect(a).toBe(b);\n",
        "mocha": 'const same = require("node:assert").strictEqual;\n',
    }
    files = {
        f"src/prices.{suffix}": source,
        f"tests/prices.test.{suffix}": heads[runner] + same[runner] + tests,
        "package.json": json.dumps({"devDependencies": {runner: "*"}}),
        ".gitignore": "node_modules\n",
    }
    made = gate(files)
    made.target, made.test = f"src/prices.{suffix}", f"tests/prices.test.{suffix}"
    (Path(made.box.state_dir) / "node_modules").symlink_to(installed(kind))
    return made


def by_change(report: IntegrityReport) -> dict[tuple[int, str], tuple[str, str | None]]:
    return {(one.mutant.line, one.mutant.mutated): (one.status.value, one.test) for one in report.outcomes}


@pytest.mark.parametrize("kind", list(KINDS))
def test_each_mutant_is_judged_by_the_tests_that_reach_it(gate: Make, kind: str) -> None:
    made = shop(gate, kind)
    report = made.verify()
    found = by_change(report)
    name = f"{made.test}::"
    in_net = "net (of all) adds" if kind.startswith("mocha") else "net (of all) > adds"
    assert found[2, "-"] == ("killed", name + in_net)
    assert found[2, "undefined"] == ("killed", name + in_net)
    assert found[6, "++"][0] == found[6, ";"][0] == "timeout"
    assert found[9, '""'] == ("not_covered", None)
    assert found[13, "/"] == ("survived", name + "doubles | spares")
    assert found[13, "undefined"] == ("killed", name + "doubles | spares")
    assert report.tests_passed == 4
    assert made.driver.changes(made.box) == ()


@pytest.mark.parametrize("kind", ["vitest@4", "jest@30", "mocha@11"])
def test_tests_that_need_their_neighbours_are_judged_by_the_whole_file(gate: Make, kind: str) -> None:
    needy = TESTS.replace(
        'it("doubles', 'let ready = 0;\nit("prepares", () => { ready = net(1, 0); same(ready, 1); });\nit("doubles'
    ).replace("same(spare(0), 0)", "same(spare(ready), 2)")
    report = shop(gate, kind, tests=needy).verify(lines=frozenset({2, 13}))
    found = by_change(report)
    assert found[13, "/"][0] == found[13, "undefined"][0] == "killed"
    assert {one.status for one in report.outcomes} == {MutantStatus.KILLED}
