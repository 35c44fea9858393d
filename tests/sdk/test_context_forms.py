"""A list of messages in any form: read as one turn for each, and handed back in the form that it was given in."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from agent.core.pairs import paired_calls
from agent.core.turn import SessionTurn
from agent.core.window.marker import marker_turn
from agent.errors import ValidationError
from agent.sdk import Message, ToolCall, ToolResult
from agent.sdk.handed_back import handed_back
from agent.sdk.listed import Listed, listed
from tests.sdk.test_foreign_messages import (
    AI,
    ANSWER,
    ANSWER_RESULT,
    COMPLETION,
    COMPLETION_RESULT,
    GEMINI,
    GEMINI_RESULT,
    HUMAN,
    TOOL,
    ModelRequest,
    Part,
)

ASKED = {"role": "user", "content": "where is it?"}
OURS = [
    Message("user", "where is it?"),
    Message("assistant", "", tool_calls=[ToolCall("call_7", "track", {"n": 4471})]),
    Message("tool", "on its way", tool_results=[ToolResult("call_7", "track")]),
]
REASONED: list[dict[str, Any]] = [
    {"type": "message", "role": "user", "content": "where is it?"},
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {"type": "function_call", "call_id": "c", "name": "track", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "on its way"},
]
TWO_RESULTS: list[dict[str, Any]] = [
    ASKED,
    {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": "a", "name": "track", "input": {}},
            {"type": "tool_use", "id": "b", "name": "track", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "Bern"},
            {"type": "tool_result", "tool_use_id": "b", "content": "Basel"},
        ],
    },
]
# A completion that says something, once its calls are gone.
COMPLETION_LEFT = {"role": "assistant", "content": "I look", "refusal": None}


def marker(missing: int, beside: SessionTurn) -> SessionTurn:
    return marker_turn(missing, "... [{count} messages removed] ...", beside)


def windowed(messages: Listed, *kept: int | str) -> list[Any]:
    """What comes back of a window of the turns ``kept``, with a marker at each ``-``."""
    turns = messages.turns
    return handed_back(messages, [marker(2, turns[0]) if place == "-" else turns[int(place)] for place in kept])


@pytest.mark.parametrize(
    ("messages", "form"),
    [
        (OURS, None),
        ([HUMAN, AI, TOOL], "langchain"),
        ([ASKED, COMPLETION, COMPLETION_RESULT], "openai-chat"),
        ([ASKED, ANSWER, ANSWER_RESULT], "anthropic"),
        ([OURS[0], GEMINI, GEMINI_RESULT], "gemini"),
        (TWO_RESULTS, "anthropic"),
    ],
)
def test_each_message_is_one_turn_and_a_result_finds_its_call(messages: list[Any], form: str | None):
    found = listed(messages)
    assert found.form == form
    assert [turn.role for turn in found.turns] == ["user", "assistant", "tool"]
    assert [turn.seq for turn in found.turns] == [1, 2, 3]
    assert {call.place.turn_id for call in paired_calls(found.turns).values()} == {found.turns[1].turn_id}
    assert [turn.timestamp for turn in found.turns] == [None, None, None]


@pytest.mark.parametrize(
    "messages", [OURS, [HUMAN, AI, TOOL], [ASKED, COMPLETION, COMPLETION_RESULT], TWO_RESULTS, REASONED]
)
def test_what_is_kept_whole_is_the_very_objects_that_were_given(messages: list[Any]):
    found = listed(messages)
    back = handed_back(found, found.turns)
    assert len(back) == len(messages)
    assert all(one is other for one, other in zip(back, messages, strict=True))


def test_a_list_that_is_read_twice_has_the_same_turns():
    assert listed(TWO_RESULTS).turns == listed(copy.deepcopy(TWO_RESULTS)).turns


def test_reasoning_stays_with_the_item_behind_it():
    found = listed(REASONED)
    assert [list(places) for places in found.places] == [[0], [1, 2], [3]]
    assert windowed(found, 1, 2) == REASONED[1:]


def test_lists_of_two_libraries_may_stand_one_behind_the_other():
    found = listed([*OURS, ASKED, COMPLETION, COMPLETION_RESULT, ("user", "and now?")])
    assert [turn.role for turn in found.turns] == ["user", "assistant", "tool", "user", "assistant", "tool", "user"]
    calls = {place.turn_id: call.place.turn_id for place, call in paired_calls(found.turns).items()}
    assert calls == {found.turns[2].turn_id: found.turns[1].turn_id, found.turns[5].turn_id: found.turns[4].turn_id}


def test_a_time_that_a_message_has_is_kept_and_none_is_made_up():
    found = listed([ModelRequest([Part("where is it?")]), Message("user", "and?")])
    assert [turn.timestamp for turn in found.turns] == ["2026-03-02T09:00:00+00:00", None]


def test_an_empty_list_has_no_turns():
    assert listed([]) == Listed((), (), (), (), None, {})


@pytest.mark.parametrize(
    ("messages", "path"),
    [
        ("hello", "$.messages"),
        (ASKED, "$.messages"),
        (7, "$.messages"),
        ([ASKED, 7], "$.messages[1]"),
        ([{"x": 1}], "$.messages[0].role"),
        ([ASKED, {"role": "bot", "content": "a"}], "$.messages[1].role"),
    ],
)
def test_what_is_no_message_is_refused_by_its_place(messages: Any, path: str):
    with pytest.raises(ValidationError) as caught:
        listed(messages)
    assert [problem.path for problem in caught.value.problems] == [path]


@pytest.mark.parametrize(
    ("messages", "mark"),
    [
        (OURS, Message("system", "... [2 messages removed] ...", metadata={"marker": 2})),
        ([ASKED, COMPLETION, COMPLETION_RESULT], {"role": "system", "content": "... [2 messages removed] ..."}),
        ([HUMAN, AI, TOOL], {"role": "system", "content": "... [2 messages removed] ..."}),
        (REASONED, {"role": "system", "content": "... [2 messages removed] ..."}),
        (
            [ModelRequest([Part("a")])] * 3,
            {
                "kind": "request",
                "parts": [{"part_kind": "system-prompt", "content": "... [2 messages removed] ..."}],
            },
        ),
    ],
)
def test_a_marker_is_a_system_message_of_the_form(messages: list[Any], mark: Any):
    assert windowed(listed(messages), "-", 0)[0] == mark


def test_where_a_list_holds_no_system_message_the_next_user_message_begins_with_the_marker():
    messages = [*TWO_RESULTS, {"role": "user", "content": "and now?"}]
    before = copy.deepcopy(messages)
    assert windowed(listed(messages), "-", 3) == [
        {"role": "user", "content": "... [2 messages removed] ...\n\nand now?"}
    ]
    parts = [*TWO_RESULTS, {"role": "user", "content": [{"type": "text", "text": "and now?"}]}]
    assert windowed(listed(parts), 0, "-", 3)[-1]["content"] == [
        {"type": "text", "text": "where is it?"},
        {"type": "text", "text": "... [2 messages removed] ..."},
        {"type": "text", "text": "and now?"},
    ]
    assert messages == before


def test_no_marker_makes_two_messages_of_the_user_stand_beside_each_other():
    messages = [*TWO_RESULTS, {"role": "assistant", "content": "Both."}, {"role": "user", "content": "and now?"}]
    before = copy.deepcopy(messages)
    asked = {"role": "user", "content": "where is it?\n\n... [2 messages removed] ..."}
    assert windowed(listed(messages), 0, "-", 3) == [asked, messages[3]]
    assert windowed(listed(messages), 0, "-") == [asked]
    assert windowed(listed(messages), 0, "-", 4) == [{**asked, "content": f"{asked['content']}\n\nand now?"}]
    (_, _, both) = windowed(listed(messages), 0, 1, 2, "-", 4)
    assert both["content"] == [
        *TWO_RESULTS[2]["content"],
        {"type": "text", "text": "... [2 messages removed] ...\n\nand now?"},
    ]
    assert messages == before


def test_where_it_would_begin_with_no_user_the_marker_is_a_user_message():
    assert windowed(listed(TWO_RESULTS), "-", 1, 2) == [
        {"role": "user", "content": "... [2 messages removed] ..."},
        *TWO_RESULTS[1:],
    ]
    gemini = listed([{"role": "user", "parts": [{"text": "a"}]}, GEMINI, GEMINI_RESULT])
    assert windowed(gemini, "-", 1, 2)[0] == {"role": "user", "parts": [{"text": "... [2 messages removed] ..."}]}


@pytest.mark.parametrize(
    ("given", "back"),
    [
        (ASKED, {"role": "user", "content": "wh..."}),
        ({**ASKED, "name": "ada"}, {"role": "user", "content": "wh...", "name": "ada"}),
        (Message("user", "where is it?"), Message("user", "wh...")),
        (("user", "where is it?"), ("user", "wh...")),
        (
            {"type": "human", "data": {"type": "human", "content": "where is it?"}},
            {"type": "human", "data": {"type": "human", "content": "wh..."}},
        ),
        (
            {"role": "user", "content": [{"type": "text", "text": "where is it?"}]},
            {"role": "user", "content": [{"type": "text", "text": "wh..."}]},
        ),
        ({"role": "user", "parts": [{"text": "where is it?"}]}, {"role": "user", "parts": [{"text": "wh..."}]}),
    ],
)
def test_a_message_that_is_cut_is_another_one_with_less_text(given: Any, back: Any):
    before = copy.deepcopy(given)
    found = listed([given])
    assert handed_back(found, [replace(found.turns[0], content="wh...")]) == [back]
    assert given == before


def test_an_object_that_copies_itself_is_cut_by_its_own_way():
    class Said:
        """As the models of pydantic copy themselves."""

        def __init__(self, content: str) -> None:
            self.content = content

        def model_dump(self, **_: Any) -> dict[str, Any]:
            return {"role": "user", "content": self.content}

        def model_copy(self, *, update: dict[str, Any]) -> Said:
            return Said(update["content"])

    given = Said("where is it?")
    found = listed([given])
    (back,) = handed_back(found, [replace(found.turns[0], content="wh...")])
    assert isinstance(back, Said)
    assert (back.content, given.content) == ("wh...", "where is it?")


@pytest.mark.parametrize(
    ("given", "back"),
    [
        (COMPLETION.model_dump(mode="json", warnings=False) | {"content": "I look"}, COMPLETION_LEFT),
        (
            {"role": "assistant", "content": [{"type": "text", "text": "I look"}, *TWO_RESULTS[1]["content"]]},
            {"role": "assistant", "content": [{"type": "text", "text": "I look"}]},
        ),
        (Message("assistant", "I look", tool_calls=[ToolCall("c", "t")]), Message("assistant", "I look")),
        (
            {
                "type": "ai",
                "data": {"type": "ai", "content": "I look", "tool_calls": [{"id": "c", "name": "t", "args": {}}]},
            },
            {"type": "ai", "data": {"type": "ai", "content": "I look"}},
        ),
    ],
)
def test_a_message_whose_calls_have_no_results_says_only_what_it_says(given: Any, back: Any):
    found = listed([given])
    (turn,) = found.turns
    without = {name: value for name, value in turn.fields.items() if name != "tool_invocations"}
    assert handed_back(found, [replace(turn, fields=without)]) == [back]
