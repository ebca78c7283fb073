"""Tools that work: session, plan, check, edit, run, verify, hand_off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from smp.rpc.mcp.tool import DEFAULT_BUDGET, Budget, Call, FilePath, SessionId, Tool, ToolParams, given


class SessionParams(ToolParams, frozen=True, kw_only=True):
    """What to do with the session."""

    action: Annotated[
        Literal["open", "recover", "complete", "abort"],
        Meta(description="`open` needs agent_id, task, scope; the others need session_id (`recover` agent_id too)."),
    ]
    agent_id: Annotated[str | None, Meta(description="Your name; the audit keeps it.")] = None
    task: Annotated[str | None, Meta(description="What you are going to do, in a sentence.")] = None
    scope: Annotated[
        tuple[FilePath, ...], Meta(description="Files, or folders ending in /, that you may write; nothing else.")
    ] = ()
    mode: Annotated[Literal["read", "write"], Meta(description="`read` for questions only.")] = "write"
    session_id: SessionId | None = None


_ENDS = {"complete": "completed", "abort": "aborted"}


def _session(params: SessionParams, call: Call) -> Mapping[str, object]:
    if params.action == "open":
        asked = given(agent_id=params.agent_id, task=params.task, scope=params.scope, mode=params.mode)
        return {"opened": call("smp/session/open", asked)}
    if params.action == "recover":
        return {"recovered": call("smp/session/recover", given(session_id=params.session_id, agent_id=params.agent_id))}
    return {"closed": call("smp/session/close", given(session_id=params.session_id, status=_ENDS[params.action]))}


class PlanParams(ToolParams, frozen=True, kw_only=True):
    """Files that are going to be written."""

    session_id: SessionId
    task: Annotated[str, Meta(min_length=1, description="What the change is for.")]
    files: Annotated[tuple[FilePath, ...], Meta(min_length=1, description="Files that you intend to write.")]
    other_session: Annotated[
        SessionId | None, Meta(description="Also say where this session and yours get in each other's way.")
    ] = None
    max_tokens: Budget = DEFAULT_BUDGET


def _plan(params: PlanParams, call: Call) -> Mapping[str, object]:
    asked = given(session_id=params.session_id, task=params.task, intended_writes=params.files)
    found: dict[str, object] = {"plan": call("smp/plan", asked)}
    if params.other_session is not None:
        found["conflict"] = call("smp/conflict", {"session_a": params.session_id, "session_b": params.other_session})
    return found


class CheckParams(ToolParams, frozen=True, kw_only=True):
    """A file, and what it is going to be."""

    session_id: SessionId
    file: FilePath
    content: Annotated[
        str | None, Meta(description="The whole new content: then also what it would break, before it is written.")
    ] = None
    intended_change: Annotated[
        str | None, Meta(description="modify_function:NAME, add_…, delete_…, rename_function:OLD->NEW.")
    ] = None
    max_tokens: Budget = DEFAULT_BUDGET


def _check(params: CheckParams, call: Call) -> Mapping[str, object]:
    asked = given(session_id=params.session_id, target=params.file, intended_change=params.intended_change)
    found: dict[str, object] = {"guard": call("smp/guard/check", asked)}
    if params.content is not None:
        asked = {"session_id": params.session_id, "file_path": params.file, "proposed_content": params.content}
        found["dryrun"] = call("smp/dryrun", asked)
    return found


class FileEdit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file. content: all of it; null deletes the file."""

    file: FilePath
    content: str | None


class EditParams(ToolParams, frozen=True, kw_only=True):
    """Files as they shall be, or a checkpoint to go back to."""

    session_id: SessionId
    files: tuple[FileEdit, ...] = ()
    undo_to: Annotated[str | None, Meta(description="A checkpoint_id from an earlier edit: go back to it.")] = None


def _edit(params: EditParams, call: Call) -> Mapping[str, object]:
    if params.undo_to is not None:
        asked = {"session_id": params.session_id, "checkpoint_id": params.undo_to}
        return {"rolled_back": call("smp/rollback", asked)}
    names = [edit.file for edit in params.files]
    taken = call("smp/checkpoint", {"session_id": params.session_id, "files": names})
    changes = [
        given(file_path=edit.file, content=edit.content, change_type="deleted" if edit.content is None else "modified")
        for edit in params.files
    ]
    done = call("smp/batch_update", {"session_id": params.session_id, "changes": changes})
    return {"checkpoint": taken, "updated": done}


class RunParams(ToolParams, frozen=True, kw_only=True):
    """A command and the box that it runs in."""

    session_id: SessionId
    command: Annotated[str | None, Meta(description="A shell command; left out: only make the box.")] = None
    sandbox_id: Annotated[str | None, Meta(description="From an earlier run; left out: a new box is made.")] = None
    timeout_ms: Annotated[int, Meta(ge=1000, le=3_600_000)] | None = None
    destroy: Annotated[bool, Meta(description="Take the box down afterwards.")] = False
    max_tokens: Budget = DEFAULT_BUDGET


def _run(params: RunParams, call: Call) -> Mapping[str, object]:
    found: dict[str, object] = {}
    box = params.sandbox_id
    if box is None:
        spawned = call("smp/sandbox/spawn", {"session_id": params.session_id})
        found["spawned"], box = spawned, spawned.sandbox_id
    if params.command is not None:
        asked = given(sandbox_id=box, command=params.command, timeout_ms=params.timeout_ms)
        found["executed"] = call("smp/sandbox/execute", asked)
    if params.destroy:
        found["destroyed"] = call("smp/sandbox/destroy", {"sandbox_id": box, "session_id": params.session_id})
    return found


class VerifyParams(ToolParams, frozen=True, kw_only=True):
    """A changed file and the tests that guard it."""

    sandbox_id: Annotated[str, Meta(min_length=1, description="From `run`.")]
    target_file: FilePath
    test_file: FilePath
    max_tokens: Budget = DEFAULT_BUDGET


def _verify(params: VerifyParams, call: Call) -> Mapping[str, object]:
    asked = {"sandbox_id": params.sandbox_id, "target_file": params.target_file, "test_file": params.test_file}
    return {"verified": call("smp/verify/integrity", asked)}


class HandOffParams(ToolParams, frozen=True, kw_only=True):
    """What becomes a pull request."""

    session_id: SessionId
    sandbox_id: Annotated[str, Meta(min_length=1, description="From `run`.")]
    title: Annotated[str, Meta(min_length=1, max_length=200)]
    issues: Annotated[tuple[str, ...], Meta(description="Issues that it refers to.")] = ()
    reviewer: Annotated[
        str | None, Meta(description="An agent that shall review it first; needs verify_result_id.")
    ] = None
    verify_result_id: Annotated[str | None, Meta(description="From `verify`.")] = None
    max_tokens: Budget = DEFAULT_BUDGET


def _hand_off(params: HandOffParams, call: Call) -> Mapping[str, object]:
    place = {"session_id": params.session_id, "sandbox_id": params.sandbox_id}
    if params.reviewer is not None:
        asked = place | given(reviewer_agent=params.reviewer, verify_result_id=params.verify_result_id)
        return {"review": call("smp/handoff/review", asked)}
    asked = place | given(title=params.title, issue_refs=params.issues, verify_result_id=params.verify_result_id)
    return {"pull_request": call("smp/handoff/pr", asked)}


WORKING_TOOLS = (
    Tool(
        name="session",
        title="Open or end a session",
        params=SessionParams,
        description=(
            "Declare what you are going to change before you change it. `open` first; pass its session_id to the other "
            "tools; `complete` or `abort` at the end. Only files of the scope can be written."
        ),
        answer=_session,
        destroys=True,
    ),
    Tool(
        name="plan",
        title="Plan a change",
        params=PlanParams,
        description=(
            "In which order to edit several files so that the code holds together after each, what each edit risks, and "
            "whether another session is in the way."
        ),
        answer=_plan,
        reads=True,
    ),
    Tool(
        name="check",
        title="May I write this, and what would it break",
        params=CheckParams,
        description=(
            "Before every edit: whether the file may be written (scope, locks, untested or hot code) and, with `content`, "
            "which callers and tests the new content would break. Writes nothing."
        ),
        answer=_check,
        reads=True,
    ),
    Tool(
        name="edit",
        title="Write files, or take them back",
        params=EditParams,
        description=(
            "Write files of the session, all or none, after a checkpoint; the memory knows them at once. `undo_to` goes "
            "back to a checkpoint. Use it instead of writing files yourself: your session works on its own copy."
        ),
        answer=_edit,
        destroys=True,
    ),
    Tool(
        name="run",
        title="Run a command in the session's sandbox",
        params=RunParams,
        description=(
            "Run tests or any command in a box with the session's files and no way out: exit code, output, which calls "
            "really happened, which connections were refused. Never run the project's code outside of it."
        ),
        answer=_run,
        destroys=True,
    ),
    Tool(
        name="verify",
        title="Do the tests prove anything",
        params=VerifyParams,
        description=(
            "Whether the tests would notice if the changed code were wrong: assertions on its results, and mutants of it. "
            "Tighten the tests until it passes; a hand-off needs it."
        ),
        answer=_verify,
    ),
    Tool(
        name="hand_off",
        title="Make a pull request",
        params=HandOffParams,
        description=(
            "Turn the verified change into a branch and a pull request with a structural diff, or ask another agent for a "
            "review first."
        ),
        answer=_hand_off,
    ),
)
