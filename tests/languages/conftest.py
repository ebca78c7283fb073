"""The runner of annotated sources whose comments begin with `//`: the expectation stands under the line it is about.

A source is a folder of files, configuration included. Under a line may stand
    // -> target [label]    a CALLS_STATIC edge from this line to the target, found as the label says
    // -> target            the same, however it was found
    // -/> target           no such edge from this line
    // ?> target            the target among the candidates of a call on this line, resolved or not
    // ?? reason            an unresolved call on this line with this reason
    // x> dotted            a call out of the project, to this name
    // => target            a USES edge from this line
A target is `path#name`; `name~2` picks one of several definitions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from smp.domain.graph import Edge, EdgeKind
from smp.domain.ids import FilePath
from smp.indexing.analyse import analyse, wants_config
from smp.indexing.link import link

_MARK = re.compile(r"\s*//\s*(->|-/>|\?>|\?\?|x>|=>)\s*(\S+)(?:\s*\[(\w+)\])?\s*$")
_COMMENT_ONLY = re.compile(r"\s*(//.*)?$")


class Expectation(NamedTuple):
    path: str
    line: int
    mark: str
    target: str
    label: str | None


def _expectations(path: str, text: str) -> list[Expectation]:
    found = []
    subject = 0
    for number, line in enumerate(text.splitlines(), 1):
        marked = _MARK.match(line)
        if marked:
            found.append(Expectation(path, subject, marked[1], marked[2], marked[3]))
        elif not _COMMENT_ONLY.match(line):
            subject = number
    return found


def _name(node_id: str) -> str:
    return node_id.partition(":")[2]


def _fault(expected: Expectation, edges: tuple[Edge, ...]) -> str | None:
    """Why an expectation does not hold; None if it does."""
    here = [edge for edge in edges if expected.line in edge.lines]
    static = {_name(e.target): e for e in here if e.kind is EdgeKind.CALLS_STATIC and e.target}
    unresolved = [e for e in here if e.kind is EdgeKind.CALLS_UNRESOLVED]
    candidates = {_name(c) for e in (*static.values(), *unresolved) for c in e.candidates}
    match expected.mark:
        case "->":
            edge = static.get(expected.target)
            holds = edge is not None and (expected.label is None or edge.resolution == expected.label)
        case "-/>":
            holds = expected.target not in static
        case "?>":
            holds = expected.target in candidates
        case "??":
            holds = any(e.reason == expected.target for e in unresolved)
        case "x>":
            holds = any(e.reason == "external" and e.to_name == expected.target for e in unresolved)
        case _:
            holds = any(e.kind is EdgeKind.USES and e.target and _name(e.target) == expected.target for e in here)
    if holds:
        return None
    seen = [f"{name}[{edge.resolution}]" for name, edge in sorted(static.items())]
    open_ = [f"{e.to_name}({e.reason})" for e in unresolved]
    label = f" [{expected.label}]" if expected.label else ""
    return (
        f"{expected.path}:{expected.line}: {expected.mark} {expected.target}{label}; "
        f"got {seen}, candidates {sorted(candidates)}, unresolved {open_}"
    )


@pytest.fixture
def faults_of() -> Callable[[Path], list[str]]:
    """Analyses and links a source folder; gives the expectations that do not hold."""

    def run(folder: Path) -> list[str]:
        texts = {
            p.relative_to(folder).as_posix(): p.read_text("utf-8") for p in sorted(folder.rglob("*")) if p.is_file()
        }
        files = {FilePath(path): analyse(FilePath(path), text.encode()) for path, text in texts.items()}
        configs = {FilePath(path): text.encode() for path, text in texts.items() if wants_config(FilePath(path))}
        result = link(files, configs=configs)
        wanted = [expected for path, text in texts.items() for expected in _expectations(path, text)]
        assert wanted, "a source without expectations tests nothing"
        return [found for e in wanted if (found := _fault(e, result.edges[FilePath(e.path)])) is not None]

    return run
