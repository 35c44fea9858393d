"""Eight large bodies at once take the memory of one: killed for them, an instance would be sent all eight again."""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from benchmarks.hostile_bodies import ACCEPTED
from tests.capture.events.envelopes import Posted, bare, pubsub
from tests.live.host import Reply, StubStore, function_host, stub_store
from tests.live.payloads import encoded, own_session

pytestmark = pytest.mark.slow

MEMORY_MIB = 256
AT_ONCE = 8
ENVELOPES: dict[str, Callable[..., Posted]] = {"handler": bare, "capture_event": pubsub}


def said() -> bytes:
    """A conversation of 9 MB: turns of some hundred words each."""
    text = "The parcel left the depot in Bern this morning and is on its way. " * 20
    payload = own_session()
    payload["turns"] = [turn for _ in range(3200) for turn in own_session()["turns"]]
    for turn in payload["turns"]:
        turn["content"] = text
    return encoded(payload)


def hardest() -> bytes:
    """The 10 MiB that take the most memory of all."""
    [body] = [body for body in ACCEPTED if body.name == "openai-chat, a text in parts with an emoji"]
    return body.make()


@pytest.fixture(scope="module")
def store() -> Iterator[StubStore]:
    with stub_store() as store:
        yield store


def sent_until_captured(url: str, posted: Posted) -> int:
    """Send as a queue does, and give how often that was; whoever waited too long is told so, and nobody else fails."""
    for attempt in range(1, 20):
        answer = httpx.post(f"{url}/?{posted.query}", content=posted.body, headers=posted.headers, timeout=120)
        if answer.status_code == 200:
            return attempt
        assert answer.status_code in {429, 503}, answer.text
        assert answer.json()["error"]["details"] == {"limit": "memory"}
        assert int(answer.headers["Retry-After"]) > 0
    raise AssertionError("it was never captured")


def most_memory(pid: int) -> float:
    """The peak resident size of a process, in MiB."""
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert peak is not None
    return int(peak[1]) / 1024


@pytest.mark.parametrize("target", ENVELOPES)
@pytest.mark.parametrize(("body", "named"), [(said, {}), (hardest, {"format": "openai-chat"})])
def test_eight_at_once_are_captured_within_the_functions_memory(
    store: StubStore, tmp_path: Path, target: str, body: Callable[[], bytes], named: dict[str, str]
) -> None:
    store.reply = lambda _count: Reply()
    posted = ENVELOPES[target](body(), **named)
    with function_host(tmp_path, store=store.url, target=target, THREADS=str(AT_ONCE)) as host:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            attempts = list(pool.map(lambda _: sent_until_captured(host.url, posted), range(AT_ONCE)))
        [worker] = host.workers()
        peak = most_memory(worker)
    store.writes.clear()
    print(f"{target}: {len(posted.body)} bytes, {AT_ONCE} at once, {sum(attempts)} requests, {peak:.0f} MiB")
    assert peak < MEMORY_MIB
