"""What acknowledges an append, and what is read out of it (CONTRACT 10)."""

import json

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
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
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
    "eventId": [None, 7, "", "two words", "line\nbreak", "\x00", "é", "x" * 256, {}],
    "executionRef": [None, 7, "", "a\r\nX-Injected: 1", []],
    "timestamp": [None, 7, "", "yesterday", "2026-11-27T12:00:00", "2026-02-30T12:00:00Z"],
    "position": [None, True, -1, 1.0, "7", []],
    "turns": [
        None,
        3,
        [],
        {},
        {"new": 1},
        {"new": "1", "known": 0, "revised": 0, "erased": 0},
        {"new": -1, "known": 0, "revised": 0, "erased": 0},
        {"new": True, "known": 0, "revised": 0, "erased": 0},
    ],
}
ATTRIBUTES = {"eventId": "event_id", "executionRef": "execution_ref"}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in MALFORMED.items() for value in values], ids=repr
)
def test_a_malformed_optional_field_counts_as_absent_and_the_rest_is_read(name, value):
    receipt, whole = read({**OURS, name: value}), read(OURS)
    for field in ("event_id", "execution_ref", "timestamp", "position", "turns"):
        expected = None if field == ATTRIBUTES.get(name, name) else getattr(whole, field)
        assert getattr(receipt, field) == expected


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
        read_receipt(201, body, latency_ms=0)
    except ValueError:
        return
    assert isinstance(json.loads(body), dict)
