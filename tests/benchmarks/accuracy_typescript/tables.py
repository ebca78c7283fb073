"""What the bench prints."""

from __future__ import annotations

from collections import defaultdict

from tests.benchmarks.accuracy_typescript.compare import AGREES, DISAGREES, SILENT, Case, Comparison
from tests.benchmarks.accuracy_typescript.observed import Observed
from tests.benchmarks.accuracy_typescript.packages import Package


def print_package(package: Package, comparison: Comparison) -> None:
    """Precision by label, recall by kind, and what was left out."""
    print(f"\n{package.name} {package.version}")
    print(f"  {'edges found by':<26}{AGREES:>8}{SILENT:>8}{DISAGREES:>10}{'precision':>11}")
    labels = sorted({label for label, _ in comparison.verdicts})
    for label in labels:
        yes, open_, no = (comparison.verdicts[label, verdict] for verdict in (AGREES, SILENT, DISAGREES))
        print(f"  {label:<26}{yes:>8}{open_:>8}{no:>10}{_share(yes, yes + no):>11}")
    print(f"  {'calls in the project':<26}{'found':>8}{'of':>8}{'':>10}{'recall':>11}")
    for kind in sorted(comparison.wanted):
        found, wanted = comparison.found[kind], comparison.wanted[kind]
        print(f"  {kind:<26}{found:>8}{wanted:>8}{'':>10}{_share(found, wanted):>11}")
    print(f"  found below what the checker names: {comparison.narrower}")
    print(f"  missed: {_listed(comparison.missed)}")
    print(f"  left out: {_listed(comparison.excluded)}")
    print(f"  silent: {_listed(comparison.silences)}")


def print_observed(observed: Observed) -> None:
    """Recall of the calls that were seen at run time."""
    share = _share(observed.found, observed.wanted)
    print(f"  observed while {observed.files} test files ran ({observed.failed} failed): ", end="")
    print(f"{observed.found} of {observed.wanted} calls, recall {share}")
    print(f"  missed: {_listed(observed.missed)}\n  left out: {_listed(observed.excluded)}")


def print_sum(done: list[tuple[Package, Comparison]]) -> None:
    """One line a package."""
    print(f"\n{'package':<20}{'edges':>8}{'judged':>8}{'precision':>11}{'calls':>8}{'recall':>9}")
    for package, comparison in done:
        edges = sum(comparison.verdicts.values())
        judged = sum(n for (_, verdict), n in comparison.verdicts.items() if verdict != SILENT)
        calls = sum(comparison.wanted.values())
        name = f"{package.name} {package.version}"
        shares = f"{comparison.precision:>11.2%}{calls:>8}{comparison.recall:>9.2%}"
        print(f"{name:<20}{edges:>8}{judged:>8}{shares}")


def print_misses(comparison: Comparison, number: int, group: str) -> None:
    """The largest groups of misses and disagreements, each with some of its cases, evenly spread."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in comparison.cases:
        groups[case.group].append(case)
    for name, cases in sorted(groups.items(), key=lambda item: -len(item[1])) if number else ():
        if group in name:
            print(f"\n== {name}: {len(cases)}")
            step = max(1, len(cases) // number)
            for case in cases[::step][:number]:
                print(f"   {case.place}\n      {case.said}")


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2%}" if whole else "-"


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items(), key=lambda item: -item[1])) or "nothing"
