"""The one error tree: every failure the product can answer with, and what it owns.

A class owns its ``error_code`` (CONTRACT 7) and its HTTP status. A message never repeats a value that the
caller sent, a key, or the text of a foreign library's exception: it carries paths, rules, ids and counts.
Decisions are made by type or status, never by message text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

MAX_PROBLEMS = 50


class Problem(NamedTuple):
    """One finding about a payload: ``path`` as ``$.turns[3].role``, ``rule`` as CONTRACT 2 names them."""

    path: str
    rule: str

    def as_dict(self) -> dict[str, str]:
        return {"path": self.path, "rule": self.rule}


class AgentError(Exception):
    """Base of all errors that leave the product.

    ``details`` goes into the answer as it is, ``headers`` onto it (``Retry-After``, ``Allow``).
    """

    error_code: ClassVar[str] = "INTERNAL_ERROR"
    status: ClassVar[int] = 500

    def __init__(
        self,
        message: str,
        *,
        details: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, object] = dict(details or {})
        self.headers: dict[str, str] = dict(headers or {})


class InternalError(AgentError):
    """Anything we did not foresee. The cause is logged by type and frames, never answered."""


class ConfigurationError(AgentError):
    """A setting is missing, wrong or not supported yet. Raised at start, names the variable, never its value.

    ``place`` is that of the entry which is at fault, from 1, where the setting holds several.
    """

    def __init__(self, variable: str, problem: str, *, place: int | None = None) -> None:
        super().__init__(f"{variable}: {problem}", details={"variable": variable})
        self.variable = variable
        self.place = place


class ValidationError(AgentError):
    """The caller's input was refused and nothing was written. ``problems`` are all findings, at most 50."""

    error_code = "VALIDATION_ERROR"
    status = 400

    def __init__(
        self,
        message: str,
        problems: Sequence[Problem] = (),
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.problems = tuple(problems[:MAX_PROBLEMS])
        details = {"errors": [problem.as_dict() for problem in self.problems]} if problems else None
        super().__init__(message, details=details, headers=headers)


class Unauthorized(ValidationError):
    """No key of a caller was sent, or one that nobody configured (CONTRACT 7): ``reason`` says for logs which."""

    status = 401

    def __init__(self, message: str, *, reason: Literal["missing", "unknown"]) -> None:
        super().__init__(message, headers={"WWW-Authenticate": "Bearer"})
        self.reason = reason


class BudgetTooSmall(ValidationError):
    """No window fits the tokens that it was given: its system turns, or a marker and one token, take ``needed``.

    ``path`` names what the budget was taken from. ``reserved``: so many tokens of ``max_tokens`` were not for the
    window, and ``budget`` is what they leave; 0 where all of it was.
    """

    def __init__(self, *, needed: int, budget: int, path: str = "$.max_tokens", reserved: int = 0) -> None:
        message = f"a window needs {needed} tokens at least"
        if reserved:
            most = f"max_tokens of at least {needed + reserved}"
            message = f"max_tokens less reserved_tokens leaves {budget}; a window needs {needed}: {most}"
        super().__init__(message, [Problem(path, "minimum")])
        self.needed = needed
        self.budget = budget
        self.details |= {"needed": needed, "budget": budget}
        if reserved:
            self.details |= {"reserved_tokens": reserved, "max_tokens": budget + reserved}


class PayloadTooLarge(ValidationError):
    """More bytes (rule ``size``) or more JSON values (rule ``values``) than CONTRACT 2 allows."""

    status = 413


class BodyBrokeOff(ValidationError):
    """The body ended too early or came in broken chunks: the way was at fault, or the sender, and not what was sent."""


class NotFound(ValidationError):
    """No such path."""

    status = 404


class MethodNotAllowed(ValidationError):
    """A known path, another method. ``headers`` hold ``Allow``."""

    status = 405


class IdempotencyConflict(ValidationError):
    """The caller's ``Idempotency-Key`` was used before with another payload (CONTRACT 7)."""

    status = 409


class NotYetThere(ValidationError):
    """A read asks for what the store has not reached yet. ``headers`` hold ``Retry-After``."""

    status = 409

    def __init__(self) -> None:
        message = "the store has not reached the version that was asked for: ask again later"
        super().__init__(message, headers={"Retry-After": "1"})


class StoreError(AgentError):
    """Base of what goes wrong between us and the store."""

    status = 502


class StoreConnectionError(StoreError):
    """The store could not be reached, or did not answer in time, after retries."""

    error_code = "RUVECTOR_CONNECTION_ERROR"


class StoreWriteError(StoreError):
    """The store answered with something that is no acknowledgement. ``upstream_status`` is its HTTP status."""

    error_code = "RUVECTOR_WRITE_ERROR"

    def __init__(self, message: str, *, upstream_status: int, details: Mapping[str, object] | None = None) -> None:
        super().__init__(message, details={"upstream_status": upstream_status, **(details or {})})
        self.upstream_status = upstream_status


class StoreDamaged(StoreWriteError):
    """The store cannot read something that it keeps, and says so: asked again it says the same.

    ``rule``: ``damaged_event`` and ``lost_position``, of the event at ``position``, or ``damaged_database``.
    ``through``: the damage is in that event, where turns of this one stand. ``next_cursor``: a list goes on from there.
    """

    def __init__(
        self,
        rule: str,
        *,
        upstream_status: int,
        position: int | None = None,
        through: int | None = None,
        next_cursor: str | None = None,
        message: str | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        places = {"position": position, "through": through}
        known = {name: place for name, place in places.items() if place is not None}
        super().__init__(
            message or _damage(rule, position, through),
            upstream_status=upstream_status,
            details={"rule": rule, **known, **(details or {})},
        )
        self.rule = rule
        self.position = position
        self.through = through
        self.next_cursor = next_cursor


def _damage(rule: str, position: int | None, through: int | None) -> str:
    where = "" if position is None else f" at position {position}"
    if rule == "lost_position":
        what = f"the store has lost the event{where}"
    elif rule == "damaged_event":
        cause = "" if through is None else f", as turns of it stand in the event at position {through}"
        what = f"the store cannot read the event{where}, which is damaged{cause}"
    else:
        what = "the store cannot read what it keeps, as its database is damaged"
    return f"{what}: memory-graph store verify tells all that is"


class StoreNotFound(StoreError):
    """The store has no record under the id that was read."""

    error_code = "VALIDATION_ERROR"
    status = 404


class NewerContract(AgentError):
    """An event keeps a later major version of the published contract than this release knows (CONTRACT 6)."""

    error_code = "VALIDATION_ERROR"
    status = 422

    def __init__(self, major: int) -> None:
        super().__init__(f"the event keeps version {major} of the contract, which this release cannot read")
        self.major = major


class RateLimitExceeded(AgentError):
    """Too many requests: our own limit, or the store's after retries. ``headers`` hold ``Retry-After``."""

    error_code = "RATE_LIMIT_EXCEEDED"
    status = 429
