"""What is attached to a node: extracted text, and what people and agents added."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from smp.domain.ids import ContentHash


class Comment(Struct, frozen=True, kw_only=True, gc=False):
    """An inline comment inside a definition; `line` is 1-based, `text` without its marker."""

    line: int
    text: str


class Annotation(Struct, frozen=True, kw_only=True, gc=False):
    """The declared type of a parameter, as written."""

    name: str
    type: str


class Metadata(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Extracted from the syntax tree alone (specification, enrichment).

    Attributes:
        docstring: Cleaned of its indentation; None when there is none.
        decorators: As written, with `@`.
        annotations: Annotated parameters only, without `self` and `cls`, in order.
        throws: Names raised in the body, sorted, unique.
    """

    docstring: str | None = None
    comments: tuple[Comment, ...] = ()
    decorators: tuple[str, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    returns: str | None = None
    throws: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Nothing extractable: no docstring, decorators, annotations (comments alone do not count)."""
        return not (self.docstring or self.decorators or self.annotations or self.returns)


class EnrichmentStatus(StrEnum):
    """State of a node's metadata."""

    ENRICHED = "enriched"
    NO_METADATA = "no_metadata"
    STALE = "stale"


class Enrichment(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The stored enrichment of a node: when it was made, from which source, and what was added by hand.

    Attributes:
        source_hash: Source hash of the node when it was enriched; differs from the node's when stale.
        enriched_at: RFC 3339 UTC.
        description: Set by smp/annotate. tags: sorted, unique.
    """

    source_hash: ContentHash = ContentHash("")
    enriched_at: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    manually_set: bool = False
    annotated_at: str | None = None
