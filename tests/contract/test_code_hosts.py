"""GitHub and GitLab when they answer badly, each request judged by the host's own description."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from smp.adapters.forge_git import GitForge
from smp.domain.errors import ForgeBusy, ForgeFailed
from smp.domain.handoffs import BranchChange
from smp.domain.ids import FilePath
from smp.domain.sandboxes import ChangedFile
from smp.settings import load_settings
from tests.builders.folder_boxes import START, git, make_repository
from tests.builders.stand_in_forge import TOKEN, Fault, StandIn, code_forge, serving

FILES = (ChangedFile(path=FilePath("a.txt"), content=b"2\n"),)
RESET = {"Date": "Mon, 06 Jul 2026 12:00:00 GMT", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1783339211"}


class Desk:
    """A checkout with a bare remote, its host, and the pauses that were made."""

    def __init__(self, root: Path, host: StandIn) -> None:
        self.host, self.pauses, self.passing = host, list[float](), False
        self.repo = root / "repo"
        self.base = make_repository(self.repo, {"a.txt": "1\n"})
        git(root, "init", "-q", "--bare", "-b", "main", str(host.remote))
        git(self.repo, "remote", "add", "origin", str(host.remote))
        git(self.repo, "push", "-q", "origin", "main")

    def publish(self, body: str = "text", token: str = TOKEN, **options: Any) -> tuple[str, str]:
        change = BranchChange(
            branch="smp/ses_1",
            base_sha=self.base,
            title="fix: it",
            body=body,
            author="coder",
            files=(),
            authored_at=START,
        )
        branches = GitForge(load_settings(self.repo, environ={}))
        forge = code_forge(self.host, branches, token, **{"pause": self.pauses.append, **options})
        made = forge.publish(change, FILES)
        return made.id, made.url

    def refusal(self, *faults: Fault, **options: Any) -> str:
        self.host.faults.extend(faults)
        with pytest.raises(ForgeFailed) as caught:
            self.publish(**options)
        assert TOKEN not in caught.value.message + str(caught.value.data())
        self.passing = isinstance(caught.value, ForgeBusy)
        return caught.value.message

    def methods(self) -> list[str]:
        return [method for method, _ in self.host.log]

    def description(self) -> str:
        return str(self.host.pulls[0]["body" if self.host.kind == "github" else "description"])


@pytest.fixture(params=["github", "gitlab"])
def desk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Desk]:
    with serving(StandIn(request.param, tmp_path / "remote.git")) as host:
        yield Desk(tmp_path, host)


def limited(desk: Desk, **headers: str) -> Fault:
    return Fault(
        status=403 if desk.host.kind == "github" else 429,
        headers={name.replace("_", "-"): v for name, v in headers.items()},
    )


def test_a_pull_request_is_opened_once_and_then_brought_up_to_date(desk: Desk) -> None:
    first = desk.publish("one")
    assert desk.publish("one") == first
    assert desk.methods() == ["GET", "POST", "GET"]
    assert desk.publish("two") == first
    assert (desk.description(), len(desk.host.pulls)) == ("two", 1)
    assert first[1].endswith("/pull/1" if desk.host.kind == "github" else "/merge_requests/1")


def test_one_that_was_opened_though_its_answer_was_lost_is_found_again(desk: Desk) -> None:
    desk.host.faults.append(Fault(status=502, method="POST", after_effect=True))
    desk.publish()
    assert (desk.methods(), len(desk.host.pulls), desk.pauses) == (["GET", "POST", "GET"], 1, [1.0])


def test_one_that_somebody_opened_meanwhile_is_taken(desk: Desk) -> None:
    first = desk.publish("one")
    desk.host.faults.append(Fault(status=200, body=[]))
    assert desk.publish("two") == first
    assert desk.description() == "two"


def test_one_that_is_closed_is_left_alone(desk: Desk) -> None:
    desk.publish()
    desk.host.pulls[0]["state"] = "closed"
    desk.host.pulls[0]["head" if desk.host.kind == "github" else "source_branch"] = {"ref": "other"}
    assert desk.publish()[0].endswith("_2")


def test_a_token_that_is_not_accepted_is_said_at_once(desk: Desk) -> None:
    said = desk.refusal(token="wrong")
    assert "does not accept the token" in said
    assert f"SMP_{desk.host.kind.upper()}_TOKEN" in said
    assert (desk.pauses, len(desk.host.log)) == ([], 1)


def test_without_a_token_nothing_is_published(desk: Desk) -> None:
    assert "no token" in desk.refusal(token="")
    assert git(desk.host.remote, "for-each-ref", "refs/heads/smp") == ""


def test_a_short_rate_limit_is_waited_for(desk: Desk) -> None:
    desk.host.faults.append(limited(desk, Retry_After="7"))
    desk.publish()
    assert desk.pauses == [7.0]


def test_a_long_rate_limit_is_told(desk: Desk) -> None:
    assert "wait 3600 s" in desk.refusal(limited(desk, Retry_After="3600"))
    assert (desk.pauses, desk.passing) == ([], True)


def test_a_rate_limit_that_does_not_end_is_told(desk: Desk) -> None:
    assert "no requests left" in desk.refusal(*[limited(desk, Retry_After="2")] * 3)
    assert desk.pauses == [2.0, 2.0]


def test_github_tells_the_end_of_the_limit_by_its_own_clock(tmp_path: Path) -> None:
    with serving(StandIn("github", tmp_path / "remote.git")) as host:
        desk = Desk(tmp_path, host)
        host.faults.append(Fault(status=403, headers=RESET, body={"message": "API rate limit exceeded for user"}))
        desk.publish()
        assert desk.pauses == [11.0]


def test_a_right_that_is_missing_is_named(desk: Desk) -> None:
    said = desk.refusal(Fault(status=403, body={"message": "Resource not accessible by personal access token"}))
    assert "403: Resource not accessible" in said
    assert "acme/shop" in said
    assert desk.pauses == []


def test_a_project_that_is_not_there_is_named(desk: Desk) -> None:
    assert "'acme/shop'" in desk.refusal(Fault(status=404, body={"message": "Not Found"}))
    assert desk.passing is False


def test_a_request_that_is_not_taken_says_why(desk: Desk) -> None:
    body = {"message": "Validation Failed", "errors": [{"field": "base", "code": "invalid"}]}
    said = desk.refusal(
        Fault(status=422, method="POST", body=body if desk.host.kind == "github" else {"message": "base: invalid"})
    )
    assert "base: invalid" in said
    assert "the branch is pushed" in said
    assert desk.passing is False


def test_a_host_in_trouble_is_asked_three_times(desk: Desk) -> None:
    assert "is in trouble (503)" in desk.refusal(*[Fault(status=503)] * 3)
    assert (desk.pauses, len(desk.host.log), desk.passing) == ([1.0, 2.0], 3, True)
    desk.host.faults.append(Fault(status=500, body=b"<html>no JSON</html>"))
    desk.publish()


def test_a_host_that_is_silent_is_not_waited_for(desk: Desk) -> None:
    said = desk.refusal(*[Fault(silent=True)] * 3, timeout_seconds=1)
    assert "cannot be reached" in said
    assert "check http" in said
    assert (desk.pauses, desk.passing) == ([1.0, 2.0], True)


def test_an_answer_that_is_no_json_is_an_error_not_a_crash(desk: Desk) -> None:
    assert "repeat" in desk.refusal(*[Fault(status=200, body=b"<html>a proxy's page</html>")] * 3)


def test_the_token_is_nowhere(desk: Desk, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    caplog.set_level(logging.DEBUG)
    echo = {"message": f"bad {TOKEN} in header"}
    desk.refusal(Fault(status=403, body=echo))
    desk.refusal(Fault(status=422, method="POST", body=echo))
    made = desk.publish()
    assert TOKEN not in caplog.text + str(made)
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    assert kept == []
    assert TOKEN.encode() not in msgspec.json.encode(desk.host.pulls)


def test_a_remote_that_asks_for_a_password_is_offered_the_token(
    tmp_path: Path, listening: Callable[[], tuple[str, list[str]]]
) -> None:
    url, authorizations = listening()
    repo = tmp_path / "repo"
    base = make_repository(repo, {"a.txt": "1\n"})
    store = tmp_path / "stored"
    git(repo, "config", "credential.helper", f"store --file={store}")
    git(repo, "remote", "add", "origin", f"{url}/acme/shop.git")
    change = BranchChange(
        branch="smp/ses_1", base_sha=base, title="t", body="", author="a", files=(), authored_at=START
    )
    forge = GitForge(load_settings(repo, environ={}), user="x-access-token", token=TOKEN)
    with pytest.raises(ForgeFailed) as caught:
        forge.publish(change, FILES)
    assert authorizations == ["", "", f"x-access-token:{TOKEN}"]
    assert TOKEN not in caught.value.message
    assert not store.exists()


@pytest.fixture
def listening() -> Iterator[Callable[[], tuple[str, list[str]]]]:
    """A web server that wants a password and accepts none; who asked with what is in the list."""
    import base64
    from contextlib import ExitStack
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    with ExitStack() as ends:

        def start() -> tuple[str, list[str]]:
            seen: list[str] = []

            class Handler(BaseHTTPRequestHandler):
                def do_GET(self) -> None:
                    seen.append(base64.b64decode(self.headers.get("Authorization", "").removeprefix("Basic ")).decode())
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", 'Basic realm="r"')
                    self.send_header("Content-Length", "0")
                    self.end_headers()

                def log_message(self, format: str, *args: object) -> None:
                    """Say nothing."""

            server = HTTPServer(("127.0.0.1", 0), Handler)
            thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
            thread.start()
            ends.callback(thread.join)
            ends.callback(server.server_close)
            ends.callback(server.shutdown)
            return f"http://127.0.0.1:{server.server_address[1]}", seen

        yield start
