"""Run the stages of a chore one after the other, print the seconds of each, and fail when one failed.

    python infra/stages.py check | test | bench | soak

Every stage runs even when an earlier one failed, so that one run shows everything. Skipped tests are listed with their
reason and held against `tests/known_skips.txt`, which may only shrink.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
LIBCLANG = "libclang==18.1.1"
"""A second opinion on C and C++, for `make bench` alone: 80 MB that no test needs."""
SOURCES = ("smp", "workflows", "activities", "workers", "tests", "infra", "examples")


@dataclass(frozen=True)
class Stage:
    """A command; `junit` is set for pytest stages, whose skips are collected."""

    name: str
    command: list[str]
    junit: Path | None = None
    environment: dict[str, str] = field(default_factory=dict)


def shared() -> Path:
    """The folder with the conformance kit and the cases."""
    return Path(os.environ.get("SMP_SHARED", ROOT.parent / "shared"))


def pytest(name: str, *arguments: str, reports: Path) -> Stage:
    """A pytest stage with a JUnit report."""
    report = reports / f"{name}.xml"
    return Stage(name, [str(BIN / "python"), "-m", "pytest", "-q", f"--junitxml={report}", *arguments], report)


def static_stages() -> list[Stage]:
    """Format, lint, types, import rules, and whether the links of the documentation lead somewhere."""
    present = [folder for folder in SOURCES if (ROOT / folder).is_dir()]
    return [
        Stage("format", [str(BIN / "ruff"), "format", "--check", "--quiet", *present]),
        Stage("lint", [str(BIN / "ruff"), "check", "--quiet", *present]),
        Stage("types", [str(BIN / "mypy"), "--no-error-summary"]),
        Stage("imports", [str(BIN / "lint-imports"), "--no-logo"]),
        Stage("docs", [str(BIN / "zensical"), "build", "--strict", "--clean"]),
    ]


def docker_stages(python: str, reports: Path) -> list[Stage]:
    """The docker driver under the kit and under the attempts to break out; root's alone, since a daemon is started."""
    if os.geteuid() != 0:
        return []
    groups = [word for group in ("sandbox", "linker", "notifications") for word in ("--group", group)]
    return [
        Stage("conformance-docker", [python, "infra/conformance.py", "--driver", "docker", *groups]),
        pytest("breakout-docker", "tests/soak/test_breakout.py", "-k", "docker", reports=reports),
    ]


def microvm_stages(python: str) -> list[Stage]:
    """What machines are made of, outside the time limit of a single test; root's alone."""
    return [Stage("microvm", [python, "infra/microvm/ensure.py"])] if os.geteuid() == 0 else []


def stages_of(chore: str, reports: Path) -> list[Stage]:
    """The stages of a chore, in order."""
    python = str(BIN / "python")
    if chore == "check":
        return [*static_stages(), pytest("unit", "tests/unit", "tests/architecture", "-n", "2", reports=reports)]
    if chore == "test":
        coverage = ("--cov", "--cov-branch", "--cov-report=term:skip-covered")
        return [
            *static_stages(),
            pytest("unit", "tests/unit", "tests/architecture", "-n", "2", *coverage, reports=reports),
            pytest("languages", "tests/languages", "-n", "2", reports=reports),
            # set-up has begun it; here it ends, outside the time limit of a single test
            Stage("servers", [python, "infra/servers.py", "provide"]),
            *microvm_stages(python),
            pytest("contract", "tests/contract", reports=reports),
            pytest("protocol", "tests/protocol", reports=reports),
            pytest("workflows", "tests/workflows", reports=reports),
            pytest("e2e", "tests/e2e", reports=reports),
            Stage("cases", [python, "infra/cases.py"]),
            Stage("records", [python, str(shared() / "conformance" / "record_graph.py"), "--smp", str(BIN / "smp")]),
            Stage("conformance", [python, "infra/conformance.py"]),
            *docker_stages(python, reports),
        ]
    if chore == "bench":
        return [
            Stage("clang", [python, "-m", "pip", "install", "--quiet", LIBCLANG]),
            *(
                Stage(path.stem, [python, str(path.relative_to(ROOT))])
                for path in sorted((ROOT / "tests" / "benchmarks").glob("bench_*.py"))
            ),
        ]
    if chore == "soak":
        return [
            *microvm_stages(python),
            pytest("soak", "tests/soak", "--timeout=7200", reports=reports),
            Stage("conformance-server", [python, "infra/conformance.py", "--profile", "server"]),
        ]
    sys.exit(f"unknown chore {chore!r}: check, test, bench or soak")


def skipped(report: Path) -> list[str]:
    """`file::test: reason` of each skipped test of a JUnit report."""
    if not report.exists():
        return []
    root = ElementTree.parse(report).getroot()  # noqa: S314 - our own pytest wrote it
    return [
        f"{case.get('classname', '')}::{case.get('name', '')}: {skip.get('message', '')}"
        for case in root.iter("testcase")
        for skip in case.iter("skipped")
    ]


def report_skips(found: list[str]) -> bool:
    """Print all skips; True when each is on record."""
    known_file = ROOT / "tests" / "known_skips.txt"
    known = [line for line in known_file.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    print(f"\nskipped tests: {len(found)} (on record: {len(known)})")
    fresh = [skip for skip in found if not any(skip.startswith(entry) for entry in known)]
    for skip in found:
        print(f"  {'NEW ' if skip in fresh else ''}{skip}")
    if fresh:
        print("a skip that is not on record fails the run: provide what the probe misses")
    return not fresh


def main() -> int:
    """Run a chore; exit code 1 when a stage failed or a skip is not on record."""
    chore = sys.argv[1] if len(sys.argv) > 1 else "check"
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}", "PYTHONUNBUFFERED": "1"}
    environment.setdefault("SMP_SHARED", str(shared()))
    rows: list[tuple[str, float, int]] = []
    with tempfile.TemporaryDirectory(prefix="smp-stages-") as folder:
        stages = stages_of(chore, Path(folder))
        for stage in stages:
            print(
                f"\n== {stage.name}: {' '.join(Path(part).name if part.startswith(str(BIN)) else part for part in stage.command)}",
                flush=True,
            )
            started = time.monotonic()
            code = subprocess.run(stage.command, cwd=ROOT, env=environment | stage.environment, check=False).returncode
            rows.append((stage.name, time.monotonic() - started, code))
        skips_on_record = report_skips([skip for stage in stages if stage.junit for skip in skipped(stage.junit)])
    print(f"\n{'stage':<14}{'seconds':>9}  result")
    for name, seconds, code in rows:
        print(f"{name:<14}{seconds:>9.1f}  {'ok' if code == 0 else f'FAILED ({code})'}")
    failed = [name for name, _, code in rows if code != 0]
    print(f"total {sum(row[1] for row in rows):.0f} s")
    print(f"{len(rows) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not skips_on_record else 0


if __name__ == "__main__":
    sys.exit(main())
