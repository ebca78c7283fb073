"""The clean run of a suite and a verdict for every mutant that can be swapped into live functions, in forks of one session.

Runs inside a box, standard library and pytest only, beside `mutation_runner.py`.
"""

from __future__ import annotations

import gc
import time
import types

import pytest
from mutation_code import Statements, live_functions, plan_swaps
from mutation_forks import GoOn, deliver, fork, in_fork
from mutation_lines import LineRecorder, statement_starts
from mutation_session import Session

OUTPUT_CHARS = 20_000
WORTH_A_HALT = 3
"""Mutants of one first test that repay the process which their children are forked from."""
ROUND_SHARE = 0.1
"""Part of the budget after which mutants tried so far get their control runs."""


class Judging:
    """The part of a session that measures the clean run and judges the mutants.

    It never runs a test itself: the clean run and each mutant have a child of their own. Mutants that are tried by the same
    test first are forked from one child that has gone with this test as far as pytest alone goes (see `Session.can_halt`):
    nothing of the project has run there, so each still starts from the same state, and pytest's share is paid once.
    """

    def __init__(self, run, original: types.CodeType) -> None:
        self.run, self.original = run, original
        self.imported = LineRecorder(run.target)
        self.trials = Trials(run, [])
        self.began = time.monotonic()

    def __call__(self, plugin: Session, session: pytest.Session) -> dict | None:
        self.run.imports.first = None  # an import that comes later is a test's
        import_lines = self.imported.stop()
        import_seconds = time.monotonic() - self.began
        self.plugin, self.items = plugin, session.items
        if session.testsfailed or not session.items:
            return None
        live = live_functions(self.run.target)
        gc.collect()
        gc.freeze()  # a child that collects garbage would otherwise copy every page of the parent
        clean = in_fork(self.measure)
        if clean is None:
            return failing("the test process died", failed=len(self.items))
        if clean["failed"]:
            return failing(clean["output"], failed=clean["failed"], passed=clean["passed"])
        result = {
            "state": "clean", "failed": 0, "passed": clean["passed"], "output": "", "seconds": sum(clean["seconds"]),
            "import_seconds": import_seconds, "tests": [item.nodeid for item in self.items],
            "lines": clean["lines"], "import_lines": sorted(import_lines), "verdicts": [], "cold": [], "left": [],
        }  # fmt: skip
        self.seconds = clean["seconds"]
        plan = self.planned(result, clean["costs"], live)
        gc.collect()
        gc.freeze()
        self.judge_all(result, plan)
        return result

    def measure(self) -> dict:
        """The clean run: failures, seconds and lines of each test."""
        recorder = LineRecorder(self.run.target)
        lines, seconds, costs, failed, output = [], [], [], 0, []
        for item in self.items:
            began = time.process_time()
            recorder.start()
            failures = self.plugin.run(item)
            lines.append(sorted(recorder.stop()))
            seconds.append(time.process_time() - began)
            costs.append(cost(seconds[-1], recorder.calls, len(lines[-1])))
            failed += bool(failures)
            output += [f"{item.nodeid}\n{text}\n" for text in failures]
        passed = len(self.items) - failed
        return {
            "lines": lines, "seconds": seconds, "costs": costs, "failed": failed, "passed": passed,
            "output": "\n".join(output),
        }  # fmt: skip

    def planned(self, result: dict, costs: list[list[int]], live: dict) -> dict[int, list[tuple[int, list[int], list]]]:
        """(mutant, its tests, what to swap) of those that need a run, by their first test; other verdicts are in the result.

        All of it is done before the first mutant's child: what a parent touches between two forks has to be copied anew.
        """
        starts = statement_starts(self.run.source)
        statements = Statements(self.run.source, self.run.target, self.original)
        import_lines = set(result["import_lines"])
        reaching: dict[int, set[int]] = {}
        for test, lines in enumerate(result["lines"]):
            for line in lines:
                reaching.setdefault(line, set()).add(test)
        reached = set().union(*reaching.values()) or set(range(len(self.items)))
        order = {test: (*spent, test) for test, spent in enumerate(costs)}
        plan: dict[int, list[tuple[int, list[int], list]]] = {}
        for index, line, first, last, text in self.run.mutants.values():
            start = starts.get(line, line)
            tests = reaching.get(line, set()) | reaching.get(start, set())
            at_import = line in import_lines or start in import_lines
            if not tests and not at_import:
                result["verdicts"].append([index, "not_covered", None])
                continue
            before, after = statements.compiled(first, last, text)
            if after is None or statements.are_equal(before, after):
                result["verdicts"].append([index, "invalid" if after is None else "equivalent", None])
                continue
            swaps = plan_swaps(before, after, live) if tests else None
            chosen = sorted(reached if swaps is None else tests, key=order.__getitem__)
            if swaps is None:
                result["cold"].append([index, [self.items[test].nodeid for test in chosen]])
            else:
                plan.setdefault(chosen[0], []).append((index, chosen, swaps))
        return plan

    def judge_all(self, result: dict, plan: dict[int, list[tuple[int, list[int], list]]]) -> None:
        for first, group in plan.items():
            judged = [] if self.run.is_over() else self.judged_by(first, group)
            for (index, tests, swaps), (outcome, is_sound) in zip(group, judged, strict=False):
                if not is_sound:
                    tests = list(range(len(self.items)))  # the whole suite is known to pass in its own order
                    outcome = self.attempt(tests, swaps)
                result["verdicts"].append(verdict(index, outcome, [self.items[test].nodeid for test in tests]))
            result["left"] += [index for index, *_ in group[len(judged) :]]

    def judged_by(self, first: int, group: list[tuple[int, list[int], list]]) -> list:
        """What `Trials.judged` says of a group."""
        if len(group) >= WORTH_A_HALT and self.plugin.can_halt(self.items[first]):
            found = in_fork(lambda: self.halted_at(first, group))
            if found is not None and "judged" in found:
                return found["judged"]
        return self.trials.judged(group, self.attempt)

    def halted_at(self, first: int, group: list[tuple[int, list[int], list]]) -> dict:
        """In a child: go with a test as far as pytest alone goes, then fork for each mutant; what `judged` says of them."""
        chosen = [self.items[first]]

        def attempt(tests: list[int], swaps: list) -> dict | None:
            child = fork(**self.limits(tests))
            if child is not None:
                return child.value()
            put_in(swaps)
            chosen[1:] = [self.items[test] for test in tests[1:]]
            raise GoOn

        self.plugin.halt = lambda: deliver({"judged": self.trials.judged(group, attempt)})
        return {"killer": self.plugin.first_failure(chosen)}

    def attempt(self, tests: list[int], swaps: list) -> dict | None:
        def work() -> dict:
            put_in(swaps)
            return {"killer": self.plugin.first_failure([self.items[test] for test in tests])}

        return in_fork(work, **self.limits(tests))

    def limits(self, tests: list[int]) -> dict:
        return self.run.limits(sum(self.seconds[test] for test in tests))


class Trials:
    """Attempts at mutants with the control runs that make them count.

    A verdict counts when the tests that made it (up to the one that noticed, or all) pass in the same order without any
    mutant. One control run speaks for all lists of tests that its own begins with.
    """

    def __init__(self, run, nothing) -> None:
        self.run, self.nothing = run, nothing
        self.good: set[tuple] = set()

    def judged(self, group: list[tuple], attempt) -> list[tuple[dict | None, bool]]:
        """(outcome, whether it counts) of as many of a group as the budget allows, of one at least.

        Args:
            group: (index, tests, change) of each mutant.
            attempt: (tests, change) → the outcome of running the tests over the change.
        """
        found: list[tuple[dict | None, bool]] = []
        while len(found) < len(group) and not (found and self.run.is_over()):
            began, tried = time.monotonic(), []
            for _, tests, change in group[len(found) :]:
                outcome = attempt(tests, change)
                tried.append((outcome, tuple(decisive(tests, outcome))))
                if self.run.is_over() or time.monotonic() - began > ROUND_SHARE * self.run.job["budget_seconds"]:
                    break
            for wanted in sorted({wanted for _, wanted in tried}, key=len, reverse=True):
                if not self.is_good(wanted):
                    control = attempt(list(wanted), self.nothing) or {}
                    self.good.add(wanted[: control.get("killer", 0)])  # all of them where none fails
            found += [(outcome, self.is_good(wanted)) for outcome, wanted in tried]
        return found

    def is_good(self, wanted: tuple) -> bool:
        return any(one[: len(wanted)] == wanted for one in self.good)


def put_in(swaps: list) -> None:
    for function, code in swaps:
        function.__code__ = code


def decisive(tests: list, outcome: dict | None) -> list:
    """The tests whose passing without the mutant makes a verdict: up to the one that noticed it, or all."""
    killer = outcome.get("killer") if outcome else None
    return tests if killer is None else tests[: killer + 1]


def verdict(index: int, outcome: dict | None, tests: list[str]) -> list:
    """A child that died took its test session with it: that is a killed mutant, without a name for the test."""
    if outcome is None:
        return [index, "killed", None]
    if outcome.get("timeout"):
        return [index, "timeout", None]
    killer = outcome["killer"]
    return [index, "survived", None] if killer is None else [index, "killed", tests[killer]]


def failing(output: str, *, failed: int = 0, passed: int = 0) -> dict:
    return {"state": "failing", "output": output[-OUTPUT_CHARS:], "failed": failed, "passed": passed}


def cost(seconds: float, calls: int, lines: int) -> tuple[int, int, int]:
    """What tests are ordered by: quick ones first, and of those the ones that reach most of the target.

    A clock would name now this test and now that one, so it only tells quick from slow. Below some thousand calls a test costs
    less than the fork around it.
    """
    return int(seconds * 4).bit_length(), max(0, calls.bit_length() - 12), -lines
