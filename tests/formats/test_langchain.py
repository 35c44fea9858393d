"""Serialised LangChain messages and LangGraph's streams, in and out.

``tests/data/langchain/subgraph-stream.json`` was made by langgraph 1.2.24 and langchain-core 1.8.3 themselves: states,
updates and chunks of a graph in a graph, with parallel calls of which one fails.
"""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import ValidationError
from agent.formats import langchain
from agent.formats.conversation.message import Conversation
from agent.formats.writing import Session
from tests.conftest import TESTS
from tests.formats.chat_messages import same_json
from tests.formats.round_trips import again, bare, captures, conversations, spoken, stored, written
from tests.strategies import json_values

FORM = "langchain"
OURS = TESTS / "data"
STREAM = json.loads((OURS / "langchain" / "subgraph-stream.json").read_text())
SUPERVISOR = json.loads((OURS / "langchain__langgraphjs__supervisor-stream__12.json").read_text())
STATE = STREAM[-1][2]["messages"]

# What the format has no words for: then what is written is read as something else.
UNSAID = {"calls_without_arguments", "call_order", "json_texts"}
EMPTY = {"additional_kwargs": {}, "response_metadata": {}}
CALL = {"name": "f", "args": {"a": 1}, "id": "c1", "type": "tool_call"}
USAGE = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
INVALID = {"name": "f", "args": "{a", "id": "c2", "error": "no JSON", "type": "invalid_tool_call"}

# What langchain-core 1.8.3 gives for messages with these members: message_to_dict, dumpd and model_dump.
DICTS = [
    {"type": "system", "data": {"content": "s", **EMPTY, "type": "system", "name": None, "id": None}},
    {"type": "human", "data": {"content": "hi", **EMPTY, "type": "human", "name": "bob", "id": "1"}},
    {
        "type": "ai",
        "data": {"content": "x", **EMPTY, "type": "ai", "name": "planner", "id": "run-1", "tool_calls": [CALL]}
        | {"invalid_tool_calls": [INVALID], "usage_metadata": USAGE},
    },
    {
        "type": "tool",
        "data": {"content": "bad", **EMPTY, "type": "tool", "name": None, "id": None, "tool_call_id": "c1"}
        | {"artifact": {"z": 1}, "status": "error"},
    },
    {"type": "tool", "data": {"content": ["a", {"type": "text", "text": "b"}], "type": "tool", "tool_call_id": "c2"}},
    {
        "type": "AIMessageChunk",
        "data": {"content": "ab", **EMPTY, "type": "AIMessageChunk", "name": None, "id": None, "tool_calls": [CALL]}
        | {"tool_call_chunks": [{"name": "f", "args": '{"a": 1}', "id": "c1", "index": 0}], "chunk_position": None},
    },
    {"type": "chat", "data": {"content": "q", **EMPTY, "type": "chat", "name": None, "id": None, "role": "critic"}},
    {"type": "chat", "data": {"content": "q", "role": "assistant"}},
    {"type": "function", "data": {"content": "r", **EMPTY, "type": "function", "name": "f", "id": None}},
]
CONSTRUCTORS = [
    {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": kwargs}
    for name, kwargs in (
        ("HumanMessage", {"content": "hi", "type": "human", "name": "bob", "id": "1"}),
        (
            "AIMessage",
            {
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                    {"type": "text", "text": "Both."},
                    {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}},
                    {"type": "image", "base64": "AAAA", "mime_type": "image/png"},
                ],
                "tool_calls": [CALL],
                "response_metadata": {"model_name": "m", "created_at": "2025-06-01T12:00:00Z"},
            },
        ),
        ("ToolMessage", {"content": "", "tool_call_id": "c1", "status": "success"}),
        ("AIMessage", {"content": "", "additional_kwargs": {"function_call": {"name": "g", "arguments": '{"x":2}'}}}),
        ("FunctionMessage", {"content": "r", "name": "g"}),
        ("AIMessage", {"content": [{"type": "function_call", "call_id": "c3", "name": "f", "arguments": "{}"}]}),
    )
]
FLAT = [{"type": each["type"], **each["data"]} for each in DICTS]
EXAMPLES = [DICTS, CONSTRUCTORS, FLAT, STATE]


@pytest.mark.parametrize("document", EXAMPLES)
def test_what_is_stored_is_given_back_as_the_same_messages_in_the_same_form(document: list[Any]) -> None:
    with stored(FORM, document) as session:
        found, _ = written(FORM, session)
        assert same_json(found["messages"], document)


@pytest.mark.parametrize("document", [*EXAMPLES, STREAM, SUPERVISOR])
def test_what_was_said_survives_without_what_was_kept_of_the_messages(document: list[Any]) -> None:
    with stored(FORM, document) as session:
        found, result = written(FORM, bare(session))
        assert again(FORM, found) == spoken(session)
    assert {each["type"] for each in found["messages"]} <= {"human", "ai", "system", "tool"}
    assert not UNSAID & result.lost.keys()


@pytest.mark.parametrize("document", EXAMPLES)
def test_a_list_that_grew_adds_turns_and_changes_none(document: list[Any]) -> None:
    (whole,) = captures(FORM, document)
    for length in range(1, len(document)):
        (before,) = captures(FORM, document[:length])
        assert before["turns"] == whole["turns"][: len(before["turns"])]


def test_a_stream_that_grew_by_a_whole_message_adds_turns_and_changes_none() -> None:
    (whole,) = captures(FORM, STREAM)
    ends = [index for index, event in enumerate(STREAM) if event[1] == "values"]
    for end in ends:
        (before,) = captures(FORM, STREAM[: end + 1])
        assert before["turns"] == whole["turns"][: len(before["turns"])]


def test_roles_errors_and_odd_calls_are_read_by_the_table() -> None:
    (found,) = conversations(FORM, DICTS)
    assert [turn.role for turn in found.messages] == [
        *("system", "user", "assistant", "tool", "tool", "assistant", "user", "assistant", "tool")
    ]
    answer = found.messages[2]
    assert [(each.name, each.native_id, each.arguments) for each in answer.calls] == [
        ("f", "c1", {"a": 1}),
        ("f", "c2", "{a"),
    ]
    assert answer.metadata == {"agent": "planner"}
    assert answer.usage == {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    results = [each for turn in found.messages for each in turn.results]
    assert [(each.native_id, each.success) for each in results] == [("c1", False), ("c2", None), ("f", None)]
    assert found.messages[4].content == "a\nb"


def test_blocks_that_are_nothing_said_are_not_shown_and_calls_are_found_where_they_are() -> None:
    (found,) = conversations(FORM, CONSTRUCTORS)
    said = found.messages[1]
    assert said.content == "Both.\n[image: image/png]"
    assert (said.model, said.timestamp, said.derived) == ("m", "2025-06-01T12:00:00Z", ("timestamp",))
    assert [[(each.native_id, each.arguments) for each in turn.calls] for turn in found.messages if turn.calls] == [
        [("c1", {"a": 1})],
        [("g", {"x": 2})],
        [("c3", {})],
    ]


def modes(*wanted: str) -> list[Any]:
    return [event for event in STREAM if event[1] in wanted]


@pytest.mark.parametrize("wanted", [("values",), ("updates",), ("values", "messages"), ("messages", "updates")])
def test_every_mode_of_a_stream_tells_the_same(wanted: tuple[str, ...]) -> None:
    (found,) = captures(FORM, STATE)
    (streamed,) = captures(FORM, modes(*wanted))
    told = [(turn["role"], turn["content"], turn.get("token_usage")) for turn in found["turns"]]
    streamed_told = [(turn["role"], turn["content"], turn.get("token_usage")) for turn in streamed["turns"]]
    # Only a state says what the graph was given, before anyone answers it.
    assert sorted(map(str, streamed_told)) == sorted(map(str, told))


def test_chunks_put_together_are_the_message_that_the_sdk_makes_of_them() -> None:
    with stored(FORM, modes("messages")) as session:
        found, _ = written(FORM, session)
    assert [each["id"][-1] for each in found["messages"]] == ["AIMessage", "ToolMessage", "ToolMessage", "AIMessage"]
    for told, expected in zip(found["messages"], STATE[1:], strict=True):
        for name in ("content", "tool_calls", "usage_metadata", "id", "tool_call_id", "status"):
            assert told["kwargs"].get(name) == expected["kwargs"].get(name)


def test_chunks_without_ids_and_of_the_server_are_one_message() -> None:
    piece = {"type": "AIMessageChunk", "content": "a"}
    (found,) = conversations(FORM, [[piece, {}], [{**piece, "content": "b"}, {}]])
    assert [turn.content for turn in found.messages] == ["ab"]
    partial = [
        {"event": "metadata", "data": {"run_id": "1"}},
        {"event": "messages/partial", "data": [{**piece, "id": "i"}]},
        {"event": "messages/partial", "data": [{**piece, "id": "i", "content": "abc"}]},
    ]
    (found,) = conversations(FORM, partial)
    assert [turn.content for turn in found.messages] == ["abc"]
    assert found.ignored.counts == {"events of other kinds": 1}


def test_a_state_without_ids_that_repeats_the_history_adds_what_is_new() -> None:
    texts = ["a", "b", "a", "a"]
    states = [
        ["values", {"messages": [{"type": "human", "content": text} for text in texts[:length]]}]
        for length in (1, 3, 4)
    ]
    (found,) = conversations(FORM, states)
    assert [turn.content for turn in found.messages] == texts


def test_what_makes_no_turn_is_counted_by_kind() -> None:
    events = [
        ["values", {"messages": [{"type": "human", "content": "a", "id": "1"}], "plan": []}],
        *("junk", 7, {}, None, ["values"], ["values", 3]),
        ["custom", {"x": 1}],
        ["updates", {"__interrupt__": [{"value": "?"}]}],
        ["updates", {"node": {"messages": [{"type": "remove", "content": "", "id": "1"}, "?"]}, "other": None}],
    ]
    (found,) = conversations(FORM, events)
    assert [turn.content for turn in found.messages] == ["a"]
    assert found.ignored.counts == {
        "state": 1,
        "junk": 7,
        "events of other kinds": 1,
        "interrupts": 1,
        "removals": 1,
    }


def test_named_streams_are_several_conversations_and_a_states_members_are_kept() -> None:
    found = conversations(FORM, {"one": STREAM, "two": SUPERVISOR, "note": "x"})
    assert [(each.number, len(each.messages)) for each in found] == [(0, 5), (1, 3)]
    assert found[0].ignored.counts["members beside the streams"] == 1
    (state,) = conversations(FORM, {"messages": STATE, "plan": ["look"], "session_id": "s"})
    assert state.native == {"plan": ["look"]}
    (thread,) = conversations(FORM, {"values": {"messages": STATE}, "next": []})
    assert len(thread.messages) == len(STATE)


def test_who_spoke_in_nested_graphs_is_the_namespace() -> None:
    (found,) = conversations(FORM, SUPERVISOR)
    assert [(turn.metadata or {})["agent"] for turn in found.messages] == [
        "supervisor/agent",
        "research_team/supervisor/agent",
        "supervisor/agent",
    ]


def test_the_shared_streams_are_what_they_hold(shared: Path) -> None:
    streams = json.loads((shared / "data" / "langchain__vercel-ai__langgraph-streams__2.json").read_text())
    for events, found in zip(streams.values(), conversations(FORM, streams), strict=True):
        states = [event[1]["messages"] for event in events if event[0] == "values" and "messages" in event[1]]
        assert len(found.messages) == len(states[-1])
        assert found.ignored.counts["chunks of whole messages"] == sum(event[0] == "messages" for event in events)
        with stored(FORM, events) as session:
            out, _ = written(FORM, session)
            assert same_json(out["messages"], states[-1])
            assert again(FORM, written(FORM, bare(session))[0]) == spoken(session)
    chunks = json.loads((shared / "data" / "langchain__langgraphjs__supervisor-stream.json").read_text())
    (found,) = conversations(FORM, chunks)
    assert len(found.messages) == len({event[1][0]["kwargs"]["id"] for event in chunks})
    assert found.messages[-1].content == "".join(event[1][0]["kwargs"]["content"] for event in chunks)
    assert [[(call.name, call.arguments) for call in turn.calls] for turn in found.messages] == [
        [("transfer_to_research_team", {})],
        [("transfer_to_math_expert", {})],
        [],
    ]
    with stored(FORM, chunks) as session:
        out, _ = written(FORM, session)
        assert again(FORM, out) == spoken(session) == again(FORM, written(FORM, bare(session))[0])


def test_large_binaries_are_digests_and_counted_as_lost() -> None:
    picture = {"type": "image", "base64": "AAAA" * 2000, "mime_type": "image/png"}
    with stored(FORM, [{"type": "human", "content": ["Look", picture]}]) as session:
        found, result = written(FORM, session)
    assert result.lost["binaries"] == 1
    assert found["messages"][0]["content"][1]["base64"]["bytes"] == 6000


def test_what_the_format_cannot_say_of_calls_is_counted() -> None:
    calls = [
        {"tool_name": "f", "native_id": name, "invocation_id": f"{name * 8}-0000-4000-8000-000000000001"}
        for name in "ab"
    ]
    with stored(FORM, [DICTS[1], {"type": "ai", "data": {"content": "", "tool_calls": []}}]) as session:
        turns = list(session.shown)
        entries = [{**calls[0], "arguments": "[1]"}, calls[1]]
        turns[1] = replace(turns[1], fields={**turns[1].fields, "tool_invocations": entries})
        _, result = written(FORM, replace(session, shown=tuple(turns), all=tuple(turns)))
    assert [result.lost[kind] for kind in sorted(UNSAID)] == [1, 1, 1]


WRONG = [
    ([], "$", "minItems"),
    ({"messages": 1}, "$.messages", "type"),
    ({"other": []}, "$.messages", "required"),
    ([1], "$[0]", "type"),
    ([{"content": "x"}], "$[0].type", "required"),
    ([{"type": "robot", "content": "x"}], "$[0].type", "enum"),
    ([{"type": 1, "content": "x"}], "$[0].type", "type"),
    ([{"type": "human", "data": []}], "$[0].data", "type"),
    ([{"lc": 1, "type": "constructor", "id": ["HumanMessage"], "kwargs": 1}], "$[0].kwargs", "type"),
    ([{"lc": 1, "type": "not_implemented", "id": ["HumanMessage"]}], "$[0].type", "enum"),
    ([{"type": "human", "content": 1}], "$[0].content", "type"),
    ([{"type": "human", "data": {"content": [{"type": 1}]}}], "$[0].data.content[0].type", "type"),
    ([{"type": "ai", "content": "", "tool_calls": {}}], "$[0].tool_calls", "type"),
    ([{"type": "ai", "content": "", "tool_calls": [1]}], "$[0].tool_calls[0]", "type"),
    ([{"type": "ai", "content": "", "tool_calls": [{"id": 1}]}], "$[0].tool_calls[0].id", "type"),
    ([{"type": "tool", "content": "", "tool_call_id": 1}], "$[0].tool_call_id", "type"),
    ([{"type": "chat", "content": ""}], "$[0].role", "required"),
]


@pytest.mark.parametrize(("document", "path", "rule"), WRONG)
def test_a_wrong_type_is_refused_by_its_path(document: Any, path: str, rule: str) -> None:
    (found,) = langchain.read(document)
    assert isinstance(found, ValidationError)
    assert [(each.path, each.rule) for each in found.problems] == [(path, rule)]


def edited(session: Session, native: Any, *, place: int) -> Session:
    """``session`` with another ``metadata.native`` on one of its turns."""
    turns = list(session.shown)
    turn = turns[place % len(turns)]
    turns[place % len(turns)] = replace(turn, fields={**turn.fields, "metadata": {"native": native}})
    return replace(session, shown=tuple(turns))


KEPT = [
    turn["metadata"]["native"]
    for document in EXAMPLES
    for turn in captures(FORM, document)[0]["turns"]
    if "native" in turn.get("metadata", {})
]
NAMES = sorted({name for native in KEPT for name in native})


@settings(max_examples=60, deadline=None)
@given(
    native=st.one_of(st.sampled_from(KEPT), json_values, st.dictionaries(st.sampled_from(NAMES), json_values)),
    place=st.integers(0, 99),
)
@pytest.mark.parametrize("document", [DICTS, CONSTRUCTORS])
def test_what_is_kept_never_changes_what_is_said(document: list[Any], native: Any, place: int) -> None:
    with stored(FORM, document) as session:
        found, result = written(FORM, edited(session, native, place=place))
        assert not UNSAID & result.lost.keys()
        assert again(FORM, found) == spoken(session)


def nodes(value: Any) -> list[tuple[Any, Any]]:
    """Every place of ``value``, as its holder and its key."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, each in items for found in ((value, key), *nodes(each))]


@settings(max_examples=100, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("document", [DICTS, CONSTRUCTORS, FLAT, STREAM])
def test_whatever_comes_is_read_or_refused_and_what_is_read_comes_back(
    document: list[Any], data: st.DataObject
) -> None:
    changed = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 3))):
        places = nodes(changed)
        holder, key = places[data.draw(st.integers(0, len(places) - 1))]
        holder[key] = data.draw(json_values)
    langchain.detect(changed)
    for found in langchain.read(changed):
        if isinstance(found, Conversation) and found.messages:
            with stored(FORM, changed) as session:
                out, result = written(FORM, session)
                if not UNSAID & result.lost.keys():
                    assert again(FORM, out) == spoken(session)


@given(json_values)
def test_any_json_is_looked_at_without_an_error(document: Any) -> None:
    langchain.detect(document)
    list(langchain.read(document))


def documents_of(folder: Path) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for path in sorted(folder.glob("*.json*")):
        content = path.read_text()
        for line in [content] if path.suffix == ".json" else content.splitlines():
            try:
                found.append((path.name, json.loads(line)))
            except ValueError:
                continue
    return found


def test_no_other_file_is_taken_for_one(shared: Path) -> None:
    found = documents_of(shared / "data") + documents_of(OURS)
    ours = {name for name, _ in found if name.startswith("langchain__")}
    assert len(ours) == 4
    assert {name for name, document in found if langchain.detect(document)} == ours
    by_file: dict[str, list[Any]] = {}
    for name, document in found:
        by_file.setdefault(name, []).append(document)
    assert not [name for name, lines in by_file.items() if name not in ours and langchain.detect(lines)]
    elements = [each for name, value in found if name not in ours and isinstance(value, list) for each in value]
    assert not [each for each in elements if langchain.detect(each)]
    assert all(langchain.detect(each) for each in (*EXAMPLES, STREAM, {"messages": DICTS}, {"records": STREAM}))
