"""Nothing is lost and nothing doubled while the store is down: 2 000 messages, each twice and in no order, and a kill.

QUEUE_MESSAGES says how many.
"""

import os
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import pytest

from agent.bootstrap import store_client
from agent.config import Settings
from agent.core.history import history
from agent.recall.turns import session_turns
from tests.capture.events.envelopes import Posted, binary, eventarc, pubsub, structured, unwrapped
from tests.cli.store.server import StoreServer, store_server
from tests.live.host import free_port, function_host
from tests.live.payloads import encoded
from tests.live.queue_traffic import Conversation, Queue, conversation
from tests.store.postgres_server import server

MESSAGES = int(os.environ.get("QUEUE_MESSAGES", "2000"))
CAPTURES = 20
SEED = 4471
TIMEOUT_S = 400
POISON = [b"", b"{}", b'{"session_id":'] * 2

pytestmark = pytest.mark.slow


class Outage:
    """A store's server that is killed, and started again on its address once that was felt."""

    def __init__(self, folder: Path, url: str, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._variables = {"RUVECTOR_STORE": url}
        self._port = free_port()
        self.server = self._started("first")
        self._revived = threading.Thread()

    def begin(self, queue: Queue) -> None:
        os.killpg(self.server.process.pid, signal.SIGKILL)
        assert self.server.process.wait(30) == -signal.SIGKILL
        self._revived = threading.Thread(target=self._end, args=[queue])
        self._revived.start()

    def over(self) -> None:
        self._revived.join()

    def _end(self, queue: Queue) -> None:
        try:
            queue.wait_for_failures(20, TIMEOUT_S)
        finally:
            self.server = self._started("second")

    def _started(self, name: str) -> StoreServer:
        folder = self._folder / name
        folder.mkdir()
        return self._stack.enter_context(store_server(folder, "--port", str(self._port), **self._variables))


@pytest.fixture
def database() -> Iterator[str]:
    with server().database() as url:
        yield url


def published(conversations: list[Conversation], rng: random.Random) -> list[Posted]:
    """Each capture twice, in whatever envelope, all in no order, with what nobody could take in between."""
    envelopes = [pubsub, pubsub, unwrapped, eventarc, structured, binary]
    payloads = [encoded(payload) for one in conversations for payload in one.captures]
    deliveries = [rng.choice(envelopes)(payload) for payload in payloads for _ in range(2)]
    deliveries += [pubsub(payload) for payload in POISON]
    rng.shuffle(deliveries)
    return deliveries


def test_each_message_is_one_event_and_each_session_in_order_whatever_happens_to_the_store(
    tmp_path: Path, database: str
) -> None:
    rng = random.Random(SEED)
    conversations = [conversation(rng, captures=CAPTURES) for _ in range(MESSAGES // CAPTURES)]
    deliveries = published(conversations, rng)
    with ExitStack() as stack:
        outage = Outage(tmp_path, database, stack)
        store = outage.server.url
        variables = {"FUNCTION_SIGNATURE_TYPE": "cloudevent", "RUVECTOR_DEADLINE_S": "5", "LOG_LEVEL": "ERROR"}
        host = stack.enter_context(function_host(tmp_path, store=store, target="capture_event", **variables))
        queue = Queue(host.url, deliveries, after=MESSAGES, when=lambda: outage.begin(queue))
        queue.run(timeout_s=TIMEOUT_S)
        outage.over()
        assert sorted(posted.body for posted in queue.dead) == sorted(pubsub(payload).body for payload in POISON)
        assert queue.acknowledged == 2 * MESSAGES
        assert httpx.get(f"{store}/v1/stats", timeout=60).json()["events"] == MESSAGES
        _every_session_is_in_order(store, conversations)
    print(f"{MESSAGES} messages, {queue.failures} deliveries that failed, {queue.duplicates} answered as duplicates")


def _every_session_is_in_order(store: str, conversations: list[Conversation]) -> None:
    with closing(store_client(Settings.from_env({"RUVECTOR_SERVICE_URL": store}))) as client:
        for one in conversations:
            turns = session_turns(client.reads, one.session_id)
            said = [turn["turn_id"] for turn in one.turns]
            assert {turn.turn_id: turn.parent_turn_id for turn in turns} == dict(zip(said, [None, *said], strict=False))
            assert [turn.turn_id for turn in history(turns)] == said
            assert [turn.content for turn in history(turns)] == [turn["content"] for turn in one.turns]
