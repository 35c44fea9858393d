"""How narrow the rows of a session's turns say that their bodies are, against the events that brought these.

A turn is as narrow as the event of its latest revision, or as the fullest later one that brought the very same body
(CONTRACT 8, docs/store.md).
What an erased event said of a turn may be gone: it can speak for a row, and not against one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple, Protocol

from store.engines.engine import Connection
from store.engines.schema import MAX_SEQ, turn_key
from store.log.session_rows import batches
from store.upkeep.verify_event import OpenEvent

_NARROWEST: Final = "SELECT max(narrowness) FROM turns WHERE turn_key BETWEEN ? AND ?"
_NARROWER: Final = """
SELECT turn_id, body_sha256 FROM turns
WHERE session_key = ? AND turn_id IN ({marks}) AND narrowness > ? AND revision_position < ? AND erased = 0
"""


class Row(Protocol):
    """What is looked at of a turn's row."""

    @property
    def turn_id(self) -> bytes: ...
    @property
    def revision_position(self) -> int: ...
    @property
    def narrowness(self) -> int: ...
    @property
    def body_sha256(self) -> bytes: ...


class _Claim(NamedTuple):
    """A row that counts as fuller than its latest revision: a later event has to say so."""

    position: int
    narrowness: int
    body_sha256: bytes


class NarrownessChecks:
    """Looks at one session, whose events come oldest first. What is held is what is claimed and not found yet."""

    def __init__(self, connection: Connection, session_key: int) -> None:
        self._connection = connection
        self._session_key = session_key
        self._claims: dict[bytes, _Claim] = {}
        self._told: set[bytes] = set()

    def may_be(self, row: Row, narrowness: int) -> bool:
        """Whether a row may say something else than the event of its latest revision, which is of ``narrowness``."""
        if row.narrowness > narrowness:
            self._told.add(row.turn_id)
            return False
        self._claims[row.turn_id] = _Claim(row.revision_position, row.narrowness, row.body_sha256)
        return True

    def too_narrow(self, event: OpenEvent) -> Iterator[bytes]:
        """The turns that count as narrower than ``event``, which brought their body again; each once."""
        capture = event.capture
        if capture is None:
            return
        sent = {turn.turn_id: turn.body_sha256 for turn in capture.turns}
        for turn_id in self._claims.keys() & sent.keys():
            claim = self._claims[turn_id]
            if claim.narrowness == capture.narrowness and (event.erased or claim.body_sha256 == sent[turn_id]):
                del self._claims[turn_id]
        if event.erased or capture.narrowness >= self._narrowest:
            return
        for marks, some in batches(list(sent)):
            values = (self._session_key, *some, capture.narrowness, event.position)
            for turn_id, body_sha256 in self._connection.execute(_NARROWER.format(marks=marks), values).fetchall():
                if sent[turn_id] == body_sha256 and turn_id not in self._told:
                    self._told.add(turn_id)
                    self._claims.pop(turn_id, None)
                    yield turn_id

    def too_full(self) -> list[tuple[bytes, int]]:
        """The turns that no event was found for, with the positions of their latest revisions."""
        return [(turn_id, claim.position) for turn_id, claim in self._claims.items()]

    @cached_property
    def _narrowest(self) -> int:
        """0 for nearly every session: then no row is too narrow."""
        span = (turn_key(self._session_key, 0), turn_key(self._session_key, MAX_SEQ))
        (found,) = self._connection.execute(_NARROWEST, span).fetchone()
        return found or 0
