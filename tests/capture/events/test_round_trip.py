"""A law: whatever the capture takes over HTTP, it takes in every envelope, and stores the same event."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.capture.events.conftest import events_on
from tests.capture.events.envelopes import ENVELOPES
from tests.capture.fakes import FakeStore, FakeTelemetry, app
from tests.live.payloads import BASE_TEXT
from tests.strategies import payloads

# What differs from run to run, whatever brought the capture.
MEASURED = ("telemetry",)
written = st.builds(
    lambda payload, indent, ascii_only: json.dumps(payload, indent=indent, ensure_ascii=ascii_only).encode(),
    payloads(),
    st.sampled_from([None, 1, "\t"]),
    st.booleans(),
)


def stored(store):
    [envelope] = store.appended
    event = {name: value for name, value in envelope["payload"].items() if name not in MEASURED}
    return {**envelope, "payload": event}, store.keys


def over_http(payload, query=""):
    store = FakeStore()
    environ = {**ENVELOPES["bare"](payload).environ(), "QUERY_STRING": query}
    assert app(store, FakeTelemetry()).handle(environ).status_code == 200
    return stored(store)


def in_envelope(name, payload, **attributes):
    store = FakeStore()
    answer = events_on(store, FakeTelemetry()).handle(ENVELOPES[name](payload, **attributes).environ())
    assert answer.status_code == 200, answer.get_data()
    return stored(store)


@pytest.mark.parametrize("name", ENVELOPES)
@given(payload=written)
@settings(max_examples=40, deadline=None)
def test_the_same_capture_is_the_same_event_whatever_brings_it(name, payload):
    assert in_envelope(name, payload) == over_http(payload)


@pytest.mark.parametrize("name", ENVELOPES)
@pytest.mark.parametrize(
    "payload",
    [
        ("\ufeff" + BASE_TEXT).encode(),
        b'{"payload":' + BASE_TEXT.encode() + b"}",
        BASE_TEXT.replace("parcel", r"p\u0061rcel \u0000 \ud83d\ude00 \/").encode(),
        BASE_TEXT.replace('"model"', '"metadata":{"n":12345678901234567890123,"x":1.50,"deep":' + "[" * 124 + "]" * 124
                          + '},"model"').encode(),
    ],
    ids=["byte order mark", "wrapper", "escapes", "numbers and depth"],
)  # fmt: skip
def test_what_is_hard_to_carry_arrives_as_it_was_sent(name, payload):
    if name == "structured" and payload.startswith(b"\xef\xbb\xbf"):
        # No value begins with one, so no JSON text can hold it there.
        payload = payload[3:]
    assert in_envelope(name, payload) == over_http(payload)


@pytest.mark.parametrize("name", ENVELOPES)
def test_a_foreign_body_is_the_same_event_too(name):
    body = json.dumps({"session_id": "chat-7", "messages": [{"role": "user", "content": "hé"}]}).encode()
    assert in_envelope(name, body, format="openai-chat") == over_http(body, "format=openai-chat")
