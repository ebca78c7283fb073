"""What every metadata store must do."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from smp.domain.graph import NodeKind, Scope
from smp.domain.metadata import Enrichment, Metadata
from smp.ports.metadata_store import TEXT_FIELDS, TextQuery

ALL_FIELDS = TEXT_FIELDS


@pytest.fixture
def library(store: Any, build: Any) -> dict[str, Any]:
    """Three functions and a class with words in different places."""
    nodes = {
        "parse": build.function(
            "lib/http.py",
            "parseHTTPHeader",
            signature="parseHTTPHeader(raw_line: bytes)",
            metadata=Metadata(docstring="Reads one header line of a request."),
        ),
        "send": build.function("lib/mail.py", "send_mail", metadata=Metadata(docstring="Sends a message to someone.")),
        "bare": build.function("app.py", "main"),
        "cart": build.node("Class", "shop/cart.py", "Cart", metadata=Metadata(docstring="What a customer will buy.")),
    }
    store.apply(build.delta(*(build.part(node.file, [node]) for node in nodes.values())))
    return nodes


def found(store: Any, text: str, **options: Any) -> list[tuple[str, tuple[str, ...]]]:
    answer = store.search(TextQuery(text=text, **options))
    assert answer.total >= len(answer.matches)
    return [(match.node.name, match.matched_on) for match in answer.matches]


def test_words_are_found_whatever_their_case(store: Any, library: Any) -> None:
    assert found(store, "HEADER") == [("parseHTTPHeader", ("docstring",))]
    assert found(store, "nothing like it") == []


def test_identifiers_are_split_at_case_and_underscores_on_both_sides(store: Any, library: Any) -> None:
    code = {"fields": ("name", "signature")}
    for query in ("parse http header", "parse_http_header", "ParseHttpHeader"):
        assert found(store, query, **code) == [("parseHTTPHeader", ("name", "signature"))], query
    assert found(store, "rawLine", **code) == [("parseHTTPHeader", ("signature",))]
    assert found(store, "sendMail", **code) == [("send_mail", ("name",))]


def test_names_and_signatures_count_only_when_asked_for(store: Any, library: Any) -> None:
    assert found(store, "main") == []
    assert found(store, "main", fields=ALL_FIELDS) == [("main", ("name",))]


def test_fields_with_letters_outside_ascii_are_named_as_matched(store: Any, build: Any) -> None:
    menu = build.function("menu.py", "menu", metadata=Metadata(docstring="Prices of the caf\u00e9, and of tea."))
    store.apply(build.delta(build.part("menu.py", [menu])))
    for text, match in (("tea", "any"), ("caf\u00e9 coffee", "any"), ("prices tea", "all")):
        assert found(store, text, match=match) == [("menu", ("docstring",))]


def test_all_words_or_any_of_them(store: Any, library: Any) -> None:
    assert found(store, "header message") == []
    assert {name for name, _ in found(store, "header message", match="any")} == {"parseHTTPHeader", "send_mail"}
    assert found(store, "header request") == [("parseHTTPHeader", ("docstring",))]


def test_words_of_one_query_may_lie_in_different_fields(store: Any, library: Any) -> None:
    store.put_enrichments({library["send"].id: Enrichment(description="Uses the outgoing queue.", tags=("smtp",))})
    assert found(store, "message queue smtp") == [("send_mail", ("description", "docstring", "tags"))]


def test_scores_are_positive_and_fall(store: Any, library: Any) -> None:
    answer = store.search(TextQuery(text="a header line customer", match="any"))
    scores = [match.bm25 for match in answer.matches]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0


def test_filters_by_kind_scope_and_every_tag(store: Any, library: Any) -> None:
    store.put_enrichments(
        {
            library["send"].id: Enrichment(tags=("mail", "net")),
            library["parse"].id: Enrichment(tags=("net",)),
        }
    )
    words = {"text": "header message buy", "match": "any"}
    assert {name for name, _ in found(store, **words, node_types=(NodeKind.CLASS,))} == {"Cart"}
    assert {name for name, _ in found(store, **words, scope=Scope(kind="package", prefix="lib"))} == {
        "parseHTTPHeader",
        "send_mail",
    }
    assert {name for name, _ in found(store, **words, scope=Scope(kind="file", prefix="lib/mail.py"))} == {"send_mail"}
    assert {name for name, _ in found(store, **words, tags=("net",))} == {"parseHTTPHeader", "send_mail"}
    assert {name for name, _ in found(store, **words, tags=("net", "mail"))} == {"send_mail"}


def test_total_counts_beyond_the_limit(store: Any, library: Any) -> None:
    answer = store.search(TextQuery(text="a of", match="any", limit=1))
    assert (len(answer.matches), answer.total) == (1, 3)


@pytest.mark.parametrize(
    "text", ['"', "NEAR(", "a AND OR", "docstring:x", "(((", "*", "'; DROP TABLE node; --", "\x00", "é"]
)
def test_no_text_is_a_syntax_error(store: Any, library: Any, text: str) -> None:
    store.search(TextQuery(text=text, match="any", fields=ALL_FIELDS))


def test_what_is_found_follows_the_node(store: Any, build: Any, library: Any) -> None:
    changed = msgspec.structs.replace(library["parse"], metadata=Metadata(docstring="Now it trims."))
    store.apply(build.delta(build.part("lib/http.py", [changed])))
    assert found(store, "header") == []
    assert found(store, "trims") == [("parseHTTPHeader", ("docstring",))]
    store.apply(build.delta(removed=("lib/http.py",)))
    assert found(store, "trims") == []


def test_enrichments_come_back_as_they_were_put(store: Any, library: Any) -> None:
    full = Enrichment(
        source_hash="1" * 64,  # type: ignore[arg-type]
        enriched_at="2026-01-01T00:00:00Z",
        description="d",
        tags=("a", "b"),
        manually_set=True,
        annotated_at="2026-01-02T00:00:00Z",
    )
    store.put_enrichments({library["send"].id: full})
    assert store.enrichments([library["send"].id, library["bare"].id, "function:x#y"]) == {library["send"].id: full}
    store.put_enrichments({library["send"].id: Enrichment(tags=("c",))})
    assert store.enrichments([library["send"].id])[library["send"].id] == Enrichment(tags=("c",))
    assert found(store, "message", tags=("a",)) == []


def test_enrichments_go_with_their_node_unless_set_by_hand(store: Any, build: Any, library: Any) -> None:
    mail, cart = library["send"], library["cart"]
    store.put_enrichments(
        {mail.id: Enrichment(tags=("x",)), cart.id: Enrichment(description="kept", manually_set=True)}
    )
    store.apply(build.delta(removed=(mail.file, cart.file)))
    assert store.enrichments([mail.id, cart.id]) == {}
    store.apply(build.delta(build.part(mail.file, [mail]), build.part(cart.file, [cart])))
    assert store.enrichments([mail.id, cart.id]) == {cart.id: Enrichment(description="kept", manually_set=True)}
    assert found(store, "kept") == [("Cart", ("description",))]
    assert found(store, "message", tags=("x",)) == []


def test_bodies_are_searched_stay_with_an_annotation_and_go_with_the_node(store: Any, build: Any) -> None:
    node = build.function("lib/pay.py", "pay")
    part = msgspec.structs.replace(build.part("lib/pay.py", [node]), bodies={node.id: "gateway charge"})
    store.apply(build.delta(part))
    assert found(store, "charge", fields=("body",)) == [("pay", ("body",))]
    assert found(store, "charge") == []
    store.put_enrichments({node.id: Enrichment(description="Asks for money.")})
    assert found(store, "charge money", fields=("body", "description")) == [("pay", ("body", "description"))]
    changed = msgspec.structs.replace(node, complexity=9)
    store.apply(build.delta(msgspec.structs.replace(part, nodes=(changed,), bodies={node.id: "refund"})))
    assert found(store, "charge", fields=("body",)) == []
    assert found(store, "refund", fields=("body",)) == [("pay", ("body",))]


def test_weights_say_which_field_counts_more(store: Any, build: Any) -> None:
    named = build.function("a.py", "charge")
    told = build.function("b.py", "other", metadata=Metadata(docstring="Will charge."))
    store.apply(build.delta(build.part("a.py", [named]), build.part("b.py", [told])))
    fields = ("name", "docstring")
    by_name = found(store, "charge", fields=fields, weights={"name": 9.0})
    by_text = found(store, "charge", fields=fields, weights={"docstring": 9.0})
    assert [name for name, _ in by_name] == ["charge", "other"]
    assert [name for name, _ in by_text] == ["other", "charge"]


def test_common_words_are_left_out_while_a_rarer_one_remains(store: Any, build: Any) -> None:
    nodes = [build.function("a.py", f"{name}_thing") for name in ("one", "two", "three", "four")]
    store.apply(build.delta(build.part("a.py", nodes)))
    options: dict[str, Any] = {"match": "any", "fields": ("name",), "postings": 4}
    assert found(store, "two thing", **options) == [("two_thing", ("name",))]
    assert len(found(store, "thing", **options)) == 4
    assert len(found(store, "two thing", **(options | {"postings": 0}))) == 4


def test_brief_answers_have_the_same_matches_in_the_same_order(store: Any, build: Any) -> None:
    nodes = [build.function(f"{place}.py", f"thing{number}") for place in "ab" for number in range(40)]
    store.apply(
        build.delta(*(build.part(f"{place}.py", [n for n in nodes if n.file == f"{place}.py"]) for place in "ab"))
    )
    query = TextQuery(text="thing0 thing1 thing2 b", match="any", fields=("name", "path"), limit=5)
    scoped = msgspec.structs.replace(query, scope=Scope(kind="file", prefix="b.py"))
    for one in (query, scoped):
        quick = store.search(msgspec.structs.replace(one, brief=True))
        whole = store.search(one).matches
        assert quick.matches == tuple(msgspec.structs.replace(match, matched_on=()) for match in whole)
        assert quick.total == len(quick.matches) == 5
