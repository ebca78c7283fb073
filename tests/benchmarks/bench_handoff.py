"""Real packages through the gate and the handoff, in real boxes: what a change costs and what leaves.

    python tests/benchmarks/bench_handoff.py

Two packages come from the package index into the user's cache folder, one from npm, whose archive holds its tests (node:test); what it needs is
installed beside it. Each gets one small change that keeps its behaviour. Then, over the
protocol's own methods: session, box, change, the package's tests, mutants of the changed lines by them, branch on a bare
remote, pull-request document.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from activities.integrity import changed_lines
from smp.bootstrap import build_platform
from smp.rpc.dispatcher import Dispatcher
from smp.rpc.methods import METHOD_GROUPS
from smp.rpc.registry import MethodRegistry
from smp.settings import load_settings
from tests.benchmarks.bench_gate import unpacked, unpacked_npm
from tests.builders.folder_boxes import git
from tests.builders.npm_packages import installed
from tests.builders.verified_shop import Shop


class Change(Struct, frozen=True, kw_only=True):
    """A line of a package that says the same in other words."""

    name: str
    target: str
    test: str
    before: str
    after: str
    command: str
    requirements: tuple[str, ...] = ()


PYTHON = (
    Change(
        name="itsdangerous 2.2.0",
        target="src/itsdangerous/encoding.py",
        test="tests/test_itsdangerous/test_encoding.py",
        before='return _bytes_to_int(bytestr.rjust(8, b"\\x00"))[0]',
        after='(number,) = _bytes_to_int(bytestr.rjust(8, b"\\x00"))\n    return number',
        command="PYTHONPATH=src python -m pytest -q -p no:cacheprovider tests/test_itsdangerous/test_encoding.py",
        requirements=("pytest", "freezegun"),
    ),
    Change(
        name="packaging 25.0",
        target="src/packaging/_structures.py",
        test="tests/test_structures.py",
        before="return NegativeInfinity",
        after="negative = NegativeInfinity\n        return negative",
        command="PYTHONPATH=src python -m pytest -q -p no:cacheprovider tests/test_structures.py",
        requirements=("pytest", "pretend"),
    ),
)
NPM = (
    Change(
        name="find-my-way 9.3.0",
        target="lib/url-sanitizer.js",
        test="test/querystring.test.js",
        before="charCode === 63 || charCode === 35 ||",
        after="charCode === 35 || charCode === 63 ||",
        command="node --test test/querystring.test.js",
    ),
)


class Package(Shop):
    """A package as a repository with a bare remote, on the wired platform."""

    def __init__(self, root: Path, source: Path, change: Change) -> None:
        self.repo, self.remote = root / "repo", root / "remote.git"
        shutil.copytree(source, self.repo, symlinks=True, ignore=shutil.ignore_patterns(".git", "node_modules"))
        if change.requirements:
            wanted = ", ".join(f'"{name}"' for name in change.requirements)
            (self.repo / "smp.toml").write_text(f"[sandbox]\nrequirements = [{wanted}]\n")
        (self.repo / ".gitignore").write_text("node_modules\n__pycache__/\n.pytest_cache/\n")
        git(self.repo, "init", "-q", "-b", "main")
        git(self.repo, "add", "-A")
        git(self.repo, "-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-q", "-m", change.name)
        git(root, "init", "-q", "--bare", "-b", "main", str(self.remote))
        git(self.repo, "remote", "add", "origin", str(self.remote))
        git(self.repo, "push", "-q", "origin", "main")
        if not change.requirements:
            needs = installed(change.name.replace(" ", "@"))
            shutil.copytree(needs, self.repo / "node_modules", symlinks=True)
        self.services = build_platform(load_settings(self.repo, data_dir=root / "data"))
        self.services.indexer.refresh()
        self._dispatcher = Dispatcher(MethodRegistry(METHOD_GROUPS), self.services)


def went_through(source: Path, change: Change) -> None:
    """One line of figures."""
    with tempfile.TemporaryDirectory() as scratch:
        package = Package(Path(scratch), source, change)
        opened, box_id = package.box(change.target)
        began = time.monotonic()
        original = (package.repo / change.target).read_text()
        assert original.count(change.before) == 1, change.before
        edited = original.replace(change.before, change.after)
        package.put(box_id, change.target, edited)
        tested = package.ask("smp/sandbox/execute", sandbox_id=box_id, command=change.command)
        session = package.services.sessions.require(opened, method="smp/verify/integrity")
        box = package.services.sandboxes.get(box_id, session_id=session.id)
        lines = changed_lines(original.encode(), edited.encode())
        judged = time.monotonic()
        report = package.services.integrity.verify(session, box, change.target, change.test, lines=lines)
        ended = time.monotonic()
        handed = package.ask(
            "smp/handoff/pr", session_id=opened, sandbox_id=box_id, title=f"{change.name}: other words"
        )
        print(
            f"{change.name}: tests exit {tested['exit_code']}; gate {report.status} {report.failure_code or ''}, "
            f"{report.tests_passed} tests, {report.mutants_killed} of {report.mutants_total} mutants killed, "
            f"{ended - judged:.1f} s; handoff {handed.get('status', handed.get('error'))}, "
            f"branches {package.refs().count('refs/heads/smp/')}; all {time.monotonic() - began:.1f} s",
            flush=True,
        )
        for outcome in report.outcomes:
            print(
                f"  {outcome.status.value}: {outcome.mutant.original!r} -> {outcome.mutant.mutated!r} by {outcome.test}"
            )
        package.ask("smp/sandbox/destroy", sandbox_id=box_id)


def changes() -> Iterable[tuple[Path, Change]]:
    """Packages with what is changed in them."""
    for change in PYTHON:
        name, version = change.name.split()
        yield unpacked(name, version), change
    for change in NPM:
        name, version = change.name.split()
        yield unpacked_npm(name, version), change


def main() -> None:
    for source, change in changes():
        went_through(source, change)


if __name__ == "__main__":
    main()
