"""What an append writes of its turns: their rows, and what they change for turns that were there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from store.engines.engine import Connection
from store.engines.schema import turn_key
from store.log.capture import SentCapture, SentTurn
from store.log.envelope import encode_sent, parse_kept
from store.log.layout import NEW, REVISED, VARIANT, OwnTurn, Reference
from store.log.record import Chunks, RevisionPlace
from store.log.session_row import SessionRow, extent, preview, turn_columns
from store.log.session_rows import batches
from store.log.skeleton import skeleton
from store.log.turns import Placement, StoredTurn

COLUMNS: Final = (
    *("turn_key", "session_key", "seq", "tenant", "turn_id"),
    *("conversation_id", "parent_turn_id", "waits_for", "names_leaf", "is_leaf"),
    *("first_position", "revision_position", "version", "revisions"),
    *("narrowness", "body_sha256", "lower_case", "own_index"),
    *("is_user", "instant_us", "tokens", "erased"),
)
_REVISE: Final = """
UPDATE turns SET names_leaf = ?, revision_position = ?, version = ?, revisions = revisions + 1, narrowness = ?,
    body_sha256 = ?, lower_case = ?, own_index = ?, is_user = ?, instant_us = ?, tokens = ?, body = ?
WHERE turn_key = ?
"""
_REVISION: Final = "SELECT tenant, revision_position, own_index, body FROM turns WHERE turn_key = ?"
_PLACES: Final = "SELECT turn_key, revision_position, own_index, body FROM turns WHERE turn_key IN ({marks})"
# So many bodies of earlier revisions are held at once.
_REVISED_AT_ONCE: Final = 1000
_AWAIT_PARENT: Final = """
INSERT INTO awaited_parents (tenant, session_key, turn_id, conversation_id) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
WIDEN: Final = "UPDATE turns SET narrowness = ? WHERE turn_key = ?"
BURY: Final = "INSERT INTO tombstones (turn_id, tenant) VALUES (?, ?) ON CONFLICT DO NOTHING"
# What an erased turn keeps of its body's identity: nothing, a hash of a short text can be guessed.
NO_BODY: Final = bytes(32)


@dataclass(slots=True)
class TurnWrites:
    """What is to be written for the turns of one event; ``own`` and ``turns`` make its layout."""

    own: list[OwnTurn] = field(default_factory=list)
    turns: list[Reference | None] = field(default_factory=list)
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    revisions: list[tuple[StoredTurn, SentTurn, int]] = field(default_factory=list)
    # Turns whose content is not kept, here or where they stand.
    erased: set[bytes] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class AppendedTo:
    """Where an append writes: the session, and the event's position."""

    tenant: int
    session_key: int
    position: int


class Revised(NamedTuple):
    """A revision that is written: what the turn was, its fields now, and what its row says of them."""

    before: StoredTurn
    fields: dict[str, Any]
    is_user: int
    instant_us: int | None
    tokens: int | None


def plan_writes(placement: Placement, capture: SentCapture, at: AppendedTo) -> TurnWrites:
    """Sort the turns of ``capture`` into own turns and references, with the rows of the new ones."""
    writes = TurnWrites()
    for turn in capture.turns:
        same = placement.same.get(turn.turn_id)
        if same is not None and not same.erased:
            writes.turns.append(_reference(turn, same))
            continue
        placed, revised = placement.new.get(turn.turn_id), placement.revised.get(turn.turn_id)
        kind = NEW if placed is not None else REVISED if revised is not None else VARIANT
        # The skeleton of what was sent here, which may name another parent than what came first.
        erased = turn.erased or same is not None or (placed is not None and placed.erased)
        own_index = len(writes.own)
        writes.own.append(OwnTurn(kind, *(skeleton(turn.fields) if erased else turn.text())))
        writes.turns.append(None)
        if erased:
            writes.erased.add(turn.turn_id)
        if placed is not None:
            identity = (turn_key(at.session_key, placed.seq), at.session_key, placed.seq, at.tenant, turn.turn_id)
            ends = (turn.names_leaf, int(placed.is_leaf))
            tree = (capture.conversation_id, placed.parent, placed.waits_for, *ends)
            body = (capture.narrowness, NO_BODY if erased else turn.body_sha256, int(turn.lower_case), own_index)
            columns = (turn_columns(turn.fields)[0], None, None) if erased else turn_columns(turn.fields)
            writes.rows.append((*identity, *tree, *(at.position,) * 3, 1, *body, *columns, int(erased)))
        elif revised is not None:
            writes.revisions.append((revised, turn, own_index))
    return writes


def _reference(turn: SentTurn, same: StoredTurn) -> Reference:
    if not turn.derived:
        return Reference(same.revision_position, same.own_index)
    members = encode_sent({name: turn.fields[name] for name in turn.derived if name in turn.fields})
    return Reference(same.revision_position, same.own_index, turn.derived, members)


def revise(connection: Connection, at: AppendedTo, narrowness: int, writes: TurnWrites) -> list[Revised]:
    """Write the revisions, with what each turn was and the fields that it has now. The event must be there already.

    A statement serves many turns, and a chunk of an earlier event is read once for all that stand in it.
    """
    chunks = Chunks(connection, at.tenant)
    done: list[Revised] = []
    for start in range(0, len(writes.revisions), _REVISED_AT_ONCE):
        some = writes.revisions[start : start + _REVISED_AT_ONCE]
        places = _places(connection, [turn_key(at.session_key, before.seq) for before, turn, _ in some if turn.derived])
        rows: list[tuple[Any, ...]] = []
        for before, turn, own_index in some:
            key = turn_key(at.session_key, before.seq)
            merged = _with_what_stays(chunks.members(places[key]), turn) if turn.derived else None
            fields, body = (turn.fields, None) if merged is None else (merged, encode_sent(merged)[1:])
            done.append(Revised(before, fields, *turn_columns(fields)))
            revision = (turn.names_leaf, at.position, at.position, narrowness, turn.body_sha256, int(turn.lower_case))
            rows.append((*revision, own_index, *done[-1][2:], body, key))
        connection.executemany(_REVISE, rows)
    return done


def widen(connection: Connection, at: AppendedTo, narrowness: int, placement: Placement) -> None:
    """Write that turns count as fuller: their very body came in an event of ``narrowness``. It is no revision."""
    if placement.fuller:
        rows = [(narrowness, turn_key(at.session_key, seq)) for seq in placement.fuller]
        connection.executemany(WIDEN, rows)


def connect(connection: Connection, at: AppendedTo, conversation_id: bytes, placement: Placement) -> None:
    """Write what the new turns change for turns that were there: leaves, awaited parents, ends of paths."""
    session_key = at.session_key
    buried = [(turn_id, at.tenant) for turn_id, placed in placement.new.items() if placed.sent.erased]
    if buried:
        connection.executemany(BURY, buried)
    if placement.no_longer_leaves:
        connection.executemany(
            "UPDATE turns SET is_leaf = 0 WHERE turn_key = ?",
            [(turn_key(session_key, seq),) for seq in placement.no_longer_leaves],
        )
    if placement.arrived:
        connection.executemany(
            "DELETE FROM awaited_parents WHERE session_key = ? AND turn_id = ?",
            [(session_key, turn_id) for turn_id in placement.arrived],
        )
    if placement.awaited:
        connection.executemany(
            _AWAIT_PARENT, [(at.tenant, session_key, turn_id, conversation_id) for turn_id in placement.awaited]
        )
    if placement.shortened:
        connection.executemany(
            "UPDATE turns SET waits_for = ? WHERE session_key = ? AND turn_id = ?",
            [(end, session_key, turn_id) for turn_id, end in placement.shortened.items()],
        )


def with_new_turns(row: SessionRow, placement: Placement, rows: Sequence[tuple[Any, ...]], version: int) -> SessionRow:
    """The session's row after its new turns; ``rows`` are theirs, in ``seq`` order."""
    if not placement.new:
        return row
    instants = [instant for *_, instant, _tokens, _erased in rows if instant is not None]
    tokens = [count for *_, count, _erased in rows if count is not None]
    known_instants = [instant for instant in (row.first_turn_us, row.last_turn_us) if instant is not None]
    row = replace(
        row,
        last_seq=row.last_seq + len(placement.new),
        version=version,
        first_turn_us=min(known_instants + instants, default=None),
        last_turn_us=max(known_instants + instants, default=None),
        total_tokens=(row.total_tokens or 0) + sum(tokens) if tokens else row.total_tokens,
    )
    if row.first_user_seq is None:
        for placed in placement.new.values():
            if not placed.erased and placed.sent.fields.get("role") == "user":
                return replace(row, first_user_seq=placed.seq, first_user_content=preview(placed.sent.fields))
    return row


def with_revisions(connection: Connection, row: SessionRow, revised: Sequence[Revised], version: int) -> SessionRow:
    """The session's row after the revisions, which are written already.

    The turns are read again, once, only where the revisions took away what the row says and brought nothing in its
    place: else a revision would cost what its session holds.
    """
    row = replace(row, version=version, total_tokens=_tokens_after(connection, row, revised))
    if _takes_extent_away(row, revised):
        return with_extent(connection, row)
    known = [instant for instant in (row.first_turn_us, row.last_turn_us) if instant is not None]
    instants = known + [turn.instant_us for turn in revised if turn.instant_us is not None]
    row = replace(row, first_turn_us=min(instants, default=None), last_turn_us=max(instants, default=None))
    user = _first_user(revised)
    if user is None or (row.first_user_seq is not None and row.first_user_seq < user.before.seq):
        return row
    return replace(row, first_user_seq=user.before.seq, first_user_content=preview(user.fields))


def _first_user(revised: Sequence[Revised]) -> Revised | None:
    return min((turn for turn in revised if turn.is_user), key=lambda turn: turn.before.seq, default=None)


def _takes_extent_away(row: SessionRow, revised: Sequence[Revised]) -> bool:
    """Whether a revised turn was the first, the last or the first user's, and none of the revisions is so now."""
    went = {turn.before.instant_us for turn in revised if turn.before.instant_us is not None}
    came = [turn.instant_us for turn in revised if turn.instant_us is not None]
    first, last, user_seq = row.first_turn_us, row.last_turn_us, row.first_user_seq
    if first is not None and first in went and min(came, default=first + 1) > first:
        return True
    if last is not None and last in went and max(came, default=last - 1) < last:
        return True
    user = _first_user(revised)
    # One that stays the user's, or comes before the first, takes its place.
    is_replaced = user is not None and user_seq is not None and user.before.seq <= user_seq
    return not is_replaced and any(turn.before.seq == user_seq for turn in revised)


def _tokens_after(connection: Connection, row: SessionRow, revised: Sequence[Revised]) -> int | None:
    went = [turn.before.tokens for turn in revised if turn.before.tokens is not None]
    came = [turn.tokens for turn in revised if turn.tokens is not None]
    if not went and not came:
        return row.total_tokens
    total = (row.total_tokens or 0) + sum(came) - sum(went)
    return total if total or came else _tokens_or_none(connection, row.key)


def with_extent(connection: Connection, row: SessionRow) -> SessionRow:
    """The row with what its first and last turns say, read again from the turns."""
    first, last, user_seq = extent(connection, row.key)
    row = replace(row, first_turn_us=first, last_turn_us=last, first_user_seq=user_seq, first_user_content=None)
    if user_seq is None:
        return row
    tenant, *place = connection.execute(_REVISION, (turn_key(row.key, user_seq),)).fetchone()
    members = Chunks(connection, tenant).members(RevisionPlace(*place))
    return replace(row, first_user_content=preview(parse_kept(b"{" + members)))


def _tokens_or_none(connection: Connection, session_key: int) -> int | None:
    """0 where a turn counts tokens, None where none does any more."""
    sql = "SELECT 1 FROM turns WHERE turn_key BETWEEN ? AND ? AND tokens IS NOT NULL LIMIT 1"
    keys = (turn_key(session_key, 0), turn_key(session_key + 1, 0) - 1)
    return None if connection.execute(sql, keys).fetchone() is None else 0


def _places(connection: Connection, keys: Sequence[int]) -> dict[int, RevisionPlace]:
    """Where the latest revisions of these turns stand."""
    found: dict[int, RevisionPlace] = {}
    for marks, some in batches(keys):
        for key, *place in connection.execute(_PLACES.format(marks=marks), some):
            found[key] = RevisionPlace(*place)
    return found


def _with_what_stays(members: bytes, sent: SentTurn) -> dict[str, Any]:
    """The members of a revision with the derived texts (times, a model) as they first arrived (CONTRACT 10).

    ``members`` are those of the revision before. A derived structure goes with the body it was derived from: the calls
    that a result names belong to the text and the native id that it came with.
    """
    first = parse_kept(b"{" + members)
    now = parse_kept(b"{" + sent.text()[1])
    staying = {name: first[name] for name in sent.derived if _is_text(first, name) and _is_text(now, name)}
    return {**now, **staying}


def _is_text(members: dict[str, Any], name: str) -> bool:
    return isinstance(members.get(name), str)
