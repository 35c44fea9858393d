"""Pages of a session's turns (CONTRACT 10): each record cut out of the event that brought its latest revision.

What the turns of a page stand in is looked up once for all of them, and texts are joined, not parsed and written: a
read costs its rows and little more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple
from zlib import crc32

import orjson

from store.engines.engine import Connection
from store.engines.schema import MAX_POSITION, MAX_SEQ, event_key, position_of, turn_key
from store.errors import DamagedDatabase, DamagedEvent, LostEvent, NotFound
from store.log.damage import reading_event
from store.log.envelope import encode_sent, parse_kept
from store.log.event_body import chunk_text
from store.log.identifiers import unpacked
from store.log.layout import NEW, REVISED, own_sizes, unpack
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
# The text of an id, and where its digits are.
_PATTERN: Final = b"00000000-0000-0000-0000-000000000000 "
_DIGITS: Final = tuple(place for place, character in enumerate(_PATTERN) if character == ord("0"))
# Events that are looked at one by one for what they changed; more are not.
_FEW_EVENTS: Final = 50
_SINCE: Final = (
    "SELECT event_key, layout FROM events WHERE session_key = ? AND event_key > ? ORDER BY event_key LIMIT ?"
)
_ERASED_SINCE: Final = "SELECT 1 FROM erasures WHERE erasure_key > ? AND erasure_key <= ? LIMIT 1"
_BOUNDS: Final = {"changed_after": " AND version > ?", "conversation_id": " AND conversation_id = ?"}
_EVENTS: Final = """
SELECT event_key, timestamp, execution_ref, agent_version, layout, CASE WHEN length(body) <= ? THEN body END
FROM events WHERE event_key IN ({marks})
"""


def read_turns(
    connection: Connection, tenant: int, query: TurnsQuery, *, page_bytes: int = _PAGE_BYTES
) -> tuple[bytes, ...]:
    """The turns of a session that the query leaves, in ``seq`` order, fewer where ``page_bytes`` are reached.

    Raises NotFound for an unknown session.
    """
    row = connection.execute(
        "SELECT session_key, last_seq FROM sessions WHERE session_id = ? AND tenant = ? AND version > 0",
        (query.session_id, tenant),
    ).fetchone()
    if row is None:
        raise NotFound("no session has this id")
    session_key, last_seq = row
    bounds = {name: value for name in _BOUNDS if (value := getattr(query, name)) is not None}
    bounds_sql = "".join(_BOUNDS[name] for name in bounds)
    first, final = (turn_key(session_key, seq) for seq in _seq_range(query))
    if query.changed_after is not None:
        new = _new_alone(connection, tenant, session_key, query.changed_after)
        if new is not None:
            # They stand behind all others, which need not be looked through.
            first = max(first, turn_key(session_key, last_seq - new + 1))
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


def _new_alone(connection: Connection, tenant: int, session_key: int, version: int) -> int | None:
    """How many turns of a session are new since ``version``; None where others may have changed too.

    A look at few events tells: turns change by a capture that revises them, or by an erasure.
    """
    since, end = event_key(tenant, min(version, MAX_POSITION)), event_key(tenant, MAX_POSITION)
    layouts = connection.execute(_SINCE, (session_key, since, _FEW_EVENTS + 1)).fetchall()
    kinds = ""
    for key, layout in layouts[:_FEW_EVENTS]:
        with reading_event(position_of(key)):
            kinds += unpack(layout).kinds
    if len(layouts) > _FEW_EVENTS or REVISED in kinds:
        return None
    erased = connection.execute(_ERASED_SINCE, (since, end)).fetchone()
    return kinds.count(NEW) if erased is None else None


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
    names: dict[bytes | None, str] = {None: "null"}
    # What a record has of its events: mostly the same as its neighbours have.
    shared: dict[tuple[Any, ...], str] = {}
    for start in range(0, len(rows), _STEP):
        some = rows[start : start + _STEP]
        events.load({position for row in some for position in (row[7], row[8])})
        for row, text in zip(some, _unpacked([row[0] for row in some]), strict=True):
            turn_id, seq, parent, _, _, _, erased, _, latest, own_index, body = row
            of_events = row[3:9]
            middle = shared.get(of_events)
            if middle is None:
                middle = shared[of_events] = events.shared(of_events)
            name = names[turn_id] = f'"{text}"'
            named = names.get(parent) or f'"{unpacked(parent)}"'
            # The members have none of these names (RECORD_FIELDS), so one object holds both.
            ours = f'{{"turn_id":{name},"seq":{seq},"parent_turn_id":{named},{middle},'.encode()
            members = events.members(latest, own_index) if body is None or erased else body
            if erased:
                members = _kept_of(members)
            yield ours + members if members != b"}" else ours[:-1] + members


def _unpacked(ids: Sequence[bytes]) -> list[str]:
    """``unpacked`` of each, all of them together: each digit of all, one after the other."""
    digits = b"".join(ids).hex().encode()
    texts = bytearray(_PATTERN * len(ids))
    for digit, place in enumerate(_DIGITS):
        texts[place :: len(_PATTERN)] = digits[digit :: len(_DIGITS)]
    return texts.decode().split()


def _kept_of(members: bytes) -> bytes:
    """What a reader gets of an erased turn's skeleton: its role, and what it does to the history."""
    kept = parse_kept(b"{" + members)
    return encode_sent({name: kept[name] for name in ("role", "metadata") if name in kept})[1:]


class _Event(NamedTuple):
    """What a page needs of an event. ``body`` is None for a large one.

    ``captured_at`` is a JSON text; ``writer`` are the members that a record has of the event of its latest revision.
    """

    captured_at: str
    writer: str
    layout: bytes
    body: bytes | None


class _Events:
    """The events that the turns of a page stand in; each read once, each chunk unpacked once."""

    def __init__(self, connection: Connection, tenant: int) -> None:
        self._connection = connection
        self._tenant = tenant
        self._of: dict[int, _Event] = {}
        self._chunks = Chunks(connection, tenant)
        # By event, the members of each of its own turns.
        self._members: dict[int, list[bytes]] = {}

    def load(self, positions: set[int]) -> None:
        """Look up the events at ``positions``, and let go of the bodies that are not among them."""
        for position in self._members.keys() - positions:
            del self._of[position], self._members[position]
        wanted = [event_key(self._tenant, position) for position in sorted(positions - self._of.keys())]
        for start in range(0, len(wanted), _EVENTS_AT_ONCE):
            some = wanted[start : start + _EVENTS_AT_ONCE]
            keys = some if len(some) == 1 else some + [some[-1]] * (_EVENTS_AT_ONCE - len(some))
            sql = _EVENTS.format(marks=", ".join("?" * len(keys)))
            for key, timestamp, ref, version, layout, body in self._connection.execute(sql, (_WHOLE_BODY, *keys)):
                writer = f'"execution_ref":{_text(ref)}'
                if version is not None:
                    writer += f',"agent_version":{_text(version)}'
                self._of[position_of(key)] = _Event(_text(timestamp), writer, layout, body)
        lost = positions - self._of.keys()
        if lost:
            raise LostEvent("a turn's event is not there", min(lost))

    def shared(self, of_events: tuple[Any, ...]) -> str:
        """The members that a turn's record has of the event that brought it and of that of its latest revision."""
        conversation_id, version, revisions, erased, first, latest = of_events
        return (
            f'"conversation_id":"{unpacked(conversation_id)}","captured_at":{self._of[first].captured_at},'
            f'"version":{version},{self._of[latest].writer},'
            f'"revisions":{revisions},"erased":{"true" if erased else "false"}'
        )

    def members(self, position: int, own_index: int) -> bytes:
        """``"role":"user",...}``: an own turn's members but the RECORD_FIELDS, and ``}``."""
        members = self._members.get(position)
        if members is None:
            event = self._of[position]
            if event.body is None:
                # A large capture: of its chunks only those that the page needs.
                return self._chunks.members(RevisionPlace(position, own_index, None))
            with reading_event(position):
                members = self._members[position] = _own_members(event.layout, event.body)
        if own_index >= len(members):
            raise DamagedEvent("a turn's place is outside its event", position)
        return members[own_index]


def _text(value: bytes) -> str:
    """A kept string as JSON."""
    return orjson.dumps(value.decode()).decode()


def _own_members(layout: bytes, kept: bytes) -> list[bytes]:
    """The members of each own turn of an event: the tails of their texts. Raises DamagedDatabase."""
    found = []
    place = 0
    chunks, checksum = own_sizes(layout)
    if crc32(kept) != checksum:
        raise DamagedDatabase("a stored body is not what was written")
    for kept_bytes, *sizes in chunks:
        if sizes:
            text = chunk_text(kept[place : place + kept_bytes])
            start = 0
            pairs = iter(sizes)
            for head, tail in zip(pairs, pairs, strict=True):
                found.append(text[start + head : start + head + tail])
                start += head + tail
        place += kept_bytes
    return found
