"""The Markdown of a located answer."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from smp.domain.graph import EdgeKind, NodeKind
from smp.rpc.markdown import render
from smp.rpc.methods.query.locate import EmbeddingResult, LocateResult, RankedResult, StructuralLinkResult

REGISTER = RankedResult(
    node_id="f",
    node_type=NodeKind.FUNCTION,
    name="registerUser",
    file="src/auth/register.ts",
    community_id=None,
    signature="registerUser(email: string): Promise<User>",
    docstring="Creates a new user account\nand sends a verification email.",
    tags=("auth", "registration"),
    final_score=0.8821,
    vector_score=0.94,
    pagerank=0.031,
    heat_score=42,
    is_seed=True,
    reachable_from=("f",),
    start_line=7,
    end_line=9,
)


def node(node_id: str, name: str, **changes: Any) -> RankedResult:
    walked = {"is_seed": False, "reachable_from": ("f",), "docstring": None, "signature": None, "tags": ()}
    return structs.replace(REGISTER, node_id=node_id, name=name, **(walked | changes))


def link(source: str, target: str, kind: EdgeKind = EdgeKind.CALLS_STATIC) -> StructuralLinkResult:
    return StructuralLinkResult(source=source, target=target, edge_type=kind, hop=1, is_bridge=False)


def located(*links: StructuralLinkResult, results: tuple[RankedResult, ...]) -> LocateResult:
    return LocateResult(
        query="user registration",
        routed_community=None,
        seed_count=1,
        total_walked=24,
        results=results,
        structural_map=links,
        embedding=EmbeddingResult(embedded=3, total=3),
    )


def test_the_document_says_what_was_looked_for_and_where_it_is() -> None:
    text = render(located(results=(REGISTER,)))
    assert text is not None
    assert text.startswith('## Results for: "user registration"\n\n_1 seeds · 24 nodes walked · top 1 shown_\n')
    assert "### 1. `registerUser` · Function · score 0.8821 ★ seed" in text
    assert "**File:** `src/auth/register.ts:7`" in text
    assert "**Docstring:** Creates a new user account and sends a verification email." in text
    assert "**Tags:** `auth` `registration`" in text
    assert "| 0.94 | 0.031 | 42 |" in text
    assert "Structural Map" not in text


def test_walked_nodes_name_the_seeds_that_reach_them() -> None:
    text = render(located(results=(REGISTER, node("g", "UserService"))))
    assert text is not None
    second = text.split("### 2.")[1]
    assert "**Reachable from:** `registerUser`" in second
    assert "★" not in second


def test_the_map_is_a_tree_in_which_each_node_grows_once() -> None:
    results = (REGISTER, node("g", "UserService"), node("h", "sendMail"), node("i", "validate"))
    links = (link("f", "g"), link("f", "h"), link("h", "i", EdgeKind.DEFINES), link("i", "f"), link("g", "h"))
    text = render(located(*links, results=results))
    assert text is not None
    assert text.split("```")[1].strip("\n").split("\n") == [
        "registerUser",
        "├─[CALLS_STATIC]──▶ UserService",
        "│  └─[CALLS_STATIC]──▶ sendMail",
        "│     └─[DEFINES]──▶ validate",
        "│        └─[CALLS_STATIC]──▶ registerUser",
        "└─[CALLS_STATIC]──▶ sendMail",
    ]


def test_backticks_do_not_break_out_of_code() -> None:
    text = render(located(results=(structs.replace(REGISTER, signature="f(x = `a`)"),)))
    assert text is not None
    assert "**Signature:** `` f(x = `a`) ``" in text


def test_other_results_have_no_markdown() -> None:
    assert render({"any": "thing"}) is None
