"""What is attempted again, when, and until when (CONTRACT 7, "Towards the store").

At most four attempts, exponential back-off with full jitter, and one deadline around all attempts and all sleeps:
a wait that does not fit is not started. What ``Retry-After`` asks for is a lower bound of the wait.
Nothing here knows HTTP beyond that one header: the client says what an attempt came to.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from agent.held_frames import let_go

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")

MAX_ATTEMPTS: Final = 4
_FIRST_BACK_OFF_S: Final = 0.5
# A wait that leaves less than this does not fit: the attempt after it could only lose its answer.
_LEAST_ATTEMPT_S: Final = 0.01
# Eleven digits are three thousand years: what is longer is cut here, so that no conversion can fail.
_LONGEST_DELAY_S: Final = 10**11

# RFC 9110 5.6.7: the preferred form and the two obsolete ones, all three to be read. parsedate alone is too lenient.
# Compiled on first use: a store that never asks to wait never needs it.
_HTTP_DATE: Final = (
    r"(?a)[A-Za-z]{3}, \d\d [A-Za-z]{3} \d{4} \d\d:\d\d:\d\d GMT\Z"
    r"|[A-Za-z]{6,9}, \d\d-[A-Za-z]{3}-\d\d \d\d:\d\d:\d\d GMT\Z"
    r"|[A-Za-z]{3} [A-Za-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\Z"
)


class Attempt(NamedTuple):
    """One attempt: its number from 1, and the instants of the clock at which connecting and the whole must be over."""

    number: int
    connect_deadline: float
    deadline: float


class AttemptError(Exception):
    """An attempt came to nothing and may be made again.

    ``acted``: the store may have acted on the request (an answer was lost, or a gateway answered for it).
    ``status``: what was answered, None if nothing was. ``retry_after_s``: how long the store asked us to wait.
    ``attempts``: how many were made when this one failed.
    """

    def __init__(
        self, *, attempts: int, acted: bool, status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(f"attempt {attempts} failed")
        self.attempts = attempts
        self.acted = acted
        self.status = status
        self.retry_after_s = retry_after_s


class RetryPolicy(NamedTuple):
    """Runs a call until it succeeds, fails for good, or the budget of attempts or of time is spent.

    ``deadline_s``: seconds for all attempts and sleeps. ``clock``: monotonic seconds. ``random``: 0.0 up to 1.0.
    """

    deadline_s: float
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    random: Callable[[], float]

    def run(self, call: Callable[[Attempt], T], *, repeat_acted: bool) -> T:
        """Return what ``call`` returns; a call says by raising AttemptError that it may be made again.

        ``repeat_acted`` False repeats only what the store cannot have acted on (``RUVECTOR_WRITES=at-most-once``).
        Raises the last AttemptError when the budget is spent; any other error at once.
        """
        end = self.clock() + self.deadline_s
        try:
            return call(self._attempt(1, end, repeat_acted=repeat_acted))
        except AttemptError as failure:
            if failure.acted and not repeat_acted:
                raise
            first = failure
        try:
            return self._repeat(call, first, end, repeat_acted=repeat_acted)
        finally:
            # This frame refers to it, and its own frames to what was to be written.
            if sys.exception() is not first:
                let_go(first)

    def _attempt(self, number: int, end: float, *, repeat_acted: bool) -> Attempt:
        now = self.clock()
        # An attempt that may be repeated gets half of what remains: a silent store must leave time for the next one.
        # The last one, and one whose lost answer may not be asked for again, may wait to the end.
        half = end if number == MAX_ATTEMPTS else now + (end - now) / 2
        return Attempt(number, connect_deadline=half, deadline=half if repeat_acted else end)

    def _repeat(self, call: Callable[[Attempt], T], first: AttemptError, end: float, *, repeat_acted: bool) -> T:
        # Imported here: only a failure pays for tenacity, in cold start and on every append.
        from tenacity import Retrying, retry_if_exception

        number = 0

        def next_attempt() -> T:
            nonlocal number
            number += 1
            if number == 1:
                raise first  # made before tenacity was asked; it counts as the first of the four
            return call(self._attempt(number, end, repeat_acted=repeat_acted))

        def may_repeat(error: BaseException) -> bool:
            return isinstance(error, AttemptError) and (repeat_acted or not error.acted)

        def is_spent(state: RetryCallState) -> bool:
            left = end - self.clock() - state.upcoming_sleep
            return state.attempt_number >= MAX_ATTEMPTS or left < _LEAST_ATTEMPT_S

        retrying = Retrying(
            sleep=self.sleep, stop=is_spent, wait=self._wait, retry=retry_if_exception(may_repeat), reraise=True
        )
        return retrying(next_attempt)

    def _wait(self, state: RetryCallState) -> float:
        back_off = self.random() * _FIRST_BACK_OFF_S * float(1 << (state.attempt_number - 1))
        failure = state.outcome.exception() if state.outcome else None
        asked = failure.retry_after_s if isinstance(failure, AttemptError) else None
        return back_off if asked is None else max(back_off, asked)


def parse_retry_after(text: str | None, *, now: datetime) -> float | None:
    """Seconds that ``Retry-After`` asks for (RFC 9110 10.2.3), 0.0 for a date gone by; None if absent or nonsense.

    ``now`` is an aware datetime, against which the HTTP-date form is measured.
    """
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        digits = text.lstrip("0")
        return float(min(int(digits[:12] or "0"), _LONGEST_DELAY_S))
    if not re.match(_HTTP_DATE, text):
        return None
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:  # the asctime form names no zone and means GMT
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
