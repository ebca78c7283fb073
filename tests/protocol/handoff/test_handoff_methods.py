"""The group `handoff` over the dispatcher, on the wired platform with real boxes and real git."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.builders.folder_boxes import git, write_files
from tests.builders.verified_shop import PRICES, Shop

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]

RENAMED = PRICES.replace("free", "gratis")


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_a_verified_change_becomes_a_branch_and_a_document(shop: Shop) -> None:
    session, box = shop.box()
    shop.put(box, "src/prices.py", RENAMED)
    assert shop.verify(box)["status"] == "passed"
    before = git(shop.repo, "status", "--porcelain")
    params = {"sandbox_id": box, "session_id": session, "title": "rename", "base_sha": shop.head, "issue_refs": ["#42"]}
    got = shop.ask("smp/handoff/pr", **params)
    document = Path(got["document"])
    assert got == {
        "status": "open",
        "pr_id": f"pr_git_{got['head_sha'][:10]}",
        "branch": f"smp/{session}",
        "url": str(shop.remote),
        "base_sha": shop.head,
        "head_sha": git(shop.remote, "rev-parse", f"refs/heads/smp/{session}"),
        "files_changed": ["src/prices.py"],
        "structural_diff": {
            "nodes_added": 0,
            "nodes_modified": 1,
            "nodes_removed": 0,
            "signature_changed": False,
            "calls_runtime_added": 0,
        },
        "test_summary": {"coverage_delta_pct": 0.0, "mutation_score": 1.0},
        "document": str(document),
    }
    assert "`function:src/prices.py#net`" in document.read_text("utf-8")
    assert git(shop.remote, "show", f"{got['head_sha']}:src/prices.py") == RENAMED.strip()
    assert (git(shop.repo, "rev-parse", "HEAD"), git(shop.repo, "status", "--porcelain")) == (shop.head, before)
    assert shop.ask("smp/handoff/pr", **params) == got


def test_without_a_passed_verdict_on_the_present_content_it_is_refused(shop: Shop) -> None:
    session, box = shop.box()
    refs = shop.refs()
    pr = {"sandbox_id": box, "session_id": session, "title": "t"}
    assert shop.ask("smp/handoff/pr", **pr)["error"]["code"] == -32012
    shop.put(box, "src/prices.py", RENAMED)
    passed = shop.verify(box)["verify_result_id"]
    shop.put(box, "src/prices.py", RENAMED + "\n\nLATE = 1\n")
    assert shop.ask("smp/handoff/pr", **pr, verify_result_id=passed)["error"]["code"] == -32012
    assert shop.refs() == refs


def test_a_diverged_base_is_a_conflict_with_files_and_hunks(shop: Shop) -> None:
    session, box = shop.box()
    shop.put(box, "src/prices.py", RENAMED)
    shop.verify(box)
    rival = shop.repo.parent / "rival"
    git(shop.repo.parent, "clone", "-q", str(shop.remote), str(rival))
    write_files(rival, {"src/prices.py": PRICES.replace("count // 10", "count // 11")})
    git(rival, "commit", "-q", "-am", "rival")
    git(rival, "push", "-q", "origin", "HEAD:main")
    got = shop.ask("smp/handoff/pr", sandbox_id=box, session_id=session, title="t")
    assert (got["status"], got["base_sha"], [one["file"] for one in got["conflicts"]]) == (
        "conflict",
        shop.head,
        ["src/prices.py"],
    )
    assert "count // 11" in got["conflicts"][0]["hunks"][0]["theirs"]
    assert got["branch"] == f"smp/{session}"
    assert got["head_sha"] in shop.refs()


def test_bad_input_gets_its_code(shop: Shop) -> None:
    session, box = shop.box()
    _, foreign = shop.box()
    pr = {"session_id": session, "sandbox_id": box, "title": "t"}
    wrongs: dict[str, dict[str, object]] = {
        "empty title": {"title": ""},
        "short base": {"base_sha": "ab"},
        "unknown section": {"include": {"poetry": True}},
        "unknown box": {"sandbox_id": "box_unknown"},
        "box of another session": {"sandbox_id": foreign},
        "unknown session": {"session_id": "ses_unknown"},
    }
    answers = {name: shop.ask("smp/handoff/pr", **{**pr, **wrong})["error"]["code"] for name, wrong in wrongs.items()}
    assert answers == {
        "empty title": -32602,
        "short base": -32602,
        "unknown section": -32602,
        "unknown box": -32008,
        "box of another session": -32008,
        "unknown session": -32003,
    }
