"""The group `verify` over the dispatcher, on the wired platform with real boxes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.builders.verified_shop import PRICES, Shop

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_a_strong_test_passes_and_the_box_is_as_before(shop: Shop) -> None:
    _, box = shop.box()
    got = shop.verify(box)
    assert got.pop("verify_result_id").startswith("ver_")
    total = got["mutants_total"]
    assert total >= 3
    assert got == {
        "status": "passed",
        "coverage_delta_pct": 0.0,
        "ast_assert_check": "passed",
        "mutation_score": 1.0,
        "mutants_total": total,
        "mutants_killed": total,
        "mutants_survived": 0,
        "mutants_timed_out": 0,
        "mutants_equivalent": 0,
        "mutants_not_covered": 0,
    }
    seen = shop.ask("smp/sandbox/execute", sandbox_id=box, command="git status --porcelain; cat src/prices.py")
    assert seen["stdout"] == PRICES


def test_a_weak_test_names_its_survivors_in_a_fixed_order(shop: Shop) -> None:
    _, box = shop.box()
    got = shop.verify(box, "tests/test_weak.py")
    assert (got["status"], got["failure_code"], got["ast_assert_check"]) == ("failed", "SURVIVING_MUTANT", "passed")
    assert got["mutants_survived"] == len(got["survivors"]) == got["mutants_total"] - got["mutants_killed"]
    listed = [{name: value for name, value in one.items() if name != "mutant"} for one in got["survivors"]]
    assert {
        "node_id": "function:src/prices.py#net",
        "file": "src/prices.py",
        "line": 2,
        "original_op": "10",
        "mutated_op": "11",
        "surviving_test": "tests/test_weak.py::test_net",
        "operator": "constant",
    } in listed
    assert shop.verify(shop.box()[1], "tests/test_weak.py")["survivors"] == got["survivors"]


def test_a_vacuous_test_names_the_function(shop: Shop) -> None:
    _, box = shop.box()
    got = shop.verify(box, "tests/test_vacuous.py")
    assert got.pop("verify_result_id").startswith("ver_")
    assert got == {
        "status": "failed",
        "failure_code": "MISSING_AST_ASSERT",
        "ast_assert_check": "failed",
        "missing_assert_for": [
            {"node_id": "function:src/prices.py#net", "output_type": None, "test": "tests/test_vacuous.py::test_net"}
        ],
    }


def test_a_red_suite_fails_with_its_output(shop: Shop) -> None:
    _, box = shop.box()
    shop.put(box, "src/prices.py", PRICES.replace("count - free", "count - free + 1"))
    got = shop.verify(box)
    assert (got["status"], got["failure_code"], got["tests_failed"]) == ("failed", "TESTS_FAILING", 1)
    assert "assert 1000 == 750" in got["test_output"]


def test_bad_input_gets_its_code(shop: Shop) -> None:
    session, box = shop.box()
    wrong = [
        (shop.verify(box, target="no/such.py"), -32602, "target_file"),
        (shop.verify(box, "no/such_test.py"), -32602, "test_file"),
        (shop.verify(box, target="../../etc/passwd"), -32602, "target_file"),
        (shop.ask("smp/verify/integrity", sandbox_id=box, target_file="src/prices.py"), -32602, "test_file"),
    ]
    for got, code, path in wrong:
        assert (got["error"]["code"], got["error"]["data"]["path"]) == (code, path)
    assert shop.verify("box_unknown")["error"]["code"] == -32008
    shop.ask("smp/session/close", session_id=session, status="aborted")
    assert shop.verify(box)["error"]["code"] in {-32008, -32003}


def test_survivors_declared_equivalent_hold_nothing_back_and_stay_visible(shop: Shop) -> None:
    session, box = shop.box()
    shop.put(box, "src/prices.py", PRICES.replace("free", "gratis"))
    failed = shop.verify(box, "tests/test_weak.py")
    verdict, survivors = failed["verify_result_id"], failed["survivors"]
    assert len(survivors) > 1
    reasons = {one["mutant"]: f"nobody sees {one['mutant']}" for one in survivors}
    answers = [
        shop.ask("smp/verify/mark_equivalent", verify_result_id=verdict, mutant=mutant, reason=reason)
        for mutant, reason in reasons.items()
    ]
    assert [got["status"] for got in answers] == ["failed"] * (len(survivors) - 1) + ["passed"]
    assert [len(got.get("survivors", ())) for got in answers] == list(range(len(survivors) - 1, -1, -1))
    passed = answers[-1]
    assert (passed["mutation_score"], passed["mutants_survived"]) == (1.0, 0)
    assert passed["mutants_total"] == passed["mutants_killed"] == failed["mutants_killed"]
    assert {one["mutant"]: one["reason"] for one in passed["marked_equivalent"]} == reasons
    again = shop.verify(box, "tests/test_weak.py")
    assert {one["mutant"]: one["reason"] for one in again["marked_equivalent"]} == reasons
    pr = shop.ask("smp/handoff/pr", sandbox_id=box, session_id=session, title="t", verify_result_id=verdict)
    document = Path(pr["document"]).read_text("utf-8")
    audit = shop.audit(session)
    told = [event for event in audit if event["method"] == "smp/verify/mark_equivalent"]
    assert len(told) == len(reasons)
    for reason in reasons.values():
        assert reason in document
        assert any(event["detail"].endswith(reason) for event in told)


def test_a_mark_is_refused_where_there_is_no_survivor(shop: Shop) -> None:
    _, box = shop.box()
    failed = shop.verify(box, "tests/test_weak.py")
    mark = {
        "verify_result_id": failed["verify_result_id"],
        "mutant": failed["survivors"][0]["mutant"],
        "reason": "same",
    }
    killed = next(n for n in range(100) if n not in {one["mutant"] for one in failed["survivors"]})
    wrongs: dict[str, dict[str, object]] = {
        "mutant": {"mutant": killed},
        "out of range": {"mutant": 10_000},
        "negative": {"mutant": -1},
        "blank reason": {"reason": " "},
        "no reason": {"reason": ""},
        "unknown verdict": {"verify_result_id": "ver_unknown"},
    }
    ask = "smp/verify/mark_equivalent"
    answers = {name: shop.ask(ask, **{**mark, **wrong})["error"] for name, wrong in wrongs.items()}
    assert {name: (error["code"], error["data"].get("path")) for name, error in answers.items()} == {
        "mutant": (-32602, "mutant"),
        "out of range": (-32602, "mutant"),
        "negative": (-32602, "mutant"),
        "blank reason": (-32602, "reason"),
        "no reason": (-32602, "reason"),
        "unknown verdict": (-32001, None),
    }
    first = shop.ask(ask, **mark)
    assert shop.ask(ask, **mark) == first
    assert shop.ask(ask, **{**mark, "reason": "another"})["error"]["data"]["path"] == "reason"
