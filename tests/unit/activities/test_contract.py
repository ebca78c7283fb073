"""What travels between workflows and activities stays small and readable."""

from __future__ import annotations

import subprocess

from hypothesis import given
from hypothesis import strategies as st

from activities import contract
from activities.agent import told
from smp.domain.sandboxes import Limits


def test_activity_names_are_unique() -> None:
    names = [value for name, value in vars(contract).items() if name.isupper() and isinstance(value, str)]
    assert len(names) == len(set(names)) == 24


@given(st.text(max_size=9000), st.integers(200, 5000))
def test_a_shortened_text_keeps_to_its_limit_and_both_its_ends(text: str, limit: int) -> None:
    short = contract.shortened(text, limit)
    assert len(short) <= limit
    if len(text) > limit:
        assert short[:20] == text[:20]
        assert short[-20:] == text[-20:]
    else:
        assert short == text


def test_an_agent_command_is_told_its_task_and_the_last_verdict() -> None:
    step = contract.CommandStep(
        key="k",
        session_id="ses_1",  # type: ignore[arg-type]
        driver="d",
        sandbox_id="box_1",  # type: ignore[arg-type]
        command='cat "$SMP_FEEDBACK"; echo; echo "$SMP_TASK/$SMP_ATTEMPT"; rm "$SMP_FEEDBACK"',
        task="don't; `break` $HOME",
        attempt=2,
        feedback="it's 'quoted'\nover lines",
        last_verdict="fail",
        limits=Limits(),
    )
    said = subprocess.run(["sh", "-c", told(step)], capture_output=True, text=True, check=True).stdout.splitlines()
    assert '"last_verdict":"fail"' in said[0]
    assert "it's 'quoted'\\nover lines" in said[0]
    assert said[1] == "don't; `break` $HOME/2"
