"""What a caller is told when the store was asked as often as may be: our own error for the last attempt."""

from __future__ import annotations

from math import ceil
from typing import Final

from agent.errors import RateLimitExceeded, StoreConnectionError
from agent.ruvector.retry import AttemptError

_RETRY_AFTER_S: Final = 1  # for a caller who is to come back later, when the store names no time


def given_up(failure: AttemptError) -> StoreConnectionError | RateLimitExceeded:
    """The error of the product's tree for the last failed attempt; a ``Retry-After`` is passed on in seconds."""
    details: dict[str, object] = {"attempts": failure.attempts}
    if failure.status is not None:
        details["upstream_status"] = failure.status
    asked = failure.retry_after_s
    if failure.status == 429:
        headers = {"Retry-After": str(_RETRY_AFTER_S if asked is None else ceil(asked))}
        return RateLimitExceeded("the store's rate limit is reached", details=details, headers=headers)
    return StoreConnectionError(
        "the store could not be reached, or did not answer in time",
        details=details,
        headers=None if asked is None else {"Retry-After": str(ceil(asked))},
    )
