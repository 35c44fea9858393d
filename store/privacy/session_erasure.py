"""Erasure within one session: its turns' rows, its events' bodies, its own row (CONTRACT 10a).

Events are taken one by one, the newest first: what an event refers to stands in older ones, and is still there when the
event is looked at. The session's row is made again from what is left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final

from store.engines.engine import Connection
from store.engines.schema import MAX_SEQ, position_of, turn_key
from store.errors import LostEvent
from store.lists import labels
from store.log.damage import reading_event
from store.log.envelope import parse_kept
from store.log.event_body import OpenBody, lay_out, open_body
from store.log.event_rows import id_of, turn_texts
from store.log.identifiers import packed
from store.log.layout import NEW, REVISED, unpack
from store.log.record import Chunks
from store.log.session_row import COLUMNS, SessionRow, read_row
from store.log.session_rows import batches
from store.log.turn_rows import BURY, NO_BODY, with_extent
from store.privacy.emptied import Gone, without_all_else, without_turns
from store.privacy.kept_graph import lost_names
from store.privacy.session_names import SessionNames

# events.erased.
PARTLY: Final = 1
WHOLE: Final = 2

_SELECT: Final = "SELECT erased, layout, body FROM events WHERE event_key = ?"
_UPDATE: Final = "UPDATE events SET layout = ?, body = ?, erased = ? WHERE event_key = ?"
_MARK: Final = "UPDATE events SET erased = ? WHERE event_key = ?"
# seq, parent, conversation, role and the leaf that it names stay, and where its text stands: a skeleton by now.
_EMPTY_TURN: Final = """
UPDATE turns SET erased = 1, version = ?, narrowness = 0, body_sha256 = ?, instant_us = NULL,
    tokens = NULL, body = NULL
WHERE turn_key = ?
"""
_TOKENS: Final = "SELECT tokens FROM turns WHERE turn_key BETWEEN ? AND ? AND tokens IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Emptied:
    """How many turns and events an erasure emptied in a session."""

    turns: int = 0
    events: int = 0

    def any(self) -> bool:
        return self.turns > 0 or self.events > 0


class SessionErasure:
    """The erasure at ``position`` in one session. Made for one call of ``empty``."""

    def __init__(self, connection: Connection, tenant: int, session_key: int, position: int) -> None:
        self._connection = connection
        self._tenant = tenant
        self._session_key = session_key
        self._position = position
        self._chunks = Chunks(connection, tenant)
        self._span = (turn_key(session_key, 1), turn_key(session_key, MAX_SEQ))

    def empty(self, turn_ids: Collection[bytes], events: Collection[int], *, is_all: bool) -> Emptied:
        """Empty the turns, and ``events`` whole. Those that are empty already are left as they are.

        ``is_all`` says that this is all that the session has.
        """
        turns = self._full_turns(turn_ids)
        if not turns and not events:
            return Emptied()
        gone = self._gone(turns)
        names = SessionNames()
        emptied = 0
        for key in self._event_keys():
            emptied += self._empty_event(key, gone, names, whole=key in events)
        if turns:
            self._connection.executemany(
                _EMPTY_TURN, [(self._position, NO_BODY, turn_key(self._session_key, seq)) for seq in turns.values()]
            )
            self._connection.executemany(BURY, [(turn_id, self._tenant) for turn_id in turns])
        self._write_row(names, is_all=is_all)
        return Emptied(len(turns), emptied)

    def brought(self, keys: Collection[int]) -> set[bytes]:
        """The turns that came in these events, at first or as a revision."""
        found = (brought_by(read_body(self._connection, key)[1]) for key in keys)
        return {turn_id for turn_ids in found for turn_id in turn_ids}

    def all_turns(self) -> list[bytes]:
        """The ids of the turns that are not erased."""
        sql = "SELECT turn_id FROM turns WHERE turn_key BETWEEN ? AND ? AND erased = 0"
        return [turn_id for (turn_id,) in self._connection.execute(sql, self._span).fetchall()]

    def full_events(self) -> frozenset[int]:
        """The events that were not emptied whole."""
        sql = "SELECT event_key FROM events WHERE session_key = ? AND erased <> ?"
        rows = self._connection.execute(sql, (self._session_key, WHOLE)).fetchall()
        return frozenset(key for (key,) in rows)

    def _full_turns(self, turn_ids: Collection[bytes]) -> dict[bytes, int]:
        """The ``seq`` of those that the session has and that are not erased."""
        found: dict[bytes, int] = {}
        for marks, some in batches(list(turn_ids)):
            sql = f"SELECT turn_id, seq FROM turns WHERE session_key = ? AND turn_id IN ({marks}) AND erased = 0"  # noqa: S608 - marks only
            found.update(dict(self._connection.execute(sql, (self._session_key, *some)).fetchall()))
        return found

    def _event_keys(self) -> Iterator[int]:
        """Newest first. (All of them at once: rows change while they are gone through.)"""
        sql = "SELECT event_key FROM events WHERE session_key = ? ORDER BY event_key DESC"
        return (key for (key,) in self._connection.execute(sql, (self._session_key,)).fetchall())

    def _gone(self, turns: Collection[bytes]) -> Gone:
        gone = Gone(frozenset(turns), {}, {})
        for key in self._event_keys() if turns else ():
            _, body = read_body(self._connection, key)
            for index, turn in enumerate(body.own):
                place = (position_of(key), index)
                fields = parse_kept(turn.head + turn.tail)
                turn_id = packed(fields["turn_id"])
                if turn_id is None or turn_id not in turns:
                    continue
                gone.places[place] = turn_id
                names = lost_names(fields)
                if names:
                    gone.names[place] = names
        return gone

    def _empty_event(self, key: int, gone: Gone, names: SessionNames, *, whole: bool) -> bool:
        """Whether anything of it went."""
        erased, body = read_body(self._connection, key)
        self._chunks.remember(position_of(key), body.layout)
        less = without_turns(body, position_of(key), gone, self._texts)
        is_named = less is not body
        if whole:
            less = without_all_else(less, self._texts)
        names.add(less)
        if whole or is_named:
            write_body(self._connection, key, body, less, WHOLE if whole else max(erased, PARTLY))
        return whole or is_named

    def _texts(self, body: OpenBody) -> list[bytes]:
        return turn_texts(self._chunks, body)

    def _write_row(self, names: SessionNames, *, is_all: bool) -> None:
        sql = f"SELECT {COLUMNS} FROM sessions WHERE session_key = ?"  # noqa: S608 - constants only
        before = read_row(self._connection.execute(sql, (self._session_key,)).fetchone())
        row = with_extent(self._connection, names.of(before))
        row = replace(
            row,
            version=self._position if row.version else 0,
            total_tokens=self._tokens(),
            erased=row.erased or is_all,
        )
        row.update(self._connection)
        self._connection.executemany(labels.DELETE, list(self._lost_labels(before, row)))
        self._connection.execute("DELETE FROM words WHERE session_key = ?", (self._session_key,))
        if not is_all:
            from store.lists.search import reindex_session

            reindex_session(self._connection, self._tenant, self._session_key)

    def _lost_labels(self, before: SessionRow, after: SessionRow) -> Iterator[tuple[int, int, bytes, int]]:
        # What the row before would add to the row after.
        for tenant, kind, value, _ in labels.added(self._tenant, after, before):
            yield tenant, kind, value, self._session_key

    def _tokens(self) -> int | None:
        # Not by sum(): it may leave 64 bits.
        counts = [count for (count,) in self._connection.execute(_TOKENS, self._span).fetchall()]
        return sum(counts) if counts else None


def read_body(connection: Connection, key: int) -> tuple[int, OpenBody]:
    """``events.erased`` and the body of the event ``key``."""
    row = connection.execute(_SELECT, (key,)).fetchone()
    if row is None:
        raise LostEvent("an event is not there", position_of(key))
    erased, layout, kept = row
    with reading_event(position_of(key)):
        return int(erased), open_body(unpack(layout), kept)


def write_body(connection: Connection, key: int, before: OpenBody, body: OpenBody, erased: int) -> None:
    """Write what an event is now. ``before`` is what it was: a body that says the same is not written again."""
    if (body.own, body.rest, body.layout.turns) == (before.own, before.rest, before.layout.turns):
        connection.execute(_MARK, (erased, key))
        return
    written = lay_out(body.rest, body.own, body.layout.turns)
    connection.execute(_UPDATE, (written.layout.pack(), written.kept, erased, key))


def brought_by(body: OpenBody) -> list[bytes]:
    """The ids of the turns that came in an event, at first or as a revision."""
    return [id_of(turn.head + turn.tail) for turn in body.own if turn.kind in (NEW, REVISED)]
