"""The verdict on a file before it is written: scope, locks, heat, and above all whether tests reach what will change.

Pure but for reading the graph. A red alert is for code that is complex and that no test executes: `ZERO_COVERAGE`; that
such a node is hot too is said beside it, but heat alone alarms nobody here, it makes the session elevated instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from smp.domain.errors import Invalid
from smp.domain.graph import Direction, EdgeKind, Node, NodeKind, Scope
from smp.domain.ids import FilePath, NodeId
from smp.domain.paths import covers
from smp.domain.session_steps import (
    Blocking,
    FunctionCoverage,
    GuardChecks,
    GuardReport,
    GuardVerdict,
    UnblockCondition,
)
from smp.domain.sessions import Concurrency, Lock, Session, SessionMode
from smp.ports.graph_store import GraphStore
from smp.ports.telemetry_store import TelemetryStore
from smp.query.adjacency import CALLABLE_KINDS, FILE_KINDS, callers_by_target
from smp.query.context import HotRule, file_context
from smp.query.heat import hot_nodes
from smp.safety.coverage import Hits, function_pct
from smp.settings import SafetySettings

ZERO_COVERAGE, HOT_NODE = "ZERO_COVERAGE", "HOT_NODE"
_INTENT = re.compile(
    r"(?P<action>add|modify|delete|rename)_(?P<kind>function|method|class|interface|type|variable|test|file)"
    r"\s*:\s*(?P<name>[^\n]+?)\s*(?:->\s*(?P<new>[^\n]+?))?\s*"
)
_EXISTING = frozenset({"modify", "delete", "rename"})


class Intent(Struct, frozen=True, kw_only=True):
    """What is about to be done to one definition of a file; `new_name` of a rename."""

    action: str
    kind: str
    name: str
    new_name: str | None = None


def parse_intent(text: str) -> Intent:
    """Read an `intended_change`.

    Raises:
        Invalid: It is not of the form `<add|modify|delete|rename>_<function|class|…>:<name>`.
    """
    match = _INTENT.fullmatch(text.strip())
    if match is None:
        raise Invalid(
            f"{text[:200]!r} is not understood; write modify_function:NAME, add_function:NAME, delete_function:NAME "
            "or rename_function:NAME->NEW (likewise _method, _class, _variable, _file)",
            path="intended_change",
        )
    return Intent(action=match["action"], kind=match["kind"], name=match["name"], new_name=match["new"])


def assess(
    session: Session,
    target: FilePath,
    *,
    intent: Intent | None,
    hits: Hits | None,
    lock: Lock | None,
    graph: GraphStore,
    after: GraphStore,
    telemetry: TelemetryStore,
    hot: HotRule,
    limits: SafetySettings,
) -> GuardReport:
    """The verdict.

    Args:
        hits: Coverage of the target's lines, when a report measures it.
        lock: An unexpired lock of another session on the target.
        graph: As the session sees it. after: as it would with what is proposed; tests are looked for there.

    Raises:
        Invalid: The intent names a definition that the target does not have.
    """
    reasons = _hard_stops(session, target, lock)
    checks = GuardChecks(in_declared_scope=covers(session.scope, target), locked_by_other_agent=lock is not None)
    if reasons:
        return _report(session, target, GuardVerdict.BLOCKED, checks, reasons=reasons)
    file = next((node for node in graph.find(target) if node.kind in FILE_KINDS), None)
    inside = tuple(graph.scan(Scope(kind="file", prefix=target))) if file is not None else ()
    affected = _affected(inside, intent, target)
    if file is None:
        return _report(session, target, GuardVerdict.CLEAR, checks)
    summary = file_context(graph, telemetry, file, hot=hot).summary
    functions = tuple(node for node in affected if node.kind in CALLABLE_KINDS)
    reached = _tested(after, functions)
    coverage = {node.id: _coverage(node, hits, reached) for node in functions}
    callers = callers_by_target(graph, (node.id for node in affected))
    own = {node.id for node in affected}
    checks = GuardChecks(
        in_declared_scope=True,
        locked_by_other_agent=lock is not None,
        is_hot_node=summary.is_hot_node,
        heat_score=summary.heat_score,
        has_tests=summary.has_tests,
        test_files=summary.test_files,
        function_coverage={node.qualname: coverage[node.id] for node in functions},
        caller_count=len(set().union(*callers.values()) - own) if callers else 0,
        blast_radius=summary.blast_radius,
        is_public_api=any(node.exported for node in affected),
    )
    untested = tuple(node for node in functions if _alarming(node, coverage[node.id], file, limits))
    if not untested:
        return _report(session, target, GuardVerdict.CLEAR, checks)
    return _report(
        session,
        target,
        GuardVerdict.RED_ALERT,
        checks,
        blocking=(
            *(
                Blocking(
                    code=ZERO_COVERAGE,
                    node_id=node.id,
                    complexity=node.complexity,
                    coverage_pct=coverage[node.id].coverage_pct or 0.0,
                )
                for node in untested
            ),
            *_also_hot(graph, telemetry, untested, target, hot),
        ),
        conditions=tuple(
            UnblockCondition(
                code=ZERO_COVERAGE,
                action="add_tests",
                target_node=node.id,
                min_coverage_pct=limits.min_coverage_pct,
            )
            for node in untested
        ),
    )


def _hard_stops(session: Session, target: FilePath, lock: Lock | None) -> tuple[str, ...]:
    reasons = []
    if not covers(session.scope, target):
        reasons.append("File is outside declared session scope")
    if session.mode is SessionMode.READ:
        reasons.append("Session only reads; open one of mode write")
    # A lock is a claim on the working tree, which an mvcc session does not touch.
    if lock is not None and session.concurrency is Concurrency.EXCLUSIVE:
        reasons.append(f"Locked by session {lock.session_id} (agent: {lock.agent_id})")
    return tuple(reasons)


def _affected(inside: tuple[Node, ...], intent: Intent | None, target: FilePath) -> tuple[Node, ...]:
    """The definitions that the change concerns: the named one with what it holds, or all of the file."""
    definitions = tuple(node for node in inside if node.kind not in FILE_KINDS)
    if intent is None or intent.kind == "file":
        return definitions
    named = {node.qualname for node in definitions if _answers(node, intent.name)}
    if not named and intent.action in _EXISTING:
        raise Invalid(
            f"{target!r} has no definition {intent.name!r}; name one that it has, or say add_{intent.kind}",
            path="intended_change",
        )
    if intent.action == "add":
        return ()
    return tuple(
        node
        for node in definitions
        if any(node.qualname == name or node.qualname.startswith(name + ".") for name in named)
    )


def _answers(node: Node, name: str) -> bool:
    """By qualified or bare name; every redefinition (`~2`) answers to the plain name."""
    plain = re.sub(r"~\d+(?=\.|$)", "", node.qualname)
    return name in (node.qualname, plain) or name == plain.rpartition(".")[2]


def _tested(graph: GraphStore, functions: tuple[Node, ...]) -> frozenset[NodeId]:
    """Functions that a test reaches; a function within another is reached with it, a method not with its class."""
    ids = sorted(node.id for node in functions)
    edges = graph.edges(ids, kinds=(EdgeKind.TESTS,), direction=Direction.INCOMING) if ids else ()
    direct = {edge.target for edge in edges}
    names = {node.qualname for node in functions if node.id in direct}
    return frozenset(
        node.id
        for node in functions
        if node.id in direct or any(node.qualname.startswith(name + ".") for name in names)
    )


def _coverage(node: Node, hits: Hits | None, reached: frozenset[NodeId]) -> FunctionCoverage:
    pct = None if hits is None else function_pct(hits, node)
    return FunctionCoverage(covered=node.id in reached if pct is None else pct > 0, coverage_pct=pct)


def _alarming(node: Node, coverage: FunctionCoverage, file: Node, limits: SafetySettings) -> bool:
    if node.kind is NodeKind.TEST or file.role == "test":
        return False
    return node.complexity > limits.coverage_complexity and not coverage.covered


def _also_hot(
    graph: GraphStore, telemetry: TelemetryStore, nodes: Iterable[Node], target: FilePath, hot: HotRule
) -> tuple[Blocking, ...]:
    found = hot_nodes(
        graph,
        telemetry,
        scope=Scope(kind="file", prefix=target),
        since=hot.since,
        min_changes=hot.min_changes,
        min_callers=hot.min_callers,
    )
    ids = {node.id for node in nodes}
    return tuple(
        Blocking(code=HOT_NODE, node_id=heat.node_id, heat_score=heat.heat_score, caller_count=heat.caller_count)
        for heat in found
        if heat.node_id in ids
    )


def _report(
    session: Session,
    target: FilePath,
    verdict: GuardVerdict,
    checks: GuardChecks,
    *,
    blocking: tuple[Blocking, ...] = (),
    conditions: tuple[UnblockCondition, ...] = (),
    reasons: tuple[str, ...] = (),
) -> GuardReport:
    return GuardReport(
        verdict=verdict,
        target=target,
        safety_level=session.safety_level,
        checks=checks,
        blocking=blocking,
        unblock_conditions=conditions,
        reasons=reasons,
    )
