"""GitHub's and GitLab's pull requests on this machine: a server that judges each request by the host's own description.

It keeps pull requests, knows branches from a real bare repository, and can be told to answer badly.
"""

from __future__ import annotations

import fcntl
import functools
import json
import subprocess
import tarfile
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from msgspec import Struct
from platformdirs import user_cache_path

from smp.adapters.forge_github import GithubForge
from smp.adapters.forge_gitlab import GitlabForge
from smp.handoff.code_hosts import CodeHost, HostKind
from smp.ports.forge import Forge
from tests.builders.gitlab_description import GITLAB
from tests.builders.openapi import Description
from tests.builders.real_sources import Corpus, fetched

PROJECT = "acme/shop"
TOKEN = "planted-secret-0123456789"
GITHUB_DESCRIPTION = Corpus(
    registry="npm",
    name="@octokit/openapi",
    version="23.0.2",
    archive="octokit-openapi-23.0.2.tgz",
    sha256="71a18407dd5e8464f4e0525daf03deabbe65abd9287d6adc7b5d98f516cd0d0c",
    keep=(),
)
MAX_BODY = 65_536


@functools.cache
def github_description() -> Description:
    """GitHub's own, by npm into the user's cache, once. A run that cannot have it says so and is held against the list of
    known skips."""
    folder = user_cache_path("smp")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "openapi.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            archive = fetched(GITHUB_DESCRIPTION)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"npm cannot bring GitHub's OpenAPI description, so GitHub's requests go unjudged: {error}")
    with tarfile.open(archive) as opened:
        member = opened.extractfile("package/generated/api.github.com.json")
        assert member is not None
        return Description(json.load(member))


class Fault(Struct, frozen=True, kw_only=True):
    """A bad answer. after_effect: the request is carried out all the same. silent: no answer until the client gives up."""

    status: int = 503
    headers: dict[str, str] = {}
    body: Any = None
    after_effect: bool = False
    silent: bool = False
    method: str = ""


class StandIn:
    """State of one host. faults: used up one by one by requests of their method. log: (method, path) of each request."""

    def __init__(self, kind: str, remote: Path) -> None:
        self.kind, self.remote = kind, remote
        self.description = github_description() if kind == "github" else Description(GITLAB)
        self.faults: deque[Fault] = deque()
        self.pulls: list[dict[str, Any]] = []
        self.issues: dict[str, dict[str, Any]] = {}
        self.log: list[tuple[str, str]] = []
        self.violations: list[str] = []
        self.released = threading.Event()
        self.url = ""

    def answer(self, method: str, target: str, headers: dict[str, str], body: Any) -> tuple[int, dict[str, str], Any]:
        """Judge and carry out one request."""
        self.log.append((method, urlsplit(target).path))
        self.violations += self.description.problems(method, target.removeprefix("/api/v4"), body)
        if self.faults and self.faults[0].method in {"", method}:
            fault = self.faults.popleft()
            if fault.silent:
                self.released.wait(60)
            if fault.after_effect:
                self._carry_out(method, target, body)
            return fault.status, fault.headers, fault.body if fault.body is not None else {"message": "trouble"}
        sent = headers.get("authorization", "").removeprefix("token ").removeprefix("Bearer ")
        if TOKEN not in {sent, headers.get("private-token")}:
            return 401, {}, {"message": "Bad credentials"}
        return self._carry_out(method, target, body)

    def _carry_out(self, method: str, target: str, body: Any) -> tuple[int, dict[str, str], Any]:
        parts = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        steps = parts.path.replace("%2F", "/").split("/")
        if PROJECT not in "/".join(steps):
            return 404, {}, {"message": "Not Found"}
        if "issues" in steps:
            known = self.issues.get(steps[-1])
            return (404, {}, {"message": "Not Found"}) if known is None else (200, {}, known)
        if method == "GET":
            return 200, {}, [one for one in self.pulls if self._asked_for(one, query)]
        if method == "POST":
            return self._open(body)
        pull = next(one for one in self.pulls if str(one["number" if self.kind == "github" else "iid"]) == steps[-1])
        pull.update(body)
        return 200, {}, pull

    def ask_for(self, number: int, title: str, body: str) -> None:
        """An issue of GitHub's kind."""
        shown = dict(self.description.example("issue"))
        self.issues[str(number)] = shown | {"number": number, "title": title, "body": body, "state": "open"}

    def _asked_for(self, pull: dict[str, Any], query: dict[str, str]) -> bool:
        if self.kind == "gitlab":
            return all(
                pull[name] == query[name] for name in ("state", "source_branch", "target_branch") if name in query
            )
        head = f"{PROJECT.split('/')[0]}:{pull['head']['ref']}"
        return pull["state"] == query.get("state", "open") and query.get("head", head) == head

    def _open(self, body: Any) -> tuple[int, dict[str, str], Any]:
        github = self.kind == "github"
        head, base = (body["head"], body["base"]) if github else (body["source_branch"], body["target_branch"])
        known = subprocess.run(
            ["git", "-C", str(self.remote), "branch", "--format=%(refname:short)"], capture_output=True
        )
        missing = [name for name in (head, base) if name not in known.stdout.decode().split()]
        if github and (missing or len(body["body"]) > MAX_BODY):
            errors = [{"resource": "PullRequest", "field": "head", "code": "invalid"}]
            return 422, {}, {"message": "Validation Failed", "errors": errors}
        if missing:
            return 400, {}, {"message": {"source_branch": ["is invalid"]}}
        if any((one["head"]["ref"] if github else one["source_branch"]) == head for one in self.pulls):
            said = (
                f"A pull request already exists for acme:{head}."
                if github
                else ["Another open merge request already exists"]
            )
            return (
                (422 if github else 409),
                {},
                {"message": "Validation Failed" if github else said, "errors": [{"message": said}]},
            )
        self.pulls.append(self._made(head, base, body))
        return 201, {}, self.pulls[-1]

    def _made(self, head: str, base: str, body: Any) -> dict[str, Any]:
        number = len(self.pulls) + 1
        if self.kind == "gitlab":
            web = f"https://gitlab.example/{PROJECT}/-/merge_requests/{number}"
            return {"id": 900 + number, "iid": number, "project_id": 7, "state": "opened", "web_url": web, **body}
        shown = dict(self.description.example("pull-request"))
        return shown | {
            "number": number,
            "state": "open",
            "title": body["title"],
            "body": body["body"],
            "url": f"{self.url}/repos/{PROJECT}/pulls/{number}",
            "html_url": f"https://github.example/{PROJECT}/pull/{number}",
            "head": {**shown["head"], "ref": head},
            "base": {**shown["base"], "ref": base},
        }


def code_forge(host: StandIn, branches: Forge, token: str = TOKEN, **options: Any) -> Forge:
    """The adapter of the host's kind, on the stand-in; it does not wait between attempts."""
    place = CodeHost(
        kind=HostKind(host.kind), api_url=host.url, project=PROJECT, explicit=True, missing="" if token else "set it"
    )
    kind = GithubForge if host.kind == "github" else GitlabForge
    return kind(place, token, branches, **{"pause": lambda _: None, **options})


@contextmanager
def serving(stand_in: StandIn) -> Iterator[StandIn]:
    """Answers on a free port until the end of the block; a request that broke the description fails the test there."""

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, extra, answer = stand_in.answer(self.command, self.path, headers, body)
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            try:
                self.send_response_only(status)
                for name, value in {
                    "Content-Type": "application/json",
                    **extra,
                    "Content-Length": str(len(content)),
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                self.close_connection = True

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 the server's names

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    stand_in.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield stand_in
    finally:
        stand_in.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
    assert stand_in.violations == []
