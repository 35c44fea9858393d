"""Quotas: never more than they say, in any order of calls and on any number of threads; what is refused is free."""

import threading
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import Forbidden, TooManyRequests, Unauthorized
from store.http.access import Key
from store.http.quotas import Quota, Quotas
from tests.store.access.callers import BOTH, KEYS, NOON, OTHER, READER, Clocks, guard, quotas, request

SECOND = 10**9


def admitted(of: Quotas, *names: str, byte_count: int = 0) -> bool:
    try:
        of.admit(names, byte_count)
    except TooManyRequests:
        return False
    return True


def spent(of: Quotas, byte_count: int, *names: str) -> bool:
    try:
        of.spend(names, byte_count)
    except TooManyRequests:
        return False
    return True


def wait_s(of: Quotas, *names: str, byte_count: int = 0) -> int:
    """What ``Retry-After`` says to a request that is refused."""
    with pytest.raises(TooManyRequests) as refused:
        of.admit(names, byte_count)
    assert (refused.value.status, refused.value.error) == (429, "too_many_requests")
    text = refused.value.headers["Retry-After"]
    assert text.isascii()
    assert text.isdecimal()
    return int(text)


@given(milli=st.integers(1, 20_000), pauses=st.lists(st.integers(0, 3 * SECOND), max_size=80))
def test_in_any_t_seconds_at_most_n_times_t_plus_1_are_admitted(milli: int, pauses: list[int]) -> None:
    clocks = Clocks(ns=7 * SECOND)
    of = quotas(Quota("a", milli), clocks=clocks)
    times = []
    for pause in pauses:
        clocks.ns += pause
        if admitted(of, "a"):
            times.append(clocks.ns)
    burst = max(milli, 1000)
    for first in range(len(times)):
        for last in range(first, len(times)):
            # Thousandths of a request and nanoseconds: count <= n * t + max(n, 1), without a rounding.
            assert (last - first + 1) * 1000 * SECOND <= milli * (times[last] - times[first]) + burst * SECOND


@given(milli=st.integers(1, 20_000), before=st.lists(st.integers(0, SECOND), max_size=30))
def test_who_waits_as_told_is_admitted_and_who_comes_a_second_earlier_is_not(milli: int, before: list[int]) -> None:
    clocks = Clocks()
    of = quotas(Quota("a", milli), clocks=clocks)
    for pause in before:
        clocks.ns += pause
        admitted(of, "a")
    while admitted(of, "a"):
        pass
    told = wait_s(of, "a")
    assert told >= 1
    if told > 1:
        clocks.ns += (told - 1) * SECOND
        assert not admitted(of, "a")
        told = 1
    clocks.ns += told * SECOND
    assert admitted(of, "a")


@given(st.integers(1, 20_000))
def test_the_burst_is_one_second_s_worth_at_least_one_request(milli: int) -> None:
    of = quotas(Quota("a", milli))
    assert sum(admitted(of, "a") for _ in range(30)) == max(milli // 1000, 1)


def test_an_idle_day_saves_up_no_more_than_the_burst() -> None:
    clocks = Clocks()
    of = quotas(Quota("a", 3000), clocks=clocks)
    admitted(of, "a")
    clocks.pass_by(86_400)
    assert [admitted(of, "a") for _ in range(5)] == [True] * 3 + [False] * 2


@given(
    milli=st.integers(500, 5000),
    refused=st.integers(0, 50),
    pauses=st.lists(st.integers(0, SECOND), min_size=1, max_size=20),
)
def test_a_refused_request_spends_nothing(milli: int, refused: int, pauses: list[int]) -> None:
    patient, hasty = Clocks(), Clocks()
    of_patient, of_hasty = (quotas(Quota("a", milli), clocks=clocks) for clocks in (patient, hasty))
    for pause in pauses:
        patient.ns += pause
        hasty.ns += pause
        outcome = admitted(of_patient, "a")
        assert admitted(of_hasty, "a") is outcome
        if not outcome:
            assert not any(admitted(of_hasty, "a") for _ in range(refused))


def test_a_request_refused_by_one_quota_spends_nothing_of_the_other() -> None:
    clocks = Clocks()
    of = quotas(Quota("tenant", 10_000), Quota("key", 1000), clocks=clocks)
    outcomes = [admitted(of, "tenant", "key") for _ in range(30)]
    assert outcomes == [True] + [False] * 29
    assert [admitted(of, "tenant") for _ in range(10)] == [True] * 9 + [False]


def test_a_request_that_the_day_has_no_room_for_spends_no_request() -> None:
    of = quotas(Quota("a", 1000, 100))
    assert not any(admitted(of, "a", byte_count=101) for _ in range(5))
    assert admitted(of, "a", byte_count=100)


def test_announced_bytes_are_not_spent_until_they_are_there() -> None:
    of = quotas(Quota("a", bytes_per_day=100))
    assert all(admitted(of, "a", byte_count=100) for _ in range(5))
    assert spent(of, 100, "a")
    assert not admitted(of, "a", byte_count=1)
    assert admitted(of, "a")


@given(
    limit=st.integers(1, 1000),
    sizes=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 20_000)), max_size=60),
)
def test_a_utc_day_takes_at_most_its_bytes_and_whatever_fits(limit: int, sizes: list[tuple[int, int]]) -> None:
    clocks = Clocks()
    of = quotas(Quota("a", bytes_per_day=limit), clocks=clocks)
    taken: dict[object, int] = {}
    for size, pause in sizes:
        clocks.pass_by(pause)
        day = clocks.now.date()
        fits = taken.get(day, 0) + size <= limit
        assert spent(of, size, "a") is fits
        if fits:
            taken[day] = taken.get(day, 0) + size
    assert all(total <= limit for total in taken.values())


def test_bytes_refused_by_one_quota_are_not_taken_from_the_other() -> None:
    of = quotas(Quota("tenant", bytes_per_day=100), Quota("key", bytes_per_day=10))
    assert not spent(of, 11, "tenant", "key")
    assert spent(of, 100, "tenant")


@pytest.mark.parametrize(
    ("now", "seconds"),
    [
        (NOON, 43_200),
        (datetime(2026, 3, 2, 23, 59, 59, tzinfo=UTC), 1),
        (datetime(2026, 3, 2, 23, 59, 59, 999_999, tzinfo=UTC), 1),
        (datetime(2026, 3, 2, 23, 59, 58, 1, tzinfo=UTC), 2),
        (datetime(2026, 12, 31, 0, 0, tzinfo=UTC), 86_400),
        (datetime(2026, 3, 3, 1, 0, tzinfo=timezone(timedelta(hours=2))), 3600),
    ],
)
def test_bytes_are_there_again_at_the_next_utc_midnight(now: datetime, seconds: int) -> None:
    clocks = Clocks(now=now)
    of = quotas(Quota("a", bytes_per_day=10), clocks=clocks)
    assert spent(of, 10, "a")
    assert wait_s(of, "a", byte_count=1) == seconds
    clocks.pass_by(seconds)
    assert spent(of, 10, "a")


def test_of_two_quotas_that_are_used_up_the_longer_wait_is_told() -> None:
    of = quotas(Quota("tenant", 1000), Quota("key", 100, 50))
    assert admitted(of, "tenant", "key")
    assert wait_s(of, "tenant", "key") == 10
    assert wait_s(of, "tenant", "key", byte_count=51) == 43_200


def test_a_refusal_names_the_quota_and_what_it_is() -> None:
    of = quotas(Quota("acme", 2500, 7))
    assert [admitted(of, "acme") for _ in range(3)] == [True, True, False]
    with pytest.raises(TooManyRequests, match=r"^the quota of acme is 2\.5 requests a second$"):
        of.admit(("acme",))
    with pytest.raises(TooManyRequests, match=r"^the quota of acme is 7 bytes a day, by UTC$"):
        of.spend(("acme",), 8)


def test_who_has_no_quota_is_never_refused() -> None:
    of = quotas(Quota("acme", 1000, 1))
    assert all(admitted(of, "globex", "globex-1", byte_count=10**12) for _ in range(100))
    assert spent(of, 10**12, "globex", "globex-1")


def test_a_quota_without_a_rate_or_without_bytes_bounds_only_the_other() -> None:
    of = quotas(Quota("slow", 1000), Quota("small", bytes_per_day=1))
    assert [admitted(of, "slow", byte_count=10**12) for _ in range(2)] == [True, False]
    assert all(admitted(of, "small") for _ in range(100))


def test_threads_together_get_no_more_than_one_alone() -> None:
    of = quotas(Quota("a", 500_000, 700))
    start = threading.Barrier(8)
    counts: list[tuple[int, int]] = []

    def work() -> None:
        start.wait()
        counts.append((sum(admitted(of, "a") for _ in range(200)), sum(spent(of, 1, "a") for _ in range(200))))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sum(requests for requests, _ in counts), sum(taken for _, taken in counts)) == (500, 700)


@pytest.mark.parametrize("call", ["admit", "spend"])
def test_two_threads_are_never_at_the_same_counts(call: str) -> None:
    meeting = threading.Barrier(2)
    met: list[bool] = []

    def wall() -> datetime:
        try:
            meeting.wait(timeout=0.3)
        except threading.BrokenBarrierError:
            met.append(False)
        else:
            met.append(True)
        return NOON

    of = Quotas([Quota("a", bytes_per_day=10)], monotonic_ns=lambda: 0, clock=wall)
    work = {"admit": lambda: of.admit(("a",), 1), "spend": lambda: of.spend(("a",), 1)}[call]
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert met == [False, False]


def test_the_keys_of_a_tenant_share_its_quota_and_a_key_s_own_holds_beside_it() -> None:
    reader = Key.of("acme", READER, "read")
    checked = guard(KEYS, Quota("acme", 3000), Quota(reader.name, 1000))
    checked.check(request(READER), "read")
    with pytest.raises(TooManyRequests, match=reader.name):
        checked.check(request(READER), "read")
    for _ in range(2):
        checked.check(request(BOTH), "read")
    with pytest.raises(TooManyRequests, match="the quota of acme is"):
        checked.check(request(BOTH), "read")
    checked.check(request(OTHER), "read")


def test_a_request_with_a_wrong_key_or_without_the_right_spends_nothing() -> None:
    checked = guard(KEYS, Quota("acme", 1000))
    for key in (None, f"{READER}x"):
        with pytest.raises(Unauthorized):
            checked.check(request(key), "read")
    with pytest.raises(Forbidden):
        checked.check(request(READER), "write")
    assert checked.check(request(READER), "read").tenant == "acme"


def test_a_body_that_the_day_has_no_room_for_is_refused_before_it_is_read() -> None:
    checked = guard(KEYS, Quota("acme", bytes_per_day=10))
    checked.check(request(BOTH, CONTENT_LENGTH="10"), "write").spend(10)
    with pytest.raises(TooManyRequests):
        checked.check(request(BOTH, CONTENT_LENGTH="1"), "write")
    checked.check(request(READER), "read")


@pytest.mark.parametrize("length", ["", "x", "-1", "1e3", "9" * 40, "\u0661", "10 "])
def test_a_length_that_is_no_number_is_left_to_whoever_reads_the_body(length: str) -> None:
    caller = guard(KEYS, Quota("acme", bytes_per_day=1)).check(request(BOTH, CONTENT_LENGTH=length), "write")
    assert caller.tenant == "acme"


def test_bytes_that_were_not_announced_are_counted_when_they_are_there() -> None:
    caller = guard(KEYS, Quota("acme", bytes_per_day=10)).check(request(BOTH), "write")
    caller.spend(6)
    with pytest.raises(TooManyRequests):
        caller.spend(5)
    caller.spend(4)


def test_without_keys_the_quota_of_the_default_tenant_holds() -> None:
    checked = guard((), Quota("default", 1000))
    checked.check(request(REMOTE_ADDR="127.0.0.1"), "read")
    with pytest.raises(TooManyRequests):
        checked.check(request(REMOTE_ADDR="127.0.0.1"), "read")


@pytest.mark.parametrize(("seconds", "header"), [(0.0, "1"), (0.2, "1"), (1.0, "1"), (1.001, "2"), (86_400.0, "86400")])
def test_a_wait_is_told_in_whole_seconds_at_least_one(seconds: float, header: str) -> None:
    assert TooManyRequests("full", seconds).headers == {"Retry-After": header}
