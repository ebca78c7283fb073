"""Domain error → JSON-RPC code: a total table (decisions.md section 4); a test walks the subclasses."""

from __future__ import annotations

from smp.domain import errors

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

CODES: dict[type[errors.SmpError], int] = {
    errors.Invalid: INVALID_PARAMS,
    errors.TooLarge: -32016,
    errors.NotFound: -32001,
    errors.NodeNotFound: -32001,
    errors.SessionNotFound: -32003,
    errors.SandboxNotFound: -32008,
    errors.CheckpointNotFound: -32017,
    errors.ExecutionNotFound: -32008,
    errors.Conflict: -32006,
    errors.DocstringExists: -32002,
    errors.LockConflict: -32006,
    errors.MergeConflict: -32018,
    errors.Fenced: -32007,
    errors.Refused: -32007,
    errors.ScopeViolation: -32005,
    errors.SequenceViolation: -32007,
    errors.VerificationRequired: -32012,
    errors.Unauthorized: -32015,
    errors.SessionExpired: -32004,
    errors.SandboxFailed: -32009,
    errors.SignatureInvalid: -32010,
    errors.SnapshotInvalid: -32011,
    errors.ForgeFailed: -32013,
    errors.ForgeBusy: -32013,
    errors.Planned: METHOD_NOT_FOUND,
    errors.Unavailable: -32014,
}


def code_of(error: errors.SmpError) -> int:
    """The JSON-RPC code of a leaf.

    Raises:
        KeyError: The table lacks the class; the architecture test catches that before a user does.
    """
    return CODES[type(error)]
