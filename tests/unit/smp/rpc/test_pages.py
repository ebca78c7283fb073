"""Pages and budgets: a cursor leads through one answer, and says when it no longer fits; a cut is counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from smp.domain.errors import Invalid
from smp.rpc.dispatcher import Dispatcher
from smp.rpc.markdown import render
from smp.rpc.methods import METHOD_GROUPS
from smp.rpc.methods.query.change import ContextResult, ImpactResult
from smp.rpc.methods.query.locate import LocateParams
from smp.rpc.pages import cursor_after, fitting, page_start, shortened
from smp.rpc.registry import MethodRegistry
from smp.rpc.wire import Result
from tests.builders.read_platform import read_platform

SHOP = Path(__file__).parents[3] / "protocol" / "shop.txt"
Ask = Callable[..., Any]


class Lists(Result, frozen=True, kw_only=True):
    long: tuple[str, ...]
    short: tuple[str, ...]


@pytest.fixture(scope="module")
def ask() -> Ask:
    dispatcher = Dispatcher(MethodRegistry(METHOD_GROUPS), read_platform(SHOP.read_text("utf-8")))

    def asked(method: str, **params: Any) -> Any:
        raw = msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        answer = msgspec.json.decode(dispatcher.handle_bytes(raw) or b"")
        return answer.get("result") or answer["error"]

    return asked


@pytest.mark.parametrize("ranking", ["fusion", "composite"])
def test_pages_together_are_the_whole_answer(ask: Ask, ranking: str) -> None:
    question = {"query": "password session", "ranking": ranking, "seed_k": 5}
    whole = ask("smp/locate", **question, top_k=100)
    assert whole["truncated"] is False
    assert len(whole["results"]) > 3
    seen: list[str] = []
    page = ask("smp/locate", **question, top_k=2)
    while True:
        seen += [one["node_id"] for one in page["results"]]
        assert page["truncated"] is ("next_cursor" in page)
        if not page["truncated"]:
            break
        page = ask("smp/locate", **question, top_k=2, cursor=page["next_cursor"])
    assert seen == [one["node_id"] for one in whole["results"]]


def test_a_budget_cuts_a_page_and_the_cursor_goes_on_behind_the_cut(ask: Ask) -> None:
    question = {"query": "password session", "ranking": "fusion"}
    whole = ask("smp/locate", **question, top_k=4)
    small = ask("smp/locate", **question, top_k=4, max_tokens=200)
    shown = len(small["results"])
    assert 1 <= shown < 4
    assert small["truncated"] is True
    following = ask("smp/locate", **question, top_k=4 - shown, cursor=small["next_cursor"])
    assert [*small["results"], *following["results"]] == whole["results"]


def test_search_has_pages_too(ask: Ask) -> None:
    first = ask("smp/search", query="password session", match="any", top_k=1)
    assert first["total"] > 1
    second = ask("smp/search", query="password session", match="any", top_k=1, cursor=first["next_cursor"])
    assert second["matches"][0]["node_id"] != first["matches"][0]["node_id"]


def test_a_cursor_of_another_question_or_of_none_is_refused(ask: Ask) -> None:
    cursor = ask("smp/locate", query="password", ranking="fusion", top_k=1)["next_cursor"]
    for wrong, says in (
        ({"query": "session", "cursor": cursor}, "another question"),
        ({"query": "a", "cursor": "!!"}, "no cursor"),
    ):
        error = ask("smp/locate", ranking="fusion", **wrong)
        assert (error["code"], error["data"]["path"]) == (-32602, "cursor")
        assert says in error["message"]


def test_a_cursor_is_stale_when_the_index_has_changed_since() -> None:
    params = LocateParams(query="a", top_k=3)
    cursor = cursor_after(params, 3, generation=7)
    assert page_start(LocateParams(query="a", top_k=50), cursor, generation=7) == 3
    with pytest.raises(Invalid, match="stale"):
        page_start(params, cursor, generation=8)


def test_the_longest_list_is_cut_first_and_what_is_cut_is_counted() -> None:
    lists = Lists(long=tuple(f"entry {number:04}" for number in range(400)), short=("one", "two"))
    cut, omitted = shortened(lists, 500, ("long", "short"))
    assert len(msgspec.json.encode(cut)) <= 2000
    assert cut.short == lists.short
    assert omitted == {"long": 400 - len(cut.long)}
    assert cut.long == lists.long[: len(cut.long)]
    assert len(cut.long) > 100
    assert shortened(lists, 10_000, ("long", "short")) == (lists, {})


def test_a_budget_that_nothing_fits_in_leaves_what_is_no_list() -> None:
    cut, omitted = shortened(Lists(long=("a" * 900,), short=("b",)), 1, ("long", "short"))
    assert (cut.long, cut.short, omitted) == ((), (), {"long": 1, "short": 1})


def test_at_least_one_entry_fits() -> None:
    assert fitting(("a" * 100, "b"), 10) == 1
    assert fitting(("a", "b", "c" * 100), 20) == 2
    assert fitting((), 20) == 0


def test_context_and_impact_keep_to_a_budget_and_say_what_is_missing(ask: Ask) -> None:
    whole = ask("smp/context", file_path="src/auth.py")
    small = ask("smp/context", file_path="src/auth.py", max_tokens=250)
    assert (whole["truncated"], small["truncated"]) == (False, True)
    assert small["omitted"]
    assert small["summary"] == whole["summary"]
    assert ask("smp/impact", entity="src/auth.py#check", change_type="delete", max_tokens=100_000)["truncated"] is False


def test_context_and_impact_have_a_form_to_read(ask: Ask) -> None:
    context = msgspec.convert(ask("smp/context", file_path="src/auth.py", max_tokens=250), ContextResult)
    text = render(context)
    assert text is not None
    assert text.startswith("## Context of `src/auth.py`\n")
    assert "_Left out: " in text
    impact = msgspec.convert(ask("smp/impact", entity="src/auth.py#check", change_type="delete"), ImpactResult)
    text = render(impact)
    assert text is not None
    assert text.startswith(f"## Impact: {impact.severity}\n")
    assert "**Places to edit**" in text
