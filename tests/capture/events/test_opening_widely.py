"""What senders do to a good delivery, and what ends on its way: neither may make a dead letter of it."""

import itertools
import json

import pytest

from agent.capture.events.opening import delivery_of
from agent.errors import Problem, ValidationError
from tests.capture.events.conftest import events_on, problems_of
from tests.capture.events.envelopes import ENVELOPES, PUBLISHED, Posted, binary, event, pubsub
from tests.live.payloads import BASE_TEXT

PAYLOAD = BASE_TEXT.encode()
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
STRUCTURED = {"Content-Type": "application/cloudevents+json"}


def delivered(posted):
    return delivery_of(posted.environ())


@pytest.mark.parametrize("name", ENVELOPES)
def test_a_byte_order_mark_before_an_envelope_is_skipped_as_before_every_body(name):
    posted = ENVELOPES[name](PAYLOAD)
    assert delivered(posted._replace(body=BYTE_ORDER_MARK + posted.body)).body == PAYLOAD


def test_and_so_is_one_before_the_message_in_an_event():
    inner = BYTE_ORDER_MARK + pubsub(PAYLOAD).body
    assert delivered(Posted(event(data=inner.decode()), STRUCTURED)).body == PAYLOAD


def test_a_member_that_is_null_is_absent():
    data, packed = json.loads(PAYLOAD), "e30="
    assert delivered(Posted(event(data=None, data_base64=packed), STRUCTURED)).body == b"{}"
    assert json.loads(delivered(Posted(event(data=data, data_base64=None), STRUCTURED)).body) == data
    assert delivered(Posted(event(data=None, data_base64=None), STRUCTURED)).body == b""
    assert delivered(Posted(event(data=data, time=None, format=None, traceparent=None), STRUCTURED)).format is None
    with pytest.raises(ValidationError) as raised:
        delivered(Posted(event(data={}, data_base64=packed), STRUCTURED))
    assert raised.value.problems == (Problem("$", "oneOf"),)


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("openai-chat", "openai-chat"),
        ('"openai-chat"', "openai-chat"),
        (r'"openai\-chat"', "openai-chat"),
        ('"openai%2Dchat"', "openai-chat"),
        (r'"a\"b\\"', 'a"b\\'),
        ('"', '"'),
        ('"a"b"', '"a"b"'),
        ("%22a%22", '"a"'),
    ],
)
def test_the_header_of_a_binary_event_may_be_a_quoted_string(header, value):
    posted = binary(PAYLOAD)
    posted.headers["ce-format"] = header
    assert delivered(posted).format == value


def test_of_two_spellings_of_an_attribute_the_small_letters_count_in_whatever_order_they_come():
    spelt = [("format", "native"), ("Format", "gemini"), ("FORMAT", "anthropic")]
    for attributes in itertools.permutations(spelt):
        document = json.loads(pubsub(PAYLOAD).body)
        document["message"]["attributes"] = dict(attributes)
        assert delivered(Posted(json.dumps(document).encode(), {})).format == "native"


@pytest.mark.parametrize("named", [{"CONTENT_LENGTH": "99999"}, {"CONTENT_LENGTH": "", "wsgi.input": None}])
def test_a_delivery_that_breaks_off_comes_again(store, telemetry, named):
    class Gone:
        def read(self, size):
            raise ConnectionResetError

    environ = {**pubsub(PAYLOAD).environ(), **named}
    environ["wsgi.input"] = environ["wsgi.input"] or Gone()
    answer = events_on(store, telemetry).handle(environ)
    assert (answer.status_code, problems_of(answer)) == (503, [("$", "encoding")])


def test_the_instant_of_an_event_is_told_whatever_it_holds():
    assert delivered(Posted(event(data=None, time=PUBLISHED), STRUCTURED)).published == PUBLISHED
