"""What the store's reads answer (CONTRACT 10), as frozen pydantic models that keep every field they do not know.

Imported when the first read is made: a capture reads nothing, and pydantic would double its cold start.
Types are strict: a store that says ``"1"`` for a number is not understood.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

# Of anything: no store has fewer than none.
Count = Annotated[int, Field(ge=0)]


class StoreModel(BaseModel):
    """Base: immutable, strict, open to fields that a newer store adds (they stand in ``model_extra``)."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow", validate_by_name=True, validate_by_alias=True)


class EventEnvelope(StoreModel):
    """One decision event as it was appended, with its ``position`` in the log. ``run_id`` is its execution_ref."""

    type: str
    run_id: str = Field(alias="runId")
    timestamp: str
    payload: dict[str, Any]
    source: str | None = None
    position: int | None = None


class EventPage(StoreModel):
    """Events of a query; ``next_cursor`` is None on the last page."""

    # A JSON array is a list: only here may it become a tuple.
    events: Annotated[tuple[EventEnvelope, ...], Field(strict=False)]
    next_cursor: str | None = None


class TurnRecord(StoreModel):
    """The latest revision of one turn.

    ``role``, ``content`` and ``timestamp`` are its writer's, who may have left anything there; of an erased turn, a
    skeleton, they may be None. ``parent_turn_id`` as the store resolved it, None for a root; ``version`` is the
    position of the turn's last change; ``captured_at`` RFC 3339. ``agent_version`` is there where the latest revision
    came in an event that keeps another major of the published contract.
    """

    turn_id: str
    seq: int
    conversation_id: str
    parent_turn_id: str | None = None
    role: Any = None
    content: Any = None
    timestamp: Any = None
    captured_at: str | None = None
    version: int | None = None
    execution_ref: str | None = None
    revisions: int = 1
    erased: bool = False
    agent_version: str | None = None


class TurnPage(StoreModel):
    """Turns of a session in ``seq`` order. The next page starts after the last one's ``seq``."""

    turns: Annotated[tuple[TurnRecord, ...], Field(strict=False)]


class SessionRow(StoreModel):
    """What a session is listed by. Instants are RFC 3339: ``created_at`` and ``last_activity`` of captures,
    ``first_turn_at`` and ``last_turn_at`` of turns. ``first_user_content`` is None where no user spoke, or erased.
    """

    session_id: str
    native_session_id: str | None = None
    first_user_content: str | None = None
    created_at: str
    last_activity: str
    first_turn_at: str | None = None
    last_turn_at: str | None = None
    turn_count: Count
    agents: Annotated[tuple[str, ...], Field(strict=False)] = ()
    users: Annotated[tuple[str, ...], Field(strict=False)] = ()
    tags: Annotated[tuple[str, ...], Field(strict=False)] = ()
    total_tokens: Count | None = None
    version: Count


class SessionPage(StoreModel):
    """Sessions, newest activity first; ``next_cursor`` is None on the last page, ``total`` where it was not asked."""

    sessions: Annotated[tuple[SessionRow, ...], Field(strict=False)]
    next_cursor: str | None = None
    total: Count | None = None


class StoreStats(StoreModel):
    """What a tenant has; ``bytes`` are those of the events' kept bodies."""

    sessions: Count
    turns: Count
    events: Count
    bytes: Count


class ErasureReceipt(StoreModel):
    """What an erasure emptied, when and by which key (CONTRACT 10a).

    ``files`` is ``rewritten``, or ``pending`` where the old bytes still lie in the database's files.
    """

    kind: str
    position: int
    sessions: int
    turns: int
    events: int
    at: str
    key_name: str
    files: str


class AuditEntry(StoreModel):
    """Who, by the name of the key, did what to what, and when; ``subject`` is an id, or the digest of a name.

    ``position`` is where an erasure stands in the log; None where the store does not say.
    """

    id: int
    at: str
    key_name: str
    action: str
    subject: str
    position: int | None = None


class AuditPage(StoreModel):
    """Acts, oldest first; ``next_after`` is what to go on from, None on the last page."""

    audit: Annotated[tuple[AuditEntry, ...], Field(strict=False)]
    next_after: int | None = None
