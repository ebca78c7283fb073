"""A small shop with a bare remote on the wired platform, and a caller of methods, for the groups verify and handoff."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec

from smp.bootstrap import build_platform
from smp.domain.access import Grant
from smp.domain.ids import AgentId
from smp.rpc.dispatcher import Dispatcher
from smp.rpc.methods import METHOD_GROUPS
from smp.rpc.registry import MethodRegistry
from smp.settings import load_settings
from tests.builders.folder_boxes import git, make_repository

PRICES = "def net(cents, count):\n    free = count // 10\n    return cents * (count - free)\n"
STRONG = (
    "from prices import net\n\n\ndef test_net():\n    assert net(250, 3) == 750\n"
    "    assert net(7, 9) == 63\n    assert net(250, 10) == 2250\n"
)
FILES = {
    "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['src']\n",
    ".gitignore": "__pycache__/\n",
    "src/prices.py": PRICES,
    "tests/test_strong.py": STRONG,
    "tests/test_weak.py": "from prices import net\n\n\ndef test_net():\n    assert net(250, 3) == 750\n",
    "tests/test_vacuous.py": "from prices import net\n\n\ndef test_net():\n    net(1, 2)\n    assert True\n",
}


class Shop:
    """Calls go through the dispatcher, as bytes."""

    def __init__(self, root: Path) -> None:
        self.repo, self.remote = root / "repo", root / "remote.git"
        self.head = make_repository(self.repo, FILES)
        git(root, "init", "-q", "--bare", "-b", "main", str(self.remote))
        git(self.repo, "remote", "add", "origin", str(self.remote))
        git(self.repo, "push", "-q", "origin", "main")
        services = build_platform(load_settings(self.repo, data_dir=root / "data"))
        services.indexer.refresh()
        self.services = services
        self._dispatcher = Dispatcher(MethodRegistry(METHOD_GROUPS), services)

    def ask(self, method: str, **params: object) -> Any:
        """The result of a method, or its error object under `error`."""
        return self.ask_as(None, method, **params)

    def ask_as(self, caller: str | None, method: str, **params: object) -> Any:
        """As `ask`, by an agent that a token names."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        grant = Grant(id="tok_1", agent_id=AgentId(caller)) if caller is not None else None
        raw = self._dispatcher.handle_bytes(json.dumps(request).encode(), caller=grant)
        assert raw is not None
        answer = json.loads(raw)
        return answer["result"] if "result" in answer else {"error": answer["error"]}

    def box(self, *scope: str) -> tuple[str, str]:
        """(session, box) of a new session."""
        opened = self.ask(
            "smp/session/open", agent_id="coder", task="t", scope=list(scope) or ["src/prices.py"], mode="write"
        )
        session: str = opened["session_id"]
        return session, str(self.ask("smp/sandbox/spawn", session_id=session)["sandbox_id"])

    def put(self, box: str, path: str, text: str) -> None:
        done = self.ask("smp/sandbox/execute", sandbox_id=box, command=f"cat > '{path}' <<'END'\n{text}END\n")
        assert done["exit_code"] == 0

    def verify(self, box: str, test: str = "tests/test_strong.py", target: str = "src/prices.py") -> Any:
        return self.ask("smp/verify/integrity", sandbox_id=box, target_file=target, test_file=test)

    def audit(self, session: str) -> list[Any]:
        """The record of a session, which this closes."""
        closed = self.ask("smp/session/close", session_id=session, status="completed")
        events: list[Any] = self.ask("smp/audit/get", audit_log_id=closed["audit_log_id"])["events"]
        return events

    def notices(self, kind: str) -> list[Any]:
        """Notifications of a type so far."""
        found = [json.loads(msgspec.json.encode(notice.body)) for notice in self.services.notifier.after(0)]
        return [body for body in found if body["type"] == kind]

    def refs(self) -> str:
        return subprocess.run(
            ["git", "for-each-ref"], cwd=self.remote, check=True, capture_output=True, text=True
        ).stdout
