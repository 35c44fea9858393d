"""The gemini format: requests, answers and recorded calls, read, stored and written again."""

import base64
import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.core.ids import session_uuid
from agent.errors import ValidationError
from agent.formats import gemini, reader
from agent.formats.conversation.payload import Scope, payloads
from agent.formats.gemini_parts import response_of, response_text
from agent.formats.wrappers import opened
from tests.formats.chat_messages import CAPTURED_AT, digest, same_json
from tests.formats.corpus import OURS, documents, folders
from tests.formats.gemini_samples import PARALLEL, SAMPLES, SNAKE, nearly
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
from tests.formats.sessions import memory
from tests.strategies import json_values

FORM = "gemini"
RECORDED = "api-recording__pydantic-ai__gemini__14.jsonl"
GOOGLE = ("generativelanguage.googleapis.com", "aiplatform.googleapis.com")


def user(text):
    return {"role": "user", "parts": [{"text": text}]}


def model(*parts):
    return {"role": "model", "parts": list(parts)}


def call(name, args=None, **fields):
    return {"functionCall": {"name": name, "args": args or {}, **fields}}


def answer(name, response, **fields):
    return {"functionResponse": {"name": name, "response": response, **fields}}


def response(*candidates, **fields):
    return {"candidates": list(candidates), "modelVersion": "gemini-x", **fields}


def recorded(*pairs):
    interactions = [{"request": {"body": sent}, "response": {"status": 200, "body": came}} for sent, came in pairs]
    return {"interactions": interactions}


def turns(document):
    (payload,) = captures(FORM, document)
    return payload["turns"]


def told(document):
    with stored(FORM, document) as session:
        return spoken(session)


def check_as_stored(document, contents, instruction=None):
    with stored(FORM, document) as session:
        out, _ = written(FORM, session)
        assert same_json(out["contents"], contents)
        assert same_json(out.get("systemInstruction"), instruction)
        assert again(FORM, out) == spoken(session)


def check_bare(document):
    """The same is said without what the reader kept; what the writer counts as lost."""
    with stored(FORM, document) as session:
        out, result = written(FORM, bare(session))
        assert again(FORM, out) == spoken(session)
        return result.lost


@pytest.mark.parametrize("document", SAMPLES, ids=["camelCase", "snake_case"])
def test_contents_come_back_as_they_were_and_say_the_same_without_what_was_kept(document):
    instruction = document.get("systemInstruction", document.get("config", {}).get("system_instruction"))
    check_as_stored(document, document["contents"], instruction)
    check_bare(document)


def test_a_content_is_a_turn_for_each_result_and_one_for_what_is_left():
    assert [(turn["role"], turn["content"]) for turn in turns(PARALLEL)] == [
        ("system", "Be brief."),
        ("user", "Rome and Oslo?\n[image: image/png]"),
        ("assistant", "Let me look."),
        ("tool", "sun"),
        ("tool", "no station"),
        ("tool", '{"hour":7,"minute":0.0}'),
        ("user", "Hurry."),
        ("assistant", "print(1)\n1\n\nSun in Rome.\nNothing from Oslo."),
    ]


def test_calls_without_ids_are_answered_in_the_order_of_their_name():
    found = told(PARALLEL)
    assert [result for turn in found for result in turn["results"]] == [
        ("weather", "weather", None),
        ("weather", "weather", False),
        ("now", "now", None),
    ]
    payload = turns(PARALLEL)
    ids = [entry["invocation_id"] for entry in payload[2]["tool_invocations"]]
    assert [turn["tool_invocations"][0]["invocation_id"] for turn in payload[3:6]] == ids


def test_a_result_without_an_id_is_for_the_next_open_call_of_its_function_whatever_id_that_has():
    contents = [
        user("go"),
        model(call("f", id="1"), call("g", id="2"), call("f", id="3")),
        {"role": "user", "parts": [answer("f", {}), answer("g", {}), answer("f", {})]},
    ]
    with stored(FORM, {"contents": contents}) as session:
        assert [turn["results"][0][0] for turn in spoken(session) if turn["results"]] == ["1", "2", "3"]
        assert not written(FORM, session)[1].lost
    check_as_stored({"contents": contents}, contents)
    check_bare({"contents": contents})


def test_each_turn_keeps_only_its_own_parts():
    kept = [json.dumps(turn.get("metadata", {}).get("native")) for turn in turns(PARALLEL)]
    assert ["Hurry" in each for each in kept].count(True) == 0
    assert ["no station" in each for each in kept].count(True) == 0
    assert kept[3:7] == ['{"fields": {"role": "function"}}', *['{"of": "before"}'] * 3]


def test_only_parts_that_the_turn_does_not_hold_are_kept():
    assert turns(PARALLEL)[2]["metadata"]["native"]["parts"] == [
        {"text": "They differ.", "thought": True},
        None,
        PARALLEL["contents"][1]["parts"][2],
        None,
        None,
    ]
    assert "native" not in turns({"contents": [user("hi")]})[0]["metadata"]


def test_what_stands_beside_the_contents_is_kept_beside_the_turns():
    (one,) = conversations(FORM, PARALLEL)
    assert one.native == {"generationConfig": {"temperature": 0}}
    (other,) = conversations(FORM, SNAKE)
    assert other.native == {"model": "gemini-2.5-pro", "config": SNAKE["config"]}


def test_a_single_content_a_list_of_contents_and_contents_without_roles_are_read():
    assert told({"contents": {"parts": [{"text": "hi"}]}}) == told([user("hi")]) == told({"contents": [user("hi")]})
    check_as_stored({"contents": {"parts": [{"text": "hi"}]}}, [{"parts": [{"text": "hi"}]}])


def test_large_binaries_are_digests_and_counted_in_either_alphabet():
    data = bytes(range(256)) * 20
    for text in (base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()):
        part = {"inlineData": {"mimeType": "image/png", "data": text}}
        with stored(FORM, {"contents": [{"role": "user", "parts": [{"text": "see"}, part]}]}) as session:
            assert spoken(session)[0]["content"] == "see\n[image: image/png]"
            out, result = written(FORM, session)
            assert out["contents"][0]["parts"][1]["inlineData"]["data"] == digest(data, "image/png")
            assert result.lost == {"binaries": 1}
    nested = {"name": "draw", "response": {}, "parts": [{"inlineData": {"mimeType": "image/png", "data": text}}]}
    (_, drawn) = turns({"contents": [model(call("draw")), {"role": "user", "parts": [{"functionResponse": nested}]}]})
    assert drawn["content"] == "{}\n[image: image/png]"
    assert text not in json.dumps(drawn)


def test_signatures_are_kept_to_the_letter_whatever_their_length():
    content = model({"text": "x", "thoughtSignature": "QUJD" * 5000})
    check_as_stored({"contents": [user("hi"), content]}, [user("hi"), content])


@given(st.text() | json_values.map(json.dumps), st.booleans())
def test_every_text_of_a_result_is_found_again_in_the_response_that_it_makes(text, failed):
    made = response_of(text, failed=failed)
    assert isinstance(made, dict)
    assert response_text(made) == (text, False if failed else None)


# Answers


def test_an_answer_alone_is_a_turn_with_its_model_usage_and_time():
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 28, "thoughtsTokenCount": 244, "totalTokenCount": 281}
    document = response(
        {"content": model({"text": "4"}), "finishReason": "STOP"},
        usageMetadata=usage,
        createTime="2025-06-01T15:23:17Z",
    )
    (turn,) = turns(document)
    assert (turn["role"], turn["content"], turn["model"]) == ("assistant", "4", "gemini-x")
    assert turn["token_usage"] == {"prompt_tokens": 9, "completion_tokens": 272, "total_tokens": 281}
    assert turn["timestamp"] == "2025-06-01T15:23:17Z"
    assert turn["metadata"]["derived"] == ["timestamp", "model", "token_usage"]
    assert turn["metadata"]["native"]["candidate"] == {"finishReason": "STOP"}
    assert turn["metadata"]["native"]["response"]["usageMetadata"] == usage


def test_an_answer_that_was_withheld_is_a_turn_without_text_that_says_why():
    (turn,) = turns(response({"finishReason": "SAFETY", "index": 0}))
    assert (turn["role"], turn["content"]) == ("assistant", "")
    assert turn["metadata"]["native"]["candidate"] == {"finishReason": "SAFETY", "index": 0}
    check_as_stored(response({"finishReason": "SAFETY"}), [{"role": "model"}])


def chunks(*texts, **last):
    found = [response({"content": model({"text": text})}) for text in texts]
    found[-1] |= last
    return found


@pytest.mark.parametrize("how", ["list", "sse", "recorded list"])
def test_the_chunks_of_a_stream_are_one_answer(how):
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3}
    parts = [
        response({"content": model({"text": "Th", "thought": True})}),
        response({"content": model({"text": "ink", "thought": True})}),
        response({"content": {"parts": [{"text": "An"}]}}),
        response({"content": model({"text": "swer"})}),
        response({"content": model({"text": "", "thoughtSignature": "c2ln"}), "finishReason": "STOP"}),
        {"usageMetadata": usage, "modelVersion": "gemini-x"},
    ]
    whole = [user("hi"), model({"text": "Think", "thought": True}, {"text": "Answer", "thoughtSignature": "c2ln"})]
    if how == "list":
        check_as_stored(parts, whole[1:])
        return
    body = "".join(f"data: {json.dumps(part)}\r\n\r\n" for part in parts) if how == "sse" else parts
    document = recorded(({"contents": [user("hi")]}, body))
    check_as_stored(document, whole)
    assert turns(document)[1]["token_usage"]["total_tokens"] == 3


def test_several_candidates_are_branches_of_which_the_first_goes_on():
    both = response({"content": model({"text": "one"})}, {"content": model({"text": "two"})})
    document = recorded(({"contents": [user("hi")]}, both))
    with stored(FORM, document) as session:
        assert sorted(turn.content for turn in session.all if turn.role == "assistant") == ["one", "two"]
        assert [turn.content for turn in session.shown] == ["hi", "one"]
        assert written(FORM, session)[1].lost["not_in_history"] == 2  # the other answer, and what names the leaf


def test_calls_of_something_else_and_without_an_answer_are_counted():
    document = recorded(
        ({"displayName": "a store"}, {"name": "stores/1"}),
        ({"contents": [user("hi")]}, {"error": {"code": 429}}),
    )
    (found,) = conversations(FORM, document)
    assert found.ignored.counts == {"calls of something else": 1, "calls without an answer": 1}
    assert len(found.messages) == 1


def sent_again(*answers, first=()):
    """A recording in which two calls of one function are answered, after the client gave them ids: ``answers``."""
    later = [
        user("go"),
        model(*(call("f", {"n": each}, id=f"made-{each}", **more) for each, more in ((1, {}), (2, {})))),
        {"role": "user", "parts": list(answers)},
    ]
    came = model(*(call("f", {"n": each}, **dict(first)) for each in (1, 2)))
    return recorded(
        ({"contents": [user("go")]}, response({"content": came, "finishReason": "STOP"})),
        ({"contents": later}, response({"content": model({"text": "done"})})),
        (
            {"contents": [*later, model({"text": "done"}), user("more")]},
            response({"content": model({"text": "no"})}),
        ),
    )


def test_what_a_client_sends_again_with_ids_of_its_own_stays_the_answer_that_came():
    results = [answer("f", {"n": each}, id=f"made-{each}") for each in (1, 2)]
    document = sent_again(*results)
    (found,) = conversations(FORM, document)
    assert [message.role[0] for message in found.messages] == list("uattaua")
    assert [each.native_id for each in found.messages[1].calls] == ["f", "f"]
    assert [message.results[0].native_id for message in found.messages[2:4]] == ["f", "f"]
    assert found.messages[1].model == "gemini-x"
    came = document["interactions"][0]["response"]["body"]["candidates"][0]["content"]
    answered = {"role": "user", "parts": results}
    whole = [user("go"), came, answered, model({"text": "done"}), user("more"), model({"text": "no"})]
    check_as_stored(document, whole)
    with stored(FORM, document) as session:
        assert "not_in_history" not in written(FORM, session)[1].lost
        pairs = [turn.invocations[0]["invocation_id"] for turn in session.shown if turn.role == "tool"]
        assert pairs == [entry["invocation_id"] for entry in session.shown[1].invocations]


def test_a_call_that_is_sent_again_with_an_id_is_one_of_its_own_where_only_the_id_tells_which_result_is_its():
    document = sent_again(*[answer("f", {"n": each}, id=f"made-{each}") for each in (2, 1)])
    with stored(FORM, document) as session:
        made = {entry["invocation_id"]: entry["arguments"] for turn in session.shown[:2] for entry in turn.invocations}
        assert [turn.content for turn in session.shown] == ["go", "", '{"n":2}', '{"n":1}', "done", "more", "no"]
        assert [made[turn.invocations[0]["invocation_id"]] for turn in session.shown[2:4]] == [{"n": 2}, {"n": 1}]
    check_growth(document)


def turns_by_id(document):
    """The turns but for what something else said of them, and for what only says where the conversation stands."""
    found = {}
    for payload in captures(FORM, document):
        for turn in payload["turns"]:
            metadata = turn.get("metadata", {})
            if not metadata.get("memory", {}).get("state_only"):
                derived = metadata.get("derived", [])
                body = {name: value for name, value in turn.items() if name not in derived}
                rest = {name: value for name, value in metadata.items() if name != "derived"}
                found[turn["turn_id"]] = {**body, "metadata": rest}
    return found


def check_growth(document):
    whole = turns_by_id(document)
    for length in range(1, len(document["interactions"])):
        part = turns_by_id({"interactions": document["interactions"][:length]})
        assert part == {name: whole.get(name) for name in part}


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.parent.name)
def test_a_longer_recording_keeps_the_turns_of_a_shorter_one(folder):
    count = 0
    for each in documents(folder, FORM):
        if "interactions" in each.document:
            check_growth(each.document)
            count += 1
    assert count == (6 if folder == OURS else 14)


def test_what_the_sdk_adds_to_an_answer_of_the_turns_before_it_is_counted():
    beside = {
        "automatic_function_calling_history": [user("go"), model(call("f"))],
        "sdk_http_response": {"headers": {"a": "b"}, "body": "{}"},
    }
    (found,) = conversations(FORM, response({"content": model({"text": "done"})}, **beside))
    assert found.messages[0].native["response"] == {
        "modelVersion": "gemini-x",
        "sdk_http_response": {"headers": {"a": "b"}},
    }
    assert found.ignored.counts == {"histories said again": 1, "responses said again": 1}


SDK = {
    "model": "gemini-2.5-flash",
    "contents": [
        *("see", {"inline_data": {"mime_type": "image/png", "data": "QUJD"}}),
        {"function_call": {"name": "f", "args": {}}},
        *({"function_response": {"name": "f", "response": {"output": "1"}}}, "and"),
        user("more"),
        ["a", {"text": "b"}],
        "bye",
    ],
}
IMAGE = {"inline_data": {"mime_type": "image/png", "data": "QUJD"}}


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        ("hi", [("user", "hi")]),
        ("", [("user", "")]),
        ({"text": "hi"}, [("user", "hi")]),
        (["hi"], [("user", "hi")]),
        (["see", IMAGE, "this"], [("user", "see\n[image: image/png]\nthis")]),
        ([{"text": "a"}, {"text": "b"}], [("user", "a\nb")]),
        (["go", {"function_call": {"name": "f", "args": {}}}], [("user", "go"), ("assistant", "")]),
        (
            [user("a"), "b", model({"text": "c"}), "d", "e"],
            [("user", "a"), ("user", "b"), ("assistant", "c"), ("user", "d\ne")],
        ),
        (["a", ["b", IMAGE], "c"], [("user", "a"), ("user", "b\n[image: image/png]"), ("user", "c")]),
        (
            [
                {"functionCall": {"name": "f"}},
                {"functionResponse": {"name": "f", "response": {"output": "1"}}},
                "and",
            ],
            [("assistant", ""), ("tool", "1"), ("user", "and")],
        ),
    ],
)
def test_what_the_sdk_takes_for_contents_is_read_as_such_and_given_back(contents, said):
    document = {"model": "gemini-2.5-flash", "contents": contents}
    assert gemini.detect(document)
    assert [(turn["role"], turn["content"]) for turn in told(document)] == said
    check_as_stored(document, contents)
    check_bare(document)
    assert reader(FORM).read({"session_id": "s", **document}, captured_at=CAPTURED_AT).payload
    with stored(FORM, document) as session:
        assert gemini.detect(written(FORM, session)[0])


def test_strings_that_came_one_after_the_other_stay_turns_of_their_own():
    with memory() as kept:
        for index, text in enumerate("ab"):
            body = {"session_id": "s", "contents": [text], "start_index": index}
            kept.capture(reader(FORM).read(body, captured_at=CAPTURED_AT).payload)
        session = kept.session(session_uuid("s"))
        assert [turn.content for turn in session.shown] == ["a", "b"]
        out, _ = written(FORM, session)
        assert out["contents"] == ["a", {"parts": [{"text": "b"}]}]
        assert [turn["content"] for turn in again(FORM, out)] == ["a", "b"]


def test_what_is_wrong_in_strings_and_parts_is_named_where_it_stands():
    assert problems({"contents": ["a", user("b"), "c", {"text": 1}]}) == [("$.contents[3].text", "type")]
    assert problems({"contents": ["a", ["b", {"text": 1}]]}) == [("$.contents[1][1].text", "type")]
    assert problems({"contents": {"text": 1}}) == [("$.contents.text", "type")]


def test_options_of_recorded_calls_stand_beside_the_conversation_that_they_are_of():
    document = recorded(
        ({"contents": [user("a")], "tools": [1]}, response({"content": model({"text": "A"})})),
        ({"contents": [user("b")], "tools": [2]}, response({"content": model({"text": "B"})})),
    )
    assert [(one.number, one.native) for one in conversations(FORM, document)] == [
        (0, {"tools": [1]}),
        (1, {"tools": [2]}),
    ]


# What is refused, and what is none


def problems(document):
    (found,) = gemini.read(document)
    assert isinstance(found, ValidationError)
    return [(problem.path, problem.rule) for problem in found.problems]


def test_every_path_that_is_wrong_is_named():
    contents = [
        {"role": "assistant", "parts": []},
        {"role": 1, "parts": {}},
        {"parts": ["text", {"text": 1}, {"functionCall": []}, {"functionResponse": {"name": 1, "id": 2}}]},
        5,
        {"parts": [{"functionCall": {"name": {}, "args": {}}}]},
    ]
    assert problems({"contents": contents, "systemInstruction": 1}) == [
        ("$.systemInstruction", "type"),
        ("$.contents[0].role", "enum"),
        ("$.contents[1].parts", "type"),
        ("$.contents[2].parts[0]", "type"),
        ("$.contents[2].parts[1].text", "type"),
        ("$.contents[2].parts[2].functionCall", "type"),
        ("$.contents[2].parts[3].functionResponse.name", "type"),
        ("$.contents[2].parts[3].functionResponse.id", "type"),
        ("$.contents[3]", "type"),
        ("$.contents[4].parts[0].functionCall.name", "type"),
    ]
    assert problems({"contents": 1}) == [("$.contents", "type")]
    assert problems({"contents": []}) == [("$.contents", "minItems")]
    assert problems({}) == [("$.contents", "required")]
    assert problems(response({"content": model(1)})) == [("$.candidates[0].content.parts[0]", "type")]


def test_a_posted_body_is_captured_with_its_options_and_a_window_finds_its_places():
    whole = reader(FORM).read({"session_id": "s", **PARALLEL}, captured_at=CAPTURED_AT).payload
    check_payload(whole)
    window = {"session_id": "s", "contents": PARALLEL["contents"][2:], "start_index": 2}
    part = reader(FORM).read(window, captured_at=CAPTURED_AT).payload
    assert [turn["turn_id"] for turn in part["turns"]] == [turn["turn_id"] for turn in whole["turns"][3:]]


@given(json_values)
def test_detect_takes_any_json(value):
    gemini.detect(value)


@pytest.mark.parametrize(
    "document",
    [
        {"contents": []},
        {"contents": [{"uri": "file:///a", "text": "a"}]},
        {"contents": "text of a page", "model": "a"},
        {"contents": ["a", "b"]},
        {"candidates": [{"name": "a"}]},
        {"candidates": []},
        [{"role": "user", "parts": [{"type": "text", "text": "a"}]}],
        [{"role": "user", "parts": [{"type": "text", "content": "a"}]}],
        [{"id": "1", "role": "user", "parts": [{"text": "a"}]}],
        {"messages": [{"role": "user", "content": "a"}]},
        [{"parts": [{"text": "a"}]}],
    ],
)
def test_detect_refuses_what_only_looks_alike(document):
    assert not gemini.detect(document)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.sampled_from(
        [
            *SAMPLES,
            SDK,
            chunks("a", "b"),
            recorded(({"contents": [user("a")]}, response({"content": model(call("f"), {"text": "b"})}))),
        ]
    ).flatmap(nearly)
)
def test_whatever_is_nearly_a_document_is_read_or_refused(document):
    gemini.detect(document)
    for found in gemini.read(document):
        if isinstance(found, ValidationError):
            assert found.problems
        elif found.messages:
            scope = Scope("s", None, CAPTURED_AT, number=found.number)
            for payload in payloads(found.messages, found, scope, FORM):
                check_payload(payload)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_native_that_lies_or_is_malformed_changes_nothing_that_is_said(data):
    with stored(FORM, data.draw(st.sampled_from([*SAMPLES, SDK]))) as session:
        truth = spoken(session)
        natives = [turn.fields.get("metadata", {}).get("native", {}) for turn in session.shown]
        odd = st.sampled_from([part for native in natives for part in native.get("parts") or [None]]) | st.sampled_from(
            [None, "before", "snake_case", "contents", "text", "items", "list", [0], [1, 0], *natives]
        )
        shown = []
        for turn, native in zip(session.shown, natives, strict=True):
            metadata = turn.fields.get("metadata", {})
            lie = data.draw(st.just(native) | nearly(native, odd) | st.sampled_from(natives) | json_values)
            absent = data.draw(
                st.just(metadata.get("native_absent", [])) | st.sampled_from([["role"], ["parts"], [1], {}])
            )
            fields = {**turn.fields, "metadata": {**metadata, "native": lie, "native_absent": absent}}
            shown.append(replace(turn, fields=fields))
        out, _ = written(FORM, replace(session, shown=tuple(shown)))
        assert again(FORM, out) == truth


# What is written of sessions from elsewhere


def test_a_session_from_elsewhere_is_written_with_results_together_and_losses_counted():
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}},
                {"id": "b", "type": "function", "function": {"name": "f", "arguments": "oops"}},
            ],
        },
        {"role": "tool", "tool_call_id": "b", "content": "two"},
        {"role": "tool", "tool_call_id": "a", "content": '{"y":2}'},
        {"role": "system", "content": "Stay kind."},
        {"role": "assistant", "content": "done", "timestamp": "2026-01-01T00:00:00Z"},
    ]
    with stored("openai-chat", {"messages": messages}) as session:
        out, result = written(FORM, session)
        assert out["systemInstruction"] == {"parts": [{"text": "Be kind."}]}
        assert out["contents"] == [
            user("go"),
            model(call("f", {"x": 1}, id="a"), call("f", {"arguments": "oops"}, id="b")),
            {
                "role": "user",
                "parts": [answer("f", {"output": "two"}, id="b"), answer("f", {"y": 2}, id="a")],
            },
            {"role": "system", "parts": [{"text": "Stay kind."}]},
            model({"text": "done"}),
        ]
        expected = spoken(session)
        expected[2]["calls"][1] = ("b", "f", {"arguments": "oops"})
        assert again(FORM, out) == expected
        assert result.lost == {"odd_arguments": 1, "system_turns": 1, "times": 1}


# The recorded calls


def recordings(shared):
    return list(lines(shared / "data" / RECORDED))


def said_in(document):
    """A recording by hand: instructions and contents, each as it came first."""
    found = []
    for each in document["interactions"]:
        body = each["request"]["body"]
        if not isinstance(body, dict) or "contents" not in body:
            continue
        known = next((one for one in found if one[1][0] == body["contents"][0]), None)
        if known is None:
            found.append(known := [body.get("systemInstruction"), []])
        known[1] += body["contents"][len(known[1]) :]
        known[1].append(answered(each["response"]["body"]))
    return found


def answered(body):
    if isinstance(body, dict):
        return body["candidates"][0]["content"]
    parts = []
    for line in body.splitlines():
        if line.startswith("data: "):
            for part in json.loads(line.removeprefix("data: "))["candidates"][0]["content"]["parts"]:
                if "text" in part and parts and "text" in parts[-1]:
                    parts[-1] = {**parts[-1], **part, "text": parts[-1]["text"] + part["text"]}
                else:
                    parts.append(part)
    return {"role": "model", "parts": parts}


def test_every_recording_comes_back_and_says_the_same_without_what_was_kept(shared):
    count, lost = 0, set()
    for document in recordings(shared):
        for (instruction, contents), conversation in zip(said_in(document), conversations(FORM, document), strict=True):
            alone = [each for each in document["interactions"] if is_of(each, contents)]
            with stored(FORM, {"interactions": alone}) as session:
                assert len(session.all) == len(conversation.messages)
                out, _ = written(FORM, session)
                assert same_json(out["contents"], contents)
                assert same_json(out.get("systemInstruction"), instruction)
                assert again(FORM, out) == spoken(session)
                out, result = written(FORM, bare(session))
                assert again(FORM, out) == spoken(session)
                lost |= result.lost.keys()
            count += 1
    assert count == 16
    assert lost == {"models", "token_usage", "calls_without_result"}


def is_of(each, contents):
    body = each["request"]["body"]
    return isinstance(body, dict) and body.get("contents", [None])[0] == contents[0]


def test_the_calls_of_the_manifest_are_all_there(shared):
    counts = {"calls": 0, "else": 0, "answers": 0}
    for document in recordings(shared):
        counts["calls"] += len(document["interactions"])
        for one in conversations(FORM, document):
            counts["else"] += one.ignored.counts["calls of something else"]
            counts["answers"] += sum(message.model is not None for message in one.messages)
    assert counts == {"calls": 29, "else": 5, "answers": 24}


def test_a_list_that_grows_keeps_the_ids_and_bodies_of_its_turns():
    for document in SAMPLES:
        whole = turns(document)
        for length in range(1, len(document["contents"])):
            part = turns({**document, "contents": document["contents"][:length]})
            assert part == whole[: len(part)]


def of_google(document):
    if "interactions" in document:
        hosts = [each["request"]["uri"] for each in document["interactions"]]
        return any(host in uri and "nerateContent" in uri for uri in hosts for host in GOOGLE)
    return "/google-" in document.get("source", "") and "candidates" in document.get("body", {})


def test_detect_knows_its_own_among_all_shared_files(shared):
    count = 0
    for path in sorted((shared / "data").iterdir()):
        if path.suffix == ".json":
            whole = json.loads(path.read_text())
            documents = [whole, *(whole if isinstance(whole, list) else ())]
        else:
            documents = list(lines(path)) if path.suffix == ".jsonl" else []
            assert not gemini.detect(documents)
        for document in documents:
            expected = isinstance(document, dict) and of_google(document)
            found = opened(document, gemini.detect) is not None
            assert found == expected, path.name
            count += found
    assert count == 20
