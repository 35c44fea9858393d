"""The laws of the retry policy, on a clock of our own (CONTRACT 7)."""

from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.ruvector.retry import MAX_ATTEMPTS, Attempt, AttemptError, RetryPolicy, parse_retry_after

NOW = datetime(2026, 11, 27, 12, 0, 0, tzinfo=UTC)
SECONDS = st.floats(0, 30, allow_nan=False)


class Time:
    """A clock that only moves when it is slept on or an attempt takes time."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def policy(time: Time, deadline_s: float = 20.0, chance: float = 0.5) -> RetryPolicy:
    return RetryPolicy(deadline_s, time.clock, time.sleep, lambda: chance)


def failed(attempt: Attempt, *, acted: bool = False, asked: float | None = None) -> AttemptError:
    return AttemptError(attempts=attempt.number, acted=acted, retry_after_s=asked)


@settings(deadline=None, max_examples=200)
@given(
    deadline_s=st.floats(0.01, 30),
    chance=st.floats(0, 1, exclude_max=True),
    durations=st.lists(SECONDS, min_size=4, max_size=4),
    asked=st.lists(st.none() | SECONDS, min_size=4, max_size=4),
    repeat_acted=st.booleans(),
)
def test_attempts_and_waits_stay_inside_the_deadline(deadline_s, chance, durations, asked, repeat_acted):
    time = Time()
    seen: list[Attempt] = []
    starts: list[float] = []

    def attempt(given: Attempt) -> None:
        seen.append(given)
        starts.append(time.now)
        # What a transport does: it takes its time, but never more than its deadline allows.
        time.now = min(time.now + durations[given.number - 1], max(time.now, given.deadline))
        raise failed(given, asked=asked[given.number - 1])

    with pytest.raises(AttemptError) as caught:
        policy(time, deadline_s, chance).run(attempt, repeat_acted=repeat_acted)
    assert time.now <= 1000.0 + deadline_s + 1e-6
    assert caught.value.attempts == len(seen) <= MAX_ATTEMPTS
    assert [given.number for given in seen] == list(range(1, len(seen) + 1))
    assert len(time.slept) == len(seen) - 1
    for place, slept in enumerate(time.slept):
        assert slept >= (asked[place] or 0.0)
        assert asked[place] is not None or slept < 0.5 * 2**place
    for bounds, start in zip(seen, starts, strict=True):
        assert start < bounds.connect_deadline <= bounds.deadline <= 1000.0 + deadline_s + 1e-6


@settings(deadline=None, max_examples=50)
@given(chances=st.lists(st.floats(0, 1, exclude_max=True), min_size=4, max_size=4))
def test_the_back_off_is_exponential_with_full_jitter(chances):
    time = Time()
    drawn = iter(chances)
    retries = RetryPolicy(20.0, time.clock, time.sleep, lambda: next(drawn))

    def attempt(given: Attempt) -> None:
        raise failed(given)

    with pytest.raises(AttemptError):
        retries.run(attempt, repeat_acted=True)
    assert time.slept == pytest.approx([chances[0] * 0.5, chances[1] * 1.0, chances[2] * 2.0])


def test_each_attempt_gets_half_of_what_remains_and_the_last_one_all():
    time = Time()
    bounds: list[float] = []

    def attempt(given: Attempt) -> None:
        assert given.connect_deadline == given.deadline
        bounds.append(given.deadline - time.now)
        time.now = given.deadline
        raise failed(given, acted=True)

    with pytest.raises(AttemptError):
        policy(time, 16.0, chance=0.0).run(attempt, repeat_acted=True)
    assert bounds == [8.0, 4.0, 2.0, 2.0]


def test_a_write_that_may_not_be_repeated_may_wait_for_its_answer_to_the_end_but_not_for_a_connection():
    given = policy(Time(), 16.0).run(lambda attempt: attempt, repeat_acted=False)
    assert given == Attempt(1, connect_deadline=1008.0, deadline=1016.0)


@pytest.mark.parametrize("first_failures", range(MAX_ATTEMPTS))
def test_the_first_success_is_returned(first_failures):
    time = Time()

    def attempt(given: Attempt) -> int:
        if given.number <= first_failures:
            raise failed(given)
        return given.number

    assert policy(time).run(attempt, repeat_acted=True) == first_failures + 1


@pytest.mark.parametrize("place", [1, 2])
def test_any_other_error_ends_it_at_once_as_itself(place):
    class OtherError(Exception):
        pass

    def attempt(given: Attempt) -> None:
        if given.number == place:
            raise OtherError
        raise failed(given)

    time = Time()
    with pytest.raises(OtherError):
        policy(time).run(attempt, repeat_acted=True)
    assert len(time.slept) == place - 1


def test_what_the_store_may_have_acted_on_is_not_repeated_where_that_is_not_wanted():
    def attempt(given: Attempt) -> None:
        raise failed(given, acted=given.number == 2)

    time = Time()
    with pytest.raises(AttemptError) as caught:
        policy(time).run(attempt, repeat_acted=False)
    assert caught.value.attempts == 2


@settings(deadline=None, max_examples=200)
@given(seconds=st.integers(0, 10**30))
def test_seconds_are_read_and_absurd_ones_stay_large(seconds):
    assert parse_retry_after(f" {seconds} ", now=NOW) == min(seconds, 10**11)


def test_leading_zeros_are_no_reason_to_wait_longer():
    assert parse_retry_after("0" * 6000 + "2", now=NOW) == 2.0


@settings(deadline=None, max_examples=200)
@given(
    ahead=st.integers(-(10**8), 10**8),
    form=st.sampled_from(["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"]),
    offset=st.integers(-12, 12),
)
def test_all_three_forms_of_an_http_date_are_read(ahead, form, offset):
    text = (NOW + timedelta(seconds=ahead)).strftime(form)
    now = NOW.astimezone(timezone(timedelta(hours=offset)))
    assert parse_retry_after(text, now=now) == max(0, ahead)


def test_the_oldest_form_pads_its_day_with_a_space():
    assert parse_retry_after("Sun Dec  6 12:00:00 2026", now=NOW) == 9 * 86400


def test_the_date_that_the_standard_library_writes_is_read():
    assert parse_retry_after(format_datetime(NOW + timedelta(seconds=3), usegmt=True), now=NOW) == 3.0


NONSENSE = """soon|-1|+1|1.5|1e3|0x10|\uff11\uff12|1 2|1, 2|27 Nov 2026 12:00:00 GMT|Fri, 27 Nov 2026 12:00:00
Fri, 27 Nov 2026 12:00:00 +0100|Fri, 27 Nov 2026 25:00:00 GMT|Fri, 27 Xxx 2026 12:00:00 GMT|Fri Nov 31 12:00:00 2026"""


@pytest.mark.parametrize("text", [None, "", " ", *NONSENSE.replace("\n", "|").split("|")])
def test_nonsense_counts_as_absent(text):
    assert parse_retry_after(text, now=NOW) is None


@settings(deadline=None, max_examples=300)
@given(text=st.text(max_size=40))
def test_no_text_makes_it_fail(text):
    asked = parse_retry_after(text, now=NOW)
    assert asked is None or asked >= 0
