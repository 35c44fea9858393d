"""The claude-export format: conversations of Claude.ai, with tools that ran inside an answer."""

import copy
import json

import pytest
from hypothesis import given, settings

from agent.capture.validation import validate_payload
from agent.errors import ValidationError
from agent.formats import format_named, reader
from tests.formats.block_laws import mutations
from tests.formats.chat_messages import CAPTURED_AT, base64_text, digest, same_json
from tests.formats.every_file import values
from tests.formats.round_trips import captures, conversations, stored
from tests.formats.sessions import memory
from tests.strategies import json_values

FORM = "claude-export"
ROOT = "00000000-0000-4000-8000-000000000000"
SENDERS = {"user": "human", "assistant": "assistant", "system": "system", "tool": "assistant"}


def text(value):
    return {"type": "text", "text": value}


def message(uuid, sender, content=(), **members):
    content = [text(content)] if isinstance(content, str) else list(content)
    shown = members.pop("text", "\n".join(each["text"] for each in content if each["type"] == "text"))
    return {"uuid": uuid, "sender": sender, "text": shown, "content": content, **members}


def export(*messages, **beside):
    return {
        "uuid": "conv",
        "name": "n",
        "created_at": "2026-03-02T08:15:00Z",
        "chat_messages": list(messages),
        **beside,
    }


CALL = {"type": "tool_use", "id": "toolu_1", "name": "web_search", "input": {"query": "parcel"}}
FOUND = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Bern", "is_error": False}
SEARCHED = message(
    "m2",
    "assistant",
    [{"type": "thinking", "thinking": "hm"}, text("I look."), CALL, FOUND, text("In Bern.")],
    text="I look.\n\nIn Bern.",
    created_at="2026-03-02T08:15:02.5+00:00",
)
PARCEL = export(message("m1", "human", "Where is parcel 4471?", created_at="2026-03-02T08:15:01Z"), SEARCHED)


def read(document):
    (conversation,) = conversations(FORM, document)
    return conversation


def told(document):
    with stored(FORM, document) as session:
        return [(turn.role, turn.content, [entry["tool_name"] for entry in turn.invocations]) for turn in session.shown]


def block_of(turn, calls):
    """What a part that is null stands for."""
    if turn.role == "tool":
        (entry,) = turn.invocations
        block = {
            "type": "tool_result",
            "tool_use_id": entry.get("native_id", entry["invocation_id"]),
            "content": turn.content,
        }
        return block | ({"is_error": not entry["success"]} if "success" in entry else {})
    if calls is not None:
        return {"type": "tool_use", "id": calls["native_id"], "name": calls["tool_name"], "input": calls["arguments"]}
    return text(turn.content)


def message_of(turns):
    """The message that ``turns`` came from, where each has one text and one call at most that is not kept as a part."""
    first = turns[0]
    metadata = first.fields.get("metadata", {})
    native, absent = dict(metadata.get("native", {})), metadata.get("native_absent", [])
    content = {}
    for turn in turns:
        kept = turn.fields.get("metadata", {}).get("native", {})
        count = bool(turn.content) + (0 if turn.role == "tool" else len(turn.invocations))
        parts = kept.get("parts", [None] * count)
        calls = iter(turn.invocations if turn.role != "tool" else ())
        for place, part in zip(kept.get("places", range(len(parts))), parts, strict=True):
            if part is None:
                is_text = turn.role == "tool" or (turn.content and place in (0, 1, 4))
                content[place] = block_of(turn, None if is_text else next(calls))
            else:
                content[place] = part
    found = {
        "uuid": first.fields.get("native_id", first.turn_id),
        "sender": SENDERS[first.role],
        "text": first.content,
        "content": [content[place] for place in sorted(content)],
    }
    derived = metadata.get("derived", [])
    if "timestamp" not in derived:
        found["created_at"] = first.timestamp
    found |= {name: value for name, value in native.items() if name not in ("parts", "places")}
    return {name: value for name, value in found.items() if name not in absent}


def test_tools_that_ran_inside_an_answer_are_turns_in_the_order_of_its_blocks():
    assert told(PARCEL) == [
        ("user", "Where is parcel 4471?", []),
        ("assistant", "I look.", ["web_search"]),
        ("tool", "Bern", ["web_search"]),
        ("assistant", "In Bern.", []),
    ]
    conversation = read(PARCEL)
    assert [each.place for each in conversation.messages] == ["m1", "m2", "m2.1", "m2.2"]
    assert [each.native_id for each in conversation.messages] == ["m1", "m2", None, None]
    assert conversation.messages[2].results[0].success is True
    assert conversation.ignored.counts == {"doubled texts": 1}


def test_each_turn_keeps_only_its_own_of_what_came():
    first, *others = read(PARCEL).messages[1:]
    assert first.native == {"parts": [{"type": "thinking", "thinking": "hm"}, None, None]}
    assert [each.native for each in others] == [{"of": "before", "places": [3]}, {"of": "before", "places": [4]}]
    with stored(FORM, PARCEL) as session:
        found = message_of(session.shown[1:])
    assert same_json(found, {name: each for name, each in SEARCHED.items() if name != "text"} | {"text": "I look."})


def test_text_and_content_that_say_the_same_are_said_once():
    messages = read(export(message("a", "human", "x"), message("b", "human", "x", text="other"))).messages
    assert [each.content for each in messages] == ["x", "x"]
    assert [each.native for each in messages] == [None, {"text": "other"}]


def test_a_message_without_blocks_says_its_text():
    old = {"uuid": "a", "sender": "human", "text": "x"}
    empty = {"uuid": "b", "sender": "assistant", "text": "y", "content": []}
    messages = read(export(old, empty)).messages
    assert [(each.role, each.content) for each in messages] == [("user", "x"), ("assistant", "y")]
    assert messages[0].absent == ("content",)


def test_what_a_person_added_is_shown_as_a_placeholder_and_kept():
    files = {
        "attachments": [
            {"file_name": "a.txt", "file_type": "text/plain", "extracted_content": "long"},
            {"file_name": "b"},
        ],
        "files": [{"file_kind": "image", "file_name": "c.png"}],
    }
    (found,) = read(export(message("a", "human", "see", **files))).messages
    assert found.content == "see\n[file: text/plain]\n[file]\n[image]"
    assert found.native == {"text": "see", **files}


def test_branches_go_from_the_message_that_they_name():
    document = export(
        message("a", "human", "q", parent_message_uuid=ROOT),
        message("b", "assistant", [CALL, FOUND, text("old")], parent_message_uuid="a", text="old"),
        message("c", "assistant", "new", parent_message_uuid="a"),
        message("d", "human", "thanks", parent_message_uuid="b"),
    )
    parents = {each.place: each.parent for each in read(document).messages}
    assert parents == {"a": None, "b": "a", "b.1": "b", "b.2": "b.1", "c": "a", "d": "b.2"}
    for current, last in ((None, "thanks"), ("c", "new"), ("d", "thanks"), ("nowhere", "thanks")):
        assert told({**document, "current_leaf_message_uuid": current})[-1][1] == last
    times = {"a": "01", "b": "02", "c": "09", "d": "03"}
    for each in document["chat_messages"]:
        each["created_at"] = f"2026-03-02T08:15:{times[each['uuid']]}Z"
    assert told(document)[-1][1] == "new"


def test_a_broken_tree_keeps_every_message_once():
    document = export(
        message("a", "human", "1", parent_message_uuid="b"),
        message("b", "human", "2", parent_message_uuid="a"),
        message("b", "human", "3", parent_message_uuid="nowhere"),
        {"sender": "human", "text": "4", "parent_message_uuid": 5},
    )
    messages = read(document).messages
    assert sorted(each.content for each in messages) == ["1", "2", "3", "4"]
    for payload in captures(FORM, document):
        validate_payload(payload)


def test_calls_without_ids_pair_by_name():
    call = {"type": "tool_use", "name": "artifacts", "input": {}}
    result = {"type": "tool_result", "name": "artifacts", "content": [text("OK")], "is_error": True}
    with stored(FORM, export(message("a", "assistant", [call, result], text=""))) as session:
        (called,), (answered,) = (turn.invocations for turn in session.shown)
        assert called["invocation_id"] == answered["invocation_id"]
        assert answered["success"] is False
        assert session.shown[1].content == "OK"


def test_notes_of_the_program_are_not_said():
    blocks = [
        {"type": "token_budget"},
        {"type": "flag", "flag": "x"},
        text("a"),
        5,
        {"type": 7},
        {"type": "text", "text": 5},
    ]
    (found,) = read(export({"uuid": "a", "sender": "assistant", "content": blocks})).messages
    assert found.content == "a"
    assert found.native["parts"] == [*blocks[:2], None, *blocks[3:]]


def test_binary_is_kept_as_its_digest():
    data = bytes(5000)
    source = {"type": "base64", "media_type": "image/png", "data": base64_text(data)}
    (found,) = read(export(message("a", "human", [{"type": "image", "source": source}]))).messages
    assert found.content == "[image: image/png]"
    assert found.native["parts"][0]["source"]["data"] == digest(data, "image/png")


def test_a_posted_conversation_names_its_session_itself():
    payload = reader(FORM).read(PARCEL, captured_at=CAPTURED_AT).payload
    assert (payload["native_session_id"], payload["native_conversation_id"]) == ("conv", "conv")
    assert payload["native"]["beside"] == {"uuid": "conv", "name": "n", "created_at": "2026-03-02T08:15:00Z"}
    assert [turn["timestamp"] for turn in payload["turns"]] == [
        "2026-03-02T08:15:01Z",
        *["2026-03-02T08:15:02.5+00:00"] * 3,
    ]


def test_a_time_that_is_none_is_kept_as_it_came():
    (found,) = read(export(message("a", "human", "x", created_at="yesterday"))).messages
    assert (found.timestamp, found.native) == (None, {"created_at": "yesterday"})


def test_an_export_that_grew_adds_and_changes_nothing():
    grown = copy.deepcopy(PARCEL)
    grown["chat_messages"].append(message("m3", "human", "Thanks", created_at="2026-03-02T08:15:09Z"))
    with memory() as kept:
        for document in (PARCEL, PARCEL, grown):
            for payload in captures(FORM, document):
                kept.capture(payload)
        session = kept.session(payload["session_id"])
    assert [turn.content for turn in session.shown][-2:] == ["In Bern.", "Thanks"]
    assert len(session.all) == 5
    assert all(turn.fields["revisions"] == 1 for turn in session.all)


def test_what_is_wrong_is_named_by_its_path():
    (error,) = format_named(FORM).read({"chat_messages": [5, {"sender": "nobody"}, {}, {"sender": 5}]})
    assert [tuple(problem) for problem in error.problems] == [
        ("$.chat_messages[0]", "type"),
        ("$.chat_messages[1].sender", "enum"),
        ("$.chat_messages[2].sender", "required"),
        ("$.chat_messages[3].sender", "type"),
    ]
    first, second = format_named(FORM).read([{"chat_messages": {}}, PARCEL])
    assert [tuple(problem) for problem in first.problems] == [("$[0].chat_messages", "type")]
    assert len(second.messages) == 4
    assert not read(export()).messages


@given(mutations([PARCEL, export(message("a", "human", "q", parent_message_uuid=ROOT, files=[{}]))]))
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


@given(json_values)
def test_any_json_value_is_known_or_not(value):
    form = format_named(FORM)
    assert form.detect(value) in (True, False)
    assert all(each is not None for each in form.read(value))
    assert all(each is not None for each in form.read({"chat_messages": value}))


def test_it_knows_its_files_and_no_other(shared):
    for name, value in values(shared):
        assert format_named(FORM).detect(value) == name.startswith("claude-web-export__"), name


@pytest.mark.parametrize(("file", "count"), [("chatlectify", 10), ("context-carry", 3)])
def test_every_message_of_the_shared_exports_is_a_turn_and_comes_back(shared, file, count):
    (document,) = json.loads((shared / "data" / f"claude-web-export__{file}.json").read_text())
    with stored(FORM, document) as session:
        assert len(session.shown) == len(session.all) == len(document["chat_messages"]) == count
        for turn, sent in zip(session.shown, document["chat_messages"], strict=True):
            assert same_json(message_of([turn]), sent)
