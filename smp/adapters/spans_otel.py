"""Spans by OpenTelemetry, sent by OTLP over HTTP in the background; what cannot be sent is dropped, never waited for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from smp.ports.spans import Spans
from smp.settings import Settings

T = TypeVar("T")
SERVICE = "smp"
FLUSH_MS = 3_000


class OtelSpans(Spans):
    """One provider for the process: Temporal's interceptor and ours write into the same traces."""

    def __init__(self, settings: Settings) -> None:
        provider = trace.get_tracer_provider()
        if not isinstance(provider, TracerProvider):
            provider = TracerProvider(resource=Resource.create({"service.name": SERVICE}))
            endpoint = f"{settings.observability.traces.rstrip('/')}/v1/traces"
            provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
            trace.set_tracer_provider(provider)
        self._provider = provider
        self._tracer = provider.get_tracer(SERVICE)
        self._repository = settings.repo.name
        self._propagator = TraceContextTextMapPropagator()

    def span(self, name: str, *, parent: str | None = None, **attributes: str) -> AbstractContextManager[None]:
        return self._span(name, parent, attributes)

    @contextmanager
    def _span(self, name: str, parent: str | None, attributes: dict[str, str]) -> Iterator[None]:
        context = None if parent is None else self._propagator.extract({"traceparent": parent})
        known = {f"smp.{key}": value for key, value in attributes.items()} | {"smp.repository": self._repository}
        with self._tracer.start_as_current_span(name, context=context, attributes=known):
            yield

    def timed(self, name: str, adapter: T) -> T:
        ports = (kind for kind in type(adapter).__mro__ if kind.__module__.startswith("smp.ports."))
        for method in sorted({method for kind in ports for method in getattr(kind, "__abstractmethods__", ())}):
            setattr(adapter, method, self._wrapped(f"{name}.{method}", getattr(adapter, method)))
        return adapter

    def flush(self) -> None:
        self._provider.force_flush(FLUSH_MS)

    def _wrapped(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def timed(*arguments: Any, **named: Any) -> Any:
            # Only inside of a call or a step: what runs by itself would be a trace of one span each.
            if not trace.get_current_span().get_span_context().is_valid:
                return call(*arguments, **named)
            with self._tracer.start_as_current_span(name):
                return call(*arguments, **named)

        return timed
