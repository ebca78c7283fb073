"""How often the assert check calls a test vacuous: python tests/benchmarks/assert_check.py ROOT SOURCES TESTS

ROOT is an unpacked source distribution, SOURCES and TESTS folders in it. Each test file is judged against each source
file. Prints totals and every test that holds an assertion and is called vacuous all the same, for a reader to judge.
"""

from __future__ import annotations

import sys
from pathlib import Path

from smp.domain.assertions import TargetSurface
from smp.domain.ids import FilePath
from smp.languages.assertions import assertion_rules


def is_test(path: str) -> bool:
    """By the names that pytest, and the runners of JavaScript, look for; a folder `test` or `__tests__` is theirs too."""
    name = path.rpartition("/")[2]
    if name.endswith(".py"):
        return name.startswith("test")
    return (
        ".test." in name or ".spec." in name or any(part in ("test", "tests", "__tests__") for part in path.split("/"))
    )


def files_below(folder: Path) -> list[Path]:
    """Files in order, without installed packages and builds."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in found if not {"node_modules", "dist", ".git"} & set(path.relative_to(folder).parts)]


def check(root: Path, sources: str, tests: str) -> tuple[int, int]:
    """Print the counts; (tests with an assertion that are called vacuous, tests with an assertion)."""
    surfaces: list[TargetSurface] = []
    for file in files_below(root / sources):
        path = FilePath(file.relative_to(root).as_posix())
        rules = assertion_rules(path)
        if rules is not None and not is_test(path):
            surface = rules.surface(path, file.read_bytes())
            surfaces += [surface] if surface.functions or surface.classes else []
    seen: set[tuple[FilePath, str]] = set()
    asserting: set[tuple[FilePath, str]] = set()
    flagged: dict[tuple[FilePath, str], set[str]] = {}
    for file in files_below(root / tests):
        path, content = FilePath(file.relative_to(root).as_posix()), file.read_bytes()
        rules = assertion_rules(path)
        if rules is None or not is_test(path):
            continue
        support = {one: (root / one).read_bytes() for one in rules.support(path, content) if (root / one).is_file()}
        for surface in surfaces:
            for flow in rules.flows(path, content, surface, support):
                key = (path, flow.test)
                seen.add(key)
                asserting |= {key} if flow.asserts else set()
                if flow.called - flow.asserted:
                    flagged.setdefault(key, set()).update(flow.called - flow.asserted)
    doubtful = sorted(flagged.keys() & asserting)
    print(
        f"{root.name}: {len(seen)} tests, {len(asserting)} with an assertion, {len(flagged)} called vacuous, {len(doubtful)} of them with an assertion"
    )
    for key in doubtful:
        print(f"  {key[0]}::{key[1]}: {', '.join(sorted(flagged[key]))}")
    return len(doubtful), len(asserting)


if __name__ == "__main__":
    check(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
