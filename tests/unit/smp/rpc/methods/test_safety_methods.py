"""The safety group as a group: names, types, documentation."""

from __future__ import annotations

import msgspec
import pytest

from smp.rpc.method import RpcMethod, decode_params
from smp.rpc.methods.safety import METHODS

BY_NAME = {method.name: method for method in METHODS}


def test_the_group_holds_the_methods_of_the_specification() -> None:
    assert sorted(BY_NAME) == [
        "smp/audit/get",
        "smp/checkpoint",
        "smp/dryrun",
        "smp/guard/check",
        "smp/lock",
        "smp/rollback",
        "smp/session/close",
        "smp/session/open",
        "smp/session/recover",
        "smp/unlock",
    ]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_says_what_it_does_and_has_a_schema(method: RpcMethod) -> None:
    assert method.doc
    assert not method.planned
    assert msgspec.json.schema(method.params)
    assert msgspec.json.schema(method.result)


@pytest.mark.parametrize(
    ("name", "params", "where"),
    [
        ("smp/session/open", {"agent_id": "", "task": "t", "scope": ["a"], "mode": "write"}, "agent_id"),
        ("smp/session/open", {"agent_id": "a", "task": "t", "scope": ["a"], "mode": "both"}, "mode"),
        ("smp/session/open", {"agent_id": "a", "task": "t", "scope": ["a"], "mode": "read", "ttl_seconds": 0}, "ttl"),
        ("smp/session/open", {"agent_id": "a", "task": "t", "scope": ["a\x00"], "mode": "read"}, "scope"),
        (
            "smp/session/open",
            {"agent_id": "a", "task": "t", "scope": ["a"], "mode": "read", "commit_sha": "HEAD"},
            "sha",
        ),
        (
            "smp/session/open",
            {"agent_id": "a", "task": "t", "scope": ["a"], "mode": "read", "concurrency": "x"},
            "conc",
        ),
        ("smp/lock", {"session_id": "s", "files": "a.py"}, "files"),
        ("smp/guard/check", {"session_id": "s", "target": "x" * 5000}, "target"),
        ("smp/guard/check", {"session_id": "s", "target": "x", "intended_change": ""}, "intended_change"),
    ],
)
def test_parameters_of_another_shape_are_refused_by_name(name: str, params: object, where: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=where):
        decode_params(BY_NAME[name], params)
