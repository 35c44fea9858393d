"""kill -9 of the function in the middle of a stream of captures: nothing acknowledged is missing, nothing is double.

CRASH_FUNCTION_ROUNDS and CRASH_CAPTURES say how often and how long: 2 x 150 in the suite, 20 x 1 000 in `make crash`.
"""

import os
import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.live.host import FunctionHost, function_host
from tests.live.payloads import encoded
from tests.live.stored import stored
from tests.strategies import fresh_payload

ROUNDS = int(os.environ.get("CRASH_FUNCTION_ROUNDS", "2"))
CAPTURES = int(os.environ.get("CRASH_CAPTURES", "150"))
WRITERS = 4


class Stream:
    """Sends captures from several writers until the function is gone, and remembers what was acknowledged."""

    def __init__(self, host: FunctionHost, payloads: list[dict], killed_after: int) -> None:
        self._host = host
        self._left = list(reversed(payloads))
        self._killed_after = killed_after
        self._once = threading.Lock()
        self.killed = False
        self.acknowledged: list[tuple[str, str]] = []
        self.unanswered: list[dict] = []

    def run(self) -> None:
        with ThreadPoolExecutor(WRITERS) as pool:
            for writer in [pool.submit(self._write) for _ in range(WRITERS)]:
                writer.result()

    def _write(self) -> None:
        with httpx.Client(base_url=self._host.url, timeout=20) as client:
            while self._left:
                payload = self._left.pop()
                try:
                    answer = client.post("/", content=encoded(payload))
                except httpx.TransportError:
                    self.unanswered.append(payload)
                    return
                assert answer.status_code == 200, answer.text
                self.acknowledged.append((payload["session_id"], answer.headers["x-execution-ref"]))
                if len(self.acknowledged) >= self._killed_after and self._once.acquire(blocking=False):
                    self._host.kill()
                    self.killed = True


def test_no_acknowledged_capture_is_missing_and_none_is_double(tmp_path):
    rng = random.Random(4471)
    database = tmp_path / "memory.db"
    acknowledged: list[tuple[str, str]] = []
    unanswered: list[dict] = []
    for _ in range(ROUNDS):
        payloads = [fresh_payload(4) for _ in range(CAPTURES)]
        with function_host(tmp_path, store=f"embedded:{database}", LOG_LEVEL="ERROR") as host:
            stream = Stream(host, payloads, killed_after=rng.randrange(1, CAPTURES - WRITERS))
            stream.run()
        assert stream.killed
        acknowledged += stream.acknowledged
        unanswered += stream.unanswered
    assert unanswered, "no capture was in flight when the function was killed"
    with (
        function_host(tmp_path, store=f"embedded:{database}", LOG_LEVEL="ERROR") as host,
        httpx.Client(base_url=host.url, timeout=20) as client,
    ):
        resent = [client.post("/", content=encoded(payload)) for payload in unanswered]
    assert [answer.status_code for answer in resent] == [200] * len(resent)
    with stored(database) as reader:
        kept = Counter()
        for session_id, execution_ref in acknowledged:
            [event] = reader.events(session_id)
            assert event["runId"] == execution_ref
            kept[session_id] += 1
            assert len(reader.turns(session_id)) == 4
        for payload in unanswered:
            [_] = reader.events(payload["session_id"])
            assert len(reader.turns(payload["session_id"])) == 4
    assert set(kept.values()) == {1}
    late = sum(answer.json()["receipt"]["duplicate"] for answer in resent)
    print(f"{ROUNDS} rounds: {len(acknowledged)} acknowledged, each there once")
    print(f"{len(unanswered)} unanswered, {late} of them had been written")
