"""The second opinion: what a type checker says is defined where a call is written, asked over the language server protocol."""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

Place = tuple[int, int]
"""Line (1-based) and column (in bytes) of a name."""
Answer = tuple[str, int]
"""File (absolute) and line (1-based) of a definition."""


class Checker:
    """basedpyright's language server over one source tree."""

    def __init__(self, python: Path, repo: Path) -> None:
        self.python = python
        self.repo = repo.resolve()
        self._number = 0

    def __enter__(self) -> Checker:
        command = [str(self.python.with_name("basedpyright-langserver")), "--stdio"]
        self._server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=self.repo
        )
        uri = self.repo.as_uri()
        capabilities = {"workspace": {"configuration": True, "workspaceFolders": True}}
        folders = [{"uri": uri, "name": "repo"}]
        self._ask("initialize", processId=None, rootUri=uri, capabilities=capabilities, workspaceFolders=folders)
        self._send({"method": "initialized", "params": {}})
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.kill()
        self._server.wait()

    def definitions(self, path: str, source: bytes, places: list[Place]) -> Iterator[tuple[Place, list[Answer]]]:
        """What the names at these places mean; nothing where the checker does not know."""
        uri = (self.repo / path).as_uri()
        text = source.decode("utf-8")
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        lines = source.split(b"\n")
        for line, column in places:
            character = len(lines[line - 1][:column].decode("utf-8").encode("utf-16-le")) // 2
            position = {"line": line - 1, "character": character}
            found = self._ask("textDocument/definition", textDocument={"uri": uri}, position=position) or []
            answers = []
            for one in found if isinstance(found, list) else [found]:
                where = one.get("uri") or one.get("targetUri")
                span = one.get("range") or one.get("targetSelectionRange")
                answers.append((_path(where), int(span["start"]["line"]) + 1))
            yield (line, column), answers
        self._send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": uri}}})

    def _ask(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": parameters})
        while True:
            message = self._receive()
            if message.get("method") == "workspace/configuration":
                self._send({"id": message["id"], "result": [self._settings(i) for i in message["params"]["items"]]})
            elif "method" in message:
                if "id" in message:
                    self._send({"id": message["id"], "result": None})
            elif message.get("id") == number:
                return message.get("result")

    def _settings(self, item: dict[str, Any]) -> dict[str, Any]:
        analysis = {"extraPaths": ["src", "."], "diagnosticMode": "openFilesOnly", "indexing": False}
        section = item.get("section", "")
        if section == "python":
            return {"pythonPath": str(self.python), "analysis": analysis}
        return {"analysis": analysis} if section == "basedpyright" else analysis

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._server.stdin is not None
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._server.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._server.stdout is not None
        length = 0
        while line := self._server.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise SystemExit("the type checker's language server ended")
        message: dict[str, Any] = json.loads(self._server.stdout.read(length))
        return message


def _path(uri: str) -> str:
    return unquote(urlsplit(uri).path)


def name_place(node: ast.expr) -> tuple[str, Place] | None:
    """The name that an expression ends in, and where it stands; None for other expressions."""
    if isinstance(node, ast.Name):
        return node.id, (node.lineno, node.col_offset)
    if isinstance(node, ast.Attribute):
        line, column = node.end_lineno or 0, node.end_col_offset or 0
        return node.attr, (line, column - len(node.attr.encode()))
    return None


def asked(source: bytes) -> tuple[dict[int, list[tuple[str, Place | None]]], dict[int, list[tuple[str, Place]]]]:
    """By line: the callees of calls and decorators, with a place where the callee ends in a name that says what is called (a
    decorator that is made by a call does not, nor does `x.__class__()`); and all attributes."""
    calls: dict[int, list[tuple[str, Place | None]]] = {}
    attributes: dict[int, list[tuple[str, Place]]] = {}
    for node in ast.walk(ast.parse(source)):
        callees = [node.func] if isinstance(node, ast.Call) else []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            callees = list(node.decorator_list)
        for callee in callees:
            named = None if isinstance(callee, ast.Attribute) and callee.attr == "__class__" else name_place(callee)
            line = named[1][0] if named is not None else callee.lineno
            calls.setdefault(line, []).append(named or ("", None))
        if isinstance(node, ast.Attribute):
            found = name_place(node)
            assert found is not None
            attributes.setdefault(found[1][0], []).append(found)
    return calls, attributes


def ask_all(
    python: Path, repo: Path, sources: dict[str, bytes], attributes: frozenset[str], kept: Path
) -> dict[str, dict[Place, list[Answer]]]:
    """Definitions at every call, and at every attribute of these names; answers are kept in a file between runs."""
    known: dict[str, dict[str, list[Answer]]] = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    missing: dict[str, list[Place]] = {}
    for path, source in sorted(sources.items()):
        calls, named = asked(source)
        wanted = {place for found in calls.values() for _, place in found if place is not None}
        wanted |= {place for found in named.values() for name, place in found if name in attributes}
        open_ = sorted(place for place in wanted if f"{place[0]}:{place[1]}" not in known.get(path, {}))
        if open_:
            missing[path] = open_
    if missing:
        with Checker(python, repo) as checker:
            for path, places in missing.items():
                for (line, column), answers in checker.definitions(path, sources[path], places):
                    known.setdefault(path, {})[f"{line}:{column}"] = answers
                kept.write_text(json.dumps(known), "utf-8")
    return {
        path: {(int(key.partition(":")[0]), int(key.partition(":")[2])): value for key, value in found.items()}
        for path, found in known.items()
    }
