"""Both error tables are total: each class of the tree in `smp.domain.errors` has its row, and only those."""

from __future__ import annotations

from collections.abc import Iterator

from activities.errors import RETRYABLE
from smp.domain import errors
from smp.domain.errors import SmpError
from smp.rpc.errors import CODES


def descendants(cls: type[SmpError]) -> Iterator[type[SmpError]]:
    for child in cls.__subclasses__():
        yield child
        yield from descendants(child)


def test_each_error_has_a_json_rpc_code() -> None:
    assert set(descendants(SmpError)) == set(CODES)


def test_each_error_is_retryable_or_not() -> None:
    assert set(descendants(SmpError)) == set(RETRYABLE)


def test_only_what_may_be_there_again_later_is_retried() -> None:
    assert {cls for cls, retryable in RETRYABLE.items() if retryable} == {errors.Unavailable, errors.ForgeBusy}


def test_the_tree_in_the_docstring_names_every_error() -> None:
    documented = errors.__doc__ or ""
    assert [cls.__name__ for cls in descendants(SmpError) if cls.__name__ not in documented] == []
