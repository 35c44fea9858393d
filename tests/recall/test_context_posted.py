"""Lists that no store has: read in the words of their format, and given back in them."""

from __future__ import annotations

from typing import Any

import pytest

from agent.errors import ValidationError
from agent.recall.context import ContextRequest, ContextSettings, SessionWindows, list_window, written
from agent.recall.posted_messages import FORMATS, posted_messages

CALL = {"id": "call_1", "type": "function", "function": {"name": "track", "arguments": '{"n": 4471}'}}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where is it?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "Bern"},
    {"role": "assistant", "content": "In Bern."},
    {"role": "user", "content": "Thanks"},
]
# The same in the words of others: the list, and the member that it stands in where it is part of a document.
ANTHROPIC = {
    "system": "Be brief.",
    "messages": [
        {"role": "user", "content": "Where is it?"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "track", "input": {"n": 4471}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "Bern"}]},
        {"role": "assistant", "content": "In Bern."},
        {"role": "user", "content": "Thanks"},
    ],
}
GEMINI = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "contents": [
        {"role": "user", "parts": [{"text": "Where is it?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "track", "args": {"n": 4471}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "track", "response": {"city": "Bern"}}}]},
        {"role": "model", "parts": [{"text": "In Bern."}]},
        {"role": "user", "parts": [{"text": "Thanks"}]},
    ],
}
RESPONSES = {
    "input": [
        {"role": "user", "content": "Where is it?"},
        {"type": "function_call", "call_id": "call_1", "name": "track", "arguments": '{"n": 4471}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "Bern"},
        {"role": "user", "content": "Thanks"},
    ]
}
LISTS: list[tuple[Any, str, str]] = [
    (CHAT, "openai-chat", "messages"),
    ({"messages": CHAT}, "openai-chat", "messages"),
    (ANTHROPIC, "anthropic", "messages"),
    (ANTHROPIC["messages"], "anthropic", "messages"),
    (GEMINI, "gemini", "contents"),
    (GEMINI["contents"], "gemini", "contents"),
    (RESPONSES, "openai-responses", "input"),
]


def window(messages: Any, max_tokens: int = 10_000, form: str | None = None) -> tuple[dict[str, Any], str]:
    given = posted_messages(messages)
    request = ContextRequest(max_tokens=max_tokens, reserved_tokens=0, format=form or given.form)
    found = list_window(given.turns, request, ContextSettings(), SessionWindows())
    return written(found, form or given.form, came_in=given.form).document, given.form


@pytest.mark.parametrize(
    ("messages", "form", "member"), LISTS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_fits_comes_back_as_it_came(messages: Any, form: str, member: str) -> None:
    document, found = window(messages)
    assert found == form
    assert document[member] == (messages if isinstance(messages, list) else messages[member])


@pytest.mark.parametrize(
    ("messages", "form", "member"), LISTS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_smaller_budget_leaves_the_newest_and_no_half_of_an_exchange(messages: Any, form: str, member: str) -> None:
    for budget in range(40, 130, 3):
        text = str(window(messages, budget)[0][member])
        assert "Thanks" in text
        assert ("4471" in text) == ("'Bern'" in text)


def test_a_list_may_be_answered_in_another_format() -> None:
    document, _ = window(ANTHROPIC, form="openai-chat")
    assert [each["role"] for each in document["messages"]] == [each["role"] for each in CHAT]


def test_the_same_list_has_the_same_window() -> None:
    assert posted_messages(CHAT).turns == posted_messages([dict(each) for each in CHAT]).turns


def test_no_time_is_made_up() -> None:
    assert all(turn.timestamp is None for turn in posted_messages(CHAT).turns)


def test_an_empty_list_has_an_empty_window() -> None:
    assert window([])[0]["messages"] == []


def test_a_list_of_ten_thousand_and_more_is_one_list() -> None:
    messages = [{"role": ("user", "assistant")[place % 2], "content": str(place)} for place in range(10_050)]
    turns = posted_messages(messages).turns
    assert [turn.content for turn in turns] == [str(place) for place in range(10_050)]
    assert len({turn.turn_id for turn in turns}) == 10_050


@pytest.mark.parametrize(
    ("messages", "paths"),
    [
        ("CANARY", ["$.messages"]),
        (None, ["$.messages"]),
        ([1], ["$.messages"]),
        ({"CANARY": []}, ["$.messages"]),
        ([{"role": "CANARY", "content": "CANARY"}], ["$.messages"]),
        ([{"role": "user", "content": 5}], ["$.messages[0].content"]),
        ([*CHAT, {"role": "user", "content": {"CANARY": 1}}], ["$.messages[6].content"]),
    ],
)
def test_what_is_no_list_of_messages_is_refused_by_its_place_and_never_by_its_words(
    messages: Any, paths: list[str]
) -> None:
    with pytest.raises(ValidationError) as refused:
        posted_messages(messages)
    assert [problem.path for problem in refused.value.problems] == paths
    assert "CANARY" not in f"{refused.value} {refused.value.problems}"


def test_the_formats_are_tried_with_the_one_that_takes_anything_last() -> None:
    assert FORMATS[-1] == "openai-chat"
    assert len(set(FORMATS)) == len(FORMATS) == 9
