"""The first check of the gate: results of the target that no assertion of a test looks at."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from smp.domain.errors import Invalid
from smp.domain.graph import Node
from smp.domain.ids import FilePath, NodeId
from smp.domain.mutants import MissingAssert
from smp.languages.assertions import AssertionRules, assertion_rules


def rules_for(test_file: FilePath) -> AssertionRules:
    """The rules for a test file.

    Raises:
        Invalid: None for this kind of file (`path` = `test_file`).
    """
    rules = assertion_rules(test_file)
    if rules is None:
        raise Invalid(
            f"no assertion rules for {test_file!r}; name a test file in a language that can be verified",
            path="test_file",
        )
    return rules


def missing_asserts(
    target: FilePath,
    target_source: bytes,
    test_file: FilePath,
    test_source: bytes,
    *,
    nodes: Mapping[str, Node],
    read: Callable[[tuple[FilePath, ...]], Mapping[FilePath, bytes]],
) -> tuple[MissingAssert, ...]:
    """Functions that a test calls without any of their results or effects reaching an assertion of that test.

    Args:
        nodes: The target's definitions by qualified name.
        read: Gives those of the asked files that exist.

    Returns:
        One entry for each (function, test), by test in source order, then by function.
    """
    rules = rules_for(test_file)
    surface = rules.surface(target, target_source)
    support = read(rules.support(test_file, test_source))
    found: list[MissingAssert] = []
    for flow in rules.flows(test_file, test_source, surface, support):
        for name in sorted(flow.called - flow.asserted):
            node = nodes.get(name)
            found.append(
                MissingAssert(
                    node_id=node.id if node is not None else NodeId(f"function:{target}#{name}"),
                    test=rules.test_id(test_file, flow.test),
                    output_type=node.return_type if node is not None else None,
                )
            )
    return tuple(found)
