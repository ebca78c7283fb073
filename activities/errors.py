"""Domain error → `ApplicationError`: a total table; only what may succeed when repeated is retryable.

The type is the leaf's name, so that a workflow, a person and a search see the same word. Messages pass the redactor:
they are kept with the history for ever and are not encrypted.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from temporalio.exceptions import ApplicationError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from smp.domain import errors

RETRYABLE: dict[type[errors.SmpError], bool] = {
    errors.Invalid: False,
    errors.TooLarge: False,
    errors.NotFound: False,
    errors.NodeNotFound: False,
    errors.SessionNotFound: False,
    errors.SandboxNotFound: False,
    errors.CheckpointNotFound: False,
    errors.ExecutionNotFound: False,
    errors.Conflict: False,
    errors.DocstringExists: False,
    errors.LockConflict: False,
    errors.MergeConflict: False,
    errors.Fenced: False,
    errors.Refused: False,
    errors.ScopeViolation: False,
    errors.SequenceViolation: False,
    errors.VerificationRequired: False,
    errors.Unauthorized: False,
    errors.SessionExpired: False,
    errors.SandboxFailed: False,
    errors.SignatureInvalid: False,
    errors.SnapshotInvalid: False,
    errors.ForgeFailed: False,
    errors.ForgeBusy: True,
    errors.Planned: False,
    errors.Unavailable: True,
}

_SECRETS = re.compile(
    r"(?P<url>://)[^/\s:@]+:[^/\s@]+@"
    r"|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abpr]-)[A-Za-z0-9_-]{8,}"
    r"|(?P<auth>\b(?:bearer|token|password|secret)\b\s*[:=]?\s+)[^\s'\"]{8,}",
    re.IGNORECASE,
)


def redacted(text: str) -> str:
    """The text without what looks like a credential: user info of URLs, tokens of code hosts, bearer values."""
    return _SECRETS.sub(lambda match: f"{match['url'] or match['auth'] or ''}[redacted]", text)


def application_error(error: errors.SmpError) -> ApplicationError:
    """What an activity raises for a leaf.

    Raises:
        KeyError: The table lacks the class; a unit test catches that before a run does.
    """
    kind = type(error)
    wait = error.retry_after_s if isinstance(error, errors.ForgeBusy) else None
    return ApplicationError(
        redacted(error.message),
        type=kind.__name__,
        non_retryable=not RETRYABLE[kind],
        next_retry_delay=timedelta(seconds=wait) if wait is not None else None,
    )


class TranslateErrors(Interceptor):
    """Every activity of a worker raises `ApplicationError` where its use case raised a leaf."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - the SDK's name
        """See `Interceptor`."""
        return _Translation(next)


class _Translation(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002 - the SDK's name
        try:
            return await super().execute_activity(input)
        except errors.SmpError as error:
            raise application_error(error) from None
