"""The tables, once for both engines, and the numbers by which their rows are found.

Every string that a caller chose is kept as bytes: PostgreSQL's text refuses NUL, and no collation ever looks at them.
What is written with each append is kept to few pages, since every page of a commit costs about as much as a parse: an
event's key holds its tenant and its position, a turn's key its session and its ``seq``, so that rows that are read
together lie together and need no index of their own. In SQLite events and turns are rowid tables: appending to one
touches a page or two, to an index or a table ``WITHOUT ROWID`` often four.

No SQL here differs between the engines but for the names of types and two clauses (``Dialect``).
"""

from __future__ import annotations

from typing import Final, NamedTuple

SCHEMA_VERSION: Final = 4
DEFAULT_TENANT_KEY: Final = 1

# Positions of one tenant at most; 2^23 tenants.
_POSITION_BITS: Final = 40
MAX_POSITION: Final = 2**_POSITION_BITS - 1
# Turns of one session at most; sessions at most 2^63 / 2^28 = 34 thousand million.
_SEQ_BITS: Final = 28
MAX_SEQ: Final = 2**_SEQ_BITS - 1


class Dialect(NamedTuple):
    """What a table's text says differently on an engine."""

    blob: str
    integer: str
    # An integer key that the row is stored by (SQLite's rowid), and a table that is nothing but its primary key.
    row_key: str
    keys_only: str
    # What is said of columns beside their types.
    columns: tuple[str, ...]


SQLITE: Final = Dialect("BLOB", "INTEGER", "INTEGER PRIMARY KEY", " WITHOUT ROWID", ())
_WITH_CONTENT: Final = {
    "events": ("execution_ref", "type", "agent_id", "decision_type", "user_digest", "layout", "body"),
    "sessions": (
        *("native_session_id", "first_user_content", "first_turn_us", "last_turn_us"),
        *("agents", "users", "tags", "total_tokens"),
    ),
    "turns": ("body_sha256", "tokens", "instant_us", "body"),
    "labels": ("value",),
    "words": ("word",),
}
POSTGRESQL: Final = Dialect(
    "bytea",
    "bigint",
    "bigint PRIMARY KEY",
    "",
    (
        # Bodies are packed already: the server is not to try again.
        "ALTER TABLE events ALTER COLUMN body SET STORAGE EXTERNAL",
        "ALTER TABLE events ALTER COLUMN layout SET STORAGE EXTERNAL",
        "ALTER TABLE turns ALTER COLUMN body SET STORAGE EXTERNAL",
        # ANALYZE keeps samples of values in a table of the server's own, which no erasure of ours would reach.
        *(
            f"ALTER TABLE {table} ALTER COLUMN {name} SET STATISTICS 0"
            for table, names in _WITH_CONTENT.items()
            for name in names
        ),
    ),
)

# events.ours: 1 for a conversation_capture of our agent, which nearly all are; the others have indexes of their own.
# events.agent_version: of one that makes turns and keeps another major of the published contract than ours; else NULL.
# events.erased: 0, or 1 where some of the content, 2 where all of it was erased.
# event_keys.key: what an event is found by, as digests (store.log.event_keys).
# sessions.version: 0 while it has no turns. agents, users, tags: JSON arrays. total_tokens: decimal digits, since a sum
# of 64-bit counts may leave 64 bits.
# labels: what sessions are listed by; kind is one of store.lists.labels, value a digest.
# turns.narrowness: of the fullest event that brought the latest body (store.log.capture). waits_for: see
# store.log.turns. own_index: the place of the latest revision among the turns that the event at
# revision_position brought (store.log.layout). body: its members, where they differ from what stands there.
# words: 64-bit digests (store.lists.words). indexed: up to which position a tenant's words and labels are there.
_TABLES: Final = """
CREATE TABLE tenants (
    tenant {row_key},
    name {blob} NOT NULL UNIQUE
);
CREATE TABLE events (
    event_key {row_key},
    tenant {integer} NOT NULL,
    event_id {blob} NOT NULL,
    execution_ref {blob} NOT NULL,
    type {blob} NOT NULL,
    agent_id {blob},
    decision_type {blob},
    inputs_hash {blob},
    ours {integer} NOT NULL,
    session_key {integer},
    conversation_id {blob},
    user_digest {blob},
    timestamp {blob} NOT NULL,
    instant_us {integer} NOT NULL,
    received_us {integer} NOT NULL,
    turn_count {integer} NOT NULL,
    agent_version {blob},
    erased {integer} NOT NULL,
    layout {blob} NOT NULL,
    body {blob} NOT NULL
);
CREATE INDEX events_by_session ON events (session_key, event_key) WHERE session_key IS NOT NULL;
CREATE INDEX events_without_session ON events (conversation_id, event_key)
    WHERE session_key IS NULL AND conversation_id IS NOT NULL;
CREATE INDEX events_by_instant ON events (tenant, instant_us, event_key);
CREATE INDEX events_by_user ON events (tenant, user_digest, event_key) WHERE user_digest IS NOT NULL;
CREATE INDEX others_by_type ON events (tenant, type, event_key) WHERE ours = 0;
CREATE INDEX others_by_agent ON events (tenant, agent_id, event_key) WHERE ours = 0;
CREATE INDEX others_by_decision ON events (tenant, decision_type, event_key) WHERE ours = 0;
CREATE TABLE event_keys (
    key {blob} NOT NULL PRIMARY KEY,
    tenant {integer} NOT NULL,
    event_key {integer} NOT NULL
){keys_only};
CREATE TABLE sessions (
    session_key {row_key},
    tenant {integer} NOT NULL,
    session_id {blob} NOT NULL,
    native_session_id {blob},
    last_seq {integer} NOT NULL,
    version {integer} NOT NULL,
    created_us {integer} NOT NULL,
    activity_us {integer} NOT NULL,
    first_turn_us {integer},
    last_turn_us {integer},
    total_tokens {blob},
    first_user_seq {integer},
    first_user_content {blob},
    agents {blob} NOT NULL,
    users {blob} NOT NULL,
    tags {blob} NOT NULL,
    erased {integer} NOT NULL
);
CREATE UNIQUE INDEX sessions_by_id ON sessions (session_id, tenant);
CREATE INDEX sessions_by_activity ON sessions (tenant, activity_us, session_key) WHERE version > 0;
CREATE TABLE labels (
    tenant {integer} NOT NULL,
    kind {integer} NOT NULL,
    value {blob} NOT NULL,
    session_key {integer} NOT NULL,
    PRIMARY KEY (tenant, kind, value, session_key)
){keys_only};
CREATE TABLE turns (
    turn_key {row_key},
    session_key {integer} NOT NULL,
    seq {integer} NOT NULL,
    tenant {integer} NOT NULL,
    turn_id {blob} NOT NULL,
    conversation_id {blob} NOT NULL,
    parent_turn_id {blob},
    waits_for {blob},
    names_leaf {blob},
    is_leaf {integer} NOT NULL,
    first_position {integer} NOT NULL,
    revision_position {integer} NOT NULL,
    version {integer} NOT NULL,
    revisions {integer} NOT NULL,
    narrowness {integer} NOT NULL,
    body_sha256 {blob} NOT NULL,
    lower_case {integer} NOT NULL,
    own_index {integer} NOT NULL,
    is_user {integer} NOT NULL,
    instant_us {integer},
    tokens {integer},
    erased {integer} NOT NULL,
    body {blob}
);
CREATE UNIQUE INDEX turns_by_id ON turns (session_key, turn_id);
CREATE INDEX turns_without_child ON turns (session_key, conversation_id, turn_key) WHERE is_leaf = 1;
CREATE INDEX turns_naming_a_leaf ON turns (session_key, conversation_id, turn_key) WHERE names_leaf IS NOT NULL;
CREATE TABLE awaited_parents (
    session_key {integer} NOT NULL,
    turn_id {blob} NOT NULL,
    conversation_id {blob} NOT NULL,
    tenant {integer} NOT NULL,
    PRIMARY KEY (session_key, turn_id, conversation_id)
){keys_only};
CREATE TABLE tombstones (
    turn_id {blob} NOT NULL,
    tenant {integer} NOT NULL,
    PRIMARY KEY (turn_id, tenant)
){keys_only};
CREATE TABLE erasures (
    erasure_key {row_key},
    tenant {integer} NOT NULL,
    kind {blob} NOT NULL,
    subject {blob} NOT NULL,
    key_name {blob} NOT NULL,
    at_us {integer} NOT NULL,
    sessions {integer} NOT NULL,
    turns {integer} NOT NULL,
    events {integer} NOT NULL
);
CREATE TABLE audit (
    audit_key {row_key},
    tenant {integer} NOT NULL,
    at_us {integer} NOT NULL,
    key_name {blob} NOT NULL,
    action {blob} NOT NULL,
    subject {blob} NOT NULL
);
CREATE TABLE words (
    session_key {integer} NOT NULL,
    word {integer} NOT NULL,
    tenant {integer} NOT NULL,
    PRIMARY KEY (session_key, word)
){keys_only};
CREATE INDEX words_by_word ON words (word, session_key);
CREATE TABLE indexed (
    tenant {row_key},
    words {integer} NOT NULL,
    labels {integer} NOT NULL
);
CREATE TABLE write_probe (tenant {integer}, filler {blob} NOT NULL);
INSERT INTO tenants (tenant, name) VALUES (1, {default_tenant})
"""


def tables(dialect: Dialect) -> tuple[str, ...]:
    """The statements that make an empty database's tables."""
    default = "'\\x64656661756c74'" if dialect.blob == "bytea" else "x'64656661756c74'"
    text = _TABLES.format(**dialect._asdict(), default_tenant=default)
    return (*(statement.strip() for statement in text.split(";\n")), *dialect.columns)


def event_key(tenant_key: int, position: int) -> int:
    """The row of an event, or of an erasure: those of a tenant lie together in ``position`` order."""
    return tenant_key << _POSITION_BITS | position


def position_of(key: int) -> int:
    """The position in an event's key."""
    return key & MAX_POSITION


def turn_key(session_key: int, seq: int) -> int:
    """The row of a turn: those of a session lie together in ``seq`` order, which spares an index of its own."""
    return session_key << _SEQ_BITS | seq


def stamp(version: int = SCHEMA_VERSION) -> tuple[str, ...]:
    """The statements that say to Alembic which revision a database has that it did not make."""
    return (
        "CREATE TABLE alembic_version (version_num varchar(32) NOT NULL PRIMARY KEY)",
        f"INSERT INTO alembic_version (version_num) VALUES ('{version:04}')",  # noqa: S608 - a number
    )
