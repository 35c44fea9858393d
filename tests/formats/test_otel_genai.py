"""The format otel-genai: traces of the GenAI conventions, of both generations, in and out."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.core.turn import SessionTurn
from agent.errors import ValidationError
from agent.formats import format_named, reader
from agent.formats.conversation.message import Conversation
from agent.formats.otel_genai import detect, key, read
from agent.formats.writing import Session
from tests.formats.chat_messages import CAPTURED_AT
from tests.formats.round_trips import again, bare, captures, conversations, lines, memory, spoken, stored, written

FORM = "otel-genai"
SPANS = "otel__pydantic-ai-2.68__genai-spans__3-tau-chats.jsonl"
EVENTS = "otel__openai-v2-2.3b0__genai-log-events__3-tau-chats.jsonl"
TRACE, OTHER_TRACE = "0x" + "a" * 32, "0x" + "b" * 32


def text(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def called(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}],
        "finish_reason": "tool_call",
    }


def result(call_id: str, response: Any) -> dict[str, Any]:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": response}]}


def span(number: int, sent: Any, answered: Any, *, trace: str = TRACE, parent: str | None = None, **attributes: Any):
    """A span as the Python SDK prints it; messages as JSON text, which attributes of spans have to be."""
    return {
        "name": "chat m",
        "context": {"trace_id": trace, "span_id": f"0x{number:016x}"},
        "parent_id": parent,
        "start_time": f"2026-03-02T08:15:{number:02d}.000000Z",
        "end_time": f"2026-03-02T08:15:{number:02d}.500000Z",
        "attributes": {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.response.model": "m-1",
            "gen_ai.usage.input_tokens": 10 * number,
            "gen_ai.usage.output_tokens": number,
            "gen_ai.input.messages": json.dumps(sent),
            "gen_ai.output.messages": json.dumps(answered),
            **attributes,
        },
        "events": [],
    }


# A chat with two calls at once, reasoning, an image, an empty result, and instructions.
CHAT: list[dict[str, Any]] = [
    {
        "role": "user",
        "parts": [
            {"type": "text", "content": "What is this, "},
            {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "iVBORw0KGgo="},
            {"type": "text", "content": "and what is the weather?"},
        ],
    },
    {
        "role": "assistant",
        "parts": [
            {"type": "reasoning", "content": "Two cities."},
            {"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "Oslo"}},
            {"type": "tool_call", "id": "c2", "name": "weather", "arguments": '{"city":"Rome"}'},
        ],
        "finish_reason": "tool_call",
    },
    {
        "role": "user",
        "parts": [
            {"type": "text", "content": "Hurry"},
            {"type": "tool_call_response", "id": "c1", "response": {"celsius": 3}},
            {"type": "tool_call_response", "id": "c2", "result": ""},
        ],
        "name": "Ann",
    },
    {
        "role": "assistant",
        "parts": [{"type": "text", "content": "A cat; 3 degrees."}],
        "finish_reason": "stop",
    },
]
INSTRUCTIONS = [{"type": "text", "content": "Be brief."}]


def traced(chat: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    """A span for each answer, with all that was said before."""
    system = {"gen_ai.system_instructions": json.dumps(INSTRUCTIONS)}
    return [
        span(place, chat[:place], [chat[place]], **system, **more)
        for place in range(len(chat))
        if chat[place]["role"] == "assistant"
    ]


def shown(document: Any) -> list[tuple[str, str]]:
    (conversation,) = conversations(FORM, document)
    return [(message.role, message.content) for message in conversation.messages]


SHOWN = [
    ("system", "Be brief."),
    ("user", "What is this, \n[image: image/png]\nand what is the weather?"),
    ("assistant", ""),
    ("tool", '{"celsius":3}'),
    ("tool", ""),
    ("user", "Hurry"),
    ("assistant", "A cat; 3 degrees."),
]


def test_a_history_that_every_call_repeats_is_read_once():
    assert shown(traced(CHAT)) == SHOWN


def test_what_the_span_says_of_the_answer_is_derived():
    (payload,) = captures(FORM, traced(CHAT, **{"gen_ai.conversation.id": "chat-7"}))
    first, last = (turn for turn in payload["turns"] if turn["role"] == "assistant")
    assert payload["native_session_id"] == "chat-7"
    assert first["model"] == "m-1"
    assert first["token_usage"] == {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    assert (first["timestamp"], last["timestamp"]) == ("2026-03-02T08:15:01.500000Z", "2026-03-02T08:15:03.500000Z")
    assert {"timestamp", "model", "token_usage"} <= set(first["metadata"]["derived"])
    assert payload["native"]["beside"]["gen_ai.request.model"] == "m"


def test_a_session_without_a_conversation_id_is_its_trace():
    assert {c.session_id for c in conversations(FORM, traced(CHAT))} == {"a" * 32}
    named = [*traced(CHAT, **{"gen_ai.conversation.id": "chat-7"}), *traced(CHAT)]
    # One span of the trace is enough to name all of it.
    assert {c.session_id for c in conversations(FORM, named)} == {"chat-7"}


def test_the_messages_come_back_as_they_came():
    with stored(FORM, traced(CHAT)) as session:
        document, result = written(FORM, session)
    assert document["gen_ai.system_instructions"] == INSTRUCTIONS
    assert document["gen_ai.input.messages"] == CHAT[:-1]
    assert document["gen_ai.output.messages"] == CHAT[-1:]
    assert not result.lost.keys() - {"models", "token_usage"}


def test_bare_turns_say_the_same():
    with stored(FORM, traced(CHAT)) as session:
        document, _ = written(FORM, bare(session))
        assert again(FORM, document) == spoken(session)


def test_what_is_written_is_read_again_as_it_was_written():
    with stored(FORM, traced(CHAT)) as session:
        document, _ = written(FORM, session)
    with stored(FORM, document) as session:
        second, _ = written(FORM, session)
    assert {name: second[name] for name in second if name.startswith("gen_ai")} == {
        name: document[name] for name in document if name.startswith("gen_ai")
    }


def test_what_is_written_can_be_posted_again_and_posted_again_when_it_grew():
    with stored(FORM, traced(CHAT)) as session:
        document, _ = written(FORM, session)
        turns = [(turn.role, turn.content) for turn in session.shown]
    first = reader(FORM).read(document, captured_at=CAPTURED_AT).payload["turns"]
    assert [(turn["role"], turn["content"]) for turn in first] == turns
    document["gen_ai.input.messages"] += [*document["gen_ai.output.messages"], text("user", "Thanks.")]
    document["gen_ai.output.messages"] = []
    grown = reader(FORM).read(document, captured_at=CAPTURED_AT).payload["turns"]
    assert [turn["turn_id"] for turn in grown[:-1]] == [turn["turn_id"] for turn in first]
    with pytest.raises(ValidationError) as refused:
        reader(FORM).read(document | {"gen_ai.input.messages": [{"role": 1}]}, captured_at=CAPTURED_AT)
    assert [(each.path, each.rule) for each in refused.value.problems] == [
        ('$["gen_ai.input.messages"][0].role', "type")
    ]


def test_binary_data_over_4_kib_stand_by_their_digest_and_are_counted():
    chat = deepcopy(CHAT)
    chat[0]["parts"][1]["content"] = "iVBO" * 2000
    with stored(FORM, traced(chat)) as session:
        document, result = written(FORM, session)
        assert "iVBOiVBO" not in json.dumps(document)
        assert result.lost["binaries"] == 1
        assert again(FORM, document) == spoken(session)


def test_an_answer_of_which_nobody_says_why_it_ended_is_history():
    chat = [text("user", "a"), text("assistant", "b")]
    with stored(FORM, [span(1, chat[:1], chat[1:])]) as session:
        document, _ = written(FORM, session)
    assert (document["gen_ai.input.messages"], document["gen_ai.output.messages"]) == (chat, [])


def otlp(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp(each) for each in value]}}
    return {"kvlistValue": {"values": [{"key": name, "value": otlp(each)} for name, each in value.items()]}}


def test_otlp_json_says_the_same_as_what_the_sdk_prints():
    spans = [
        {
            "traceId": "A" * 32,
            "spanId": each["context"]["span_id"].removeprefix("0x"),
            "name": each["name"],
            "startTimeUnixNano": str(1772439300 * 10**9 + number * 10**9),
            "endTimeUnixNano": str(1772439300 * 10**9 + number * 10**9 + 1),
            "attributes": [{"key": name, "value": otlp(value)} for name, value in each["attributes"].items()],
        }
        for number, each in enumerate(traced(CHAT))
    ]
    document = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": spans}]}]}
    assert detect(document)
    assert key(document) == key(traced(CHAT)[0]) == "a" * 32
    assert shown(document) == shown([document]) == SHOWN


def log(name: str, body: Any, number: int = 1, **more: Any) -> dict[str, Any]:
    return {"event_name": name, "body": body, "trace_id": TRACE, "span_id": f"0x{number:016x}", "attributes": {}} | more


OLD = [
    log("gen_ai.system.message", {"content": "Be brief."}),
    log("gen_ai.user.message", {"content": "Weather in Oslo?"}),
    log(
        "gen_ai.choice",
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "One moment.",
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}],
            },
        },
    ),
    log("gen_ai.system.message", {"content": "Be brief."}, 2),
    log("gen_ai.user.message", {"content": "Weather in Oslo?"}, 2),
    log(
        "gen_ai.assistant.message",
        {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]},
        2,
    ),
    log("gen_ai.tool.message", {"id": "c1"}, 2),
    log("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"content": "Dry."}}, 2),
]
OLD_SHOWN = [
    ("system", "Be brief."),
    ("user", "Weather in Oslo?"),
    ("assistant", "One moment."),
    ("tool", ""),
    ("assistant", "Dry."),
]


def as_span_events(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    by_span = defaultdict(list)
    for record in records:
        by_span[record["span_id"]].append(record)
    return [
        {
            "name": "chat",
            "context": {"trace_id": TRACE, "span_id": span_id},
            "attributes": {"gen_ai.operation.name": "chat"},
            "events": [
                {
                    "name": each["event_name"],
                    "timestamp": "2026-03-02T08:15:00Z",
                    "attributes": {
                        name: value if isinstance(value, str | int) else json.dumps(value)
                        for name, value in each["body"].items()
                    },
                }
                for each in some
            ],
        }
        for span_id, some in by_span.items()
    ]


@pytest.mark.parametrize(
    "records",
    [
        OLD,
        [{**record, "event_name": None, "attributes": {"event.name": record["event_name"]}} for record in OLD],
        [{name: value for name, value in record.items() if name != "span_id"} for record in OLD],
        as_span_events(OLD),
        [
            {
                "resourceLogs": [
                    {
                        "scopeLogs": [
                            {
                                "logRecords": [
                                    {
                                        "eventName": record["event_name"],
                                        "traceId": "a" * 32,
                                        "spanId": record["span_id"].removeprefix("0x"),
                                        "timeUnixNano": "1772439300000000000",
                                        "body": otlp(record["body"]),
                                    }
                                    for record in OLD
                                ]
                            }
                        ]
                    }
                ]
            }
        ],
    ],
    ids=["event_name", "event.name", "no span", "events of spans", "OTLP"],
)
def test_message_events_are_the_same_however_they_were_exported(records):
    assert detect(records)
    assert shown(records) == OLD_SHOWN


def test_the_details_event_says_what_a_span_says():
    (spoken_by_span,) = conversations(FORM, traced(CHAT))
    records = [
        {
            "event_name": "gen_ai.client.inference.operation.details",
            "trace_id": TRACE,
            "span_id": each["context"]["span_id"],
            "attributes": each["attributes"]
            | {
                name: json.loads(each["attributes"][name])
                for name in ("gen_ai.input.messages", "gen_ai.output.messages")
            },
        }
        for each in traced(CHAT)
    ]
    (by_event,) = conversations(FORM, records)
    assert [m.place for m in by_event.messages] == [m.place for m in spoken_by_span.messages]
    # Both, of the same calls, say no more.
    (both,) = conversations(FORM, [*records, *traced(CHAT)])
    assert [m.place for m in both.messages] == [m.place for m in spoken_by_span.messages]
    assert both.ignored.counts["events that repeat their span"] == 2


def agent_span(sent: Any, answered: Any, number: int = 9) -> dict[str, Any]:
    return span(number, sent, answered) | {
        "attributes": {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.input.messages": json.dumps(sent),
            "gen_ai.output.messages": json.dumps(answered),
        }
    }


def test_the_span_of_an_agent_repeats_the_calls_under_it_and_speaks_where_there_are_none():
    agent = agent_span(CHAT[:1], CHAT[-1:])
    under = [{**each, "parent_id": agent["context"]["span_id"]} for each in traced(CHAT)]
    (conversation,) = conversations(FORM, [*under, agent])
    assert [(m.role, m.content) for m in conversation.messages] == SHOWN
    assert conversation.ignored.counts["spans that repeat others"] == 1
    assert [role for role, _ in shown([agent])] == ["user", "assistant"]


def test_a_tool_span_adds_nothing_and_is_counted_as_known_or_not():
    def tool(call_id: str) -> dict[str, Any]:
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.call.id": call_id,
            "gen_ai.tool.call.result": "3",
        }
        return span(7, [], []) | {"attributes": attributes, "context": {"trace_id": TRACE, "span_id": f"0x7{call_id}"}}

    (conversation,) = conversations(FORM, [*traced(CHAT), tool("c1"), tool("c9")])
    assert [(m.role, m.content) for m in conversation.messages] == SHOWN
    assert conversation.ignored.counts["tool spans that repeat messages"] == 1
    assert conversation.ignored.counts["tool spans of no message"] == 1


def test_several_choices_are_branches_of_one_question_and_the_first_goes_on():
    answers = [{**text("assistant", each), "finish_reason": "stop"} for each in ("one", "two")]
    (conversation,) = conversations(FORM, [span(1, [text("user", "q")], answers)])
    by_content = {message.content: message for message in conversation.messages}
    assert by_content["one"].parent == by_content["two"].parent == by_content["q"].place
    assert conversation.leaf == by_content["one"].place
    assert [by_content[each].usage is not None for each in ("one", "two")] == [True, False]


def test_an_agents_messages_one_after_the_other_are_no_choices():
    said = [called("c1", "weather", {}), result("c1", "dry"), {**text("assistant", "Dry."), "finish_reason": "stop"}]
    assert [role for role, _ in shown([agent_span([text("user", "q")], said)])] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


def test_instructions_with_a_clock_in_them_do_not_make_another_conversation_of_every_call():
    spans = traced(CHAT)
    for number, each in enumerate(spans):
        told = [{"type": "text", "content": f"It is {number} o'clock."}]
        each["attributes"]["gen_ai.system_instructions"] = json.dumps(told)
    (conversation,) = conversations(FORM, spans)
    told = [message.content for message in conversation.messages if message.role == "system"]
    assert told == ["It is 0 o'clock.", "It is 1 o'clock."]
    assert len(conversation.messages) == len(SHOWN) + 1
    with stored(FORM, spans) as session:
        assert [turn.content for turn in session.shown] == ["It is 0 o'clock.", *(each for _, each in SHOWN[1:])]


def test_messages_that_an_exporter_cut_are_counted_and_a_wrong_type_is_refused_with_its_session_alone():
    cut = span(3, [], [])
    cut["attributes"]["gen_ai.input.messages"] = '[{"role":"user","par'
    cut["attributes"]["gen_ai.output.messages"] = "[]"
    wrong = span(1, [{"role": 5, "parts": 7}, {"role": "wizard", "parts": []}], [], trace=OTHER_TRACE)
    found = list(read([*traced(CHAT), cut, wrong, 42, "x", {}, None]))
    good, bad = found
    assert isinstance(good, Conversation)
    assert good.ignored.counts == Counter(
        {"lines that are no records": 4, "messages that are no JSON": 1, **good.ignored.counts}
    )
    assert isinstance(bad, ValidationError)
    assert [(each.path, each.rule) for each in bad.problems] == [
        ('$[3].attributes["gen_ai.input.messages"][0].role', "type"),
        ('$[3].attributes["gen_ai.input.messages"][0].parts', "type"),
        ('$[3].attributes["gen_ai.input.messages"][1].role', "enum"),
    ]


def of_the_store(session: Any) -> list[dict[str, Any]]:
    names = ("turn_id", "parent_turn_id", "role", "content", "timestamp", "model", "token_usage", "tool_invocations")
    return [{name: turn.fields.get(name) for name in (*names, "metadata")} for turn in session.shown]


def groups(records: list[Any]) -> list[list[Any]]:
    found = defaultdict(list)
    for record in records:
        found[key(record)].append(record)
    return list(found.values())


def test_two_traces_of_a_conversation_make_the_same_turns_together_and_apart():
    first, second = traced(CHAT, **{"gen_ai.conversation.id": "chat-7"})
    # A branch that only one of the traces has, and other instructions.
    second["context"]["trace_id"] = OTHER_TRACE
    second["attributes"]["gen_ai.system_instructions"] = json.dumps([{"type": "text", "content": "Be kind."}])
    aside = span(5, [CHAT[0], text("assistant", "Pardon?")], [text("assistant", "No.")], trace=OTHER_TRACE)
    records = [first, second, aside]
    assert len(groups(records)) == 2
    with stored(FORM, records) as together, memory() as kept:
        for group in groups(records):
            for payload in captures(FORM, group):
                receipt = kept.capture(payload)
                assert receipt["turns"]["revised"] == 0
        apart = kept.session(together.session_id)
        assert of_the_store(apart) == of_the_store(together)
        # Where several ends are known at once, a turn that says nothing names the current one.
        told = [
            {
                (turn.turn_id, turn.content, turn.parent_turn_id)
                for turn in each.all
                if turn.role != "system" or turn.content
            }
            for each in (together, apart)
        ]
        assert told[0] == told[1]


def test_a_trace_that_grows_adds_turns_and_changes_none():
    spans = traced(CHAT)
    before, after = captures(FORM, spans[:1]), captures(FORM, spans)
    assert after[0]["turns"][: len(before[0]["turns"])] == before[0]["turns"]


@pytest.mark.parametrize("document", [[], {}, None, 3, "x", [[]], [{"attributes": 3}], {"resourceSpans": 5}])
def test_what_is_no_trace_is_not_detected(document):
    assert not detect(document)
    assert key(document) is None


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def mutated(document: Any, value: Any, seed: int) -> Any:
    """``document`` with ``value`` somewhere in it, also inside what is JSON in a string."""
    chance = random.Random(seed)
    document = deepcopy(document)
    at = document
    while True:
        if isinstance(at, dict) and at:
            name = chance.choice(list(at))
        elif isinstance(at, list) and at:
            name = chance.randrange(len(at))
        else:
            return document
        inner = at[name]
        if isinstance(inner, str) and inner.startswith(("[", "{")) and chance.random() < 0.9:
            at[name] = json.dumps(mutated(json.loads(inner), value, chance.randrange(10**6)))
            return document
        if not isinstance(inner, dict | list) or not inner or chance.random() < 0.15:
            at[name] = value
            return document
        at = inner


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=300, deadline=None)
@given(st.sampled_from([traced(CHAT), OLD, as_span_events(OLD)]), anything, st.integers(0, 10**6))
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


def with_natives(session: Session, native: Callable[[Any], Any]) -> Session:
    """``session`` with ``native`` of what its turns keep in its place."""

    def changed(turn: SessionTurn) -> SessionTurn:
        metadata = turn.fields["metadata"]
        return replace(turn, fields={**turn.fields, "metadata": {**metadata, "native": native(metadata.get("native"))}})

    return replace(session, shown=tuple(map(changed, session.shown)), all=tuple(map(changed, session.all)))


@settings(max_examples=100, deadline=None)
@given(st.lists(anything, min_size=1, max_size=4), st.integers(0, 10**6))
def test_a_native_that_lies_changes_nothing_that_is_said(values, seed):
    chance = random.Random(seed)

    def lie(native: Any) -> Any:
        return chance.choice([*values, {**(native or {}), chance.choice(["parts", "role", "of", "places"]): values[0]}])

    document, _ = written(FORM, with_natives(STORED, lie))
    assert again(FORM, document) == spoken(STORED)


@settings(max_examples=100, deadline=None)
@given(anything)
def test_any_json_value_is_looked_at_without_an_error(document):
    detect(document)
    key(document)


# What follows is of the shared data.


@pytest.fixture(scope="module")
def data(shared):
    return shared / "data"


def tau_chats(data) -> dict[tuple[str, int], list[dict[str, Any]]]:
    path = data / "tau-bench__gpt-4o-airline__40.jsonl"
    return {(str(each["task_id"]), each["trial"]): each["traj"] for each in lines(path)}


def turns_of_tau(chat: list[dict[str, Any]]) -> list[Any]:
    """What was said after the instructions; those of the replay are not the chat's to the letter."""
    return [
        (
            message["role"],
            message.get("content") or "",
            [
                (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
                for call in message.get("tool_calls") or []
            ],
            message.get("tool_call_id"),
        )
        for message in chat
        if message["role"] != "system"
    ]


def turns_of(conversation: Conversation) -> list[Any]:
    assert [message.role for message in conversation.messages].count("system") == 1
    return [
        (
            message.role,
            message.content,
            [(call.native_id, call.name, call.arguments) for call in message.calls],
            message.results[0].native_id if message.results else None,
        )
        for message in conversation.messages
        if message.role != "system"
    ]


def test_the_spans_of_three_chats_hold_the_turns_of_the_chats_that_they_replay(data):
    chats = tau_chats(data)
    found = conversations(FORM, list(lines(data / SPANS)))
    assert len(found) == 3
    for conversation in found:
        _, task, trial = conversation.session_id.split("-")
        said = turns_of_tau(chats[task, int(trial)])
        if (task, trial) == ("46", "0"):
            # The user's last words were sent to no model.
            assert said.pop()[:2] == ("user", chats["46", 0][-1]["content"])
        if (task, trial) == ("12", "1"):
            # The replay left out what was said beside a call.
            assert said[3][1].startswith("No problem!")
            said[3] = (said[3][0], "", *said[3][2:])
        assert turns_of(conversation) == said


def test_the_log_events_of_three_chats_hold_the_turns_of_the_chats_that_they_replay(data):
    chats = tau_chats(data)
    found = conversations(FORM, list(lines(data / EVENTS)))
    assert len(found) == 3
    for conversation, place in zip(found, [("24", 1), ("46", 0), ("12", 1)], strict=True):
        # The last message of each was sent to no model.
        assert turns_of(conversation) == turns_of_tau(chats[place])[:-1]
    calls = {record["span_id"] for record in lines(data / EVENTS)}
    told = [m for conversation in found for m in conversation.messages if m.native and "span" in m.native]
    assert len(told) == len(calls) == 24


def test_token_usage_is_counted_once_for_each_call(data):
    spans = list(lines(data / SPANS))
    wanted = [
        each["attributes"]["gen_ai.usage.output_tokens"]
        for each in spans
        if each["attributes"].get("gen_ai.operation.name") == "chat" and "gen_ai.output.messages" in each["attributes"]
    ]
    told = [m.usage["completion_tokens"] for c in conversations(FORM, spans) for m in c.messages if m.usage]
    assert sorted(told) == sorted(wanted)
    assert len(told) == 19


def sessions_of(data) -> list[list[Any]]:
    spans = defaultdict(list)
    for record in lines(data / SPANS):
        spans[record["attributes"]["gen_ai.conversation.id"]].append(record)
    events = defaultdict(list)
    for record in lines(data / EVENTS):
        events[record["trace_id"]].append(record)
    return [*spans.values(), *events.values()]


def schemas(data) -> dict[str, Any]:
    return {
        f"gen_ai.{side}.messages": jsonschema_rs.validator_for(
            json.loads((data / f"otel__genai-schema__gen-ai-{side}-messages.json").read_bytes())
        )
        for side in ("input", "output")
    }


def test_real_traces_come_back_are_valid_and_say_the_same_without_their_native(data):
    valid = schemas(data)
    for records in sessions_of(data):
        with stored(FORM, records) as session:
            for each in (session, bare(session)):
                document, _ = written(FORM, each)
                assert again(FORM, document) == spoken(session)
                for name, schema in valid.items():
                    schema.validate(document[name])
            whole = [
                json.loads(r["attributes"]["pydantic_ai.all_messages"])
                for r in records
                if "pydantic_ai" in str(r) and "pydantic_ai.all_messages" in r["attributes"]
            ]
            if whole:
                document, _ = written(FORM, session)
                assert document["gen_ai.input.messages"] == max(whole, key=len)


def test_every_chat_of_another_format_is_written_as_the_conventions_have_it(data):
    valid = schemas(data)
    for chat in tau_chats(data).values():
        with stored("openai-chat", chat) as session:
            document, result = written(FORM, session)
            for name, schema in valid.items():
                schema.validate(document[name])
            assert again(FORM, document) == [{**each, "native_id": None} for each in spoken(session)]
            assert not result.lost.keys() - {"calls_without_result", "results_without_call"}


def test_real_traces_make_the_same_turns_together_and_apart(data):
    records = list(lines(data / SPANS))
    with memory() as kept, memory() as one_by_one:
        for payload in captures(FORM, records):
            kept.capture(payload)
        named = set()
        for group in groups(records):
            for payload in captures(FORM, group):
                assert one_by_one.capture(payload)["turns"]["revised"] == 0
                named.add(payload["session_id"])
        assert len(named) == 3
        for session in named:
            assert of_the_store(one_by_one.session(session)) == of_the_store(kept.session(session))


def test_no_other_file_is_taken_for_a_trace(data):
    for path in sorted(data.iterdir()):
        if path.suffix not in (".json", ".jsonl"):
            continue
        is_ours = path.name in (SPANS, EVENTS)
        documents = list(lines(path)) if path.suffix == ".jsonl" else [json.loads(path.read_bytes())]
        assert detect(documents if path.suffix == ".jsonl" else documents[0]) == is_ours, path.name
        assert all(detect(each) == is_ours for each in documents), path.name


def test_the_module_is_found_by_its_name():
    assert format_named(FORM).detect(traced(CHAT))
