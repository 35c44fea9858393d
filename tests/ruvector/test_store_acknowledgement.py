"""What acknowledges an append, and what is read out of it (CONTRACT 10)."""

import json
from contextlib import nullcontext

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.receipt import Receipt, TurnCounts
from agent.ruvector.acknowledgement import read_receipt

OURS = {
    "status": "accepted",
    "eventId": "0e7ad5e1-6d24-4c0b-9f0e-a7ac7b9e2f11",
    "executionRef": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "timestamp": "2026-11-27T12:00:00.000000Z",
    "position": 7,
    "turns": {"new": 2, "known": 1, "revised": 0, "erased": 0},
}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**63 - 1, 2**63, 2**64, 10**30, 10**4000])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),  # lone surrogates too
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)


def read(document: object, status: int = 201) -> Receipt:
    return read_receipt(status, json.dumps(document).encode(), latency_ms=12)


def test_our_receipt_is_read_whole():
    assert read(OURS) == Receipt(
        event_id=OURS["eventId"],
        duplicate=False,
        position=7,
        turns=TurnCounts(new=2, known=1, revised=0, erased=0),
        execution_ref=OURS["executionRef"],
        timestamp=OURS["timestamp"],
        latency_ms=12,
    )


def test_the_turns_that_stay_in_a_fuller_body_are_read_where_the_store_counts_them():
    assert read({**OURS, "kept_fuller": 4}).kept_fuller == 4
    assert read(OURS).kept_fuller == read({}).kept_fuller == 0


def test_a_duplicate_names_the_first_event():
    receipt = read({**OURS, "status": "duplicate"}, status=200)
    assert receipt.duplicate is True
    assert (receipt.execution_ref, receipt.timestamp) == (OURS["executionRef"], OURS["timestamp"])


@pytest.mark.parametrize("status", [200, 201])
def test_the_deployed_services_receipt_names_the_event_alone(status):
    receipt = read({"status": "accepted", "eventId": "evt_1"}, status)
    assert receipt == Receipt("evt_1", False, None, None, None, None, 12)


def test_the_other_spelling_of_the_ids_is_read_too():
    receipt = read({"event_id": "evt_1", "execution_ref": "run-1"})
    assert (receipt.event_id, receipt.execution_ref) == ("evt_1", "run-1")


def test_a_spelling_that_is_malformed_gives_way_to_the_other():
    assert read({"eventId": None, "event_id": "evt_1"}).event_id == "evt_1"


def test_an_empty_object_with_a_201_acknowledges():
    assert read({}) == Receipt(None, False, None, None, None, None, 12)


MALFORMED = {
    "eventId": [None, 7, "", "two words", "line\nbreak", "\x00", "é", "\ud800", "x" * 256, "x" * 100_000, 10**30, {}],
    "executionRef": [None, 7, "", "a\r\nX-Injected: 1", "x" * 256, True, 1.5, []],
    "timestamp": [
        *(None, 7, True, "", "yesterday", "2026-11-27T12:00:00", "2026-02-30T12:00:00Z", "2026-11-27T12:00:00Z\n"),
        "\ud800",
        f"2026-11-27T12:00:00.{'0' * 235}Z",  # a date-time of 256 characters
    ],
    "position": [None, True, False, -1, 1.0, 7.5, "7", [], 2**63, 10**30, -(10**30), 10**4000],
    "turns": [
        None,
        3,
        [],
        {},
        {"new": 1},
        {"new": "1", "known": 0, "revised": 0, "erased": 0},
        {"new": -1, "known": 0, "revised": 0, "erased": 0},
        {"new": True, "known": 0, "revised": 0, "erased": 0},
        {"new": 1.0, "known": 0, "revised": 0, "erased": 0},
        {"new": 0, "known": 0, "revised": 2**63, "erased": 0},
        {"new": 0, "known": 0, "revised": 0, "erased": 10**30},
    ],
}
MALFORMED["kept_fuller"] = MALFORMED["position"]
# What stands at the edge of what counts, still inside.
LARGEST = {
    "eventId": "x" * 255,
    "executionRef": "x" * 255,
    "timestamp": f"2026-11-27T12:00:00.{'0' * 234}Z",
    "position": 2**63 - 1,
    "turns": dict.fromkeys(("new", "known", "revised", "erased"), 2**63 - 1),
    "kept_fuller": 2**63 - 1,
}
ATTRIBUTES = {"eventId": "event_id", "executionRef": "execution_ref"}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in MALFORMED.items() for value in values], ids=repr
)
def test_a_malformed_optional_field_counts_as_absent_and_the_rest_is_read(name, value):
    receipt, whole = read({**OURS, "kept_fuller": 1, name: value}), read({**OURS, "kept_fuller": 1})
    for field in ("event_id", "execution_ref", "timestamp", "position", "turns", "kept_fuller"):
        absent = 0 if field == "kept_fuller" else None
        expected = absent if field == ATTRIBUTES.get(name, name) else getattr(whole, field)
        assert getattr(receipt, field) == expected


def test_the_largest_values_are_read():
    receipt = read(LARGEST)
    assert (receipt.event_id, receipt.execution_ref) == (LARGEST["eventId"], LARGEST["executionRef"])
    assert (receipt.timestamp, receipt.position) == (LARGEST["timestamp"], LARGEST["position"])
    assert receipt.turns.as_dict() == LARGEST["turns"]
    assert receipt.kept_fuller == LARGEST["kept_fuller"]


# All of it is JSON by RFC 8259, and the event is stored.
ODD = {
    "a lone surrogate": rb'{"eventId":"e-1","note":"\ud800"}',
    "a lone surrogate in a name": rb'{"\udfff":1,"eventId":"e-1"}',
    "an integer of 5000 digits": b'{"eventId":"e-1","position":' + b"9" * 5000 + b"}",
    "a negative integer of 5000 digits": b'{"eventId":"e-1","position":-' + b"9" * 5000 + b"}",
    "a number beyond a double": b'{"eventId":"e-1","position":1e999}',
    "300 levels": b'{"eventId":"e-1","note":' + b"[" * 300 + b"]" * 300 + b"}",
    "a byte order mark": b'\xef\xbb\xbf{"eventId":"e-1"}',
    "white space around it": b'\r\n\t {"eventId":"e-1"} \n',
    "escapes": rb'{"event\u0049d":"\u0065-1"}',
    "a name twice": b'{"eventId":"e-0","eventId":"e-1"}',
    "an empty name": b'{"":0,"eventId":"e-1"}',
    "NUL": rb'{"\u0000":"\u0000","eventId":"e-1"}',
}


@pytest.mark.parametrize("body", ODD.values(), ids=ODD)
def test_json_that_is_odd_acknowledges_all_the_same(body):
    assert read_receipt(201, body, latency_ms=12) == Receipt("e-1", False, None, None, None, None, 12)


def test_json_that_is_odd_keeps_its_counts():
    body = rb'{"note":"\ud800","position":7,"turns":{"new":1,"known":2,"revised":3,"erased":9223372036854775807}}'
    receipt = read_receipt(201, body, latency_ms=12)
    assert (receipt.position, receipt.turns) == (7, TurnCounts(1, 2, 3, 2**63 - 1))


@pytest.mark.parametrize(
    "body",
    [
        rb'{"note":"\ud800","position":NaN}',
        rb'{"note":"\ud800","position":-Infinity}',
        rb'{"note":"\ud800"',
        b'{"note":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
        '{"eventId":"e-1"}'.encode("utf-16"),
        b'\xef\xbb\xbf\xef\xbb\xbf{"eventId":"e-1"}',
    ],
    ids=["NaN", "infinity", "half", "200 000 levels", "UTF-16", "two byte order marks"],
)
def test_what_is_no_json_or_nested_without_end_does_not_acknowledge(body):
    with pytest.raises(ValueError, match="no acknowledgement"):
        read_receipt(201, body, latency_ms=12)


@settings(deadline=None, max_examples=200)
@given(
    document=st.dictionaries(st.sampled_from([*OURS, "kept_fuller", "event_id", "execution_ref"]), JSON), data=st.data()
)
def test_our_answer_can_carry_whatever_is_read(document, data):
    document["turns"] = data.draw(st.fixed_dictionaries(dict.fromkeys(OURS["turns"], JSON)))
    receipt = read(document)
    turns = receipt.turns and receipt.turns.as_dict()
    carried = [receipt.event_id, receipt.position, turns, receipt.execution_ref, receipt.timestamp, receipt.kept_fuller]
    assert orjson.loads(orjson.dumps(carried)) == carried


@settings(deadline=None, max_examples=100)
@given(document=st.dictionaries(st.sampled_from([*OURS, "event_id", "other"]), JSON))
def test_any_object_with_a_201_acknowledges(document):
    receipt = read(document)
    assert receipt.duplicate is (document.get("status") == "duplicate")


@settings(deadline=None, max_examples=100)
@given(document=JSON, status=st.integers(100, 599))
def test_nothing_else_acknowledges(document, status):
    said = document.get("status") if isinstance(document, dict) else None
    if isinstance(document, dict) and (status == 201 or (status == 200 and said in ("accepted", "duplicate"))):
        assert read(document, status).latency_ms == 12
    else:
        with pytest.raises(ValueError, match="no acknowledgement"):
            read(document, status)


@settings(deadline=None, max_examples=200)
@given(body=st.binary(max_size=60))
def test_no_bytes_make_reading_fail_in_another_way(body):
    try:
        is_object = isinstance(json.loads(body.decode("utf-8-sig")), dict)
    except ValueError:
        is_object = False
    with nullcontext() if is_object else pytest.raises(ValueError, match="no acknowledgement"):
        assert read_receipt(201, body, latency_ms=7).latency_ms == 7
