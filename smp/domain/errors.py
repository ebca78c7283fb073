"""The one tree of failures that callers can do something about.

    SmpError
    ├── Invalid                 the request itself is wrong; `path` names the parameter
    ├── TooLarge                a bound on size, depth or count was exceeded
    ├── NotFound
    │   ├── NodeNotFound        no node, or an ambiguous name (`candidates`)
    │   ├── SessionNotFound     unknown or closed
    │   ├── SandboxNotFound
    │   ├── ExecutionNotFound
    │   └── CheckpointNotFound
    ├── Conflict
    │   ├── DocstringExists     an annotation would hide an extracted docstring
    │   ├── LockConflict        another session holds the file
    │   ├── MergeConflict       the branch cannot be merged into its base
    │   └── Fenced              a newer driver has taken the session over
    ├── Refused
    │   ├── ScopeViolation      a write outside the declared scope, or in a read session
    │   ├── SequenceViolation   a step out of order, or a session that a run drives
    │   ├── VerificationRequired
    │   └── Unauthorized
    ├── SessionExpired
    ├── SandboxFailed           the driver cannot do what was asked
    ├── SignatureInvalid
    ├── SnapshotInvalid
    ├── ForgeFailed
    │   └── ForgeBusy           a code host that may answer later
    ├── Planned                 a method of a later release
    └── Unavailable             a backend cannot be reached; the call may be repeated

Each leaf carries typed fields besides its message; `data()` is what goes onto the wire. Two total tables turn leaves
outward: `smp/rpc/errors.py` (JSON-RPC codes) and `activities/errors.py` (type and retryability).
"""

from __future__ import annotations

Json = str | int | float | bool | None | list[str]


class SmpError(Exception):
    """Base of all expected failures. The message is lower case and ends in what the caller can do."""

    def __init__(self, message: str, **fields: Json) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields

    def data(self) -> dict[str, Json]:
        """The fields that accompany the message on the wire; never secrets, never a traceback."""
        return {key: value for key, value in self.fields.items() if value is not None}


class Invalid(SmpError):
    """A parameter is wrong.

    Args:
        message: What is wrong and what would be right.
        path: The parameter's name, dotted and indexed (`changes[0].file_path`).
    """

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(message, path=path)
        self.path = path


class TooLarge(SmpError):
    """A bound on size, depth or count was exceeded; fields say which and how far."""


class NotFound(SmpError):
    """Something named by the caller does not exist."""


class NodeNotFound(NotFound):
    """No node answers to a reference, or several do.

    Args:
        ref: The reference as given.
        candidates: Ids of the nodes it may mean, when the name is ambiguous.
        suggestion: A spelling that does exist, when only letter case tells the two apart.
    """

    def __init__(self, ref: str, *, candidates: tuple[str, ...] = (), suggestion: str | None = None) -> None:
        if candidates:
            message = f"{ref!r} is ambiguous; name one of data.candidates"
            super().__init__(message, node_id=ref, candidates=list(candidates))
        elif suggestion is not None:
            message = f"no node {ref!r}; did you mean {suggestion!r}?"
            super().__init__(message, node_id=ref, did_you_mean=suggestion)
        else:
            super().__init__(f"no node {ref!r}; smp/locate or smp/search find nodes by description", node_id=ref)
        self.ref = ref
        self.candidates = candidates


class SessionNotFound(NotFound):
    """The session is unknown or closed; open a new one."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"no open session {session_id!r}; open one with smp/session/open", session_id=session_id)


class SandboxNotFound(NotFound):
    """The box is unknown or destroyed."""

    def __init__(self, sandbox_id: str) -> None:
        super().__init__(f"no sandbox {sandbox_id!r}; spawn one with smp/sandbox/spawn", sandbox_id=sandbox_id)


class ExecutionNotFound(NotFound):
    """The command is unknown or of another session."""

    def __init__(self, execution_id: str) -> None:
        super().__init__(
            f"no execution {execution_id!r} in this session; smp/sandbox/execute gives the id",
            execution_id=execution_id,
        )


class CheckpointNotFound(NotFound):
    """The checkpoint is unknown or belongs to another session."""

    def __init__(self, checkpoint_id: str) -> None:
        super().__init__(f"no checkpoint {checkpoint_id!r} in this session", checkpoint_id=checkpoint_id)


class Conflict(SmpError):
    """What was asked collides with what is there."""


class DocstringExists(Conflict):
    """An annotation would hide an extracted docstring."""

    def __init__(self, node_id: str) -> None:
        super().__init__("node already has an extracted docstring; set force: true to override", node_id=node_id)


class LockConflict(Conflict):
    """Another session holds the exclusive lock of a file."""

    def __init__(self, file: str, *, held_by_session: str, held_by_agent: str) -> None:
        super().__init__(
            f"{file!r} is locked by another session; wait for its release or expiry",
            file=file,
            held_by_session=held_by_session,
            held_by_agent=held_by_agent,
        )


class MergeConflict(Conflict):
    """The change cannot be merged into the present base; `files` names where."""


class Fenced(Conflict):
    """The session has been taken over by a newer driver; this one must stop."""


class Refused(SmpError):
    """The rules of a session forbid the step."""


class ScopeViolation(Refused):
    """A write outside the declared scope, or in a read session."""

    def __init__(self, message: str, *, session_id: str, attempted_file: str, declared_scope: list[str]) -> None:
        super().__init__(message, session_id=session_id, attempted_file=attempted_file, declared_scope=declared_scope)


class SequenceViolation(Refused):
    """A step out of order (guard -> dryrun -> checkpoint), or a step by someone who does not drive the session."""


class VerificationRequired(Refused):
    """No passed verification of the present content; run smp/verify/integrity first."""


class Unauthorized(Refused):
    """The caller may not do this."""


class SessionExpired(SmpError):
    """The session's time to live has passed; its locks are free. Open a new session."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"session {session_id!r} has expired; open a new one", session_id=session_id)


class SandboxFailed(SmpError):
    """The sandbox driver cannot do what was asked; the message says what is missing."""


class SignatureInvalid(SmpError):
    """A snapshot's signature does not verify."""


class SnapshotInvalid(SmpError):
    """A snapshot is unknown, damaged, or of another format."""


class ForgeFailed(SmpError):
    """The code host refused."""


class ForgeBusy(ForgeFailed):
    """The code host cannot be reached, is in trouble, or has no requests left; the call may be repeated.

    Args:
        message: What happened and what to do.
        retry_after_s: Seconds until it is worth asking again; None when the host does not say.
    """

    def __init__(self, message: str, *, retry_after_s: float | None = None, **fields: Json) -> None:
        super().__init__(message, retry_after_s=retry_after_s, **fields)
        self.retry_after_s = retry_after_s


class Planned(SmpError):
    """The method belongs to a later release and is not there yet."""

    def __init__(self, method: str) -> None:
        super().__init__(f"{method} is planned and not available in this release", planned=True, method=method)


class Unavailable(SmpError):
    """A backend cannot be reached; the message says which and how to start it. The call may be repeated."""

    def __init__(self, message: str, *, backend: str) -> None:
        super().__init__(message, backend=backend)
