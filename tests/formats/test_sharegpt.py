"""The sharegpt format, in and out: one message, one turn, and nothing of it lost on the way."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.capture.validation import validate_payload
from agent.errors import ValidationError
from agent.formats import OPENAI_CHAT, format_named, reader
from tests.formats.block_laws import edited, lied_to, mutations
from tests.formats.chat_messages import CAPTURED_AT, same_json
from tests.formats.every_file import values
from tests.formats.round_trips import again, bare, captures, conversations, lines, spoken, stored, written
from tests.formats.sessions import SESSION, memory, session_of, turn
from tests.strategies import json_values

FORM = "sharegpt"


def said(sender, value, **members):
    return {"from": sender, "value": value, **members}


CALL = said("function_call", '{"name":"track","arguments":{"n":4471}}')
PARCEL = {
    "id": "identity_7",
    "system": "You track parcels.",
    "tools": '[{"name":"track"}]',
    "model": "vicuna",
    "conversations": [
        said("human", "Where is parcel 4471?"),
        CALL,
        said("observation", "Bern"),
        said("gpt", "In Bern.", weight=1),
        said("user", ["a", {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}]),
        said("function_call", '[{"name": "track", "arguments": {"n": 1}}, {"name": "track", "id": "c2"}]'),
        said("tool", "Bern", name="track"),
        said("function_response", "Basel", tool_call_id="c2"),
        said("function_call", "no JSON at all"),
        said("bing", None),
        said("function_call", '{"name":"see","arguments":"x"}', text="I look."),
    ],
}


def read(document):
    (conversation,) = conversations(FORM, document)
    return conversation


def told(document):
    return [
        (
            each.role,
            each.content,
            [(call.name, call.native_id, call.arguments) for call in each.calls],
            [r.native_id for r in each.results],
        )
        for each in read(document).messages
    ]


def test_every_message_is_one_turn_with_its_calls_and_results():
    assert told(PARCEL) == [
        ("system", "You track parcels.", [], []),
        ("user", "Where is parcel 4471?", [], []),
        ("assistant", "", [("track", "track", {"n": 4471})], []),
        ("tool", "Bern", [], ["track"]),
        ("assistant", "In Bern.", [], []),
        ("user", "a\n[image]", [], []),
        ("assistant", "", [("track", "track", {"n": 1}), ("track", "c2", ...)], []),
        ("tool", "Bern", [], ["track"]),
        ("tool", "Basel", [], ["c2"]),
        ("assistant", "no JSON at all", [], []),
        ("assistant", "", [], []),
        ("assistant", "I look.", [("see", "see", "x")], []),
    ]
    assert [each.place for each in read(PARCEL).messages] == ["system", *map(str, range(11))]


@pytest.mark.parametrize("sender", ["gpt", "chatgpt", "bing", "bard", "assistant", "model"])
def test_answers_have_many_names(sender):
    assert told([said(sender, "x")]) == [("assistant", "x", [], [])]


def test_results_answer_the_calls_that_are_open_in_their_order():
    calls = said("function_call", '[{"name":"f","arguments":1},{"name":"g"},{"name":"f","arguments":2}]')
    with stored(FORM, {"conversations": [calls, *[said("observation", str(each)) for each in range(4)]]}) as session:
        called = [entry["invocation_id"] for entry in session.shown[0].invocations]
        assert [each.invocations[0]["invocation_id"] for each in session.shown[1:4]] == called
        assert session.shown[4].invocations[0]["invocation_id"] not in called
        assert [each.invocations[0]["tool_name"] for each in session.shown[1:]] == ["f", "g", "f", "unknown"]


def test_equal_messages_of_several_conversations_are_turns_of_each():
    hello = {"conversations": [said("human", "Hi"), said("gpt", "Hello"), said("human", "Hi")]}
    with memory() as kept:
        for name in ("one", "other"):
            for payload in captures(FORM, {**hello, "id": name}, name):
                kept.capture(payload)
            assert [each.content for each in kept.session(payload["session_id"]).shown] == ["Hi", "Hello", "Hi"]


def test_what_stands_beside_the_list_is_kept_and_given_back():
    with stored(FORM, PARCEL) as session:
        document, result = written(FORM, session)
    for member in ("id", "system", "tools", "model", "conversations"):
        assert same_json(document[member], PARCEL[member]), member
    # What the last call says is still to come, and one that was no JSON is no call.
    assert result.lost == {"calls_without_result": 1}


def test_everything_is_said_again_without_what_was_kept():
    with stored(FORM, PARCEL) as session:
        document, result = written(FORM, bare(session))
        assert again(FORM, document) == spoken(session)
        assert result.lost == {"calls_without_result": 1}
        assert [each["from"] for each in document["conversations"]][:4] == [
            "system",
            "human",
            "function_call",
            "observation",
        ]
        assert again(FORM, written(FORM, session)[0]) == spoken(session)


def test_a_text_that_was_edited_is_what_is_written():
    with stored(FORM, PARCEL) as session:
        document, _ = written(FORM, edited(session, "In Bern.", "In Basel."))
        other, _ = written(FORM, edited(session, "a\n[image]", "b"))
        third, _ = written(FORM, edited(session, "You track parcels.", "You do not."))
    # The rest of it still says what it said.
    assert document["conversations"][3] == said("gpt", "In Basel.", weight=1)
    assert other["conversations"][4] == said("human", "b")
    assert third["system"] == "You do not."


def test_turns_of_other_formats_become_messages():
    call = {
        "tool_name": "track",
        "invocation_id": "00000000-0000-4000-8000-00000000aaaa",
        "native_id": "call_1",
        "arguments": {"n": 1},
    }
    other = {**call, "invocation_id": "00000000-0000-4000-8000-00000000bbbb", "native_id": "call_2"}
    session = session_of(
        turn(1, "Be brief.", "system"),
        turn(2, "Where?", model="x", token_usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}),
        turn(3, "I look.", "assistant", tool_invocations=[call, other]),
        turn(4, "Basel", "tool", tool_invocations=[{**other, "success": False}]),
        turn(5, "Bern", "tool", tool_invocations=[call]),
        turn(
            6,
            "lost",
            "tool",
            tool_invocations=[{"tool_name": "see", "invocation_id": "00000000-0000-4000-8000-00000000cccc"}],
        ),
        turn(7, "both", "tool", tool_invocations=[call, other]),
    )
    document, result = written(FORM, session)
    time = {"timestamp": "2026-03-02T08:15:00Z"}
    calls = '[{"name":"track","arguments":{"n":1},"id":"call_1"},{"name":"track","arguments":{"n":1},"id":"call_2"}]'
    assert document == {
        "session_id": SESSION,
        "conversation_id": session.shown[0].conversation_id,
        "conversations": [
            said("system", "Be brief.", **time),
            said("human", "Where?", **time),
            said("function_call", calls, text="I look.", **time),
            said("observation", "Basel", **time, tool_call_id="call_2"),
            said("observation", "Bern", **time),
            said("observation", "lost", **time, name="see", tool_call_id="00000000-0000-4000-8000-00000000cccc"),
            said("observation", "both", **time, tool_call_id="call_1"),
            said("observation", "both", **time, tool_call_id="call_2"),
        ],
    }
    assert result.lost == {"models": 1, "token_usage": 1, "success": 1, "results_without_call": 1, "several_results": 1}
    before, after = spoken(session), again(FORM, document)
    for one, two in zip(before[:6], after[:6], strict=True):
        assert {**one, "native_id": None, "results": []} == {**two, "native_id": None, "results": []}
        assert [each[:2] for each in one["results"]] == [each[:2] for each in two["results"]]


def test_a_chat_of_openai_goes_out_and_comes_back():
    path = [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a":[1,2.0,"x"]}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "r"},
    ]
    with stored(OPENAI_CHAT, {"messages": path}) as session:
        document, result = written(FORM, session)
        assert again(FORM, document) == spoken(session)
        assert not result.lost


def test_a_list_that_grew_adds_and_changes_nothing():
    messages = PARCEL["conversations"]
    with memory() as kept:
        for count in range(1, len(messages) + 1):
            for payload in captures(FORM, {**PARCEL, "conversations": messages[:count]}):
                kept.capture(payload)
        session = kept.session(payload["session_id"])
    assert len(session.all) == len(session.shown) == len(messages) + 1
    assert all(each.fields["revisions"] == 1 for each in session.all)


def test_windows_of_a_list_that_is_posted_meet():
    messages = [said("human", "a"), said("gpt", "b"), said("human", "c")]
    read_posted = reader(FORM).read
    whole = read_posted({"session_id": "s", "conversations": messages}, captured_at=CAPTURED_AT).payload
    part = read_posted(
        {"session_id": "s", "conversations": messages[1:], "start_index": 1}, captured_at=CAPTURED_AT
    ).payload
    assert [each["turn_id"] for each in part["turns"]] == [each["turn_id"] for each in whole["turns"]][1:]
    assert part["turns"][0]["parent_turn_id"] == whole["turns"][0]["turn_id"]
    assert "start_index" not in part["native"].get("beside", {})


def test_what_is_wrong_is_named_by_its_path():
    document = {
        "conversations": [5, said("nobody", "x"), {"value": "x"}, said(5, "x"), said("human", 5), said("human", [5])]
    }
    (error,) = format_named(FORM).read(document)
    assert [tuple(problem) for problem in error.problems] == [
        ("$.conversations[0]", "type"),
        ("$.conversations[1].from", "enum"),
        ("$.conversations[2].from", "required"),
        ("$.conversations[3].from", "type"),
        ("$.conversations[4].value", "type"),
        ("$.conversations[5].value[0]", "type"),
    ]
    for wrong, rule in (({}, "required"), ({"conversations": {}}, "type")):
        (error,) = format_named(FORM).read(wrong)
        assert [tuple(problem) for problem in error.problems] == [("$.conversations", rule)]


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_native_that_lies_changes_nothing_that_is_said(data):
    lied_to(FORM, PARCEL, data)


@given(mutations([PARCEL, PARCEL["conversations"]]))
@settings(deadline=None)
def test_a_real_document_with_anything_wrong_in_it_is_read_or_refused(document):
    form = format_named(FORM)
    assert form.detect(document) in (True, False)
    for each in form.read(document):
        if isinstance(each, ValidationError):
            assert each.problems
        elif each.messages:
            for payload in captures(FORM, document):
                validate_payload(payload)


names = st.sampled_from(["f", "g", "unknown", "näme"])
arguments = json_values
calls = st.lists(
    st.fixed_dictionaries({"tool_name": names}, optional={"arguments": arguments, "native_id": names}), max_size=3
)
turns = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant", "system", "tool"]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
        calls,
    ),
    min_size=1,
    max_size=6,
)


@given(turns)
@settings(max_examples=60, deadline=None)
def test_any_session_is_written_so_that_it_says_the_same_or_is_counted(drawn):
    made = []
    for place, (role, content, invocations) in enumerate(drawn):
        named = [
            {**each, "invocation_id": f"00000000-0000-4000-9000-{place * 10 + number:012x}"}
            for number, each in enumerate(invocations if role in ("assistant", "tool") else ())
        ]
        if role == "tool":
            named = [{name: value for name, value in each.items() if name != "arguments"} for each in named[:1]]
        made.append(turn(place + 1, content, role, **({"tool_invocations": named} if named else {})))
    session = session_of(*made)
    document, _ = written(FORM, session)
    before, after = spoken(session), again(FORM, document)
    assert len(before) == len(after)
    for one, two in zip(before, after, strict=True):
        assert (one["role"], one["content"], one["calls"]) == (two["role"], two["content"], two["calls"])
        if one["results"] or one["role"] != "tool":
            assert [each[:2] for each in one["results"]] == [each[:2] for each in two["results"]]
        else:
            assert [name for _, name, _ in two["results"]] == ["unknown"]


@given(json_values)
def test_any_json_value_is_known_or_not(value):
    form = format_named(FORM)
    assert form.detect(value) in (True, False)
    assert all(each is not None for each in form.read(value))
    assert all(each is not None for each in form.read({"conversations": value}))


def test_erased_and_foreign_turns_are_left_out_and_counted():
    session = session_of(turn(1, "a"), turn(2, erased=True), turn(3, "b", "critic"))
    document, result = written(FORM, session)
    assert [each["value"] for each in document["conversations"]] == ["a"]
    assert (result.turns, result.erased, result.lost) == (3, 1, {"roles": 1})


def test_native_of_another_format_says_nothing_here():
    with stored(FORM, PARCEL) as session:
        captures_of_others = {
            name: replace(each, fields={**each.fields, "native": {"format": "gemini"}})
            for name, each in session.captures.items()
        }
        document, _ = written(FORM, replace(session, captures=captures_of_others))
    assert all("weight" not in each for each in document["conversations"])
    assert "tools" not in document


def test_it_knows_its_files_and_no_other(shared):
    for name, value in values(shared):
        is_line = name.startswith("sharegpt-format__") and isinstance(value, dict)
        assert format_named(FORM).detect(value) == is_line, name


def test_every_message_of_the_shared_conversations_comes_back(shared):
    count, distinct = 0, set()
    for document in lines(shared / "data" / "sharegpt-format__fastchat-dummy__40.jsonl"):
        with stored(FORM, document) as session:
            given_back, result = written(FORM, session)
            assert same_json(given_back["conversations"], document["conversations"])
            assert given_back["id"] == document["id"]
            assert not result.lost
            assert again(FORM, written(FORM, bare(session))[0]) == spoken(session)
            count += len(session.shown)
            distinct |= {json.dumps(each) for each in document["conversations"]}
    # MANIFEST.md: 160 turns.
    assert (count, len(distinct) < 160) == (160, True)
