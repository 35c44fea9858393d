"""The format openinference: spans with flattened messages, and those of the Vercel AI SDK, in and out."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.errors import ValidationError
from agent.formats import format_named
from agent.formats.conversation.message import Conversation
from agent.formats.openinference import detect, key, read
from tests.formats.round_trips import again, bare, captures, conversations, lines, memory, spoken, stored, written
from tests.formats.test_otel_genai import anything, mutated, of_the_store, otlp, with_natives

FORM = "openinference"
SPANS = "otel__openinference__vercel-ai-v6-spans.json"
TRACE, OTHER_TRACE = "a" * 32, "b" * 32

# Messages as OpenInference flattens them: an image, two calls at once, a result that is empty, one without its call.
CHAT: list[dict[str, Any]] = [
    {"message.role": "system", "message.content": "Be brief."},
    {
        "message.role": "user",
        "message.contents.0.message_content.type": "text",
        "message.contents.0.message_content.text": "What is this?",
        "message.contents.1.message_content.type": "image",
        "message.contents.1.message_content.image.image.url": "data:image/png;base64,iVBORw0KGgo=",
    },
    {
        "message.role": "assistant",
        "message.tool_calls.0.tool_call.id": "c1",
        "message.tool_calls.0.tool_call.function.name": "look",
        "message.tool_calls.0.tool_call.function.arguments": '{"at": 1}',
        "message.tool_calls.1.tool_call.id": "c2",
        "message.tool_calls.1.tool_call.function.name": "look",
        "message.tool_calls.1.tool_call.function.arguments": '{"at":2}',
    },
    {"message.role": "tool", "message.tool_call_id": "c1", "message.content": "", "message.name": "look"},
    {"message.role": "user", "message.tool_call_id": "c2", "message.content": "a cat"},
    {"message.role": "assistant", "message.content": "A cat."},
]
SHOWN = [
    ("system", "Be brief."),
    ("user", "What is this?\n[image: image/png]"),
    ("assistant", ""),
    ("tool", ""),
    ("tool", "a cat"),
    ("assistant", "A cat."),
]


def flattened(name: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        f"llm.{name}_messages.{place}.{member}": value
        for place, message in enumerate(messages)
        for member, value in message.items()
    }


def span(number: int, attributes: dict[str, Any], *, trace: str = TRACE, parent: str | None = None) -> dict[str, Any]:
    return {
        "name": "call",
        "context": {"trace_id": f"0x{trace}", "span_id": f"0x{number:016x}"},
        "parent_id": parent,
        "start_time": f"2026-03-02T08:15:{number:02d}.000000Z",
        "end_time": f"2026-03-02T08:15:{number:02d}.500000Z",
        "attributes": attributes,
    }


def traced(chat: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    return [
        span(
            place,
            {
                "openinference.span.kind": "LLM",
                "llm.model_name": "m",
                "llm.token_count.prompt": 10 * place,
                "llm.token_count.completion": place,
                "llm.token_count.total": 11 * place,
                **flattened("input", chat[:place]),
                **flattened("output", [chat[place]]),
                **more,
            },
        )
        for place in range(len(chat))
        if chat[place]["message.role"] == "assistant"
    ]


def shown(document: Any) -> list[tuple[str, str]]:
    (conversation,) = conversations(FORM, document)
    return [(message.role, message.content) for message in conversation.messages]


def test_a_history_that_every_call_repeats_is_read_once():
    assert shown(traced(CHAT)) == SHOWN


def test_what_the_span_says_of_the_answer_is_derived():
    (payload,) = captures(FORM, traced(CHAT, **{"session.id": "chat-7", "llm.provider": "p"}))
    first, last = (turn for turn in payload["turns"] if turn["role"] == "assistant")
    assert payload["native_session_id"] == "chat-7"
    assert (first["model"], last["timestamp"]) == ("m", "2026-03-02T08:15:05.500000Z")
    assert first["token_usage"] == {"prompt_tokens": 20, "completion_tokens": 2, "total_tokens": 22}
    assert {"timestamp", "model", "token_usage"} <= set(first["metadata"]["derived"])
    assert payload["native"]["beside"]["llm.provider"] == "p"


def test_the_messages_come_back_as_they_came():
    with stored(FORM, traced(CHAT)) as session:
        document, result = written(FORM, session)
    found = {name: value for name, value in document.items() if name.startswith("llm.")}
    assert found == flattened("input", CHAT[:-1]) | flattened("output", CHAT[-1:])
    assert not result.lost.keys() - {"models", "token_usage"}
    assert detect(document)


def test_bare_turns_say_the_same():
    with stored(FORM, traced(CHAT)) as session:
        document, _ = written(FORM, bare(session))
        assert again(FORM, document) == spoken(session)


def nested(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes as they are before they are flattened."""

    def grouped(messages: list[dict[str, Any]]) -> list[Any]:
        return [
            {"message": {name.removeprefix("message."): value for name, value in message.items()}}
            for message in messages
        ]

    rest = {name: value for name, value in attributes.items() if "_messages." not in name}
    sent = [m for m in CHAT if any(n.startswith(f"llm.input_messages.{CHAT.index(m)}.") for n in attributes)]
    return rest | {"llm": {"input_messages": grouped(sent), "output_messages": grouped(CHAT[len(sent) :][:1])}}


@pytest.mark.parametrize("form", ["nested", "OTLP", "JSON in a string"])
def test_attributes_are_the_same_however_they_were_exported(form):
    spans = traced(CHAT)
    for each in spans:
        attributes = each["attributes"]
        if form == "nested":
            each["attributes"] = nested(attributes)
        elif form == "OTLP":
            each["attributes"] = [{"key": name, "value": otlp(value)} for name, value in attributes.items()]
        else:
            inner = nested(attributes).pop("llm")
            kept = {name: value for name, value in attributes.items() if "_messages." not in name}
            each["attributes"] = kept | {f"llm.{name}": json.dumps(value) for name, value in inner.items()}
    assert detect(spans)
    assert shown(spans) == SHOWN


def test_spans_around_calls_repeat_them_and_speak_where_there_are_none():
    agent = span(9, {"openinference.span.kind": "AGENT", "input.value": "What is this?", "output.value": "A cat."})
    chain = span(10, agent["attributes"], parent=agent["context"]["span_id"])
    under = [{**each, "parent_id": agent["context"]["span_id"]} for each in traced(CHAT)]
    assert shown([*under, agent]) == SHOWN
    assert shown([chain, agent]) == [("user", "What is this?"), ("assistant", "A cat.")]


def test_tool_spans_are_counted_as_known_or_not():
    def tool(number: int, value: str) -> dict[str, Any]:
        return span(number, {"openinference.span.kind": "TOOL", "tool.name": "look", "output.value": value})

    (conversation,) = conversations(FORM, [*traced(CHAT), tool(11, "a cat"), tool(12, "a dog")])
    assert [(m.role, m.content) for m in conversation.messages] == SHOWN
    assert conversation.ignored.counts["tool spans that repeat messages"] == 1
    assert conversation.ignored.counts["tool spans of no message"] == 1


PROMPT = [
    {"role": "system", "content": "Be brief."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "What is this?"},
            {"type": "file", "mediaType": "image/png", "data": "iVBORw0KGgo="},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "Look first."},
            {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "input": {"at": 1}},
            {"type": "tool-call", "toolCallId": "c2", "toolName": "look", "input": {"at": 2}},
        ],
    },
    {
        "role": "tool",
        "content": [
            {"type": "tool-result", "toolCallId": "c1", "toolName": "look", "output": {"type": "text", "value": "cat"}},
            {
                "type": "tool-result",
                "toolCallId": "c2",
                "toolName": "look",
                "output": {"type": "error-text", "value": "dark"},
            },
        ],
    },
]


def vercel(prompt: list[Any], **answer: Any) -> dict[str, Any]:
    return {
        "name": "ai.generateText.doGenerate",
        "spanContext": {"traceId": TRACE, "spanId": f"{len(prompt):016x}"},
        "parentSpanId": "9" * 16,
        "startTime": [1772439300, len(prompt)],
        "endTime": [1772439301, len(prompt)],
        "attributes": {
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.prompt.messages": json.dumps(prompt),
            "ai.response.model": "m",
            "ai.usage.promptTokens": 5,
            "ai.usage.completionTokens": 2,
            **{f"ai.response.{name}": value for name, value in answer.items()},
        },
    }


def test_calls_of_the_vercel_ai_sdk_are_read_with_their_tools_and_errors():
    calls = [
        {"toolCallId": "c1", "toolName": "look", "input": '{"at":1}'},
        {"toolCallId": "c2", "toolName": "look", "input": '{"at":2}'},
    ]
    spans = [
        vercel(PROMPT[:2], toolCalls=json.dumps(calls)),
        vercel(PROMPT, text="A cat."),
        {
            "name": "ai.generateText",
            "spanContext": {"traceId": TRACE, "spanId": "9" * 16},
            "startTime": [1772439300, 0],
            "endTime": [1772439302, 0],
            "attributes": {
                "ai.operationId": "ai.generateText",
                "ai.prompt": json.dumps({"system": "Be brief.", "messages": PROMPT[1:2]}),
                "ai.response.text": "A cat.",
            },
        },
    ]
    (conversation,) = conversations(FORM, spans)
    assert conversation.ignored.counts["spans that repeat others"] == 1
    assert [(m.role, m.content) for m in conversation.messages] == [
        ("system", "Be brief."),
        ("user", "What is this?\n[file: image/png]"),
        ("assistant", ""),
        ("tool", "cat"),
        ("tool", "dark"),
        ("assistant", "A cat."),
    ]
    assert [call.arguments for call in conversation.messages[2].calls] == [{"at": 1}, {"at": 2}]
    assert [m.results[0].success for m in conversation.messages if m.role == "tool"] == [None, False]
    with stored(FORM, spans) as session:
        document, result = written(FORM, session)
        assert again(FORM, document) == spoken(session)
        assert "success" not in result.lost
        document, result = written(FORM, bare(session))
        assert result.lost["success"] == 1
        assert again(FORM, document) == [
            {**each, "results": [(*told[:2], None) for told in each["results"]]} for each in spoken(session)
        ]


def test_a_wrong_type_is_refused_with_its_session_alone_and_junk_is_counted():
    wrong = span(1, {"llm.input_messages.0.message.role": "wizard", "llm.input_messages.1.message.content": 5})
    wrong["context"]["trace_id"] = OTHER_TRACE
    good, bad = read([*traced(CHAT), wrong, 42, "x", {}, None])
    assert isinstance(good, Conversation)
    assert good.ignored.counts["lines that are no records"] == 4
    assert isinstance(bad, ValidationError)
    assert [(each.path, each.rule) for each in bad.problems] == [
        ('$[2].attributes["llm.input_messages"][0].role', "enum"),
        ('$[2].attributes["llm.input_messages"][1].role', "required"),
    ]


def test_two_traces_of_a_session_make_the_same_turns_together_and_apart():
    first, second = traced(CHAT, **{"session.id": "chat-7"})
    second["context"]["trace_id"] = OTHER_TRACE
    # A trace that begins otherwise is another conversation of the session.
    other = traced([{"message.role": "user", "message.content": "And?"}, CHAT[-1]], **{"session.id": "chat-7"})
    other[0] |= {"start_time": "2026-03-02T08:16:00.000000Z", "end_time": "2026-03-02T08:16:01.000000Z"}
    other[0]["context"]["trace_id"] = "c" * 32
    records = [first, second, *other]
    assert [key(each) for each in records] == [TRACE, OTHER_TRACE, "c" * 32]
    with memory() as kept, memory() as apart:
        for payload in captures(FORM, records):
            kept.capture(payload)
        for record in records:
            for payload in captures(FORM, [record]):
                assert apart.capture(payload)["turns"]["revised"] == 0
        session = payload["session_id"]
        assert of_the_store(apart.session(session)) == of_the_store(kept.session(session))
        assert len(kept.session(session).shown) == len(SHOWN) + 2


def test_a_trace_that_grows_adds_turns_and_changes_none():
    spans = traced(CHAT)
    before, after = captures(FORM, spans[:1]), captures(FORM, spans)
    assert after[0]["turns"][: len(before[0]["turns"])] == before[0]["turns"]


def test_binary_data_over_4_kib_stand_by_their_digest_and_are_counted():
    url = "data:image/png;base64," + "iVBO" * 2000
    chat = [{**CHAT[1], "message.contents.1.message_content.image.image.url": url}, CHAT[-1]]
    with stored(FORM, traced(chat)) as session:
        assert session.shown[0].content == SHOWN[1][1]
        document, result = written(FORM, session)
        assert url not in json.dumps(document)
        assert result.lost["binaries"] == 1
        assert again(FORM, document) == spoken(session)


VERCEL = [vercel(PROMPT[:2], text="Hm."), vercel(PROMPT, text="A cat.")]


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=300, deadline=None)
@given(st.sampled_from([traced(CHAT), VERCEL]), anything, st.integers(0, 10**6))
def test_whatever_stands_in_a_trace_is_read_or_refused(document, value, seed):
    document = mutated(document, value, seed)
    detect(document)
    for record in document if isinstance(document, list) else ():
        key(record)
    found = list(read(document))
    assert all(isinstance(each, Conversation | ValidationError) for each in found)
    if all(isinstance(each, Conversation) and each.messages for each in found):
        captures(FORM, document)


with stored(FORM, traced(CHAT)) as _session:
    STORED = _session


@settings(max_examples=100, deadline=None)
@given(st.lists(anything, min_size=1, max_size=4), st.integers(0, 10**6))
def test_a_native_that_lies_changes_nothing_that_is_said(values, seed):
    chance = random.Random(seed)

    def lie(native: Any) -> Any:
        kept = native.get("message", {}) if isinstance(native, dict) else {}
        lied = {
            **kept,
            chance.choice(["role", "content", "tool_call_id", "contents.0.message_content.text"]): values[0],
        }
        return chance.choice([*values, {"message": values[0]}, {"message": lied}])

    document, _ = written(FORM, with_natives(STORED, lie))
    assert again(FORM, document) == spoken(STORED)


@settings(max_examples=100, deadline=None)
@given(anything)
def test_any_json_value_is_looked_at_without_an_error(document):
    detect(document)
    key(document)


@pytest.fixture(scope="module")
def data(shared):
    return shared / "data"


def test_the_real_spans_are_three_talks_whose_operations_repeat_them(data):
    spans = json.loads((data / SPANS).read_bytes())
    found = conversations(FORM, spans)
    wanted = []
    for each in spans:
        prompt = each["attributes"].get("ai.prompt.messages")
        if prompt is not None:
            texts = [
                m["content"] if isinstance(m["content"], str) else m["content"][0]["text"] for m in json.loads(prompt)
            ]
            attributes = each["attributes"]
            wanted.append([*texts, attributes.get("ai.response.text", attributes.get("ai.response.object"))])
    assert [[message.content for message in each.messages] for each in found] == wanted
    assert len(wanted) == 3
    assert found[0].ignored.counts["spans that repeat others"] == 3
    assert [each.messages[-1].usage["total_tokens"] for each in found] == [34, 59, 219]


def test_the_real_spans_come_back_and_say_the_same_without_their_native(data):
    by_trace = defaultdict(list)
    for each in json.loads((data / SPANS).read_bytes()):
        by_trace[each["spanContext"]["traceId"]].append(each)
    assert len(by_trace) == 6
    for spans in by_trace.values():
        with stored(FORM, spans) as session:
            for each in (session, bare(session)):
                document, result = written(FORM, each)
                assert again(FORM, document) == spoken(session)
                assert not result.lost.keys() - {"models", "token_usage"}


def test_every_chat_of_another_format_says_the_same_in_attributes(data):
    for each in lines(data / "tau-bench__gpt-4o-airline__40.jsonl"):
        with stored("openai-chat", each["traj"]) as session:
            document, _ = written(FORM, session)
            assert again(FORM, document) == [{**told, "native_id": None} for told in spoken(session)]


def test_no_other_file_is_taken_for_a_trace(data):
    for path in sorted(data.iterdir()):
        if path.suffix not in (".json", ".jsonl"):
            continue
        documents = list(lines(path)) if path.suffix == ".jsonl" else [json.loads(path.read_bytes())]
        assert detect(documents if path.suffix == ".jsonl" else documents[0]) == (path.name == SPANS), path.name
        assert all(detect(each) == (path.name == SPANS) for each in documents), path.name


def test_the_module_is_found_by_its_name():
    assert format_named(FORM).detect(traced(CHAT))
