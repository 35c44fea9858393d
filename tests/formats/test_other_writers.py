"""What another writer left in a turn, in every format: no writer stumbles over it, and what is not said is counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.formats import MARKDOWN, NATIVE, TEXT, WRITES
from agent.formats.conversation.usage import turn_usage
from agent.formats.writers import writer
from agent.formats.writing import Session, Written
from tests.formats.sessions import CONVERSATION, SESSION, turn

USED = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
NO_USAGE = [
    {},
    {"prompt_tokens": 7},
    {"prompt_tokens": 7, "completion_tokens": 5},
    {**USED, "total_tokens": -1},
    {**USED, "total_tokens": 2**63},
    {**USED, "prompt_tokens": True},
    {**USED, "prompt_tokens": 1.5},
    {**USED, "completion_tokens": "5"},
    {**USED, "completion_tokens": None},
    [7, 5, 12],
    12,
    "12",
]
NO_TIMES = ["", "yesterday", "2026-03-02T08:15:09", "2026-13-02T08:15:00Z"]
EVERY = (*WRITES, NATIVE, MARKDOWN, TEXT)


def written(form: str, **members: Any) -> Written:
    """A question and an answer with a call and its result, both with ``members``."""
    call = {"tool_name": "look", "invocation_id": "00000000-0000-4000-8000-0000000000aa", "arguments": {}}
    turns = (
        turn(1, "hi", "user"),
        turn(2, "", "assistant", **{"tool_invocations": [call], **members}),
        turn(3, "found", "tool", **{"tool_invocations": [call], **members}),
    )
    return writer(form)(Session(SESSION, CONVERSATION, turns, turns, {}, {}, frozenset()))


def document(result: Written) -> Any:
    return json.loads("".join(result.documents))


@pytest.mark.parametrize("form", EVERY)
@pytest.mark.parametrize("usage", NO_USAGE)
def test_tokens_that_are_none_are_left_out_and_counted(form: str, usage: Any) -> None:
    result = written(form, token_usage=usage)
    if form in WRITES:
        assert result.lost["token_usage"] == 2
        without = written(form)
        assert result.documents == without.documents


@pytest.mark.parametrize("usage", NO_USAGE)
def test_of_the_tokens_of_a_turn_there_are_all_three_or_none(usage: Any) -> None:
    assert turn_usage(usage) is None
    assert turn_usage({**USED, "total_tokens": 12.0, "cached": 3}) == {**USED, "cached": 3}


def test_tokens_are_said_where_a_format_can() -> None:
    langchain = document(written("langchain", token_usage=USED))["messages"][1]["data"]
    assert langchain["usage_metadata"] == {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12}
    pydantic_ai = document(written("pydantic-ai", token_usage=USED))["messages"][1]
    assert pydantic_ai["usage"] == {"input_tokens": 7, "output_tokens": 5}
    google_adk = document(written("google-adk", token_usage=USED))["session"]["events"][1]
    assert google_adk["usage_metadata"] == {
        "prompt_token_count": 7,
        "candidates_token_count": 5,
        "total_token_count": 12,
    }


@pytest.mark.parametrize("form", WRITES)
@pytest.mark.parametrize("time", NO_TIMES)
def test_a_time_that_is_none_is_in_no_message_and_counted(form: str, time: str) -> None:
    result = written(form, timestamp=time)
    # The first turn has a time, which some formats say.
    of_the_first = written(form, metadata={"derived": ["timestamp"]}).lost.get("times", 0)
    assert result.lost["times"] == of_the_first + 2
    assert not time or time not in "".join(result.documents)


@pytest.mark.parametrize("form", EVERY)
@pytest.mark.parametrize("time", [1767200000, None, ["08:15"], {}])
def test_a_time_that_is_no_string_is_no_time(form: str, time: Any) -> None:
    messages = written(form, timestamp=time).documents
    assert len(messages) == 1
    if form in WRITES:
        assert messages == written(form, timestamp="yesterday").documents


@pytest.mark.parametrize("form", WRITES)
@pytest.mark.parametrize("name", ["call_1", "", 7, None])
def test_calls_whose_ids_are_no_uuids_are_left_out_and_counted(form: str, name: Any) -> None:
    entry = {"tool_name": "look", "invocation_id": name, "arguments": {}}
    result = written(form, tool_invocations=[entry])
    assert result.lost["calls_without_id"] == 2
    assert written(form).lost.get("calls_without_id") is None


@pytest.mark.parametrize("form", [NATIVE, MARKDOWN, TEXT])
def test_what_is_written_for_people_and_for_the_next_store_has_those_calls(form: str) -> None:
    result = written(form, tool_invocations=[{"tool_name": "look", "invocation_id": "call_1"}])
    assert "call_1" in "".join(result.documents)
    assert "calls_without_id" not in result.lost
