"""What one instance of each tier carries, one processor each: the figures behind "More than one machine".

Reported, without a bound: absolute rates belong to the machine. Every tier is measured alone, kept to one core, with
all else on the others; then all of them together.
"""

from __future__ import annotations

import contextlib
import os
import statistics
from collections.abc import Callable, Iterator

from benchmarks.database_use import DatabaseUse
from benchmarks.figure import Figure
from benchmarks.host import DEPLOYED_THREADS, FunctionHost, function_host
from benchmarks.loads import warm_up
from benchmarks.payloads import conversation
from benchmarks.peers import Load, LoadGenerator, load_generator, stub_store
from benchmarks.postgres import postgres
from benchmarks.process import keep_to
from benchmarks.rows import Stage

_STORE_THREADS = 16
_DAY_S = 86_400
_CAPTURES_A_DAY = _DAY_S  # one a second
_Post = Callable[[int], Load]


def run(stage: Stage) -> list[Figure]:
    """Captures a second of the capture function, of the store on PostgreSQL, of both; then what a day keeps."""
    rounds, count = stage.rounds(8, 2), stage.rounds(1500, 200)
    with load_generator() as generator:
        figures = [_capture_alone(stage, generator, rounds, count)]
        with postgres(stage.folder / "capacity-postgresql") as url, _store(stage, url) as store:
            use = DatabaseUse(url)
            figures += [
                _store_alone(store, generator, use, rounds, count),
                _together(stage, store, generator, use, rounds, count),
                _day(store, generator, use, count * rounds),
            ]
    return figures


@contextlib.contextmanager
def _store(stage: Stage, url: str) -> Iterator[FunctionHost]:
    variables = {"RUVECTOR_STORE": url, "THREADS": str(_STORE_THREADS)}
    with function_host(stage.runtime, "function", variables, target="store") as store:
        store.await_ready()
        yield store


def _capture_alone(stage: Stage, generator: LoadGenerator, rounds: int, count: int) -> Figure:
    concurrency = int(DEPLOYED_THREADS)
    with stub_store() as store, function_host(stage.runtime, "function", {"RUVECTOR_SERVICE_URL": store.url}) as host:
        warm_up(host, generator, connections=concurrency)
        with _apart(host, store.pid, generator.pid):
            loads, cpu = _loaded(
                host, rounds, count, lambda some: generator.post(host.port, count=some, connections=concurrency)
            )
    what = f"captures a second of one instance, {DEPLOYED_THREADS} threads, one core, a store that answers at once"
    return _rates("capacity-capture", what, loads, f"CPU of one capture: {cpu * 1000:.2f} ms")


def _store_alone(store: FunctionHost, generator: LoadGenerator, use: DatabaseUse, rounds: int, count: int) -> Figure:
    def post(some: int) -> Load:
        path = "/v1/decision-events"
        return generator.post(store.port, count=some, connections=_STORE_THREADS, path=path, writes=True)

    post(100)
    with _apart(store, generator.pid, *use.pids()):
        before = use.cpu_seconds()
        loads, cpu = _loaded(store, rounds, count, post)
        database = (use.cpu_seconds() - before) / (rounds * count)
    what = f"appends a second of one store instance on PostgreSQL, {_STORE_THREADS} threads, one core"
    return _rates(
        "capacity-store",
        what,
        loads,
        f"CPU of one append: store {cpu * 1000:.2f} ms, PostgreSQL {database * 1000:.2f} ms",
        f"connections to the database: {use.connections()}",
    )


def _together(
    stage: Stage, store: FunctionHost, generator: LoadGenerator, use: DatabaseUse, rounds: int, count: int
) -> Figure:
    concurrency = int(DEPLOYED_THREADS)
    address = {"RUVECTOR_SERVICE_URL": f"http://127.0.0.1:{store.port}"}
    with function_host(stage.runtime, "function", address) as host:
        warm_up(host, generator, connections=concurrency)
        with _apart(host, generator.pid, *store.pids, *use.pids()):
            stored, database = store.cpu_seconds(), use.cpu_seconds()
            loads, cpu = _loaded(
                host, rounds, count, lambda some: generator.post(host.port, count=some, connections=concurrency)
            )
            stored, database = store.cpu_seconds() - stored, use.cpu_seconds() - database
    shares = [seconds / (rounds * count) * 1000 for seconds in (stored, database)]
    return _rates(
        "capacity-together",
        f"captures a second of one capture instance on one core, with store, PostgreSQL and load on {_others()}",
        loads,
        "CPU of one capture: function {:.2f} ms, store {:.2f} ms, PostgreSQL {:.2f} ms".format(cpu * 1000, *shares),
    )


def _day(store: FunctionHost, generator: LoadGenerator, use: DatabaseUse, count: int) -> Figure:
    turns = len(conversation()["turns"])
    size, log = use.size(), use.log_position()
    path = "/v1/decision-events"
    generator.post(store.port, count=count, connections=_STORE_THREADS, path=path, writes=True)
    grown, logged = (use.size() - size) / count, (use.log_position() - log) / count
    return Figure(
        name="capacity-day",
        what=f"bytes in PostgreSQL a day at one capture a second of {turns} turns, the search index apart",
        unit="MB",
        limit="at most",
        bound=None,
        samples=(grown * _CAPTURES_A_DAY / 1e6,),
        product=f"{grown / turns:.0f} B a turn",
        notes=(
            f"{count} captures: {grown:.0f} B each in the database, {logged:.0f} B each in its write-ahead log",
            f"write-ahead log a day at that rate: {logged * _CAPTURES_A_DAY / 1e6:.0f} MB",
        ),
    )


@contextlib.contextmanager
def _apart(host: FunctionHost, *others: int) -> Iterator[None]:
    """``host`` on the first core and the ``others`` on what is left, where there is more than one core."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        yield
        return
    host.keep_to({cores[0]})
    for pid in others:
        keep_to(pid, set(cores[1:]))
    try:
        yield
    finally:
        for pid in (*host.pids, *others):
            keep_to(pid, set(cores))


def _others() -> str:
    count = len(os.sched_getaffinity(0)) - 1
    return f"{count} other{'s' if count > 1 else ''}" if count else "the same"


def _loaded(host: FunctionHost, rounds: int, count: int, post: _Post) -> tuple[list[Load], float]:
    """The loads of all rounds, and the host's CPU seconds of one request."""
    before = host.cpu_seconds()
    loads = [post(count) for _ in range(rounds)]
    return loads, (host.cpu_seconds() - before) / (rounds * count)


def _rates(name: str, what: str, loads: list[Load], *notes: str) -> Figure:
    p50, p99 = (statistics.median(getattr(load, field) for load in loads) * 1000 for field in ("p50_s", "p99_s"))
    rates = tuple(load.per_second for load in loads)
    return Figure(
        name=name,
        what=what,
        unit="/s",
        limit="at least",
        bound=None,
        samples=rates,
        product=f"{statistics.median(rates):.0f}/s",
        notes=(*notes, f"latency p50 {p50:.1f} ms, p99 {p99:.1f} ms"),
    )
