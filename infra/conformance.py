"""Run the conformance kit against a live server on each fixture and hold the result against the recorded list.

    python infra/conformance.py [--fixture NAME] [--group G …] [--check PATTERN …] [--record] [--profile server] [--driver docker|microvm]

`tests/conformance/not_passing.json` holds, per fixture, the checks that do not pass yet. It may only shrink: a check
that fails and is not listed, or passes and still is, fails the run. `--record` removes entries that pass now. `--profile server` starts Neo4j
and Weaviate for the run, in an empty folder, at the ports that `infra/servers.py` reads from the environment.
`--driver docker` starts a Docker daemon of its own for the run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests" / "conformance" / "not_passing.json"
SMP = ROOT / ".venv" / "bin" / "smp"
FIXTURES = ("bookshop", "storefront")
START_SECONDS = 120


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_ready(url: str, server: subprocess.Popen[bytes]) -> None:
    """Return when the server has its index; exit when it dies or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            sys.exit(f"the server ended with {server.returncode} before it was ready")
        try:
            with urllib.request.urlopen(f"{url}/readyz", timeout=5) as reply:  # noqa: S310 - loopback
                if reply.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.1)
    server.kill()
    sys.exit(f"the server was not ready within {START_SECONDS} s")


@contextlib.contextmanager
def servers(profile: str, folder: Path) -> Iterator[None]:
    """The servers of a profile while the context is open, and the environment that names them."""
    if profile == "embedded":
        yield
        return
    home = folder / "servers"
    for name in ("NEO4J", "WEAVIATE", "WEAVIATE_GRPC"):
        os.environ.setdefault(f"SMP_{name}_PORT", str(free_port()))
    script = [sys.executable, str(ROOT / "infra" / "servers.py")]
    try:
        subprocess.run([*script, "up", "--no-images", "--data-dir", str(home)], check=True)
        os.environ |= {
            "SMP_PROFILE": profile,
            "SMP_GRAPH_URL": f"bolt://127.0.0.1:{os.environ['SMP_NEO4J_PORT']}",
            "SMP_VECTORS_URL": f"http://127.0.0.1:{os.environ['SMP_WEAVIATE_PORT']}",
            "SMP_VECTORS_GRPC_PORT": os.environ["SMP_WEAVIATE_GRPC_PORT"],
            "SMP_VECTORS_API_KEY": (home / "weaviate.key").read_text(),
        }
        yield
    finally:
        subprocess.run([*script, "down", "--data-dir", str(home)], check=True)


@contextlib.contextmanager
def daemon(driver: str, folder: Path) -> Iterator[None]:
    """What a sandbox driver needs while the context is open, and the environment that chooses it."""
    if driver != "docker":
        os.environ["SMP_SANDBOX_DRIVER"] = driver
        yield
        return
    sys.path.insert(0, str(ROOT))
    from tests.builders.docker_daemon import docker_daemon

    (folder / "docker").mkdir()
    with docker_daemon(folder / "docker") as address:
        os.environ |= {"SMP_SANDBOX_DRIVER": driver, "DOCKER_HOST": address}
        yield


def run_fixture(kit: Path, fixture: str, options: argparse.Namespace, work: Path) -> dict[str, str]:
    """Checks that ran → problem, empty when passed."""
    checkout, report = work / fixture, work / f"{fixture}.json"
    subprocess.run(
        [sys.executable, str(kit / "prepare.py"), fixture, str(checkout)], check=True, stdout=subprocess.DEVNULL
    )
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    server = subprocess.Popen([str(SMP), "serve", "--repo", str(checkout), "--port", str(port)])
    try:
        wait_ready(url, server)
        command = [sys.executable, str(kit / "conformance.py"), "--url", url, "--fixture", fixture]
        command += ["--repo", str(checkout), "--smp", str(SMP), "--json", str(report)]
        for group in options.group or ():
            command += ["--group", group]
        for pattern in options.check or ():
            command += ["--check", pattern]
        subprocess.run(command, check=False)
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
    if not report.exists():
        sys.exit(f"the kit did not finish on {fixture}")
    checks = json.loads(report.read_text("utf-8"))["checks"]
    return {f"{check['group']}.{check['check']}": check.get("problem", "") for check in checks}


def main() -> int:
    """Exit code 0 when exactly the recorded checks fail."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fixture", action="append", choices=FIXTURES)
    parser.add_argument("--group", action="append")
    parser.add_argument("--check", action="append")
    parser.add_argument("--profile", choices=("embedded", "server"), default="embedded")
    parser.add_argument("--driver", choices=("bubblewrap", "docker", "microvm"), default="bubblewrap")
    parser.add_argument("--record", action="store_true", help="take checks that pass now off the list")
    options = parser.parse_args()
    kit = Path(os.environ.get("SMP_SHARED", ROOT.parent / "shared")) / "conformance"
    if not kit.is_dir():
        sys.exit(f"no conformance kit at {kit}: set SMP_SHARED")
    recorded: dict[str, list[str]] = json.loads(RECORD.read_text("utf-8"))
    good = True
    with (
        tempfile.TemporaryDirectory(prefix="smp-conformance-") as folder,
        servers(options.profile, Path(folder)),
        daemon(options.driver, Path(folder)),
    ):
        for fixture in options.fixture or FIXTURES:
            print(f"-- {fixture}", flush=True)
            outcome = run_fixture(kit, fixture, options, Path(folder))
            failing = {name for name, problem in outcome.items() if problem}
            listed = set(recorded.get(fixture, []))
            fresh, mended = sorted(failing - listed), sorted((listed & outcome.keys()) - failing)
            for name in fresh:
                print(f"{fixture}: {name} fails and is not on record")
            for name in mended:
                print(f"{fixture}: {name} passes: take it off {RECORD.relative_to(ROOT)} (--record does)")
            if options.record:
                recorded[fixture] = sorted(listed - set(mended))
            good = good and not fresh and (options.record or not mended)
            print(f"{fixture}: {len(outcome) - len(failing)} passed, {len(failing)} failed, {len(listed)} on record")
    if options.record:
        RECORD.write_text(json.dumps(recorded, indent=1) + "\n", "utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
