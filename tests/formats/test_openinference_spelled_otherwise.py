"""OpenInference and Vercel AI SDK spans as fewer exporters write them, and what is read from them."""

from __future__ import annotations

import json
from typing import Any

from agent.errors import ValidationError
from agent.formats.openinference import detect, read
from tests.formats.round_trips import again, conversations, spoken, stored, written
from tests.formats.test_openinference import FORM, TRACE, shown, span

LOOK = {"type": "tool-call", "toolCallId": "c1", "toolName": "look"}


def vercel(prompt: Any, **answer: Any) -> list[dict[str, Any]]:
    attributes = {"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": json.dumps(prompt)}
    return [span(1, attributes | {f"ai.response.{name}": value for name, value in answer.items()})]


def check_round_trip(document: Any) -> None:
    with stored(FORM, document) as session:
        out, _ = written(FORM, session)
        assert again(FORM, out) == spoken(session)


def test_messages_nested_in_the_attribute_llm_are_found_without_a_kind_of_span():
    llm = {
        "input_messages": [{"message": {"role": "user", "content": "What is this?"}}],
        "output_messages": [{"message": {"role": "assistant", "content": "A cat."}}],
    }
    document = [span(1, {"llm": llm})]
    assert detect(document)
    assert shown(document) == [("user", "What is this?"), ("assistant", "A cat.")]


def test_a_message_of_a_prompt_that_is_no_object_is_refused_with_its_place():
    (error,) = read(vercel([{"role": "user", "content": "Hi"}, "Hello"], text="A cat."))
    assert isinstance(error, ValidationError)
    assert [(each.path, each.rule) for each in error.problems] == [('$[0].attributes["ai.prompt.messages"][1]', "type")]


def test_content_that_is_neither_text_nor_parts_is_said_as_json():
    document = vercel([{"role": "user", "content": {"question": "What is this?"}}], text="A cat.")
    assert shown(document) == [("user", '{"question":"What is this?"}'), ("assistant", "A cat.")]
    check_round_trip(document)


def test_a_result_of_an_sdk_before_version_five_stands_in_result_as_it_is():
    results = [{"type": "tool-result", "toolCallId": "c1", "toolName": "look", "result": {"animal": "cat"}}]
    prompt = [
        {"role": "user", "content": "What is this?"},
        {"role": "assistant", "content": [{**LOOK, "args": {"at": 1}}]},
        {"role": "tool", "content": results},
    ]
    document = vercel(prompt, text="A cat.")
    assert shown(document)[2:] == [("tool", '{"animal":"cat"}'), ("assistant", "A cat.")]
    check_round_trip(document)


def test_a_call_without_arguments_has_none_and_one_that_is_no_object_is_left_out():
    document = vercel([{"role": "user", "content": "Look."}], toolCalls=json.dumps([LOOK, "look"]))
    (conversation,) = conversations(FORM, document)
    assert [(call.name, call.native_id, call.arguments) for call in conversation.messages[1].calls] == [
        ("look", "c1", ...)
    ]
    check_round_trip(document)


def test_what_the_model_thought_is_kept_and_is_nothing_that_it_said():
    document = vercel([{"role": "user", "content": "What is this?"}], text="A cat.", reasoning="It has whiskers.")
    (conversation,) = conversations(FORM, document)
    answer = conversation.messages[1]
    assert answer.content == "A cat."
    assert "It has whiskers." in json.dumps(answer.native)
    check_round_trip(document)


def values(number: int, kind: str, parent: str | None, **more: str) -> dict[str, Any]:
    named = {f"{name}.value": value for name, value in more.items()}
    return span(number, {"openinference.span.kind": kind} | named, parent=parent)


def test_where_no_call_was_traced_the_outermost_operation_that_says_both_is_the_talk():
    spans = [
        values(1, "CHAIN", None),
        values(2, "AGENT", f"0x{1:016x}", input="What is this?", output="A cat."),
        values(3, "CHAIN", f"0x{2:016x}"),
        values(4, "AGENT", f"0x{3:016x}", input="inner", output="said within"),
    ]
    assert {each["context"]["trace_id"] for each in spans} == {f"0x{TRACE}"}
    assert shown(spans) == [("user", "What is this?"), ("assistant", "A cat.")]


def test_operations_whose_parents_go_round_in_a_ring_still_say_theirs():
    spans = [
        values(1, "CHAIN", f"0x{2:016x}"),
        values(2, "CHAIN", f"0x{1:016x}"),
        values(3, "AGENT", f"0x{1:016x}", input="What is this?", output="A cat."),
    ]
    assert shown(spans) == [("user", "What is this?"), ("assistant", "A cat.")]
