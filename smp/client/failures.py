"""What a call can end in besides its result.

ClientError
├── CallFailed          the server answered with an error object
├── Unreachable         no answer arrived; whether the call took effect is not known unless it only reads
└── Misunderstood       an answer arrived that is not one of this protocol
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any


class ErrorCode(IntEnum):
    """The codes of the protocol (docs/protocol.md, Errors)."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    NOT_FOUND = -32001
    DOCSTRING_EXISTS = -32002
    SESSION_NOT_FOUND = -32003
    SESSION_EXPIRED = -32004
    SCOPE_VIOLATION = -32005
    CONFLICT = -32006
    REFUSED = -32007
    SANDBOX_NOT_FOUND = -32008
    SANDBOX_FAILED = -32009
    SIGNATURE_INVALID = -32010
    SNAPSHOT_INVALID = -32011
    VERIFICATION_REQUIRED = -32012
    FORGE_FAILED = -32013
    UNAVAILABLE = -32014
    UNAUTHORIZED = -32015
    TOO_LARGE = -32016
    CHECKPOINT_NOT_FOUND = -32017
    MERGE_CONFLICT = -32018


class ClientError(Exception):
    """Base of what this package raises about calls."""


class CallFailed(ClientError):
    """The server refused or failed; `data` has the fields of the error, such as `candidates` or `held_by_agent`.

    Attributes:
        code: An `ErrorCode`, or a bare number that this client does not know.
        message: What is wrong and what to do next.
    """

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code: int = ErrorCode(code) if code in set(ErrorCode) else code
        self.message = message
        self.data: Mapping[str, Any] = data or {}


class Unreachable(ClientError):
    """No answer arrived: the server is not there, went away, or took too long."""


class Misunderstood(ClientError):
    """What arrived is no answer of this protocol; the address may belong to something else."""
