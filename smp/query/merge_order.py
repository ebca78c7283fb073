"""In which order finished branches are best merged: what others import comes first."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from smp.domain.ids import FilePath
from smp.domain.queries import TaskPlan


def merge_order(plan: TaskPlan, written: Sequence[Sequence[FilePath]]) -> tuple[int, ...]:
    """Indices of `written` in merge order.

    A branch comes after those that wrote a file which one of its own files imports; what is free comes by index. Where
    branches wait for one another in a circle there is no right order, and the lowest index goes first.

    Args:
        plan: Over all the files that were written.
        written: Files of each branch.
    """
    step_of = {step.file: step.step for step in plan.execution_order}
    needs_of = {step.step: set(step.depends_on_steps) for step in plan.execution_order}
    steps = [{step_of[file] for file in files if file in step_of} for files in written]
    waits: dict[int, set[int]] = {}
    for index, mine in enumerate(steps):
        needed = {need for step in mine for need in needs_of[step]} - mine
        waits[index] = {other for other, theirs in enumerate(steps) if other != index and theirs & needed}
    ready = [index for index, others in waits.items() if not others]
    heapq.heapify(ready)
    order: list[int] = []
    while waits:
        index = heapq.heappop(ready) if ready else min(waits)
        del waits[index]
        order.append(index)
        for other, others in waits.items():
            if index in others:
                others.discard(index)
                if not others:
                    heapq.heappush(ready, other)
    return tuple(order)
