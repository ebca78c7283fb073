"""The package registries that this machine's own clients use: read from the clients, none is written down here."""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

_TIMEOUT_S = 30
# pip keeps its default index in a module of its own; `pip config` tells only what differs from it.
_PIP_DEFAULT = (
    "from pip._internal.models.index import PyPI; print(PyPI.simple_url); print('https://' + PyPI.file_storage_domain)"
)


@functools.cache
def configured_registries() -> tuple[str, ...]:
    """Host names (with the port, where it is not the scheme's), sorted; of clients that are not installed, none."""
    found: set[str] = set()
    for url in (*_pip(), *_npm(), *_go(), *_cargo(Path.home()), *_maven(Path.home())):
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname:
            found.add(f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname)
    return tuple(sorted(found))


def _said(*command: str) -> str:
    program = shutil.which(command[0])
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, *command[1:]],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
            cwd="/",  # not in a repository, whose own configuration is its own opinion
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _pip() -> Iterator[str]:
    index, more = None, []
    for line in _said(sys.executable, "-m", "pip", "config", "list").splitlines():
        key, _, value = line.partition("=")
        name = key.rpartition(".")[2]
        if name == "index-url":
            index = value.strip("'\"")
        elif name == "extra-index-url":
            more += value.strip("'\"").replace("\\n", " ").split()
    yield from [index] if index else _said(sys.executable, "-c", _PIP_DEFAULT).split()
    yield from more


def _npm() -> Iterable[str]:
    return _said("npm", "config", "get", "registry").split()


def _go() -> Iterable[str]:
    return _said("go", "env", "GOPROXY").replace(",", " ").replace("|", " ").split()


def _cargo(home: Path) -> Iterator[str]:
    for name in ("config.toml", "config"):
        try:
            read = tomllib.loads((home / ".cargo" / name).read_text("utf-8"))
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
            continue
        for table, key in (("source", "registry"), ("registries", "index")):
            entries = read.get(table, {})
            for entry in entries.values() if isinstance(entries, dict) else ():
                if isinstance(entry, dict) and isinstance(entry.get(key), str):
                    yield entry[key].removeprefix("sparse+")


def _maven(home: Path) -> Iterator[str]:
    try:
        root = ElementTree.fromstring((home / ".m2" / "settings.xml").read_text("utf-8"))  # noqa: S314 - the user's own
    except (OSError, ElementTree.ParseError, UnicodeDecodeError):
        return
    for element in root.iter():
        if element.tag.rpartition("}")[2] == "url" and element.text:
            yield element.text.strip()
