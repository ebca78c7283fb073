"""All calls of the protocol, written by `infra/client_methods.py`; do not edit."""

from __future__ import annotations

from smp.client.methods.community import AsyncCommunityMethods, CommunityMethods
from smp.client.methods.enrichment import AsyncEnrichmentMethods, EnrichmentMethods
from smp.client.methods.evidence import AsyncEvidenceMethods, EvidenceMethods
from smp.client.methods.handoff import AsyncHandoffMethods, HandoffMethods
from smp.client.methods.index import AsyncIndexMethods, IndexMethods
from smp.client.methods.linker import AsyncLinkerMethods, LinkerMethods
from smp.client.methods.memory import AsyncMemoryMethods, MemoryMethods
from smp.client.methods.operations import AsyncOperationsMethods, OperationsMethods
from smp.client.methods.planning import AsyncPlanningMethods, PlanningMethods
from smp.client.methods.query import AsyncQueryMethods, QueryMethods
from smp.client.methods.safety import AsyncSafetyMethods, SafetyMethods
from smp.client.methods.sandbox import AsyncSandboxMethods, SandboxMethods
from smp.client.methods.telemetry import AsyncTelemetryMethods, TelemetryMethods
from smp.client.methods.verify import AsyncVerifyMethods, VerifyMethods


class Methods(
    MemoryMethods,
    IndexMethods,
    LinkerMethods,
    EnrichmentMethods,
    CommunityMethods,
    QueryMethods,
    PlanningMethods,
    SafetyMethods,
    TelemetryMethods,
    SandboxMethods,
    VerifyMethods,
    HandoffMethods,
    OperationsMethods,
    EvidenceMethods,
):
    """Every method of the protocol."""


class AsyncMethods(
    AsyncMemoryMethods,
    AsyncIndexMethods,
    AsyncLinkerMethods,
    AsyncEnrichmentMethods,
    AsyncCommunityMethods,
    AsyncQueryMethods,
    AsyncPlanningMethods,
    AsyncSafetyMethods,
    AsyncTelemetryMethods,
    AsyncSandboxMethods,
    AsyncVerifyMethods,
    AsyncHandoffMethods,
    AsyncOperationsMethods,
    AsyncEvidenceMethods,
):
    """Every method of the protocol, awaited."""
