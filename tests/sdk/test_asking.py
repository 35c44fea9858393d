"""An agent asks for what it misses, and reads the answer: one event for each thing that is said."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from agent.core.waiting import Hint, Hints
from agent.errors import ValidationError
from agent.intents import Intents
from agent.recall.held import HeldSessions
from agent.sdk import ConversationMemory, Message, SessionHandle
from tests.sdk.memories import events_of, in_memory, inputs_of, texts, ticking


def test_a_question_is_one_event_that_says_it_and_waits(memory: ConversationMemory, session: SessionHandle):
    session.ask("order_id", "Which order is it?")
    (message,) = session.history()
    assert (message.role, message.text) == ("assistant", "Which order is it?")
    assert session.waiting() == "order_id"
    assert len(events_of(memory, session)) == 1


def test_an_answer_is_one_event_that_says_it_merges_it_and_waits_no_longer(
    memory: ConversationMemory, session: SessionHandle
):
    session.ask("order_id", "Which order is it?")
    found = session.answer("It's O-12345, thanks")
    assert (found.params, found.cleared, found.reask, found.attempts) == ({"order_id": "O-12345"}, True, None, 1)
    assert session.params() == {"order_id": "O-12345"}
    assert session.waiting() is None
    (_, inputs) = inputs_of(memory, session)
    (turn,) = inputs["turns"]
    assert (turn["role"], turn["content"]) == ("user", "It's O-12345, thanks")
    assert turn["metadata"]["memory"] == {"params": {"order_id": "O-12345"}}


def test_what_another_asks_for_while_an_answer_is_read_stays_asked_for():
    asks: list[SessionHandle] = []
    tick = ticking()

    def clock() -> datetime:
        # The answer was read by then, and is not written yet.
        if asks:
            asks.pop().ask("city", "Where to?")
        return tick()

    with in_memory(clock=clock) as memory:
        session = memory.for_session("s")
        session.ask("order_id", "Which order is it?")
        asks.append(memory.for_session("s"))
        assert session.answer("It's O-12345").cleared
        assert session.params() == {"order_id": "O-12345"}
        assert session.waiting() == "city"


@pytest.mark.parametrize("wrote_before", [False, True])
@pytest.mark.parametrize("spoke_since", [False, True])
def test_an_answer_without_a_name_goes_to_the_conversation_that_asked(
    memory: ConversationMemory, wrote_before: bool, spoke_since: bool
):
    session, sales, support = (memory.for_session("s", name) for name in (None, "sales", "support"))
    support.append(Message("user", "it broke"))
    if wrote_before:
        session.append(Message("assistant", "what?"))
    sales.ask("order_id", "Which order is it?")
    if spoke_since:
        support.append(Message("user", "all of it"))
    assert session.answer("the blue one").attempts == 1 + spoke_since
    assert sales.waiting() == "order_id"
    assert session.answer("It's O-12345").cleared
    assert texts(sales) == ["Which order is it?", "the blue one", "It's O-12345"]
    assert (sales.waiting(), sales.params()) == (None, {"order_id": "O-12345"})
    assert session.waiting() is None
    session.append(Message("assistant", "thanks"))
    assert texts(support if wrote_before else sales)[-1] == "thanks"


def test_an_answer_in_a_batch_goes_where_the_batch_goes(memory: ConversationMemory):
    session, sales = memory.for_session("s"), memory.for_session("s", "sales")
    session.append(Message("user", "hi"))
    sales.ask("order_id", "Which order is it?")
    with session.batch():
        assert session.answer("It's O-12345").cleared
    assert session.params() == {"order_id": "O-12345"}
    assert texts(sales) == ["Which order is it?"]


def test_what_is_no_answer_is_kept_and_asked_again_with_examples_in_the_end(session: SessionHandle):
    session.ask("order_id", "Which order is it?")
    found = [session.answer(text) for text in ("why?", "I forgot", "the blue one")]
    assert [each.attempts for each in found] == [1, 2, 3]
    assert [each.cleared for each in found] == [False] * 3
    assert all(each.reask for each in found)
    assert "O-12345" in str(found[2].reask)
    assert session.params() == {}
    assert session.waiting() == "order_id"
    assert texts(session)[1:] == ["why?", "I forgot", "the blue one"]
    assert session.answer("O-54321").attempts == 4


def test_what_is_said_while_nothing_is_waited_for_is_a_message_and_no_more(session: SessionHandle):
    found = session.answer("O-12345")
    assert (found.params, found.cleared, found.reask) == ({}, False, None)
    assert texts(session) == ["O-12345"]
    assert session.history()[0].metadata == {}


def test_whoever_says_that_the_intent_changed_is_waited_for_no_longer(session: SessionHandle):
    session.update(last_intent_id="order_status", plan_execution={"step": 1})
    session.ask("order_id", "Which order is it?")
    session.set_waiting(None)
    assert session.answer("O-12345").params == {}
    session.ask("order_id", "Which order is it?")
    session.clear()
    assert session.waiting() is None
    assert session.answer("O-12345").params == {}


@pytest.mark.parametrize(("name", "rule"), [("", "minLength"), (None, "type"), (5, "type")])
def test_a_question_names_what_it_asks_for(session: SessionHandle, name: object, rule: str):
    for prompt in ("Which?", None):
        with pytest.raises(ValidationError) as caught:
            session.ask(name, prompt)
        assert [(each.path, each.rule) for each in caught.value.problems] == [("$.param", rule)]
    assert session.history() == []


def test_a_question_without_words_is_asked_in_those_of_its_hint_or_else_in_plain_ones(session: SessionHandle):
    session.ask("order_id")
    session.ask("deliveryCity")
    assert texts(session) == ["Which order is it?", "What is the delivery city?"]
    assert session.waiting() == "deliveryCity"
    with pytest.raises(ValidationError):
        session.ask("order_id", 5)


def hinted(**given: Any) -> Intents:
    return Intents(Hints({"order_id": Hint("order_id", pattern=r"O-\d{5}", **given)}), frozenset())


def test_where_the_hint_has_a_prompt_it_is_asked_again_in_those_words(session: SessionHandle):
    session.ask("order_id", "Tell me the number of your order, please.")
    assert session.answer("why?").reask == "Which order is it?"


@pytest.mark.parametrize("intents", [hinted(), Intents(Hints(), frozenset())])
def test_where_the_hint_has_none_the_question_is_repeated_as_the_agent_asked_it(intents: Intents):
    with in_memory(intents=intents) as memory:
        session = memory.for_session("s")
        session.append(Message("user", "I want to check my order"))
        session.ask("order_id", "Tell me the number of your order, please.")
        for attempt in (1, 2, 3, 4):
            found = session.answer("why?")
            assert (found.reask, found.attempts) == ("Tell me the number of your order, please.", attempt)
            session.append(Message("assistant", found.reask))


def test_an_agent_that_asks_again_in_other_words_is_repeated_in_those(session: SessionHandle):
    session.ask("city", "Where to?")
    session.answer("hm")
    session.ask("city", "Which city, I mean?")
    assert session.answer("hm").reask == "Which city, I mean?"


def test_examples_are_shown_once_however_often_it_is_asked_again():
    with in_memory(intents=hinted(examples=("O-12345",))) as memory:
        session = memory.for_session("s")
        session.ask("order_id", "Your order?")
        asked = [session.answer("why?").reask for _ in range(3)]
        assert asked == ["Your order?", "Your order?", "Your order? (e.g. O-12345)"]
        session.ask("order_id", asked[-1])
        found = session.answer("why?")
        assert (found.reask, found.attempts) == ("Your order? (e.g. O-12345)", 4)


def test_what_is_waited_for_without_a_question_is_asked_for_in_plain_words(session: SessionHandle):
    session.ask("city", "Where to?")
    session.set_waiting(None)
    session.append(Message("user", "never mind"))
    session.append(Message("assistant", "All right."))
    session.set_waiting("city")
    assert session.answer("hm").reask == "What is the city?"
    session.clear()
    session.set_waiting("city")
    assert session.answer("hm").reask == "What is the city?"


def test_a_question_is_found_in_a_session_that_is_held_without_its_content(memory: ConversationMemory):
    session = memory.for_session("large")
    session.extend(Message("user", f"word {number}") for number in range(30))
    session.ask("city", "Where to?")
    memory.store.held = HeldSessions(memory.store.reads, whole_bytes=1)
    assert session.answer("hm").reask == "Where to?"
    assert session.answer("hm").reask == "Where to?"


def test_a_question_that_one_event_says_and_another_waits_for_is_asked_again_in_plain_words(session: SessionHandle):
    session.append(Message("assistant", "Where to?"))
    session.set_waiting("city")
    assert session.answer("hm").reask == "What is the city?"


def test_a_whole_loop_in_one_process(session: SessionHandle):
    session.append(Message("user", "I want to check my order"))
    session.update(last_intent_id="order_status", plan_execution={"steps": ["track"], "next": 0})
    session.ask("order_id", "Which order is it?")
    assert session.resume() is None
    assert session.answer("It's O-12345").cleared
    assert session.resume() == {"steps": ["track"], "next": 0}
    session.record_tool("track", "it is on its way", result={"status": "shipped"})
    session.update(plan_execution=None)
    assert session.resume() is None
    said = ["I want to check my order", "Which order is it?", "It's O-12345", "", "it is on its way"]
    assert texts(session) == said
