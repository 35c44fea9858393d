"""Google's own Pub/Sub emulator pushes to the function: what is published is stored, what is refused is kept."""

import base64
import gzip
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.live.host import FunctionHost, StubStore, function_host, stub_store
from tests.live.payloads import encoded, own_session
from tests.live.pubsub_emulator import Emulator, emulator, missing

TIMEOUT_S = 60

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(missing() is not None, reason=missing() or ""),
]


@pytest.fixture(scope="module")
def pubsub(tmp_path_factory: Any) -> Iterator[Emulator]:
    with emulator(tmp_path_factory.mktemp("emulator")) as running:
        yield running


@pytest.fixture
def store() -> Iterator[StubStore]:
    with stub_store() as store:
        yield store


@pytest.fixture
def function(store: StubStore, tmp_path: Path) -> Iterator[FunctionHost]:
    with function_host(tmp_path, store=store.url, target="capture_event", FUNCTION_SIGNATURE_TYPE="cloudevent") as host:
        yield host


def eventually(found: Callable[[], Any]) -> Any:
    """What ``found`` gives as soon as it is something."""
    end = time.monotonic() + TIMEOUT_S
    while not (value := found()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)
    return value


def stored_inputs(store: StubStore) -> list[Any]:
    return [write.envelope["payload"]["inputs"] for write in store.writes]


def test_what_is_published_is_captured(pubsub: Emulator, store: StubStore, function: FunctionHost) -> None:
    pubsub.topic("one-captures")
    pubsub.push("one-push", "one-captures", f"{function.url}/")
    payload, packed = own_session(), own_session()
    pubsub.publish("one-captures", encoded(payload), source="test")
    assert eventually(lambda: stored_inputs(store)) == [payload]
    pubsub.publish("one-captures", gzip.compress(encoded(packed)), **{"content-encoding": "gzip"})
    eventually(lambda: packed in stored_inputs(store))
    chat = {"session_id": "chat-7", "messages": [{"role": "user", "content": "hi"}]}
    pubsub.publish("one-captures", encoded(chat), format="openai-chat")
    eventually(lambda: any("native" in inputs for inputs in stored_inputs(store)))
    assert len(store.writes) == 3


def test_what_is_published_is_captured_unwrapped(pubsub: Emulator, store: StubStore, function: FunctionHost) -> None:
    pubsub.topic("two-captures")
    pubsub.push("two-push", "two-captures", f"{function.url}/", pushConfig={"noWrapper": {"writeMetadata": True}})
    chat = {"session_id": "chat-7", "messages": [{"role": "user", "content": "hi"}]}
    pubsub.publish("two-captures", encoded(chat), format="openai-chat")
    assert eventually(lambda: stored_inputs(store))[0]["native"] == {"format": "openai-chat"}


def test_what_is_refused_is_kept_where_dead_letters_go(
    pubsub: Emulator, store: StubStore, function: FunctionHost
) -> None:
    pubsub.topic("three-captures")
    pubsub.topic("three-dead")
    pubsub.keep("three-dead-keep", "three-dead")
    policy = {"deadLetterTopic": "projects/test-project/topics/three-dead", "maxDeliveryAttempts": 5}
    retry = {"minimumBackoff": "0.1s", "maximumBackoff": "0.5s"}
    pubsub.push("three-push", "three-captures", f"{function.url}/", deadLetterPolicy=policy, retryPolicy=retry)
    pubsub.publish("three-captures", b'{"turns": []}', source="test")
    [dead] = eventually(lambda: pubsub.pulled("three-dead-keep"))
    assert base64.b64decode(dead["data"]) == b'{"turns": []}'
    # A dead letter has another id; the instant of its publication is what the log and the letter share.
    lines = [line for line in function.log_lines() if line["message"] == "request refused"]
    published = datetime.fromisoformat(dead["attributes"]["CloudPubSubDeadLetterSourceTopicPublishTime"])
    assert {datetime.fromisoformat(line["published"]) for line in lines} == {published}
    [message_id] = {line["message_id"] for line in lines}
    assert message_id.isdigit()
    assert store.writes == []
