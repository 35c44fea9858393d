"""A message: what it may say, and that it never changes."""

from __future__ import annotations

import copy
import json
import pickle
from datetime import UTC, datetime, timedelta, timezone

import pytest

from agent.errors import ValidationError
from agent.sdk import Message, ToolCall, ToolResult
from agent.sdk.json_value import ALLOWED


def refused(*arguments: object, **named: object) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        Message(*arguments, **named)
    return [(problem.path, problem.rule) for problem in caught.value.problems]


@pytest.mark.parametrize("role", ["user", "assistant", "tool", "system"])
def test_the_four_roles_are_kept_as_they_are(role):
    assert Message(role, "words").role == role


def test_an_agent_is_an_assistant():
    assert Message("agent", "words").role == "assistant"


@pytest.mark.parametrize("role", ["robot", "", "User", "developer"])
def test_another_role_is_refused(role):
    assert refused(role, "words") == [("$.role", "enum")]


def test_everything_that_is_wrong_is_named_at_once():
    wrong = refused(5, None, "yesterday", "no object", agent=1, model=2, turn_id=3, token_usage=[1])
    assert set(wrong) == {
        ("$.role", "type"),
        ("$.text", "type"),
        ("$.timestamp", "format"),
        ("$.metadata", "type"),
        ("$.agent", "type"),
        ("$.model", "type"),
        ("$.turn_id", "type"),
        ("$.token_usage", "type"),
    }


def test_a_refusal_does_not_repeat_what_was_given():
    with pytest.raises(ValidationError) as caught:
        Message("user", "words", "a secret time", {"key": object()})
    assert "secret" not in str(caught.value)


def test_a_message_never_changes():
    message = Message("user", "words")
    for name in ("text", "content", "role"):
        with pytest.raises(AttributeError):
            setattr(message, name, "others")


def test_content_is_another_word_for_the_text():
    assert Message("user", "words").content == "words"
    assert Message("user", "").content == ""
    assert "content" not in Message._fields


ROLE = "role must be one of user, assistant, tool, system; agent and ai are taken for assistant, human for user"
TIMESTAMP = (
    "timestamp must be an RFC 3339 date-time with an offset, such as 2026-03-02T08:15:00Z,"
    " or a datetime with a time zone"
)


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ({"role": "robot"}, ROLE),
        ({"role": None}, ROLE),
        ({"text": None}, "text must be a string"),
        ({"text": "half \ud800"}, "text must be text without half surrogate pairs"),
        ({"timestamp": "2026-03-02T08:15:03"}, TIMESTAMP),
        ({"timestamp": datetime(2026, 3, 2, 8, 15)}, TIMESTAMP),
        ({"timestamp": 1772439300}, TIMESTAMP),
        ({"metadata": [1]}, "metadata must be a mapping"),
        ({"metadata": {"a": [float("inf")]}}, "metadata.a[0] must be a finite number"),
        (
            {"metadata": {"a": {1}}},
            f"metadata.a {ALLOWED['type']}",
        ),
        ({"agent": 5}, "agent must be a string"),
        ({"token_usage": 5}, "token_usage must be a mapping"),
        ({"tool_calls": 5}, "tool_calls must be a list of ToolCall"),
        ({"tool_calls": [{"id": "c"}]}, "tool_calls[0] must be a ToolCall"),
        ({"tool_calls": [ToolCall(5, "track")]}, "tool_calls[0].invocation_id must be a string"),
        ({"role": "tool", "tool_calls": [ToolCall("c", "t")]}, "tool_calls[0] must not stand on a tool's message"),
        ({"tool_results": [ToolResult("c", "t")]}, "tool_results[0] must stand on a tool's message"),
    ],
)
def test_a_refusal_says_what_is_allowed(given, allowed):
    with pytest.raises(ValidationError) as caught:
        Message(**{"role": "user", "text": "words", **given})
    assert caught.value.message == f"this is no message: {allowed}"


def test_a_time_of_an_early_year_has_four_digits_for_it():
    assert Message("user", "words", datetime(33, 4, 3, tzinfo=UTC)).timestamp == "0033-04-03T00:00:00.000000Z"


def test_a_time_that_leaves_the_years_that_there_are_is_refused():
    first = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    assert refused("user", "words", first) == [("$.timestamp", "format")]


def test_a_time_may_be_written_or_an_instant():
    assert Message("user", "words", "2026-03-02T10:15:00+02:00").timestamp == "2026-03-02T10:15:00+02:00"
    instant = datetime(2026, 3, 2, 10, 15, tzinfo=timezone(timedelta(hours=2)))
    assert Message("user", "words", instant).timestamp == "2026-03-02T08:15:00.000000Z"


def test_a_time_without_an_offset_names_no_instant():
    assert refused("user", "words", "2026-03-02T08:15:03") == [("$.timestamp", "format")]
    assert refused("user", "words", datetime(2026, 3, 2, 8, 15)) == [("$.timestamp", "format")]
    assert refused("user", "words", 1772439300) == [("$.timestamp", "type")]


def test_metadata_is_a_copy_of_what_was_given():
    given = {"list": [1, {"deep": True}], "pair": (1, 2)}
    message = Message("user", "words", metadata=given)
    given["list"].append(2)
    assert message.metadata == {"list": [1, {"deep": True}], "pair": [1, 2]}


@pytest.mark.parametrize(
    ("value", "rule"),
    [(object(), "type"), (float("nan"), "number_range"), (float("inf"), "number_range"), ("\ud800", "surrogate")],
)
def test_metadata_that_json_has_no_form_for_is_refused_by_its_path(value, rule):
    assert refused("user", "words", metadata={"a": [0, {"b": value}]}) == [("$.metadata.a[1].b", rule)]


def test_a_key_that_is_no_string_is_refused():
    assert refused("user", "words", metadata={"a": {1: "one"}}) == [("$.metadata.a", "type")]


def test_what_holds_itself_is_refused():
    ring: dict[str, object] = {}
    ring["ring"] = ring
    (problem,) = refused("user", "words", metadata=ring)
    assert problem[1] == "depth"


def test_calls_stand_on_any_message_but_a_tools():
    call = ToolCall("call_7", "track", {"n": 4471})
    assert Message("assistant", "", tool_calls=[call]).tool_calls == (call,)
    assert refused("tool", "words", tool_calls=[call]) == [("$.tool_calls[0]", "not")]


def test_results_stand_on_a_tools_message_only():
    result = ToolResult("call_7", "track", success=True)
    assert Message("tool", "on its way", tool_results=[result]).tool_results == (result,)
    assert refused("user", "words", tool_results=[result]) == [("$.tool_results[0]", "not")]


def test_a_call_is_a_tool_call_with_names_and_json():
    wrong = refused("assistant", "", tool_calls=[{"id": "call_7"}, ToolCall(7, "track"), ToolCall("c", "t", object())])
    assert wrong == [
        ("$.tool_calls[0]", "type"),
        ("$.tool_calls[1].invocation_id", "type"),
        ("$.tool_calls[2].arguments", "type"),
    ]


def test_a_message_survives_copying_and_pickling():
    message = Message("assistant", "words", metadata={"a": 1}, agent="shop", tool_calls=[ToolCall("c", "t", {"x": 1})])
    assert pickle.loads(pickle.dumps(message)) == message
    assert copy.deepcopy(message) == message


def test_messages_that_say_the_same_are_equal():
    at = datetime(2026, 3, 2, tzinfo=UTC)
    assert Message("user", "words", at) == Message("user", "words", at)
    assert Message("user", "words") != Message("assistant", "words")


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (ToolCall("", "track"), ("$.tool_calls[0].invocation_id", "minLength")),
        (ToolCall("x" * 257, "track"), ("$.tool_calls[0].invocation_id", "maxLength")),
        (ToolCall("c", ""), ("$.tool_calls[0].tool_name", "minLength")),
        (ToolCall("c", "track", success="yes"), ("$.tool_calls[0].success", "type")),
        (ToolCall("c", "track", native_id="x" * 257), ("$.tool_calls[0].native_id", "maxLength")),
    ],
)
def test_a_call_that_no_capture_would_take_is_refused_where_it_is_made(call, problem):
    assert refused("assistant", "", tool_calls=[call]) == [problem]


def test_what_is_replaced_is_checked_as_in_a_new_message():
    message = Message("user", "words", turn_id="m1")
    assert message._replace(text="others") == Message("user", "others", turn_id="m1")
    assert message._replace(role="ai", seq=5).seq == 5
    with pytest.raises(ValidationError):
        message._replace(role="robot")


@pytest.mark.parametrize(("word", "role"), [("ai", "assistant"), ("human", "user")])
def test_the_roles_of_langchain_are_taken(word, role):
    assert Message(word, "words").role == role


def test_metadata_is_for_reading_all_the_way_down():
    message = Message("user", "words", metadata={"deep": {"list": [1]}})
    for change in (
        lambda: message.metadata.__setitem__("a", 1),
        lambda: message.metadata.update(a=1),
        lambda: message.metadata["deep"].pop("list"),
        lambda: message.metadata["deep"]["list"].append(2),
    ):
        with pytest.raises(TypeError, match="for reading"):
            change()
    assert json.dumps(message.metadata) == '{"deep": {"list": [1]}}'


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_copy_of_metadata_may_be_changed(copied):
    own = copied(Message("user", "words", metadata={"deep": {"list": [1]}}).metadata)
    own["deep"]["list"].append(copied(Message("user", "x", metadata={"l": [1]}).metadata["l"]))
    assert own == {"deep": {"list": [1, [1]]}}
