"""The runner that works inside a box: what is killed, what survives, what never ends, and that it is the same each time."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from smp.adapters.mutator_native import NativeMutator
from smp.domain.ids import FilePath
from tests.builders.folder_boxes import INSIDE, write_files

Table = dict[tuple[int, str, str], str]


def run(folder: Path, *, only: set[tuple[int, str]] | None = None, **job: Any) -> dict[str, Any]:
    """Run the mutants of `mod.py` against `test_mod.py`; `only`: (line, replacement) of those wanted."""
    source = (folder / "mod.py").read_bytes()
    mutants = NativeMutator().enumerate(FilePath("mod.py"), source, lines=None)
    rows = [
        [m.index, m.line, m.start_byte, m.end_byte, m.mutated]
        for m in mutants
        if only is None or (m.line, m.mutated) in only
    ]
    given = {
        "target": "mod.py",
        "tests": ["test_mod.py"],
        "sha256": hashlib.sha256(source).hexdigest(),
        "budget_seconds": 120,
        "memory_mb": 256,
        "mutants": rows,
        **job,
    }
    out = folder / "out"
    out.mkdir(exist_ok=True)
    subprocess.run(
        [sys.executable, str(INSIDE / "mutation_runner.py")],
        input=base64.b64encode(zlib.compress(json.dumps(given).encode())),
        cwd=folder,
        env={**os.environ, "SMP_OUT": str(out), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=True,
        capture_output=True,
    )
    result: dict[str, Any] = json.loads((out / "mutation.json").read_text())
    by_index = {m.index: (m.line, m.original, m.mutated.strip()) for m in mutants}
    result["table"] = {by_index[index]: status for index, status, _ in result.get("verdicts", [])}
    return result


def write(folder: Path, source: str, test: str) -> None:
    write_files(folder, {"mod.py": source, "test_mod.py": test})


LOOP = (
    "def total(n):\n    out = 0\n    while n > 0:\n        out += n\n        n -= 1\n    return out\n\n\n"
    "def unused(flag):\n    return not flag\n"
)


def test_endless_mutants_are_time_outs_and_unreached_ones_are_no_survivors(tmp_path: Path) -> None:
    write(
        tmp_path,
        LOOP,
        "from mod import total\n\n\ndef test_total():\n    assert total(3) == 6\n    assert total(0) == 0\n",
    )
    table = run(tmp_path)["table"]
    assert (table[5, "-=", "+="], table[5, "n -= 1", "pass"]) == ("timeout", "timeout")
    assert table[3, ">", ">="] == "survived"
    assert {status for (line, *_), status in table.items() if line == 10} == {"not_covered"}
    assert table[4, "+=", "-="] == table[2, "0", "1"] == "killed"
    # The same verdict when run alone, and nothing written.
    assert run(tmp_path, only={(5, "+=")})["table"] == {(5, "-=", "+="): "timeout"}
    assert (tmp_path / "mod.py").read_text() == LOOP


def test_mutants_that_act_at_import_are_judged_by_a_fresh_import(tmp_path: Path) -> None:
    source = (
        "LIMIT = 3\nSPARE = 7\n\n\ndef within(n, most=10):\n    return LIMIT < n < most\n\n\n"
        "class Box:\n    size = 4\n\n    def area(self):\n        return self.size * self.size\n"
    )
    test = (
        "from mod import Box, within\n\n\ndef test_within():\n    assert within(4)\n    assert not within(3)\n"
        "    assert not within(10)\n    assert within(9)\n\n\ndef test_area():\n    assert Box().area() == 16\n"
    )
    write(tmp_path, source, test)
    table = run(tmp_path)["table"]
    assert (table[1, "3", "4"], table[5, "10", "11"], table[10, "4", "5"]) == ("killed", "killed", "killed")
    assert table[2, "7", "8"] == "survived"


def test_a_target_that_the_project_s_configuration_imports_is_judged_alike(tmp_path: Path) -> None:
    source = "LIMIT = 3\n\n\ndef within(n):\n    return n < LIMIT\n"
    test = "from mod import within\n\n\ndef test_within():\n    assert within(2)\n    assert not within(3)\n"
    write(tmp_path, source, test)
    alone = run(tmp_path)["verdicts"]
    (tmp_path / "conftest.py").write_text("import mod\n\nassert mod.LIMIT\n")
    found = run(tmp_path)
    assert found["verdicts"] == alone
    assert found["table"][1, "3", "4"] == "killed"
    assert set(found["import_lines"]) == {1, 4}


def test_a_kill_counts_only_if_its_tests_pass_alone(tmp_path: Path) -> None:
    source = "ready = []\n\n\ndef start():\n    ready.append(1)\n\n\ndef use(n):\n    return n + len(ready)\n"
    test = (
        "from mod import start, use\n\n\ndef test_start():\n    start()\n    assert use(1) >= 2\n\n\n"
        "def test_use():\n    assert use(1) >= 2\n"
    )
    write(tmp_path, source, test)
    found = run(tmp_path)
    # Alone test_use fails with or without a mutant; in the suite's order test_start comes first and notices.
    assert found["table"][9, "+", "-"] == "killed"
    assert {name for *_, name in found["verdicts"] if name} == {"test_mod.py::test_start"}


def test_tests_that_roll_dice_give_one_verdict(tmp_path: Path) -> None:
    write(
        tmp_path,
        "def double(n):\n    return n * 2\n",
        "import random\nfrom mod import double\n\n\ndef test_double():\n    n = random.choice([0, 2])\n    assert double(n) == n + n\n",
    )
    tables = [run(tmp_path)["table"] for _ in range(3)]
    assert tables[0] == tables[1] == tables[2]


def test_wrappers_made_at_import_change_with_their_decorator(tmp_path: Path) -> None:
    source = (
        "import functools\n\n\ndef twice(function):\n    @functools.wraps(function)\n    def wrapper(*args):\n"
        "        return 2 * function(*args)\n\n    return wrapper\n\n\n@twice\ndef one(x):\n    return x + 1\n\n\n"
        "@property\ndef unused(self):\n    return 1\n\n\ncached = functools.lru_cache(one)\n"
    )
    write(
        tmp_path,
        source,
        "from mod import cached, one\n\n\ndef test_one():\n    assert one(2) == 6\n    assert cached(3) == 8\n",
    )
    table = run(tmp_path)["table"]
    assert (table[7, "2", "3"], table[7, "*", "/"], table[14, "+", "-"]) == ("killed", "killed", "killed")


def test_mutants_that_compile_to_the_same_code_are_set_apart(tmp_path: Path) -> None:
    source = "def f(x):\n    if x:\n        return 1\n    return 2 * 0\n"
    write(tmp_path, source, "from mod import f\n\n\ndef test_f():\n    assert f(1) == 1\n    assert f(0) == 0\n")
    assert run(tmp_path)["table"][4, "2", "3"] == "equivalent"


def test_tests_that_need_their_neighbours_do_not_kill_by_being_run_alone(tmp_path: Path) -> None:
    source = "state = []\n\n\ndef add(x):\n    state.append(x)\n    return len(state) > 100\n"
    test = (
        "import mod\n\n\ndef test_first():\n    assert mod.add(1) is False\n\n\n"
        "def test_second():\n    assert mod.state == [1]\n    assert mod.add(2) is False\n"
    )
    write(tmp_path, source, test)
    table = run(tmp_path)["table"]
    assert (table[6, ">", ">="], table[6, "100", "101"]) == ("survived", "survived")
    assert table[6, ">", "<="] == "killed"


def test_state_left_by_one_test_run_does_not_reach_the_next(tmp_path: Path) -> None:
    source = "seen = set()\n\n\ndef register(name):\n    if name in seen:\n        raise ValueError(name)\n    seen.add(name)\n    return 1 > 2\n"
    write(tmp_path, source, "from mod import register\n\n\ndef test_once():\n    assert register('a') is False\n")
    table = run(tmp_path)["table"]
    assert (table[8, "1", "2"], table[8, ">", "<="]) == ("survived", "killed")


def test_a_mutant_that_takes_the_process_down_is_killed(tmp_path: Path) -> None:
    source = "import os\n\n\ndef stop(really):\n    if really:\n        os._exit(0)\n    return 1\n"
    write(tmp_path, source, "from mod import stop\n\n\ndef test_stop():\n    assert stop(False) == 1\n")
    assert run(tmp_path)["table"][5, "really", "(not (really))"] == "killed"


def test_a_mutant_that_eats_memory_is_killed_before_the_machine_suffers(tmp_path: Path) -> None:
    source = "def double(n):\n    s = 'ab'\n    while n > 0:\n        s += s\n        n -= 1\n    return len(s)\n"
    write(tmp_path, source, "from mod import double\n\n\ndef test_double():\n    assert double(3) == 16\n")
    assert run(tmp_path, only={(5, "+=")})["table"] == {(5, "-=", "+="): "killed"}


def test_temporary_files_of_one_mutant_are_gone_for_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    source = "def save(path, n):\n    path.write_text(str(n + 1))\n    return path.read_text()\n"
    test = (
        "import pathlib\nimport tempfile\nfrom mod import save\n\n\ndef test_save(tmp_path):\n"
        "    mark = pathlib.Path(tempfile.gettempdir()) / 'mark'\n    assert not mark.exists()\n    mark.touch()\n"
        "    assert save(tmp_path / 'a', 1) == '2'\n"
    )
    write(tmp_path, source, test)
    assert set(run(tmp_path)["table"].values()) == {"killed"}
    assert list(temporary.iterdir()) == []


def test_three_runs_give_one_table(tmp_path: Path) -> None:
    write(
        tmp_path,
        LOOP,
        "from mod import total\n\n\ndef test_a():\n    assert total(2) == 3\n\n\ndef test_b():\n    assert total(1)\n",
    )
    quick = {(3, ">="), (2, "1"), (4, "-="), (6, "None")}
    first, *rest = [run(tmp_path, only=quick)["verdicts"] for _ in range(3)]
    assert rest == [first, first]


def test_fixtures_classes_and_parametrised_tests_are_run_as_pytest_runs_them(tmp_path: Path) -> None:
    test = (
        "import unittest\nimport pytest\nfrom mod import double\n\n\n@pytest.fixture(scope='session')\ndef two():\n    return double(1)\n\n\n"
        "@pytest.mark.parametrize('n', [1, 2])\ndef test_n(n, two):\n    assert double(n) == n * two\n\n\n"
        "class TestDouble(unittest.TestCase):\n    def test_three(self):\n        self.assertEqual(double(3), 6)\n"
    )
    write(tmp_path, "def double(n):\n    return n * 2\n", test)
    result = run(tmp_path)
    assert (result["passed"], result["state"]) == (4 - 1, "clean")
    assert set(result["table"].values()) == {"killed"}


def test_the_budget_leaves_the_rest_for_another_run(tmp_path: Path) -> None:
    write(tmp_path, LOOP, "from mod import total\n\n\ndef test_a():\n    assert total(2) == 3\n")
    result = run(tmp_path, budget_seconds=0)
    assert result["left"]
    assert set(result["table"].values()) <= {"not_covered", "equivalent"}


def test_another_content_than_the_mutants_were_made_for_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "X = 1\n", "def test_a():\n    assert True\n")
    assert run(tmp_path, sha256="0" * 64)["state"] == "changed"


@pytest.mark.parametrize("kind", ["skip", "xfail"])
def test_skipped_and_expected_failures_are_no_failures(tmp_path: Path, kind: str) -> None:
    test = f"import pytest\nfrom mod import f\n\n\n@pytest.mark.{kind}\ndef test_a():\n    assert f() == 2\n\n\ndef test_b():\n    assert f() == 1\n"
    write(tmp_path, "def f():\n    return 1\n", test)
    result = run(tmp_path)
    assert (result["state"], set(result["table"].values())) == ("clean", {"killed"})
