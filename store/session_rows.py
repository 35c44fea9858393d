"""One session of the database as ``store.turns`` looks at it: by index, and each turn at most once an append."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final

from store.connection import Connection
from store.turns import StoredTurn

# One statement text for each size keeps the connection's statement cache small.
_BATCHES: Final = (16, 128, 1024)

_COLUMNS: Final = "seq, turn_id, conversation_id, waits_for, is_leaf, body_sha256, narrowness"
_TURNS: Final = {
    size: f"SELECT {_COLUMNS} FROM turns WHERE session_key = ? AND turn_id IN ({', '.join('?' * size)})"  # noqa: S608 - constants only
    for size in (1, *_BATCHES)
}
_LEAF: Final = """
SELECT turn_id, turn_key FROM turns WHERE session_key = ? AND conversation_id = ? AND is_leaf = 1
ORDER BY turn_key DESC LIMIT 1
"""
# A leaf that is named but not there names nothing: the next carrier counts, else the leaf itself.
_NAMED_LEAF: Final = """
SELECT names_leaf FROM turns AS carrier
WHERE session_key = ? AND conversation_id = ? AND names_leaf IS NOT NULL AND turn_key >= ?
  AND EXISTS (SELECT 1 FROM turns WHERE session_key = carrier.session_key AND turn_id = carrier.names_leaf)
ORDER BY turn_key DESC LIMIT 1
"""


class DatabaseSession:
    """The rows of one session inside the append's transaction. ``session_key`` None: there is no such session yet."""

    def __init__(self, connection: Connection, session_key: int | None, wanted: Sequence[bytes]) -> None:
        self._connection = connection
        self._session_key = session_key
        self._turns: dict[bytes, StoredTurn | None] = dict.fromkeys(wanted)
        self._anything_awaited = False
        if session_key is not None:
            self._load(session_key, wanted)
            found = connection.execute("SELECT 1 FROM awaited_parents WHERE session_key = ? LIMIT 1", (session_key,))
            self._anything_awaited = found.fetchone() is not None

    def turn(self, turn_id: bytes) -> StoredTurn | None:
        if self._session_key is not None and turn_id not in self._turns:
            self._turns[turn_id] = None
            self._select(1, self._session_key, [turn_id])
        return self._turns.get(turn_id)

    def current_leaf(self, conversation_id: bytes) -> bytes | None:
        if self._session_key is None:
            return None
        leaf = self._connection.execute(_LEAF, (self._session_key, conversation_id)).fetchone()
        if leaf is None:
            return None
        turn_id, turn_key = leaf
        named = self._connection.execute(_NAMED_LEAF, (self._session_key, conversation_id, turn_key)).fetchone()
        chosen: bytes = turn_id if named is None else named[0]
        return chosen

    def awaiting(self, turn_id: bytes) -> set[bytes]:
        if not self._anything_awaited:
            return set()
        rows = self._connection.execute(
            "SELECT conversation_id FROM awaited_parents WHERE session_key = ? AND turn_id = ?",
            (self._session_key, turn_id),
        )
        return {conversation_id for (conversation_id,) in rows}

    def _load(self, session_key: int, wanted: Sequence[bytes]) -> None:
        remaining = iter(wanted)
        while batch := list(islice(remaining, _BATCHES[-1])):
            size = next(size for size in _BATCHES if size >= len(batch))
            self._select(size, session_key, batch)

    def _select(self, size: int, session_key: int, batch: list[bytes]) -> None:
        padding = [batch[-1]] * (size - len(batch))
        for row in self._connection.execute(_TURNS[size], (session_key, *batch, *padding)):
            seq, turn_id, conversation_id, waits_for, is_leaf, body_sha256, narrowness = row
            self._turns[turn_id] = StoredTurn(
                seq, turn_id, conversation_id, waits_for, bool(is_leaf), body_sha256, narrowness
            )
