"""A whole session on JavaScript: a survivor of the gate sends the agent back, a tighter test lets the change out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from smp.bootstrap import build_platform
from smp.domain.ids import AgentId, FilePath, SandboxId, SessionId
from smp.domain.runs import Edit, EditList, EditStep, Patience, SessionRunRequest, queue_of
from tests.builders.folder_boxes import write_files
from tests.builders.shop_repository import Shop

pytestmark = [
    pytest.mark.temporal,
    pytest.mark.sandbox,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js"),
]

PRICES, TEST_FILE = FilePath("web/prices.mjs"), FilePath("web/prices.test.mjs")
WRONG = "export function discounted(cents, percent) {\n  return cents - Math.trunc((cents * percent) / 10);\n}\n"
FIXED = WRONG.replace("/ 10)", "/ 100)")
BLIND = (
    'import { test } from "node:test";\nimport assert from "node:assert/strict";\nimport { discounted } from "./prices.mjs";\n\n'
    'test("nothing off", () => {\n  assert.equal(discounted(500, 0), 500);\n});\n'
)
SHARP = BLIND + '\ntest("a tenth off", () => {\n  assert.equal(discounted(1999, 10), 1800);\n});\n'


def test_a_surviving_mutant_of_javascript_sends_the_agent_back_for_a_better_test(shop: Shop) -> None:
    write_files(shop.repo, {PRICES: WRONG, TEST_FILE: BLIND})
    shop.git("add", "-A")
    shop.git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "prices for the web")
    shop.git("push", "-q", "origin", "HEAD:main")
    services = build_platform(shop.settings)
    services.indexer.refresh()
    commit = services.sources.head()
    assert commit is not None
    steps = ({PRICES: FIXED}, {TEST_FILE: SHARP})
    agent = EditList(
        steps=tuple(
            EditStep(edits=tuple(Edit(file=file, content=content) for file, content in step.items())) for step in steps
        )
    )
    with shop.worker():
        run = services.runs.start_session(
            SessionRunRequest(
                session_id=SessionId(services.clock.fresh_id("ses")),
                sandbox_id=SandboxId(services.clock.fresh_id("box")),
                agent_id=AgentId("tester"),
                task="a percentage is a hundredth",
                repository="shop",
                scope=(PRICES, TEST_FILE),
                commit_sha=commit,
                agent=agent,
                test_command=f"node --test {TEST_FILE}",
                task_queue=queue_of(shop.settings.runs_of),
                patience=Patience(heartbeat=3.0),
            )
        )
        outcome = services.runs.result(run, timeout_ms=240_000)
    assert (outcome.status, outcome.attempts) == ("completed", {"surviving_mutant": 1}), outcome.detail
    assert "mutants of the changed lines were noticed" in outcome.notes["verify"]
    assert outcome.report is not None
    assert "## Mutation testing" in Path(outcome.report).read_text()
