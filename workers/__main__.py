"""`python -m workers --repo R [--data-dir D] [--while-stdin]`: the worker process of one repository (`smp worker`)."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from pathlib import Path

from activities import build_activities
from smp.bootstrap import build_platform, connect_temporal
from smp.domain.errors import SmpError
from smp.settings import Settings, load_settings
from workers.liveness import alive
from workers.queues import queues_of
from workers.reaper import ReaperActivities, reap, schedule_reaper
from workers.session_worker import serve_until

READY = "ready"
"""Printed on standard output once the worker polls."""


def main() -> None:
    """Serve until SIGINT, SIGTERM or, with `--while-stdin`, the end of standard input.

    Exit code 0; 1 for an expected failure, said in one sentence on standard error.
    """
    parser = argparse.ArgumentParser(prog="smp worker")
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--data-dir", type=Path, default=None)
    parser.add_argument("--while-stdin", action="store_true", help="stop when standard input ends")
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        settings = load_settings(options.repo, data_dir=options.data_dir)
        asyncio.run(_serve(settings, while_stdin=options.while_stdin))
    except SmpError as error:
        print(f"error: {error.message}", file=sys.stderr)
        raise SystemExit(1) from None
    sys.stdout.flush()
    # The SDK's threads may touch the interpreter while it is torn down (seen with 1.35); there is nothing left to do.
    os._exit(0)


async def _serve(settings: Settings, *, while_stdin: bool) -> None:
    services = await asyncio.to_thread(build_platform, settings)
    client = await connect_temporal(settings)
    queues = queues_of(settings.data_dir, settings.runs_of)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, stop.set)
    if while_stdin:
        await _stop_at_end_of_stdin(stop)
    with alive(settings.data_dir):
        for session in await reap(client, services):
            print(f"closed session {session}: its run had ended without doing so", file=sys.stderr)
        await schedule_reaper(client, queues.session)
        await serve_until(
            stop,
            client,
            queues,
            [*build_activities(services, host_queue=queues.host), ReaperActivities(client, services).reap],
            ready=lambda: print(READY, flush=True),
        )
    if services.spans is not None:
        await asyncio.to_thread(services.spans.flush)


async def _stop_at_end_of_stdin(stop: asyncio.Event) -> None:
    """The parent holds the other end of the pipe, so even its being killed stops this worker."""
    loop = asyncio.get_running_loop()

    def readable() -> None:
        if not os.read(0, 4096):
            loop.remove_reader(0)
            stop.set()

    loop.add_reader(0, readable)


if __name__ == "__main__":
    main()
