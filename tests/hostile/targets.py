"""The servers that are attacked: three functions as the host runs them, and the store that all of them use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import httpx

from tests.capture.events.envelopes import pubsub
from tests.cli.store.server import store_server
from tests.live.host import function_host
from tests.live.payloads import encoded, own_session

THREADS = 8
NAMES = ("capture", "events", "recall", "store")
_WAIT_S = 15.0


class Target(NamedTuple):
    """A running server. ``ask`` does what an ordinary caller does and gives the status.

    ``path`` takes a body.
    """

    name: str
    port: int
    worker: int
    path: str
    ask: Callable[[], int]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def most_threads(self) -> int:
        """The loop, a thread for each small request, four times as many for large ones, and one of telemetry."""
        return 1 + 5 * THREADS + 1


@contextmanager
def targets(folder: Path) -> Iterator[dict[str, Target]]:
    """All four, each with one worker of eight threads, until the block ends."""
    with ExitStack() as stack:
        stores = []
        # Of its own what is attacked: what the functions have captured takes memory of the other.
        for name in ("attacked", "behind"):
            (folder / name).mkdir()
            store = stack.enter_context(store_server(folder / name, "--threads", str(THREADS)))
            # It says where it listens before it has a worker.
            httpx.get(f"{store.url}/health", timeout=_WAIT_S).raise_for_status()
            stores.append(store)
        attacked, store = stores
        made = [_store(attacked.port, attacked.workers()[0])]
        for target, describe in (("handler", _capture), ("capture_event", _events), ("recall", _recall)):
            host = function_host(folder, store=store.url, target=target, THREADS=str(THREADS))
            running = stack.enter_context(host)
            made.append(describe(running.port, running.workers()[0]))
        for target_of in made:
            assert target_of.ask() == 200, target_of.name
        yield {target.name: target for target in made}


def _capture(port: int, worker: int) -> Target:
    url = f"http://127.0.0.1:{port}/"
    return Target("capture", port, worker, "/", lambda: _posted(url, encoded(own_session())))


def _events(port: int, worker: int) -> Target:
    url = f"http://127.0.0.1:{port}/"
    return Target("events", port, worker, "/", lambda: _posted(url, pubsub(encoded(own_session())).body))


def _recall(port: int, worker: int) -> Target:
    url = f"http://127.0.0.1:{port}/api/conversations"
    return Target("recall", port, worker, "/api/context", lambda: httpx.get(url, timeout=_WAIT_S).status_code)


def _store(port: int, worker: int) -> Target:
    path = "/v1/decision-events"
    url = f"http://127.0.0.1:{port}{path}"

    def ask() -> int:
        event = {"type": "note", "runId": str(uuid4()), "timestamp": "2026-03-02T08:15:00Z", "payload": {"a": "b"}}
        return 200 if _posted(url, encoded(event)) == httpx.codes.CREATED else 0

    return Target("store", port, worker, path, ask)


def _posted(url: str, body: bytes) -> int:
    return httpx.post(url, content=body, headers={"Content-Type": "application/json"}, timeout=_WAIT_S).status_code
