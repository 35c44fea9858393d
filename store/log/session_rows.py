"""One session of the database as ``store.log.turns`` looks at it: by index, and each turn at most once an append."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

from store.engines.engine import Connection
from store.log.turns import StoredTurn

_Value = TypeVar("_Value", bytes, int)

# One statement text for each size keeps the connection's statement cache small.
_BATCHES: Final = (1, 2, 4, 16, 128, 1024)

_COLUMNS: Final = (
    "seq, turn_id, conversation_id, waits_for, is_leaf, body_sha256, narrowness, revision_position, own_index,"
    " lower_case, is_user, instant_us, tokens, erased"
)
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


def batches(values: Sequence[_Value]) -> Iterator[tuple[str, list[_Value]]]:
    """``values`` in batches for ``IN (...)``: the question marks of one of few sizes, and as many values."""
    remaining = iter(values)
    while batch := list(islice(remaining, _BATCHES[-1])):
        size = next(size for size in _BATCHES if size >= len(batch))
        yield ", ".join("?" * size), batch + [batch[-1]] * (size - len(batch))


class DatabaseSession:
    """The rows of one session inside the append's transaction. ``session_key`` None: there is no such session yet."""

    def __init__(
        self,
        connection: Connection,
        session_key: int | None,
        wanted: Sequence[bytes],
        *,
        tombstones_of: int | None,
    ) -> None:
        """``tombstones_of``: the tenant, where it has erased anything."""
        self._connection = connection
        self._session_key = session_key
        self._turns: dict[bytes, StoredTurn | None] = dict.fromkeys(wanted)
        self._awaiting: dict[bytes, set[bytes]] = {}
        if session_key is not None:
            self._select(session_key, wanted)
            found = connection.execute("SELECT 1 FROM awaited_parents WHERE session_key = ? LIMIT 1", (session_key,))
            if found.fetchone() is not None:
                self._select_awaiting(session_key, [name for name, stored in self._turns.items() if stored is None])
        self._tombstones: set[bytes] = set()
        if tombstones_of is not None:
            for marks, batch in batches(wanted):
                sql = f"SELECT turn_id FROM tombstones WHERE turn_id IN ({marks}) AND tenant = ?"  # noqa: S608 - marks only
                self._tombstones.update(row[0] for row in connection.execute(sql, (*batch, tombstones_of)))

    def turn(self, turn_id: bytes) -> StoredTurn | None:
        if self._session_key is not None and turn_id not in self._turns:
            self._turns[turn_id] = None
            self._select(self._session_key, [turn_id])
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
        return self._awaiting.get(turn_id, set())

    def is_tombstone(self, turn_id: bytes) -> bool:
        return turn_id in self._tombstones

    def _select_awaiting(self, session_key: int, wanted: Sequence[bytes]) -> None:
        for marks, batch in batches(wanted):
            sql = f"SELECT turn_id, conversation_id FROM awaited_parents WHERE session_key = ? AND turn_id IN ({marks})"  # noqa: S608 - marks only
            for turn_id, conversation_id in self._connection.execute(sql, (session_key, *batch)):
                self._awaiting.setdefault(turn_id, set()).add(conversation_id)

    def _select(self, session_key: int, wanted: Sequence[bytes]) -> None:
        for marks, batch in batches(wanted):
            sql = f"SELECT {_COLUMNS} FROM turns WHERE session_key = ? AND turn_id IN ({marks})"  # noqa: S608 - marks only
            for row in self._connection.execute(sql, (session_key, *batch)):
                self._turns[row[1]] = _stored(row)


def _stored(row: tuple[Any, ...]) -> StoredTurn:
    seq, turn_id, conversation_id, waits_for, is_leaf, body_sha256, narrowness, *revision, erased = row
    position, own_index, lower_case, is_user, instant_us, tokens = revision
    return StoredTurn(
        seq,
        turn_id,
        conversation_id,
        waits_for,
        bool(is_leaf),
        body_sha256,
        narrowness,
        position,
        own_index,
        bool(lower_case),
        bool(is_user),
        instant_us,
        tokens,
        bool(erased),
    )
