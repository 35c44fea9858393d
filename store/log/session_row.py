"""The row of a session: what lists are made of (CONTRACT 10), folded from its captures as they are appended.

Everything in it could be made again from the events and the turns; ``store.upkeep.verify`` does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from agent.core.timestamps import instant
from store.engines.engine import Connection
from store.engines.schema import MAX_SEQ, turn_key
from store.log.capture import SentCapture

# What a list shows of a session's first user turn, in characters.
PREVIEW_CHARACTERS: Final = 1000
_NANOSECONDS_A_MICROSECOND: Final = 1000
_MAX_TOKENS: Final = 2**63 - 1

COLUMNS: Final = (
    "session_key, session_id, native_session_id, last_seq, version, created_us, activity_us, first_turn_us,"
    " last_turn_us, total_tokens, first_user_seq, first_user_content, agents, users, tags, erased"
)
INSERTED: Final = ("tenant", *(name.strip() for name in COLUMNS.split(",")))
_UPDATE: Final = """
UPDATE sessions SET native_session_id = ?, last_seq = ?, version = ?, created_us = ?, activity_us = ?,
    first_turn_us = ?, last_turn_us = ?, total_tokens = ?, first_user_seq = ?, first_user_content = ?, agents = ?,
    users = ?, tags = ?, erased = ?
WHERE session_key = ?
"""
_EXTENT: Final = """
SELECT min(instant_us), max(instant_us), min(CASE WHEN is_user = 1 THEN seq END)
FROM turns WHERE turn_key BETWEEN ? AND ? AND erased = 0
"""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session as the database has it, or is to have it. ``version`` is 0 while it has no turns.

    ``total_tokens`` is None where no turn counts tokens; ``erased`` says that nothing of its content is left.
    """

    key: int
    session_id: bytes
    native_session_id: bytes | None = None
    last_seq: int = 0
    version: int = 0
    created_us: int = 0
    activity_us: int = 0
    first_turn_us: int | None = None
    last_turn_us: int | None = None
    total_tokens: int | None = None
    first_user_seq: int | None = None
    first_user_content: bytes | None = None
    agents: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    erased: bool = False
    is_new: bool = field(default=False, compare=False)

    def values(self) -> tuple[Any, ...]:
        """The values of COLUMNS."""
        return (
            self.key,
            self.session_id,
            self.native_session_id,
            self.last_seq,
            self.version,
            self.created_us,
            self.activity_us,
            self.first_turn_us,
            self.last_turn_us,
            None if self.total_tokens is None else str(self.total_tokens).encode(),
            self.first_user_seq,
            self.first_user_content,
            orjson.dumps(self.agents),
            orjson.dumps(self.users),
            orjson.dumps(self.tags),
            int(self.erased),
        )

    def update(self, connection: Connection) -> None:
        """Write the row over what is there."""
        connection.execute(_UPDATE, (*self.values()[2:], self.key))

    def with_capture(self, capture: SentCapture, instant_us: int, *, erased: Collection[bytes]) -> SessionRow:
        """The row after an event of ``capture`` that was captured at ``instant_us``, its turns apart.

        Who spoke a turn whose content is not kept (``erased``) is not kept either.
        """
        known = self.version > 0
        native = None if capture.native_session_id is None else capture.native_session_id.encode()
        kept = (turn.fields for turn in capture.turns if turn.turn_id not in erased)
        spoke = [name for fields in kept if (name := turn_agent(fields)) is not None]
        agents = [capture.agent_id, *spoke] if capture.agent_id is not None else spoke
        return replace(
            self,
            native_session_id=self.native_session_id or native,
            created_us=min(self.created_us, instant_us) if known else instant_us,
            activity_us=max(self.activity_us, instant_us) if known else instant_us,
            agents=union(self.agents, agents),
            users=self.users if capture.user_id is None else union(self.users, (capture.user_id,)),
            tags=union(self.tags, capture.tags),
            erased=False,
        )


def read_row(row: tuple[Any, ...]) -> SessionRow:
    """The row of COLUMNS."""
    *values, tokens, user_seq, content, agents, users, tags, erased = row
    total_tokens = None if tokens is None else int(tokens)
    named = (tuple(orjson.loads(agents)), tuple(orjson.loads(users)), tuple(orjson.loads(tags)))
    everything: tuple[Any, ...] = (*values, total_tokens, user_seq, content, *named, bool(erased))
    return SessionRow(*everything)


def turn_agent(fields: dict[str, Any]) -> str | None:
    """Who spoke a turn (CONTRACT 1, ``metadata.agent``); None where it does not say."""
    metadata = fields.get("metadata")
    name = metadata.get("agent") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) and name else None


def turn_instant(fields: dict[str, Any]) -> int | None:
    """A turn's own time in microseconds; None where it has none that the contract accepts."""
    text = fields.get("timestamp")
    try:
        return instant(text) // _NANOSECONDS_A_MICROSECOND if isinstance(text, str) else None
    except ValueError:
        return None


def turn_tokens(fields: dict[str, Any]) -> int | None:
    """A turn's ``token_usage.total_tokens``; None where it has none, or one that the contract refuses."""
    usage = fields.get("token_usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    if total is None or isinstance(total, (bool, str)):
        return None
    try:
        # 1.0 counts as 1 (CONTRACT 1); a number with a fraction is still the text that was sent.
        number = total if isinstance(total, int) else float(total)
        return int(number) if number == int(number) and 0 <= number <= _MAX_TOKENS else None
    except (TypeError, ValueError, OverflowError):
        return None


def preview(fields: dict[str, Any]) -> bytes:
    """What a list shows of a turn's content."""
    content = fields.get("content")
    return content[:PREVIEW_CHARACTERS].encode() if isinstance(content, str) else b""


def turn_columns(fields: dict[str, Any]) -> tuple[int, int | None, int | None]:
    """``is_user``, ``instant_us`` and ``tokens`` of a turn's row."""
    return int(fields.get("role") == "user"), turn_instant(fields), turn_tokens(fields)


def union(there: tuple[str, ...], more: Iterable[str]) -> tuple[str, ...]:
    """Both, each once, in the order of code points; ``there`` itself where nothing is added."""
    added = set(more).difference(there)
    return tuple(sorted({*there, *added})) if added else there


def extent(connection: Connection, session_key: int) -> tuple[int | None, int | None, int | None]:
    """The first and last instant of a session's turns, and the ``seq`` of its first user turn; erased ones left out."""
    first: tuple[int | None, int | None, int | None]
    first = connection.execute(_EXTENT, (turn_key(session_key, 1), turn_key(session_key, MAX_SEQ))).fetchone()
    return first
