"""Memory of the function host: its share under load, and the peak that one body can drive it to."""

from __future__ import annotations

import threading
import time

from benchmarks.figure import Figure
from benchmarks.host import FunctionHost, function_host
from benchmarks.hostile_bodies import ACCEPTED, REFUSED, Body
from benchmarks.peers import load_generator, stub_store
from benchmarks.process import peak_rss_bytes, pss_bytes
from benchmarks.rows import Stage

_CONCURRENCY = 32
_SAMPLE_S = 0.05
_QUICK = ("one object of wide keys, floats", "one string with an emoji", "10 000 minimal turns")


def run_load(stage: Stage) -> list[Figure]:
    """The largest proportional set size of the host, its master and its worker together, while 32 clients post."""
    addresses = {"embedded store": f"embedded:{stage.folder / 'load.db'}"}
    figures = []
    with stub_store() as store, load_generator() as generator:
        for kind, address in ({"http store": store.url} | addresses).items():
            with function_host(stage.runtime, "function", {"RUVECTOR_SERVICE_URL": address}) as host:
                host.await_ready()
                sampler = Sampler(host)
                sampler.start()
                for _ in range(stage.rounds(6, 2)):
                    load = generator.post(host.port, count=1000, connections=_CONCURRENCY)
                sampler.stop()
            figures.append(
                Figure(
                    name=f"memory-load-{kind.split()[0]}",
                    what=f"PSS of the host (master and worker) under load at concurrency {_CONCURRENCY}, {kind}",
                    unit="MB",
                    limit="at most",
                    bound=90,
                    decided_by="max",
                    samples=tuple(taken / 1e6 for taken in sampler.host),
                    notes=(
                        f"the worker alone: at most {max(sampler.worker) / 1e6:.1f} MB",
                        f"{load.per_second:.0f} captures a second in the last 1 000",
                    ),
                )
            )
    return figures


def run_peak(stage: Stage) -> list[Figure]:
    """The peak resident size (VmHWM) of a fresh host's worker after one body of each kind."""
    return [
        _peaks(stage, "memory-peak-http", "any accepted body of up to 10 MiB, http store", ACCEPTED, 200),
        _peaks(stage, "memory-peak-embedded", "any accepted body of up to 10 MiB, embedded store", ACCEPTED, 200),
        _peaks(stage, "memory-refused", "a refused body (nothing was promised of these: the same bound)", REFUSED, 400),
    ]


def _peaks(stage: Stage, name: str, what: str, bodies: tuple[Body, ...], expected: int) -> Figure:
    peaks, notes = [], []
    with stub_store() as store:
        for place, body in enumerate(bodies):
            if stage.quick and body.name not in _QUICK and expected == 200:
                continue
            embedded = f"embedded:{stage.folder / f'peak-{place}.db'}"
            address = embedded if name.endswith("embedded") else store.url
            with function_host(stage.runtime, "function", {"RUVECTOR_SERVICE_URL": address}) as host:
                peak, status, took = _peak(host, body)
            if status // 100 != expected // 100:
                raise RuntimeError(f"{body.name}: answered {status}, a figure of {expected} was meant")
            peaks.append(peak / 2**20)
            notes.append(f"{peaks[-1]:6.1f} MiB  {took:5.2f} s  {status}  {body.name}")
    return Figure(
        name=name,
        what=f"peak resident size after {what}",
        unit="MiB",
        limit="at most",
        bound=256,
        decided_by="max",
        samples=tuple(peaks),
        notes=tuple(sorted(notes, reverse=True)),
    )


def _peak(host: FunctionHost, body: Body) -> tuple[int, int, float]:
    host.await_ready()
    data = body.make()
    started = time.perf_counter()
    headers = {"Content-Encoding": body.encoding} if body.encoding else {}
    status, _ = host.request("POST", f"/{body.query}", data, headers)
    return peak_rss_bytes(host.worker_pid), status, time.perf_counter() - started


class Sampler:
    """Samples the host's proportional set size until it is stopped."""

    def __init__(self, host: FunctionHost) -> None:
        self.worker: list[int] = []
        self.host: list[int] = []
        self._sizes = host
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._done.wait(_SAMPLE_S):
            sizes = {pid: pss_bytes(pid) for pid in self._sizes.pids}
            self.worker.append(sizes[self._sizes.worker_pid])
            self.host.append(sum(sizes.values()))
