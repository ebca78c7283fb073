"""What operators see: one trace from a call or a run down to the stores, and figures that the dashboard asks for."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from examples.shop.making import make_shop
from smp.client import Client
from smp.domain.errors import Invalid
from smp.settings import load_settings
from tests.builders.command_line import Checkout, command
from tests.builders.served_shop import FILES, Server
from tests.builders.session_rig import free_port
from tests.builders.shop_repository import Shop, served
from tests.builders.trace_receiver import receiving

DASHBOARD = Path(__file__).resolve().parents[2] / "infra" / "observability" / "dashboard.json"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture
def example_shop(tmp_path: Path) -> Iterator[Shop]:
    make_shop(tmp_path / "shop")
    with served(tmp_path / "shop") as made:
        yield made


def test_a_call_is_part_of_its_callers_trace_and_has_the_stores_under_it(tmp_path: Path) -> None:
    with receiving() as receiver:
        server = Server(Checkout(tmp_path / "shop", FILES).root, settings={"SMP_OBSERVABILITY_TRACES": receiver.url})
        call = {"jsonrpc": "2.0", "id": 1, "method": "smp/navigate", "params": {"query": "total"}}
        headers = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
        assert "result" in httpx.post(f"{server.url}rpc", json=call, headers=headers, timeout=60).json()
        server.stop()
    (span,) = receiver.named("smp/navigate")
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, "00f067aa0ba902b7")
    assert [receiver.path(one) for one in receiver.named("graph.find")] == [["smp/navigate", "graph.find"]]


@pytest.mark.temporal
@pytest.mark.sandbox
@pytest.mark.slow
def test_a_run_is_one_trace_from_its_start_through_its_activities_to_stores_and_boxes(example_shop: Shop) -> None:
    metrics = f"127.0.0.1:{free_port()}"
    with receiving() as receiver:
        example_shop.environment |= {
            "SMP_OBSERVABILITY_TRACES": receiver.url,
            "SMP_OBSERVABILITY_WORKER_METRICS": metrics,
        }
        with example_shop.worker():
            session = (
                "session",
                "run",
                "--task",
                "t",
                "--scope",
                "src/shop/money.py",
                "--test-cmd",
                "python -m pytest -q",
            )
            agent = ("--agent-cmd", "sed -i 's/int(cents)/int(cents + 0.5)/' src/shop/money.py")
            arguments = command(*session, *agent, repo=example_shop.repo)
            done = subprocess.run(arguments, env=example_shop.environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
            worker = httpx.get(f"http://{metrics}/metrics", timeout=30).text
    (start,) = receiver.named("StartWorkflow:AgentSessionWorkflow")
    ran = receiver.named("box.execute")
    assert ran
    assert {one.trace_id for one in ran} == {start.trace_id}
    assert any("RunActivity:sandbox.execute" in receiver.path(one) for one in ran)
    assert receiver.path(receiver.named("sessions.write")[0])[0] == start.name
    assert missing(worker, "temporal") == []


def test_the_dashboard_asks_for_figures_that_there_are(tmp_path: Path) -> None:
    server = Server(Checkout(tmp_path / "shop", FILES).root)
    try:
        with Client.http(server.url) as client:
            client.navigate(query="total")
        assert missing(httpx.get(f"{server.url}metrics", timeout=30).text, "smp") == []
    finally:
        server.stop()


def missing(exposed: str, prefix: str) -> list[str]:
    """Metrics with this prefix that the dashboard names and the page does not have."""
    queries = [
        target["expr"] for panel in json.loads(DASHBOARD.read_text("utf-8"))["panels"] for target in panel["targets"]
    ]
    named = {name for query in queries for name in re.findall(rf"\b{prefix}_\w+", query)}
    assert named
    return sorted(name for name in named if not re.search(rf"^{name}[ {{]", exposed, re.MULTILINE))


def test_a_receiver_that_is_not_there_hinders_nobody(tmp_path: Path) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    server = Server(Checkout(tmp_path / "shop", FILES).root, settings={"SMP_OBSERVABILITY_TRACES": nowhere})
    try:
        with Client.http(server.url) as client:
            assert client.navigate(query="total").entity.name == "total"
    finally:
        server.stop()


def test_where_traces_go_is_not_for_a_repository_to_say(tmp_path: Path) -> None:
    (tmp_path / "smp.toml").write_text('[observability]\ntraces = "http://collector.example"\n')
    with pytest.raises(Invalid, match="SMP_OBSERVABILITY_TRACES"):
        load_settings(tmp_path, environ={})
