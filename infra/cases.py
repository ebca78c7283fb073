"""Run the shared cases with this checkout's `smp` and hold the result against the recorded list.

The list, `tests/conformance/cases_not_passing.txt`, holds ids of cases that do not pass yet; it may only shrink: a case
that fails and is not listed, or passes and still is, fails the run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests" / "conformance" / "cases_not_passing.txt"


def main() -> int:
    """Exit code 0 when exactly the recorded cases fail."""
    shared = Path(os.environ.get("SMP_SHARED", ROOT.parent / "shared"))
    runner = shared / "cases" / "run.py"
    if not runner.exists():
        sys.exit(f"no cases at {shared}: set SMP_SHARED")
    smp = ROOT / ".venv" / "bin" / "smp"
    done = subprocess.run([sys.executable, str(runner), "--smp", str(smp)], capture_output=True, text=True, check=False)
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
    failing = set(re.findall(r"^(BL-\d+) ", done.stdout, re.MULTILINE))
    recorded = {line.split()[0] for line in RECORD.read_text("utf-8").splitlines() if line and not line.startswith("#")}
    for case in sorted(failing - recorded):
        print(f"{case} fails and is not on record")
    for case in sorted(recorded - failing):
        print(f"{case} passes: take it off {RECORD.relative_to(ROOT)}")
    counted = re.search(r"^\d+ passed, \d+ failed$", done.stdout, re.MULTILINE)
    return 0 if counted and failing == recorded else 1


if __name__ == "__main__":
    sys.exit(main())
