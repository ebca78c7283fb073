"""Nodes, edges, and the delta by which a graph changes.

A graph is stored in *parts*: everything that one owner contributes. The owner of a source file's nodes and outgoing
edges is its path; packages and the repository belong to `OWNER_STRUCTURE`; communities to `OWNER_COMMUNITIES`. A part
is replaced whole, so that nothing of an older version of a file can stay behind.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NewType, Protocol

from msgspec import Struct

from smp.domain.ids import CommitSha, ContentHash, FilePath, NodeId, SandboxId
from smp.domain.metadata import Metadata

Owner = NewType("Owner", str)
OWNER_STRUCTURE = Owner("@structure")
OWNER_COMMUNITIES = Owner("@communities")


class NodeKind(StrEnum):
    """The closed set of node types (specification, graph schema)."""

    REPOSITORY = "Repository"
    PACKAGE = "Package"
    FILE = "File"
    CLASS = "Class"
    FUNCTION = "Function"
    VARIABLE = "Variable"
    INTERFACE = "Interface"
    TEST = "Test"
    CONFIG = "Config"
    COMMUNITY = "Community"


class EdgeKind(StrEnum):
    """The closed set of stored edge types (decisions.md section 3)."""

    CONTAINS = "CONTAINS"
    IMPORTS = "IMPORTS"
    DEFINES = "DEFINES"
    CALLS_STATIC = "CALLS_STATIC"
    CALLS_RUNTIME = "CALLS_RUNTIME"
    CALLS_UNRESOLVED = "CALLS_UNRESOLVED"
    INHERITS = "INHERITS"
    IMPLEMENTS = "IMPLEMENTS"
    DEPENDS_ON = "DEPENDS_ON"
    TESTS = "TESTS"
    USES = "USES"
    REFERENCES = "REFERENCES"
    MEMBER_OF = "MEMBER_OF"
    BRIDGES = "BRIDGES"
    CHILD_OF = "CHILD_OF"


CALLS = (EdgeKind.CALLS_STATIC, EdgeKind.CALLS_RUNTIME)
"""What `CALLS` means in a request."""


class Resolution(StrEnum):
    """How a target was found, strongest first (design/linking.md section 2)."""

    LEXICAL = "lexical"
    IMPORT = "import"
    CONSTRUCTOR = "constructor"
    HIERARCHY = "hierarchy"
    RECEIVER_TYPE = "receiver_type"
    PROPERTY = "property"
    PROTOCOL = "protocol"
    DECORATED = "decorated"
    FLOW = "flow"


class UnresolvedReason(StrEnum):
    """Why a call has no proved target."""

    NOT_IN_IMPORTS = "not_in_imports"
    AMBIGUOUS = "ambiguous"
    DYNAMIC = "dynamic"
    EXTERNAL = "external"


class Parameter(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One declared parameter of a function.

    Attributes:
        kind: `positional_only`, `positional`, `keyword_only`, `var_positional` or `var_keyword`.
        required: No default, and not a star parameter.
        receiver: True for `self`/`cls` of a method.
    """

    name: str
    kind: str = "positional"
    annotation: str | None = None
    required: bool = True
    receiver: bool = False


class Node(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A thing in the code.

    Attributes:
        name: Last part of the qualified name; a file's base name; with `~2`, `~3` … for a further definition.
        qualname: Dotted name in the file; a file's, package's own path.
        file: The file that holds it; None for packages, repositories, communities.
        start_line: First line, decorators included, 1-based. end_line: last line, inclusive.
        start_byte: Offset in the file's bytes as stored (a byte order mark counts). end_byte: exclusive.
        signature: One line as a reader would write it, e.g. `area(self, scale: float = 1.0) -> float`.
        return_type: Source text of the return annotation.
        complexity: McCabe's number, 1 + decisions; 0 for nodes without code.
        exported: Part of the module's public surface by its language's rules.
        modifiers: `async`, `static`, `abstract`, `property`, `export`, `default` …, sorted.
        role: `test` for test files and `generated`, `test`, `source` otherwise; empty for non-files.
        source_hash: SHA-256 of the node's own source bytes (a file's: of its content).
        lines: Number of lines.
    """

    id: NodeId
    kind: NodeKind
    name: str
    qualname: str
    file: FilePath | None = None
    language: str | None = None
    start_line: int = 0
    end_line: int = 0
    start_byte: int = 0
    end_byte: int = 0
    signature: str | None = None
    parameters: tuple[Parameter, ...] = ()
    return_type: str | None = None
    complexity: int = 0
    exported: bool = False
    modifiers: tuple[str, ...] = ()
    role: str = ""
    source_hash: ContentHash = ContentHash("")
    lines: int = 0
    metadata: Metadata = Metadata()


class Edge(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A relationship. One edge per (kind, source, target); unresolved calls one per (source, to_name, reason).

    Attributes:
        target: None for CALLS_UNRESOLVED only.
        line: First line at which it occurs, 1-based; 0 where a line makes no sense. lines: all of them, ascending.
        resolution: How the target was found, for calls.
        via: Finer cause, for measurement (`annotation`, `field`, `closure` …).
        import_source: File through which the name came in.
        candidates: Node ids that may also be meant (overrides below; possible targets of an unresolved call).
        to_name: Source text of an unresolved callee, at most 200 characters; the dotted name of an external one.
        items: Names an IMPORTS edge brings in.
        type_only: An import that exists for types alone.
        call_count: Observed calls, for CALLS_RUNTIME.
        weight: Coupling in [0, 1], for BRIDGES.
    """

    kind: EdgeKind
    source: NodeId
    target: NodeId | None = None
    line: int = 0
    lines: tuple[int, ...] = ()
    resolution: Resolution | None = None
    via: str | None = None
    import_source: FilePath | None = None
    candidates: tuple[NodeId, ...] = ()
    to_name: str | None = None
    reason: UnresolvedReason | None = None
    items: tuple[str, ...] = ()
    type_only: bool = False
    call_count: int = 0
    sandbox_id: SandboxId | None = None
    commit_sha: CommitSha | None = None
    first_seen: str | None = None
    weight: float = 0.0


class GraphPart(Struct, frozen=True, kw_only=True):
    """All that one owner contributes; replaces what the store has of that owner.

    Attributes:
        nodes: None leaves the owner's nodes as they are and replaces its edges only (a relink).
        edges: Outgoing edges of the owner's nodes, sorted.
        bodies: Words inside the nodes' code, for full text alone; not part of a node, and read back by nobody.
    """

    owner: Owner
    nodes: tuple[Node, ...] | None
    edges: tuple[Edge, ...]
    bodies: dict[NodeId, str] = {}


class Part(Protocol):
    """As a `GraphPart`; what it holds may be worked out each time that it is asked for."""

    @property
    def owner(self) -> Owner: ...
    @property
    def nodes(self) -> tuple[Node, ...] | None: ...
    @property
    def edges(self) -> tuple[Edge, ...]: ...
    @property
    def bodies(self) -> dict[NodeId, str]: ...


class GraphDelta(Struct, frozen=True, kw_only=True):
    """A change of the graph, applied in one transaction."""

    parts: tuple[Part, ...] = ()
    removed: tuple[Owner, ...] = ()


class DeltaCounts(Struct, frozen=True, kw_only=True):
    """What applying a delta did, against what was stored before."""

    nodes_added: int = 0
    nodes_updated: int = 0
    nodes_removed: int = 0
    relationships_updated: int = 0


class GraphSize(Struct, frozen=True, kw_only=True):
    """How much a graph holds; `edges` without CALLS_UNRESOLVED, which `unresolved` counts."""

    nodes: int
    edges: int
    unresolved: int


class Scope(Struct, frozen=True, kw_only=True):
    """A part of the repository: `full`, `package:<path>` or `file:<path>`.

    Attributes:
        prefix: Directory path for a package, file path for a file, empty for the whole.
    """

    kind: str = "full"
    prefix: str = ""


class Direction(StrEnum):
    """Which way edges are followed."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"
    BOTH = "both"


class Walked(Struct, frozen=True, kw_only=True, gc=False):
    """A node reached from seeds.

    Attributes:
        hop: Smallest distance to any seed, at least 1.
        seeds: The seeds that reach it within the bound, sorted.
    """

    node: Node
    hop: int
    seeds: tuple[NodeId, ...]


class Scores(Struct, frozen=True, kw_only=True, gc=False):
    """What is computed over the whole graph for a node; recomputed lazily after edits.

    Attributes:
        pagerank: L1-normalised over all ranked nodes.
        community_l0: Node id of the coarse community. community_l1: of the fine one.
    """

    pagerank: float = 0.0
    community_l0: NodeId | None = None
    community_l1: NodeId | None = None
