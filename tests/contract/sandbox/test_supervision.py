"""A box that cannot be entered is a failure that says why, never a command that seems to have run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from smp.adapters.sandbox_bubblewrap.checkout import give_tree
from smp.adapters.sandbox_bubblewrap.host.order import Order
from smp.adapters.sandbox_bubblewrap.limits import Rights, plan_limits
from smp.adapters.sandbox_bubblewrap.running import fresh_exchange, make_order
from smp.adapters.sandbox_bubblewrap.state import BoxFolder
from smp.adapters.sandbox_bubblewrap.supervision import supervise
from smp.domain.errors import SandboxFailed
from smp.domain.ids import SandboxId
from smp.domain.sandboxes import Limits

pytestmark = pytest.mark.sandbox


def no_beat() -> None:
    return None


@pytest.fixture
def order(tmp_path: Path, rights: Rights) -> Order:
    folder = BoxFolder(tmp_path, SandboxId("box_bare"))
    lower = tmp_path / "lower"
    for path in (folder.path, lower, folder.layer, folder.upper, folder.work):
        path.mkdir()
    (lower / "a, b:c").write_text("kept")
    if rights.uid is not None:
        give_tree(lower, rights.uid)
        give_tree(folder.upper, rights.uid)
    fresh_exchange(folder, rights.uid)
    limits = Limits(memory_mb=128, disk_mb=16, pids=16, timeout_ms=20_000)
    plan = plan_limits(None, "unused", limits)
    return make_order(
        folder, lower, command="cat *", limits=limits, plan=plan, uid=rights.uid, root="/", binds=(), variables={}
    )


def test_a_bare_order_runs(order: Order) -> None:
    answer = supervise(order, no_beat)
    assert (answer.exit_code, answer.out, answer.killed) == (0, b"kept", "")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bwrap": "/bin/false"}, "bubblewrap"),
        ({"bwrap": "/no/such/bwrap"}, "No such file"),
        ({"bwrap_options": ("--no-such-option",)}, "no-such-option"),
        ({"lower": "/no/such/checkout"}, "No such file"),
        ({"root": "/no/such/root"}, "No such file"),
        ({"limit_files": {"/no/such/group": {}}}, "No such file"),
        ({"owner": 1}, None),
    ],
    ids=["bwrap fails", "no bwrap", "option", "checkout", "root", "group", "owner is another"],
)
def test_what_goes_wrong_before_the_command_is_said(order: Order, change: dict[str, object], said: str | None) -> None:
    wrong = replace(order, **change)  # type: ignore[arg-type]
    if said is None:
        assert supervise(wrong, no_beat).exit_code == 137
        return
    with pytest.raises(SandboxFailed, match=said):
        supervise(wrong, no_beat)


def test_a_repository_with_marks_of_mount_options_in_its_path_works(order: Order, tmp_path: Path) -> None:
    odd = tmp_path / "a,b:c d\\e"
    (tmp_path / "lower").rename(odd)
    assert supervise(replace(order, lower=str(odd)), no_beat).out == b"kept"
