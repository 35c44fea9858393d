"""Recorded calls, and the times and counts in them."""

from __future__ import annotations

import math

import pytest

from agent.errors import PayloadTooLarge, Problem
from agent.formats.conversation.recording import recorded_call, recorded_calls, refuse_too_many_values, sse_events
from agent.formats.conversation.times import from_epoch, stated
from agent.formats.conversation.usage import token_usage
from agent.formats.wrappers import opened


def test_a_call_is_its_two_bodies_with_or_without_what_stands_around_them():
    call = recorded_call({"request": {"a": 1}, "response": {"b": 2}})
    assert call is not None
    assert (call.request, call.response, call.events, call.status) == ({"a": 1}, {"b": 2}, None, None)
    call = recorded_call({"request": {"uri": "/", "body": '{"a": 1}'}, "response": {"status": 400, "body": "oops"}})
    assert call is not None
    assert (call.request, call.response, call.status) == ({"a": 1}, "oops", 400)


def test_a_streamed_answer_in_one_string_is_its_events():
    body = 'event: x\ndata: {"a": 1}\n\ndata: {"b":\ndata: 2}\n\n: comment\n\ndata: [DONE]\n\ndata:{"c": 3}'
    call = recorded_call({"request": {}, "response": {"body": body}})
    assert call is not None
    assert (call.response, call.events) == (None, ({"a": 1}, {"b": 2}, {"c": 3}))


def test_line_breaks_inside_a_value_end_no_event():
    """CR and U+2028 stand in texts; only CR LF, LF and CR end a line, and JSON has its own as escapes."""
    assert list(sse_events('data: {"a": "x\u2028y"}\r\n\r\ndata: {"b": 1}\r\n')) == [{"a": "x\u2028y"}, {"b": 1}]


@pytest.mark.parametrize("document", [None, 5, [], {}, {"request": 1}, {"interactions": []}, {"interactions": [{}]}])
def test_anything_else_is_no_recording(document):
    assert recorded_calls(document) is None


def test_a_recording_is_all_of_its_calls():
    calls = recorded_calls({"interactions": [{"request": 1, "response": 2}, {"request": 3, "response": 4}]})
    assert calls is not None
    assert [call.request for call in calls] == [1, 3]


def test_seconds_and_their_parts_are_instants():
    assert from_epoch(1767200000.5) == "2025-12-31T16:53:20.500000Z"
    assert from_epoch(1767200000500, per_second=1000) == "2025-12-31T16:53:20.500000Z"
    assert from_epoch(1767200000_123456789, per_second=10**9) == "2025-12-31T16:53:20.123456Z"


@pytest.mark.parametrize("value", [None, True, "1767200000", 0, -1, math.inf, math.nan, 10**30, 1e30])
def test_what_is_no_instant_is_no_time(value):
    assert from_epoch(value) is None


def test_a_time_is_taken_only_as_the_contract_has_it():
    assert stated("2026-03-02T08:15:00Z") == "2026-03-02T08:15:00Z"
    assert [stated(value) for value in ("2026-03-02T08:15:00", 5, None, "11:53 am on 23 March, 2023")] == [None] * 4


def test_counts_are_all_three_or_none():
    assert token_usage({"in": 3, "out": 4}, "in", "out") == {
        "prompt_tokens": 3,
        "completion_tokens": 4,
        "total_tokens": 7,
    }
    assert token_usage({"in": 3, "out": 4, "all": 9}, "in", "out", "all")["total_tokens"] == 9


@pytest.mark.parametrize(
    "counts", [None, 5, {}, {"in": 1}, {"in": True, "out": 1}, {"in": -1, "out": 1}, {"in": 2**63 - 1, "out": 1}]
)
def test_counts_that_are_none_are_none(counts):
    assert token_usage(counts, "in", "out") is None


def test_a_wrapper_is_opened_only_where_the_document_is_not_known_as_it_is():
    def knows(document):
        return isinstance(document, dict) and "messages" in document

    inner = {"messages": []}
    assert opened({"task_id": 1, "traj": inner}, knows) == (inner, "traj", {"task_id": 1})
    assert opened({"messages": [], "data": inner}, knows) == ({"messages": [], "data": inner}, None, {})
    assert opened({"other": inner}, knows) is None
    assert opened([inner], knows) is None


@pytest.mark.parametrize("start", ["", "event: x\ndata: "])
@pytest.mark.parametrize("name", ["request", "response"])
def test_a_recorded_body_of_more_values_than_a_body_may_have_is_refused_before_it_is_parsed(name, start):
    call = {"request": {"body": "{}"}, "response": {"body": "{}"}}
    call[name]["body"] = f"{start}[{'[],' * 300_000}1]"
    for document in (call, {"interactions": [{"request": {}, "response": {}}, call]}):
        with pytest.raises(PayloadTooLarge) as refused:
            refuse_too_many_values(document)
        assert refused.value.problems == (Problem(f"$.{name}", "values"),)


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n", "\r\r"])
def test_a_stream_may_have_as_many_events_as_there_are(end):
    stream = ("data: [1,2,3,4,5,6,7,8]" + end) * 40_000
    refuse_too_many_values({"request": {}, "response": {"status": 200, "body": stream}})
