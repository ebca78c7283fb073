"""Which changes of a signature break calls that were right."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smp.domain.graph import Node, NodeKind, Parameter
from smp.domain.ids import NodeId
from smp.safety.signatures import call_incompatibility, incompatibility

KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional_only",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional",
    inspect.Parameter.VAR_POSITIONAL: "var_positional",
    inspect.Parameter.KEYWORD_ONLY: "keyword_only",
    inspect.Parameter.VAR_KEYWORD: "var_keyword",
}


@functools.cache
def function(text: str) -> Callable[..., None]:
    names: dict[str, Callable[..., None]] = {}
    exec(f"def f({text}): pass", names)
    return names["f"]


def parameters(text: str) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(
            name=one.name,
            kind=KINDS[one.kind],
            required=one.default is one.empty and "VAR" not in one.kind.name,
            receiver=one.name == "self",
        )
        for one in inspect.signature(function(text)).parameters.values()
    )


def a_function(text: str = "", returns: str | None = None, *modifiers: str) -> Node:
    return Node(
        id=NodeId("function:a.py#f"),
        kind=NodeKind.FUNCTION,
        name="f",
        qualname="f",
        parameters=parameters(text),
        return_type=returns,
        modifiers=modifiers,
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a", "a, b=1"),
        ("a", "a, *, b=1"),
        ("a", "a, *args"),
        ("a", "a, **more"),
        ("a, b", "a, b=2"),
        ("a, *, b", "a, b"),
        ("a, /", "a"),
        ("a, /", "b, /"),
        ("self, a", "self, a, b=1"),
        ("a, b=1", "*args, **more"),
        ("a, *, b=1", "a, **more"),
    ],
)
def test_calls_still_fit(old: str, new: str) -> None:
    assert call_incompatibility(parameters(old), parameters(new)) is None


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("a", "a, b", "new required parameter 'b'"),
        ("a", "b, a", "new required parameter 'b'"),
        ("a", "a, *, b", "new required parameter 'b'"),
        ("a, b=1", "a, b", "'b' became required"),
        ("a, b=1", "a", "'b' by name"),
        ("a, *, b=1", "a", "'b' by name"),
        ("a", "b", "'a' by name"),
        ("a", "a, /", "'a' by name"),
        ("a, b", "a, *, b", "at most 1 positional"),
        ("a, b", "b, a", "stands where"),
        ("a, *args", "a", "further positional"),
        ("a, **more", "a", "further keyword"),
        ("self, a", "self", "'a' by name"),
    ],
)
def test_some_call_no_longer_fits(old: str, new: str, why: str) -> None:
    found = call_incompatibility(parameters(old), parameters(new))
    assert found is not None
    assert why in found


def test_a_changed_return_annotation_is_incompatible_and_named() -> None:
    found = incompatibility(a_function(returns="Token"), a_function(returns="Token | None"))
    assert found is not None
    assert (found.old_return, found.new_return) == ("Token", "Token | None")


@pytest.mark.parametrize(("old", "new"), [(None, "int"), ("int", None), ("list[ int ]", "list[int]")])
def test_added_dropped_or_reformatted_annotations_break_nobody(old: str | None, new: str | None) -> None:
    assert incompatibility(a_function(returns=old), a_function(returns=new)) is None


@pytest.mark.parametrize("form", ["async", "property", "static"])
def test_another_form_of_use_is_incompatible(form: str) -> None:
    assert incompatibility(a_function(), a_function("", None, form)) is not None
    assert incompatibility(a_function("", None, form), a_function()) is not None
    assert incompatibility(a_function("", None, form), a_function("", None, form)) is None


@st.composite
def signatures(draw: st.DrawFn) -> str:
    names = draw(st.permutations("abcd"))[: draw(st.integers(0, 4))]
    cuts = sorted(draw(st.tuples(st.integers(0, len(names)), st.integers(0, len(names)))))
    only, plain, keyword = names[: cuts[0]], names[cuts[0] : cuts[1]], names[cuts[1] :]
    optional_from = draw(st.integers(0, len(only) + len(plain)))
    parts, index = [], 0
    for group in (only, plain):
        for name in group:
            parts.append(f"{name}=0" if index >= optional_from else name)
            index += 1
        if group is only and only:
            parts.append("/")
    star = draw(st.booleans())
    if star:
        parts.append("*args")
    elif keyword:
        parts.append("*")
    parts += [f"{name}=0" if draw(st.booleans()) else name for name in keyword]
    if draw(st.booleans()):
        parts.append("**more")
    return ", ".join(parts)


def calls() -> list[tuple[tuple[int, ...], dict[str, int]]]:
    keywords = [dict.fromkeys(names, 0) for size in range(5) for names in itertools.combinations("abcde", size)]
    return [((0,) * count, names) for count in range(6) for names in keywords]


def fits(text: str, args: tuple[int, ...], names: dict[str, int]) -> bool:
    try:
        function(text)(*args, **names)
    except TypeError:
        return False
    return True


@settings(deadline=None, max_examples=60)
@given(signatures(), signatures())
def test_an_accepted_change_breaks_no_call_that_python_accepted(old: str, new: str) -> None:
    # A keyword that went into `**more` by the name of a later parameter is too odd a call to alarm everybody else for.
    if "**" not in old and call_incompatibility(parameters(old), parameters(new)) is None:
        for args, names in calls():
            assert not fits(old, args, names) or fits(new, args, names), (old, new, args, names)


@given(signatures())
def test_an_unchanged_signature_is_compatible(text: str) -> None:
    assert call_incompatibility(parameters(text), parameters(text)) is None
