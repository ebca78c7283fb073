"""The test runner of a JavaScript or TypeScript file: which one it is, how it is called, what its reports say.

Runs inside a box, standard library only, beside `node_runner.py`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess

# A file may import from two of them; what vitest and jest export works under nothing else.
_IMPORTED = (
    (re.compile(r"""['"]vitest['"]"""), "vitest"),
    (re.compile(r"""['"]@jest/globals['"]"""), "jest"),
    (re.compile(r"""['"]node:test['"]"""), "node:test"),
)
_PROGRAMS = {"vitest": "vitest/vitest.mjs", "jest": "jest/bin/jest.js", "mocha": "mocha/bin/mocha.js"}
DRIVEN = ("vitest", "jest")
"""Runners that `node_driver.mjs` can keep warm."""
_TYPED = (".ts", ".tsx", ".mts", ".cts")


class MissingTool(Exception):
    """What the box lacks to run the tests."""


def find_runner(test: str) -> tuple[str, list[str]]:
    """The test runner of a file and the command that runs it; `{report}` stands for the file its report goes to."""
    node = shutil.which("node")
    if node is None:
        raise MissingTool("node is not in the box; install it below /usr on the host (apt-get install nodejs)")
    with open(test, encoding="utf-8", errors="replace") as file:
        text = file.read()
    name = next((name for pattern, name in _IMPORTED if pattern.search(text)), None) or declared_runner()
    if name == "node:test":
        return name, [node, *typed_arguments(node, test), "--test-reporter=tap", test]
    if name is None:
        raise MissingTool(
            f"no test runner for {test}: it must import node:test, or package.json name vitest, jest or mocha"
        )
    program = installed(_PROGRAMS[name])
    if program is None:
        raise MissingTool(
            f"{name} is not installed in the box; run the project's package manager (npm install), so that node_modules lies "
            "in the repository"
        )
    arguments = {
        "vitest": ["run", "--reporter=json", "--outputFile={report}", "--bail=1", "--coverage.enabled=false"],
        "jest": ["--json", "--outputFile={report}", "--coverage=false", "--runInBand", "--runTestsByPath"],
        "mocha": ["--reporter=json", "--reporter-option=output={report}", "--bail"],
    }[name]
    return name, [node, program, *arguments, test]


def typed_arguments(node: str, test: str) -> list[str]:
    """What Node's own runner needs to read types."""
    if not test.endswith(_TYPED):
        return []
    if installed("tsx/package.json"):
        return ["--import", "tsx"]
    found = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip().lstrip("v")
    major, minor, *_ = (int(part) for part in found.split("."))
    if (major, minor) >= (22, 6):
        return ["--experimental-strip-types"]
    raise MissingTool(f"Node {found} does not read TypeScript; add tsx to the project, or install Node 22.6 or newer")


def declared_runner() -> str | None:
    """The runner that package.json names."""
    try:
        with open("package.json", encoding="utf-8") as file:
            package = json.load(file)
    except (OSError, ValueError):
        return None
    sections = (
        [package.get(key) or {} for key in ("devDependencies", "dependencies")] if isinstance(package, dict) else []
    )
    return next((name for name in ("vitest", "jest", "mocha") if any(name in section for section in sections)), None)


def installed(path: str) -> str | None:
    """A file of an installed package: of the checkout, or of the repository on the host, which a driver binds at the root."""
    found = (os.path.join(folder, "node_modules", path) for folder in (os.getcwd(), "/"))
    return next((one for one in found if os.path.exists(one)), None)


def copy_checkout(target: str) -> None:
    """The checkout without its history; installed packages are linked."""
    packages: list[str] = []

    def left_out(folder: str, names: list[str]) -> list[str]:
        found = [name for name in names if name in (".git", ".smp", "node_modules")]
        packages.extend(os.path.join(folder, name) for name in found if name == "node_modules")
        return found

    shutil.copytree(".", target, symlinks=True, ignore=left_out)
    for folder in packages:
        os.symlink(os.path.abspath(folder), os.path.join(target, folder))


def chosen(runner: str, titles: list[list[str]]) -> list[str]:
    """Arguments that make a runner run these tests of its file only."""
    option = {"vitest": "-t", "jest": "-t", "mocha": "--grep", "node:test": "--test-name-pattern"}[runner]
    return [f"{option}={pattern_of(titles)}"] if option[1] == "-" else [option, pattern_of(titles)]


def pattern_of(titles: list[list[str]]) -> str:
    """A regular expression, in JavaScript's syntax, that matches the joined titles of these tests and of no other."""
    names = "|".join(re.sub(r"[\\^$.*+?()[\]{}|/]", r"\\\g<0>", " ".join(one)) for one in titles)
    return rf"^\s*(?:{names})$"


def at_each_test(runner: str) -> str:
    """What is appended to a test file so that `__smp_test()` gives the name of the test that runs; no line moves."""
    if runner == "vitest":
        code = 'import { expect as __smp_expect } from "vitest"; '
        return f"\n;{code}Reflect.set(globalThis, '__smp_test', () => __smp_expect.getState().currentTestName ?? '');\n"
    code = {
        "jest": "globalThis.__smp_test = () => globalThis.expect?.getState().currentTestName ?? '';",
        "mocha": "(globalThis.beforeEach ?? globalThis.setup)(function () { const name = this.currentTest.fullTitle();"
        " globalThis.__smp_test = () => name; });",
        "node:test": "process.getBuiltinModule('node:test').beforeEach((t) => { globalThis.__smp_test = () => t.name; });",
    }[runner]
    return f"\n;new Function({json.dumps(code)})();\n"


def read_report(runner: str, path: str) -> list[tuple[list[str], bool, float]]:
    """(titles, passed, milliseconds) of each test that ran, in the order of a runner's JSON report."""
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    except (OSError, ValueError):
        return []
    if runner == "mocha":
        found = [test for test in report["tests"] if "duration" in test or test["err"]]
        return [([test["fullTitle"]], not test["err"], test.get("duration") or 0) for test in found]
    found = [test for suite in report["testResults"] for test in suite["assertionResults"]]
    return [
        (
            [*(title for title in test["ancestorTitles"] if title), test["title"]],
            test["status"] == "passed",
            test.get("duration") or 0,
        )
        for test in found
        if test["status"] in ("passed", "failed")
    ]


def read_tap(text: str) -> list[tuple[list[str], bool, float]]:
    """(titles, passed, milliseconds) of each test in a TAP report, inner tests before those around them."""
    line = r"^\s*(not ok|ok) \d+ - (.*?)(?: # (SKIP|TODO).*)?\n\s*---\n\s*duration_ms: ([\d.]+)"
    found = re.findall(line, text, re.MULTILINE)
    return [
        ([name], state == "ok" or note == "TODO", float(spent)) for state, name, note, spent in found if note != "SKIP"
    ]
