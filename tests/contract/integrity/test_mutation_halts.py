"""Mutants that are forked from one begun test or one begun import: each starts from the state that the others started from."""

from __future__ import annotations

from pathlib import Path

from tests.contract.integrity.test_mutation_runner import run, write

SUMS = "def add(a, b):\n    total = a + b\n    total = total * 1\n    return total\n"
"""Enough mutants of one first test for a halt."""


def test_what_a_fixture_makes_is_made_for_each_mutant_anew(tmp_path: Path) -> None:
    test = (
        "import pytest\nfrom mod import add\n\nMADE = []\n\n\n@pytest.fixture\ndef once(tmp_path):\n"
        "    assert not list(tmp_path.iterdir()) and not MADE\n    MADE.append(1)\n    (tmp_path / 'made').write_text('')\n"
        "    yield add(1, 0)\n    MADE.clear()\n\n\n"
        "def test_add(once):\n    assert once in (1, -1, 2, None)\n"
    )
    write(tmp_path, SUMS, test)
    table = run(tmp_path)["table"]
    # Had a mutant found what another one's fixture had made, it would have been noticed by that.
    assert (table[2, "+", "-"], table[3, "1", "2"], table[4, "total", "None"]) == ("survived",) * 3


def test_a_fixture_calls_the_mutant(tmp_path: Path) -> None:
    test = (
        "import pytest\nfrom mod import add\n\n\n@pytest.fixture\ndef three():\n    return add(1, 2)\n\n\n"
        "@pytest.mark.parametrize('wanted', [3])\ndef test_add(wanted, three):\n    assert three == wanted\n"
    )
    write(tmp_path, SUMS, test)
    found = run(tmp_path)
    assert (found["table"][2, "+", "-"], found["table"][3, "1", "2"]) == ("killed", "killed")
    assert found["table"][4, "total", "None"] == "killed"
    assert {name for *_, name in found["verdicts"] if name} == {"test_mod.py::test_add[3]"}


def test_hooks_and_set_up_functions_of_the_project_run_for_each_mutant(tmp_path: Path) -> None:
    test = (
        "from mod import add\n\nSEEN = []\n\n\ndef setup_function():\n    SEEN.append(add(1, 2))\n\n\n"
        "def test_add():\n    assert SEEN == [3]\n"
    )
    write(tmp_path, SUMS, test)
    alone = run(tmp_path)["table"]
    assert (alone[2, "+", "-"], alone[3, "1", "2"], alone[4, "total", "None"]) == ("killed",) * 3
    (tmp_path / "conftest.py").write_text(
        "BEGUN = []\n\n\ndef pytest_runtest_setup(item):\n    assert not BEGUN\n    BEGUN.append(item)\n\n\n"
        "def pytest_runtest_teardown(item):\n    BEGUN.clear()\n"
    )
    assert run(tmp_path)["table"] == alone


def test_a_hook_that_forgives_failures_is_asked(tmp_path: Path) -> None:
    write(tmp_path, SUMS, "from mod import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n")
    (tmp_path / "conftest.py").write_text(
        "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
        "    outcome = yield\n    outcome.get_result().outcome = 'passed'\n"
    )
    table = run(tmp_path)["table"]
    assert set(table.values()) == {"survived"}


def test_a_mutant_that_skips_its_test_is_not_noticed_by_it(tmp_path: Path) -> None:
    test = (
        "import pytest\nfrom mod import add\n\n\ndef test_add():\n    if add(1, 2) != 3:\n        pytest.skip('not today')\n"
        "    assert add(1, 2) == 3\n"
    )
    write(tmp_path, SUMS, test)
    assert set(run(tmp_path)["table"].values()) == {"survived"}


def test_imports_halted_before_the_target_start_from_one_state(tmp_path: Path) -> None:
    (tmp_path / "early.py").write_text("COUNT = []\n")
    source = "import early\n\nearly.COUNT.append(1)\nLOW = 1\nMID = 2\nHIGH = 3\nFREE = 4\n"
    test = "import early\nimport mod\n\n\ndef test_mod():\n    assert (mod.LOW, mod.MID, mod.HIGH, len(early.COUNT)) == (1, 2, 3, 1)\n"
    write(tmp_path, source, test)
    found = run(tmp_path)
    table = found["table"]
    assert [table[line, str(line - 3), str(line - 2)] for line in (4, 5, 6, 7)] == ["killed"] * 3 + ["survived"]
    assert table[3, "early.COUNT.append(1)", "pass"] == "killed"


def test_a_target_that_only_a_test_imports_is_judged_without_a_halt(tmp_path: Path) -> None:
    source = "LOW = 1\nHIGH = 2\nFREE = 3\n"
    test = "def test_mod():\n    import mod\n\n    assert (mod.LOW, mod.HIGH) == (1, 2)\n"
    write(tmp_path, source, test)
    table = run(tmp_path)["table"]
    assert [table[line, str(line), str(line + 1)] for line in (1, 2, 3)] == ["killed", "killed", "survived"]
