"""All method groups of the protocol, in the order of the specification."""

from __future__ import annotations

from types import ModuleType

from smp.rpc.methods import (
    community,
    enrichment,
    evidence,
    handoff,
    index,
    linker,
    memory,
    operations,
    planning,
    query,
    safety,
    sandbox,
    telemetry,
    verify,
)

METHOD_GROUPS: tuple[ModuleType, ...] = (
    memory,
    index,
    linker,
    enrichment,
    community,
    query,
    planning,
    safety,
    telemetry,
    sandbox,
    verify,
    handoff,
    operations,
    evidence,
)
