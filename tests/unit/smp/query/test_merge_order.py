"""Branches in the order of what their files import; conflicts of pairs told once a file."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from smp.domain.ids import FilePath, SessionId
from smp.domain.queries import PlanStep, TaskPlan
from smp.domain.swarms import BranchClash, SwarmConflict, conflicts_of
from smp.query.merge_order import merge_order


def _plan(*files: tuple[str, tuple[int, ...]]) -> TaskPlan:
    """Files in order, each with the steps it depends on."""
    steps = tuple(
        PlanStep(
            step=number,
            file=FilePath(file),
            dependants_in_plan=0,
            dependencies_in_plan=len(needs),
            depends_on_steps=needs,
            blast_radius=0,
            is_hot_node=False,
            heat_score=0,
            risk_level="low",
            is_new_file=False,
        )
        for number, (file, needs) in enumerate(files, start=1)
    )
    return TaskPlan(execution_order=steps, inter_file_conflicts=(), external_files_at_risk=())


def _files(*names: str) -> tuple[FilePath, ...]:
    return tuple(FilePath(name) for name in names)


def test_what_others_import_is_merged_first_and_the_rest_by_number() -> None:
    plan = _plan(("base.py", ()), ("free.py", ()), ("top.py", (1,)))
    assert merge_order(plan, [_files("top.py"), _files("free.py"), _files("base.py")]) == (1, 2, 0)


def test_a_late_free_file_does_not_hold_back_the_branch_that_others_need() -> None:
    plan = _plan(("base.py", ()), ("top.py", (1,)), ("risky.py", ()))
    assert merge_order(plan, [_files("top.py"), _files("base.py", "risky.py")]) == (1, 0)


def test_branches_that_need_one_another_go_by_number() -> None:
    plan = _plan(("a.py", ()), ("b.py", (1,)), ("c.py", ()), ("d.py", (3,)))
    assert merge_order(plan, [_files("a.py", "d.py"), _files("b.py", "c.py")]) == (0, 1)


def test_a_branch_that_wrote_what_it_imports_itself_waits_for_nobody() -> None:
    plan = _plan(("a.py", ()), ("b.py", (1,)))
    assert merge_order(plan, [_files("a.py", "b.py"), _files("a.py")]) == (0, 1)


@given(st.lists(st.lists(st.integers(1, 6), max_size=3), max_size=7), st.data())
def test_every_branch_is_merged_once(written: list[list[int]], data: st.DataObject) -> None:
    needs = [tuple(data.draw(st.sets(st.integers(1, 6), max_size=3)) - {step}) for step in range(1, 7)]
    plan = _plan(*((f"{step}.py", needs[step - 1]) for step in range(1, 7)))
    order = merge_order(plan, [_files(*(f"{step}.py" for step in steps)) for steps in written])
    assert sorted(order) == list(range(len(written)))


A, B, C, D = (SessionId(name) for name in "abcd")


def _clash(one: SessionId, other: SessionId, *files: str) -> BranchClash:
    return BranchClash(sessions=(one, other), files=_files(*files))


def test_a_chain_of_clashes_in_a_file_is_one_conflict_in_merge_order() -> None:
    clashes = (_clash(A, B, "x.py"), _clash(C, D, "x.py"), _clash(B, C, "x.py"))
    assert conflicts_of(clashes, (D, C, B, A)) == (SwarmConflict(file=FilePath("x.py"), sessions=(D, C, B, A)),)


def test_groups_that_do_not_touch_and_files_of_one_pair_are_conflicts_of_their_own() -> None:
    clashes = (_clash(A, B, "x.py", "y.py"), _clash(C, D, "x.py"))
    assert [(one.file, one.sessions) for one in conflicts_of(clashes, (A, B, C, D))] == [
        ("x.py", (A, B)),
        ("y.py", (A, B)),
        ("x.py", (C, D)),
    ]
