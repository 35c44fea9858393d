"""Pages of a session's turns (CONTRACT 10): each record cut out of the event that brought its latest revision.

What the turns of a page stand in is looked up once for all of them, and texts are joined, not parsed and written: a
read costs its rows and little more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import orjson

from store.engines.engine import Connection
from store.engines.schema import MAX_SEQ, event_key, position_of, turn_key
from store.errors import DamagedDatabase, NotFound
from store.log.envelope import encode_sent, parse_kept
from store.log.event_body import chunk_text
from store.log.identifiers import unpacked
from store.log.layout import Layout, unpack
from store.log.record import Chunks, RevisionPlace
from store.port import TurnsQuery

# A page ends early rather than fill the memory: the caller goes on from there by ``after_seq``.
_PAGE_BYTES: Final = 32 * 1024 * 1024
# Turns whose events are looked up at a time, and the largest body that is loaded whole for some of its turns.
_STEP: Final = 250
_WHOLE_BODY: Final = 256 * 1024
_EVENTS_AT_ONCE: Final = 64

_TURNS: Final = """
SELECT turn_id, seq, parent_turn_id, conversation_id, version, revisions, erased, first_position, revision_position,
    own_index, body
FROM turns
WHERE turn_key BETWEEN ? AND ?
"""
# The first of the newest: from there on the page is read in ``seq`` order, and can end early.
_NEWEST: Final = """
SELECT min(turn_key) FROM (
    SELECT turn_key FROM turns WHERE turn_key BETWEEN ? AND ?{bounds} ORDER BY turn_key DESC LIMIT ?
) AS newest
"""
_BOUNDS: Final = {"changed_after": " AND version > ?", "conversation_id": " AND conversation_id = ?"}
_EVENTS: Final = """
SELECT event_key, timestamp, execution_ref, layout, CASE WHEN length(body) <= ? THEN body END
FROM events WHERE event_key IN ({marks})
"""


def read_turns(
    connection: Connection, tenant: int, query: TurnsQuery, *, page_bytes: int = _PAGE_BYTES
) -> tuple[bytes, ...]:
    """The turns of a session that the query leaves, in ``seq`` order, fewer where ``page_bytes`` are reached.

    Raises NotFound for an unknown session.
    """
    row = connection.execute(
        "SELECT session_key FROM sessions WHERE session_id = ? AND tenant = ? AND version > 0",
        (query.session_id, tenant),
    ).fetchone()
    if row is None:
        raise NotFound("no session has this id")
    bounds = {name: value for name in _BOUNDS if (value := getattr(query, name)) is not None}
    bounds_sql = "".join(_BOUNDS[name] for name in bounds)
    first, final = (turn_key(row[0], seq) for seq in _seq_range(query))
    if query.last is not None:
        newest = _NEWEST.format(bounds=bounds_sql)
        (first,) = connection.execute(newest, (first, final, *bounds.values(), query.last)).fetchone()
        if first is None:
            return ()
    sql = f"{_TURNS}{bounds_sql} ORDER BY turn_key LIMIT ?"
    rows = connection.execute(sql, (first, final, *bounds.values(), query.limit)).fetchall()
    return _within(_records(connection, tenant, rows), page_bytes)


def _seq_range(query: TurnsQuery) -> tuple[int, int]:
    """The first and the last ``seq`` that the query's bounds leave."""
    first = 1 if query.after_seq is None else query.after_seq + 1
    before = MAX_SEQ if query.before_seq is None else query.before_seq - 1
    at = MAX_SEQ if query.at_seq is None else query.at_seq
    return min(first, MAX_SEQ), max(0, min(before, at, MAX_SEQ))


def _within(records: Iterator[bytes], page_bytes: int) -> tuple[bytes, ...]:
    page: list[bytes] = []
    size = 0
    for record in records:
        page.append(record)
        size += len(record)
        if size >= page_bytes:
            break
    return tuple(page)


def _records(connection: Connection, tenant: int, rows: Sequence[Any]) -> Iterator[bytes]:
    events = _Events(connection, tenant)
    conversations: dict[bytes, str] = {}
    for start in range(0, len(rows), _STEP):
        some = rows[start : start + _STEP]
        events.load({position for row in some for position in (row[7], row[8])})
        for row in some:
            turn_id, seq, parent, conversation_id, version, revisions, erased, first, latest, own_index, body = row
            conversation = conversations.get(conversation_id)
            if conversation is None:
                conversation = conversations[conversation_id] = unpacked(conversation_id)
            named = "null" if parent is None else f'"{unpacked(parent)}"'
            brought, by = events.of[first].captured_at, events.of[latest].execution_ref
            ours = (
                f'{{"turn_id":"{unpacked(turn_id)}","seq":{seq},"parent_turn_id":{named},'
                f'"conversation_id":"{conversation}","captured_at":{brought},"version":{version},"execution_ref":{by},'
                f'"revisions":{revisions},"erased":{"true" if erased else "false"}'
            )
            # The members have none of these names (RECORD_FIELDS), so one object holds both.
            members = events.members(latest, own_index) if body is None or erased else body
            if erased:
                members = _kept_of(members)
            yield ours.encode() + (members if members == b"}" else b"," + members)


def _kept_of(members: bytes) -> bytes:
    """What a reader gets of an erased turn's skeleton: its role, and what it does to the history."""
    kept = parse_kept(b"{" + members)
    return encode_sent({name: kept[name] for name in ("role", "metadata") if name in kept})[1:]


class _Event(NamedTuple):
    """What a page needs of an event; the first two are JSON texts. ``body`` is None for a large one."""

    captured_at: str
    execution_ref: str
    layout: Layout
    body: bytes | None


class _Events:
    """The events that the turns of a page stand in; each read once, each chunk unpacked once."""

    def __init__(self, connection: Connection, tenant: int) -> None:
        self._connection = connection
        self._tenant = tenant
        self.of: dict[int, _Event] = {}
        # By event: where the members of its own turns start and end, and the text that they are in.
        self._chunks = Chunks(connection, tenant)
        self._cuts: dict[int, list[tuple[int, int]]] = {}
        self._texts: dict[int, bytes] = {}

    def load(self, positions: set[int]) -> None:
        """Look up the events at ``positions``, and let go of the bodies that are not among them."""
        for position in self._texts.keys() - positions:
            del self.of[position], self._texts[position], self._cuts[position]
        wanted = [event_key(self._tenant, position) for position in sorted(positions - self.of.keys())]
        for start in range(0, len(wanted), _EVENTS_AT_ONCE):
            some = wanted[start : start + _EVENTS_AT_ONCE]
            keys = some if len(some) == 1 else some + [some[-1]] * (_EVENTS_AT_ONCE - len(some))
            sql = _EVENTS.format(marks=", ".join("?" * len(keys)))
            for key, timestamp, execution_ref, layout, body in self._connection.execute(sql, (_WHOLE_BODY, *keys)):
                captured_at, by = (orjson.dumps(value.decode()).decode() for value in (timestamp, execution_ref))
                self.of[position_of(key)] = _Event(captured_at, by, unpack(layout), body)
        if not positions <= self.of.keys():
            raise DamagedDatabase("a turn's event is not there")

    def members(self, position: int, own_index: int) -> bytes:
        """``"role":"user",...}``: an own turn's members but the RECORD_FIELDS, and ``}``."""
        event = self.of[position]
        if event.body is None:
            # A large capture: of its chunks only those that the page needs.
            return self._chunks.members(RevisionPlace(position, own_index, None))
        cuts = self._cuts.get(position)
        if cuts is None:
            cuts = self._cuts[position] = list(_cuts(event.layout))
            self._texts[position] = _own_text(event, event.body)
        if own_index >= len(cuts):
            raise DamagedDatabase("a turn's place is outside its event")
        start, end = cuts[own_index]
        return self._texts[position][start:end]


def _own_text(event: _Event, kept: bytes) -> bytes:
    """The text of all own turns of an event."""
    texts = []
    start = 0
    for chunk in event.layout.chunks:
        if chunk.sizes:
            texts.append(chunk_text(kept[start : start + chunk.kept_bytes])[: sum(chunk.sizes)])
        start += chunk.kept_bytes
    return texts[0] if len(texts) == 1 else b"".join(texts)


def _cuts(layout: Layout) -> Iterator[tuple[int, int]]:
    """Where the tail of each own turn starts and ends in the text of all of them."""
    sizes = chain.from_iterable(chunk.sizes for chunk in layout.chunks)
    end = 0
    for head, tail in zip(sizes, sizes, strict=True):
        start = end + head
        end = start + tail
        yield start, end
