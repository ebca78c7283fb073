"""Every protocol method of the specification is registered, typed and documented."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from smp.rpc.methods import METHOD_GROUPS
from smp.rpc.registry import MethodRegistry

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("SMP_SHARED", ROOT.parent / "shared"))


@pytest.fixture(scope="module")
def registry() -> MethodRegistry:
    return MethodRegistry(METHOD_GROUPS)


def test_all_methods_of_the_specification_are_registered(registry: MethodRegistry) -> None:
    specified = json.loads((SHARED / "conformance" / "methods.json").read_text("utf-8"))["methods"]
    assert sorted(set(specified) - set(registry)) == []


def test_parameters_are_those_of_the_specification(registry: MethodRegistry) -> None:
    specified = json.loads((SHARED / "conformance" / "methods.json").read_text("utf-8"))["methods"]
    missing = {
        name: sorted(set(entry["params"]["properties"]) - set(registry[name].params.__struct_encode_fields__))
        for name, entry in specified.items()
    }
    assert {name: fields for name, fields in missing.items() if fields} == {}


def test_every_handler_is_documented(registry: MethodRegistry) -> None:
    assert [name for name, method in registry.items() if not method.doc] == []


def test_two_handlers_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two handlers"):
        MethodRegistry([METHOD_GROUPS[0], METHOD_GROUPS[0]])
