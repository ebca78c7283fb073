"""Export here, import there: the index that comes of it is the one that indexing the tree gives."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smp.adapters.clock_system import SystemClock
from smp.adapters.graph_sqlite import SqliteGraphStore
from smp.adapters.keys_directory import DirectoryKeyring
from smp.adapters.snapshots_directory import DirectorySnapshotStore
from smp.domain.errors import Invalid, NodeNotFound, SignatureInvalid, SnapshotInvalid, Unavailable
from smp.domain.graph import Edge, EdgeKind, Scope
from smp.domain.ids import CommitSha, FilePath, NodeId
from smp.domain.metadata import Enrichment
from smp.indexing.distribution import SnapshotService
from smp.indexing.pipeline import FileChange, Indexer
from smp.settings import load_settings

MakeBench = Callable[[str], Any]
FILES = {
    "a_py": "def f:\n  g()\n",
    "pkg__b_py": "def g:\n  h()\n  gone()\n",
    "pkg__c_py": "def h:\n",
    "pyproject_toml": '[project]\nname = "shop"\n',
}
F, G, H = NodeId("function:a.py#f"), NodeId("function:pkg/b.py#g"), NodeId("function:pkg/c.py#h")


def service(bench: Any, indexer: Indexer | None = None, store: SqliteGraphStore | None = None) -> SnapshotService:
    options = load_settings(bench.root, environ={})
    graph = store or bench.store
    return SnapshotService(
        clock=SystemClock(),
        indexer=indexer or bench.indexer,
        cache=graph,
        graph=graph,
        metadata=graph,
        store=DirectorySnapshotStore(options),
        keyring=DirectoryKeyring(options),
    )


def carry(source: Any, target: Any, snapshot_id: str) -> None:
    """Bring a snapshot, and the keys that are trusted there, to another server."""
    for folder, pattern in (("snapshots", f"{snapshot_id}.tar.zst"), ("keys", "*.pub")):
        there = target.root / ".smp" / folder
        there.mkdir(parents=True, exist_ok=True)
        for path in (source.root / ".smp" / folder).glob(pattern):
            (there / path.name).write_bytes(path.read_bytes())


def everything(store: SqliteGraphStore) -> dict[str, object]:
    """What an index holds, times and ranks left out."""
    hashes = store.file_hashes()
    nodes = {node.id: node for node in store.scan(Scope()) if not node.id.startswith("community:")}
    kinds = tuple(kind for kind in EdgeKind if kind not in (EdgeKind.MEMBER_OF, EdgeKind.BRIDGES, EdgeKind.CHILD_OF))
    return {
        "hashes": hashes,
        "nodes": nodes,
        "edges": list(store.scan_edges(Scope(), kinds)),
        "analyses": store.blobs("analysis", hashes),
        "counts": store.blobs("node_count", hashes),
        "digests": store.blobs("link_digest", hashes),
        "annotations": {
            one: (value.description, value.tags, value.manually_set, value.source_hash)
            for one, value in store.enrichments(nodes).items()
        },
    }


def no_link(*_: object, **__: object) -> Any:
    raise AssertionError("nothing is to be linked")


def test_an_equal_tree_is_taken_over_without_reading_or_linking_anything(make_bench: MakeBench) -> None:
    here, there = make_bench("here"), make_bench("there")
    here.write(**FILES)
    there.write(**FILES)
    made = service(here).export(Scope())
    carry(here, there, made.manifest.snapshot_id)
    store, indexer = there.another_process(link=no_link)
    done = service(there, indexer, store).take_over(made.manifest.snapshot_id, expected_root_hash=indexer.wanted_root())
    assert (done.diverging_packages, done.re_indexed, done.signature_verified) == ((), (), True)
    assert (done.nodes, done.edges) == (made.manifest.node_count, made.manifest.edge_count)
    assert everything(store) == everything(here.store)
    assert indexer.merkle() == here.indexer.merkle()
    assert indexer.state().stale == ()


def test_what_was_taken_over_is_indexed_on_like_any_other(make_bench: MakeBench) -> None:
    here, there = make_bench("here"), make_bench("there")
    here.write(**FILES)
    there.write(**FILES)
    made = service(here).export(Scope())
    carry(here, there, made.manifest.snapshot_id)
    service(there).take_over(made.manifest.snapshot_id)
    for bench in (here, there):
        bench.write(pkg__c_py="def renamed:\n")
        bench.indexer.ensure_fresh()
    assert everything(there.store) == everything(here.store)


def test_the_working_tree_wins_where_it_differs(make_bench: MakeBench) -> None:
    here, there = make_bench("here"), make_bench("there")
    here.write(**FILES, old__d_py="def only_there:\n")
    there.write(**(FILES | {"pkg__b_py": "def g2:\n  h()\n", "new_py": "def gone:\n"}))
    made = service(here).export(Scope())
    carry(here, there, made.manifest.snapshot_id)
    done = service(there).take_over(made.manifest.snapshot_id, expected_root_hash=made.manifest.root_hash)
    assert (done.diverging_packages, done.re_indexed) == ((".", "old", "pkg"), ("new.py", "pkg/b.py"))
    assert 0 < done.nodes < made.manifest.node_count
    assert 0 < done.edges < made.manifest.edge_count
    fresh = make_bench("fresh")
    fresh.write(**(FILES | {"pkg__b_py": "def g2:\n  h()\n", "new_py": "def gone:\n"}))
    fresh.indexer.refresh()
    assert everything(there.store) == everything(fresh.store)


def test_a_package_is_taken_over_and_the_rest_comes_from_the_tree(make_bench: MakeBench) -> None:
    here, there = make_bench("here"), make_bench("there")
    here.write(**FILES)
    there.write(**(FILES | {"a_py": "def other:\n  h()\n"}))
    made = service(here).export(Scope(kind="package", prefix="pkg"))
    assert (made.manifest.scope, made.manifest.root_hash) == ("package:pkg", here.indexer.merkle().hash)
    assert made.manifest.node_count == 5  # the package, two files, two functions
    carry(here, there, made.manifest.snapshot_id)
    done = service(there).take_over(made.manifest.snapshot_id)
    assert (done.diverging_packages, done.re_indexed) == ((), ("a.py", "pyproject.toml"))
    assert (done.nodes, done.edges) == (made.manifest.node_count, made.manifest.edge_count)
    fresh = make_bench("fresh")
    fresh.write(**(FILES | {"a_py": "def other:\n  h()\n"}))
    fresh.indexer.refresh()
    assert everything(there.store) == everything(fresh.store)


def test_a_package_that_is_not_there_is_not_found(bench: Any) -> None:
    bench.write(**FILES)
    with pytest.raises(NodeNotFound):
        service(bench).export(Scope(kind="package", prefix="pk"))


def test_pushed_content_is_exported_and_stands_against_a_snapshot(make_bench: MakeBench) -> None:
    here, there = make_bench("here"), make_bench("there")
    here.write(**FILES)
    there.write(**FILES)
    here.indexer.update([FileChange(path=FilePath("pkg/c.py"), content=b"def pushed:\n", change_type="modified")])
    there.indexer.update([FileChange(path=FilePath("a.py"), content=b"def mine:\n", change_type="modified")])
    made = service(here).export(Scope())
    carry(here, there, made.manifest.snapshot_id)
    done = service(there).take_over(made.manifest.snapshot_id)
    assert (done.diverging_packages, done.re_indexed) == ((".", "pkg"), ("a.py", "pkg/c.py"))
    assert [node.id for node in there.store.find("mine")] == ["function:a.py#mine"]
    assert there.store.find("pushed") == ()


def observed(source: NodeId, target: NodeId, count: int) -> Edge:
    return Edge(
        kind=EdgeKind.CALLS_RUNTIME, source=source, target=target, call_count=count, commit_sha=CommitSha("c" * 40)
    )


def runtime_calls(store: SqliteGraphStore) -> dict[tuple[str, str | None], int]:
    edges: Iterable[Edge] = store.scan_edges(Scope(), (EdgeKind.CALLS_RUNTIME,))
    return {(edge.source, edge.target): edge.call_count for edge in edges}


def test_observed_calls_come_along_once_and_what_is_on_record_keeps_its_count(make_bench: MakeBench) -> None:
    here, there = make_bench("here"), make_bench("there")
    for bench in (here, there):
        bench.write(**FILES)
        bench.indexer.refresh()
    here.store.observe_calls([observed(F, G, 2), observed(G, H, 3)])
    there.store.observe_calls([observed(G, H, 5)])
    made = service(here).export(Scope())
    carry(here, there, made.manifest.snapshot_id)
    for _ in range(2):
        done = service(there).take_over(made.manifest.snapshot_id)
        assert runtime_calls(there.store) == {(F, G): 2, (G, H): 5}
        assert (done.nodes, done.edges) == (made.manifest.node_count, made.manifest.edge_count)


def test_what_was_written_there_comes_along_and_what_was_written_here_stands(make_bench: MakeBench) -> None:
    here, there = make_bench("here"), make_bench("there")
    for bench in (here, there):
        bench.write(**FILES)
        bench.indexer.refresh()
    here.store.put_enrichments(
        {one: Enrichment(description="theirs", tags=("t",), manually_set=True) for one in (F, G)}
    )
    own = msgspec.structs.replace(there.store.enrichments([F])[F], description="mine", manually_set=True)
    there.store.put_enrichments({F: own})
    made = service(here).export(Scope())
    carry(here, there, made.manifest.snapshot_id)
    service(there).take_over(made.manifest.snapshot_id)
    found = there.store.enrichments([F, G, H])
    assert [(found[one].description, found[one].tags) for one in (F, G, H)] == [
        ("mine", ()),
        ("theirs", ("t",)),
        (None, ()),
    ]


def test_the_own_snapshot_changes_nothing(bench: Any) -> None:
    bench.write(**FILES)
    made = service(bench).export(Scope())
    before = everything(bench.store), bench.indexer.merkle()
    done = service(bench).take_over(made.manifest.snapshot_id, expected_root_hash=made.manifest.root_hash[:8])
    assert (done.re_indexed, done.diverging_packages) == ((), ())
    assert (done.nodes, done.edges) == (made.manifest.node_count, made.manifest.edge_count)
    assert (everything(bench.store), bench.indexer.merkle()) == before


def test_a_root_that_nobody_has_is_refused_before_anything_changes(make_bench: MakeBench) -> None:
    here, there = make_bench("here"), make_bench("there")
    here.write(**FILES)
    there.write(a_py="def f:\n")
    made = service(here).export(Scope())
    carry(here, there, made.manifest.snapshot_id)
    with pytest.raises(SnapshotInvalid, match="neither"):
        service(there).take_over(made.manifest.snapshot_id, expected_root_hash="0" * 8)
    assert there.store.file_hashes() == {}
    assert (
        service(there).take_over(made.manifest.snapshot_id, expected_root_hash=there.indexer.wanted_root()).re_indexed
    )


def test_a_stranger_is_not_believed_until_its_key_is_trusted(make_bench: MakeBench) -> None:
    here, there = make_bench("here"), make_bench("there")
    here.write(**FILES)
    there.write(**FILES)
    made = service(here).export(Scope())
    carry(here, there, made.manifest.snapshot_id)
    (public,) = (there.root / ".smp" / "keys").glob("*.pub")
    body = public.read_bytes()
    public.unlink()
    with pytest.raises(SignatureInvalid) as caught:
        service(there).take_over(made.manifest.snapshot_id)
    assert caught.value.fields == {"snapshot_id": made.manifest.snapshot_id, "key_id": made.manifest.key_id}
    assert there.store.file_hashes() == {}
    public.write_bytes(body)
    assert service(there).take_over(made.manifest.snapshot_id).signature_verified


def test_without_verification_a_stranger_is_taken_over_and_said_so(make_bench: MakeBench) -> None:
    here, there = make_bench("here"), make_bench("there")
    here.write(**FILES)
    there.write(**FILES)
    made = service(here).export(Scope())
    carry(here, there, made.manifest.snapshot_id)
    next((there.root / ".smp" / "keys").glob("*.pub")).unlink()
    done = service(there).take_over(made.manifest.snapshot_id, verify_signature=False)
    assert (done.signature_verified, done.nodes) == (False, made.manifest.node_count)


def test_an_unknown_signing_key_leaves_no_snapshot(bench: Any) -> None:
    bench.write(**FILES)
    with pytest.raises(Invalid) as caught:
        service(bench).export(Scope(), key_id="key_prod_01")
    assert caught.value.path == "signing_key_id"
    assert not list(Path(bench.root, ".smp").rglob("*.tar.zst"))


@pytest.mark.parametrize("write", ["apply", "put_enrichments", "observe_calls", "put_file_hashes", "put_blobs"])
def test_a_failure_on_the_way_leaves_the_index_as_it_was(
    make_bench: MakeBench, monkeypatch: pytest.MonkeyPatch, write: str
) -> None:
    """Whichever write fails: the next import starts from what was there, in this process as in another."""
    here, there = make_bench("here"), make_bench("there")
    here.write(**FILES)
    there.write(a_py="def f:\n")
    there.indexer.refresh()
    there.write(**FILES)
    made = service(here).export(Scope())
    carry(here, there, made.manifest.snapshot_id)
    before = everything(there.store)

    def fail(*_: object, **__: object) -> None:
        raise Unavailable("the disk is full", backend="graph.db")

    with monkeypatch.context() as patched:
        patched.setattr(there.store, write, fail)
        with pytest.raises(Unavailable):
            service(there).take_over(made.manifest.snapshot_id)
    assert everything(there.store) == before
    service(there).take_over(made.manifest.snapshot_id)
    assert everything(there.store) == everything(here.store)


paths = st.sampled_from(["a_py", "b_py", "pkg__a_py", "pkg__b_py", "pkg__sub__c_py"])
bodies = st.lists(
    st.tuples(st.sampled_from("fgh"), st.lists(st.sampled_from("fghx"), max_size=2)),
    max_size=3,
    unique_by=lambda d: d[0],
)
SERIAL = itertools.count()
trees = st.dictionaries(paths, bodies, max_size=4)


def text_of(body: list[tuple[str, list[str]]]) -> str:
    return "".join(f"def {name}:\n" + "".join(f"  {called}()\n" for called in calls) for name, calls in body)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(there_before=st.none() | trees, exported=trees, there_now=st.none() | trees)
def test_taking_over_any_snapshot_gives_what_indexing_the_tree_gives(
    make_bench: MakeBench, there_before: Any, exported: Any, there_now: Any
) -> None:
    """There: an empty store or an index of an older tree; then the exported tree or any other one."""
    serial = next(SERIAL)
    here, there, fresh = (make_bench(f"{name}{serial}") for name in ("here", "there", "fresh"))
    here.write(**{path: text_of(body) for path, body in exported.items()})
    if there_before is not None:
        there.write(**{path: text_of(body) for path, body in there_before.items()})
        there.indexer.refresh()
        for path in there_before:
            (there.root / there.path(path)).unlink()
    now = exported if there_now is None else there_now
    for bench in (there, fresh):
        bench.write(**{path: text_of(body) for path, body in now.items()})
    made = service(here).export(Scope())
    carry(here, there, made.manifest.snapshot_id)
    done = service(there).take_over(made.manifest.snapshot_id)
    fresh.indexer.refresh()
    assert everything(there.store) == everything(fresh.store)
    assert (not done.diverging_packages) == (made.manifest.root_hash == fresh.indexer.merkle().hash)
