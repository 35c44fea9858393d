"""Whoever asks for less content is heard wherever he asks, or refused: no such request is passed over (CONTRACT 8)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from agent.capture.events.opening import delivery_of
from agent.capture.request import NATIVE, CaptureRequest
from agent.core.canonical import inputs_hash
from agent.errors import Problem, ValidationError
from agent.formats import READS
from tests.capture.cases import BASE, changed
from tests.capture.events import envelopes
from tests.capture.fakes import EXECUTION_REF, FakeSpans, FakeStore, service
from tests.fuzz.corpus import foreign

Body = dict[str, Any]

SPOKEN = "write to ann@example.org"
NONE = {"content": "none"}
ASKS = {"capture_options": NONE}
ASKED = {"role": "user", "content": SPOKEN}
BODIES: dict[str, Body] = {
    NATIVE: changed("turns", 0, "content", SPOKEN),
    **{name: json.loads(body) for name, body in foreign(1)},
    "openai-chat": {"session_id": "s-1", "messages": [ASKED]},
    "anthropic": {"session_id": "s-1", "system": SPOKEN, "messages": [ASKED]},
}
WITHOUT = {name: {key: value for key, value in body.items() if key != "session_id"} for name, body in BODIES.items()}

# Where somebody puts it, in the body of any format.
PLACES: dict[str, Callable[[Body], Body]] = {
    "at the top": lambda body: body | ASKS,
    "beside the payload": lambda body: {"payload": body} | ASKS,
    "in the payload": lambda body: {"payload": body | ASKS},
    "beside one that asks for all": lambda body: {"payload": body | {"capture_options": {"content": "full"}}} | ASKS,
    "in one beside which all is asked for": lambda body: {
        "capture_options": {"content": "full"}, "payload": body | ASKS
    },
    "beside one with other options": lambda body: {
        "payload": body | {"capture_options": {"create_lineage": False}}
    } | ASKS,
}  # fmt: skip


def captured(body: Body, form: str = NATIVE) -> tuple[dict[str, Any], dict[str, Any]]:
    """The event that is stored, and the answer."""
    store = FakeStore()
    request = CaptureRequest(json.dumps(body).encode(), form, None, EXECUTION_REF)
    answer = json.loads(service(store).capture(request, FakeSpans()).body)
    return store.appended[0]["payload"], answer


def warned(answer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["path"], each["rule"]) for each in answer["warnings"]]


def refused(body: Body, form: str = NATIVE) -> list[Problem]:
    with pytest.raises(ValidationError) as error:
        captured(body, form)
    assert error.value.status == 400
    return list(error.value.problems)


def assert_is_heard(event: dict[str, Any]) -> None:
    assert event["constraints_applied"][-1] == "content_omitted"
    assert event["inputs"]["capture_options"]["content"] == "none"
    assert all(not turn["content"] or turn["content"].startswith("[omitted:") for turn in event["inputs"]["turns"])
    assert "ann@example.org" not in json.dumps(event)


@pytest.mark.parametrize("form", [NATIVE, *READS])
@pytest.mark.parametrize("place", PLACES)
def test_whoever_asks_is_heard_in_every_format(place: str, form: str) -> None:
    event, _ = captured(PLACES[place](BODIES[form]), form)
    assert_is_heard(event)


@pytest.mark.parametrize("form", [NATIVE, *READS])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("wrong", [{"content": "NONE"}, {"content": None}, {"content": ["none"]}, "none", ["none"]])
def test_whoever_asks_for_what_there_is_not_is_refused(place: str, form: str, wrong: Any) -> None:
    asked = json.loads(json.dumps(PLACES[place](BODIES[form])).replace(json.dumps(NONE), json.dumps(wrong)))
    assert all(problem.path.startswith("$.capture_options") for problem in refused(asked, form))


# Recorded calls, and what else stands around a conversation.

ANSWER = {"id": "m", "type": "message", "role": "assistant", "content": [{"type": "text", "text": SPOKEN}]}
SENT = {"model": "m", "system": SPOKEN, "messages": [ASKED]}
RECORDED: dict[str, Body] = {
    "beside the request": {"request": SENT, "response": ANSWER} | ASKS,
    "in the request": {"request": SENT | ASKS, "response": ANSWER},
    "beside the request's body": {"request": {"body": SENT} | ASKS, "response": {"body": ANSWER}},
    "in the request's body": {"request": {"body": SENT | ASKS}, "response": {"body": ANSWER}},
    "in a body of text": {"request": {"body": json.dumps(SENT | ASKS)}, "response": {"body": json.dumps(ANSWER)}},
    "beside a listed call": {"interactions": [{"request": SENT, "response": ANSWER} | ASKS]},
    "in a listed call": {"interactions": [{"request": SENT | ASKS, "response": ANSWER}]},
    "in what is wrapped": {"data": SENT | ASKS},
    "beside what is wrapped": {"source": "a", "data": SENT} | ASKS,
    "in a payload within": {"body": {"request": SENT | ASKS, "response": ANSWER}},
}
WRAPPED: dict[str, Callable[[Body], Body]] = {
    "as it is": lambda body: {"session_id": "s-1", **body},
    "as a payload": lambda body: {"payload": {"session_id": "s-1", **body}},
}


@pytest.mark.parametrize("wrapped", WRAPPED)
@pytest.mark.parametrize("place", RECORDED)
def test_whoever_asks_in_a_recording_or_a_wrapper_is_heard(place: str, wrapped: str) -> None:
    event, _ = captured(WRAPPED[wrapped](RECORDED[place]), "anthropic")
    assert_is_heard(event)


def test_a_request_that_asks_for_what_there_is_not_is_refused_by_its_path() -> None:
    call = {"request": SENT | {"capture_options": {"content": "some"}}, "response": ANSWER}
    assert refused({"session_id": "s", **call}, "anthropic") == [Problem("$.request.capture_options.content", "enum")]
    assert refused({"session_id": "s", "interactions": [call]}, "anthropic") == [
        Problem("$.interactions[0].request.capture_options.content", "enum")
    ]
    call["request"]["capture_options"] = {"create_lineage": "no"}
    assert refused({"session_id": "s", **call}, "anthropic") == [
        Problem("$.request.capture_options.create_lineage", "type")
    ]
    assert refused({"session_id": "s", **call, "capture_options": "none"}, "anthropic")[0] == Problem(
        "$.capture_options", "type"
    )


def test_the_outer_options_of_a_recording_win_and_the_narrower_content() -> None:
    inner = {"content": "redacted", "create_lineage": False, "extract_entities": True}
    call = {"request": SENT | {"capture_options": inner}, "response": ANSWER}
    outer = {"content": "full", "create_lineage": True}
    event, answer = captured({"session_id": "s", **call, "capture_options": outer}, "anthropic")
    assert event["inputs"]["capture_options"] == {
        "content": "redacted", "create_lineage": True, "extract_entities": True
    }  # fmt: skip
    assert ("$.request.capture_options.create_lineage", "ignored") in warned(answer)


def test_what_a_message_says_of_options_is_content() -> None:
    """A conversation about this very interface: a tool was called with them."""
    call = {"type": "tool_use", "id": "c", "name": "capture", "input": ASKS}
    said = [ASKED, {"role": "assistant", "content": [call]}]
    event, _ = captured({"session_id": "s", "messages": said}, "anthropic")
    assert event["inputs"]["turns"][0]["content"] == SPOKEN
    assert event["inputs"]["turns"][1]["tool_invocations"][0]["arguments"] == ASKS


# What stands beside a payload.


def test_options_beside_the_payload_are_those_of_the_payload() -> None:
    inside, beside = ({**BASE, **ASKS}, {"payload": BASE, **ASKS})
    assert captured(beside)[0]["inputs_hash"] == captured(inside)[0]["inputs_hash"] == inputs_hash(inside)
    event, answer = captured({"payload": BASE, "capture_options": {"create_lineage": False}})
    assert event["inputs"] == {**BASE, "capture_options": {"create_lineage": False}}
    assert event["stored_inputs_hash"] == event["inputs_hash"]
    assert answer["warnings"] == []


@pytest.mark.parametrize("form", [NATIVE, "openai-chat"])
@pytest.mark.parametrize("own", [None, {}, {"content": "redacted"}, {"create_lineage": False, "derive_ids": False}])
def test_options_beside_a_payload_that_change_nothing_leave_it_as_it_is(own: Any, form: str) -> None:
    payload = BODIES[form] if own is None else BODIES[form] | {"capture_options": own}
    alone, _ = captured(payload, form)
    of_defaults = {"content": "full", "extract_entities": False, "derive_ids": False, "compute_embeddings": False}
    for beside in ({}, None, {"content": "full"}, of_defaults):
        event, answer = captured({"payload": payload, "capture_options": beside}, form)
        assert (event["inputs_hash"], event["inputs"]) == (alone["inputs_hash"], alone["inputs"])
        assert not [path for path, _ in warned(answer) if path.startswith("$.capture_options")]
    event, answer = captured({"payload": payload, "capture_options": {"content": "full", "more": 1}}, form)
    assert event["inputs_hash"] == alone["inputs_hash"]
    assert ("$.capture_options.more", "ignored") in warned(answer)


@pytest.mark.parametrize("wrong", [0, False, "", [], {"create_lineage": 1}, {"extract_entities": 0}, {"content": None}])
def test_what_is_wrong_beside_a_payload_is_refused_whatever_it_is_like(wrong: Any) -> None:
    [problem] = refused({"payload": BASE, "capture_options": wrong})
    assert problem.path.startswith("$.capture_options")


def test_the_payloads_own_options_win_and_that_is_told() -> None:
    own, beside = {"create_lineage": True, "more": 1}, {"create_lineage": False, "more": 1, "extract_entities": True}
    event, answer = captured({"payload": {**BASE, "capture_options": own}, "capture_options": beside})
    assert event["inputs"]["capture_options"] == {"create_lineage": True, "more": 1, "extract_entities": True}
    assert warned(answer) == [
        ("$.capture_options.create_lineage", "ignored"),
        ("$.capture_options.more", "unknown_field"),
    ]


@pytest.mark.parametrize("form", [NATIVE, "openai-chat"])
def test_what_else_stands_beside_the_payload_is_told_and_no_part_of_it(form: str) -> None:
    alone, _ = captured({"payload": BODIES[form]}, form)
    event, answer = captured({"source": "crm", "payload": BODIES[form], "a b": [SPOKEN], "sent": None}, form)
    assert warned(answer)[:3] == [("$.source", "ignored"), ('$["a b"]', "ignored"), ("$.sent", "ignored")]
    assert event["inputs_hash"] == alone["inputs_hash"]
    assert event["inputs"] == alone["inputs"]


def test_no_more_than_fifty_warnings_are_told() -> None:
    beside = {f"m{number}": number for number in range(60)}
    _, answer = captured({"payload": {**BASE, "more": 1}, **beside})
    assert len(answer["warnings"]) == 50


def test_what_stands_beside_another_wrapped_document_is_kept_where_it_is_small_and_told() -> None:
    body = {"session_id": "s", "task": 7, "big": [1], "data": {"messages": [ASKED]}}
    event, answer = captured(body, "openai-chat")
    assert event["inputs"]["native"]["beside"] == {"wrapper": {"task": 7}}
    assert warned(answer) == [("$.task", "unknown_field"), ("$.big", "ignored")]


# Behind a queue.


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("envelope", envelopes.ENVELOPES)
def test_whoever_asks_from_a_queue_is_heard(envelope: str, place: str) -> None:
    body = json.dumps(PLACES[place](BODIES[NATIVE])).encode()
    delivery = delivery_of(envelopes.ENVELOPES[envelope](body).environ())
    store = FakeStore()
    service(store).capture(CaptureRequest(delivery.body, NATIVE, None, EXECUTION_REF), FakeSpans())
    assert_is_heard(store.appended[0]["payload"])


PAYLOAD = json.dumps(BODIES[NATIVE]).encode()
PUSH = envelopes.push_document(PAYLOAD, {}, 1)


@pytest.mark.parametrize(
    "posted",
    [
        envelopes.pubsub(PAYLOAD, capture_options='{"content":"none"}'),
        envelopes.pubsub(PAYLOAD, captureOptions="none"),
        envelopes.pubsub(PAYLOAD, Capture_Content="none"),
        envelopes.pubsub(PAYLOAD, **{"capture_options.content": "none"}),
        envelopes.unwrapped(PAYLOAD, capture_options="none"),
        envelopes.eventarc(PAYLOAD, capture_options="none"),
        envelopes.pubsub(PAYLOAD, **{"captureOptions[content]": "none"}),
        envelopes.binary(PAYLOAD, captureoptions="none"),
        envelopes.binary(PAYLOAD, capturecontent="none"),
        envelopes.structured(PAYLOAD, capture_options="none"),
        envelopes.structured_base64(PAYLOAD, captureoptions="none"),
        envelopes.structured_text(PAYLOAD, capture_options="none"),
        envelopes.structured_message(PAYLOAD, capture_options="none"),
        envelopes.Posted(json.dumps(PUSH | ASKS).encode(), {}),
        envelopes.Posted(json.dumps({**PUSH, "message": PUSH["message"] | ASKS}).encode(), {}),
        envelopes.Posted(json.dumps({**PUSH, "message": PUSH["message"] | {"attributes": ASKS}}).encode(), {}),
    ],
)
def test_whoever_asks_in_an_envelope_is_refused(posted: envelopes.Posted) -> None:
    with pytest.raises(ValidationError) as error:
        delivery_of(posted.environ())
    assert error.value.status == 400
    [problem] = error.value.problems
    assert problem.rule == "unsupported"


@pytest.mark.parametrize("name", ["captureContentType", "capture-content-id", "capture_optional", "captureOptionsUrl"])
def test_an_attribute_whose_name_only_begins_so_is_somebody_elses(name: str) -> None:
    for posted in (envelopes.pubsub(PAYLOAD, **{name: "x"}), envelopes.unwrapped(PAYLOAD, **{name: "x"})):
        assert delivery_of(posted.environ()).body == PAYLOAD
