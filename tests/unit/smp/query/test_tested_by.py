"""Which test files guard a change."""

from __future__ import annotations

from collections.abc import Callable

from smp.adapters.memory import MemoryStore
from smp.domain.ids import FilePath, mint_node_id
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
TWO = """
file src/a.py
function src/a.py#f line=1 end=3
function src/a.py#g line=4 end=6
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


def whole(*files: FilePath) -> dict[FilePath, frozenset[int] | None]:
    return dict.fromkeys(files)


def test_every_test_file_that_reaches_the_code_guards_it(graph_of: GraphOf) -> None:
    found = guarding_tests(graph_of(GRAPH), whole(A))
    assert found.pairs == ((A, TEST_A), (A, TEST_MORE))
    assert found.untested == ()


def test_tests_that_come_with_the_change_are_the_proof_that_is_offered(graph_of: GraphOf) -> None:
    assert guarding_tests(graph_of(GRAPH), whole(A, TEST_MORE)).pairs == ((A, TEST_MORE),)


def test_a_changed_test_that_does_not_reach_the_code_proves_nothing_about_it(graph_of: GraphOf) -> None:
    found = guarding_tests(graph_of(GRAPH), whole(B, TEST_A))
    assert (found.pairs, found.untested) == ((), (B,))


def test_files_without_functions_and_deleted_files_need_no_guard(graph_of: GraphOf) -> None:
    found = guarding_tests(graph_of(GRAPH), whole(CONSTANTS, FilePath("src/gone.py"), TEST_A))
    assert (found.pairs, found.untested) == ((), ())


def test_the_order_of_the_change_does_not_matter(graph_of: GraphOf) -> None:
    graph = graph_of(GRAPH)
    assert guarding_tests(graph, whole(A, B, TEST_A)) == guarding_tests(graph, whole(TEST_A, B, A, A))


def test_test_files_are_told_by_the_graph(graph_of: GraphOf) -> None:
    graph = graph_of(GRAPH)
    assert [path for path in (A, TEST_A, FilePath("nowhere.py")) if is_test_file(graph, path)] == [TEST_A]


def test_only_functions_that_were_touched_choose_their_tests(graph_of: GraphOf) -> None:
    graph = graph_of(TWO)
    assert guarding_tests(graph, {A: frozenset({2})}).pairs == ((A, TEST_A),)
    assert guarding_tests(graph, {A: frozenset({5})}).pairs == ((A, TEST_MORE),)
    assert guarding_tests(graph, {A: frozenset({9})}).pairs == ((A, TEST_A), (A, TEST_MORE))


def test_tests_offered_with_the_change_need_not_be_judged_themselves(graph_of: GraphOf) -> None:
    assert guarding_tests(graph_of(GRAPH), whole(A), offered=[TEST_MORE]).pairs == ((A, TEST_MORE),)


THROUGH = """
file src/a.py
function src/a.py#deep
file src/b.py
function src/b.py#middle
function src/b.py#top
file tests/test_top.py
test tests/test_top.py#test_top
file tests/test_middle.py
test tests/test_middle.py#test_middle
src/b.py#middle CALLS_STATIC src/a.py#deep line=1
src/a.py#deep CALLS_STATIC src/a.py#deep line=2
src/b.py#top CALLS_STATIC src/b.py#middle line=2
tests/test_top.py#test_top TESTS src/b.py#top line=1
tests/test_middle.py#test_middle TESTS src/b.py#middle line=1
"""


def test_where_no_test_calls_the_code_those_count_that_reach_it_in_the_fewest_steps(graph_of: GraphOf) -> None:
    assert guarding_tests(graph_of(THROUGH), whole(A)).pairs == ((A, FilePath("tests/test_middle.py")),)


def test_an_offered_test_counts_at_any_distance(graph_of: GraphOf) -> None:
    top = FilePath("tests/test_top.py")
    assert guarding_tests(graph_of(THROUGH), whole(A, top)).pairs == ((A, top),)


def test_a_traced_run_says_which_tests_reach_the_code_nearest_first(graph_of: GraphOf) -> None:
    graph = graph_of(THROUGH)
    deep, middle, top = (
        mint_node_id("function", *name) for name in (("src/a.py", "deep"), ("src/b.py", "middle"), ("src/b.py", "top"))
    )
    by_top, by_middle = (mint_node_id("test", f"tests/test_{name}.py", f"test_{name}") for name in ("top", "middle"))
    seen = {deep: [middle, deep], middle: [top, by_middle], top: [by_top]}
    expected = tuple((A, FilePath(f"tests/test_{name}.py")) for name in ("middle", "top"))
    assert guarding_tests(graph, whole(A), seen=seen).pairs == expected
    assert guarding_tests(graph, whole(A), seen={deep: [top], top: [by_top]}).pairs == expected[1:]
