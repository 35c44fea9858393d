"""The google-adk format: sessions, events and eval cases, read, stored and written again."""

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.errors import ValidationError
from agent.formats import google_adk, reader
from agent.formats.conversation.payload import Scope, payloads
from agent.formats.wrappers import opened
from tests.formats.chat_messages import CAPTURED_AT, same_json
from tests.formats.gemini_samples import nearly
from tests.formats.round_trips import (
    again,
    bare,
    captures,
    check_payload,
    conversations,
    lines,
    spoken,
    stored,
    written,
)
from tests.strategies import json_values

FORM = "google-adk"
FILE = "google-adk__sessions-and-evals__4.jsonl"


def event(number, author, *parts, role=None, **fields):
    whole = {
        "id": f"e{number}",
        "author": author,
        "invocation_id": f"i{number // 10}",
        "timestamp": 1733043686.25 + number,
        "content": {"role": role or ("user" if author == "user" else "model"), "parts": list(parts)},
        "actions": {"state_delta": {}},
    }
    return {name: value for name, value in {**whole, **fields}.items() if value is not ...}


def call(name, **fields):
    return {"function_call": {"name": name, **fields}}


def answer(name, response, **fields):
    return {"function_response": {"name": name, "response": response, **fields}}


SESSION = {
    "id": "s-1",
    "app_name": "planner",
    "user_id": "ann",
    "state": {"city": "Rome"},
    "events": [
        event(1, "user", {"text": "Plan"}),
        event(
            2,
            "root",
            {"text": "Thinking", "thought": True},
            call("find", id="adk-1", args={"q": "a"}),
            call("find", id="adk-2", args={"q": "b"}),
            usage_metadata={"prompt_token_count": 3, "candidates_token_count": 4, "total_token_count": 7},
            model_version="gemini-x",
            long_running_tool_ids=["adk-2"],
        ),
        event(
            3,
            "root",
            answer("find", {"result": [1.0]}, id="adk-1"),
            answer("find", {"error": "none"}, id="adk-2"),
            {"text": "Go on."},
            role="user",
            actions={"state_delta": {"found": 1}},
        ),
        event(4, "helper", {"text": "Found"}, {"text": "it."}, branch="root.helper", partial=False),
        event(5, "root", content=..., error_code="SAFETY", error_message="blocked"),
        event(6, "user", content=None, input_transcription={"text": "thanks", "finished": True}, id=...),
        event(7, "root", {"text": ""}, id="0000000A-0000-4000-8000-000000000001", timestamp=1733043700),
    ],
    "last_update_time": 1733043699.5,
}
CAMEL = {
    "id": "s-2",
    "appName": "planner",
    "userId": "ann",
    "events": [
        {
            "id": "e1",
            "invocationId": "i",
            "author": "root",
            "timestamp": 1733043686.8428597,
            "content": {"parts": [{"functionCall": {"name": "f", "args": {}}}, {"functionCall": {"name": "f"}}]},
            "usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 3},
            "actions": {"stateDelta": {}},
        },
        {
            "id": "e1",
            "invocationId": "i",
            "author": "root",
            "content": {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
        },
        {"invocationId": "i", "author": "root", "content": {"role": "model"}, "id": ""},
    ],
}
CASE = {
    "eval_id": "case",
    "conversation": [
        {
            "invocation_id": "i1",
            "user_content": {"parts": [{"text": "Lights", "thought": None}], "role": "user"},
            "intermediate_data": {
                "tool_uses": [{"id": None, "name": "on", "args": {"n": 1}}, {"name": "on", "args": {"n": 2}}],
                "tool_responses": [{"name": "on", "response": {"ok": True}}, {"name": "on", "response": {}}],
                "intermediate_responses": [["helper", [{"text": "One moment."}]]],
                "notes": 1,
            },
            "final_response": {"parts": [{"text": "On."}], "role": "model"},
            "creation_timestamp": 1747340826.1082227,
        },
        {
            "user_content": {"parts": [{"text": "Bye"}]},
            "intermediate_data": {
                "invocation_events": [{"author": "root", "content": {"role": "model", "parts": [call("end", args={})]}}]
            },
            "final_response": None,
        },
    ],
    "session_input": {"app_name": "home", "user_id": "ann", "state": {"room": 1}},
    "creation_timestamp": 1747340826.5,
}
SAMPLES = [SESSION, CAMEL, CASE]
STREAM = [
    event(1, "root", {"text": "a"}, call("f", id="1"), partial=True),
    event(2, "root", {"text": "b"}, partial=True),
    event(3, "root", content=..., partial=True, output_transcription={"text": "c"}),
]


def turns(document):
    (payload,) = captures(FORM, document)
    return payload["turns"]


def contents(document):
    with stored(FORM, document) as session:
        out, _ = written(FORM, session)
        return [each.get("content") for each in out["session"]["events"]]


@pytest.mark.parametrize("document", [SESSION, CAMEL], ids=["snake_case", "camelCase"])
def test_events_come_back_as_they_were_and_say_the_same_without_what_was_kept(document):
    with stored(FORM, document) as session:
        out, result = written(FORM, session)
        assert same_json(out["session"]["events"], document["events"])
        assert again(FORM, out) == spoken(session)
        assert not result.lost.keys() - {"calls_without_result"}
        out, _ = written(FORM, bare(session))
        assert again(FORM, out) == spoken(session)


def test_a_session_is_written_with_all_that_the_kit_calls_its_own():
    with stored(FORM, SESSION) as session:
        out, _ = written(FORM, session)
    assert same_json(out, {"session_id": "s-1", "conversation_id": out["conversation_id"], "session": SESSION})


def test_an_event_is_a_turn_for_each_result_and_one_for_what_is_left_by_its_author():
    found = turns(SESSION)
    assert [(turn["role"], turn["content"], turn.get("metadata", {}).get("agent")) for turn in found] == [
        ("user", "Plan", None),
        ("assistant", "", "root"),
        ("tool", '{"result":[1.0]}', "root"),
        ("tool", "none", "root"),
        ("user", "Go on.", "root"),
        ("assistant", "Found\nit.", "helper"),
        ("assistant", "", "root"),
        ("user", "thanks", None),
        ("assistant", "", "root"),
    ]
    assert [turn.get("native_id") for turn in found] == ["e1", "e2", "e3", None, None, "e4", "e5", None, None]
    assert found[-1]["turn_id"] == "0000000A-0000-4000-8000-000000000001"
    assert found[1]["token_usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert (found[1]["model"], found[0]["timestamp"]) == ("gemini-x", "2024-12-01T09:01:27.250000Z")
    assert found[3]["tool_invocations"][0]["success"] is False


def test_state_stands_beside_the_turns_and_its_changes_with_their_own():
    (payload,) = captures(FORM, SESSION)
    assert payload["context"] == {"user_id": "ann"}
    beside = payload["native"]["beside"]
    assert beside == {"app_name": "planner", "state": {"city": "Rome"}, "last_update_time": 1733043699.5}
    assert payload["native_session_id"] == "s-1"
    assert payload["turns"][2]["metadata"]["native"]["event"]["actions"] == {"state_delta": {"found": 1}}
    assert "Go on." not in json.dumps(payload["turns"][2])


def test_an_eval_case_is_read_as_the_events_that_it_would_have_been():
    (one,) = conversations(FORM, CASE)
    assert (one.session_id, one.conversation_id) == (None, "case")
    assert one.timestamp == "2025-05-15T20:27:06.500000Z"
    found = turns(CASE)
    assert [(turn["role"], turn["content"]) for turn in found] == [
        ("user", "Lights"),
        ("assistant", ""),
        ("tool", '{"ok":true}'),
        ("tool", "{}"),
        ("assistant", "One moment."),
        ("assistant", "On."),
        ("user", "Bye"),
        ("assistant", ""),
    ]
    calls = [entry["invocation_id"] for entry in found[1]["tool_invocations"]]
    assert [turn["tool_invocations"][0]["invocation_id"] for turn in found[2:4]] == calls
    assert found[0]["metadata"]["native"]["invocation"] == {
        "creation_timestamp": 1747340826.1082227,
        "intermediate_data": {"notes": 1},
    }
    said = CASE["conversation"]
    assert contents(CASE)[0] == said[0]["user_content"]
    assert contents(CASE)[1]["parts"] == [{"function_call": use} for use in said[0]["intermediate_data"]["tool_uses"]]
    assert contents(CASE)[4] == said[0]["final_response"]
    with stored(FORM, CASE) as session:
        out, result = written(FORM, session)
        assert again(FORM, out) == spoken(session)
        assert result.lost == {"calls_without_result": 1}
        assert {name: out["session"][name] for name in ("app_name", "user_id", "state")} == CASE["session_input"]
        assert again(FORM, written(FORM, bare(session))[0]) == spoken(session)


def test_every_case_of_a_set_is_a_conversation_and_one_that_cannot_be_read_does_not_stop_the_others():
    whole = {"eval_set_id": "set", "name": "n", "eval_cases": [CASE, {"eval_id": "x"}, {**CASE, "eval_id": "other"}]}
    first, wrong, last = google_adk.read(whole)
    assert (first.conversation_id, last.conversation_id, last.number) == ("case", "other", 2)
    assert first.native["eval_set"] == {"eval_set_id": "set", "name": "n"}
    assert [(each.path, each.rule) for each in wrong.problems] == [("$.eval_cases[1].conversation", "required")]


@pytest.mark.parametrize("wrap", [list, lambda events: {"records": events}, lambda events: {"events": events}])
def test_events_alone_are_read_and_what_makes_no_turn_is_counted(wrap):
    events = [
        event(1, "user", {"text": "Hi"}),
        event(2, "root", {"text": "He"}, partial=True),
        event(3, "root", {"text": "Hello"}, partial=False),
        {},
        event(4, "root", content=..., actions={"state_delta": {"a": 1}}),
        event(5, "user", content=..., actions={"compaction": {"compacted_content": {}}}),
    ]
    assert google_adk.detect(wrap(events))
    (found,) = conversations(FORM, wrap([*events, "junk", 1, None]))
    assert [message.content for message in found.messages] == ["Hi", "Hello"]
    assert found.ignored.counts == {"partial events": 1, "junk": 4, "events without content": 1, "compactions": 1}


def test_fragments_of_an_answer_that_never_came_whole_are_one_event():
    usage = {"prompt_token_count": 1, "candidates_token_count": 2, "total_token_count": 3}
    piece = {"function_call": {"name": "find", "partial_args": [{"json_path": "$.q"}], "will_continue": True}}
    events = [
        event(1, "user", {"text": "Hi"}),
        event(2, "root", {"text": "Hel"}, partial=True),
        event(3, "root", {"text": "Hello"}),
        event(10, "user", {"text": "And?"}),
        event(11, "root", {"text": "Hm", "thought": True}, partial=True),
        event(12, "helper", {"text": "I "}, partial=True),
        event(13, "root", {"text": "So "}, partial=True),
        event(14, "root", answer("find", {}, id="x"), role="user"),
        event(15, "root", {"text": "long."}, piece, partial=True, usage_metadata=usage),
        event(16, "helper", {"text": "think"}, partial=True),
        event(20, "user", content=..., partial=True, input_transcription={"text": "tha"}),
        event(21, "user", content=..., partial=True, input_transcription={"text": "nks", "finished": True}),
        event(22, "user", content=...),
    ]
    document = {**SESSION, "events": events}
    (found,) = conversations(FORM, document)
    said = [(m.native_id, m.role, m.content, (m.native or {}).get("fragments")) for m in found.messages]
    assert said == [
        ("e1", "user", "Hi", None),
        ("e3", "assistant", "Hello", None),
        ("e10", "user", "And?", None),
        ("e11", "assistant", "So long.", 3),
        ("e12", "assistant", "I think", 2),
        ("e14", "tool", "{}", None),
        ("e20", "user", "thanks", 2),
    ]
    assert found.messages[3].usage == {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    assert found.ignored.counts == {"partial events": 1, "events without content": 1}
    whole = event(11, "root", {"text": "Hm", "thought": True}, {"text": "So long."}, usage_metadata=usage)
    with stored(FORM, document) as session:
        out, result = written(FORM, session)
        assert same_json(out["session"]["events"][3], whole)
        assert again(FORM, out) == spoken(session)
        assert result.lost == {"results_without_call": 1}
    grown = turns({**document, "events": [*events, event(30, "root", {"text": "Bye"})]})
    assert grown[:7] == turns(document)


def test_after_a_rewind_the_conversation_goes_on_from_before_what_was_taken_back():
    events = [
        event(1, "user", {"text": "one"}),
        event(11, "user", {"text": "two"}),
        event(12, "root", {"text": "no"}),
        event(20, "user", content=..., actions={"rewind_before_invocation_id": "i1"}),
        event(31, "user", {"text": "three"}),
    ]
    with stored(FORM, {**SESSION, "events": events}) as session:
        assert [turn.content for turn in session.shown] == ["one", "three"]
        out, result = written(FORM, session)
        assert same_json(out["session"]["events"], [events[0], events[4]])
        assert result.lost["not_in_history"] == 3  # two that were taken back, and what names the leaf
        assert again(FORM, out) == spoken(session)


def test_a_session_that_grows_keeps_the_ids_and_bodies_of_its_turns():
    for document in (SESSION, CAMEL):
        whole = turns(document)
        for length in range(1, len(document["events"])):
            part = turns({**document, "events": document["events"][:length]})
            assert part == whole[: len(part)]
    assert turns({**CASE, "conversation": CASE["conversation"][:1]}) == turns(CASE)[:6]


def test_a_session_from_elsewhere_becomes_events_with_its_ids_times_models_and_agents():
    body = {
        "session_id": "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61",
        "conversation_id": "b7a1e0d4-5c39-4e82-8f16-2d7c9b0a4e13",
        "context": {"user_id": "ann"},
        "turns": [
            {
                "turn_id": "00000000-0000-4000-8000-00000000000a",
                "role": "assistant",
                "content": "hi",
                "timestamp": "2026-01-01T00:00:00.5Z",
                "model": "m",
                "token_usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
                "metadata": {"agent": "bot"},
            },
            {
                "turn_id": "00000000-0000-4000-8000-00000000000b",
                "role": "tool",
                "content": "lost",
                "timestamp": "2026-01-01T00:00:00.123456789Z",
            },
        ],
    }
    from tests.formats.sessions import memory

    with memory() as kept:
        kept.capture(body)
        session = kept.session(body["session_id"])
        out, result = written(FORM, session)
    assert out["session"]["events"] == [
        {
            "author": "bot",
            "id": "00000000-0000-4000-8000-00000000000a",
            "timestamp": 1767225600.5,
            "model_version": "m",
            "usage_metadata": {"prompt_token_count": 1, "candidates_token_count": 2, "total_token_count": 3},
            "content": {"role": "model", "parts": [{"text": "hi"}]},
        },
        {
            "author": "",
            "id": "00000000-0000-4000-8000-00000000000b",
            "timestamp": 1767225600.123456789,
            "content": {"role": "function", "parts": [{"text": "lost"}]},
        },
    ]
    assert out["session"]["user_id"] == "ann"
    assert result.lost == {"results_without_call": 1, "times": 1}


def problems(document):
    (found,) = google_adk.read(document)
    assert isinstance(found, ValidationError)
    return [(problem.path, problem.rule) for problem in found.problems]


def test_every_path_that_is_wrong_is_named():
    events = [event(1, "a", {"text": 1}), event(2, "a", role="agent"), event(3, "a", content="hi")]
    wrong = [("[0].content.parts[0].text", "type"), ("[1].content.role", "enum"), ("[2].content", "type")]
    assert problems({"events": events}) == [(f"$.events{path}", rule) for path, rule in wrong]
    assert problems(events) == [(f"${path}", rule) for path, rule in wrong]
    assert problems({"session": {"app_name": "", "user_id": "", "events": events}}) == [
        (f"$.session.events{path}", rule) for path, rule in wrong
    ]
    assert problems({}) == [("$.events", "required")]
    assert problems({"events": 1}) == [("$.events", "type")]
    case = {"eval_id": "a", "conversation": [1, {}, {"user_content": 1, "intermediate_data": {"tool_uses": 1}}]}
    assert problems({"eval_set_id": "s", "eval_cases": [case]}) == [
        ("$.eval_cases[0].conversation[0]", "type"),
        ("$.eval_cases[0].conversation[1].user_content", "required"),
        ("$.eval_cases[0].conversation[2].user_content", "type"),
        ("$.eval_cases[0].conversation[2].intermediate_data.tool_uses", "type"),
    ]


def test_a_posted_session_names_its_own_session():
    payload = reader(FORM).read(SESSION, captured_at=CAPTURED_AT).payload
    check_payload(payload)
    assert payload["native_session_id"] == "s-1"


@given(json_values)
def test_detect_takes_any_json(value):
    google_adk.detect(value)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.sampled_from([*SAMPLES, STREAM, {"eval_set_id": "s", "eval_cases": [CASE]}]).flatmap(nearly))
def test_whatever_is_nearly_a_document_is_read_or_refused(document):
    google_adk.detect(document)
    for found in google_adk.read(document):
        if isinstance(found, ValidationError):
            assert found.problems
        elif found.messages:
            scope = Scope(found.session_id or "s", found.conversation_id, CAPTURED_AT, number=found.number)
            for payload in payloads(found.messages, found, scope, FORM):
                check_payload(payload)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_native_that_lies_or_is_malformed_changes_nothing_that_is_said(data):
    with stored(FORM, data.draw(st.sampled_from(SAMPLES))) as session:
        truth = spoken(session)
        natives = [turn.fields.get("metadata", {}).get("native", {}) for turn in session.shown]
        odd = st.sampled_from([None, "before", "e1", "i0", "user", 1.5, True, ["id"], ["content"], *natives])
        shown = []
        for turn, native in zip(session.shown, natives, strict=True):
            metadata = turn.fields.get("metadata", {})
            lie = data.draw(st.just(native) | nearly(native, odd) | st.sampled_from(natives) | json_values)
            absent = data.draw(st.just(metadata.get("native_absent", [])) | st.sampled_from([["role"], ["parts"], {}]))
            fields = {**turn.fields, "metadata": {**metadata, "native": lie, "native_absent": absent}}
            shown.append(replace(turn, fields=fields))
        out, _ = written(FORM, replace(session, shown=tuple(shown)))
        assert again(FORM, out) == truth


# The shared file


def documents(shared):
    return [line["data"] for line in lines(shared / "data" / FILE)]


def said_in(document):
    """The contents of a document by hand."""
    if "events" in document:
        return [each["content"] for each in document["events"]]
    found = []
    for invocation in document["eval_cases"][0]["conversation"]:
        uses = [{"function_call": use} for use in invocation["intermediate_data"]["tool_uses"]]
        found += [invocation["user_content"], *([{"role": "model", "parts": uses}] if uses else [])]
        found.append(invocation["final_response"])
    return found


def test_every_shared_document_comes_back_and_says_the_same_without_what_was_kept(shared):
    counts = []
    for document in documents(shared):
        assert same_json(contents(document), said_in(document))
        with stored(FORM, document) as session:
            out, _ = written(FORM, session)
            assert again(FORM, out) == spoken(session)
            out, result = written(FORM, bare(session))
            assert again(FORM, out) == spoken(session)
            counts.append((len(session.all), dict(result.lost)))
    assert counts == [(6, {}), (6, {"calls_without_result": 2}), (6, {"calls_without_result": 2}), (2, {})]


def test_the_shared_session_is_given_back_event_by_event(shared):
    (document,) = [each for each in documents(shared) if "events" in each]
    (found,) = conversations(FORM, document)
    assert found.ignored.counts == {"logs of model calls": 1}
    with stored(FORM, document) as session:
        assert same_json(written(FORM, session)[0]["session"]["events"], document["events"])


def test_detect_knows_its_own_among_all_shared_files(shared):
    count = 0
    for path in sorted((shared / "data").iterdir()):
        if path.suffix == ".json":
            whole = json.loads(path.read_text())
            found = [whole, *(whole if isinstance(whole, list) else ())]
        else:
            found = list(lines(path)) if path.suffix == ".jsonl" else []
            assert not google_adk.detect(found)
        known = sum(opened(each, google_adk.detect) is not None for each in found)
        assert known == (4 if path.name == FILE else 0), path.name
        count += known
    assert count == 4
