"""The claude-code format: transcripts, line by line, with what belongs together found again."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.capture.validation import validate_payload
from agent.errors import ValidationError
from agent.formats import format_named
from agent.formats.claude_code import key
from tests.formats.block_laws import mutations
from tests.formats.chat_messages import base64_text, digest, same_json
from tests.formats.every_file import values
from tests.formats.round_trips import captures, conversations, lines, stored
from tests.formats.sessions import memory
from tests.strategies import json_values

FORM = "claude-code"


def line(kind, uuid, parent, content, *, message=None, **members):
    """A record of a transcript; ``message`` are further members of its message."""
    said = {"role": kind, "content": content, **(message or {})}
    ids = {"uuid": uuid, "parentUuid": parent, "sessionId": members.pop("session", "s"), "isSidechain": False}
    return {"type": kind, **ids, "message": said, **members}


def part(uuid, parent, block, *, said_in="msg_1", output=5, **members):
    """One line of an answer."""
    message = {"id": said_in, "model": "claude-x", "usage": {"input_tokens": 10, "output_tokens": output}}
    return line("assistant", uuid, parent, [block], message=message, **members)


def text(value):
    return {"type": "text", "text": value}


def use(call, **given):
    return {"type": "tool_use", "id": call, "name": "Bash", "input": given}


def result(uuid, parent, call, content, **members):
    return line("user", uuid, parent, [{"type": "tool_result", "tool_use_id": call, "content": content}], **members)


THINKING = {"type": "thinking", "thinking": "hm", "signature": "EqQB+/a=="}
TALK = [
    line("user", "u1", None, "List the files", timestamp="2026-03-02T08:15:00Z", cwd="/w"),
    part("a1", "u1", THINKING, output=1, timestamp="2026-03-02T08:15:01Z"),
    part("a2", "a1", text("I look."), output=2),
    part("a3", "a2", use("t1", command="ls"), output=3),
    part("a4", "a3", use("t2", command="pwd"), output=9),
    # Each result names the line of its call.
    result("r1", "a3", "t1", "a.txt", toolUseResult={"stdout": "a.txt"}),
    result("r2", "a4", "t2", "/w"),
    part("b1", "r2", text("One file."), said_in="msg_2"),
]


def read(records):
    return conversations(FORM, records)


def told(conversation):
    return [(each.role, each.content, [call.native_id for call in each.calls]) for each in conversation.messages]


def history(records):
    (main,) = [each for each in read(records) if not each.native.get("sidechain")]
    with memory() as kept:
        for payload in captures(FORM, records):
            validate_payload(payload)
            kept.capture(payload)
        conversation = next(
            payload["conversation_id"]
            for payload in captures(FORM, records)
            if "sidechain" not in payload["native"].get("beside", {})
        )
        assert main.messages
        return [turn.content for turn in kept.session(payload["session_id"], conversation).shown]


def test_an_answer_over_several_lines_is_one_turn_with_its_usage_once():
    (conversation,) = read(TALK)
    assert told(conversation) == [
        ("user", "List the files", []),
        ("assistant", "I look.", ["t1", "t2"]),
        ("tool", "a.txt", []),
        ("tool", "/w", []),
        ("assistant", "One file.", []),
    ]
    answer = conversation.messages[1]
    assert answer.usage == {"prompt_tokens": 10, "completion_tokens": 9, "total_tokens": 19}
    assert (answer.model, answer.timestamp, answer.native_id) == ("claude-x", "2026-03-02T08:15:01Z", "a1")


def test_results_of_calls_made_at_once_follow_each_other_and_are_no_branches():
    (conversation,) = read(TALK)
    parents = [(each.native_id, each.parent) for each in conversation.messages]
    assert parents == [("u1", None), ("a1", "u1"), ("r1", "a1"), ("r2", "r1"), ("b1", "r2")]
    # What continues the first result came after the others too.
    assert history([*TALK[:-1], part("b1", "r1", text("One file."), said_in="msg_2")]) == [
        each.content for each in conversation.messages
    ]


def test_a_result_that_came_before_the_last_line_of_its_answer_stays_behind_it():
    records = [
        TALK[0],
        part("a1", "u1", use("t1")),
        result("r1", "a1", "t1", "x"),
        part("a2", "r1", use("t2")),
        result("r2", "a2", "t2", "y"),
    ]
    (conversation,) = read(records)
    assert told(conversation)[1:] == [("assistant", "", ["t1", "t2"]), ("tool", "x", []), ("tool", "y", [])]
    assert [each.parent for each in conversation.messages] == [None, "u1", "a1", "r1"]


def test_the_other_answer_to_an_edited_prompt_is_a_branch():
    rewound = [*TALK, line("user", "u2", "u1", "Or the folders"), part("c1", "u2", text("None."), said_in="msg_3")]
    first = line("user", "u3", None, "Begin again")
    assert history([*rewound, first]) == ["Begin again"]
    assert history(rewound) == ["List the files", "Or the folders", "None."]
    assert len(read(rewound)[0].messages) == 7


def test_lines_that_make_no_turn_are_gone_through_and_counted_by_kind():
    records = [
        {"type": "attachment", "uuid": "x1", "parentUuid": None, "sessionId": "s", "attachment": {}},
        line("user", "u1", "x1", "hi"),
        {"type": "progress", "uuid": "x2", "parentUuid": "u1", "sessionId": "s"},
        {"type": "system", "uuid": "x3", "parentUuid": "x2", "sessionId": "s", "subtype": "turn_duration"},
        part("a1", "x3", text("hello")),
        {"type": "user", "uuid": "x4", "parentUuid": "a1", "sessionId": "s"},
        {"type": "something-new", "sessionId": "s"},
        {"type": "custom-title", "customTitle": "Greeting", "sessionId": "s"},
        {"type": "summary", "summary": "They greet.", "leafUuid": "a1"},
        {"type": "summary", "summary": "Another.", "leafUuid": "z"},
        "junk",
        42,
        [1],
        {"silly": "this"},
        None,
    ]
    (conversation,) = read(records)
    assert [(each.native_id, each.parent) for each in conversation.messages] == [("u1", None), ("a1", "u1")]
    assert conversation.native == {"custom-title": "Greeting", "summaries": ["They greet."]}
    assert conversation.ignored.counts == {
        "attachments": 1,
        "progress records": 1,
        "system notices": 1,
        "records without a message": 1,
        "other records": 1,
        "summaries of other sessions": 1,
        "junk": 5,
    }


def test_a_conversation_goes_on_over_its_compaction():
    records = [
        *TALK,
        {
            "type": "system",
            "subtype": "compact_boundary",
            "uuid": "c",
            "parentUuid": None,
            "logicalParentUuid": "b1",
            "sessionId": "s",
        },
        line("user", "u2", "c", [text("Summary so far")], isCompactSummary=True),
        part("d1", "u2", text("Going on."), said_in="msg_3", isApiErrorMessage=True),
    ]
    (conversation,) = read(records)
    assert history(records) == [each.content for each in conversation.messages]
    assert conversation.messages[-2].native["lines"][0]["isCompactSummary"] is True
    assert conversation.messages[-1].native["lines"][0]["isApiErrorMessage"] is True


@pytest.mark.parametrize("parent", [None, "nowhere"])
def test_a_file_without_a_tree_is_one_line_of_talk(parent):
    records = [line("user", f"u{place}", parent, str(place)) for place in range(4)]
    assert history(records) == ["0", "1", "2", "3"]
    bare = [{"type": "user", "message": {"content": str(place)}, "sessionId": "s"} for place in range(4)]
    assert history(bare) == ["0", "1", "2", "3"]


SIDE = [
    line("user", "x1", None, "Look into it", isSidechain=True),
    part("x2", "x1", text("Looked."), said_in="msg_x", isSidechain=True),
    line("user", "y1", None, "Another", isSidechain=True, agentId="77"),
    part("y2", "y1", text("Done."), said_in="msg_y", isSidechain=True, agentId="77"),
]


def test_sidechains_are_conversations_of_their_own_and_not_in_the_main_history():
    records = [*TALK[:5], *SIDE, *TALK[5:]]
    main, first, second = read(records)
    assert told(main) == told(read(TALK)[0])
    assert told(first) == [("user", "Look into it", []), ("assistant", "Looked.", [])]
    assert told(second) == [("user", "Another", []), ("assistant", "Done.", [])]
    assert (main.conversation_id, first.conversation_id, second.conversation_id) == (
        None,
        "s/sidechain/x1",
        "s/agent/77",
    )
    assert {main.session_id, first.session_id, second.session_id} == {"s"}
    assert history(records) == [each.content for each in main.messages]


def test_a_sidechain_in_a_file_of_its_own_is_the_same_conversation():
    together, alone = read([*TALK, *SIDE])[2], read(SIDE[2:])[0]
    assert (alone.session_id, alone.conversation_id) == (together.session_id, together.conversation_id)
    assert alone.messages == together.messages


def test_sessions_in_one_file_are_told_apart():
    records = [TALK[0], line("user", "o1", None, "other", session="o"), *TALK[1:]]
    one, other = read(records)
    assert (one.session_id, other.session_id) == ("s", "o")
    assert told(one) == told(read(TALK)[0])
    assert [each.place for each in one.messages] == [each.place for each in read(TALK)[0].messages]


def test_a_record_says_which_session_it_belongs_to():
    assert key(TALK[0]) == "s"
    assert key({"type": "last-prompt", "sessionId": "s"}) == "s"
    for other in (
        {"type": "summary", "leafUuid": "a"},
        {"sessionId": "s"},
        {"type": "user", "sessionId": 5},
        "x",
        None,
        [],
        {},
    ):
        assert key(other) is None


def test_a_record_that_comes_again_is_counted_and_another_under_its_id_is_kept():
    other = line("user", "u1", None, "something else")
    (conversation,) = read([*TALK, TALK[0], other])
    assert conversation.ignored.counts == {"repeated records": 1}
    assert [each.content for each in conversation.messages] == [
        *(each.content for each in read(TALK)[0].messages),
        "something else",
    ]
    for payload in captures(FORM, [*TALK, TALK[0], other]):
        validate_payload(payload)


def test_what_a_person_wrote_beside_results_is_a_turn_after_them():
    content = [
        text("wait"),
        {"type": "tool_result", "tool_use_id": "t2", "content": "2"},
        {"type": "tool_result", "tool_use_id": "t1", "content": "1", "is_error": True},
    ]
    records = [*TALK[:5], line("user", "r", "a4", content), part("b1", "r", text("ok"), said_in="msg_2")]
    (conversation,) = read(records)
    assert [(each.role, each.content, each.place, each.parent) for each in conversation.messages[2:]] == [
        ("tool", "2", "r", "a1"),
        ("tool", "1", "r.1", "r"),
        ("user", "wait", "r.2", "r.1"),
        ("assistant", "ok", "b1", "r.2"),
    ]
    assert [each.results[0].success for each in conversation.messages[2:4]] == [None, False]
    assert [each.native.get("places") for each in conversation.messages[3:5]] == [[2], None]
    assert "wait" not in json.dumps(conversation.messages[2].native)


def test_odd_messages_are_kept_as_they_came():
    records = [
        {"type": "user", "sessionId": "s", "message": "error", "timesstamp": "2026-03-02T08:15:00Z"},
        line("user", "u2", None, None),
        line("user", "u3", None, ["bare", 5, {"type": []}]),
        {"type": "user", "sessionId": "s", "message": {"contenst": [text("typo")]}},
    ]
    (conversation,) = read(records)
    assert [each.content for each in conversation.messages] == ["error", "", "bare", ""]
    assert conversation.messages[0].timestamp == "2026-03-02T08:15:00Z"
    assert conversation.messages[2].native["lines"][0]["message"]["content"] == ["bare", 5, {"type": []}]
    assert [each.absent for each in conversation.messages] == [(), ("content",), (), ("content",)]


def test_binary_is_kept_as_its_digest():
    data = bytes(5000)
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64_text(data)}}
    file = {"type": "image", "file": {"base64": base64_text(data), "type": "image/png"}}
    (conversation,) = read([*TALK[:5], result("r1", "a3", "t1", [text("see"), image], toolUseResult=file)])
    (kept,) = conversation.messages[2].native["lines"]
    assert conversation.messages[2].content == "see\n[image: image/png]"
    assert kept["message"]["content"][0]["content"][1]["source"]["data"] == digest(data, "image/png")
    assert kept["toolUseResult"]["file"]["base64"]["sha256"] == digest(data)["sha256"]


def lines_of(conversation, session):
    """The records that the turns of ``conversation`` came from, from the turns alone."""
    found = []
    turns = iter(session.shown)
    for turn in turns:
        metadata = turn.fields["metadata"]
        native, absent = metadata["native"], metadata.get("native_absent", [])
        calls = [entry for entry in turn.invocations if turn.role != "tool"]
        texts = [turn.content] if turn.content else []
        for number, kept in enumerate(native["lines"]):
            record = {"sessionId": session.native_session_id or session.session_id, **kept}
            if number == 0:
                if "native_id" in turn.fields or turn.fields.get("uuid") is None:
                    record.setdefault("uuid", turn.fields.get("native_id", turn.turn_id))
                if "timestamp" not in metadata.get("derived", []):
                    record.setdefault("timestamp", turn.timestamp)
            content = record["message"].get("content") if isinstance(record["message"], dict) else None
            if isinstance(content, list):
                blocks = [_block(turn, calls, texts) if block is None else block for block in content]
                record = {**record, "message": {**record["message"], "content": blocks}}
            elif content is None and "content" not in absent and isinstance(record["message"], dict):
                record = {**record, "message": {**record["message"], "content": turn.content}}
            found.append(record)
    return found


def _block(turn, calls, texts):
    if turn.role == "tool":
        (entry,) = turn.invocations
        success = {"is_error": not entry["success"]} if "success" in entry else {}
        return {"type": "tool_result", "tool_use_id": entry.get("native_id"), "content": turn.content, **success}
    if texts:
        return text(texts.pop())
    entry = calls.pop(0)
    return {"type": "tool_use", "id": entry["native_id"], "name": entry["tool_name"], "input": entry["arguments"]}


def test_a_transcript_that_grew_adds_and_revises_only_its_unfinished_answer():
    everything = [*TALK, *SIDE, line("user", "u2", "b1", "Thanks")]
    with memory() as kept:
        for count in range(1, len(everything) + 1):
            for payload in captures(FORM, everything[:count]):
                kept.capture(payload)
        session = kept.session(payload["session_id"])
        whole = captures(FORM, everything)
    stored_turns = {turn.turn_id: turn for turn in session.all}
    assert {turn["turn_id"] for payload in whole for turn in payload["turns"]} == set(stored_turns)
    revised = {
        turn.fields["native_id"]: turn.fields["revisions"] for turn in session.all if turn.fields["revisions"] > 1
    }
    assert revised == {"a1": 4}
    assert all(
        stored_turns[turn["turn_id"]].content == turn["content"] for payload in whole for turn in payload["turns"]
    )


@given(st.data())
def test_a_part_of_a_transcript_reads_as_it_does_in_the_whole(data):
    records = [
        *TALK[:5],
        *SIDE,
        *TALK[5:],
        line("user", "u2", "u1", "Or"),
        part("c1", "u2", text("No"), said_in="msg_3"),
    ]
    count = data.draw(st.integers(1, len(records)))
    whole = {each.conversation_id: each.messages for each in read(records)}
    for each in read(records[:count]):
        for before, after in zip(each.messages, whole[each.conversation_id], strict=False):
            assert (before.place, before.native_id, before.parent) == (after.place, after.native_id, after.parent)
            assert before == after or before.native_id == "a1"


@given(mutations([TALK, [*TALK, *SIDE], {"records": TALK}]))
@settings(deadline=None)
def test_a_real_document_with_anything_wrong_in_it_is_read_or_refused(document):
    form = format_named(FORM)
    assert form.detect(document) in (True, False)
    found = list(form.read(document))
    if any(isinstance(each, ValidationError) for each in found):
        return
    if all(each.messages for each in found):
        for payload in captures(FORM, document):
            validate_payload(payload)


@given(json_values)
def test_any_json_value_is_known_or_not(value):
    form = format_named(FORM)
    assert form.detect(value) in (True, False)
    assert form.detect([value]) in (True, False)
    assert key(value) is None or isinstance(key(value), str)
    assert all(each is not None for each in form.read([value]))
    assert all(each is not None for each in form.read(value))


def test_what_is_no_list_is_refused():
    for document, path in (({}, "$.records"), ({"records": 5}, "$.records"), (5, "$")):
        (error,) = format_named(FORM).read(document)
        assert [tuple(problem) for problem in error.problems] == [(path, "type")]


def test_it_knows_its_files_and_no_other(shared):
    for name, value in values(shared):
        is_whole = isinstance(value, list) and name.startswith("claude-code__") and value != [1]
        assert format_named(FORM).detect(value) == is_whole, name


def transcripts(shared: Path):
    for path in sorted((shared / "data").glob("claude-code__*.jsonl")):
        yield path.name, list(lines(path))


def test_every_message_of_the_shared_transcripts_is_there_once(shared):
    told_of = {}
    for name, records in transcripts(shared):
        said = [each for each in records if isinstance(each, dict) and each.get("type") in ("user", "assistant")]
        # An answer is one message, however many lines it has.
        count = len([each for each in said if each["type"] == "user"]) + len(
            {each["message"]["id"] for each in said if each["type"] == "assistant"}
        )
        found = read(records)
        assert sum(len(each.messages) for each in found) == count, name
        ignored = sum(found[0].ignored.counts.values())
        beside = sum(len(each.native.get("summaries", [])) + ("custom-title" in each.native) for each in found)
        assert len(said) + ignored + beside == len(records), name
        told_of[name.split("__")[-1]] = (count, sum(len(m.calls) for each in found for m in each.messages), ignored)
    assert told_of == {
        "edge_cases.jsonl": (14, 3, 4),
        "representative_messages.jsonl": (11, 2, 0),
        "sample_session.jsonl": (7, 1, 6),
        "permessage.jsonl": (5, 1, 0),
    }


def test_the_lines_of_the_shared_transcripts_are_given_back(shared):
    for name, records in transcripts(shared):
        if "edge_cases" in name:
            continue
        (main, *_) = read(records)
        mine = [record for record in records if isinstance(record, dict) and not record.get("isSidechain")]
        with stored(FORM, [record for record in mine if record.get("type") in ("user", "assistant")]) as session:
            found = lines_of(main, session)
        sent = [record for record in mine if record.get("type") in ("user", "assistant")]
        for record, given_back in zip(sent, found, strict=True):
            if "uuid" not in record:
                given_back.pop("uuid", None)
            assert same_json(given_back, record), name
