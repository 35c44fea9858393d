"""What a session shows in Python: its messages in order, gaps included, and never fewer than were asked for."""

from __future__ import annotations

import json
import logging
import unicodedata
from collections.abc import Iterator

import pytest

from agent.core.ids import conversation_of_session, session_uuid
from agent.errors import StoreConnectionError, ValidationError
from agent.recall.held import HeldSessions
from agent.sdk import ConversationMemory, Message, SessionHandle, ToolCall, ToolResult
from tests.sdk.memories import INTENTS, in_memory, standing, texts


def test_a_session_that_nobody_wrote_to_is_empty_and_can_be_used(memory: ConversationMemory):
    session = memory.for_session("never heard of")
    assert session.history() == []
    assert session.params() == {}
    assert session.waiting() is None
    assert session.resume() is None
    assert session.state() == {
        "params": {},
        "waiting_for_param": None,
        "last_intent_id": None,
        "last_result": None,
        "plan_execution": None,
        "version": 0,
    }
    assert session.summary() == {"message_count": 0, "last_activity": None, "session_started": None}
    assert session.stats()["total_messages"] == 0
    assert list(memory.sessions()) == []
    session.append(Message("user", "hello"))
    assert texts(session) == ["hello"]


def test_a_message_comes_back_as_it_was_said_and_with_the_names_that_it_got(session: SessionHandle):
    session.append(
        Message(
            "assistant",
            "on its way",
            "2026-03-02T10:15:00+02:00",
            {"mood": "calm", "agent": "shop"},
            tool_calls=[ToolCall("call_7", "track", {"n": 4471}, success=True)],
            model="model-1",
            token_usage={"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
        )
    )
    (message,) = session.history()
    assert message.role == "assistant"
    assert message.text == "on its way"
    assert message.timestamp == "2026-03-02T10:15:00+02:00"
    assert message.metadata == {"mood": "calm", "agent": "shop"}
    assert message.agent == "shop"
    assert message.model == "model-1"
    assert message.token_usage == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert (message.seq, message.erased) == (1, False)
    assert message.conversation_id == conversation_of_session(session_uuid("chat-7"))
    (call,) = message.tool_calls
    assert (call.tool_name, call.arguments, call.success, call.native_id) == ("track", {"n": 4471}, True, "call_7")


def test_a_message_without_a_time_has_that_of_the_clock(session: SessionHandle):
    session.append(Message("user", "hello"))
    assert session.history()[0].timestamp == "2026-03-02T09:00:00.000000Z"


def test_a_result_goes_by_the_call_that_it_answers_though_that_came_in_an_earlier_event(session: SessionHandle):
    session.append(Message("assistant", "", tool_calls=[ToolCall("call_7", "track"), ToolCall("call_8", "notify")]))
    session.append(Message("tool", "told her", tool_results=[ToolResult("call_8", "unknown")]))
    session.append(Message("tool", "on its way", tool_results=[ToolResult("call_7", "track", success=True)]))
    asked, told, tracked = session.history()
    assert [each.tool_results[0].invocation_id for each in (tracked, told)] == [
        call.invocation_id for call in asked.tool_calls
    ]
    assert told.tool_results[0].tool_name == "notify"
    assert tracked.tool_results[0].success is True


def test_a_result_whose_call_nobody_made_keeps_its_own_name(session: SessionHandle):
    session.append(Message("tool", "on its way", tool_results=[ToolResult("call_7", "track")]))
    (result,) = session.history()[0].tool_results
    assert (result.tool_name, result.native_id) == ("track", "call_7")


def test_the_newest_so_many_messages_come_in_their_order(session: SessionHandle):
    session.extend({"role": "user", "content": str(number)} for number in range(10))
    assert texts(session, 3) == ["7", "8", "9"]
    assert texts(session, 10) == texts(session, 1_000_000) == [str(number) for number in range(10)]


@pytest.mark.parametrize("limit", [0, -1, -1_000_000])
def test_a_limit_below_one_is_refused_and_never_means_all_of_them(session: SessionHandle, limit: int):
    # cases.md H32
    session.append(Message("user", "hello"))
    with pytest.raises(ValidationError) as caught:
        session.history(limit)
    assert [(problem.path, problem.rule) for problem in caught.value.problems] == [("$.limit", "minimum")]


@pytest.mark.parametrize("limit", ["abc", "3", 3.0, True])
def test_a_limit_that_is_no_whole_number_is_refused(session: SessionHandle, limit: object):
    with pytest.raises(ValidationError) as caught:
        session.history(limit)
    assert [(problem.path, problem.rule) for problem in caught.value.problems] == [("$.limit", "type")]


def test_text_comes_back_in_the_very_form_that_it_was_given_in(session: SessionHandle):
    # cases.md H16
    composed, decomposed = "Zo\u00eb", "Zoe\u0308"
    assert unicodedata.normalize("NFC", decomposed) == composed
    session.append(Message("user", composed))
    session.append(Message("user", decomposed))
    assert [text.encode().hex() for text in texts(session)] == ["5a6fc3ab", "5a6f65cc88"]


def test_messages_of_one_instant_stay_in_their_order_however_often_they_are_read():
    # cases.md H20
    with in_memory(clock=standing) as memory:
        ids = iter(f"{9 - number}0000000-0000-4000-8000-000000000000" for number in range(6))
        session = memory.for_session("one tick")
        for number in range(6):
            session.append(Message("user" if number % 2 == 0 else "assistant", f"t{number}", turn_id=next(ids)))
        expected = [f"t{number}" for number in range(6)]
        assert all(texts(session) == expected for _ in range(50))
        assert all(texts(memory.for_session("one tick")) == expected for _ in range(2))


def test_an_erased_message_is_a_gap_that_shows(memory: ConversationMemory, session: SessionHandle):
    session.extend([Message("user", "my card is 4111"), Message("assistant", "noted", metadata={"a": 1})])
    memory.store.client.erasure.turn(str(session.history()[0].turn_id))
    erased, kept = session.history()
    assert (erased.role, erased.text, erased.metadata, erased.erased) == ("user", "", {"erased": True}, True)
    assert (kept.text, kept.metadata, kept.erased) == ("noted", {"a": 1}, False)


def test_a_revision_is_read_in_place_of_what_was_said(session: SessionHandle):
    session.append(Message("user", "tomorow", turn_id="first"))
    session.append(Message("assistant", "noted"))
    assert texts(session) == ["tomorow", "noted"]
    session.append(Message("user", "tomorrow", turn_id="first"))
    assert texts(session) == ["tomorrow", "noted"]


def test_a_limited_read_after_a_revision_shows_it(session: SessionHandle):
    session.extend(Message("user", str(number), turn_id=f"m{number}") for number in range(4))
    assert texts(session) == ["0", "1", "2", "3"]
    session.append(Message("user", "two", turn_id="m2"))
    assert texts(session, 2) == ["two", "3"]
    assert texts(session) == ["0", "1", "two", "3"]


def test_every_list_is_the_callers_own(session: SessionHandle):
    session.extend([Message("user", "one", metadata={"a": [1]}), Message("user", "two")])
    session.history().clear()
    assert texts(session) == ["one", "two"]
    session.params().update(stolen=True)
    assert session.params() == {}


def test_what_a_caller_does_to_what_it_read_changes_no_state(session: SessionHandle):
    session.merge({"order": {"lines": [1]}})
    session.update(plan_execution={"steps": [1]}, last_result={"rows": [1]})
    session.params()["order"]["lines"].append(2)
    session.resume()["steps"].append(2)
    session.state()["last_result"]["rows"].append(2)
    assert session.params() == {"order": {"lines": [1]}}
    assert session.resume() == {"steps": [1]}
    assert session.state()["last_result"] == {"rows": [1]}


def test_a_handle_for_a_conversation_shows_that_conversation_alone(memory: ConversationMemory):
    one, two = memory.for_session("shared", "sales"), memory.for_session("shared", "support")
    one.append(Message("user", "how much?"))
    two.append(Message("user", "it broke"))
    one.merge({"customer": 1})
    two.merge({"ticket": 2})
    assert (texts(one), one.params()) == (["how much?"], {"customer": 1})
    assert (texts(two), two.params()) == (["it broke"], {"ticket": 2})
    whole = memory.for_session("shared")
    assert (texts(whole), whole.params()) == (["how much?", "it broke"], {"customer": 1, "ticket": 2})
    assert texts(memory.for_session("shared", "nobody's")) == []
    assert memory.for_session("shared", "nobody's").params() == {}


def test_the_only_conversation_of_a_session_is_what_the_session_shows(memory: ConversationMemory):
    only = memory.for_session("alone", "sales")
    only.append(Message("user", "how much?"))
    assert only.history() == memory.for_session("alone").history()


def test_messages_of_an_unchanged_session_are_made_once(session: SessionHandle):
    session.extend([Message("user", "one"), Message("user", "two")])
    first = session.history()
    session.append(Message("user", "three"))
    again = session.history()
    assert again[0] is first[0]
    assert again[1] is first[1]
    assert texts(session, 1) == ["three"]


def test_a_large_session_which_is_held_without_its_content_reads_the_same(memory: ConversationMemory):
    session = memory.for_session("large")
    session.extend([Message("user", f"word {number}", metadata={"n": number}) for number in range(30)])
    session.append(Message("assistant", "", tool_calls=[ToolCall("call_7", "track", {"n": 1})]))
    session.append(Message("tool", "done", tool_results=[ToolResult("call_7", "track")]))
    whole = session.history()
    memory.store.held = HeldSessions(memory.store.reads, whole_bytes=1)
    assert session.history() == whole
    assert session.history(2) == whole[-2:]
    with session.batch():
        session.append(Message("user", "pending"))
        assert texts(session, 2) == ["done", "pending"]
        assert session.history()[:-1] == whole


def test_a_store_that_fails_is_never_an_empty_session():
    # Nothing listens on port 9 (discard).
    with ConversationMemory("http://127.0.0.1:9", environ={"RUVECTOR_DEADLINE_S": "0.2"}, intents=INTENTS) as memory:
        session = memory.for_session("chat-7")
        for read in (session.history, session.params, session.waiting, session.state, session.summary, session.clear):
            with pytest.raises(StoreConnectionError):
                read()
        with pytest.raises(StoreConnectionError):
            next(memory.sessions())


@pytest.fixture
def told() -> Iterator[list[logging.LogRecord]]:
    """What is logged, by a handler of its own: how the logger is set up, and by whom, makes no difference."""
    records: list[logging.LogRecord] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = records.append
    logger = logging.getLogger("agent")
    level = logger.level
    logger.setLevel(logging.WARNING)
    logger.addHandler(handler)
    yield records
    logger.removeHandler(handler)
    logger.setLevel(level)


def test_foreign_memory_of_a_turn_is_ignored_with_one_warning_that_has_no_value(
    session: SessionHandle, told: list[logging.LogRecord]
):
    session.append(Message("user", "one", metadata={"memory": {"params": "planted-secret", "last_intent_id": 7}}))
    session.append(Message("user", "two", metadata={"memory": "planted-secret"}))
    session.append(Message("user", "three", metadata={"memory": {"params": {"kept": 1}, "mood": "calm"}}))
    assert session.params() == {"kept": 1}
    assert session.params() == {"kept": 1}
    records = [record for record in told if record.msg == "memory of a turn ignored"]
    turns = [message.turn_id for message in session.history()]
    assert [record.agent_members["turn_id"] for record in records] == turns[:2]
    assert records[0].agent_members["rules"] == ("type", "type")
    assert "planted-secret" not in json.dumps([str(vars(record)) for record in told])
    assert session.state()["mood"] == "calm"
