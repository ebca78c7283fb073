"""One example call of every protocol method, in an order in which each works, on the example shop (`examples/shop`).

`$name` in a parameter stands for what an earlier step has kept; a key of `keep` is a name, its value the path to the kept
part of that step's result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MONEY = "src/shop/money.py"
FIXED = '''"""Amounts are whole cents."""


def round_half_up(cents: float) -> int:
    """The nearest whole cent; half a cent goes up."""
    return int(cents + 0.5)


def as_text(cents: int) -> str:
    """An amount as people write it."""
    return f"{cents // 100}.{cents % 100:02d}"
'''
WIDER = FIXED.replace("cents: float) -> int:", "cents: float, digits: int) -> int:")
TEST = """

def test_half_a_cent_goes_up() -> None:
    cart = Cart()
    cart.add(105)
    cart.discounts.append(Percent(10))
    assert cart.total() == 94
"""
NOTES = '"""Ideas for later."""\n\n\ndef gift_wrap(cents: int) -> int:\n    """Price with a ribbon."""\n    return cents + 199\n'


@dataclass(frozen=True)
class Step:
    """A call; `shown` is false for those that only prepare another."""

    method: str
    params: dict[str, Any]
    keep: dict[str, str] = field(default_factory=dict)
    shown: bool = True


def opening(agent: str, task: str, mode: str = "write", keep: str = "session", *, shown: bool = False) -> Step:
    """A session on the part of the shop that the examples change."""
    scope = [MONEY, "tests/test_cart.py"]
    params = {"agent_id": agent, "task": task, "scope": scope, "mode": mode}
    return Step("smp/session/open", params, {keep: "session_id"}, shown)


WITHOUT_EXAMPLE = frozenset({"smp/operations/swarm", "smp/operations/swarms"})
"""They ask a Temporal server; `smp swarm run` in docs/howto.md makes what they show."""

STEPS = (
    # What is known of the code.
    Step("smp/locate", {"query": "where is the price of a cart rounded", "ranking": "fusion", "top_k": 3}),
    Step("smp/search", {"query": "half a cent", "top_k": 2}),
    Step("smp/navigate", {"query": f"{MONEY}#round_half_up"}),
    Step(
        "smp/trace", {"start": f"{MONEY}#round_half_up", "relationship": "CALLS", "direction": "incoming", "depth": 3}
    ),
    Step("smp/context", {"file_path": MONEY, "scope": "edit"}),
    Step("smp/impact", {"entity": f"{MONEY}#as_text", "change_type": "signature_change"}),
    Step("smp/diff", {"file_path": MONEY, "proposed_content": WIDER}),
    Step("smp/flow", {"start": "receipt", "end": f"{MONEY}#round_half_up", "flow_type": "execution"}),
    Step("smp/graph/why", {"from": "src/shop/cart.py#Cart.total", "to": f"{MONEY}#round_half_up"}),
    Step("smp/linker/report", {"scope": "package:src/shop"}),
    Step("smp/merkle/tree", {"scope": "package:src/shop"}, {"root": "root_hash"}),
    Step("smp/sync", {"client_root_hash": "$root", "file_hashes": {}}),
    # Words about the code.
    Step("smp/enrich", {"node_id": "src/shop/cart.py#Cart.total"}),
    Step("smp/enrich/batch", {"scope": "package:src/shop"}),
    Step("smp/enrich/stale", {"scope": "package:src/shop"}),
    Step("smp/enrich/status", {"scope": "package:src/shop"}),
    Step("smp/annotate", {"node_id": f"{MONEY}#as_text", "description": "For people, not for machines", "force": True}),
    Step(
        "smp/annotate/bulk",
        {
            "annotations": [
                {"node_id": "src/shop/discounts.py#Percent.off", "description": "Rounded", "tags": ["pricing"]}
            ]
        },
    ),
    Step("smp/tag", {"scope": "file:src/shop/discounts.py", "tags": ["pricing"], "action": "add"}),
    # Areas of the code.
    Step("smp/community/detect", {"min_community_size": 2}),
    Step("smp/community/list", {"level": 0}, {"area": "communities.0.id"}),
    Step("smp/community/get", {"community_id": "$area"}),
    Step("smp/community/boundaries", {"level": 0, "min_coupling": 0.0}),
    # What has changed.
    Step("smp/update", {"file_path": "src/shop/notes.py", "content": NOTES, "change_type": "created"}),
    Step("smp/batch_update", {"changes": [{"file_path": "src/shop/notes.py", "change_type": "deleted"}]}),
    Step("smp/telemetry/hot", {"scope": "package:src/shop", "min_changes": 0, "min_callers": 1}),
    Step("smp/telemetry/node", {"node_id": f"{MONEY}#round_half_up"}),
    # A change, step by step.
    opening("ada", "round half a cent up", shown=True),
    Step("smp/session/recover", {"session_id": "$session", "agent_id": "ada"}),
    Step(
        "smp/plan",
        {"session_id": "$session", "task": "round half a cent up", "intended_writes": [MONEY, "tests/test_cart.py"]},
    ),
    opening("bob", "tidy money", keep="other"),
    Step("smp/conflict", {"session_a": "$session", "session_b": "$other"}),
    Step("smp/session/close", {"session_id": "$other", "status": "aborted"}, shown=False),
    Step(
        "smp/session/open",
        {"agent_id": "ann", "task": "t", "scope": [MONEY], "mode": "write", "concurrency": "exclusive"},
        {"alone": "session_id"},
        shown=False,
    ),
    Step("smp/lock", {"session_id": "$alone", "files": [MONEY]}),
    Step("smp/unlock", {"session_id": "$alone", "files": [MONEY]}),
    Step("smp/session/close", {"session_id": "$alone", "status": "aborted"}, shown=False),
    Step(
        "smp/guard/check",
        {"session_id": "$session", "target": MONEY, "intended_change": "modify_function:round_half_up"},
    ),
    Step("smp/dryrun", {"session_id": "$session", "file_path": MONEY, "proposed_content": FIXED}),
    Step(
        "smp/checkpoint",
        {"session_id": "$session", "files": [MONEY, "tests/test_cart.py"]},
        {"checkpoint": "checkpoint_id"},
    ),
    Step("smp/rollback", {"session_id": "$session", "checkpoint_id": "$checkpoint"}),
    # The change runs in a box, is judged, and leaves as a branch.
    Step("smp/sandbox/spawn", {"session_id": "$session", "inject_ebpf": True}, {"box": "sandbox_id"}),
    Step("smp/sandbox/execute", {"sandbox_id": "$box", "command": f"cat > {MONEY} <<'END'\n{FIXED}END\n"}, shown=False),
    Step(
        "smp/sandbox/execute",
        {"sandbox_id": "$box", "command": f"cat >> tests/test_cart.py <<'END'\n{TEST}END\n"},
        shown=False,
    ),
    Step("smp/sandbox/execute", {"sandbox_id": "$box", "command": "python -m pytest -q"}, {"run": "execution_id"}),
    Step("smp/sandbox/log", {"session_id": "$session", "execution_id": "$run", "limit": 200}),
    Step("smp/linker/runtime", {"node_id": "src/shop/cart.py#Cart.total"}),
    Step(
        "smp/verify/integrity",
        {"sandbox_id": "$box", "target_file": "src/shop/shipping.py", "test_file": "tests/test_shipping.py"},
        {"weak": "verify_result_id", "first": "survivors.0.mutant", "second": "survivors.1.mutant"},
        shown=False,
    ),
    Step(
        "smp/verify/mark_equivalent",
        {"verify_result_id": "$weak", "mutant": "$first", "reason": "no price is odd"},
        shown=False,
    ),
    Step("smp/verify/mark_equivalent", {"verify_result_id": "$weak", "mutant": "$second", "reason": "no price is odd"}),
    Step(
        "smp/verify/integrity",
        {"sandbox_id": "$box", "target_file": MONEY, "test_file": "tests/test_cart.py"},
        {"verdict": "verify_result_id"},
    ),
    Step(
        "smp/handoff/review",
        {"sandbox_id": "$box", "session_id": "$session", "reviewer_agent": "eve", "verify_result_id": "$verdict"},
        {"handoff": "handoff_id", "review": "reviewer_session"},
    ),
    Step(
        "smp/handoff/decide",
        {"handoff_id": "$handoff", "session_id": "$review", "decision": "approve", "comments": "Clear."},
    ),
    Step(
        "smp/handoff/pr",
        {
            "sandbox_id": "$box",
            "session_id": "$session",
            "title": "Half a cent goes up",
            "verify_result_id": "$verdict",
        },
    ),
    Step("smp/sandbox/destroy", {"sandbox_id": "$box", "session_id": "$session"}),
    Step("smp/operations/steps", {"session_id": "$session"}),
    Step("smp/operations/evidence", {"session_id": "$session"}),
    Step("smp/session/close", {"session_id": "$session", "status": "completed"}, {"log": "audit_log_id"}),
    Step("smp/audit/get", {"audit_log_id": "$log"}),
    # For operators.
    Step("smp/operations/map", {}),
    Step("smp/operations/source", {"file_path": MONEY, "first": 4, "last": 6}),
    Step("smp/operations/sessions", {"limit": 1}),
    Step("smp/index/export", {"scope": "package:src/shop"}, {"snapshot": "snapshot_id"}),
    Step("smp/index/import", {"snapshot_id": "$snapshot"}),
)
