"""What must exist in the database before the first query: constraints, indexes, `smp_fulltext`; and which version of it.

Community Edition has uniqueness constraints but no node keys; each is also the index that its lookups use. A node of any
label carries `repo`, the id of its repository, first in every key.
"""

from __future__ import annotations

from neo4j import Driver, Session

from smp.domain.errors import Unavailable
from smp.ports.metadata_store import TEXT_FIELDS

SCHEMA_VERSION = 1
FULLTEXT = "smp_fulltext"
TEXT_PROPERTIES = {field: f"t_{field}" for field in TEXT_FIELDS}

KEYS = {
    "SmpSchema": ("name",),
    "SmpGate": ("repo", "name"),
    "SmpNode": ("repo", "id"),
    "SmpOwner": ("repo", "name"),
    "SmpNote": ("repo", "id"),
    "SmpFile": ("repo", "path"),
    "SmpBlob": ("repo", "kind", "key"),
    "SmpChange": ("repo", "node", "at", "event"),
    "SmpSession": ("repo", "id"),
    "SmpLock": ("repo", "file"),
    "SmpCheckpoint": ("repo", "id"),
    "SmpEvent": ("repo", "session", "seq"),
    "SmpStep": ("repo", "session", "key"),
    "SmpDocument": ("repo", "kind", "key"),
    "SmpContent": ("repo", "digest"),
    "SmpNotice": ("repo", "cursor"),
}
"""By label, the properties that are unique together."""
INDEXES = {
    "smp_node_owner": ("SmpNode", ("repo", "owner")),
    "smp_node_place": ("SmpNode", ("repo", "place")),
    "smp_node_name": ("SmpNode", ("repo", "name")),
    "smp_node_qualname": ("SmpNode", ("repo", "qualname")),
    "smp_change_at": ("SmpChange", ("repo", "at")),
    "smp_session_audit": ("SmpSession", ("repo", "audit")),
    "smp_session_status": ("SmpSession", ("repo", "status")),
    "smp_lock_session": ("SmpLock", ("repo", "session")),
    "smp_checkpoint_session": ("SmpCheckpoint", ("repo", "session")),
    "smp_document_session": ("SmpDocument", ("repo", "kind", "session")),
}


def statements() -> list[str]:
    """Everything of this version; each may be repeated."""
    made = []
    for label, properties in KEYS.items():
        key = ", ".join(f"n.{name}" for name in properties)
        made.append(f"CREATE CONSTRAINT {_key_name(label)} IF NOT EXISTS FOR (n:{label}) REQUIRE ({key}) IS UNIQUE")
    for name, (label, properties) in INDEXES.items():
        key = ", ".join(f"n.{one}" for one in properties)
        made.append(f"CREATE INDEX {name} IF NOT EXISTS FOR (n:{label}) ON ({key})")
    searched = ", ".join(f"n.{name}" for name in (*TEXT_PROPERTIES.values(), "repo", "kind"))
    # words come split and folded (`domain.words`): white space is all that stands between them
    made.append(
        f"CREATE FULLTEXT INDEX {FULLTEXT} IF NOT EXISTS FOR (n:SmpNode) ON EACH [{searched}] "
        "OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}"
    )
    return made


MIGRATIONS: dict[int, tuple[str, ...]] = {0: ()}
"""By the version that is found, what leads to the next one, before `statements`; 0 is an empty database."""


def prepare(driver: Driver, name: str) -> None:
    """Bring the database to this version; harmless when it is, and when several processes do it at once.

    Args:
        name: Of the database.

    Raises:
        Unavailable: A newer release has been here.
    """
    with driver.session(database=name) as session:
        found = _version(session)
        if found == SCHEMA_VERSION:
            return
        if found > SCHEMA_VERSION:
            raise Unavailable(
                f"the Neo4j database {name!r} has schema {found}, this program knows {SCHEMA_VERSION}; update smp",
                backend="neo4j",
            )
        for version in range(found, SCHEMA_VERSION):
            for statement in MIGRATIONS[version]:
                session.run(statement).consume()
        for statement in statements():
            session.run(statement).consume()
        session.run("CALL db.awaitIndexes(300)").consume()
        session.run(
            "MERGE (s:SmpSchema {name: 'smp'}) SET s.version = $version, s.fields = $fields",
            version=SCHEMA_VERSION,
            fields=list(TEXT_FIELDS),
        ).consume()


def _version(session: Session) -> int:
    record = session.run("MATCH (s:SmpSchema {name: 'smp'}) RETURN s.version AS version").single()
    return int(record["version"]) if record else 0


def _key_name(label: str) -> str:
    return "smp_" + label.removeprefix("Smp").lower() + "_key"
