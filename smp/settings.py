"""Every option, its unit and its default; read once from `smp.toml`, the environment and flags, in rising precedence."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from platformdirs import user_cache_path, user_data_path

from smp.domain.errors import Invalid


class IndexSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Attributes:
    max_file_bytes: Larger files are listed as skipped and never parsed.
    workers: Processes that parse; 0 = one per core.
    history_days: Window of git history that seeds telemetry at the first index.
    """

    max_file_bytes: int = 2_000_000
    workers: int = 0
    history_days: int = 90


class EmbeddingSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What makes vectors.

    Attributes:
        provider: `minilm` (shipped), `onnx` (a folder), `openai` (an endpoint that speaks OpenAI's API).
        folder: Of a sentence-transformers model exported to ONNX, for `onnx`.
        url: Up to and without `/embeddings`, for `openai`. model: as the endpoint knows it.
        api_key: Sent as bearer token; give it by `SMP_EMBEDDING_API_KEY`. Never logged.
        batch: Texts in one request.
    """

    provider: Literal["minilm", "onnx", "openai"] = "minilm"
    folder: str = ""
    url: str = ""
    model: str = ""
    api_key: str = ""
    timeout_ms: Annotated[int, msgspec.Meta(ge=1)] = 30_000
    batch: Annotated[int, msgspec.Meta(ge=1, le=2048)] = 64


class GraphSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the graph lives, and sessions where `[sessions] store` says so too (docs/server-profile.md).

    Attributes:
        store: `sqlite` or `neo4j`; by the profile when empty.
        url: `bolt://host:port`, or `neo4j+s://…` for a cluster. One that is not this machine counts only from the environment.
        user, password: Of Neo4j; without a password none is sent. The password comes from the environment alone.
        repository: Id under which this repository's state is kept; made once for each data directory when empty. From the
            environment alone: who names it reads and writes what is kept under it.
        patience_s: How long a call waits for a server that is away before it answers -32014.
    """

    store: Literal["", "sqlite", "neo4j"] = ""
    url: str = "bolt://127.0.0.1:7687"
    user: str = "neo4j"
    password: str = ""
    database: str = "neo4j"
    repository: str = ""
    patience_s: Annotated[float, msgspec.Meta(ge=0)] = 20.0


class VectorsSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where vectors live.

    Attributes:
        store: `embedded` or `weaviate`; by the profile when empty.
        url: Of Weaviate's HTTP interface; grpc_port: of the other one, on the same host. A host that is not this machine counts
            only from the environment, and so does api_key.
        patience_s: How long a call waits for a server that is away before it answers -32014.
    """

    store: Literal["", "embedded", "weaviate"] = ""
    url: str = "http://127.0.0.1:8080"
    grpc_port: int = 50051
    api_key: str = ""
    patience_s: Annotated[float, msgspec.Meta(ge=0)] = 20.0


class SessionsSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where sessions, locks, audit, artifacts and notifications live: `sqlite`, or `neo4j` as `[graph]` names it; by the
    profile when empty."""

    store: Literal["", "sqlite", "neo4j"] = ""


class SandboxSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Attributes:
    driver: How boxes are made; each name is a key of `smp.bootstrap.DRIVERS`.
    runtime: Of the docker driver: the daemon's own when empty, `runc`, or gVisor's `runsc` where the daemon has it.
    setup: Command that installs what the project's tests need into the layer; empty: derived from the lock or
        requirements file that is found.
    python: Interpreter of the box; empty: CPython 3.13 or 3.12 where found, else the platform's own.
    environment: Variables of every command in the box.
    egress: `deny_all`, or `registry_only`: the registries that this machine's package clients use.
    allowed_hosts: Further names, as `name[:port][@address[:port]]`. Both count only when the environment gives them.
    tracer: `monitoring` (in the traced process, no privileges) or `ebpf` (by the kernel; needs root and BCC).
    """

    driver: Literal["bubblewrap", "docker", "microvm"] = "bubblewrap"
    runtime: Literal["", "runc", "runsc"] = ""
    setup: str = ""
    requirements: tuple[str, ...] = ()
    python: str = ""
    environment: dict[str, str] = {}
    tracer: Literal["monitoring", "ebpf"] = "monitoring"
    memory_mb: int = 2048
    disk_mb: int = 1024
    pids: int = 256
    cpu_pct: int = 200
    timeout_ms: int = 300_000
    egress: Literal["deny_all", "registry_only"] = "deny_all"
    allowed_hosts: tuple[str, ...] = ()


class TemporalSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the workflow server listens; `address` is host:port."""

    address: str = "127.0.0.1:7233"
    namespace: str = "default"
    ui_url: str = "http://127.0.0.1:8233"


class ServeSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bounds of the RPC facade.

    Attributes:
        max_body_bytes: Larger bodies are HTTP 413. max_batch: members of a batch. max_depth: nesting of the JSON.
        watch: Index external edits as they happen.
    """

    host: str = "127.0.0.1"
    port: int = 8420
    max_body_bytes: int = 20_000_000
    max_batch: int = 500
    max_depth: int = 64
    watch: bool = True


class ForgeSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where pull requests are opened. Tokens are no settings: they come from the environment (docs/handoff.md).

    Attributes:
        kind: `auto` goes by the host in the remote's URL.
        url: The host's API: up to `/api/v3` for GitHub Enterprise, the root for GitLab; from the remote when empty. One whose
            host is not the remote's counts only when `SMP_FORGE_URL` gives it: `smp.toml` comes with the repository, and
            a token is not sent where that says.
        project: `owner/name`; from the remote when empty.
    """

    kind: Literal["auto", "git", "github", "gitlab"] = "auto"
    url: str = ""
    project: str = ""


class ObservabilitySettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What operators see. From the environment alone: where traces go is not for a repository to say.

    Attributes:
        traces: Root of an OTLP/HTTP receiver, e.g. `http://127.0.0.1:4318`; no spans when empty.
        worker_metrics: host:port at which a worker shows Prometheus its own and Temporal's figures; nowhere when empty.
    """

    traces: str = ""
    worker_metrics: str = ""


class GateSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Attributes:
    mutator: What makes and judges mutants of JavaScript and TypeScript: `native`, `stryker` (an error where the project has not
        installed it), or `auto`: Stryker where it is installed. Python's are always our own.
    """

    mutator: Literal["auto", "native", "stryker"] = "auto"


class SafetySettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Attributes:
    ttl_seconds: Default life of a session, extended by each call.
    hot_changes, hot_callers: A node is hot at or above both (decisions.md section 6). hot_window_days: the window.
    coverage_complexity: Functions above this McCabe number without coverage are a red alert.
    min_coverage_pct: What unblocks them.
    """

    ttl_seconds: int = 3600
    hot_changes: int = 5
    hot_callers: int = 5
    hot_window_days: int = 30
    coverage_complexity: int = 8
    min_coverage_pct: float = 60.0


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Attributes:
    repo: The repository's root. data_dir: where its state lives (default `<repo>/.smp`).
    cache_dir: Per-user cache outside any repository: servers that were built, interpreters, package layers.
    profile: `embedded`, or `server`: Neo4j and Weaviate where a store is not named.
    token: Bearer token of the server; never logged.
    """

    repo: Path
    data_dir: Path
    cache_dir: Path
    profile: Literal["embedded", "server"] = "embedded"
    token: str = ""
    index: IndexSettings = IndexSettings()
    graph: GraphSettings = GraphSettings()
    vectors: VectorsSettings = VectorsSettings()
    sessions: SessionsSettings = SessionsSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    sandbox: SandboxSettings = SandboxSettings()
    temporal: TemporalSettings = TemporalSettings()
    serve: ServeSettings = ServeSettings()
    gate: GateSettings = GateSettings()
    safety: SafetySettings = SafetySettings()
    forge: ForgeSettings = ForgeSettings()
    observability: ObservabilitySettings = ObservabilitySettings()

    @property
    def runs_of(self) -> str:
        """What names this repository among those of a Temporal server (`smp.domain.runs.queue_of`).

        Its data directory; where sessions are shared, the id under which hosts share them, so that their workers share the work.
        """
        return self.graph.repository if self.sessions_in_neo4j and self.graph.repository else str(self.data_dir)

    @property
    def graph_in_neo4j(self) -> bool:
        """Whether the graph is on the server."""
        return (self.graph.store or self._by_profile("sqlite", "neo4j")) == "neo4j"

    @property
    def sessions_in_neo4j(self) -> bool:
        """Whether sessions are on the server."""
        return (self.sessions.store or self._by_profile("sqlite", "neo4j")) == "neo4j"

    @property
    def vectors_in_weaviate(self) -> bool:
        """Whether vectors are on the server."""
        return (self.vectors.store or self._by_profile("embedded", "weaviate")) == "weaviate"

    def _by_profile(self, embedded: str, server: str) -> str:
        return server if self.profile == "server" else embedded


def load_settings(repo: Path, *, data_dir: Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Settings of a repository.

    Args:
        repo: Its root (a folder; whether it is a git repository is checked by the source tree).
        data_dir: Overrides `SMP_DATA_DIR` and the default.
        environ: The process environment when None. `SMP_<SECTION>_<OPTION>` overrides the file, e.g.
            `SMP_TEMPORAL_ADDRESS`; `SMP_TOKEN`, `SMP_PROFILE`, `SMP_CACHE_DIR`, `SMP_DATA_DIR` stand alone.

    Raises:
        Invalid: The folder does not exist, or an option is unknown or of the wrong type; the message names it.
    """
    env = os.environ if environ is None else environ
    root = repo.expanduser().resolve()
    if not root.is_dir():
        raise Invalid(f"no folder {str(repo)!r}; name a repository with --repo", path="repo")
    raw = _read_file(root / "smp.toml")
    _refuse_ways_out(raw)
    sections = {field.name for field in msgspec.structs.fields(Settings)} - {
        "repo",
        "data_dir",
        "cache_dir",
        "token",
        "profile",
    }
    for key, value in env.items():
        section, _, option = key.removeprefix("SMP_").lower().partition("_")
        if key.startswith("SMP_") and section in sections and option:
            table = raw.setdefault(section, {})
            if isinstance(table, dict):
                table[option] = value.split(",") if (section, option) == ("sandbox", "allowed_hosts") else value
    cache = Path(env["SMP_CACHE_DIR"]) if env.get("SMP_CACHE_DIR") else user_cache_path("smp")
    data = data_dir or (Path(env["SMP_DATA_DIR"]) if env.get("SMP_DATA_DIR") else root / ".smp")
    raw |= {
        "repo": str(root),
        "data_dir": str(data.expanduser().absolute()),
        "cache_dir": str(cache.expanduser().absolute()),
    }
    if env.get("SMP_PROFILE"):
        raw["profile"] = env["SMP_PROFILE"]
    if env.get("SMP_TOKEN"):
        raw["token"] = env["SMP_TOKEN"]
    try:
        settings = msgspec.convert(raw, Settings, strict=False, dec_hook=_decode)
        if settings.vectors_in_weaviate and not settings.vectors.api_key:
            vectors = msgspec.structs.replace(settings.vectors, api_key=_local_key(settings.vectors.url))
            settings = msgspec.structs.replace(settings, vectors=vectors)
        return settings
    except msgspec.ValidationError as error:
        raise Invalid(f"settings: {error}; see docs/configuration.md", path="smp.toml") from error


def local_servers() -> Path:
    """Where `make up` keeps the data of Neo4j and Weaviate, and the key of the latter."""
    return user_data_path("smp") / "servers"


def _local_key(url: str) -> str:
    """The key of the Weaviate that `make up` has started, for a URL of this machine; empty when there is none."""
    if urlsplit(url).hostname not in _LOOPBACK:
        return ""
    try:
        return (local_servers() / "weaviate.key").read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


_FROM_OUTSIDE = {
    "sandbox": ("egress", "allowed_hosts"),
    "graph": ("user", "password", "database", "repository"),
    "vectors": ("api_key",),
    "observability": ("traces", "worker_metrics"),
}
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def _refuse_ways_out(raw: dict[str, object]) -> None:
    """`smp.toml` comes with the repository; what may leave its boxes, and on which server under whose name its state is kept,
    is for whoever runs the platform to say."""
    for section, options in _FROM_OUTSIDE.items():
        table = raw.get(section)
        for option in options:
            if isinstance(table, dict) and table.get(option):
                raise _disbelieved(section, option)
    for section in ("graph", "vectors"):
        table = raw.get(section)
        url = table.get("url") if isinstance(table, dict) else None
        if isinstance(url, str) and urlsplit(url).hostname not in _LOOPBACK:
            raise _disbelieved(section, "url")


def _disbelieved(section: str, option: str) -> Invalid:
    return Invalid(
        f"[{section}] {option} in smp.toml is not believed; set SMP_{section.upper()}_{option.upper()} in the environment",
        path="smp.toml",
    )


def _read_file(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"smp.toml does not parse: {error}", path="smp.toml") from error
    except OSError as error:
        raise Invalid(
            f"cannot read {str(path)!r}: {error.strerror}; make it a readable file, or remove it", path="smp.toml"
        ) from error


def _decode(kind: type, value: object) -> object:
    if kind is Path:
        return Path(str(value))
    raise NotImplementedError(kind)
