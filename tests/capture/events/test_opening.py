"""Each envelope gives its payload's own bytes, and what it says of them."""

import base64
import gzip
import json
import tracemalloc

import pytest

from agent.capture.events.delivery import MAX_DELIVERY_BYTES, MAX_ENVELOPE_BYTES
from agent.capture.events.opening import delivery_of, opened
from agent.edge.body import MAX_BODY_BYTES
from agent.errors import PayloadTooLarge, Problem, ValidationError
from tests.capture.events.envelopes import (
    ENVELOPES,
    PUBLISHED,
    Posted,
    bare,
    binary,
    event,
    eventarc,
    pubsub,
    structured,
    structured_base64,
    structured_message,
    unwrapped,
)
from tests.live.payloads import BASE_TEXT

PAYLOAD = BASE_TEXT.encode()
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
STRUCTURED = {"Content-Type": "application/cloudevents+json"}


def delivered(posted):
    return delivery_of(posted.environ())


def refused(posted):
    with pytest.raises(ValidationError) as raised:
        raise_what_is_refused(delivered(posted))
    return raised.value.problems


def raise_what_is_refused(delivery):
    if delivery.refusal is not None:
        raise delivery.refusal


@pytest.mark.parametrize("name", ENVELOPES)
def test_the_payload_comes_out_as_it_was_put_in(name):
    assert delivered(ENVELOPES[name](PAYLOAD)).body == PAYLOAD


@pytest.mark.parametrize("name", sorted(set(ENVELOPES) - {"bare"}))
def test_the_format_that_an_envelope_names_and_its_instant_are_told(name):
    delivery = delivered(ENVELOPES[name](PAYLOAD, format="openai-chat"))
    assert (delivery.format, delivery.published) == ("openai-chat", PUBLISHED)


def test_what_stands_nearest_to_the_payload_counts():
    posted = eventarc(PAYLOAD, format="anthropic", traceparent=TRACE)
    posted.headers.update({"ce-format": "gemini", "ce-traceparent": "00-other", "ce-time": "2026-01-01T00:00:00Z"})
    delivery = delivered(posted)
    assert (delivery.format, delivery.traceparent, delivery.published) == ("anthropic", TRACE, PUBLISHED)
    posted = eventarc(PAYLOAD)
    posted.headers.update({"ce-format": "gemini", "ce-traceparent": TRACE})
    assert delivered(posted)[1:3] == ("gemini", TRACE)


@pytest.mark.parametrize("attribute", ["traceparent", "googclient_traceparent", "Traceparent"])
def test_the_trace_of_the_publisher_is_told(attribute):
    document = json.loads(pubsub(PAYLOAD).body)
    document["message"]["attributes"] = {attribute: TRACE}
    assert delivered(Posted(json.dumps(document).encode(), {})).traceparent == TRACE
    assert delivered(structured(PAYLOAD, traceparent=TRACE)).traceparent == TRACE
    assert delivered(binary(PAYLOAD, traceparent=TRACE)).traceparent == TRACE


def test_the_attempt_is_told_where_the_subscription_counts_them():
    assert delivered(pubsub(PAYLOAD, attempt=5)).attempt == 5
    assert delivered(pubsub(PAYLOAD, attempt=None)).attempt is None
    assert delivered(structured_message(PAYLOAD)).attempt == 2
    assert delivered(unwrapped(PAYLOAD)).attempt is None


@pytest.mark.parametrize("name", ENVELOPES)
def test_what_pubsub_calls_a_message_is_told_and_the_id_of_another_event_is_not(name):
    comes_from_pubsub = name in {"pubsub", "unwrapped", "eventarc", "structured message"}
    assert delivered(ENVELOPES[name](PAYLOAD)).message_id == ("2070443601311540" if comes_from_pubsub else None)


def test_a_message_that_cannot_be_unpacked_is_known_by_its_id_all_the_same():
    delivery = delivered(pubsub(gzip.compress(PAYLOAD)[:-9], content_encoding="gzip", traceparent=TRACE))
    assert (delivery.message_id, delivery.published, delivery.traceparent) == ("2070443601311540", PUBLISHED, TRACE)
    assert (delivery.body, delivery.refusal.problems) == (b"", (Problem("$", "encoding"),))


def test_an_id_that_is_no_string_is_none():
    document = json.loads(pubsub(PAYLOAD).body)
    document["message"]["messageId"] = 7
    assert delivered(Posted(json.dumps(document).encode(), {})).message_id is None


def test_a_header_is_an_attribute_only_beside_pubsubs_own():
    assert delivered(Posted(PAYLOAD, {"format": "gemini"})).format is None
    assert delivered(unwrapped(PAYLOAD, format="gemini")).format == "gemini"


def test_what_a_binary_events_headers_hold_is_percent_encoded():
    assert delivered(binary(PAYLOAD, format="openai%2Dchat")).format == "openai-chat"


def test_a_compressed_payload_is_inflated_where_its_envelope_says_so():
    packed = gzip.compress(PAYLOAD)
    assert delivered(pubsub(packed, content_encoding="gzip")).body == PAYLOAD
    assert delivered(pubsub(packed, Content_Encoding="gzip")).body == PAYLOAD
    assert delivered(pubsub(PAYLOAD, content_encoding="identity")).body == PAYLOAD
    assert delivered(eventarc(packed, content_encoding="gzip")).body == PAYLOAD
    assert delivered(unwrapped(packed, content_encoding="gzip")).body == PAYLOAD
    assert refused(pubsub(packed, content_encoding="br")) == (Problem("$", "encoding"),)
    assert refused(pubsub(packed[:-9], content_encoding="gzip")) == (Problem("$", "encoding"),)


def test_the_requests_own_compression_is_undone_as_well():
    posted = pubsub(PAYLOAD)
    packed = Posted(gzip.compress(posted.body), {**posted.headers, "Content-Encoding": "gzip"})
    assert delivered(packed).body == PAYLOAD


def test_base64_may_have_its_slashes_escaped():
    payload = b"\xff\xff\xfe" * 10
    posted = pubsub(payload)
    assert b"/" in posted.body
    escaped = posted.body.replace(b"/", rb"\/")
    assert opened(escaped, {}).body == payload


@pytest.mark.parametrize("data", ["e30", "e30=\n", "e_-=", "e30==", "\u00e9", "e30\x00"])
def test_what_is_no_base64_is_refused(data):
    document = json.loads(pubsub(PAYLOAD).body)
    document["message"]["data"] = data
    assert refused(Posted(json.dumps(document).encode(), {})) == (Problem("$.message.data", "encoding"),)
    assert refused(Posted(event(data_base64=data), STRUCTURED)) == (Problem("$.data_base64", "encoding"),)


def test_a_message_without_data_is_an_empty_payload():
    for message in ({"messageId": "1", "attributes": {"a": "b"}}, {"messageId": "1", "data": None}):
        assert delivered(Posted(json.dumps({"message": message}).encode(), {})).body == b""
    assert delivered(Posted(event(), STRUCTURED)).body == b""
    assert delivered(Posted(event(data=None), STRUCTURED)).body == b""


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"data": 7}, Problem("$.message.data", "type")),
        ({"attributes": []}, Problem("$.message.attributes", "type")),
        ({"attributes": {"format": 7}}, Problem("$.message.attributes.format", "type")),
        ({"attributes": {"format": float("nan")}}, Problem("$", "json")),
    ],
)
def test_an_envelope_of_pubsub_that_does_not_hold_is_refused(change, problem):
    document = json.loads(pubsub(PAYLOAD).body)
    document["message"].update(change)
    assert refused(Posted(json.dumps(document).encode(), {})) == (problem,)


def test_what_counts_for_nothing_is_passed_over_whatever_it_is():
    document = json.loads(pubsub(PAYLOAD).body)
    document.update(deliveryAttempt="soon", subscription=7, later={"a": [1.5, None]})
    document["message"].update(publishTime=7, orderingKey="k", attributes={"other": "x"})
    delivery = delivered(Posted(json.dumps(document).encode(), {}))
    assert (delivery.body, delivery.attempt, delivery.published) == (PAYLOAD, None, None)
    assert delivered(Posted(event(data=json.loads(PAYLOAD), time=7, other={"a": 1}), STRUCTURED)).published is None


def test_two_payloads_in_one_envelope_are_refused():
    message = b'{"message":{"messageId":"1","data":"e30=","data":"e30="}}'
    assert refused(Posted(message, {})) == (Problem("$", "duplicate_key"),)
    both = event(data={}, data_base64="e30=")
    assert refused(Posted(both, STRUCTURED)) == (Problem("$", "oneOf"),)


@pytest.mark.parametrize("name", ["specversion", "id", "source", "type"])
def test_an_event_without_a_required_attribute_is_refused(name):
    whole = json.loads(event(data={}))
    del whole[name]
    assert refused(Posted(json.dumps(whole).encode(), STRUCTURED)) == (Problem(f"$.{name}", "required"),)
    posted = binary(PAYLOAD)
    del posted.headers[f"ce-{name}"]
    assert refused(posted) == (Problem(f"$.{name}", "required"),)
    assert refused(Posted(event(**{name: 1}), STRUCTURED)) == (Problem(f"$.{name}", "type"),)
    assert refused(Posted(event(**{name: ""}), STRUCTURED)) == (Problem(f"$.{name}", "type"),)


def test_another_version_of_cloudevents_is_refused():
    assert refused(Posted(event(specversion="0.3"), STRUCTURED)) == (Problem("$.specversion", "const"),)
    posted = binary(PAYLOAD)
    posted.headers["ce-specversion"] = "2.0"
    assert refused(posted) == (Problem("$.specversion", "const"),)


@pytest.mark.parametrize("name", ["format", "traceparent"])
def test_an_extension_attribute_that_is_no_string_is_refused(name):
    assert refused(Posted(event(data={}, **{name: 1}), STRUCTURED)) == (Problem(f"$.{name}", "type"),)


@pytest.mark.parametrize(
    "label", ["application/cloudevents-batch+json", "Application/CloudEvents+Avro", "application/cloudevents+xml; a=b"]
)
def test_batches_and_other_formats_than_json_are_refused_before_they_are_read(label):
    posted = Posted(b"[]", {"Content-Type": label})
    environ = posted.environ()
    with pytest.raises(ValidationError) as raised:
        delivery_of(environ)
    assert raised.value.problems == (Problem("$", "unsupported"),)
    assert environ["wsgi.input"].tell() == 0


@pytest.mark.parametrize("body", [b"", b"[", b"7", b"{}{", b"[{}]"])
def test_what_is_no_object_goes_to_the_capture_to_be_refused(body):
    assert delivered(Posted(body, STRUCTURED)).body == body
    assert delivered(Posted(body, {})).body == body


def test_a_conversation_is_no_envelope_whatever_its_members_are_called():
    mixed = json.dumps(
        {**json.loads(PAYLOAD), "specversion": "1.0", "message": {"data": "e30="}, "subscription": "s", "data": {}}
    ).encode()
    assert delivered(bare(mixed)).body == mixed
    other = b'{"message": "text", "subscription": "s"}'
    assert delivered(bare(other)).body == other
    other = b'{"message": {"role": "user", "content": "hi"}}'
    assert delivered(bare(other)).body == other


def test_a_payload_of_just_the_bound_is_taken_in_every_envelope_and_one_byte_more_is_not():
    fits = b'{"a":"' + b"x" * (MAX_BODY_BYTES - 8) + b'"}'
    for name, envelope in ENVELOPES.items():
        assert delivered(envelope(fits)).body == fits, name
        more = fits + b" " if name != "structured" else fits.replace(b"xx", b"xxx", 1)
        with pytest.raises(PayloadTooLarge) as raised:
            raise_what_is_refused(delivered(envelope(more)))
        assert raised.value.problems == (Problem("$", "size"),)
    packed = gzip.compress(fits + b" ")
    with pytest.raises(PayloadTooLarge):
        raise_what_is_refused(delivered(pubsub(packed, content_encoding="gzip")))


def test_a_delivery_beyond_its_own_bound_is_refused_before_it_is_read():
    environ = {**pubsub(PAYLOAD).environ(), "CONTENT_LENGTH": str(MAX_DELIVERY_BYTES + 1)}
    with pytest.raises(PayloadTooLarge):
        delivery_of(environ)
    assert environ["wsgi.input"].tell() == 0


def test_an_envelope_is_small():
    assert delivered(pubsub(PAYLOAD, x="a" * (MAX_ENVELOPE_BYTES - 1000))).body == PAYLOAD
    for posted in (pubsub(PAYLOAD, x="a" * MAX_ENVELOPE_BYTES), structured(PAYLOAD, x="a" * MAX_ENVELOPE_BYTES)):
        with pytest.raises(PayloadTooLarge) as raised:
            delivered(posted)
        assert raised.value.problems == (Problem("$", "size"),)


def test_opening_takes_little_more_memory_than_what_it_opens():
    posted = pubsub(b"x" * MAX_BODY_BYTES)
    tracemalloc.start()
    try:
        opened(posted.body, {})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 12 * 2**20


def test_an_envelope_of_base64_text_alone_is_an_event_too():
    data = base64.b64encode(PAYLOAD).decode()
    assert delivered(structured_base64(PAYLOAD)).body == PAYLOAD
    assert delivered(Posted(event(data_base64=data), {"Content-Type": "text/plain"})).body == PAYLOAD
