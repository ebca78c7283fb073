"""Durable runs on Temporal: the payload converter of structs, the connection, and the `RunEngine` port.

The port is synchronous and callable from any thread; the client is not. One daemon thread owns an event loop and the
client; calls are handed to it and waited for. A connection is made at the first use, so that a process without a
server pays nothing, and again after a failure, so that a server started later is found.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import hashlib
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import (
    Client,
    Interceptor,
    WorkflowFailureError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import (
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.converter import (
    BinaryNullPayloadConverter,
    BinaryPlainPayloadConverter,
    CompositePayloadConverter,
    DataConverter,
    EncodingPayloadConverter,
    JSONProtoPayloadConverter,
)
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    TerminatedError,
    WorkflowAlreadyStartedError,
)
from temporalio.runtime import Runtime
from temporalio.service import RetryConfig, RPCError, RPCStatusCode

from smp.domain.errors import Conflict, Invalid, NotFound, SmpError, TooLarge, Unavailable
from smp.domain.ids import SessionId
from smp.domain.runs import (
    DECIDE_UPDATE,
    MAX_PROPOSAL_BYTES,
    MAX_REQUEST_BYTES,
    PROPOSE_UPDATE,
    SEARCH_ATTRIBUTES,
    SESSION_WORKFLOW,
    STATE_QUERY,
    TOUCH_SIGNAL,
    ProposalReceipt,
    Proposed,
    ReviewWord,
    SessionOutcome,
    SessionRun,
    SessionRunRequest,
    SessionRunState,
    workflow_id_of,
)
from smp.domain.swarms import SWARM_WORKFLOW, SwarmOutcome, SwarmRequest, SwarmState, swarm_workflow_id
from smp.ports.artifact_store import ArtifactStore
from smp.ports.run_engine import RunEngine
from smp.safety.edit_blobs import lighter_agent, lighter_proposal
from smp.settings import Settings, TemporalSettings

T = TypeVar("T")
CONNECT_SECONDS = 5.0
CALL_SECONDS = 15.0
QUERY_SECONDS = 10.0
SETTLE_SECONDS = 0.1
SILENT_SECONDS = 15.0
STATUS = SearchAttributeKey.for_keyword("SmpStatus")


class MsgspecJson(EncodingPayloadConverter):
    """Structs as JSON, typed on the way back; keeps the name `json/plain`, which every viewer shows."""

    @property
    def encoding(self) -> str:
        """The name in a payload's metadata."""
        return "json/plain"

    def to_payload(self, value: Any) -> Payload | None:
        """Encode; fields in a fixed order, so that equal values are equal bytes in a history."""
        return Payload(
            metadata={"encoding": self.encoding.encode()}, data=msgspec.json.encode(value, order="deterministic")
        )

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        """Decode into the hinted type; plain values where there is no hint."""
        if type_hint is None:
            return msgspec.json.decode(payload.data)
        return msgspec.json.decode(payload.data, type=type_hint)


class StructPayloads(CompositePayloadConverter):
    """The converters in the order they are tried."""

    def __init__(self) -> None:
        super().__init__(
            BinaryNullPayloadConverter(), BinaryPlainPayloadConverter(), JSONProtoPayloadConverter(), MsgspecJson()
        )


DATA_CONVERTER = DataConverter(payload_converter_class=StructPayloads)


async def connect(
    settings: TemporalSettings, *, interceptors: Sequence[Interceptor] = (), runtime: Runtime | None = None
) -> Client:
    """A client of the server, which has been told the search attributes that runs name.

    Raises:
        Unavailable: Nothing answers there; the message says how to start a server.
    """
    retries = RetryConfig(initial_interval_millis=100, max_interval_millis=1000, max_elapsed_time_millis=4000)
    try:
        client = await asyncio.wait_for(
            Client.connect(
                settings.address,
                namespace=settings.namespace,
                data_converter=DATA_CONVERTER,
                retry_config=retries,
                connect_timeout=timedelta(seconds=CONNECT_SECONDS),
                interceptors=interceptors,
                runtime=runtime,
            ),
            CONNECT_SECONDS + 1,
        )
        await _register_search_attributes(client)
    except (RuntimeError, TimeoutError, RPCError) as error:
        raise unreachable(settings) from error
    return client


def unreachable(settings: TemporalSettings) -> Unavailable:
    """The one sentence about a missing server."""
    return Unavailable(
        f"no Temporal server answers at {settings.address}; start one with: smp temporal start "
        "(or name another in [temporal] address, SMP_TEMPORAL_ADDRESS)",
        backend="temporal",
    )


async def _register_search_attributes(client: Client) -> None:
    listed = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace), timeout=timedelta(seconds=CALL_SECONDS)
    )
    missing = {name: kind for name, kind in SEARCH_ATTRIBUTES.items() if name not in listed.custom_attributes}
    if not missing:
        return
    kinds = {name: IndexedValueType.Value(f"INDEXED_VALUE_TYPE_{kind.upper()}") for name, kind in missing.items()}
    await client.operator_service.add_search_attributes(
        AddSearchAttributesRequest(namespace=client.namespace, search_attributes=kinds),
        timeout=timedelta(seconds=CALL_SECONDS),
    )


class TemporalRunEngine(RunEngine):
    """Runs by name over one client.

    Args:
        artifacts: Where large edits are kept, so that they travel by reference; without it they are refused.
    """

    def __init__(
        self,
        settings: Settings,
        artifacts: ArtifactStore | None = None,
        *,
        interceptors: Callable[[], Sequence[Interceptor]] = tuple,
    ) -> None:
        self._settings = settings.temporal
        self._interceptors = interceptors
        self._artifacts = artifacts
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Client | None = None
        self._connecting: asyncio.Task[Client] | None = None
        self._silent_until = 0.0
        """Clock of `time.monotonic`: a server that has just not answered in time is not waited for again until then."""

    def start_session(self, request: SessionRunRequest) -> str:
        """See `RunEngine.start_session`."""
        request = self._lighter(request)
        size = len(msgspec.json.encode(request))
        if size > MAX_REQUEST_BYTES:
            raise TooLarge(
                "this run's request is too large; shorten its task, scope and pairs, or let an agent command make the edits",
                limit_bytes=MAX_REQUEST_BYTES,
                size_bytes=size,
            )
        return self._call(self._start(request))

    def start_swarm(self, request: SwarmRequest) -> str:
        """See `RunEngine.start_swarm`."""
        share = MAX_PROPOSAL_BYTES // max(1, len(request.sessions))
        lighter = tuple(replace(one, request=self._lighter(one.request, limit=share)) for one in request.sessions)
        request = replace(request, sessions=lighter)
        size = len(msgspec.json.encode(request))
        if size > MAX_REQUEST_BYTES:
            raise TooLarge(
                f"the {len(request.sessions)} tasks are too large for one run; split the file, or let agent commands "
                "make the edits in their boxes",
                limit_bytes=MAX_REQUEST_BYTES,
                size_bytes=size,
            )
        return self._call(self._start_swarm(request))

    def swarm_state(self, workflow_id: str) -> SwarmState:
        """See `RunEngine.swarm_state`."""
        return self._call(self._query(workflow_id, SwarmState))

    def swarm_within(self, workflow_id: str, wait_ms: int) -> SwarmOutcome | None:
        """See `RunEngine.swarm_within`."""
        return self._call(self._swarm_within(workflow_id, wait_ms))

    def state(self, workflow_id: str) -> SessionRunState:
        """See `RunEngine.state`."""
        return self._call(self._query(workflow_id, SessionRunState))

    def result(self, workflow_id: str, *, timeout_ms: int | None = None) -> SessionOutcome:
        """See `RunEngine.result`."""
        return self._call(self._result(workflow_id, timeout_ms))

    def outcome_within(self, workflow_id: str, wait_ms: int) -> SessionOutcome | None:
        """See `RunEngine.outcome_within`."""
        return self._call(self._outcome_within(workflow_id, wait_ms))

    def propose(self, workflow_id: str, proposed: Proposed, *, timeout_ms: int | None = None) -> ProposalReceipt:
        """See `RunEngine.propose`."""
        if self._artifacts is not None:
            proposed = lighter_proposal(self._artifacts, proposed)
        return self._call(self._propose(workflow_id, proposed, timeout_ms))

    def decide(self, workflow_id: str, word: ReviewWord) -> str:
        """See `RunEngine.decide`."""
        return self._call(self._updated(workflow_id, DECIDE_UPDATE, word, str, _update_id(DECIDE_UPDATE, word)))

    def touch(self, workflow_id: str) -> None:
        """See `RunEngine.touch`."""
        self._call(self._touch(workflow_id))

    def cancel(self, workflow_id: str) -> None:
        """See `RunEngine.cancel`."""
        self._call(self._cancel(workflow_id))

    def sessions(self, task_queue: str, *, limit: int = 100, wait_ms: int | None = None) -> tuple[SessionRun, ...]:
        """See `RunEngine.sessions`."""
        if wait_ms is None:
            return self._call(self._listed(SESSION_WORKFLOW, task_queue, limit))
        if time.monotonic() < self._silent_until:
            raise unreachable(self._settings)
        try:
            return self._call(self._listed(SESSION_WORKFLOW, task_queue, limit), seconds=wait_ms / 1000)
        except Unavailable:
            self._silent_until = time.monotonic() + SILENT_SECONDS
            raise

    def swarms(self, task_queue: str, *, limit: int = 100) -> tuple[SessionRun, ...]:
        """See `RunEngine.swarms`."""
        return self._call(self._listed(SWARM_WORKFLOW, task_queue, limit))

    def _lighter(self, request: SessionRunRequest, *, limit: int = MAX_PROPOSAL_BYTES) -> SessionRunRequest:
        if self._artifacts is None:
            return request
        return replace(request, agent=lighter_agent(self._artifacts, request.agent, limit=limit))

    def _call(self, work: Coroutine[Any, Any, T], *, seconds: float | None = None) -> T:
        """Run on the loop's thread; a Ctrl-C here cancels the call there, and so does the end of the time to wait."""
        future = asyncio.run_coroutine_threadsafe(work, self._running_loop())
        try:
            return future.result(seconds)
        except TimeoutError as error:
            future.cancel()
            raise unreachable(self._settings) from error
        except RPCError as error:
            raise self._translated(error) from error
        except BaseException:
            future.cancel()
            raise

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                loop = asyncio.new_event_loop()
                # The SDK's threads let go of a client a moment after its last call; an interpreter that ends meanwhile
                # aborts (seen with temporalio 1.35 on CPython 3.11 in 2 of 15 runs, in none with this pause).
                atexit.register(time.sleep, SETTLE_SECONDS)
                threading.Thread(target=loop.run_forever, name="temporal-client", daemon=True).start()
                self._loop = loop
            return self._loop

    async def _connected(self) -> Client:
        # Only the loop's thread comes here. Who stops waiting does not stop the connecting: the next call finds it done.
        if self._client is not None:
            return self._client
        if self._connecting is None:
            self._connecting = asyncio.create_task(connect(self._settings, interceptors=self._interceptors()))
            self._connecting.add_done_callback(self._keep)
        return await asyncio.shield(self._connecting)

    def _keep(self, connecting: asyncio.Task[Client]) -> None:
        self._connecting = None
        if not connecting.cancelled() and connecting.exception() is None:
            self._client, self._silent_until = connecting.result(), 0.0

    def _translated(self, error: RPCError) -> SmpError:
        if error.status in (RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED):
            self._client = None
            return unreachable(self._settings)
        if error.status == RPCStatusCode.NOT_FOUND:
            return NotFound("no run of this name; smp session list shows what there is")
        if error.status == RPCStatusCode.FAILED_PRECONDITION:
            return Unavailable("no worker answers for this run; start one with: smp worker", backend="temporal")
        return Unavailable(f"the Temporal server refused the call: {error.message}", backend="temporal")

    async def _start(self, request: SessionRunRequest) -> str:
        client = await self._connected()
        workflow_id = workflow_id_of(request.session_id)
        keyword = SearchAttributeKey.for_keyword
        try:
            await client.start_workflow(
                SESSION_WORKFLOW,
                request,
                id=workflow_id,
                task_queue=request.task_queue,
                result_type=SessionOutcome,
                # A session is driven once: its id is refused while it runs, and for as long as it is remembered.
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                search_attributes=TypedSearchAttributes(
                    [
                        SearchAttributePair(keyword("SmpRepository"), request.repository),
                        SearchAttributePair(keyword("SmpAgent"), request.agent_id),
                        SearchAttributePair(keyword("SmpCommit"), request.commit_sha),
                        SearchAttributePair(keyword("SmpStatus"), "open"),
                        SearchAttributePair(SearchAttributeKey.for_int("SmpAttempts"), 0),
                    ]
                ),
                memo={"task": request.task[:1000]},
                static_summary=(request.title or request.task)[:200],
                rpc_timeout=timedelta(seconds=CALL_SECONDS),
            )
        except WorkflowAlreadyStartedError:
            # "Start or find": a caller that lost the acknowledgement asks again with the same session id.
            return workflow_id
        return workflow_id

    async def _start_swarm(self, request: SwarmRequest) -> str:
        client = await self._connected()
        workflow_id = swarm_workflow_id(request.swarm_id)
        keyword = SearchAttributeKey.for_keyword
        with contextlib.suppress(WorkflowAlreadyStartedError):
            await client.start_workflow(
                SWARM_WORKFLOW,
                request,
                id=workflow_id,
                task_queue=request.task_queue,
                result_type=SwarmOutcome,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                search_attributes=TypedSearchAttributes(
                    [
                        SearchAttributePair(keyword("SmpRepository"), request.repository),
                        SearchAttributePair(keyword("SmpSwarm"), request.swarm_id),
                        SearchAttributePair(STATUS, "running"),
                    ]
                ),
                static_summary=f"{len(request.sessions)} sessions, {request.limit} at once",
                rpc_timeout=timedelta(seconds=CALL_SECONDS),
            )
        return workflow_id

    async def _swarm_within(self, workflow_id: str, wait_ms: int) -> SwarmOutcome | None:
        client = await self._connected()
        handle = client.get_workflow_handle(workflow_id, result_type=SwarmOutcome)
        try:
            async with asyncio.timeout(wait_ms / 1000):
                outcome: SwarmOutcome = await handle.result()
        except TimeoutError:
            return None
        except WorkflowFailureError as error:
            ends = {CancelledError: "cancelled", TerminatedError: "terminated"}
            status = ends.get(type(error.cause), "failed")
            rows = (await self._query(workflow_id, SwarmState)).rows
            detail = str(error.cause) if status == "failed" else ""
            return SwarmOutcome(swarm_id=workflow_id.removeprefix("swarm/"), status=status, rows=rows, detail=detail)
        return outcome

    async def _query(self, workflow_id: str, answer: type[T]) -> T:
        client = await self._connected()
        handle = client.get_workflow_handle(workflow_id)
        state: T = await handle.query(STATE_QUERY, result_type=answer, rpc_timeout=timedelta(seconds=QUERY_SECONDS))
        return state

    async def _result(self, workflow_id: str, timeout_ms: int | None) -> SessionOutcome:
        try:
            async with asyncio.timeout(None if timeout_ms is None else timeout_ms / 1000):
                return await self._ended(workflow_id)
        except TimeoutError as error:
            raise Unavailable(
                f"the run has not ended within {timeout_ms} ms; it goes on, ask again", backend="temporal"
            ) from error

    async def _outcome_within(self, workflow_id: str, wait_ms: int) -> SessionOutcome | None:
        try:
            async with asyncio.timeout(wait_ms / 1000):
                return await self._ended(workflow_id)
        except TimeoutError:
            return None

    async def _ended(self, workflow_id: str) -> SessionOutcome:
        client = await self._connected()
        handle = client.get_workflow_handle(workflow_id, result_type=SessionOutcome)
        try:
            outcome: SessionOutcome = await handle.result()
        except WorkflowFailureError as error:
            return _failed(workflow_id, error)
        return outcome

    async def _propose(self, workflow_id: str, proposed: Proposed, timeout_ms: int | None) -> ProposalReceipt:
        name = _update_id(f"{PROPOSE_UPDATE}-{proposed.seq}", proposed)
        try:
            async with asyncio.timeout(None if timeout_ms is None else timeout_ms / 1000):
                return await self._updated(workflow_id, PROPOSE_UPDATE, proposed, ProposalReceipt, name)
        except TimeoutError as error:
            raise Unavailable(
                f"proposal {proposed.seq} was not judged within {timeout_ms} ms; it goes on: propose the same again to "
                "hear what became of it (a worker has to live: smp worker)",
                backend="temporal",
            ) from error

    async def _updated(self, workflow_id: str, update: str, message: Struct, answer: type[T], update_id: str) -> T:
        client = await self._connected()
        handle = client.get_workflow_handle(workflow_id)
        try:
            # The id makes a repeat find the first one's answer instead of being a second message.
            result: T = await handle.execute_update(update, message, id=update_id, result_type=answer)
        except WorkflowUpdateFailedError as error:
            raise _refused(error) from error
        except WorkflowUpdateRPCTimeoutOrCancelledError as error:
            raise TimeoutError from error
        return result

    async def _touch(self, workflow_id: str) -> None:
        client = await self._connected()
        handle = client.get_workflow_handle(workflow_id)
        await handle.signal(TOUCH_SIGNAL, rpc_timeout=timedelta(seconds=CALL_SECONDS))

    async def _cancel(self, workflow_id: str) -> None:
        client = await self._connected()
        await client.get_workflow_handle(workflow_id).cancel(rpc_timeout=timedelta(seconds=CALL_SECONDS))

    async def _listed(self, workflow: str, task_queue: str, limit: int) -> tuple[SessionRun, ...]:
        client = await self._connected()
        query = f'WorkflowType="{workflow}" AND TaskQueue="{task_queue}"'
        return tuple(
            [
                SessionRun(
                    workflow_id=run.id,
                    run_id=run.run_id,
                    status=run.status.name.lower() if run.status else "",
                    phase=run.typed_search_attributes.get(STATUS) or "",
                    started_at=run.start_time,
                    closed_at=run.close_time,
                )
                async for run in client.list_workflows(query, limit=limit, rpc_timeout=timedelta(seconds=CALL_SECONDS))
            ]
        )


def _update_id(name: str, message: Struct) -> str:
    body = msgspec.json.encode(message, order="deterministic")
    return f"{name}-{hashlib.sha256(body).hexdigest()[:24]}"


def _refused(error: WorkflowUpdateFailedError) -> SmpError:
    """What the run's validator, or the step behind an Update, said."""
    cause = error.cause
    if not isinstance(cause, ApplicationError):
        return Unavailable(f"the run did not answer: {cause}; ask smp session show how it ended", backend="temporal")
    if cause.type == "TooLarge":
        return TooLarge(cause.message, limit_bytes=MAX_PROPOSAL_BYTES)
    if cause.type == "SequenceViolation":
        return Conflict(f"{cause.message}; smp session show tells where the run is")
    return Invalid(cause.message, path="proposal")


def _failed(workflow_id: str, error: WorkflowFailureError) -> SessionOutcome:
    """The outcome of a run that did not return one: cancelled, terminated, or failed by a fault."""
    session_id = SessionId(workflow_id.removeprefix("session/"))
    cause: BaseException | None = error.cause
    if isinstance(cause, CancelledError):
        return SessionOutcome(session_id=session_id, status="cancelled", reason="cancelled")
    if isinstance(cause, ActivityError) and isinstance(cause.cause, ApplicationError):
        return SessionOutcome(
            session_id=session_id, status="failed", reason=cause.cause.type or "", detail=cause.cause.message
        )
    return SessionOutcome(session_id=session_id, status="failed", reason=type(cause).__name__, detail=str(cause))
