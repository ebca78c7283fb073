"""The editing context of a file, roles and risk."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from smp.adapters.memory import MemoryStore
from smp.domain.ids import FilePath, NodeId
from smp.domain.queries import FileContext
from smp.domain.telemetry import NodeChange
from smp.query.attention import attention
from smp.query.context import HotRule, file_context
from smp.query.resolve import resolve_file
from smp.query.roles import in_api_layer, risk_level

GraphOf = Callable[[str], MemoryStore]
HOT = HotRule(since="2026-01-01T00:00:00Z", min_changes=2, min_callers=2)

SHOP = """
package src
package src/api
package src/api/v1
file src/auth.py lines=40
function src/auth.py#check complexity=9 exported params=email:str,password:str returns=Token
function src/auth.py#check.inner complexity=2
class src/auth.py#Session exported
function src/auth.py#Session.refresh complexity=1
function src/auth.py#_hidden complexity=2
file src/db.py
function src/db.py#find returns=Row exported
file src/api/routes.py
function src/api/routes.py#login decorators=@app.post("/login")
file src/api/other.py
file src/api/v1/users.py
file src/admin.py
file tests/test_auth.py role=test
test tests/test_auth.py#test_check
src/auth.py IMPORTS src/db.py items=find
src/admin.py IMPORTS src/db.py
src/admin.py IMPORTS src/auth.py
src/admin.py DEFINES src/db.py#find
src/api/routes.py IMPORTS src/auth.py items=check
src/api/other.py IMPORTS src/api/routes.py
tests/test_auth.py IMPORTS src/auth.py
src/auth.py#check CALLS_STATIC src/db.py#find
src/auth.py#check CALLS_STATIC src/auth.py#_hidden
src/api/routes.py#login CALLS_STATIC src/auth.py#check
tests/test_auth.py#test_check CALLS_STATIC src/auth.py#check
tests/test_auth.py#test_check TESTS src/auth.py#check
"""


@pytest.fixture
def store(graph_of: GraphOf) -> MemoryStore:
    return graph_of(SHOP)


def context(store: MemoryStore, ref: str, *, depth: int = 1) -> FileContext:
    return file_context(store, store, resolve_file(store, ref, path="file_path"), hot=HOT, depth=depth)


def test_importers_are_the_blast_radius(store: MemoryStore) -> None:
    found = context(store, "src/auth.py")
    assert found.imported_by == ("src/admin.py", "src/api/routes.py", "tests/test_auth.py")
    assert found.summary.blast_radius == 3
    assert [(item.file, item.items) for item in found.imports] == [("src/db.py", ("find",))]


def test_files_that_depend_further_away_are_reached_by_depth(store: MemoryStore) -> None:
    assert [(item.file, item.depth) for item in context(store, "src/auth.py", depth=2).reach][-1] == (
        "src/api/other.py",
        2,
    )
    assert "src/api/other.py" not in {item.file for item in context(store, "src/auth.py").reach}


def test_the_api_layer_is_counted(store: MemoryStore) -> None:
    summary = context(store, "src/auth.py").summary
    assert (summary.api_layer_callers, summary.api_layer_total) == (1, 3)


def test_complexity_counts_every_function(store: MemoryStore) -> None:
    summary = context(store, "src/auth.py").summary
    assert (summary.avg_complexity, summary.max_complexity, summary.risk_level) == (3.5, 9, "low")


def test_functions_nested_in_functions_are_not_listed(store: MemoryStore) -> None:
    found = context(store, "src/auth.py")
    assert {item.name for item in found.functions} == {"check", "Session.refresh", "_hidden"}
    assert [(item.name, item.method_count) for item in found.classes] == [("Session", 1)]


def test_tests_are_files_with_a_tests_edge(store: MemoryStore) -> None:
    summary = context(store, "src/auth.py").summary
    assert (summary.has_tests, summary.test_files) == (True, ("tests/test_auth.py",))
    assert context(store, "tests/test_auth.py").summary.test_files == ()


def test_entry_points_are_called_from_outside_or_exported_and_uncalled(store: MemoryStore) -> None:
    assert context(store, "src/auth.py").entry_points == ("function:src/auth.py#check",)
    assert context(store, "src/api/routes.py").entry_points == ("function:src/api/routes.py#login",)


def test_data_flows_in_by_parameters_and_out_by_returns(store: MemoryStore) -> None:
    found = context(store, "src/auth.py")
    assert [(item.other, item.via, item.carries) for item in found.data_flow_in] == [
        ("src/api/routes.py", "login", "str, str"),
        ("tests/test_auth.py", "test_check", "str, str"),
    ]
    assert [(item.other, item.via, item.carries) for item in found.data_flow_out] == [("src/db.py", "find", "Row")]


def test_similar_files_import_the_same(store: MemoryStore) -> None:
    assert [
        (item.file, item.shared_imports, item.shared_node_types)
        for item in context(store, "src/auth.py").structurally_similar
    ] == [("src/admin.py", 1, ("Function",))]


def test_a_file_is_as_hot_as_its_hottest_definition(store: MemoryStore) -> None:
    store.record(
        NodeChange(node_id=NodeId("function:src/auth.py#check"), event="modified", at=f"2026-02-0{day}T00:00:00Z")
        for day in (1, 2)
    )
    summary = context(store, "src/auth.py").summary
    assert (summary.heat_score, summary.is_hot_node) == (4, True)
    assert context(store, "src/db.py").summary.heat_score == 0


@pytest.mark.parametrize(
    ("graph", "file", "role"),
    [
        ("file tests/test_a.py\n", "tests/test_a.py", "test"),
        ("file src/spec/a.py\n", "src/spec/a.py", "test"),
        ("file checks.py\ntest checks.py#t\n", "checks.py", "test"),
        ("config a.toml\n", "a.toml", "config"),
        ('file src/a.py\nfunction src/a.py#f decorators=@router.get("/")\n', "src/a.py", "endpoint"),
        ("file src/routes/a.py\n", "src/routes/a.py", "endpoint"),
        ("file src/a.py\nfunction src/a.py#f decorators=@getter\n", "src/a.py", "isolated"),
        ("file src/a.py\nfunction src/a.py#f exported\n", "src/a.py", "module"),
        (
            "file src/services/a.py\nfile b.py\nb.py IMPORTS src/services/a.py\nsrc/services/a.py IMPORTS b.py\n",
            "src/services/a.py",
            "service",
        ),
        ("file src/services/a.py\nfile b.py\nb.py IMPORTS src/services/a.py\n", "src/services/a.py", "module"),
        (
            "file src/utils/a.py\n" + "".join(f"file b{n}.py\nb{n}.py IMPORTS src/utils/a.py\n" for n in range(6)),
            "src/utils/a.py",
            "core_utility",
        ),
    ],
)
def test_roles_follow_paths_decorators_and_imports(graph_of: GraphOf, graph: str, file: str, role: str) -> None:
    assert context(graph_of(graph), file).summary.role == role


@pytest.mark.parametrize(
    ("importers", "complexity", "risk"),
    [(3, 4.0, "low"), (4, 0.0, "medium"), (0, 4.1, "medium"), (10, 8.0, "medium"), (11, 0.0, "high"), (0, 8.1, "high")],
)
def test_risk_rises_above_each_limit(importers: int, complexity: float, risk: str) -> None:
    assert risk_level(importers=importers, avg_complexity=complexity) == risk


def test_the_api_layer_goes_by_folders_not_by_file_names() -> None:
    assert in_api_layer(FilePath("src/api/users.py"))
    assert not in_api_layer(FilePath("src/rapid/api.py"))


def test_attention_goes_to_open_calls_missing_tests_and_latest_changes(graph_of: GraphOf) -> None:
    store = graph_of("""
        file a.py
        function a.py#f
        function a.py#g
        file tests/test_a.py role=test
        test tests/test_a.py#t
        function tests/test_a.py#helper
        tests/test_a.py#t TESTS a.py#f
        a.py#g CALLS_UNRESOLVED ? name=run reason=dynamic line=7
        a.py#g CALLS_UNRESOLVED ? name=print reason=external
    """)
    store.record(
        NodeChange(node_id=NodeId(f"function:a.py#{name}"), event="modified", at=f"2026-02-0{day}T00:00:00Z")
        for name, day in (("f", 1), ("g", 2))
    )
    found = attention(store, store, resolve_file(store, "a.py", path="file_path"))
    assert [(call.to_name, call.lines) for call in found.unresolved] == [("run", (7,))]
    assert found.without_direct_test == ("function:a.py#g",)
    assert [change.node_id for change in found.recent_changes] == ["function:a.py#g", "function:a.py#f"]
    assert attention(store, store, resolve_file(store, "tests/test_a.py", path="f")).without_direct_test == ()
