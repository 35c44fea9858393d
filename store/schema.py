"""The tables of the embedded store, and the version of them that this release writes.

Bodies are bytes, never SQL text or JSON columns: NUL and every code point come back as they came (store.event_body).
What is written with each append is kept to few pages, since every page of a commit costs about as much as a parse:
an event's key in its session is a number, and the rows of a session's turns, small and without bodies, lie together.
Events and turns are rowid tables: appending to one touches a page or two, to an index or a table ``WITHOUT ROWID``
often four, and with long rows that takes several times the disk.
"""

from __future__ import annotations

from typing import Final

SCHEMA_VERSION: Final = 1
DEFAULT_TENANT: Final = "default"

# Turns of one session at most; sessions at most 2^63 / 2^28 = 34 thousand million.
_SEQ_BITS: Final = 28
MAX_SEQ: Final = 2**_SEQ_BITS - 1

TABLES: Final = """
CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL DEFAULT 'default',
    event_id TEXT NOT NULL,
    execution_ref TEXT NOT NULL,
    type TEXT NOT NULL,
    agent_id TEXT,
    decision_type TEXT,
    inputs_hash TEXT,
    session_key INTEGER,
    conversation_id BLOB,
    timestamp TEXT NOT NULL,
    instant_us INTEGER NOT NULL,
    received_us INTEGER NOT NULL,
    turn_count INTEGER NOT NULL,
    turns_bytes INTEGER NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX events_by_session ON events (session_key, position) WHERE session_key IS NOT NULL;

-- What an event is found by, as digests (store.event_keys).
CREATE TABLE event_keys (
    key BLOB NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL DEFAULT 'default',
    position INTEGER NOT NULL
) WITHOUT ROWID;

-- session_key: the position of the first event that named the session. version: 0 while it has no turns.
CREATE TABLE sessions (
    session_id BLOB NOT NULL,
    tenant TEXT NOT NULL DEFAULT 'default',
    session_key INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (session_id, tenant)
) WITHOUT ROWID;

-- turn_key: see turn_key(). waits_for: see store.turns. chunk, chunk_bytes, start, size: where the latest revision
-- stands in the body of the event at revision_position (store.event_body). body: its members, where they differ from
-- what stands there.
CREATE TABLE turns (
    turn_key INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    tenant TEXT NOT NULL DEFAULT 'default',
    turn_id BLOB NOT NULL,
    conversation_id BLOB NOT NULL,
    parent_turn_id BLOB,
    waits_for BLOB,
    names_leaf BLOB,
    is_leaf INTEGER NOT NULL,
    first_position INTEGER NOT NULL,
    revision_position INTEGER NOT NULL,
    version INTEGER NOT NULL,
    revisions INTEGER NOT NULL,
    narrowness INTEGER NOT NULL,
    body_sha256 BLOB NOT NULL,
    chunk INTEGER NOT NULL,
    chunk_bytes INTEGER NOT NULL,
    start INTEGER NOT NULL,
    size INTEGER NOT NULL,
    body BLOB
);
CREATE UNIQUE INDEX turns_by_id ON turns (session_key, turn_id);
CREATE INDEX turns_without_child ON turns (session_key, conversation_id, turn_key) WHERE is_leaf = 1;
CREATE INDEX turns_naming_a_leaf ON turns (session_key, conversation_id, turn_key) WHERE names_leaf IS NOT NULL;

CREATE TABLE awaited_parents (
    session_key INTEGER NOT NULL,
    turn_id BLOB NOT NULL,
    conversation_id BLOB NOT NULL,
    tenant TEXT NOT NULL DEFAULT 'default',
    PRIMARY KEY (session_key, turn_id, conversation_id)
) WITHOUT ROWID;

CREATE TABLE write_probe (filler BLOB NOT NULL);
"""


def turn_key(session_key: int, seq: int) -> int:
    """The row of a turn: those of a session lie together in ``seq`` order, which spares an index of its own."""
    return session_key << _SEQ_BITS | seq
