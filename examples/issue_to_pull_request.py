"""From an issue on GitHub to a pull request: read the issue, let an agent work on it in a session, say where the result is.

    export SMP_GITHUB_TOKEN=…                                # or in SMP_GITHUB_TOKEN_FILE
    smp temporal start; smp worker &                       # in the repository; the worker needs the token too
    python -m examples.issue_to_pull_request REPOSITORY owner/name 12 ./agent.sh src/

The agent is a command that runs in the box; it is told the task, which is the issue's title and text, by environment
(SMP_TASK). The pull request refers to the issue, and is opened by the session, not here.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from github import Auth, Github

from examples.start_session import request_for, run

MOST_CHARACTERS = 8_000


async def main(repo: Path, project: str, number: int, command: str, scope: list[str]) -> int:
    """0 when the pull request is open."""
    api = os.environ.get("SMP_FORGE_URL", "https://api.github.com")
    host = Github(auth=Auth.Token(os.environ["SMP_GITHUB_TOKEN"]), base_url=api)
    issue = host.get_repo(project, lazy=True).get_issue(number)
    print(f"#{number} {issue.title}")
    task = f"{issue.title}\n\n{issue.body or ''}"[:MOST_CHARACTERS].strip()
    request = request_for(repo, task, command, scope, title=issue.title, issues=(f"#{number}",))
    outcome = await run(request)
    print(f"{outcome.status}: {outcome.pull_request or outcome.detail}")
    return 0 if outcome.status == "completed" else 1


if __name__ == "__main__":
    if len(sys.argv) < 6:
        raise SystemExit("usage: python -m examples.issue_to_pull_request REPOSITORY OWNER/NAME NUMBER COMMAND SCOPE …")
    code = asyncio.run(main(Path(sys.argv[1]).resolve(), sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5:]))
    sys.stdout.flush()
    # As in start_session.
    os._exit(code)
