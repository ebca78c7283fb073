"""The servers of the server profile on this machine: obtained, started, found again, stopped by their process ids.

    python infra/servers.py up | down | status | provide [neo4j | weaviate …] [--data-dir FOLDER] [--no-images]

A server that answers at its port is used as it is. Else what is on PATH is started, else the official image where Docker
answers and has or can pull it, else what `provide` builds from package registries (infra/neo4j/README.md,
infra/weaviate/README.md) into the user's cache. Data stays when a server stops.
Everything listens on 127.0.0.1 only, but for Weaviate's gRPC and cluster ports, which it binds everywhere: they want the key
that lies in `weaviate.key` of the folder, where `smp` looks for it too.
Ports: SMP_NEO4J_PORT (7687), SMP_WEAVIATE_PORT (8080), SMP_WEAVIATE_GRPC_PORT (50051).
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
from neo4j import GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError
from platformdirs import user_cache_path

from smp.settings import local_servers

HERE = Path(__file__).resolve().parent
HOST = "127.0.0.1"
START_SECONDS = 180.0
STOP_SECONDS = 60.0
WEAVIATE_MODULE = "github.com/weaviate/weaviate/cmd/weaviate-server@v1.35.2"
NEO4J_IMAGE, WEAVIATE_IMAGE = "neo4j:5.26-community", "semitechnologies/weaviate:1.35.2"
OPENED = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.nio", "sun.nio.ch", "java.lang")]
GRAPH_JARS, JARS = "plugins", "lib"


class Missing(Exception):
    """A server cannot be had; the message says what to install."""


def cache() -> Path:
    """Where what is built stays."""
    named = os.environ.get("SMP_CACHE_DIR")
    return (Path(named) if named else user_cache_path("smp")) / "servers"


def port(name: str) -> int:
    """The port of `NEO4J`, `WEAVIATE` or `WEAVIATE_GRPC`."""
    return int(os.environ.get(f"SMP_{name}_PORT", {"NEO4J": 7687, "WEAVIATE": 8080, "WEAVIATE_GRPC": 50051}[name]))


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """One process at a time: the others wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run(command: list[str], *, what: str, environment: dict[str, str] | None = None) -> None:
    """Run a build; its last line is the reason when it fails."""
    done = subprocess.run(
        command, env=os.environ | (environment or {}), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if done.returncode:
        lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
        raise Missing(f"{what} failed: {lines[-1] if lines else done.returncode}")


def tool(name: str, package: str) -> str:
    """The path of a program; `Missing` names the package that has it."""
    found = shutil.which(name)
    if found is None:
        raise Missing(f"{name} is not on PATH; install {package}")
    return found


class Neo4j:
    """Neo4j Community 5.26 with Graph Data Science."""

    name = "neo4j"
    image = NEO4J_IMAGE

    def answers(self) -> bool:
        try:
            with GraphDatabase.driver(f"bolt://{HOST}:{port('NEO4J')}", connection_timeout=2) as driver:
                driver.verify_connectivity()
        except (DriverError, Neo4jError):
            return False
        return True

    def provide(self) -> None:
        """Copy the jars of Neo4j and of Graph Data Science from Maven's repositories into the cache, once."""
        home = cache() / "neo4j-5.26.12"
        if (home / JARS).is_dir() or shutil.which("neo4j"):
            return
        maven = tool("mvn", "maven")
        print(f"copying Neo4j's jars into {home} (once, 130 MB)", file=sys.stderr)
        staging = home.with_name(f"{home.name}-{os.getpid()}")
        copy = [maven, "-q", "-B", "-f", str(HERE / "neo4j" / "pom.xml"), "dependency:copy-dependencies"]
        try:
            # Neo4j looks for procedures in one folder only: what has them lies there, all else on the class path
            ours = "org.neo4j.gds"
            graph, other = staging / GRAPH_JARS, staging / JARS
            run([*copy, f"-DoutputDirectory={other}", f"-DexcludeGroupIds={ours}"], what="maven")
            run([*copy, f"-DoutputDirectory={graph}", f"-DincludeGroupIds={ours}"], what="maven")
            shutil.copy(HERE / "neo4j" / "Server.java", staging)
            staging.replace(home)
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def container(self, data: Path) -> list[str]:
        return [
            "--publish", f"{HOST}:{port('NEO4J')}:7687", "--volume", f"{data}:/data", "--env", "NEO4J_AUTH=none",
            "--env", 'NEO4J_PLUGINS=["graph-data-science"]', "--user", f"{os.getuid()}:{os.getgid()}",
        ]  # fmt: skip

    def command(self, data: Path) -> tuple[list[str], dict[str, str]]:
        memory = os.environ.get("SMP_NEO4J_MEMORY", "4g")
        installed = shutil.which("neo4j")
        if installed:
            configuration = data / "conf"
            configuration.mkdir(exist_ok=True)
            (configuration / "neo4j.conf").write_text(
                f"server.directories.data={data}\nserver.bolt.listen_address={HOST}:{port('NEO4J')}\n"
                "server.http.enabled=false\nserver.https.enabled=false\ndbms.security.auth_enabled=false\n"
                f"dbms.security.procedures.unrestricted=gds.*\nserver.memory.heap.max_size={memory}\n"
            )
            return [installed, "console"], {"NEO4J_CONF": str(configuration)}
        home = cache() / "neo4j-5.26.12"
        java = tool("java", "a JDK 17 or 21 (default-jdk-headless)")
        jars = f"{home / JARS}/*:{home / GRAPH_JARS}/*"
        server = [str(home / "Server.java"), str(data), str(home / GRAPH_JARS), HOST, str(port("NEO4J"))]
        return [java, f"-Xmx{memory}", *OPENED, "-cp", jars, *server], {}


class Weaviate:
    """Weaviate 1.35, without modules."""

    name = "weaviate"
    image = WEAVIATE_IMAGE

    def answers(self) -> bool:
        try:
            return httpx.get(f"http://{HOST}:{port('WEAVIATE')}/v1/.well-known/ready", timeout=2).status_code == 200
        except httpx.HTTPError:
            return False

    def provide(self) -> None:
        """Build the server with Go into the cache, once."""
        target = cache() / "weaviate-1.35.2" / "weaviate-server"
        if target.is_file() or shutil.which("weaviate-server"):
            return
        go = tool("go", "Go 1.21 or newer (it fetches the version that Weaviate wants by itself)")
        print(f"building Weaviate into {target} (once, three to five minutes)", file=sys.stderr)
        staging = target.parent.with_name(f"weaviate-{os.getpid()}")
        staging.mkdir(parents=True)
        try:
            environment = {"GOBIN": str(staging), "GOFLAGS": "-trimpath", "GOTOOLCHAIN": "auto", "CGO_ENABLED": "0"}
            run([go, "install", "-ldflags=-s -w", WEAVIATE_MODULE], what="building Weaviate", environment=environment)
            staging.replace(target.parent)
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def container(self, data: Path) -> list[str]:
        options = [
            "--publish", f"{HOST}:{port('WEAVIATE')}:8080", "--publish", f"{HOST}:{port('WEAVIATE_GRPC')}:50051",
            "--volume", f"{data}:/var/lib/weaviate",
        ]  # fmt: skip
        for key, value in self._environment(Path("/var/lib/weaviate"), weaviate_key(data.parent)).items():
            options += ["--env", f"{key}={value}"]
        return options

    def command(self, data: Path) -> tuple[list[str], dict[str, str]]:
        binary = shutil.which("weaviate-server") or str(cache() / "weaviate-1.35.2" / "weaviate-server")
        first = port("WEAVIATE_GRPC")
        names = (
            "GRPC_PORT",
            "CLUSTER_GOSSIP_BIND_PORT",
            "CLUSTER_DATA_BIND_PORT",
            "RAFT_PORT",
            "RAFT_INTERNAL_RPC_PORT",
        )
        ports = {name: str(first + number) for number, name in enumerate(names)}
        listen = ["--host", HOST, "--port", str(port("WEAVIATE")), "--scheme", "http"]
        own = {"CLUSTER_BIND_ADDR": HOST, "GO_PROFILING_DISABLE": "true"}
        return [binary, *listen], self._environment(data, weaviate_key(data.parent)) | ports | own

    def _environment(self, data: Path, key: str) -> dict[str, str]:
        return {
            "CLUSTER_ADVERTISE_ADDR": HOST,
            "CLUSTER_HOSTNAME": "node1",
            "CLUSTER_BASIC_AUTH_USERNAME": "smp",
            "CLUSTER_BASIC_AUTH_PASSWORD": key,
            "RAFT_JOIN": "node1",
            "RAFT_BOOTSTRAP_EXPECT": "1",
            "PERSISTENCE_DATA_PATH": str(data),
            "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "false",
            "AUTHENTICATION_APIKEY_ENABLED": "true",
            "AUTHENTICATION_APIKEY_ALLOWED_KEYS": key,
            "AUTHENTICATION_APIKEY_USERS": "smp",
            "DEFAULT_VECTORIZER_MODULE": "none",
            "DISABLE_TELEMETRY": "true",
            "LOG_LEVEL": "error",
        }


def weaviate_key(home: Path) -> str:
    """The key of the server whose data lies in this folder; made once, for its owner's eyes."""
    path = home / "weaviate.key"
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with open(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(32))
    return path.read_text()


Server = Neo4j | Weaviate
SERVERS: dict[str, Server] = {server.name: server for server in (Neo4j(), Weaviate())}


def docker_takes(server: Server) -> str | None:
    """The `docker` program, when its daemon answers and has, or gets, the image."""
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True, check=False).returncode:
        return None
    have = subprocess.run([docker, "image", "inspect", server.image], capture_output=True, check=False).returncode == 0
    with contextlib.suppress(subprocess.TimeoutExpired):
        have = (
            have
            or subprocess.run(
                [docker, "pull", "--quiet", server.image], capture_output=True, check=False, timeout=600
            ).returncode
            == 0
        )
    return docker if have else None


def provide(server: Server) -> None:
    """See that the server can be started from the cache."""
    with alone(cache() / f"{server.name}.lock"):
        server.provide()


def up(server: Server, home: Path, *, images: bool) -> None:
    """Start a server unless one answers.

    Raises:
        Missing: It cannot be obtained, or does not come up.
    """
    data = home / server.name
    with alone(home / f"{server.name}.lock"):
        if server.answers():
            print(f"{server.name} answers already")
            return
        data.mkdir(parents=True, exist_ok=True)
        docker = docker_takes(server) if images and not shutil.which(server.name) else None
        if docker:
            container = f"smp-{server.name}-{os.getuid()}"
            subprocess.run([docker, "rm", "--force", container], capture_output=True, check=False)
            started = [docker, "run", "--detach", "--name", container, *server.container(data), server.image]
            run(started, what=f"docker run {server.image}")
            record: dict[str, object] = {"container": container}
            process = None
        else:
            provide(server)
            command, environment = server.command(data)
            with (home / f"{server.name}.log").open("ab") as log:
                process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=data, start_new_session=True,
                    env=os.environ | environment,
                )  # fmt: skip
            record = {"pid": process.pid, "ticks": started_at(process.pid)}
        (home / f"{server.name}.json").write_text(json.dumps(record))
        deadline = time.monotonic() + START_SECONDS
        while not server.answers():
            if (process and process.poll() is not None) or time.monotonic() > deadline:
                down(server, home)
                raise Missing(f"{server.name} did not come up; see {home / f'{server.name}.log'}")
            time.sleep(0.2)
        print(f"{server.name} started")


def started_at(pid: int) -> int | None:
    """The kernel's start time of a living process, so that a reused pid is told apart; None when it is gone."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return None if fields[0] == "Z" else int(fields[19])
    return None


def down(server: Server, home: Path) -> bool:
    """Stop what `up` has started; its data stays. False when there is nothing to stop."""
    path = home / f"{server.name}.json"
    if not path.is_file():
        return False
    record = json.loads(path.read_text())
    path.unlink()
    if "container" in record:
        stop = ["docker", "rm", "--force", str(record["container"])]
        return subprocess.run(stop, capture_output=True, check=False).returncode == 0
    pid, ticks = int(record["pid"]), record["ticks"]
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if started_at(pid) != ticks or ticks is None:
            break
        os.kill(pid, sign)
        deadline = time.monotonic() + STOP_SECONDS
        while started_at(pid) == ticks and time.monotonic() < deadline:
            time.sleep(0.1)
    return True


def main() -> int:
    """Do what is asked of each server."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chore", choices=("up", "down", "status", "provide"))
    parser.add_argument("server", nargs="*", metavar="neo4j | weaviate", help="both when none is named")
    parser.add_argument("--data-dir", type=Path, default=local_servers())
    parser.add_argument("--no-images", action="store_true", help="do not use Docker")
    options = parser.parse_args()
    home: Path = options.data_dir.absolute()
    good = True
    for name in options.server or SERVERS:
        server = SERVERS.get(name)
        if server is None:
            parser.error(f"no server {name!r}: {', '.join(SERVERS)}")
        try:
            if options.chore == "up":
                up(server, home, images=not options.no_images)
            elif options.chore == "provide":
                provide(server)
            elif options.chore == "down":
                print(f"{name} {'stopped' if down(server, home) else 'was not started from here'}")
            else:
                good &= (answered := server.answers())
                print(f"{name} {'answers' if answered else 'does not answer'}")
        except Missing as error:
            print(f"error: {error}", file=sys.stderr)
            good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
