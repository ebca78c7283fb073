"""Which test files guard a change."""

from __future__ import annotations

from collections.abc import Callable

from smp.adapters.memory import MemoryStore
from smp.domain.ids import FilePath
from smp.query.tested_by import guarding_tests, is_test_file

GRAPH = """
file src/a.py
function src/a.py#f
function src/a.py#g
file src/b.py
function src/b.py#h
file src/constants.py
file tests/test_a.py
test tests/test_a.py#test_f
file tests/test_more.py
test tests/test_more.py#test_g
tests/test_a.py#test_f TESTS src/a.py#f line=1
tests/test_more.py#test_g TESTS src/a.py#g line=1
"""
GraphOf = Callable[[str], MemoryStore]
A, B, CONSTANTS = FilePath("src/a.py"), FilePath("src/b.py"), FilePath("src/constants.py")
TEST_A, TEST_MORE = FilePath("tests/test_a.py"), FilePath("tests/test_more.py")


def test_every_test_file_that_reaches_the_code_guards_it(graph_of: GraphOf) -> None:
    found = guarding_tests(graph_of(GRAPH), [A])
    assert found.pairs == ((A, TEST_A), (A, TEST_MORE))
    assert found.untested == ()


def test_tests_that_come_with_the_change_are_the_proof_that_is_offered(graph_of: GraphOf) -> None:
    assert guarding_tests(graph_of(GRAPH), [A, TEST_MORE]).pairs == ((A, TEST_MORE),)


def test_a_changed_test_that_does_not_reach_the_code_proves_nothing_about_it(graph_of: GraphOf) -> None:
    found = guarding_tests(graph_of(GRAPH), [B, TEST_A])
    assert (found.pairs, found.untested) == ((), (B,))


def test_files_without_functions_and_deleted_files_need_no_guard(graph_of: GraphOf) -> None:
    found = guarding_tests(graph_of(GRAPH), [CONSTANTS, FilePath("src/gone.py"), TEST_A])
    assert (found.pairs, found.untested) == ((), ())


def test_the_order_of_the_change_does_not_matter(graph_of: GraphOf) -> None:
    graph = graph_of(GRAPH)
    assert guarding_tests(graph, [A, B, TEST_A]) == guarding_tests(graph, [TEST_A, B, A, A])


def test_test_files_are_told_by_the_graph(graph_of: GraphOf) -> None:
    graph = graph_of(GRAPH)
    assert [path for path in (A, TEST_A, FilePath("nowhere.py")) if is_test_file(graph, path)] == [TEST_A]
