"""The gate's verdicts, on real test runs in folder boxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from smp.domain.errors import Invalid, SandboxFailed, VerificationRequired
from smp.domain.mutants import MutantStatus
from tests.contract.integrity.conftest import Gate

Make = Callable[[Mapping[str, str]], Gate]

PRICES = "def net(cents, count):\n    free = count // 10\n    return cents * (count - free)\n"
STRONG = (
    "from prices import net\n\n\ndef test_net():\n    assert net(250, 3) == 750\n"
    "    assert net(7, 9) == 63\n    assert net(250, 10) == 2250\n"
)
WEAK = "from prices import net\n\n\ndef test_net():\n    assert net(250, 3) == 750\n"


def test_a_strong_test_passes_with_all_mutants_killed(gate: Make) -> None:
    report = gate({"src/prices.py": PRICES, "tests/test_prices.py": STRONG}).verify()
    assert (report.status, report.failure_code, report.mutation_score) == ("passed", None, 1.0)
    assert report.mutants_total == report.mutants_killed >= 3
    assert report.coverage_delta_pct == 0.0


def test_a_weak_test_leaves_survivors_with_their_place_and_test(gate: Make) -> None:
    report = gate({"src/prices.py": PRICES, "tests/test_prices.py": WEAK}).verify()
    survivors = [outcome for outcome in report.outcomes if outcome.status is MutantStatus.SURVIVED]
    assert (report.status, report.failure_code) == ("failed", "SURVIVING_MUTANT")
    assert report.mutants_total == report.mutants_killed + len(survivors)
    assert {(one.mutant.node_id, one.test) for one in survivors} == {
        ("function:src/prices.py#net", "tests/test_prices.py::test_net")
    }
    assert (2, "10", "11") in {(one.mutant.line, one.mutant.original, one.mutant.mutated) for one in survivors}


def test_a_vacuous_test_fails_without_running_anything(gate: Make) -> None:
    made = gate(
        {"src/prices.py": PRICES, "tests/test_prices.py": "from prices import net\ndef test_a():\n    net(1, 2)\n"}
    )
    report = made.verify()
    assert report.failure_code == "MISSING_AST_ASSERT"
    assert [(one.node_id, one.test) for one in report.missing_asserts] == [
        ("function:src/prices.py#net", "tests/test_prices.py::test_a")
    ]
    assert made.driver.commands == []


def test_tests_that_never_enter_the_target_do_not_vouch_for_it(gate: Make) -> None:
    report = gate({"src/prices.py": PRICES, "tests/test_prices.py": "def test_a():\n    assert 1 + 1 == 2\n"}).verify()
    assert (report.failure_code, [one.node_id for one in report.missing_asserts]) == (
        "MISSING_AST_ASSERT",
        ["function:src/prices.py#net"],
    )


def test_tests_of_another_function_do_not_vouch_for_the_changed_one(gate: Make) -> None:
    prices = PRICES + "\n\ndef gross(cents):\n    return cents * 2\n"
    report = gate({"src/prices.py": prices, "tests/test_prices.py": STRONG}).verify(lines=frozenset({7}))
    assert report.failure_code == "MISSING_AST_ASSERT"
    assert [one.node_id for one in report.missing_asserts] == ["function:src/prices.py#gross"]
    assert report.tests_passed == 1
    assert report.mutants_not_covered > 0


def test_a_red_suite_is_reported_with_its_output(gate: Make) -> None:
    made = gate({"src/prices.py": PRICES, "tests/test_prices.py": STRONG})
    made.write("src/prices.py", PRICES.replace("count - free", "count - free + 1"))
    report = made.verify()
    assert (report.status, report.failure_code, report.tests_failed) == ("failed", "TESTS_FAILING", 1)
    assert "assert 1000 == 750" in report.test_output


@pytest.mark.parametrize(
    ("target", "test", "says"),
    [
        (PRICES, "import nothing_like_this\ndef test_a():\n    assert True\n", "nothing_like_this"),
        ("def net(:\n", "def test_a():\n    assert True\n", "does not compile"),
        (PRICES, "X = 1\n", "no tests were collected"),
        (PRICES, "import os\nfrom prices import net\ndef test_a():\n    assert net(1, 1)\n    os._exit(0)\n", "died"),
    ],
)
def test_a_suite_that_cannot_run_counts_as_red(gate: Make, target: str, test: str, says: str) -> None:
    report = gate({"src/prices.py": target, "tests/test_prices.py": test}).verify()
    assert report.failure_code == "TESTS_FAILING"
    assert says in report.test_output


def test_a_verdict_is_void_after_an_edit(gate: Make) -> None:
    made = gate({"src/prices.py": PRICES, "tests/test_prices.py": STRONG})
    report = made.verify()
    assert [one.id for one in made.service.require_passed(made.session, made.box, report.id)] == [report.id]
    made.write("src/prices.py", PRICES + "\n\nLATE = 1\n")
    with pytest.raises(VerificationRequired):
        made.service.require_passed(made.session, made.box, report.id)


def test_without_a_passed_verdict_nothing_leaves(gate: Make) -> None:
    made = gate({"src/prices.py": PRICES, "tests/test_prices.py": WEAK})
    with pytest.raises(VerificationRequired):
        made.service.require_passed(made.session, made.box)
    made.verify()
    with pytest.raises(VerificationRequired, match=r"prices\.py failed"):
        made.service.require_passed(made.session, made.box)


def test_the_same_key_gives_the_first_verdict(gate: Make) -> None:
    made = gate({"src/prices.py": PRICES, "tests/test_prices.py": STRONG})
    first = made.verify(key="ver_chosen0123456789")
    made.write("src/prices.py", "broken(")
    assert made.verify(key="ver_chosen0123456789") == first


def test_unchanged_content_is_judged_without_another_run(gate: Make) -> None:
    made = gate({"src/prices.py": PRICES, "tests/test_prices.py": WEAK})
    first = made.verify()
    ran = len(made.driver.commands)
    second = made.verify()
    assert (second.outcomes, second.id == first.id, len(made.driver.commands)) == (first.outcomes, False, ran)


def test_only_mutants_on_the_asked_lines_count(gate: Make) -> None:
    made = gate({"src/prices.py": PRICES, "tests/test_prices.py": WEAK})
    report = made.verify(lines=frozenset({3}))
    assert {outcome.mutant.line for outcome in report.outcomes} == {3}


def test_coverage_is_measured_against_the_commit(gate: Make) -> None:
    source = PRICES + "\n\ndef gross(cents):\n    return cents + 1\n"
    made = gate({"src/prices.py": source, "tests/test_prices.py": STRONG})
    made.write(
        "tests/test_prices.py",
        STRONG.replace("net\n", "gross, net\n", 1) + "\n\ndef test_b():\n    assert gross(1) == 2\n",
    )
    report = made.verify()
    # Five executable lines: two `def`, three in bodies; the last is reached by the new test alone.
    assert (report.status, report.coverage_delta_pct) == ("passed", 20.0)
    assert made.driver.living() == ["box_0123456789abcdef"]


def test_a_new_test_file_starts_from_nothing(gate: Make) -> None:
    made = gate({"src/prices.py": PRICES})
    made.write("tests/test_prices.py", STRONG)
    assert made.verify().coverage_delta_pct == 100.0


def test_what_mutants_write_into_the_checkout_is_put_back(gate: Make) -> None:
    source = (
        "from pathlib import Path\n\n\ndef save(keep):\n    if keep:\n        return 1\n"
        "    Path('stray.txt').write_text('x')\n    Path('tests/test_prices.py').write_text('')\n    return 2\n"
    )
    test = "from prices import save\n\n\ndef test_a():\n    assert save(True) == 1\n"
    made = gate({"src/prices.py": source, "tests/test_prices.py": test})
    made.verify()
    assert made.driver.changes(made.box) == ()
    assert made.text("tests/test_prices.py") == test


@pytest.mark.parametrize(
    ("target", "test", "parameter"),
    [
        ("no/such.py", "tests/test_prices.py", "target_file"),
        ("src/prices.py", "no/such_test.py", "test_file"),
        ("../../etc/passwd", "tests/test_prices.py", "target_file"),
        ("src/prices.py", "pyproject.toml", "test_file"),
        ("pyproject.toml", "tests/test_prices.py", "target_file"),
    ],
)
def test_files_that_cannot_be_verified_are_named(gate: Make, target: str, test: str, parameter: str) -> None:
    made = gate({"src/prices.py": PRICES, "tests/test_prices.py": STRONG})
    made.target, made.test = target, test
    with pytest.raises(Invalid) as caught:
        made.verify()
    assert caught.value.path == parameter


def test_a_missing_test_framework_is_said(gate: Make) -> None:
    made = gate({"src/prices.py": PRICES, "tests/test_prices.py": STRONG})
    made.driver.python += " -S -I"
    with pytest.raises(SandboxFailed, match="pytest is not installed"):
        made.verify()
