"""The states that alerts are about, each brought about in real processes; what these counted then is what is returned.

Each state is a minute of traffic. ``HEALTHY`` goes on beside all others, on processes of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import httpx

from agent.bootstrap import new_id
from tests.live.host import Reply, StubStore, stub_store
from tests.monitoring.prometheus_names import Samples, Series
from tests.monitoring.site import NOBODY, Site, locked, slow_store, target_of
from tests.monitoring.traffic import captures, get, no_capture, post, pushed
from tests.store import postgres_server

# Longer than the objective allows, shorter than the deadline of an append.
SLOW_S = 0.7
CONVERSATIONS = "/api/conversations"
FAULTY = Path(__file__).with_name("faulty_main.py")
STORE_ROWS = "/v1/sessions"


class State(NamedTuple):
    """How a state is brought about in a folder, and the alerts that fire in it, no others.

    ``minutes`` is how long it lasts in front of Prometheus: the traffic of one minute comes again in each. ``also`` are
    alerts that may fire too, by chance.
    """

    alerts: frozenset[str]
    bring_about: Callable[[Path], Samples]
    minutes: int = 60
    also: frozenset[str] = frozenset()


def healthy(folder: Path) -> Samples:
    """Captures, deliveries and recalls that go well, a duplicate and a refusal among them."""
    with Site(folder) as site:
        store = site.store()
        capture, events, recall = (
            site.function(target, store=store.url) for target in ("handler", "capture_event", "recall")
        )
        assert set(post(capture.url, [again := captures(1)[0], *captures(28)])) == {200}
        assert set(post(capture.url, [again])) == {200}
        assert set(post(capture.url, [no_capture()])) == {400}
        assert set(post(events.url, map(pushed, captures(9)))) == {200}
        assert set(post(events.url, [pushed(captures(1)[0], attempt=2)])) == {200}
        assert set(get(recall.url + CONVERSATIONS, 30)) == {200}
        assert set(get(recall.url + "/api/conversation/nobody", 1)) == {404}
        site.look_at(store)
    return site.samples


def store_killed(folder: Path) -> Samples:
    """The store's process is gone, as after ``kill -9``; the queue delivers again what failed."""
    with Site(folder) as site:
        store = site.store()
        capture, events, recall = (
            site.function(target, store=store.url) for target in ("handler", "capture_event", "recall")
        )
        assert set(post(capture.url, captures(1))) == {200}
        store.kill()
        assert set(post(capture.url, captures(12), at_a_time=8)) == {502}
        deliveries = [pushed(each, attempt=attempt) for each in captures(6) for attempt in (1, 2, 3, 4)]
        assert set(post(events.url, deliveries, at_a_time=8)) == {502}
        assert set(get(recall.url + CONVERSATIONS, 12, at_a_time=8)) == {502}
    return site.samples


def key_refused(folder: Path) -> Samples:
    """The store does not know the function's key."""
    with stub_store() as stub, Site(folder) as site:
        stub.reply = lambda _: Reply(401, b'{"error": "unauthorized", "message": "the key is not known"}')
        assert set(post(site.function("handler", store=stub.url).url, captures(12))) == {502}
    return site.samples


def over_quota(folder: Path) -> Samples:
    """Captures and recalls come faster than the quota of their key allows."""
    key = new_id()
    with Site(folder) as site:
        store = site.store(RUVECTOR_KEYS=f"acme:{key}", RUVECTOR_QUOTAS="acme:1/second")
        capture, recall = (
            site.function(target, store=store.url, RUVECTOR_API_KEY=key) for target in ("handler", "recall")
        )
        assert post(capture.url, captures(16), at_a_time=8)[429] >= 8
        assert get(recall.url + CONVERSATIONS, 16, at_a_time=8)[429] >= 8
        site.look_at(store)
    return site.samples


def store_busy(folder: Path) -> Samples:
    """Each write is answered 503 first, and taken when it comes again."""
    seen = set()

    def first_time_busy(stub: StubStore) -> Reply:
        key = stub.writes[-1].headers["Idempotency-Key"]
        if key in seen:
            return Reply()
        seen.add(key)
        return Reply(503, b"{}", {"Retry-After": "0"})

    with stub_store() as stub, Site(folder) as site:
        stub.reply = lambda _: first_time_busy(stub)
        capture = site.function("handler", store=stub.url, RUVECTOR_DEADLINE_S="20")
        assert set(post(capture.url, captures(24), at_a_time=8)) == {200}
    return site.samples


def store_slow(folder: Path) -> Samples:
    """Captures and recalls of a store that thinks long."""
    with slow_store(folder / "slow.db", delay_s=SLOW_S) as url, Site(folder) as site:
        capture, recall = (
            site.function(target, store=url, RUVECTOR_DEADLINE_S="20") for target in ("handler", "recall")
        )
        assert set(post(capture.url, captures(8), at_a_time=8)) == {200}
        assert set(get(recall.url + CONVERSATIONS, 8, at_a_time=8)) == {200}
    return site.samples


def database_locked(folder: Path) -> Samples:
    """Another process holds the database's lock for a while, time and again."""
    path = folder / "locked.db"
    with Site(folder) as site:
        store = site.store(f"sqlite:///{path}")
        capture = site.function("handler", store=store.url, RUVECTOR_DEADLINE_S="20")
        assert set(post(capture.url, captures(1))) == {200}
        with locked(path, hold_s=2 * SLOW_S):
            assert set(get(store.url + "/ready", 1)) == {503}
        for _ in range(2):
            with locked(path, hold_s=SLOW_S):
                assert set(post(capture.url, captures(8), at_a_time=8)) == {200}
        site.look_at(store)
    return site.samples


def pool_exhausted(folder: Path) -> Samples:
    """Readers wait for a table that somebody has locked, and hold their connections meanwhile."""
    server, readers = postgres_server.server(), 14
    with server.database() as url, Site(folder) as site:
        store = site.store(url)
        in_use = Series.of("ruvector_pool_connections", {"state": "in_use", **target_of(store.url)})
        assert set(get(store.url + STORE_ROWS, 1)) == {200}
        with (
            ThreadPoolExecutor(readers) as threads,
            server.connect(postgres_server.name_in(url)) as holder,
            holder.transaction(),
        ):
            holder.execute("LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE")
            for _ in range(readers):
                threads.submit(httpx.get, store.url + STORE_ROWS, timeout=60)
            while site.figures.get(in_use, 0) < readers:
                site.look_at(store)
    return site.samples


def refused(folder: Path) -> Samples:
    return _posted(folder, [no_capture()] * 30, 400)


def duplicates(folder: Path) -> Samples:
    return _posted(folder, captures(1) * 60, 200)


def capture_at_fault(folder: Path) -> Samples:
    """One capture meets a fault of ours."""
    with stub_store() as stub, Site(folder) as site:
        capture = site.function("handler", store=stub.url, source=FAULTY)
        assert set(post(capture.url, captures(1))) == {500}
    return site.samples


def recall_at_fault(folder: Path) -> Samples:
    """One recall meets a fault of ours."""
    with stub_store() as stub, Site(folder) as site:
        recall = site.function("recall", store=stub.url, source=FAULTY)
        assert set(get(recall.url + CONVERSATIONS, 1)) == {500}
    return site.samples


def delayed(folder: Path) -> Samples:
    return _delivered(folder, [pushed(each, age=timedelta(minutes=6)) for each in captures(12)], 200)


def delivered_again(folder: Path) -> Samples:
    return _delivered(folder, [pushed(each, attempt=2) for each in captures(20)], 200)


def message_refused(folder: Path) -> Samples:
    return _delivered(folder, [pushed(no_capture())], 400)


def spans_refused(folder: Path) -> Samples:
    """Nobody takes spans; metrics go to another place."""
    with stub_store() as stub, Site(folder) as site:
        elsewhere = {
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{NOBODY}/v1/traces",
            "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"{site.receiver.url}/v1/metrics",
        }
        assert set(post(site.function("handler", store=stub.url, **elsewhere).url, captures(40))) == {200}
    return site.samples


def _posted(folder: Path, bodies: list[bytes], status: int) -> Samples:
    with Site(folder) as site:
        capture = site.function("handler", store=site.store().url)
        assert set(post(capture.url, bodies)) == {status}
    return site.samples


def _delivered(folder: Path, bodies: list[bytes], status: int) -> Samples:
    with Site(folder) as site:
        events = site.function("capture_event", store=site.store().url)
        assert set(post(events.url, bodies)) == {status}
    return site.samples


STATES = {
    "the store is killed": State(
        frozenset(
            {
                "CapturesFailingFast",
                "CapturesFailingSlowly",
                "StoreUnreachable",
                "RetriesHigh",
                "RedeliveriesHigh",
                "RecallsFailing",
            }
        ),
        store_killed,
    ),
    "the store refuses the key": State(
        frozenset({"CapturesFailingFast", "CapturesFailingSlowly", "StoreRefuses"}), key_refused
    ),
    "the quota is used up": State(
        frozenset({"RateLimited"}), over_quota, also=frozenset({"CapturesSlow", "RecallsSlow"})
    ),
    "the store is busy": State(frozenset({"RetriesHigh"}), store_busy, also=frozenset({"CapturesSlow"})),
    "the store is slow": State(frozenset({"CapturesSlow", "RecallsSlow"}), store_slow),
    "the database is locked": State(frozenset({"CapturesSlow", "StoreAppendsSlow"}), database_locked),
    "the connections are used up": State(frozenset({"StorePoolExhausted"}), pool_exhausted, minutes=8),
    "callers send what is no capture": State(frozenset({"RefusedShareHigh"}), refused),
    "a caller sends everything twice": State(frozenset({"DuplicatesHigh"}), duplicates),
    "one capture meets a fault": State(frozenset({"InternalErrors"}), capture_at_fault, minutes=1),
    "one recall meets a fault": State(frozenset({"InternalErrors"}), recall_at_fault, minutes=1),
    "messages wait in the queue": State(frozenset({"EventsDelayed"}), delayed),
    "messages are delivered again": State(frozenset({"RedeliveriesHigh"}), delivered_again),
    "one message is no capture": State(frozenset({"EventsRefused"}), message_refused, minutes=1),
    "the collector takes no spans": State(frozenset({"TelemetryDropped"}), spans_refused),
}
