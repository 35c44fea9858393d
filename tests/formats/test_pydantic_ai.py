"""pydantic-ai's message histories, in and out.

``tests/data/pydantic-ai/weather.json`` was made by pydantic-ai-slim 2.68.0 itself: two runs over a function model, with
parallel calls, a retry, thinking, a picture from a tool, pictures from the user, and a tool of the provider.
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

from agent.core.ids import session_uuid
from agent.errors import ValidationError
from agent.formats import pydantic_ai
from agent.formats.conversation.message import Conversation
from agent.formats.writing import Session
from tests.conftest import TESTS
from tests.formats.chat_messages import same_json
from tests.formats.round_trips import again, bare, captures, conversations, spoken, stored, written
from tests.formats.sessions import memory
from tests.strategies import json_values

FORM = "pydantic-ai"
OURS = TESTS / "data"
WEATHER = json.loads((OURS / "pydantic-ai" / "weather.json").read_text())
NOON = "2025-06-01T12:00:00Z"


def request(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"parts": list(parts), "kind": "request", **fields}


def response(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"parts": list(parts), "kind": "response", **fields}


def prompt(content: Any, **fields: Any) -> dict[str, Any]:
    return {"content": content, "part_kind": "user-prompt", **fields}


def text(content: str, **fields: Any) -> dict[str, Any]:
    return {"content": content, "part_kind": "text", **fields}


def call(name: str, args: Any, **fields: Any) -> dict[str, Any]:
    return {"tool_name": name, "args": args, "part_kind": "tool-call", **fields}


def answer(name: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"tool_name": name, "content": content, "part_kind": "tool-return", **fields}


# As releases before 1.0 wrote them (no ids where the model gave none, retry prompts, total tokens), and odd ones.
OLD = [
    request(
        {"content": "Be exact.", "dynamic_ref": None, "part_kind": "system-prompt", "timestamp": NOON},
        prompt("Add 1 and 2.", timestamp=NOON),
    ),
    response(
        call("add", '{"a":1,"b":"two"}', tool_call_id="c"),
        call("add", {"a": 1}, tool_call_id="d"),
        call("noop", "", tool_call_id=None),
        call("noop", "[1, 2"),
        model_name="m",
        timestamp="2025-06-01T12:00:01Z",
        usage={"requests": 1, "request_tokens": 5, "response_tokens": 6, "total_tokens": 12, "details": None},
    ),
    request(
        {"content": [{"type": "int_parsing", "loc": ["b"], "msg": "no"}], "tool_name": "add", "tool_call_id": "c"}
        | {"timestamp": NOON, "part_kind": "retry-prompt"},
        answer("add", 3, tool_call_id="d", timestamp=NOON),
        answer("noop", None),
        answer("noop", ["done", {"kind": "image-url", "url": "https://x.test/a", "media_type": "image/webp"}]),
        {"content": "Plain text is not allowed.", "tool_name": None, "part_kind": "retry-prompt"},
    ),
    response({"content": "Three?", "part_kind": "thinking", "signature": "s"}),
    response(),
    request(prompt("Once more."), instructions="Be quick."),
    response(text("3", id="msg_1"), timestamp="yesterday"),
    request(prompt("And?"), instructions=None),
    request(),
    request({"content": "Sure.", "part_kind": "from the future"}, prompt("Then?"), instructions="Be slow."),
    response({"content": "Summary", "part_kind": "compaction", "provider_name": "anthropic"}, text("4"), text("")),
]
EXAMPLES = [WEATHER, OLD, json.loads((OURS / "pydantic-ai__tau-bench-airline__1.json").read_text())]


@pytest.mark.parametrize("document", EXAMPLES)
def test_what_is_stored_is_given_back_as_the_same_messages(document: list[Any]) -> None:
    with stored(FORM, document) as session:
        found, _ = written(FORM, session)
        assert same_json(found["messages"], document)


@pytest.mark.parametrize("document", EXAMPLES)
def test_what_was_said_survives_without_what_was_kept_of_the_messages(document: list[Any]) -> None:
    with stored(FORM, document) as session:
        found, _ = written(FORM, bare(session))
        assert again(FORM, found) == spoken(session)


@pytest.mark.parametrize("document", EXAMPLES)
def test_a_list_that_grew_adds_turns_and_changes_none(document: list[Any]) -> None:
    (whole,) = captures(FORM, document)
    for length in range(1, len(document)):
        (before,) = captures(FORM, document[:length])
        assert before["turns"] == whole["turns"][: len(before["turns"])]


def test_each_part_of_a_request_is_a_turn_and_results_follow_their_calls() -> None:
    (found,) = conversations(FORM, WEATHER)
    assert [(turn.role, turn.place) for turn in found.messages] == [
        ("system", "system"),
        ("system", "0"),
        ("user", "0.1"),
        ("assistant", "1"),
        ("tool", "2"),
        ("tool", "2.1"),
        ("assistant", "3"),
        ("tool", "4"),
        ("tool", "4.1"),
        ("assistant", "5"),
        ("user", "6"),
        ("assistant", "7"),
        ("tool", "7.1"),
        ("assistant", "7.2"),
    ]
    assert [each.success for turn in found.messages for each in turn.results] == [True, False, True, True, True]
    assert found.messages[10].content == "What is this?\n[image: image/jpeg]\n[image: image/png]"
    assert found.messages[13].content == "It is a fjord.\n[image: image/png]"
    assert found.conversation_id == WEATHER[0]["conversation_id"]
    assert not found.ignored.counts


def test_what_was_used_is_counted_once_and_nothing_but_zeros_is_not_known() -> None:
    (found,) = conversations(FORM, WEATHER)
    counts = [message["usage"]["input_tokens"] for message in WEATHER if message["kind"] == "response"]
    assert [turn.usage["prompt_tokens"] for turn in found.messages if turn.usage] == counts
    (unknown,) = conversations(FORM, [response(text("hi"), usage={"input_tokens": 0, "output_tokens": 0})])
    assert unknown.messages[0].usage is None


def test_what_stands_beside_the_list_is_kept() -> None:
    (found,) = conversations(FORM, {"messages": OLD, "agent": "planner", "session_id": "s"})
    assert found.native == {"agent": "planner"}


def test_calls_without_ids_go_by_their_tools_name() -> None:
    (found,) = conversations(FORM, OLD)
    assert [(each.native_id, each.arguments) for each in found.messages[2].calls] == [
        ("c", {"a": 1, "b": "two"}),
        ("d", {"a": 1}),
        ("noop", ""),
        ("noop", "[1, 2"),
    ]
    assert [(each.native_id, each.success) for turn in found.messages[3:7] for each in turn.results] == [
        ("c", False),
        ("d", None),
        ("noop", None),
        ("noop", None),
    ]
    assert found.messages[6].content == "done\n[image: image/webp]"


def test_instructions_are_a_turn_where_they_are_others_than_before() -> None:
    texts = ["a", "a", None, "a", "b"]
    document = [request(prompt("?"), instructions=each) for each in texts]
    (found,) = conversations(FORM, document)
    assert [turn.content for turn in found.messages] == ["a", "?", "?", "?", "?", "b", "?"]
    assert [turn.place for turn in found.messages if turn.role == "system"] == ["system", "4.instructions"]


def test_no_turn_keeps_the_words_of_another() -> None:
    (payload,) = captures(FORM, WEATHER)
    for index, turn in enumerate(payload["turns"]):
        others = {
            each["content"] for at, each in enumerate(payload["turns"]) if at != index and len(each["content"]) > 9
        }
        kept = json.dumps(turn.get("metadata", {}), ensure_ascii=False)
        assert not [words for words in others if words in kept]


def test_large_binaries_are_digests_and_counted_as_lost() -> None:
    # In base64 for URLs, as the type adapter writes it.
    picture = {"kind": "binary", "data": "-_8A" * 2000, "media_type": "image/png"}
    document = [request(prompt(["Look", picture])), request(answer("show", {"it": picture}, tool_call_id="c"))]
    with stored(FORM, document) as session:
        found, result = written(FORM, session)
    assert result.lost["binaries"] == 2
    assert found["messages"][0]["parts"][0]["content"][1]["data"]["bytes"] == 6000
    assert found["messages"][1]["parts"][0]["content"]["it"]["data"]["media_type"] == "image/png"
    assert "-_8A" not in json.dumps(found)


WRONG = [
    ([], "$", "minItems"),
    ({"messages": 1}, "$.messages", "type"),
    ({"other": []}, "$.messages", "required"),
    ([1], "$[0]", "type"),
    ([{"parts": []}], "$[0].kind", "required"),
    ([{"kind": "reply", "parts": []}], "$[0].kind", "enum"),
    ([{"kind": 1, "parts": []}], "$[0].kind", "type"),
    ([request(), {"kind": "request"}], "$[1].parts", "required"),
    ([{"kind": "request", "parts": {}}], "$[0].parts", "type"),
    ([request(1)], "$[0].parts[0]", "type"),
    ([request({"content": "hi"})], "$[0].parts[0].part_kind", "required"),
    ([request({"part_kind": None})], "$[0].parts[0].part_kind", "type"),
    ([response(call("f", {}, tool_call_id=7))], "$[0].parts[0].tool_call_id", "type"),
    ([response(call(["f"], {}))], "$[0].parts[0].tool_name", "type"),
    ([response({"part_kind": "text", "content": [1]})], "$[0].parts[0].content", "type"),
]


@pytest.mark.parametrize(("document", "path", "rule"), WRONG)
def test_a_wrong_type_is_refused_by_its_path(document: Any, path: str, rule: str) -> None:
    (found,) = pydantic_ai.read(document)
    assert isinstance(found, ValidationError)
    assert [(each.path, each.rule) for each in found.problems] == [(path, rule)]


def test_turns_of_others_become_the_messages_that_the_sdk_would_make() -> None:
    turns = [
        {"turn_id": "s", "role": "system", "content": "Be brief.", "timestamp": NOON},
        {"turn_id": "u", "role": "user", "content": "Both?", "timestamp": NOON},
        {"turn_id": "a", "role": "assistant", "content": "", "timestamp": NOON, "model": "m"}
        | {"tool_invocations": [{"tool_name": "f", "invocation_id": each, "arguments": [each]} for each in "xy"]},
        *(
            {"turn_id": f"t{each}", "role": "tool", "content": each, "timestamp": NOON}
            | {"tool_invocations": [{"tool_name": "f", "invocation_id": each, "success": False}]}
            for each in "xy"
        ),
    ]
    with memory() as kept:
        payload = {"session_id": "s1", "conversation_id": "c1", "turns": turns}
        kept.capture({**payload, "capture_options": {"derive_ids": True}})
        session = kept.session(session_uuid("s1"))
        found, result = written(FORM, session)
        assert again(FORM, found)[0]["content"] == "Be brief."
    assert [(each["kind"], [part["part_kind"] for part in each["parts"]]) for each in found["messages"]] == [
        ("request", ["system-prompt", "user-prompt"]),
        ("response", ["tool-call", "tool-call"]),
        ("request", ["tool-return", "tool-return"]),
    ]
    assert found["messages"][1]["parts"][0]["args"] == '["x"]'
    assert found["messages"][1]["model_name"] == "m"
    assert [part["outcome"] for part in found["messages"][2]["parts"]] == ["failed", "failed"]
    assert not result.lost


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


@settings(max_examples=60, deadline=None)
@given(
    native=st.one_of(st.sampled_from(KEPT), json_values, st.fixed_dictionaries({"parts": st.lists(json_values)})),
    place=st.integers(0, 99),
)
@pytest.mark.parametrize("document", [WEATHER, OLD])
def test_what_is_kept_never_changes_what_is_said(document: list[Any], native: Any, place: int) -> None:
    with stored(FORM, document) as session:
        found, _ = written(FORM, edited(session, native, place=place))
        assert again(FORM, found) == spoken(session)


def nodes(value: Any) -> list[tuple[Any, Any]]:
    """Every place of ``value``, as its holder and its key."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, each in items for found in ((value, key), *nodes(each))]


@settings(max_examples=150, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("document", [WEATHER, OLD])
def test_whatever_comes_is_read_or_refused_and_what_is_read_comes_back(
    document: list[Any], data: st.DataObject
) -> None:
    changed = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 3))):
        places = nodes(changed)
        holder, key = places[data.draw(st.integers(0, len(places) - 1))]
        holder[key] = data.draw(json_values)
    pydantic_ai.detect(changed)
    (found,) = pydantic_ai.read(changed)
    if isinstance(found, Conversation):
        with stored(FORM, changed) as session:
            out, _ = written(FORM, session)
            assert again(FORM, out) == spoken(session)


@given(json_values)
def test_any_json_is_looked_at_without_an_error(document: Any) -> None:
    pydantic_ai.detect(document)
    list(pydantic_ai.read(document))


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
    assert found
    taken = {name for name, document in found if pydantic_ai.detect(document)}
    assert taken == {"pydantic-ai__tau-bench-airline__1.json"}
    lines = [value for _, document in found if isinstance(document, list) for value in document]
    assert not [value for value in lines if not isinstance(value, dict) and pydantic_ai.detect(value)]
    assert all(pydantic_ai.detect(each) for each in (*EXAMPLES, {"messages": OLD}, {"records": OLD}))
