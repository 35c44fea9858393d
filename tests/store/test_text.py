"""Strings and numbers round-trip exactly, whatever their size and whatever stands in them (H16, CONTRACT 2 and 10)."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.canonical import canonical
from agent.core.decision import Outputs
from tests.store.engines import EMPTY, opened_empty
from tests.store.surface import CAPTURED_AT, SESSION, Surface, envelope, payload, turn
from tests.strategies import json_values, payloads, reordered

CONTROL = "".join(map(chr, range(0x20))) + "\x7f\u2028\ufeff\ufffe"


def stored(surface: Surface, body: dict) -> dict:
    event = surface.get(f"/v1/decision-events/{body['runId']}")
    del event["position"]
    return event


@pytest.mark.parametrize("text", [CONTROL, "go \U0001f680", "Zo\u00eb", "Zoe\u0308", "\u0000", "", '"\\/'])
def test_text_comes_back_exactly(text: str, surface: Surface) -> None:
    body = envelope(payload(turn(1, text, metadata={text: [text]})))
    assert surface.post(body).status_code == 201
    assert stored(surface, body) == body
    (record,) = surface.turns()
    assert (record["content"], record["metadata"]) == (text, {text: [text]})


def test_h16_two_unicode_forms_are_two_payloads(surface: Surface) -> None:
    for number, text in enumerate(["Zo\u00eb", "Zoe\u0308"], 1):
        assert surface.capture(payload(turn(number, text)))["status"] == "accepted"
    assert [record["content"].encode() for record in surface.turns()] == [b"Zo\xc3\xab", b"Zoe\xcc\x88"]


def test_numbers_keep_every_digit_in_the_text(surface: Surface) -> None:
    text = json.dumps(envelope(payload(turn(1, metadata={"n": "NUMBERS"}))))
    numbers = "[123456789012345678901234567890, 1.10, 1E2, -0.0, 5e-324, 18446744073709551616, 0.1]"
    body = text.replace('"NUMBERS"', numbers).encode()
    assert surface.post(body).status_code == 201
    answer = surface.client.get("/v1/decision-events").content
    assert canonical(json.loads(answer)["events"][0]["payload"]) == canonical(json.loads(body)["payload"])
    assert (
        b"123456789012345678901234567890"
        in surface.client.get(f"/v1/sessions/{json.loads(body)['payload']['inputs']['session_id']}/turns").content
    )


SMALL, BEYOND_64_BITS = 123456789, 18446744073709551616


@pytest.mark.parametrize("engine", EMPTY)
@settings(max_examples=60, deadline=None)
@given(payloads(), st.sampled_from(["event", "envelope", "inputs", "turn", "metadata", "record field"]))
def test_an_integer_beyond_64_bits_changes_neither_key_order_nor_number_forms(
    engine: str, sent: dict, place: str
) -> None:
    number = f"[1.10,1E2,-0.0,{SMALL}]"
    turn_sent = sent["turns"][-1]
    turn_sent["metadata"] = {"z": 1, **turn_sent.get("metadata", {}), "a": 2}
    body = envelope({"z": 0, **sent, "a": 1})
    holder = {
        "event": body["payload"],
        "envelope": body,
        "inputs": body["payload"]["inputs"],
        "turn": turn_sent,
        "metadata": turn_sent["metadata"],
        "record field": turn_sent,
    }[place]
    holder["seq" if place == "record field" else "number"] = "NUMBER"
    text = json.dumps(body, ensure_ascii=False).replace('"NUMBER"', number).encode()
    small, large = (
        kept_and_read(text.replace(str(SMALL).encode(), str(number).encode()), engine)
        for number in (SMALL, BEYOND_64_BITS)
    )
    assert f"[1.10,1E2,-0.0,{SMALL}]".encode() in small[0]
    assert [part.replace(str(SMALL).encode(), str(BEYOND_64_BITS).encode()) for part in small] == large


def kept_and_read(body: bytes, engine: str) -> list[bytes]:
    """The events and the turns of a store that got ``body`` alone, as text."""
    with opened_empty(engine) as surface:
        assert surface.post(body).status_code == 201, body
        session = json.loads(body)["payload"]["inputs"]["session_id"]
        paths = ("/v1/decision-events", f"/v1/sessions/{session}/turns")
        return [surface.client.get(path).content for path in paths]


def test_a_revision_keeps_key_order_and_number_forms_beside_what_stays_of_the_first_arrival(surface: Surface) -> None:
    def sent(content: str, number: str) -> bytes:
        fields = turn(1, content, z=1, n="N", a=2, metadata={"derived": ["timestamp"], "b": 1, "a": 2})
        body = envelope(payload(fields))
        return json.dumps(body, separators=(",", ":")).replace('"N"', number).encode()

    numbers = f"[1.10,1E2,{BEYOND_64_BITS}]"
    surface.post(sent("first", "0"))
    surface.post(sent("second", numbers))
    answer = surface.client.get(f"/v1/sessions/{SESSION}/turns").content
    assert f'"z":1,"n":{numbers},"a":2,"metadata":{{"derived":["timestamp"],"b":1,"a":2}}'.encode() in answer


@pytest.mark.parametrize("compressible", [True, False])
def test_ten_mebibytes_come_back_exactly(compressible: bool, surface: Surface) -> None:
    source = random.Random(1)
    text = "lorem ipsum " * 870_000 if compressible else source.randbytes(5 * 1024 * 1024).hex()
    body = envelope(payload(turn(1, "before"), turn(2, text), turn(3, "after"), note=text[:100_000]))
    assert surface.post(body).status_code == 201
    assert stored(surface, body) == body
    assert [record["content"] for record in surface.turns()] == ["before", text, "after"]


def test_a_capture_of_ten_thousand_turns_is_read_by_pages(surface: Surface) -> None:
    sent = [turn(number, f"content of {number}") for number in range(1, 10_001)]
    assert surface.capture(payload(*sent))["turns"]["new"] == 10_000
    page = surface.turns(after_seq=5_000, limit=1000)
    assert [record["content"] for record in page] == [f"content of {number}" for number in range(5_001, 6_001)]
    assert page[0]["parent_turn_id"] == sent[4_999]["turn_id"]


@pytest.mark.parametrize("engine", EMPTY)
@settings(max_examples=100, deadline=None)
@given(payloads())
def test_any_payload_comes_back_with_the_same_canonical_form(engine: str, sent: dict) -> None:
    with opened_empty(engine) as surface:
        body = envelope(sent)
        receipt = surface.post(body).json()
        assert receipt["turns"]["new"] == len(sent["turns"])
        assert canonical(stored(surface, body)) == canonical(body)
        for turn_sent, record in zip(sent["turns"], surface.turns(sent["session_id"]), strict=True):
            kept = {**turn_sent, **record}
            kept["parent_turn_id"] = turn_sent.get("parent_turn_id")
            assert canonical({name: kept[name] for name in turn_sent if name != "turn_id"}) == canonical(
                {name: value for name, value in turn_sent.items() if name != "turn_id"}
            )


@pytest.mark.parametrize("engine", EMPTY)
@settings(max_examples=100, deadline=None)
@given(payloads(), st.booleans(), st.randoms(use_true_random=False))
def test_turns_that_are_known_already_come_back_in_the_form_of_each_event(
    engine: str, sent: dict, is_graph: bool, random: random.Random
) -> None:
    """Later events share the bodies of earlier ones; other key order, other case, other derived times are theirs."""
    changed = reordered(json.loads(json.dumps(sent)), random.shuffle)
    for place, turn_sent in enumerate(changed["turns"]):
        if place % 2:
            turn_sent["turn_id"] = turn_sent["turn_id"].swapcase()
        metadata = turn_sent.setdefault("metadata", {}) if place % 3 == 0 else {}
        if place % 3 == 0 and "derived" not in metadata:
            metadata["derived"] = ["timestamp"]
    again = json.loads(json.dumps(changed))
    for turn_sent in again["turns"]:
        if "derived" in turn_sent.get("metadata", {}):
            turn_sent["timestamp"] = "2030-01-01T00:00:00Z"
    again["turns"].append(turn(1))
    bodies = [envelope(one, execution_ref=f"{place}", outputs=outputs_of(one) if is_graph else {})
              for place, one in enumerate((sent, changed, again))]  # fmt: skip
    with opened_empty(engine) as surface:
        for body in bodies:
            assert surface.post(body).status_code in (200, 201), body
        for place, body in enumerate(bodies):
            answer = surface.client.get(f"/v1/decision-events/{place}")
            if answer.status_code == 200:
                assert canonical({**answer.json(), "position": 0}) == canonical({**body, "position": 0})


def outputs_of(sent: dict) -> dict:
    return dict(json.loads(Outputs.of(sent).encode(CAPTURED_AT)))


@pytest.mark.parametrize("engine", EMPTY)
@settings(max_examples=100, deadline=None)
@given(json_values)
def test_any_json_in_an_event_of_any_kind_comes_back_with_the_same_canonical_form(engine: str, value: object) -> None:
    with opened_empty(engine) as surface:
        body = {"type": "any", "runId": "r", "timestamp": CAPTURED_AT, "payload": {"value": value}}
        assert surface.post(body).status_code == 201
        assert canonical(stored(surface, body)) == canonical(body)
