"""The swe-agent format: what a run said, did and saw."""

import json

from hypothesis import given, settings

from agent.capture.validation import validate_payload
from agent.errors import ValidationError
from agent.formats import format_named
from tests.formats.block_laws import mutations
from tests.formats.chat_messages import same_json
from tests.formats.every_file import values
from tests.formats.round_trips import captures, conversations, lines, stored
from tests.formats.sessions import memory
from tests.strategies import json_values

FORM = "swe-agent"


def item(role, content, **members):
    return {"role": role, "content": content, **members}


def call(name, call_id, **given):
    return {
        "function": {"name": name, "arguments": json.dumps(given, separators=(",", ":"))},
        "id": call_id,
        "type": "function",
    }


OLD = {
    "history": [
        item("system", "SETTING", agent="primary"),
        item("user", "A demonstration", agent="primary", is_demo=True),
        item("user", "Solve it", agent="primary"),
        item("assistant", "Look.\n```\nls\n```", thought="Look.\n", action="ls\n", agent="primary"),
        item("user", "a.py", agent="primary"),
        item("assistant", "I think.", thought="I think.", action="", agent="primary"),
        item("user", "Go on", agent="primary"),
    ],
    "info": {"exit_status": "submitted"},
}
NEW = {
    "history": [
        item("system", "SETTING", message_type="system_prompt", agent="main"),
        item("user", "Solve it", message_type="observation", agent="main"),
        item(
            "assistant",
            "Look.",
            thought="Look.",
            action="ls",
            agent="main",
            message_type="action",
            tool_calls=[call("bash", "c1", command="ls"), call("open", "c2", path="a.py")],
        ),
        item("tool", "a.py", message_type="observation", agent="main", tool_call_ids=["c1"]),
        item(
            "tool", [{"type": "text", "text": "1: x"}], message_type="observation", agent="main", tool_call_ids=["c2"]
        ),
    ],
    "trajectory": [{"action": "ls", "observation": "a.py", "response": "Look."}],
}


def read(document):
    (conversation,) = conversations(FORM, document)
    return conversation


def told(document):
    return [
        (
            each.role,
            each.content,
            [(c.name, c.native_id, c.arguments) for c in each.calls],
            [r.native_id for r in each.results],
        )
        for each in read(document).messages
    ]


def item_of(turn):
    """The item that a turn came from, from the turn alone."""
    metadata = turn.fields.get("metadata", {})
    native = dict(metadata.get("native", {}))
    found = {"role": turn.role, "content": turn.content}
    if "agent" in metadata:
        found["agent"] = metadata["agent"]
    if turn.role != "tool" and turn.invocations:
        first = turn.invocations[0]
        if first["tool_name"] == "action" and first.get("native_id") == "action":
            found["action"] = first["arguments"]
        else:
            kept = native.pop("tool_calls", [None] * len(turn.invocations))
            exact = [
                call(
                    each["tool_name"],
                    each["native_id"],
                    **(each["arguments"] if isinstance(each["arguments"], dict) else {}),
                )
                for each in turn.invocations
            ]
            found["tool_calls"] = [mine if sent is None else sent for sent, mine in zip(kept, exact, strict=True)]
    found |= native
    return {name: value for name, value in found.items() if name not in metadata.get("native_absent", [])}


def check_given_back(document):
    with stored(FORM, document) as session:
        assert len(session.shown) == len(document["history"])
        for turn, sent in zip(session.shown, document["history"], strict=True):
            assert same_json(item_of(turn), sent)


def test_what_was_done_is_a_call_and_what_came_of_it_a_result():
    assert told(OLD) == [
        ("system", "SETTING", [], []),
        ("user", "A demonstration", [], []),
        ("user", "Solve it", [], []),
        ("assistant", "Look.\n```\nls\n```", [("action", "action", "ls\n")], []),
        ("tool", "a.py", [], ["action"]),
        ("assistant", "I think.", [], []),
        ("user", "Go on", [], []),
    ]
    check_given_back(OLD)


def test_calls_with_ids_are_answered_by_them():
    assert told(NEW)[1:] == [
        ("user", "Solve it", [], []),
        ("assistant", "Look.", [("bash", "c1", {"command": "ls"}), ("open", "c2", {"path": "a.py"})], []),
        ("tool", "a.py", [], ["c1"]),
        ("tool", "1: x", [], ["c2"]),
    ]
    assert read(NEW).ignored.counts == {"steps": 1}
    check_given_back(NEW)


def test_demonstrations_stay_marked_and_answer_only_each_other():
    demonstration = [
        item("user", "Try", is_demo=True),
        item("assistant", "ok", action="ls", is_demo=True),
        item("user", "b.py", is_demo=True),
        item("assistant", "again", action="ls", is_demo=True),
        item("user", "Now you"),
    ]
    messages = read({"history": demonstration}).messages
    assert [each.role for each in messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert [(each.native or {}).get("is_demo") for each in messages] == [True, True, True, True, None]
    check_given_back({"history": demonstration})


def test_who_acted_is_the_agent_of_the_turn_and_what_stands_beside_is_kept():
    conversation = read({**OLD, "environment": "main"})
    assert [each.metadata for each in conversation.messages][2:4] == [None, {"agent": "primary"}]
    assert conversation.native == {"info": {"exit_status": "submitted"}, "environment": "main"}


def test_a_file_with_nothing_but_steps_is_read_from_them():
    steps = [
        {
            "action": "ls\n",
            "observation": "a.py",
            "response": "Look.",
            "thought": "Look.",
            "state": {},
            "query": [item("system", "SETTING"), {}],
        },
        {"action": "", "observation": "", "response": "Done.", "thought": "Done."},
    ]
    assert format_named(FORM).detect({"trajectory": steps})
    assert told({"trajectory": steps}) == [
        ("system", "SETTING", [], []),
        ("assistant", "Look.", [("action", "action", "ls\n")], []),
        ("tool", "a.py", [], ["action"]),
        ("assistant", "Done.", [], []),
        ("tool", "", [], [None]),
    ]
    assert [each.place for each in read({"trajectory": steps}).messages] == ["query.0", "0", "0.1", "1", "1.1"]


def test_a_list_of_items_alone_is_a_history():
    assert format_named(FORM).detect(OLD["history"])
    assert told(OLD["history"]) == told(OLD)


def test_a_history_that_grew_adds_and_changes_nothing():
    for document in (OLD, NEW):
        history = document["history"]
        with memory() as kept:
            for count in range(1, len(history) + 1):
                for payload in captures(FORM, {**document, "history": history[:count]}):
                    kept.capture(payload)
            session = kept.session(payload["session_id"])
        assert len(session.shown) == len(session.all) == len(history)
        assert all(each.fields["revisions"] == 1 for each in session.all)


def test_what_is_wrong_is_named_by_its_path():
    history = [
        5,
        item("critic", "x"),
        {"content": "x"},
        item("user", 5),
        item("assistant", "x", tool_calls=5),
        item(7, "x"),
    ]
    (error,) = format_named(FORM).read({"history": history})
    assert [tuple(problem) for problem in error.problems] == [
        ("$.history[0]", "type"),
        ("$.history[1].role", "enum"),
        ("$.history[2].role", "required"),
        ("$.history[3].content", "type"),
        ("$.history[4].tool_calls", "type"),
        ("$.history[5].role", "type"),
    ]
    for wrong, rule in (({}, "required"), ({"history": 5}, "type")):
        (error,) = format_named(FORM).read(wrong)
        assert [tuple(problem) for problem in error.problems] == [("$.history", rule)]


@given(mutations([OLD, NEW, {"trajectory": NEW["trajectory"]}, OLD["history"]]))
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
    for member in ("history", "trajectory"):
        assert all(each is not None for each in form.read({member: value}))


def test_it_knows_its_files_and_no_other(shared):
    for name, value in values(shared):
        is_line = name.startswith("swe-agent__") and isinstance(value, dict)
        assert format_named(FORM).detect(value) == is_line, name


def test_every_item_of_the_shared_histories_is_a_turn_and_comes_back(shared):
    turns = calls = observations = 0
    for document in lines(shared / "data" / "swe-agent__histories__5.jsonl"):
        check_given_back(document)
        messages = read(document).messages
        turns += len(messages)
        calls += sum(each.native is not None and "action" in each.native for each in messages)
        # Every action but the last of a run that was not told what came of it.
        done = [each for each in messages if each.calls]
        seen = [each for each in messages if each.role == "tool"]
        assert len(done) - len(seen) in (0, 1)
        observations += len(seen)
        with stored(FORM, document) as session:
            called = {
                entry["invocation_id"] for each in session.shown if each.role != "tool" for entry in each.invocations
            }
            answered = [
                entry["invocation_id"] for each in session.shown if each.role == "tool" for entry in each.invocations
            ]
        assert len(answered) == len(set(answered))
        assert set(answered) <= called
    # MANIFEST.md: 86 turns, 16 tool calls (those of tool_calls).
    assert (turns, calls, observations) == (86, 16, 36)
