"""Random calls on sessions, against a model that knows only the promises: nothing is written outside a scope, no step of an
elevated session is skipped, a file has one exclusive holder, and no line of an audit is ever lost or changed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from smp.domain.errors import SmpError
from smp.domain.ids import CheckpointId, FilePath, SessionId
from smp.domain.paths import covers
from smp.domain.sessions import AuditEvent, Concurrency, SafetyLevel, Session, SessionMode, SessionStatus
from smp.indexing.reports import FileChange
from smp.safety.audit import verify
from tests.builders.session_world import World, a_template, a_world

T = TypeVar("T")
PLACES = ("shop/money.py", "shop/cart.py", "shop/rules.py", "shop/new.py", "tests/test_money.py", "README.md")
CONTENTS = (
    b"def rounded(value: float) -> int:\n    return round(value)\n",
    b"def rounded(value: float, up: bool) -> int:\n    return int(value)\n",
    b"def broken(:\n",
    b"text\n",
)
CLEAR, SAFE = "clear", "safe"

ATTEMPTS = ("gdcu", "gdcu", "lgdcu", "gdu", "gcu", "dcu", "du", "u", "dgcu", "gdcuu", "gduc", "gdcgu")
"""Steps of a change: guard, dry run, checkpoint, update, lock."""

sessions = st.integers(0, 5)
files = st.sampled_from(PLACES)
contents = st.sampled_from(CONTENTS)


class SessionMachine(RuleBasedStateMachine):
    """See the module."""

    template: Path

    @initialize()
    def begin(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="smp-machine-")
        self.world: World = a_world(self.template, Path(self._folder.name))
        for name in (
            "one",
            "two",
            "three",
            "four",
        ):  # callers and changes that make `rounded` hot: its scopes are elevated
            text = b"from shop.money import rounded\n\n\ndef f():\n    rounded(1)\n"
            self.world.indexer.update((FileChange(path=FilePath(f"shop/{name}.py"), content=text),))
        self.world.heat("shop/money.py#rounded", times=4)
        self.stage: dict[tuple[str, str], int] = {}
        self.alerted: set[tuple[str, str]] = set()
        self.holder: dict[str, str] = {}
        self.opened: list[SessionId] = []
        self.audits: dict[str, tuple[AuditEvent, ...]] = {}
        self.points: list[tuple[str, str]] = []
        self.disk = self.read_disk()
        self.opened = [
            self.world.id("shop/money.py", "shop/cart.py", agent="a"),
            self.world.id("shop/cart.py", "shop/new.py", agent="b"),
            self.world.id("shop/money.py", "shop/rules.py", agent="b"),
        ]
        levels = [self.session(session).safety_level for session in self.opened]
        assert levels == [SafetyLevel.ELEVATED, SafetyLevel.STANDARD, SafetyLevel.ELEVATED]

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.store.close()
            self._folder.cleanup()

    def read_disk(self) -> dict[str, bytes]:
        found = {}
        for place in PLACES:
            path = self.world.root / place
            if path.exists():
                found[place] = path.read_bytes()
        return found

    def session(self, session_id: str) -> Session:
        found = self.world.store.get(SessionId(session_id))
        assert found is not None
        return found

    def chosen(self, which: int) -> SessionId:
        return self.opened[which % len(self.opened)]

    def alive(self, session_id: str) -> bool:
        found = self.session(session_id)
        return found.status is SessionStatus.ACTIVE and found.expires_at > self.world.clock.now()

    def attempt(self, session_id: str, call: Callable[[], T], *, writes: bool = False) -> T | None:
        """A call; None where it was refused. What it changed on disk must be the session's to change."""
        before = len(self.world.store.events(SessionId(session_id)))
        alive = self.alive(session_id)
        try:
            result = call()
        except SmpError:
            assert self.read_disk() == self.disk, "a refused step changed a file"
            return None
        assert alive, "a step was taken in a session that has ended"
        assert len(self.world.store.events(SessionId(session_id))) > before, "a step left no line in the audit"
        after, session = self.read_disk(), self.session(session_id)
        changed = [place for place in PLACES if after.get(place) != self.disk.get(place)]
        if changed:
            assert writes, f"a step that writes nothing changed {changed}"
            assert session.mode is SessionMode.WRITE
            assert all(covers(session.scope, FilePath(place)) for place in changed)
            others = {place: self.holder.get(place) for place in changed}
            assert all(who in (None, session_id) or not self.alive(who) for who in others.values()), others
        self.disk = after
        return result

    @rule(
        scope=st.sets(files, min_size=1, max_size=4),
        agent=st.sampled_from(["a", "b"]),
        concurrency=st.sampled_from([Concurrency.EXCLUSIVE, Concurrency.EXCLUSIVE, Concurrency.MVCC]),
        mode=st.sampled_from([SessionMode.WRITE, SessionMode.WRITE, SessionMode.WRITE, SessionMode.READ]),
    )
    def open(self, scope: set[str], agent: str, concurrency: Concurrency, mode: SessionMode) -> None:
        opened = self.world.open(*sorted(scope), agent=agent, concurrency=concurrency, mode=mode)
        self.opened.append(opened.session.id)

    @rule(which=sessions, file=files, content=contents, steps=st.sampled_from(ATTEMPTS))
    def change(self, which: int, file: str, content: bytes, steps: str) -> None:
        """A whole attempt at a change, in order, or with a step left out or turned round."""
        for step in steps:
            if step == "g":
                self.guard(which, file)
            elif step == "d":
                self.dryrun(which, file, content)
            elif step == "c":
                self.checkpoint(which, {file})
            elif step == "u":
                self.update(which, file, content)
            else:
                self.lock(which, {file})

    @rule(which=sessions, file=files)
    def guard(self, which: int, file: str) -> None:
        session = self.chosen(which)
        report = self.attempt(session, lambda: self.world.service.check_guard(session, file))
        if report is not None:
            clear = report.verdict == CLEAR
            self.stage[session, file] = 1 if clear else 0
            (self.alerted.discard if clear else self.alerted.add)((session, file))

    @rule(which=sessions, file=files, content=contents)
    def dryrun(self, which: int, file: str, content: bytes) -> None:
        session = self.chosen(which)
        change = FileChange(path=FilePath(file), content=content)
        report = self.attempt(session, lambda: self.world.service.dryrun(session, (change,)))
        if report is not None and self.stage.get((session, file), 0) >= 1:
            self.stage[session, file] = 2 if report.verdict == SAFE else 1

    @rule(which=sessions, chosen=st.sets(files, min_size=1, max_size=2))
    def checkpoint(self, which: int, chosen: set[str]) -> None:
        session = self.chosen(which)
        taken = self.attempt(session, lambda: self.world.service.checkpoint(session, tuple(sorted(chosen))))
        if taken is not None:
            self.points.append((session, taken.checkpoint_id))
            for file in chosen:
                if self.stage.get((session, file), 0) >= 2:
                    self.stage[session, file] = 3

    @rule(which=sessions, file=files, content=contents)
    def update(self, which: int, file: str, content: bytes) -> None:
        session = self.chosen(which)
        stage = self.stage.get((session, file), 0)
        change = FileChange(path=FilePath(file), content=content)
        done = self.attempt(session, lambda: self.world.service.update(session, (change,)), writes=True)
        if done is None:
            return
        found = self.session(session)
        assert covers(found.scope, FilePath(file)), "written outside the scope"
        assert (session, file) not in self.alerted, "written against the guard's last word"
        assert found.safety_level is SafetyLevel.STANDARD or stage == 3, f"a step was skipped: stage {stage}"
        self.stage[session, file] = 0

    @rule(which=sessions, data=st.data())
    def rollback(self, which: int, data: st.DataObject) -> None:
        session = self.chosen(which)
        point = data.draw(st.sampled_from(self.points)) if self.points else (session, CheckpointId("chk_none"))
        done = self.attempt(session, lambda: self.world.service.rollback(session, point[1]), writes=True)
        if done is not None:
            assert point[0] == session, "rolled back to another session's checkpoint"
            for file in done.files_restored:
                self.stage[session, file] = 0

    @rule(which=sessions, chosen=st.sets(files, min_size=1, max_size=3))
    def lock(self, which: int, chosen: set[str]) -> None:
        session = self.chosen(which)
        taken = self.attempt(session, lambda: self.world.service.lock(session, tuple(sorted(chosen))))
        for file in taken.granted if taken is not None else ():
            holder = self.holder.get(file)
            assert holder in (None, session) or not self.alive(holder), f"{file} has two exclusive holders"
            self.holder[file] = session

    @rule(which=sessions, chosen=st.sets(files, min_size=1, max_size=3))
    def unlock(self, which: int, chosen: set[str]) -> None:
        session = self.chosen(which)
        done = self.attempt(session, lambda: self.world.service.unlock(session, tuple(sorted(chosen))))
        for file in done.released if done is not None else ():
            assert self.holder.get(file) == session, "released what another holds"
            del self.holder[file]

    @rule(which=sessions, status=st.sampled_from(["completed", "aborted"]))
    def close(self, which: int, status: str) -> None:
        session = self.chosen(which)
        if self.attempt(session, lambda: self.world.service.close(session, status)) is not None:
            self.holder = {file: who for file, who in self.holder.items() if who != session}

    @rule(seconds=st.sampled_from([1, 30, 61]))
    def wait(self, seconds: int) -> None:
        self.world.clock.forward(seconds)

    @rule()
    def expire(self) -> None:
        self.world.service.expire_due()
        assert self.read_disk() == self.disk, "an expiry changed a file"

    @rule()
    def restart(self) -> None:
        """Another process goes on with the same files."""
        old = self.world
        self.world = old.again()
        old.store.close()

    @invariant()
    def audits_only_grow(self) -> None:
        if not hasattr(self, "world"):
            return
        for session_id in self.audits.keys() | {session.id for session in self.world.store.active()}:
            events = self.world.store.events(SessionId(session_id))
            known = self.audits.get(session_id, ())
            assert events[: len(known)] == known, "a line of an audit was lost or changed"
            assert verify(events) is None, "the chain of an audit is broken"
            self.audits[session_id] = events


def machine_in(folder: Path) -> type[SessionMachine]:
    """The machine over a template repository that is made once below a folder."""
    return type("PreparedSessionMachine", (SessionMachine,), {"template": a_template(folder / "repo")})
