"""The whole platform on the servers, and what happens while one of them is killed, away, and back."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from smp.adapters.neo4j import Neo4jGraphStore
from smp.adapters.neo4j.database import Neo4jDatabase
from smp.adapters.neo4j.notifications import Neo4jNotifier
from smp.adapters.neo4j.sessions import Neo4jSessionStore
from smp.adapters.vectors_weaviate import WeaviateVectorIndex
from smp.bootstrap import build_platform
from smp.domain.errors import Unavailable
from smp.domain.graph import EdgeKind, Scope
from smp.domain.ids import FilePath
from smp.domain.notifications import ConflictDetected
from smp.domain.sessions import AuditEvent
from smp.indexing.embed import NODES
from smp.rpc.dispatcher import Dispatcher
from smp.rpc.methods import METHOD_GROUPS
from smp.rpc.registry import MethodRegistry
from smp.safety.audit import verify
from smp.services import Services
from smp.settings import GraphSettings, VectorsSettings, load_settings
from tests.builders.outage import Outage, counted
from tests.builders.server_profile import TestServer, nobody_listens
from tests.builders.session_records import NOW, a_session

FILES = {
    "shop/prices.py": 'def discounted(cents: int) -> int:\n    """Takes a tenth off the price."""\n    return cents - tenth(cents)\n\n\n'
    "def tenth(cents: int) -> int:\n    return cents // 10\n",
    "shop/cart.py": "from shop.prices import discounted\n\n\ndef total(cents: int) -> int:\n    return discounted(cents)\n",
}
QUESTION = {"query": "take a tenth off the price"}
ROUNDS, WRITERS = 25, 4


def rounded(said: Any) -> Any:
    """An answer without what is of its checkout; ranks of both engines agree to 1e-4 (decisions.md section 6)."""
    if isinstance(said, dict):
        return {key: rounded(value) for key, value in said.items() if key != "index_state"}
    if isinstance(said, list):
        return [rounded(one) for one in said]
    return pytest.approx(said, abs=1e-3) if isinstance(said, float) else said


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with two files."""
    return made(tmp_path / "one")


def made(root: Path) -> Path:
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    for command in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "first")):
        subprocess.run(["git", "-C", str(root), *command], check=True)
    return root


def platform(repo: Path, *servers: TestServer, **environment: str) -> Services:
    """A platform on these servers; what is on none of them is nowhere."""
    found: dict[str, str] = {
        "SMP_PROFILE": "server",
        "SMP_GRAPH_URL": f"bolt://127.0.0.1:{nobody_listens()}",
        "SMP_VECTORS_URL": f"http://127.0.0.1:{nobody_listens()}",
    }
    for server in servers:
        found |= server.settings()
    return build_platform(load_settings(repo, environ=found | environment))


def answer(services: Services, method: str, params: dict[str, Any]) -> Any:
    """The result of a method, or its error."""
    dispatcher = Dispatcher(MethodRegistry(METHOD_GROUPS), services)
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    said = msgspec.json.decode(dispatcher.handle_bytes(msgspec.json.encode(request)) or b"")
    return said.get("result") or said["error"]


def test_both_profiles_give_the_same_answers_and_the_server_one_keeps_no_database(
    checkout: Path, tmp_path: Path, neo4j_server: TestServer, weaviate_server: TestServer
) -> None:
    server = platform(checkout, neo4j_server, weaviate_server)
    embedded = build_platform(load_settings(made(tmp_path / "other"), environ={}))
    for services in (server, embedded):
        services.indexer.ensure_fresh()
        services.indexer.ensure_ranked()
    kinds = tuple(kind for kind in EdgeKind if kind not in (EdgeKind.MEMBER_OF, EdgeKind.CHILD_OF, EdgeKind.BRIDGES))
    assert list(server.graph.scan_edges(Scope(), kinds))[1:] == list(embedded.graph.scan_edges(Scope(), kinds))[1:]
    for method, params in (
        ("smp/locate", QUESTION),
        ("smp/search", {"query": "tenth price", "match": "any"}),
        ("smp/impact", {"entity": "tenth", "change_type": "signature_change"}),
    ):
        ours, theirs = answer(server, method, params), answer(embedded, method, params)
        assert rounded(ours) == rounded(theirs)
    assert not list((checkout / ".smp").glob("*.db"))


def test_the_index_of_vectors_is_filled_from_the_graph_alone(
    checkout: Path, neo4j_server: TestServer, weaviate_server: TestServer
) -> None:
    services = platform(checkout, neo4j_server, weaviate_server)
    before = answer(services, "smp/locate", QUESTION)
    services.vectors.delete(NODES, services.vectors.hashes(NODES))
    assert services.vectors.count(NODES) == 0
    assert answer(services, "smp/locate", QUESTION) == before
    assert services.vectors.count(NODES) > 0


def test_a_process_killed_between_graph_and_vectors_leaves_what_the_next_one_mends(
    checkout: Path, neo4j_server: TestServer, weaviate_server: TestServer
) -> None:
    environment = neo4j_server.settings() | weaviate_server.settings() | {"SMP_PROFILE": "server"}
    services = platform(checkout, neo4j_server, weaviate_server)
    answer(services, "smp/locate", QUESTION)
    (checkout / "shop" / "cart.py").write_text("def refund(cents: int) -> int:\n    return -cents\n")
    code = (
        "import os, sys, pathlib; from smp.bootstrap import build_platform; from smp.settings import load_settings;"
        "s = build_platform(load_settings(pathlib.Path(sys.argv[1]))); s.indexer.ensure_fresh(); os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(checkout)], env=os.environ | environment, check=False)
    assert killed.returncode == -9
    assert services.vectors.hashes(NODES, ["function:shop/cart.py#total"])
    assert not services.vectors.hashes(NODES, ["function:shop/cart.py#refund"])
    again = platform(checkout, neo4j_server, weaviate_server)
    answer(again, "smp/locate", {"query": "give money back"})
    assert not again.vectors.hashes(NODES, ["function:shop/cart.py#total"])
    assert again.vectors.hashes(NODES, ["function:shop/cart.py#refund"])


@pytest.mark.parametrize("profile", ["embedded", "server"])
def test_a_repair_makes_vectors_and_graph_agree_whatever_the_marks_say(
    checkout: Path, request: pytest.FixtureRequest, profile: str
) -> None:
    if profile == "server":
        servers = [request.getfixturevalue(f"{name}_server") for name in ("neo4j", "weaviate")]
        services = platform(checkout, *servers)
    else:
        services = build_platform(load_settings(checkout, environ={}))
    before = answer(services, "smp/locate", QUESTION)
    known = services.vectors.hashes(NODES)
    stray = np.zeros((2, services.embedder.dimension), dtype=np.float32)
    stray[:, 0] = 1.0
    wrong = sorted(known)[0]
    services.vectors.upsert(NODES, (wrong, "function:gone.py#gone"), stray, ("another text", "h"))
    found = services.indexer.repair_vectors()
    assert (found.made, found.forgotten) == (1, 1)
    assert services.vectors.hashes(NODES) == known
    assert answer(services, "smp/locate", QUESTION) == before
    again = services.indexer.repair_vectors()
    assert (again.made, again.forgotten) == (0, 0)


@pytest.mark.parametrize("away", ["neo4j", "weaviate"])
def test_a_server_that_is_away_is_an_error_that_names_it_and_never_a_fallback(
    checkout: Path, neo4j_server: TestServer, weaviate_server: TestServer, away: str
) -> None:
    patience = {"SMP_GRAPH_PATIENCE_S": "0.2", "SMP_VECTORS_PATIENCE_S": "0.2"}
    if away == "neo4j":
        with pytest.raises(Unavailable) as caught:
            platform(checkout, weaviate_server, **patience)
        assert caught.value.data()["backend"] == "neo4j"
    else:
        services = platform(checkout, neo4j_server, **patience)
        error = answer(services, "smp/locate", QUESTION)
        assert (error["code"], error["data"]["backend"]) == (-32014, "weaviate")
        assert answer(services, "smp/search", {"query": "tenth"})["total"] == 1
    assert not list((checkout / ".smp").glob("*.db"))


def test_the_embedded_profile_loads_no_client_of_a_server(checkout: Path) -> None:
    code = (
        "import sys, pathlib; from smp.bootstrap import build_platform; from smp.settings import load_settings;"
        "s = build_platform(load_settings(pathlib.Path(sys.argv[1]), environ={})); s.indexer.ensure_fresh();"
        "s.vectors.count('nodes'); s.session_store.active();"
        "print([name for name in ('neo4j', 'weaviate') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(checkout)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("client", "ask"), [("neo4j", "s.graph.size()"), ("weaviate", "s.vectors.count('nodes')")])
def test_a_client_that_is_not_installed_is_named_with_the_way_to_get_it(checkout: Path, client: str, ask: str) -> None:
    store = {"neo4j": "SMP_GRAPH_STORE", "weaviate": "SMP_VECTORS_STORE"}[client]
    code = (
        f"import sys, pathlib; sys.modules[{client!r}] = None; from smp.bootstrap import build_platform;"
        f"from smp.settings import load_settings; from smp.domain.errors import Unavailable\n"
        f"try:\n s = build_platform(load_settings(pathlib.Path(sys.argv[1]), environ={{{store!r}: {client!r}}})); {ask}\n"
        "except Unavailable as error: print(error.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(checkout)], capture_output=True, text=True, check=True)
    assert "pip install 'smp[server]'" in done.stdout


@pytest.fixture
def outage() -> Iterator[Outage]:
    with counted() as one:
        yield one


def run_all(works: list[Callable[[], None]]) -> tuple[list[threading.Thread], list[BaseException]]:
    failed: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except Unavailable as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    return threads, failed


def test_neo4j_killed_under_load_loses_nothing_and_doubles_nothing(
    neo4j_server: TestServer, neo4j: GraphSettings, build: Any, outage: Outage
) -> None:
    patient, repository = msgspec.structs.replace(neo4j, patience_s=150), uuid.uuid4().hex
    database = Neo4jDatabase(patient, repository)
    sessions, notifier, graph = Neo4jSessionStore(database), Neo4jNotifier(database), Neo4jGraphStore(database)
    hasty = Neo4jGraphStore(Neo4jDatabase(msgspec.structs.replace(neo4j, patience_s=0.2), repository))
    f, g = build.function("a.py", "f"), build.function("a.py", "g")
    graph.apply(build.delta(build.part("a.py", [f, g])))
    session = sessions.insert(a_session(), AuditEvent(seq=0, at=NOW, method="open"))
    under_way = threading.Semaphore(0)

    def write() -> None:
        for _ in range(ROUNDS):
            outage.call(lambda: sessions.append(session.id, AuditEvent(seq=0, at=NOW, method="step")))
            outage.call(lambda: notifier.publish(ConflictDetected(file=FilePath("a.py"))))
            outage.call(lambda: graph.observe_calls([build.edge("CALLS_RUNTIME", f, g, call_count=1)]))
            under_way.release()

    threads, failed = run_all([write] * WRITERS)
    for _ in range(WRITERS * 3):
        under_way.acquire()
    neo4j_server.kill()
    with pytest.raises(Unavailable, match="Neo4j at bolt"):
        outage.call(lambda: hasty.nodes([f.id]))
    neo4j_server.up()
    for thread in threads:
        thread.join(200)
    outage.report("Neo4j")
    assert (outage.calls, outage.refused) == (3 * ROUNDS * WRITERS + 1, 1)
    assert 1 <= outage.waited <= outage.tried_again
    events = sessions.events(session.id)
    assert failed == []
    assert (len(events), verify(events)) == (1 + ROUNDS * WRITERS, None)
    assert len(notifier.after(0)) == ROUNDS * WRITERS
    assert graph.edges([f.id])[0].call_count == ROUNDS * WRITERS
    assert hasty.nodes([f.id]) == (f,)
    for store in (graph, hasty):
        store.close()


def test_weaviate_killed_under_load_loses_nothing_and_doubles_nothing(
    weaviate_server: TestServer, weaviate: VectorsSettings, outage: Outage
) -> None:
    repository = uuid.uuid4().hex
    index = WeaviateVectorIndex(msgspec.structs.replace(weaviate, patience_s=150), repository, "m")
    hasty = WeaviateVectorIndex(msgspec.structs.replace(weaviate, patience_s=0.2), repository, "m")
    vector = np.array([[0.6, 0.8]], dtype=np.float32)
    index.upsert("nodes", ("first",), vector, ("h",))
    assert hasty.count("nodes") == 1
    under_way = threading.Semaphore(0)

    def write(writer: int) -> None:
        for number in range(ROUNDS):
            outage.call(partial(index.upsert, "nodes", (f"{writer}-{number}",), vector, ("h",)))
            under_way.release()

    threads, failed = run_all([lambda: write(0), lambda: write(1), lambda: write(2)])
    for _ in range(10):
        under_way.acquire()
    weaviate_server.kill()
    with pytest.raises(Unavailable, match="Weaviate at http"):
        outage.call(lambda: hasty.nearest("nodes", vector[0], k=1))
    weaviate_server.up()
    for thread in threads:
        thread.join(200)
    outage.report("Weaviate")
    assert (outage.calls, outage.refused) == (3 * ROUNDS + 1, 1)
    assert 1 <= outage.waited <= outage.tried_again
    assert failed == []
    assert index.count("nodes") == 1 + 3 * ROUNDS
    assert len(hasty.hashes("nodes")) == 1 + 3 * ROUNDS
    for one in (index, hasty):
        one.close()
