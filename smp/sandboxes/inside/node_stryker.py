"""Mutants of a JavaScript or TypeScript file as the project's own Stryker makes and judges them.

Runs inside a box, standard library only, beside `node_runner.py`. Stryker gets the command that runs the one test file (its command
runner, which every project with Stryker has), and of the target the lines that the tests reach.
"""

from __future__ import annotations

import bisect
import json
import os
import shlex
import subprocess

from node_commands import MissingTool, installed

PROGRAM = "@stryker-mutator/core/bin/stryker.js"
TAIL = 3_000
MOST_AT_ONCE = 4


def wanted(mutator: str) -> str | None:
    """Stryker's program where it is to be used; None where the product's own mutants are.

    Args:
        mutator: `native`, `stryker`, or `auto`: Stryker where the project has installed it.
    """
    program = installed(PROGRAM) if mutator != "native" else None
    if mutator == "stryker" and program is None:
        raise MissingTool(
            "Stryker is not installed in the box; run npm install --save-dev @stryker-mutator/core in the repository, or set "
            '[gate] mutator = "native"'
        )
    return program


def ranges(asked: list[int] | None, probes: list[int], reached: set[int], last: int) -> list[tuple[int, int]]:
    """(first, last) lines of the target that are asked for and that a test reaches.

    A line at which no statement begins (the head of a function, a bracket) counts with either of its neighbours.

    Args:
        asked: None for all. probes: Lines at which statements begin. last: line of the file.
    """
    begins = sorted(probes)
    found: list[tuple[int, int]] = []
    for line in range(1, last + 1) if asked is None else sorted(asked):
        place = bisect.bisect_right(begins, line)
        near = begins[max(place - 1, 0) : place]
        if line not in near:
            near = begins[max(place - 1, 0) : place + 1]
        if reached.isdisjoint(near):
            continue
        if found and found[-1][1] == line - 1:
            found[-1] = (found[-1][0], line)
        else:
            found.append((line, line))
    return found


def mutants(
    program: str,
    node: str,
    copy: str,
    target: str,
    lines: list[tuple[int, int]],
    command: list[str],
    *,
    environment: dict[str, str],
    folder: str,
    seconds: float,
) -> list[dict]:
    """What Stryker's report says of the target's mutants, as it says it (mutation-testing-report-schema).

    Args:
        copy: Of the checkout; Stryker runs there. command: Runs the tests of the file.
        folder: For its own copies and its report. seconds: How long all may take.
    """
    report = os.path.join(folder, "stryker.json")
    settings = {
        "testRunner": "command",
        "commandRunner": {"command": shlex.join(command)},
        "mutate": [f"{target}:{first}-{last}" for first, last in lines],
        "reporters": ["json"],
        "jsonReporter": {"fileName": report},
        "tempDirName": os.path.join(folder, "stryker"),
        "cleanTempDir": "always",
        "concurrency": max(1, min(MOST_AT_ONCE, len(os.sched_getaffinity(0)))),
        "plugins": [], "checkers": [], "appendPlugins": [],
        "allowConsoleColors": False, "allowEmpty": True, "logLevel": "warn", "fileLogLevel": "off",
        "thresholds": {"high": 100, "low": 0, "break": None},
    }  # fmt: skip
    path = os.path.join(folder, "stryker.conf.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(settings, file)
    try:
        done = subprocess.run(
            [node, program, "run", path], cwd=copy, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise MissingTool(
            f"Stryker was not done after {seconds:.0f} s; raise [sandbox] timeout_ms, verify fewer lines, or set [gate] mutator = "
            '"native"'
        ) from error
    try:
        with open(report, encoding="utf-8") as file:
            files = json.load(file)["files"]
    except (OSError, ValueError, KeyError) as error:
        said = done.stdout.decode("utf-8", "replace")[-TAIL:].strip()
        raise MissingTool(f"Stryker left no report (exit code {done.returncode}): {said}") from error
    return [one for path, found in files.items() if os.path.normpath(path) == target for one in found["mutants"]]
