"""Line coverage reports (lcov, Cobertura) → how much of a function was executed.

A report names files as its tool saw them: absolute, relative to the repository, or relative to a source root; a file is
found by its longest matching tail. A function's own header is left out where its body was measured, since importing a
module executes every `def` line and would make untested code look touched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import PurePosixPath
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from smp.domain.errors import Invalid
from smp.domain.graph import Node
from smp.domain.ids import FilePath

MAX_REPORT_BYTES = 64_000_000
"""Larger reports are refused; one of a million lines takes about 10 MB."""

Hits = Mapping[int, int]
"""Line, 1-based → times executed."""


def parse_report(body: bytes, *, path: str) -> dict[str, Hits]:
    """Hits by file, named as in the report.

    Args:
        path: Name of the parameter, for errors.

    Raises:
        Invalid: Neither lcov nor Cobertura XML, or larger than `MAX_REPORT_BYTES`.
    """
    if len(body) > MAX_REPORT_BYTES:
        raise Invalid(f"the coverage report is larger than {MAX_REPORT_BYTES} bytes; report fewer files", path=path)
    text = body.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    hits = _cobertura(body, path=path) if text.startswith("<") else _lcov(text)
    if not hits:
        raise Invalid("the coverage report measures no file; give an lcov tracefile or Cobertura XML", path=path)
    return hits


def hits_of(report: Mapping[str, Hits], file: FilePath) -> Hits | None:
    """The hits of a file of the repository; None when the report does not measure it."""
    wanted = PurePosixPath(file).parts
    best: tuple[int, str] | None = None
    for name in sorted(report):
        parts = tuple(part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in (".", "/"))
        shared = min(len(parts), len(wanted))
        if shared and parts[-shared:] == wanted[-shared:] and (best is None or shared > best[0]):
            best = (shared, name)
    return None if best is None else report[best[1]]


def function_pct(hits: Hits, function: Node) -> float | None:
    """Percentage of a function's measured lines that were executed; None when none of its lines was measured."""
    measured = {line: count for line, count in hits.items() if function.start_line <= line <= function.end_line}
    header_end = function.start_line + len(function.metadata.decorators)
    body = {line: count for line, count in measured.items() if line > header_end} or measured
    if not body:
        return None
    return round(100 * sum(count > 0 for count in body.values()) / len(body), 1)


def _lcov(text: str) -> dict[str, Hits]:
    found: defaultdict[str, dict[int, int]] = defaultdict(dict)
    name = ""
    for line in text.splitlines():
        kind, _, value = line.strip().partition(":")
        if kind == "SF":
            name = value.strip()
            if name:
                found[name] = found[name]
        elif kind == "DA" and name:
            number, _, rest = value.partition(",")
            count = rest.partition(",")[0].strip()
            if number.strip().isdigit() and count.lstrip("-").isdigit():
                _add(found[name], int(number), int(count))
        elif kind == "end_of_record":
            name = ""
    return dict(found)


def _cobertura(body: bytes, *, path: str) -> dict[str, Hits]:
    try:
        root = fromstring(body)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise Invalid(f"the coverage report is not well-formed XML: {error}", path=path) from error
    found: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for cls in root.iter("class"):
        name = cls.get("filename") or ""
        for line in cls.iter("line"):
            number, count = line.get("number") or "", line.get("hits") or ""
            if name and number.isdigit() and count.isdigit():
                _add(found[name], int(number), int(count))
    return dict(found)


def _add(lines: dict[int, int], number: int, count: int) -> None:
    """Reports repeat a line (tests, methods, classes of one file); it was executed when any entry says so."""
    lines[number] = max(lines.get(number, 0), count)
