"""What the store answers when it does not do as asked: one class for each status, none for a message text.

A message carries names, ranges and counts; never a value that the caller sent, never SQL.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

_RETRY_SOON_S = 1
_RETRY_LATER_S = 5


class StoreAnswerError(Exception):
    """Base of all. ``status`` is the HTTP status, ``error`` the word in the answer, ``headers`` go onto it."""

    status: ClassVar[int] = 500
    error: ClassVar[str] = "internal_error"

    def __init__(self, message: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.headers: dict[str, str] = dict(headers or {})

    @property
    def details(self) -> dict[str, object]:
        """What a client may decide by beside the status; empty for most."""
        return {}


class BadRequest(StoreAnswerError):
    """The request does not say what the contract lets it say. Nothing was written."""

    status = 400
    error = "bad_request"


class NotFound(StoreAnswerError):
    """No such path, event or session."""

    status = 404
    error = "not_found"


class MethodNotAllowed(StoreAnswerError):
    """A known path, another method."""

    status = 405
    error = "method_not_allowed"

    def __init__(self, allowed: str) -> None:
        super().__init__(f"this path takes {allowed}", headers={"Allow": allowed})


class Conflict(StoreAnswerError):
    """An ``execution_ref`` or a caller's ``Idempotency-Key`` came back with another body (CONTRACT 10)."""

    status = 409
    error = "conflict"


class TooLarge(StoreAnswerError):
    """A body over 32 MiB."""

    status = 413
    error = "payload_too_large"


class Unavailable(StoreAnswerError):
    """The database cannot do it now. Nothing was acknowledged; ``Retry-After`` says when to come again."""

    status = 503
    error = "unavailable"
    retry_after_s: ClassVar[int] = _RETRY_LATER_S

    def __init__(self, message: str) -> None:
        super().__init__(message, headers={"Retry-After": str(self.retry_after_s)})


class DatabaseLocked(Unavailable):
    """Another writer held the database for longer than the busy timeout."""

    retry_after_s = _RETRY_SOON_S


class DiskFull(Unavailable):
    """No room for the write."""


class ReadOnlyDatabase(Unavailable):
    """The file, its folder or its file system may not be written."""


class DatabaseUnreachable(Unavailable):
    """The file cannot be opened, read or written (SQLITE_CANTOPEN, SQLITE_IOERR)."""


class NotADatabase(Unavailable):
    """The file is no SQLite database, or one that another program made."""


class NewerDatabase(Unavailable):
    """A later release has written this database; this one must not touch it."""

    def __init__(self, found: int, known: int) -> None:
        super().__init__(f"the database has schema version {found}, this release knows {known}: use the newer release")


class ForkedDatabase(Unavailable):
    """The process forked after the store was used: SQLite does not survive that (sqlite.org/howtocorrupt.html, 2.6)."""


class DamagedDatabase(StoreAnswerError):
    """What is kept cannot be read: the file is malformed, or a stored body is not what was written.

    A status that is not retried (CONTRACT 7): asked again it is the same, until somebody puts a backup in its place.
    """

    rule: ClassVar[str] = "damaged_database"

    @property
    def details(self) -> dict[str, object]:
        return {"rule": self.rule}


class DamagedEvent(DamagedDatabase):
    """The event at ``position`` cannot be read; all others may be.

    ``through``: where the damage is, if turns of it stand in another event. ``next_cursor``: where a list goes on.
    """

    rule = "damaged_event"

    def __init__(
        self, message: str, position: int, *, through: int | None = None, next_cursor: str | None = None
    ) -> None:
        super().__init__(message)
        self.position = position
        self.through = through
        self.next_cursor = next_cursor

    @property
    def details(self) -> dict[str, object]:
        more = {"position": self.position, "through": self.through, "next_cursor": self.next_cursor}
        return {**super().details, **{name: value for name, value in more.items() if value is not None}}


class LostEvent(DamagedEvent):
    """Something that is there needs the event at ``position``, and nothing stands there."""

    rule = "lost_position"


class Unauthorized(StoreAnswerError):
    """No key was sent, or one that nobody configured."""

    status = 401
    error = "unauthorized"

    def __init__(self, message: str) -> None:
        super().__init__(message, headers={"WWW-Authenticate": "Bearer"})


class Forbidden(StoreAnswerError):
    """The caller is known, or the store is for its own host alone, and this is not the caller's to do."""

    status = 403
    error = "forbidden"


class TooManyRequests(StoreAnswerError):
    """A quota is used up. ``Retry-After`` says when there is room again, in whole seconds, at least 1."""

    status = 429
    error = "too_many_requests"

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message, headers={"Retry-After": str(max(1, math.ceil(retry_after_s)))})
