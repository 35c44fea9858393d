"""Many who write at once and one who follows: in threads of this process, and as processes of their own.

``python -m tests.store.concurrent write URL NAME EACH`` appends from several threads and prints what was acknowledged.
``python -m tests.store.concurrent follow URL`` follows the feed until its standard input ends, and prints what it saw.
Both print a position and an execution_ref a line.
"""

import json
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from store.errors import Unavailable
from store.log.capture import read_capture
from store.log.envelope import read_envelope
from store.port import Store, Submission
from store.urls import open_store
from tests.store.surface import SESSION, Surface, clock, envelope, payload, ref_of, turn

# A position and the execution_ref that stands there.
Placed = tuple[int, str]
Append = Callable[[dict[str, Any]], int]

ONE = "one session"
MANY = "many sessions"
THREADS_OF_A_PROCESS = 8
_CAPTURES_A_SESSION = 20
_PAUSE_S = 0.005
_PAGE = 200


def captures(writer: str, count: int, spread: str) -> Iterator[dict[str, Any]]:
    """Envelopes of one writer: two new turns each, and every third time those of the capture before it as well.

    They are of one session that all writers share, or of a new one now and then.
    """
    before: list[dict[str, Any]] = []
    for number in range(count):
        if number % _CAPTURES_A_SESSION == 0:
            before = []
        session = SESSION if spread == ONE else ref_of(f"{writer} {number // _CAPTURES_A_SESSION}")
        new = [turn(place, f"{writer} {number}", turn_id=ref_of(f"{writer} {number} {place}")) for place in (1, 2)]
        turns = [*before, *new] if number % 3 == 2 else new
        sent = payload(*turns, session=session, conversation=ref_of(f"{writer} conversation {session}"))
        yield envelope(sent, execution_ref=ref_of(f"{writer} event {number}"))
        before = new


def to_store(store: Store, *, again: bool = True) -> Append:
    """Appends to ``store`` in process; as a client does, ``again`` where it is told to come back."""

    def append(body: dict[str, Any]) -> int:
        event = read_envelope(json.dumps(body).encode())
        submission = Submission(event, read_capture(event), None, str(uuid.uuid4()), clock())
        while True:
            try:
                return store.append(submission).position
            except Unavailable:
                if not again:
                    raise
                time.sleep(_PAUSE_S)

    return append


def to_server(client: httpx.Client) -> Append:
    """Appends over HTTP."""

    def append(body: dict[str, Any]) -> int:
        answer = client.post("/v1/decision-events", json=body)
        assert answer.status_code == 201, answer.text
        position: int = answer.json()["position"]
        return position

    return append


def write(append: Append, name: str, writers: int, each: int, spread: str) -> list[Placed]:
    """``each`` of so many writers at once appends so much; what was acknowledged, in no order."""
    start = threading.Barrier(writers)

    def one(number: int) -> list[Placed]:
        bodies = captures(f"{name} {number}", each, spread)
        start.wait(timeout=60)
        return [(append(body), body["runId"]) for body in bodies]

    with ThreadPoolExecutor(writers) as threads:
        return [placed for acknowledged in threads.map(one, range(writers)) for placed in acknowledged]


class Follower:
    """Reads the feed by ``next_cursor`` alone, page by page, until it is ``over`` and nothing follows."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self.over = threading.Event()
        self.seen: list[Placed] = []
        self.pages = 0

    def follow(self) -> list[Placed]:
        after: str | None = None
        while True:
            was_over = self.over.is_set()
            answer = self._client.get(
                "/events/decisions", params={"limit": _PAGE, **({} if after is None else {"after": after})}
            )
            assert answer.status_code == 200, answer.text
            page = answer.json()
            self.seen += [(event["position"], event["runId"]) for event in page["events"]]
            after = page["next_cursor"]
            if page["events"]:
                self.pages += 1
            elif was_over:
                return self.seen
            else:
                time.sleep(_PAUSE_S)


def followed(client: httpx.Client, writing: Callable[[], list[Placed]]) -> tuple[list[Placed], Follower]:
    """What ``writing`` had acknowledged, and who followed meanwhile and saw everything to its end."""
    follower = Follower(client)
    with ThreadPoolExecutor(1) as threads:
        following = threads.submit(follower.follow)
        try:
            acknowledged = writing()
        finally:
            follower.over.set()
        following.result()
    return acknowledged, follower


def _print(placed: list[Placed]) -> None:
    sys.stdout.write("".join(f"{position} {ref}\n" for position, ref in placed))


def _follow_until_input_ends(surface: Surface) -> None:
    follower = Follower(surface.client)
    with ThreadPoolExecutor(1) as threads:
        following = threads.submit(follower.follow)
        sys.stdin.read()
        follower.over.set()
        _print(following.result())


def main(what: str, url: str, *more: str) -> None:
    surface = Surface(open_store(url))
    if what == "write":
        name, each = more
        _print(write(to_store(surface.store), name, THREADS_OF_A_PROCESS, int(each), ONE))
    else:
        _follow_until_input_ends(surface)
    surface.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
