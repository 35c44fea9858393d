"""A limit of requests: what it takes, what it refuses, and how long a refused caller waits."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.callers.rate_limit import RateLimit, Windows, limits_of
from agent.errors import ConfigurationError, RateLimitExceeded
from tests.callers.clock import NS, Clock

A, B = b"\x01" * 32, b"\x02" * 32


def limit(text, clock):
    return RateLimit(limits_of("RATE_LIMIT", text), monotonic_ns=clock)


def refusal(of, caller=A):
    """The refusal of one request, None if it is let in."""
    try:
        of.spend(caller)
    except RateLimitExceeded as error:
        return error
    return None


def wait_of(error):
    return int(error.headers["Retry-After"])


def test_so_many_requests_are_taken_and_the_next_is_refused_with_the_time_to_wait():
    clock = Clock()
    ours = limit("3/minute", clock)
    assert [refusal(ours) for _ in range(3)] == [None, None, None]
    clock.wait(12.5)
    refused = refusal(ours)
    assert (refused.error_code, refused.status) == ("RATE_LIMIT_EXCEEDED", 429)
    assert (refused.details, refused.headers) == ({"limit": "rate"}, {"Retry-After": "48"})
    assert refused.message == "this instance takes 3 per 1 minute of one caller, and no more"
    clock.wait(47.4)
    assert wait_of(refusal(ours)) == 1
    clock.wait(0.1)
    assert refusal(ours) is None


def test_what_is_refused_spends_nothing():
    clock = Clock()
    ours = limit("1/second", clock)
    assert refusal(ours) is None
    assert all(refusal(ours) for _ in range(100))
    clock.wait(1)
    assert refusal(ours) is None


def test_each_caller_has_a_limit_of_its_own():
    ours = limit("1/second", Clock())
    assert [refusal(ours, caller) is None for caller in (A, B, A, B)] == [True, True, False, False]


def test_several_limits_hold_together_and_the_longest_is_waited_for():
    clock = Clock()
    ours = limit("2/second;3/hour", clock)
    assert [refusal(ours) is None for _ in range(3)] == [True, True, False]
    clock.wait(1)
    assert refusal(ours) is None
    # The second has room, the hour has none; and what it refuses is not taken from the second.
    assert wait_of(refusal(ours)) == 3599
    clock.wait(3599)
    assert [refusal(ours) is None for _ in range(3)] == [True, True, False]


@given(
    st.lists(
        st.tuples(st.integers(1, 5), st.integers(1, 4), st.sampled_from(["second", "minute"])), min_size=1, max_size=3
    ),
    st.lists(st.integers(0, 90 * NS), max_size=40),
)
def test_who_waits_as_long_as_told_is_let_in_and_no_window_gives_more_than_its_number(limits, pauses):
    clock = Clock()
    ours = limit(";".join(f"{amount}/{times} {unit}" for amount, times, unit in limits), clock)
    let_in = []
    for pause in pauses:
        clock.now_ns += pause
        refused = refusal(ours)
        if refused is not None:
            assert wait_of(refused) >= 1
            clock.wait(wait_of(refused))
            assert refusal(ours) is None
        let_in.append(clock.now_ns)
    for amount, times, unit in limits:
        length = times * {"second": 1, "minute": 60}[unit] * NS
        # Of fixed windows two may meet: twice the number, in any span of a window's length.
        assert all(sum(at <= other < at + length for other in let_in) <= 2 * amount for at in let_in)


def test_a_window_whose_caller_never_comes_again_is_forgotten():
    clock = Clock()
    windows = Windows(clock)
    for number in range(1000):
        assert windows.incr(f"key {number}", 1) == 1
        clock.wait(0.01)
    assert len(windows._open) <= 101
    clock.wait(2)
    assert windows.incr("key", 1) == 1
    assert len(windows._open) == 1


def test_the_windows_answer_as_the_library_asks_a_storage():
    clock = Clock()
    windows = Windows(clock)
    assert (windows.check(), windows.get("a"), windows.get_expiry("a")) == (True, 0, clock.now_ns)
    # Nothing of its own fails.
    assert windows.base_exceptions == ()
    assert (windows.incr("a", 2, amount=3), windows.get("a")) == (3, 3)
    assert windows.get_expiry("a") == clock.now_ns + 2 * NS
    clock.wait(2)
    assert windows.get("a") == 0
    windows.incr("a", 2)
    windows.incr("b", 2)
    windows.clear("a")
    assert (windows.get("a"), windows.get("b"), windows.reset(), windows.get("b")) == (0, 1, 1, 0)


def test_no_thread_is_started_and_threads_together_get_no_more_than_the_number():
    ours = limit("1000/hour", Clock())
    # Those of other tests may end meanwhile.
    before = set(threading.enumerate())
    let_in = []

    def call():
        for _ in range(400):
            if refusal(ours) is None:
                let_in.append(1)

    callers = [threading.Thread(target=call) for _ in range(8)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()
    assert (len(let_in), set(threading.enumerate()) - before) == (1000, set())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("100/second", "[100 per 1 second]"),
        ("100/SECOND", "[100 per 1 second]"),
        ("100/second;5000/hour", "[100 per 1 second, 5000 per 1 hour]"),
        ("20 per 5 minutes, 7/day | 9/month", "[20 per 5 minute, 7 per 1 day, 9 per 1 month]"),
        ("5/second;5/second", "[5 per 1 second]"),
    ],
)
def test_a_limit_is_written_as_the_library_reads_it(text, said):
    assert repr(list(limits_of("RATE_LIMIT", text))) == said


@pytest.mark.parametrize(
    "text",
    [
        "secret", "100", "100/", "/second", "-1/second", "1.5/second", "100/fortnight", "100/second;", ";100/second",
        "100/second 100/hour", "100/second;secret", "0/second", "5/second;0/hour", "5/0 seconds", "5 per 0 hours",
        "9" * 5000 + "/second",
    ],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_what_is_no_limit_is_refused_by_name_and_stays_unsaid(text):
    with pytest.raises(ConfigurationError) as refused:
        limits_of("RATE_LIMIT", text)
    assert refused.value.variable == "RATE_LIMIT"
    assert "secret" not in refused.value.message
    assert refused.value.__cause__ is None
