"""The group `sandbox` over the dispatcher, on the wired platform: answers, errors, whose a box is, what it leaves."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smp.bootstrap import build_platform
from smp.domain.ids import AgentId, SessionId
from smp.domain.session_steps import OpenSession
from smp.indexing.pipeline import FileChange
from smp.rpc.dispatcher import Dispatcher
from smp.rpc.methods import sandbox
from smp.rpc.registry import MethodRegistry
from smp.services import Services
from smp.settings import load_settings

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]

FILES = {
    "shop.py": "def price(x):\n    return x\n\n\nREGISTRY = {'price': price}\n\n\ndef use(name, x):\n    return REGISTRY[name](x)\n",
    "test_shop.py": "import shop\n\n\ndef test_use():\n    assert shop.use('price', 3) == 3\n",
}


@pytest.fixture
def services(tmp_path: Path) -> Services:
    repo = tmp_path / "repo"
    repo.mkdir()
    for name, text in FILES.items():
        (repo / name).write_text(text)
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm1"]):
        subprocess.run(["git", *command], cwd=repo, check=True)
    return build_platform(load_settings(repo))


Ask = Callable[..., Any]


@pytest.fixture
def ask(services: Services) -> Ask:
    """Result of a method, or its error object under `error`."""
    dispatcher = Dispatcher(MethodRegistry([sandbox]), services)

    def call(method: str, **params: object) -> Any:
        request = {"jsonrpc": "2.0", "id": 1, "method": f"smp/sandbox/{method}", "params": params}
        raw = dispatcher.handle_bytes(json.dumps(request).encode())
        assert raw is not None
        answer = json.loads(raw)
        return answer["result"] if "result" in answer else {"error": answer["error"]}

    return call


def open_session(services: Services, *, agent: str = "agent", scope: tuple[str, ...] = ("shop.py",)) -> str:
    request = OpenSession(agent_id=AgentId(agent), task="t", scope=scope)
    return services.sessions.open(request).session.id


def head(services: Services) -> str:
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=services.settings.repo, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_spawn_execute_destroy(services: Services, ask: Ask) -> None:
    session = open_session(services)
    box = ask("spawn", session_id=session)
    assert {key: box[key] for key in ("status", "commit_sha", "services_started", "ebpf_injected", "tracer")} == {
        "status": "ready",
        "commit_sha": head(services),
        "services_started": [],
        "ebpf_injected": True,
        "tracer": "monitoring",
    }
    assert box["network"] == {"egress_policy": "none", "allowed_registries": []}
    assert services.sessions.require(session, method="t").sandbox_id == box["sandbox_id"]
    done = ask("execute", sandbox_id=box["sandbox_id"], command="echo out; echo err >&2; exit 3")
    assert (done["exit_code"], done["stdout"], done["stderr"]) == (3, "out\n", "err\n")
    assert (done["timed_out"], done["truncated"], done["network_blocks"]) == (False, False, [])
    ran = [
        event for event in services.session_store.events(SessionId(session)) if event.method == "smp/sandbox/execute"
    ]
    assert [(event.target, event.result) for event in ran] == [
        (box["sandbox_id"], "started"),
        (box["sandbox_id"], "exit code 3"),
    ]
    gone = ask("destroy", sandbox_id=box["sandbox_id"], session_id=session)
    assert (gone["sandbox_id"], gone["status"]) == (box["sandbox_id"], "destroyed")
    assert gone["resources_freed"]["filesystem_mb"] >= 0
    assert services.sessions.require(session, method="t").sandbox_id is None
    assert ask("execute", sandbox_id=box["sandbox_id"], command="true")["error"]["code"] == -32008


def test_a_long_output_is_read_in_parts_also_after_the_box_is_gone(services: Services, ask: Ask) -> None:
    session = open_session(services)
    box = ask("spawn", session_id=session, inject_ebpf=False)
    done = ask("execute", sandbox_id=box["sandbox_id"], command="seq 100000; echo no >&2")
    assert done["truncated"]
    ask("destroy", sandbox_id=box["sandbox_id"], session_id=session)
    where = {"session_id": session, "execution_id": done["execution_id"]}
    text = ""
    offset: int | None = 0
    while offset is not None:
        part = ask("log", **where, offset=offset, limit=300_000)
        assert "error" not in part, part
        text, offset = text + part["text"], part["next_offset"]
    assert text == "".join(f"{number}\n" for number in range(1, 100_001))
    assert part["total_bytes"] == len(text)
    said = ask("log", **where, stream="stderr")
    assert (said["text"], said["offset"], said["next_offset"], said["total_bytes"]) == ("no\n", 0, None, 3)
    other = open_session(services, agent="other", scope=("test_shop.py",))
    assert ask("log", session_id=other, execution_id=done["execution_id"])["error"]["code"] == -32008


def test_calls_that_ran_are_edges_of_the_shared_graph(services: Services, ask: Ask) -> None:
    box = ask("spawn", session_id=open_session(services))
    done = ask("execute", sandbox_id=box["sandbox_id"], command="python -m pytest -q")
    assert done["exit_code"] == 0, done
    seen = {(edge["from"], edge["to"]): edge["call_count"] for edge in done["calls_runtime_injected"]}
    assert seen == {
        ("function:shop.py#use", "function:shop.py#price"): 1,
        ("test:test_shop.py#test_use", "function:shop.py#use"): 1,
    }
    again = ask("execute", sandbox_id=box["sandbox_id"], command="python -m pytest -q")
    assert again["calls_runtime_injected"] == done["calls_runtime_injected"]


def test_a_box_without_a_tracer_injects_nothing(services: Services, ask: Ask) -> None:
    box = ask("spawn", session_id=open_session(services), inject_ebpf=False)
    assert (box["ebpf_injected"], box["tracer"]) == (False, None)
    done = ask("execute", sandbox_id=box["sandbox_id"], command="python -m pytest -q")
    assert (done["exit_code"], done["calls_runtime_injected"]) == (0, [])


def test_what_was_pushed_is_in_the_box(services: Services, ask: Ask) -> None:
    session = open_session(services)
    services.sessions.update(session, (FileChange(path="shop.py", content=b"pushed = 1\n"),))  # type: ignore[arg-type]
    box = ask("spawn", session_id=session)
    assert ask("execute", sandbox_id=box["sandbox_id"], command="cat shop.py")["stdout"] == "pushed = 1\n"


def test_a_time_limit_ends_the_command(services: Services, ask: Ask) -> None:
    box = ask("spawn", session_id=open_session(services))
    done = ask("execute", sandbox_id=box["sandbox_id"], command="echo begun; sleep 60", timeout_ms=500)
    assert (done["timed_out"], done["exit_code"], done["stdout"]) == (True, 124, "begun\n")


def test_an_attempt_to_leave_is_in_the_answer_and_in_the_feed(services: Services, ask: Ask) -> None:
    box = ask("spawn", session_id=open_session(services))
    before = services.notifier.latest()
    script = "import socket; socket.create_connection(('db.example.org', 5432))"
    done = ask("execute", sandbox_id=box["sandbox_id"], command=f'python -c "{script}"')
    assert "ConnectionRefusedError" in done["stderr"]
    assert [(b["host"], b["port"], b["reason"]) for b in done["network_blocks"]] == [
        ("db.example.org", 5432, "egress_blocked")
    ]
    (notice,) = services.notifier.after(before)
    assert vars_of(notice.body) == (box["sandbox_id"], "db.example.org", 5432)


def vars_of(body: Any) -> tuple[str, str, int]:
    return body.sandbox_id, body.blocked_host, body.blocked_port


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("spawn", {"session_id": "ses_none"}, -32003),
        ("spawn", {"session_id": "$session", "commit_sha": "f" * 40}, -32602),
        ("spawn", {"session_id": "$session", "commit_sha": "not a hash"}, -32602),
        ("spawn", {"session_id": "$session", "image": "python:3.12"}, -32009),
        ("spawn", {"session_id": "$session", "services": ["postgres:17"]}, -32009),
        ("spawn", {"session_id": "$session", "unknown": 1}, -32602),
        ("execute", {"sandbox_id": "box_none", "command": "true"}, -32008),
        ("execute", {"sandbox_id": "../../etc", "command": "true"}, -32008),
        ("execute", {"sandbox_id": "$box", "command": ""}, -32602),
        ("execute", {"sandbox_id": "$box", "command": "a\u0000b"}, -32602),
        ("execute", {"sandbox_id": "$box", "command": "true", "timeout_ms": 0}, -32602),
        ("destroy", {"sandbox_id": "box_none", "session_id": "$session"}, -32008),
        ("destroy", {"sandbox_id": "$box", "session_id": "$other"}, -32008),
        ("destroy", {"sandbox_id": "$box", "session_id": "ses_none"}, -32003),
    ],
)
def test_bad_requests_say_what_is_wrong(
    services: Services, ask: Ask, method: str, params: dict[str, Any], code: int
) -> None:
    session = open_session(services)
    known = {"$session": session, "$other": open_session(services, agent="other")}
    if "$box" in params.values():
        known["$box"] = ask("spawn", session_id=session)["sandbox_id"]
    answer = ask(method, **{key: known.get(str(value), value) for key, value in params.items()})
    assert answer["error"]["code"] == code, answer
    assert answer["error"]["message"]


def test_a_refused_box_leaves_nothing(services: Services, ask: Ask) -> None:
    ask("spawn", session_id=open_session(services), image="python:3.12")
    boxes = services.settings.data_dir / "boxes"
    assert [path.name for path in boxes.glob("box_*")] == []
    assert services.artifacts.list("sandbox") == ()


def test_closing_the_session_ends_its_box(services: Services, ask: Ask) -> None:
    session = open_session(services)
    box = ask("spawn", session_id=session)["sandbox_id"]
    services.sessions.close(session, "aborted")
    assert ask("execute", sandbox_id=box, command="true")["error"]["code"] in (-32003, -32008)
    assert not (services.settings.data_dir / "boxes" / box).exists()
