"""A page read in the quick way holds what any reader of JSON finds in it, or is read in the other way."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.ruvector.feed import read_page
from agent.ruvector.parsed import ParsedEvent, ParsedPage, parsed
from tests.core.stored_events import captured
from tests.strategies import fresh_payload, json_values

NODES = b'"nodes_created":['


def envelope(number: int = 1, **outputs: Any) -> dict[str, Any]:
    event = captured(fresh_payload(2))
    event["payload"]["outputs"].update(outputs)
    return {"position": number, **event}


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def page(*events: bytes, cursor: Any = "c") -> bytes:
    return b'{"events":[' + b",".join(events) + b'],"next_cursor":' + compact(cursor) + b"}"


def read(body: bytes, limit: int = 10) -> list[ParsedEvent]:
    found = ParsedPage(body, limit=limit)
    events = list(found.events())
    general = read_page(body, limit=limit)
    assert (found.next_cursor, found.is_open) == (general.next_cursor, general.is_open)
    assert found.is_empty == (not general.events)
    assert [(event.text, event.position, event.execution_ref) for event in events] == [
        (event.text, event.position, event.execution_ref) for event in general.events
    ]
    return events


def whole(sketch: Any) -> Any:
    """A sketch with nodes and edges parsed."""
    outputs = sketch["payload"].get("outputs") if isinstance(sketch.get("payload"), dict) else None
    if not isinstance(outputs, dict):
        return sketch
    read = {name: json.loads(value) if isinstance(value, bytes) else value for name, value in outputs.items()}
    return {**sketch, "payload": {**sketch["payload"], "outputs": read}}


def test_events_of_our_store_are_sketched_with_their_graphs_as_text() -> None:
    sent = [envelope(number) for number in (1, 2, 3)]
    events = read(page(*map(compact, sent)))
    for event, each in zip(events, sent, strict=True):
        assert event.sketch is not None
        outputs = event.sketch["payload"]["outputs"]
        assert outputs["nodes_created"] == compact(each["payload"]["outputs"]["nodes_created"])
        assert outputs["edges_created"] == compact(each["payload"]["outputs"]["edges_created"])
        assert json.loads(json.dumps(whole(event.sketch), default=str)) == json.loads(json.dumps(each, default=str)) | {
            "payload": each["payload"] | {"confidence": "1.0"}
        }


BRACKETS = [
    {"nodes_created": [{"node_id": "a]b", "node_type": "x"}]},
    {"nodes_created": [{"tags": [1], "edges_created": []}]},
    {"nodes_created": []},
    {"nodes_created": [], "edges_created": [[]]},
    {"nodes_created": 7, "edges_created": 7},
    {"total_tokens": 715827882517093641},
    {"note": {"nodes_created": [1], "edges_created": [2]}},
    {"note": '"nodes_created":[],"edges_created":[]'},
]


@pytest.mark.parametrize("outputs", BRACKETS, ids=json.dumps)
def test_a_graph_that_is_none_of_ours_is_read_as_it_stands(outputs: dict[str, Any]) -> None:
    sent = envelope(1, **outputs)
    (event,) = read(page(compact(sent)))
    assert json.loads(event.text) == sent
    if event.sketch is not None:
        read_back = whole(event.sketch)["payload"]["outputs"]
        assert {name: read_back[name] for name in outputs} == outputs


def test_a_graph_that_stands_elsewhere_is_not_taken_for_the_events_own() -> None:
    sent = envelope()
    del sent["payload"]["outputs"]["nodes_created"]
    sent["payload"]["telemetry"] = {"nodes_created": [], "edges_created": []}
    (event,) = read(page(compact(sent)))
    assert event.sketch is not None
    assert event.sketch["payload"]["telemetry"] == {"nodes_created": [], "edges_created": []}
    assert isinstance(event.sketch["payload"]["outputs"]["edges_created"], list)


@given(st.lists(json_values, max_size=4), st.none() | st.text("ab1", max_size=3))
def test_any_events_are_found_as_any_reader_finds_them(values: list[Any], cursor: str | None) -> None:
    for separators in ((",", ":"), (", ", ": ")):
        body = json.dumps({"events": values, "next_cursor": cursor}, separators=separators, ensure_ascii=False)
        assert [json.loads(event.text) for event in read(body.encode())] == values


@given(st.lists(st.dictionaries(st.sampled_from(["payload", "runId", "x"]), json_values), min_size=1, max_size=4))
def test_any_events_at_positions_are_too(values: list[dict[str, Any]]) -> None:
    sent = [{"position": number, **value} for number, value in enumerate(values)]
    events = read(page(*map(compact, sent)))
    assert [json.loads(event.text) for event in events] == sent
    assert all(event.sketch is not None for event in events)


def test_a_cut_in_the_middle_of_an_event_is_seen() -> None:
    inner = {"position": 1, "payload": {"list": [{"a": 1}, {"position": 2}]}}
    events = read(page(compact(envelope()), compact(inner), compact(envelope(3))))
    assert [json.loads(event.text)["position"] for event in events] == [1, 1, 3]
    # The first had proved itself before.
    assert [event.sketch is None for event in events] == [False, True, True]


DAMAGED = [b'{"position":2,"payload":{"n":NaN}}', b'{"position":2,"a":1,"a":1}', b'{"position":2,"a":"\\ud800"}']


@pytest.mark.parametrize("damaged", DAMAGED)
def test_an_event_that_is_not_json_by_the_contract_takes_no_other_with_it(damaged: bytes) -> None:
    events = read(page(compact(envelope(1)), damaged, compact(envelope(3))))
    assert [event.position for event in events] == [1, 2, 3]
    assert [parsed(event.text) is None for event in events] == [False, True, False]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"events":[{"position":1}]',
        b'{"events":[{"position":1}],"next_cursor":}',
        b'{"events":7,"next_cursor":null}',
        b'{"events":[{"position":1}],"next_cursor":{}}',
    ],
)
def test_what_is_no_page_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        ParsedPage(body, limit=1)


def test_a_page_that_turns_out_to_be_none_is_refused_where_it_does() -> None:
    found = ParsedPage(page(compact(envelope(1)), b'{"position":2,'), limit=2)
    events = found.events()
    assert next(events).position == 1
    with pytest.raises(ValueError, match=r"."):
        next(events)


def test_an_empty_page_and_one_with_more_members_are_read() -> None:
    assert read(page(cursor=None)) == []
    body = b'{"events":[{"position":1}],"next_cursor":"a","total":1}'
    assert [event.sketch for event in read(body)] == [None]


def test_what_is_no_json_is_none() -> None:
    assert parsed(b"{") is None
    assert parsed(b'{"a":1,"a":1}') is None
    assert parsed(b"null") is None
    assert parsed(b'{"a":10000000000000000000000000001}') == {"a": 10**28 + 1}
