"""What instrumentations write into GenAI traces in other words than the conventions have, and what is read from it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.errors import ValidationError
from agent.formats.conversation.message import Conversation
from agent.formats.otel_genai import read
from tests.formats.round_trips import again, captures, conversations, spoken, stored, written
from tests.formats.test_otel_genai import FORM, TRACE, called, log, shown, span, text

ASKED = text("user", "Weather in Oslo?")
DRY = text("assistant", "Dry.")


def refusals(document: Any) -> list[tuple[str, str]]:
    (error,) = read(document)
    assert isinstance(error, ValidationError)
    return [(each.path, each.rule) for each in error.problems]


def check_round_trip(document: Any) -> dict[str, Any]:
    """What is written of ``document`` says the same; it is returned."""
    with stored(FORM, document) as session:
        out, _ = written(FORM, session)
        assert again(FORM, out) == spoken(session)
    return out


# Events of the conventions up to 1.36.


@pytest.mark.parametrize(
    ("said", "body"),
    [
        ("Weather in Oslo?", "Weather in Oslo?"),
        ("", None),
        ("Weather in Oslo?", {"content": [{"type": "text", "text": "Weather in Oslo?"}]}),
        ("Weather in Oslo?", {"content": [{"type": "input_text", "text": "Weather in Oslo?"}]}),
    ],
    ids=["its body is the text", "its body is missing", "the parts of a chat API", "the parts of another API"],
)
def test_a_message_event_says_its_text_in_any_of_these_bodies(said, body):
    records = [log("gen_ai.user.message", body), log("gen_ai.choice", {"message": {"content": "Dry."}})]
    assert shown(records) == [("user", said), ("assistant", "Dry.")]


def test_a_message_event_whose_body_is_a_number_is_refused_with_its_place():
    records = [log("gen_ai.user.message", 7), log("gen_ai.choice", {"message": "Dry."})]
    assert [rule for _, rule in refusals(records)] == ["type"]


def test_a_choice_may_be_its_text_alone_and_one_without_a_message_is_an_empty_answer():
    asked = log("gen_ai.user.message", {"content": "Weather in Oslo?"})
    assert shown([asked, log("gen_ai.choice", {"index": 0, "message": "Dry."})])[1] == ("assistant", "Dry.")
    assert shown([asked, log("gen_ai.choice", {"index": 0, "finish_reason": "length"})])[1] == ("assistant", "")


def test_an_event_of_a_span_may_have_its_whole_body_as_json_in_one_attribute():
    document = {
        "name": "chat",
        "context": {"trace_id": TRACE, "span_id": "0x" + "1" * 16},
        "attributes": {"gen_ai.operation.name": "chat"},
        "events": [
            {"name": name, "attributes": {"gen_ai.system": "openai", "gen_ai.event.content": json.dumps(body)}}
            for name, body in (
                ("gen_ai.user.message", {"content": "Weather in Oslo?"}),
                ("gen_ai.choice", {"index": 0, "message": {"role": "assistant", "content": "Dry."}}),
            )
        ],
    }
    assert shown(document) == [("user", "Weather in Oslo?"), ("assistant", "Dry.")]


def test_an_event_whose_content_was_not_recorded_is_an_empty_message():
    unsaid = {"attributes": {"gen_ai.event.content": None}}
    records = [log("gen_ai.user.message", None, **unsaid), log("gen_ai.choice", {"message": "Dry."})]
    assert shown(records) == [("user", ""), ("assistant", "Dry.")]


def test_a_call_of_an_event_without_arguments_has_none_and_one_that_is_no_object_is_refused():
    def answered(call: Any) -> list[dict[str, Any]]:
        asked = log("gen_ai.user.message", {"content": "What time is it?"})
        return [asked, log("gen_ai.choice", {"index": 0, "message": {"tool_calls": [call]}})]

    (payload,) = captures(FORM, answered({"id": "c1", "type": "function", "function": {"name": "now"}}))
    (entry,) = payload["turns"][1]["tool_invocations"]
    assert entry["tool_name"] == "now"
    assert "arguments" not in entry
    assert [rule for _, rule in refusals(answered(5))] == ["type"]


# Messages of the conventions since 1.37.


def test_instructions_may_be_their_text_alone_and_come_back_as_that():
    document = [span(1, [ASKED], [DRY], **{"gen_ai.system_instructions": "Be brief."})]
    assert shown(document)[0] == ("system", "Be brief.")
    assert check_round_trip(document)["gen_ai.system_instructions"] == "Be brief."


def test_instructions_that_are_an_object_are_refused():
    document = [span(1, [ASKED], [DRY], **{"gen_ai.system_instructions": json.dumps({"content": "Be brief."})})]
    assert [rule for _, rule in refusals(document)] == ["type"]


def test_text_under_content_as_chat_apis_have_it_is_read_and_comes_back_there():
    sent = [
        {"role": "user", "content": "Weather in Oslo?"},
        {"role": "user", "content": [{"type": "text", "text": "Now"}]},
    ]
    document = [span(1, sent, [DRY])]
    assert shown(document) == [("user", "Weather in Oslo?"), ("user", "Now"), ("assistant", "Dry.")]
    assert check_round_trip(document)["gen_ai.input.messages"][:2] == sent


def test_a_call_or_a_result_whose_id_is_a_number_is_refused_by_name():
    call = {"role": "assistant", "parts": [{"type": "tool_call", "id": 7, "name": "weather"}]}
    result = {"role": "tool", "parts": [{"type": "tool_call_response", "id": 7, "response": "dry"}]}
    found = refusals([span(1, [ASKED, call, result], [DRY])])
    assert [(path.rpartition("messages")[2], rule) for path, rule in found] == [
        ('"][1].parts[0].id', "type"),
        ('"][2].parts[0].id', "type"),
    ]


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ([{"type": "text", "text": "dry"}, {"type": "text", "text": "cold"}], "dry\ncold"),
        ([{"type": "text", "text": 5}], '[{"type":"text","text":5}]'),
        ({"sky": "dry"}, '{"sky":"dry"}'),
    ],
    ids=["content parts", "parts of a wrong type", "an object"],
)
def test_a_response_in_content_parts_is_their_text_and_any_other_its_json(response, said):
    result = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": response}]}
    document = [span(1, [ASKED, called("c1", "weather", {}), result], [DRY])]
    (conversation,) = conversations(FORM, document)
    (found,) = (message.content for message in conversation.messages if message.role == "tool")
    assert found == said
    check_round_trip(document)


def searched(*more: dict[str, Any]) -> dict[str, Any]:
    """An answer for which the provider ran a tool of its own."""
    parts = [
        {"type": "text", "content": "I look."},
        {"type": "server_tool_call", "id": "s1", "name": "web_search", "server_tool_call": {"query": "Oslo"}},
        {"type": "server_tool_call_response", "id": "s1", "server_tool_call_response": {"hits": 1}},
        *more,
    ]
    return {"role": "assistant", "parts": parts, "finish_reason": "stop"}


@pytest.mark.parametrize("more", [[], [{"type": "text", "content": "Dry."}]], ids=["at the end", "in the middle"])
def test_results_of_the_providers_own_tools_are_turns_where_they_stand_in_an_answer(more):
    document = [span(1, [ASKED], [searched(*more)])]
    (conversation,) = conversations(FORM, document)
    assert isinstance(conversation, Conversation)
    roles = [message.role for message in conversation.messages]
    assert roles == ["user", "assistant", "tool", *(["assistant"] if more else [])]
    assert conversation.messages[2].results[0].native_id == "s1"
    assert conversation.messages[1].calls[0].arguments == {"query": "Oslo"}
    assert check_round_trip(document)["gen_ai.output.messages"] == [searched(*more)]


def test_an_answer_that_begins_with_a_result_has_no_empty_turn_before_it():
    parts = searched()["parts"][2:]
    document = [span(1, [ASKED], [{"role": "assistant", "parts": [*parts, *parts], "finish_reason": "stop"}])]
    (conversation,) = conversations(FORM, document)
    assert [message.role for message in conversation.messages] == ["user", "tool", "tool"]
