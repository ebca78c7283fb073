"""What a checkout's tests need, read from the files that say so; nothing of the project is executed.

Only requirements by name are taken (`flask>=2`). Options that choose other package servers, requirements by URL or
version control, and paths are left out and reported: the machine's own package client decides where packages come from.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from msgspec import Struct

ALWAYS = ("pytest", "coverage")
_FILES = (
    "requirements.txt",
    "requirements-test.txt",
    "requirements-tests.txt",
    "requirements-dev.txt",
    "requirements_test.txt",
    "requirements_dev.txt",
    "test-requirements.txt",
    "dev-requirements.txt",
    "requirements/test.txt",
    "requirements/tests.txt",
    "requirements/dev.txt",
)
_GROUPS = ("test", "tests", "testing", "dev")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_DIRECT = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._\[\],\s-]*@\s*\S+")
_INCLUDE = re.compile(r"^(?:-r|--requirement|-c|--constraint)[\s=]*(\S+)")
_MAX_BYTES = 1_000_000
_MAX_DEPTH = 8


class Requirements(Struct, frozen=True, kw_only=True):
    """lines: as pip reads them, sorted, without doubles. left_out: lines of the files that were not taken."""

    lines: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def read_requirements(checkout: Path, configured: tuple[str, ...]) -> Requirements:
    """What goes into the box's package layer.

    Args:
        configured: `[sandbox] requirements`; when given, no file is read.
    """
    if configured:
        return _collected(list(configured), [])
    lines: list[str] = []
    left_out: list[str] = []
    for name in _FILES:
        _read_file(checkout, checkout / name, lines, left_out, depth=0)
    _read_pyproject(checkout, lines, left_out)
    return _collected(lines, left_out)


def _collected(lines: list[str], left_out: list[str]) -> Requirements:
    named = {_key(line) for line in lines}
    wanted = {*lines, *(name for name in ALWAYS if name not in named)}
    return Requirements(lines=tuple(sorted(wanted)), left_out=tuple(left_out))


def _key(line: str) -> str:
    found = _NAME.match(line)
    return re.sub(r"[-_.]+", "-", found.group()).lower() if found else line


def _read_file(checkout: Path, path: Path, lines: list[str], left_out: list[str], *, depth: int) -> None:
    text = _text(checkout, path)
    if text is None or depth > _MAX_DEPTH:
        return
    for raw in text.replace("\\\n", " ").splitlines():
        line = re.sub(r"(^|\s)#.*$", "", raw).strip()
        include = _INCLUDE.match(line)
        if include:
            _read_file(checkout, path.parent / include.group(1), lines, left_out, depth=depth + 1)
        elif line:
            _sort_in(line, lines, left_out)


def _sort_in(line: str, lines: list[str], left_out: list[str]) -> None:
    plain = re.sub(r"\s--hash[=\s]\S+", "", line).strip()
    if not _NAME.match(plain) or "://" in plain or _DIRECT.match(plain) or re.match(r"[^\s;<>=!~]*/", plain):
        left_out.append(line)
    elif plain not in lines:
        lines.append(plain)


def _text(checkout: Path, path: Path) -> str | None:
    try:
        if not path.resolve().is_relative_to(checkout.resolve()) or path.stat().st_size > _MAX_BYTES:
            return None
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return None


def _read_pyproject(checkout: Path, lines: list[str], left_out: list[str]) -> None:
    text = _text(checkout, checkout / "pyproject.toml")
    if text is None:
        return
    try:
        raw = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return  # the project's own tools will say so
    project = _table(raw.get("project"))
    name = str(project.get("name") or "")
    found = _strings(project.get("dependencies"))
    extras = _table(project.get("optional-dependencies"))
    groups = _table(raw.get("dependency-groups"))
    for group in _GROUPS:
        found += _strings(extras.get(group)) + _strings(groups.get(group))
    for line in found:
        if name and _key(line) == _key(name):
            continue  # `project[extra]` of the project itself, which is not installed
        _sort_in(line.strip(), lines, left_out)


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
