"""A batch: all that happens inside is one event at its end, and reads inside see it before."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import StoreConnectionError, ValidationError
from agent.recall.held import HeldSessions
from agent.sdk import ConversationMemory, Message, SessionHandle, ToolCall, ToolResult
from agent.sdk.batch import Batch
from agent.sdk.captures import Turns
from agent.sdk.session_name import SessionName
from agent.sdk.view import NO_SESSION
from tests.sdk.memories import INTENTS, events_of, in_memory, inputs_of, texts


def fail_in_a_batch(session: SessionHandle) -> None:
    with session.batch():
        session.append(Message("user", "never said"))
        session.merge({"never": 1})
        assert texts(session)[-1] == "never said"
        raise RuntimeError("mine")


def test_all_that_happens_inside_is_one_event(memory: ConversationMemory, session: SessionHandle):
    with session.batch() as inside:
        assert inside is session
        session.append(Message("user", "hi"))
        session.merge({"a": 1})
        session.ask("order_id", "Which order?")
        session.record_tool("track", "on its way", {"b": 2})
        session.update(last_intent_id="order_status")
        assert list(memory.sessions()) == []
    (inputs,) = inputs_of(memory, session)
    assert [turn["content"] for turn in inputs["turns"]] == ["hi", "", "Which order?", "", "on its way", ""]
    assert texts(session) == ["hi", "Which order?", "", "on its way"]


def test_reads_inside_see_what_is_pending(session: SessionHandle):
    session.append(Message("user", "before", metadata={"memory": {"params": {"a": 1}}}))
    with session.batch():
        session.append(Message("user", "inside", turn_id="ours"))
        session.merge({"b": 2})
        session.set_waiting("order_id")
        session.update(plan_execution={"step": 1})
        assert texts(session) == ["before", "inside"]
        assert texts(session, 1) == ["inside"]
        assert session.params() == {"a": 1, "b": 2}
        assert session.waiting() == "order_id"
        assert session.resume() is None
        assert session.summary()["message_count"] == 2
        assert session.stats()["total_messages"] == 2
        stored, pending = session.history()
        assert (stored.seq, pending.seq) == (1, None)
        name, version = pending.turn_id, session.state()["version"]
    assert session.history()[1].turn_id == name
    assert (version, session.state()["version"]) == (1, 2)


def test_others_see_nothing_before_the_end(memory: ConversationMemory, session: SessionHandle):
    with session.batch():
        session.append(Message("user", "hi"))
        assert texts(memory.for_session("chat-7")) == []
    assert texts(memory.for_session("chat-7")) == ["hi"]


def test_an_exception_inside_writes_nothing_and_is_raised(memory: ConversationMemory, session: SessionHandle):
    with pytest.raises(RuntimeError, match="mine"):
        fail_in_a_batch(session)
    assert list(memory.sessions()) == []
    assert session.history() == []
    session.append(Message("user", "after"))
    assert texts(session) == ["after"]


def test_a_batch_inside_a_batch_is_part_of_it(memory: ConversationMemory, session: SessionHandle):
    with session.batch():
        session.append(Message("user", "one"))
        with session.batch():
            session.append(Message("user", "two"))
        assert list(memory.sessions()) == []
        session.append(Message("user", "three"))
    assert len(events_of(memory, session)) == 1
    assert texts(session) == ["one", "two", "three"]


def test_an_inner_batch_that_fails_takes_back_its_own_and_no_more(session: SessionHandle):
    with session.batch():
        session.append(Message("user", "one"))
        with pytest.raises(RuntimeError):
            fail_in_a_batch(session)
        session.append(Message("user", "three"))
    assert texts(session) == ["one", "three"]


def test_an_empty_batch_writes_nothing(memory: ConversationMemory, session: SessionHandle):
    with session.batch():
        assert session.history() == []
    assert list(memory.sessions()) == []


def test_a_store_that_fails_at_the_end_fails_the_block():
    with ConversationMemory("http://127.0.0.1:9", environ={"RUVECTOR_DEADLINE_S": "0.2"}, intents=INTENTS) as memory:
        session = memory.for_session("s")
        with pytest.raises(StoreConnectionError), session.batch():
            session.append(Message("user", "hi"))


def test_what_a_capture_refuses_fails_the_block_and_leaves_the_handle_usable(session: SessionHandle):
    with pytest.raises(ValidationError), session.batch():
        session.extend([Message("user", "x")] * 10_001)
    session.append(Message("user", "after"))
    assert texts(session) == ["after"]


def test_a_call_and_its_result_in_one_batch_belong_together_inside_and_after(session: SessionHandle):
    with session.batch():
        session.append(Message("assistant", "", tool_calls=[ToolCall("call_7", "track")]))
        session.append(Message("tool", "done", tool_results=[ToolResult("call_7", "track")]))
        inside = session.history()
    for called, answered in (inside, session.history()):
        assert answered.tool_results[0].invocation_id == called.tool_calls[0].invocation_id


def test_clearing_and_pruning_inside_count_what_is_pending(session: SessionHandle):
    session.append(Message("user", "before"))
    with session.batch():
        session.extend(Message("user", str(number)) for number in range(4))
        assert session.prune(2) == 3
        assert texts(session) == ["2", "3"]
    assert texts(session) == ["2", "3"]
    with session.batch():
        session.clear()
        session.append(Message("user", "anew"))
        assert texts(session) == ["anew"]
    assert texts(session) == ["anew"]


def test_a_message_that_is_there_already_is_seen_once_inside(memory: ConversationMemory, session: SessionHandle):
    session.append(Message("user", "first", "2026-03-02T09:00:00Z", turn_id="m1"))
    session.append(Message("user", "second", "2026-03-02T09:00:00Z", turn_id="m2"))
    with session.batch():
        session.append(Message("user", "first, corrected", "2026-03-02T09:00:00Z", turn_id="m1"))
        session.extend(session.history())
        session.append(Message("user", "third"))
        assert texts(session) == ["first, corrected", "second", "third"]
    assert texts(session) == ["first, corrected", "second", "third"]


def test_an_erased_message_stays_erased_inside(memory: ConversationMemory, session: SessionHandle):
    session.append(Message("user", "secret", turn_id="m1"))
    memory.store.client.erasure.turn(str(session.history()[0].turn_id))
    with session.batch():
        session.append(Message("user", "secret", turn_id="m1"))
        assert texts(session) == [""]
    assert texts(session) == [""]


def test_an_inner_batch_shows_what_is_pending_around_it(session: SessionHandle):
    with session.batch():
        session.append(Message("user", "one"))
        with session.batch():
            assert texts(session) == ["one"]
            session.append(Message("user", "two"))
            assert texts(session) == ["one", "two"]
        with pytest.raises(RuntimeError):
            fail_in_a_batch(session)
        assert texts(session) == ["one", "two"]


@pytest.mark.parametrize("whole_bytes", [1, 2**20])
def test_a_revision_is_seen_inside_also_of_a_session_that_is_held_without_its_content(
    memory: ConversationMemory, session: SessionHandle, whole_bytes: int
):
    session.extend([Message("user", "tomorow", turn_id="m1"), Message("user", "at six", turn_id="m2")])
    memory.store.held = HeldSessions(memory.store.reads, whole_bytes=whole_bytes)
    with session.batch():
        session.append(Message("user", "tomorrow", turn_id="m1"))
        assert texts(session) == ["tomorrow", "at six"]
        assert [message.seq for message in session.history()] == [1, 2]
        session.append(Message("user", "sharp"))
        assert texts(session) == ["tomorrow", "at six", "sharp"]
        session.append(Message("user", "at seven", turn_id="m2"))
        assert texts(session) == ["tomorrow", "at seven", "sharp"]
    assert texts(session) == ["tomorrow", "at seven", "sharp"]


def test_what_another_writes_meanwhile_is_seen_inside_before_what_is_pending(
    memory: ConversationMemory, session: SessionHandle
):
    other = memory.for_session("chat-7")
    with session.batch():
        for number in range(3):
            session.append(Message("user", f"inside {number}"))
            assert texts(session)[number:] == [f"inside {each}" for each in range(number + 1)]
            other.append(Message("user", f"outside {number}"))
    assert texts(session) == [f"{where} {number}" for where in ("outside", "inside") for number in range(3)]


def turn(text: str) -> Turns:
    return Turns(({"turn_id": text, "role": "user", "content": text},))


def test_each_read_inside_goes_on_from_the_last():
    batch, name = Batch(object(), None), SessionName.of("s", None)
    assert batch.pending(NO_SESSION, name) is None
    for number in range(20):
        before = batch.pending(NO_SESSION, name)
        seen = None if before is None else before.state.turns
        batch.add(turn(str(number)))
        after = batch.pending(NO_SESSION, name)
        assert [each.content for each in after.state.history] == [str(each) for each in range(number + 1)]
        assert seen is None or after.state.turns.extends(seen)


def test_nothing_is_added_to_a_batch_that_is_closed():
    batch = Batch(object(), None)
    assert batch.add(turn("one"))
    assert batch.close() == turn("one")
    assert not batch.add(turn("two"))
    assert batch.close() == turn("one")


def test_a_result_finds_its_call_inside_also_where_each_was_read_before_the_next(session: SessionHandle):
    with session.batch():
        session.append(Message("assistant", "", tool_calls=[ToolCall("call_7", "track")]))
        session.append(Message("user", "well?"))
        assert len(session.history()) == 2
        session.append(Message("tool", "done", tool_results=[ToolResult("call_7", "track")]))
        called, _, inside = session.history()
    assert inside.tool_results[0].invocation_id == called.tool_calls[0].invocation_id
    assert session.history()[2].tool_results == inside.tool_results


ACTS = st.one_of(
    st.tuples(st.just("append"), st.sampled_from(["user", "assistant", "system"]), st.text(max_size=3)),
    st.tuples(st.just("merge"), st.dictionaries(st.sampled_from("abc"), st.none() | st.integers(0, 3), max_size=2)),
    st.tuples(st.just("set_waiting"), st.none() | st.sampled_from("abc")),
    st.tuples(st.just("clear"), st.booleans()),
    st.tuples(st.just("prune"), st.integers(0, 3)),
    st.tuples(st.just("plan"), st.none() | st.integers(0, 3)),
)


def act(session: SessionHandle, name: str, *given: object) -> None:
    if name == "append":
        session.append(Message(*given))
    elif name == "plan":
        session.update(plan_execution=given[0])
    else:
        getattr(session, name)(*given)


def shown(session: SessionHandle) -> object:
    state = session.state()
    del state["version"]
    return [(message.role, message.text) for message in session.history()], state


@settings(deadline=None, max_examples=40)
@given(st.lists(ACTS, max_size=4), st.lists(ACTS, max_size=6))
def test_a_batch_comes_to_what_its_parts_would_one_by_one_and_shows_it_before(before, inside):
    with in_memory() as memory:
        together, alone = memory.for_session("together"), memory.for_session("alone")
        for each in before:
            act(together, *each)
            act(alone, *each)
        with together.batch():
            for each in inside:
                act(together, *each)
                act(alone, *each)
                assert shown(together) == shown(alone)
        assert shown(together) == shown(alone)
