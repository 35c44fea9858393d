"""What is appended becomes one event, nothing is lost of it, and nothing doubled."""

from __future__ import annotations

from datetime import datetime

import pytest

from agent.core.ids import session_uuid
from agent.errors import PayloadTooLarge, StoreConnectionError, ValidationError
from agent.recall.held import HeldSession, HeldSessions
from agent.sdk import ConversationMemory, Message, SessionHandle, ToolCall, ToolResult
from tests.sdk.memories import INTENTS, events_of, in_memory, inputs_of, texts


def test_an_append_is_one_event_of_one_turn_that_names_no_parent(memory: ConversationMemory, session: SessionHandle):
    session.append(Message("user", "hello"))
    session.append(Message("assistant", "good morning"))
    first, second = inputs_of(memory, session)
    assert [len(each["turns"]) for each in (first, second)] == [1, 1]
    assert all("parent_turn_id" not in turn for each in (first, second) for turn in each["turns"])
    assert first["native_session_id"] == "chat-7"
    assert first["context"] == {"source_system": "agent.sdk"}
    turns = memory.store.reads.turns(session.session_uuid).turns
    assert [turn.parent_turn_id for turn in turns] == [None, turns[0].turn_id]


def test_a_list_is_one_event_and_an_empty_one_is_none(memory: ConversationMemory, session: SessionHandle):
    session.extend(Message("user", text) for text in ("one", "two", "three"))
    session.extend([])
    assert len(events_of(memory, session)) == 1
    assert texts(session) == ["one", "two", "three"]


def test_an_event_says_whose_it_is():
    with in_memory(agent_id="shop-agent", user_id="ada", source_system="shop") as memory:
        session = memory.for_session("s")
        session.append(Message("user", "hello"))
        other = memory.for_session("t", user_id="grace", agent_id="stock-agent")
        other.append(Message("user", "hello"))
        assert inputs_of(memory, session)[0]["context"] == {
            "agent_id": "shop-agent",
            "user_id": "ada",
            "source_system": "shop",
        }
        assert inputs_of(memory, other)[0]["context"]["user_id"] == "grace"
        assert [row.session_id for row in memory.sessions(user_id="grace")] == [session_uuid("t")]
        assert [row.session_id for row in memory.sessions(agent_id="shop-agent")] == [session_uuid("s")]


def test_an_assistants_message_says_which_agent_spoke_unless_it_says_so_itself():
    with in_memory(agent_id="shop-agent") as memory:
        session = memory.for_session("s")
        session.extend([Message("user", "a"), Message("assistant", "b"), Message("agent", "c", agent="stock-agent")])
        session.append(Message("assistant", "d", metadata={"agent": "third"}))
        assert [each.agent for each in session.history()] == [None, "shop-agent", "stock-agent", "third"]


@pytest.mark.parametrize(
    "given",
    [
        {"role": "agent", "content": "hello"},
        {"role": "assistant", "text": "hello"},
        {"role": "assistant", "text": "hello", "timestamp": None, "metadata": None},
    ],
)
def test_a_dictionary_of_a_role_and_a_text_is_a_message(session: SessionHandle, given: dict[str, str]):
    session.append(given)
    (message,) = session.history()
    assert (message.role, message.text, message.metadata) == ("assistant", "hello", {})


def test_a_dictionary_may_say_all_that_a_message_does(session: SessionHandle):
    session.append(
        {
            "role": "assistant",
            "text": "hello",
            "timestamp": "2026-01-01T00:00:00Z",
            "metadata": {"a": 1},
            "agent": "shop",
            "model": "m",
            "turn_id": "ours",
        }
    )
    (message,) = session.history()
    assert (message.timestamp, message.model) == ("2026-01-01T00:00:00Z", "m")
    assert message.metadata == {"a": 1, "agent": "shop"}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("hello", ("$", "type")),
        (None, ("$", "type")),
        (["role", "content"], ("$", "type")),
        (object(), ("$", "type")),
        ({"content": "hello"}, ("$.role", "required")),
        ({"role": "robot", "content": "hello"}, ("$.role", "enum")),
        ({"role": "robot", "content": "hello", "more": 1}, ("$.role", "enum")),
        ({"role": "user", "content": "half \ud800"}, ("$.text", "surrogate")),
        ({"role": "user", "content": "hello", "score": float("nan")}, ("$[0].score", "number_range")),
        ({"role": "user", "content": 7}, ("$[0].content", "type")),
        ({"role": "user", "content": "hello", "timestamp": "2026-03-02T08:15:03"}, ("$.timestamp", "format")),
        ({"role": "user", "content": "hello", "timestamp": datetime(2026, 3, 2)}, ("$.timestamp", "format")),
        ({"role": "user", "content": "hello", "metadata": "calm"}, ("$.metadata", "type")),
    ],
)
def test_what_is_no_message_is_refused_and_nothing_is_written(memory, session, given, problem):
    with pytest.raises(ValidationError) as caught:
        session.append(given)
    assert [(each.path, each.rule) for each in caught.value.problems] == [problem]
    assert list(memory.sessions()) == []


def test_a_time_that_is_a_number_is_how_another_library_has_it(session: SessionHandle):
    session.append({"role": "user", "content": "hello", "timestamp": 1772439300})
    assert session.history()[0].metadata["native"] == {"timestamp": 1772439300}


@pytest.mark.parametrize(
    "one", [Message("user", "hello"), {"role": "user", "content": "hello"}, "hello", b"x", None, 5]
)
def test_one_message_in_place_of_a_list_is_refused(session: SessionHandle, one: object):
    with pytest.raises(ValidationError, match="extend takes a list of messages: one message goes to append"):
        session.extend(one)


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ([Message("user", "planted")], "append takes one message, and a list of them goes to extend"),
        ("planted", "append takes one message, and a list of them goes to extend"),
        (object(), "a message is a Message, a dictionary of role and content, or a message object of another library"),
        ({"content": "planted"}, "a message is a Message, a dictionary of role and content"),
        ({"role": "planted", "content": "planted"}, "role must be one of user, assistant, tool, system"),
        ({"role": "user", "content": "x", "timestamp": "planted"}, "timestamp must be an RFC 3339 date-time"),
    ],
)
def test_a_refusal_says_what_is_allowed_and_not_what_was_given(session: SessionHandle, given: object, allowed: str):
    with pytest.raises(ValidationError) as caught:
        session.append(given)
    assert allowed in caught.value.message
    assert "planted" not in caught.value.message


def test_a_store_that_fails_does_not_hide_what_is_wrong_with_a_message():
    with ConversationMemory("http://127.0.0.1:9", environ={"RUVECTOR_DEADLINE_S": "0.2"}, intents=INTENTS) as memory:
        session = memory.for_session("s")
        for given in ("hello", {"role": "robot", "content": "x", "more": 1}, {"role": "user", "content": "\ud800"}):
            with pytest.raises(ValidationError):
                session.append(given)
        with pytest.raises(ValidationError):
            session.record_tool("", "done")
        with pytest.raises(StoreConnectionError):
            session.append(Message("user", "hello"))


def test_one_wrong_message_refuses_the_whole_list(memory: ConversationMemory, session: SessionHandle):
    with pytest.raises(ValidationError):
        session.extend([Message("user", "fine"), {"role": "robot", "content": "x"}])
    assert list(memory.sessions()) == []


def test_more_than_a_capture_may_hold_is_refused(session: SessionHandle):
    with pytest.raises(PayloadTooLarge):
        session.append(Message("user", "x" * 11 * 1024 * 1024))
    with pytest.raises(ValidationError):
        session.extend([Message("user", "x")] * 10_001)


def test_a_client_that_sends_its_whole_history_again_doubles_nothing(
    memory: ConversationMemory, session: SessionHandle
):
    # cases.md H29
    turns = [
        Message("user" if n % 2 else "assistant", f"t{n}", "2026-03-02T09:00:00Z", turn_id=f"m{n}") for n in range(6)
    ]
    for end in (2, 4, 6):
        session.extend(turns[:end])
    assert texts(session) == [f"t{n}" for n in range(6)]
    assert len(events_of(memory, session)) == 3
    assert session.stats()["total_messages"] == 6


def test_what_is_new_stands_behind_all_that_is_there_also_where_a_client_did_not_know_of_it(session: SessionHandle):
    one, two = (Message("user", text, "2026-03-02T09:00:00Z", turn_id=text) for text in ("one", "two"))
    session.extend([one, two])
    session.append(Message("assistant", "said meanwhile"))
    session.extend([one, two, Message("user", "three", turn_id="three")])
    assert texts(session) == ["one", "two", "said meanwhile", "three"]


def test_what_was_read_from_a_session_is_there_already(memory: ConversationMemory, session: SessionHandle):
    # cases.md H29, by a client that keeps what it read
    session.extend([Message("user", "one"), Message("assistant", "two")])
    session.extend([*session.history(), Message("user", "three")])
    session.extend([*session.history(), Message("assistant", "four")])
    assert texts(session) == ["one", "two", "three", "four"]
    session.extend(session.history())
    assert len(events_of(memory, session)) == 3


def test_a_long_history_given_back_is_compared_with_one_read(memory: ConversationMemory, session: SessionHandle):
    session.extend(Message("user", str(number)) for number in range(50))
    given = [*session.history(), Message("user", "new")]
    reads = CountedSessions(memory.store.held)
    memory.store.held = reads
    session.extend(given)
    assert reads.count == 1


class CountedSessions:
    def __init__(self, held: HeldSessions) -> None:
        self._held = held
        self.count = 0

    def session(self, session_id: str) -> HeldSession:
        self.count += 1
        return self._held.session(session_id)


def test_what_was_read_from_another_session_is_a_new_message_here(memory: ConversationMemory, session: SessionHandle):
    session.extend(
        [
            Message("user", "one", metadata={"a": 1}),
            Message("assistant", "", tool_calls=[ToolCall("call_7", "track", {"n": 1})], model="m"),
            Message("tool", "done", tool_results=[ToolResult("call_7", "track", success=False)]),
        ]
    )
    copy = memory.for_session("copy")
    copy.extend(session.history())
    there, here = session.history(), copy.history()
    assert [(each.role, each.text, each.metadata, each.timestamp, each.model) for each in here] == [
        (each.role, each.text, each.metadata, each.timestamp, each.model) for each in there
    ]
    assert {each.turn_id for each in here}.isdisjoint(each.turn_id for each in there)
    assert here[2].tool_results[0].invocation_id == here[1].tool_calls[0].invocation_id
    assert here[1].tool_calls[0].arguments == {"n": 1}
    assert here[2].tool_results[0].success is False


def test_the_same_words_said_twice_are_two_messages(session: SessionHandle):
    session.append(Message("user", "yes"))
    session.append(Message("user", "yes"))
    assert texts(session) == ["yes", "yes"]


def test_a_turn_id_of_any_kind_names_the_same_message_each_time(session: SessionHandle):
    uuid = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"
    for name in (uuid, uuid.lower(), "m-1", "m-1", "", "", "x" * 300, "x" * 300, "nul\0", "nul\0"):
        session.append(Message("user", name[:5], "2026-03-02T09:00:00Z", turn_id=name))
    assert len(session.history()) == 5
    assert session.history()[0].turn_id == uuid.lower()


def test_a_text_may_hold_anything_that_text_can(session: SessionHandle):
    strange = ["", "\0", "\u2028", "\U0001f600" * 3, "line\r\n", '"quoted\\"', "\x7f\x01"]
    session.extend(Message("user", text) for text in strange)
    assert texts(session) == strange


def test_a_whole_number_keeps_its_digits(session: SessionHandle):
    session.append(Message("user", "x", metadata={"n": 10**40, "small": -(2**63) - 1}))
    assert session.history()[0].metadata == {"n": 10**40, "small": -(2**63) - 1}


def test_a_number_of_more_digits_than_json_readers_take_is_refused(session: SessionHandle):
    with pytest.raises(ValidationError):
        session.append(Message("user", "x", metadata={"n": 10**5000}))


def test_a_message_with_a_name_and_no_time_is_known_when_it_comes_again(memory, session: SessionHandle):
    for given in (Message("user", "one", turn_id="m1"), {"role": "user", "text": "one", "turn_id": "m1"}):
        session.append(given)
        session.append(given)
    (turn,) = memory.store.reads.turns(session.session_uuid).turns
    (message,) = session.history()
    assert turn.revisions == 1
    assert message.timestamp == inputs_of(memory, session)[0]["turns"][0]["timestamp"]
    assert message.metadata == {"derived": ["timestamp"]}
    session.append(Message("user", "one", metadata={"derived": ["timestamp"]}, turn_id="m1"))
    assert memory.store.reads.turns(session.session_uuid).turns[0].revisions == 1


def test_a_time_that_was_given_is_not_derived(session: SessionHandle):
    session.append(Message("user", "one", "2026-03-02T09:00:00Z", turn_id="m1"))
    session.append(Message("user", "two"))
    assert [each.metadata for each in session.history()] == [{}, {}]


def test_what_was_read_in_a_batch_is_there_already(session: SessionHandle):
    with session.batch():
        session.append(Message("user", "one"))
        session.append(session.history()[-1])
        session.extend([*session.history(), Message("user", "two")])
    assert texts(session) == ["one", "two"]


def test_a_name_that_comes_twice_in_a_list_is_of_what_is_said_last(memory, session: SessionHandle):
    session.extend(
        [
            Message("user", "one", turn_id="m1"),
            Message("user", "between"),
            Message("user", "one, that is 1", turn_id="m1"),
        ]
    )
    assert texts(session) == ["one, that is 1", "between"]
    assert [turn.revisions for turn in memory.store.reads.turns(session.session_uuid).turns] == [1, 1]


def test_what_a_reader_gets_cannot_change_what_the_next_one_reads(session: SessionHandle):
    call = ToolCall("c", "track", {"n": [1]})
    session.append(Message("assistant", "hi", metadata={"a": {"b": 1}}, tool_calls=[call]))
    (message,) = session.history()
    for change in (
        lambda: message.metadata.update(x=1),
        message.metadata["a"].clear,
        lambda: message.tool_calls[0].arguments["n"].append(2),
    ):
        with pytest.raises(TypeError):
            change()
    assert session.history()[0].metadata == {"a": {"b": 1}}


def test_what_was_read_from_another_conversation_is_new_in_this_one(memory: ConversationMemory):
    one, two = (memory.for_session("s", name) for name in ("a", "b"))
    one.extend([Message("user", "hi"), Message("assistant", "hello")])
    two.extend(one.history())
    two.extend(two.history())
    assert texts(two) == texts(one) == ["hi", "hello"]
    assert {each.turn_id for each in one.history()}.isdisjoint(each.turn_id for each in two.history())


def test_what_was_read_before_a_clear_is_new_after_it(session: SessionHandle):
    session.extend([Message("user", "hi", turn_id="m1"), Message("assistant", "hello")])
    before = session.history()
    session.clear()
    session.extend(before)
    session.extend(session.history())
    assert texts(session) == ["hi", "hello"]
    assert session.history()[0].turn_id != before[0].turn_id


def test_what_was_read_and_says_something_else_now_revises_its_turn(memory, session: SessionHandle):
    session.extend([Message("user", "hi"), Message("assistant", "hello")])
    first = session.history()[0]
    session.append(first._replace(text="good day"))
    assert texts(session) == ["good day", "hello"]
    assert session.history()[0].turn_id == first.turn_id
    assert [turn.revisions for turn in memory.store.reads.turns(session.session_uuid).turns] == [2, 1]
    with session.batch():
        session.append(Message("user", "one"))
        session.append(session.history()[0]._replace(text="good night"))
        assert texts(session) == ["good night", "hello", "one"]
    assert texts(session) == ["good night", "hello", "one"]


def test_a_name_that_comes_twice_in_a_batch_is_of_what_is_said_last(session: SessionHandle):
    with session.batch():
        for text in ("one", "one, that is 1"):
            session.append(Message("user", text, turn_id="m1"))
        assert texts(session) == ["one, that is 1"]
    assert texts(session) == ["one, that is 1"]
