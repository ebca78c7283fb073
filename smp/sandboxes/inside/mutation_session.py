"""A pytest session that can be gone on with in forks, and forked in the middle of a test before any code of the project runs.

Runs inside a box, standard library and pytest only, beside `mutation_runner.py`.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import io
import os
import random
import unittest

import pytest
from _pytest.runner import runtestprotocol
from mutation_forks import GoOn, deliver

_STEPS = (
    "pytest_runtest_protocol", "pytest_runtest_setup", "pytest_runtest_call", "pytest_fixture_setup", "pytest_pyfunc_call",
    "pytest_runtest_makereport",
)  # fmt: skip
"""Hooks that have a say in how a test is run and what its failure means."""
_TRUSTED = ("_pytest", "anyio", "pytest_asyncio", "_hypothesis_pytestplugin")
"""Packages whose hooks touch no file before a test and turn no failure into a success."""
_COLLECTORS = ("Session", "Dir", "Package", "Module", "Class")


class Session:
    """A pytest plugin that runs single tests by pytest's own protocol; what it runs is said by its `part`.

    A part is called with the plugin and pytest's session once the tests are collected; its value becomes the `result`.
    Without a part the session stops before it collects and calls `host` instead.
    """

    def __init__(self, *, part=None, host=None) -> None:
        self.part, self.host = part, host
        self.result: dict | None = None
        self.reports: list[str] = []
        self.failures: list[str] = []
        self.is_brief = False
        self.halt = None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.reports.append(str(report.longrepr))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failures.append(str(report.longrepr))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool | None:
        if self.part is None:
            self.host(self, session)
        return None if self.part is not None else True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if self.part is not None:
            self.result = self.part(self, session)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if not self.is_brief:
            return None
        self.failures += ["" for report in runtestprotocol(item, log=False, nextitem=None) if report.failed]
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef, request: pytest.FixtureRequest) -> None:
        if self.halt is not None and fixturedef.func.__name__ != "get_direct_param_fixture_func":
            self.stop_here()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        self.stop_here()

    def stop_here(self) -> None:
        """Where the project's code comes next, for the first time in a test: `halt` may fork the process here."""
        halt, self.halt = self.halt, None
        if halt is not None:
            try:
                halt()
            except GoOn:
                random.seed(0)

    def go_on(self, session: pytest.Session, part) -> dict | None:
        """In a child: collect, then do a part; its value."""
        self.part = part
        if isinstance(part, Fresh):
            pytest.Collector.repr_failure = no_text
        try:
            session.config.hook.pytest_collection(session=session)
            session.config.hook.pytest_runtestloop(session=session)
        except BaseException as error:  # noqa: BLE001 - the edge of the child: whatever stops pytest is its answer
            self.reports.append(f"{type(error).__name__}: {error}")
        return self.result

    def run(self, item: pytest.Item) -> list[str]:
        """Failures of one test, set-up and tear-down included; fixtures of wider scope end with it.

        Python seeds `random` anew in each fork; a verdict must not hang on that.
        """
        self.failures = []
        random.seed(0)
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        return self.failures

    def first_failure(self, items: list[pytest.Item]) -> int | None:
        """Place of the first test that fails. Nobody reads how: no text is made of failures, no progress is shown.

        Where it is clear at once that a test has failed the process ends there, with that as its value.
        """
        if not items:
            return None
        implementations = items[0].ihook.pytest_runtest_protocol.get_hookimpls()
        plain = [one for one in implementations if not (one.hookwrapper or getattr(one, "wrapper", False))]
        # A plugin with a protocol of its own (one that repeats failing tests, say) is left its way.
        self.is_brief = all(one.plugin is self or one.plugin_name == "runner" for one in plain)
        for place, item in enumerate(items):
            item.repr_failure = item._repr_failure_py = no_text
            if self.is_brief and is_plain(item, self):
                item.runtest = functools.partial(run_or_end, item.runtest, place)
            if self.run(item):
                return place
        return None

    def reason(self, code: int | None = None, text: str = "", session: pytest.Session | None = None) -> str:
        """Why there is no result."""
        if session is not None and not session.items:
            code = pytest.ExitCode.NO_TESTS_COLLECTED
        reasons = {2: "pytest was interrupted while it collected", 5: "no tests were collected"}
        return "\n".join(self.reports) or reasons.get(code) or text or "pytest ended before a test ran"

    def can_halt(self, item: pytest.Item) -> bool:
        """Whether nothing of the project runs in a test before `halt` is called: no fixture, no hook, no mark's condition.

        What would be set up before (files, processes, connections) is what two children must not share.
        """
        nodes = item.listchain()
        return (
            is_plain(item, self)
            and all(type(node).__name__ in _COLLECTORS and is_pytest_s(type(node)) for node in nodes[:-1])
            and not any(isinstance(node, pytest.Package) and sets_up(node) for node in nodes)
        )


def is_plain(item: pytest.Item, plugin: Session) -> bool:
    """Whether a test is a function that pytest runs with nobody else's say: what it raises is a failure."""
    return (
        type(item) is pytest.Function
        and not any(True for name in ("skipif", "xfail") for _ in item.iter_markers(name))
        and all(
            one.plugin is plugin or is_pytest_s(one.function)
            for step in _STEPS
            for one in getattr(item.ihook, step).get_hookimpls()
        )
    )


def run_or_end(runtest, place: int) -> None:
    """Run a test's own function. Once it has failed, reports, tear-down and an orderly end change nothing of that."""
    try:
        runtest()
    except (pytest.skip.Exception, pytest.xfail.Exception, pytest.exit.Exception, unittest.SkipTest, KeyboardInterrupt):
        raise
    except BaseException:  # noqa: BLE001 - whatever a test raises is its failure
        deliver({"killer": place})


def is_pytest_s(thing: object) -> bool:
    return thing.__module__.partition(".")[0] in _TRUSTED


def sets_up(package: pytest.Package) -> bool:
    """Whether a package of tests has a function for its set-up or tear-down; pytest calls it before any fixture."""
    with open(package.path / "__init__.py", "rb") as file:
        text = file.read()
    return any(name in text for name in (b"setUpModule", b"setup_module", b"tearDownModule", b"teardown_module"))


def no_text(*arguments: object, **options: object) -> str:
    return "failed"


class Fresh:
    """The part for a mutant that acts at import: only the chosen tests (by id), until the first failure."""

    def __init__(self, tests: list[str]) -> None:
        self.tests = tests

    def __call__(self, plugin: Session, session: pytest.Session) -> dict:
        by_id = {item.nodeid: item for item in session.items}
        if session.testsfailed or any(test not in by_id for test in self.tests):
            return {"killer": 0}
        return {"killer": plugin.first_failure([by_id[test] for test in self.tests])}


def pytest_arguments(tests: list[str]) -> list[str]:
    """Keeps the project's own configuration but takes out what would run the tests elsewhere, slower or shuffled."""
    arguments = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header"]
    if os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        return [*arguments, *tests]
    if importlib.util.find_spec("xdist"):
        arguments += ["-n0", "--dist=no"]
    if importlib.util.find_spec("pytest_cov"):
        arguments.append("--no-cov")
    return [*arguments, *tests]


def run_pytest(arguments: list[str], plugin: Session) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = int(pytest.main(arguments, plugins=[plugin]))
    return code, out.getvalue()
