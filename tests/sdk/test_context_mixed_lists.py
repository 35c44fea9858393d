"""Lists of messages that few programs have: of several libraries, of whole answers, and with a fault in the middle."""

from __future__ import annotations

from typing import Any

import pytest

from agent.errors import ValidationError
from agent.sdk import Message, apply_context_window
from agent.sdk.listed import listed
from tests.sdk.test_context_forms import ASKED, windowed
from tests.sdk.test_foreign_messages import HUMAN

GEMINI_ASKED = {"role": "user", "parts": [{"text": "and now?"}]}
REQUEST = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "where is it?"}]}
RESPONSE = {"kind": "response", "parts": [{"part_kind": "text", "content": "Bern."}]}
ANSWER = {
    "id": "resp_1",
    "object": "response",
    "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Bern."}]}],
}


def event(number: int, author: str, text: str) -> dict[str, Any]:
    """As the Agent Development Kit writes one."""
    role = "user" if author == "user" else "model"
    return {
        "id": f"e{number}",
        "author": author,
        "invocation_id": "i",
        "timestamp": 1733043686.25 + number,
        "content": {"role": role, "parts": [{"text": text}]},
        "actions": {},
    }


def said(messages: list[Any]) -> list[tuple[str, str | None]]:
    return [(turn.role, turn.content) for turn in listed(messages).turns]


@pytest.mark.parametrize(
    ("messages", "turns", "forms"),
    [
        (
            [ASKED, REQUEST, RESPONSE, GEMINI_ASKED, ASKED, HUMAN],
            [
                ("user", "where is it?"),
                ("user", "where is it?"),
                ("assistant", "Bern."),
                ("user", "and now?"),
                ("user", "where is it?"),
                ("user", "where is it?"),
            ],
            {"pydantic-ai", "gemini", "langchain"},
        ),
        (
            [ASKED, ANSWER, {**ASKED, "name": "ada"}, ASKED],
            [("user", "where is it?"), ("assistant", "Bern."), ("user", "where is it?"), ("user", "where is it?")],
            {"openai-responses", "openai-chat"},
        ),
    ],
    ids=["three libraries", "a whole answer between messages"],
)
def test_each_message_of_a_mixed_list_is_read_in_its_own_words_and_comes_back_itself(messages, turns, forms):
    assert said(messages) == turns
    assert set(listed(messages).forms.values()) == forms
    back = apply_context_window(messages, 10_000)
    assert all(one is other for one, other in zip(back, messages, strict=True))


def test_an_event_of_a_stream_that_holds_several_messages_is_one_turn():
    state = [{"type": "human", "data": {"content": "where is it?"}}, {"type": "ai", "data": {"content": "Bern."}}]
    (turn,) = listed([{"event": "values", "data": {"messages": state}}]).turns
    assert turn.content == "where is it?\n\nBern."


def test_what_holds_no_conversation_says_nothing_and_stays():
    nothing = {"eval_set_id": "s", "eval_cases": []}
    assert said([nothing]) == [("assistant", "")]
    assert apply_context_window([nothing], 10_000)[-1] is nothing


def test_what_a_message_of_ours_says_of_itself_goes_with_its_turn():
    (turn,) = listed([Message("user", "where is it?", metadata={"shop": "Bern"})]).turns
    assert turn.fields["metadata"] == {"shop": "Bern"}


@pytest.mark.parametrize(
    ("messages", "path"),
    [
        ([ASKED, {"x": 1}], "$.messages[1].role"),
        ([ASKED, {"role": "user", "content": [{"type": "text", "text": 5}]}], "$.messages[1].content[0].text"),
        ([ASKED, REQUEST, {"role": "user", "parts": [{"text": 5}]}], "$.messages[2].parts[0].text"),
        ([ASKED, {**ANSWER, "output": [{"type": "message", "role": 7}]}], "$.messages[1].output[0].role"),
    ],
    ids=["no message", "in a list of one form", "behind another library's", "in a whole answer"],
)
def test_a_fault_is_named_by_its_place_in_the_whole_list(messages, path):
    with pytest.raises(ValidationError) as caught:
        listed(messages)
    assert caught.value.problems[0].path == path
    assert "$[" not in caught.value.message


def test_a_window_over_events_of_the_adk_can_be_cut_again():
    events = [event(1, "user", "where?"), event(2, "planner", "Bern."), event(3, "user", "now?")]
    back = windowed(listed(events), "-", 1, 2)
    assert back[1:] == events[1:]
    found = listed(back)
    assert found.form == "google-adk"
    assert [turn.content for turn in found.turns] == ["... [2 messages removed] ...", "Bern.", "now?"]
