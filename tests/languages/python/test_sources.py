"""Annotated sources: the expectation stands in a comment under the line that it is about.

A source is one file, or several, each after a line `# === path`. Under a line may stand
    # -> target [label]    a CALLS_STATIC edge from this line to the target, found as the label says
    # -> target            the same, however it was found
    # -/> target           no such edge from this line
    # ?> target            an unresolved call on this line with the target among its candidates
    # ?? reason            an unresolved call on this line with this reason
    # x> dotted            a call out of the project, to this name
    # => target            a USES edge from this line
    # =/> target           no such edge
A target is `path#name`, or `name` for the same file; `name~2` picks one of several definitions.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from smp.domain.graph import Edge, EdgeKind
from smp.domain.ids import FilePath
from smp.indexing.analyse import analyse, wants_config
from smp.indexing.link import link

SOURCES = Path(__file__).parent / "sources"
_MARK = re.compile(r"#\s*(->|-/>|\?>|\?\?|x>|=>|=/>)\s*(\S+)(?:\s*\[(\w+)\])?\s*$")


class Expectation(NamedTuple):
    path: str
    line: int
    mark: str
    target: str
    label: str | None


def split(text: str, name: str) -> dict[str, str]:
    """Files of a source."""
    files: dict[str, list[str]] = {}
    current = files.setdefault(name, [])
    for line in text.splitlines():
        head = re.match(r"# === (\S+)$", line)
        if head:
            current = files.setdefault(head[1], [])
        else:
            current.append(line)
    return {path: "\n".join(lines) + "\n" for path, lines in files.items() if any(line.strip() for line in lines)}


def expectations(path: str, text: str) -> list[Expectation]:
    """What the comments of a file expect."""
    found = []
    subject = 0
    for number, line in enumerate(text.splitlines(), 1):
        marked = _MARK.search(line) if line.strip().startswith("#") else None
        if marked:
            target = marked[2]
            if marked[1] not in ("??", "x>") and "#" not in target:
                target = f"{path}#{target}"
            found.append(Expectation(path, subject, marked[1], target, marked[3]))
        elif line.strip() and not line.strip().startswith("#"):
            subject = number
    return found


def name_of(node_id: str) -> str:
    return node_id.partition(":")[2]


def fault(expected: Expectation, edges: list[Edge]) -> str | None:
    """Why an expectation does not hold; None if it does."""
    here = [edge for edge in edges if expected.line in edge.lines]
    static = {name_of(e.target): e for e in here if e.kind is EdgeKind.CALLS_STATIC and e.target}
    unresolved = [e for e in here if e.kind is EdgeKind.CALLS_UNRESOLVED]
    uses = {name_of(e.target) for e in here if e.kind is EdgeKind.USES and e.target}
    match expected.mark:
        case "->":
            edge = static.get(expected.target)
            holds = edge is not None and (expected.label is None or edge.resolution == expected.label)
        case "-/>":
            holds = expected.target not in static
        case "?>":
            holds = any(expected.target in {name_of(c) for c in e.candidates} for e in unresolved)
        case "??":
            holds = any(e.reason == expected.target for e in unresolved)
        case "x>":
            holds = any(e.reason == "external" and e.to_name == expected.target for e in unresolved)
        case "=>":
            holds = expected.target in uses
        case _:
            holds = expected.target not in uses
    if holds:
        return None
    seen = [f"{name}[{edge.resolution}]" for name, edge in sorted(static.items())]
    open_ = [f"{e.to_name}({e.reason}) {[name_of(c) for c in e.candidates]}" for e in unresolved]
    label = f" [{expected.label}]" if expected.label else ""
    where = f"{expected.path}:{expected.line}"
    return f"{where}: {expected.mark} {expected.target}{label}; got {seen}, unresolved {open_}, uses {sorted(uses)}"


@pytest.mark.parametrize("source", sorted(SOURCES.glob("*.py")), ids=lambda path: path.stem)
def test_calls_of_the_source_are_as_annotated(source: Path) -> None:
    files = split(source.read_text(encoding="utf-8"), source.name)
    analyses = {FilePath(path): analyse(FilePath(path), text.encode()) for path, text in files.items()}
    configs = {FilePath(path): text.encode() for path, text in files.items() if wants_config(FilePath(path))}
    result = link(analyses, configs=configs)
    wanted = [expected for path, text in files.items() for expected in expectations(path, text)]
    assert wanted, "a source without expectations tests nothing"
    faults = [found for e in wanted if (found := fault(e, list(result.edges[FilePath(e.path)]))) is not None]
    assert not faults, "\n".join(faults)
