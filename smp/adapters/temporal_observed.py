"""What a client of Temporal tells operators: its calls as spans, its and its worker's figures for Prometheus."""

from __future__ import annotations

from collections.abc import Sequence

from temporalio.client import Interceptor
from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig

from smp.domain.errors import Invalid
from smp.settings import Settings


def tracing(settings: Settings) -> Sequence[Interceptor]:
    """Interceptors that make a run, its workflow tasks and its activities one trace; none where no receiver is named."""
    if not settings.observability.traces:
        return ()
    from temporalio.contrib.opentelemetry import TracingInterceptor

    return (TracingInterceptor(),)


def metrics_runtime(settings: Settings) -> Runtime | None:
    """A runtime that shows the SDK's metrics at the address of the settings; None without one.

    Raises:
        Invalid: The address is none, or is taken.
    """
    address = settings.observability.worker_metrics
    if not address:
        return None
    try:
        return Runtime(telemetry=TelemetryConfig(metrics=PrometheusConfig(bind_address=address)))
    except (RuntimeError, ValueError) as error:
        raise Invalid(
            f"cannot show metrics at {address!r}: {error}; name another host:port in SMP_OBSERVABILITY_WORKER_METRICS",
            path="observability.worker_metrics",
        ) from error
