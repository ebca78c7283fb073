"""Node references, paths and scopes as callers write them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from smp.adapters.memory import MemoryStore
from smp.domain.errors import Invalid, NodeNotFound
from smp.domain.graph import Scope
from smp.query.resolve import resolve_file, resolve_node, resolve_path, resolve_scope

GraphOf = Callable[[str], MemoryStore]

SHOP = r"""
package src
package pkg
file pkg/mod.py
function pkg/mod.py#f
file src/cart.py
class src/cart.py#Cart
function src/cart.py#Cart.total
function src/cart.py#save
file src/store.py
function src/store.py#save
function src/store.py#Store.save
class src/store.py#Store
"""


@pytest.fixture
def store(graph_of: GraphOf) -> MemoryStore:
    return graph_of(SHOP)


@pytest.mark.parametrize(
    "ref",
    ["function:src/cart.py#Cart.total", "src/cart.py#Cart.total", "./src//cart.py#Cart.total", "Cart.total", "total"],
)
def test_one_node_has_many_names(store: MemoryStore, ref: str) -> None:
    assert resolve_node(store, ref, path="query").id == "function:src/cart.py#Cart.total"


@pytest.mark.parametrize(
    "ref", ["pkg/mod.py", "./pkg/mod.py", "pkg\\mod.py", "pkg//mod.py", "pkg/../pkg/mod.py", "file:./pkg/mod.py"]
)
def test_every_spelling_of_a_path_means_the_same_file(store: MemoryStore, ref: str) -> None:
    assert resolve_node(store, ref, path="query").id == "file:pkg/mod.py"


def test_a_package_is_named_by_its_path(store: MemoryStore) -> None:
    assert resolve_node(store, "src", path="query").id == "package:src"
    assert resolve_node(store, "./src/", path="query").id == "package:src"


@pytest.mark.parametrize("ref", ["pkg/none.py", "no_such", "src/cart.py#nothing"])
def test_what_is_not_there_is_not_found(store: MemoryStore, ref: str) -> None:
    with pytest.raises(NodeNotFound) as caught:
        resolve_node(store, ref, path="query")
    assert caught.value.candidates == ()


@pytest.mark.parametrize(
    ("ref", "meant"), [("PKG/MOD.PY", "pkg/mod.py"), ("./pkg/Mod.py#f", "pkg/mod.py#f"), ("pkg/mod.py#g", None)]
)
def test_another_letter_case_is_an_error_that_names_the_file(store: MemoryStore, ref: str, meant: str | None) -> None:
    with pytest.raises(NodeNotFound) as caught:
        resolve_node(store, ref, path="query")
    assert caught.value.data().get("did_you_mean") == meant


@pytest.mark.parametrize("ref", ["../outside.py", "/etc/passwd", "src/../../x.py#f", "..\\outside.py"])
def test_a_path_that_leaves_the_repository_is_refused(store: MemoryStore, ref: str) -> None:
    with pytest.raises(Invalid) as caught:
        resolve_node(store, ref, path="start")
    assert caught.value.path == "start"


def test_an_ambiguous_name_lists_every_definition(store: MemoryStore) -> None:
    with pytest.raises(NodeNotFound) as caught:
        resolve_node(store, "save", path="query")
    assert set(caught.value.candidates) == {
        "function:src/cart.py#save",
        "function:src/store.py#save",
        "function:src/store.py#Store.save",
    }


def test_a_definition_stands_for_its_file(store: MemoryStore) -> None:
    assert resolve_file(store, "Cart.total", path="file_path").id == "file:src/cart.py"


def test_a_package_is_no_file(store: MemoryStore) -> None:
    with pytest.raises(Invalid, match="name a file"):
        resolve_file(store, "src", path="file_path")


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("full", Scope()),
        ("package:src", Scope(kind="package", prefix="src")),
        ("package:./src/", Scope(kind="package", prefix="src")),
        ("package:.", Scope()),
        ("file:src/cart.py", Scope(kind="file", prefix="src/cart.py")),
        ("file:src\\cart.py", Scope(kind="file", prefix="src/cart.py")),
    ],
)
def test_scopes_are_normalised(store: MemoryStore, text: str, scope: Scope) -> None:
    assert resolve_scope(store, text) == scope


@pytest.mark.parametrize("text", ["package:no/such", "file:no/such.py", "file:src"])
def test_a_scope_without_content_is_not_found(store: MemoryStore, text: str) -> None:
    with pytest.raises(NodeNotFound):
        resolve_scope(store, text)


def test_a_scope_outside_the_repository_is_refused(store: MemoryStore) -> None:
    with pytest.raises(Invalid):
        resolve_scope(store, "package:../other")


def test_a_new_file_may_be_named_but_no_folder() -> None:
    assert resolve_path("./a//new.py", path="file_path") == "a/new.py"
    with pytest.raises(Invalid, match="folder"):
        resolve_path("src/", path="file_path")
