"""``POST .../hydrate``, what the message answers: read with what was known before it, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agent.core.ids import turn_uuid
from agent.core.waiting import Hint, Hints
from tests.recall.http.site import SESSION, Site, payload, said, site, turn_id

PATH = f"/api/conversation/{SESSION}/hydrate"
ORDER = Hint("order_id", pattern=r"O-\d{5}", examples=("O-12345",), prompt="Which order is it?")
CITY = Hint("city", values=("Lyon", "Brest"))
HINTS = Hints({"order_id": ORDER, "city": CITY})


@pytest.fixture
def made() -> Iterator[Site]:
    with site(hints=HINTS) as made:
        yield made


def memory(**members: Any) -> dict[str, Any]:
    return {"memory": members}


def asks(number: int, words: str, name: str, role: str = "assistant") -> dict[str, Any]:
    """A turn that asks for a parameter."""
    return said(number, words, role, metadata=memory(waiting_for_param=name))


def resolution(made: Site, message: str, path: str = PATH, **more: Any) -> Any:
    response = made.post(path, {"user_message": message, **more})
    assert response.status_code == 200, response.get_data(as_text=True)
    return response.get_json()["resolution"]


def found(**params: Any) -> dict[str, Any]:
    return {"params": params, "cleared": True, "reask": None, "attempts": 1}


def missed(reask: str | None, attempts: int = 1) -> dict[str, Any]:
    return {"params": {}, "cleared": False, "reask": reask, "attempts": attempts}


def test_the_answer_to_a_question_is_read_and_nothing_is_written(made: Site) -> None:
    made.capture(payload(said(1, "I want to check my order"), asks(2, "Which one?", "order_id")))
    assert resolution(made, "It's o-12345") == found(order_id="O-12345")
    state = made.get(f"/api/conversation/{SESSION}/state")
    assert (state["waiting_for_param"], state["params"], made.get("/api/stats")["events"]) == ("order_id", {}, 1)


def test_where_nothing_is_waited_for_there_is_nothing_to_read(made: Site) -> None:
    assert resolution(made, "O-12345") is None
    made.capture(payload(said(1, "a"), asks(2, "Which one?", "order_id")))
    made.capture(payload(said(3, "O-1", metadata=memory(params={"order_id": "O-1"}))))
    assert resolution(made, "O-12345") is None


def test_what_is_no_answer_is_asked_for_again_with_examples_in_the_end(made: Site) -> None:
    made.capture(payload(said(1, "a"), asks(2, "Which one?", "order_id")))
    for number, words in (
        (1, "Which order is it?"),
        (2, "Which order is it?"),
        (3, "Which order is it? (e.g. O-12345)"),
    ):
        assert resolution(made, "I do not know") == missed(words, number)
        made.capture(payload(said(10 + number, "I do not know")))


def test_the_turn_that_is_captured_with_the_parameter_ends_the_waiting(made: Site) -> None:
    made.capture(payload(said(1, "a"), asks(2, "Which one?", "order_id")))
    read = resolution(made, "O-12345", turn_id=turn_id(3))
    made.capture(payload(said(3, "O-12345", metadata=memory(params=read["params"]))))
    state = made.get(f"/api/conversation/{SESSION}/state")
    assert (state["waiting_for_param"], state["params"]) == (None, {"order_id": "O-12345"})


# A message that is there already.


@pytest.mark.parametrize("answered_since", [False, True])
def test_a_message_that_is_captured_already_is_read_to_the_same_end(made: Site, answered_since: bool) -> None:
    made.capture(payload(said(1, "a"), asks(2, "Which one?", "order_id")))
    first = resolution(made, "O-12345", turn_id=turn_id(3))
    made.capture(payload(said(3, "O-12345", metadata=memory(params={"order_id": "O-12345"}))))
    if answered_since:
        made.capture(payload(asks(4, "And in which city?", "city")))
    assert resolution(made, "O-12345", turn_id=turn_id(3)) == first == found(order_id="O-12345")
    # Another message is read for what is waited for now.
    other = resolution(made, "Lyon", turn_id=turn_id(5))
    assert other == (found(city="Lyon") if answered_since else None)


def test_a_message_that_is_captured_without_its_parameter_counts_once(made: Site) -> None:
    made.capture(payload(said(1, "a"), asks(2, "Which one?", "order_id"), said(3, "hm")))
    assert resolution(made, "hm", turn_id=turn_id(3)) == missed("Which order is it?", 1)
    assert resolution(made, "hm") == missed("Which order is it?", 2)


def test_a_message_on_another_branch_is_read_with_what_its_own_path_knew(made: Site) -> None:
    made.capture(payload(said(1, "q"), asks(2, "Which city?", "city"), said(3, "Lyon")))
    made.capture(payload({**asks(4, "Which one?", "order_id"), "parent_turn_id": turn_id(1)}))
    assert resolution(made, "Lyon", turn_id=turn_id(3)) == found(city="Lyon")
    assert resolution(made, "O-12345") == found(order_id="O-12345")


def test_of_several_conversations_the_one_that_is_asked_for_is_read(made: Site) -> None:
    derived = {"capture_options": {"derive_ids": True}}
    made.capture(payload(said(1, "q"), asks(2, "Which city?", "city"), conversation="travel", **derived))
    made.capture(payload(said(3, "q"), asks(4, "Which one?", "order_id"), conversation="shop", **derived))
    assert resolution(made, "Lyon", f"{PATH}?conversation_id=travel") == found(city="Lyon")
    assert resolution(made, "Lyon", f"{PATH}?conversation_id=shop") == missed("Which order is it?")
    answer = said(5, "Lyon", metadata=memory(params={"city": "Lyon"}))
    made.capture(payload({**answer, "turn_id": "t-5"}, conversation="travel", **derived))
    known = turn_uuid(SESSION, "t-5")
    assert resolution(made, "Lyon", f"{PATH}?conversation_id=travel", turn_id=known) == found(city="Lyon")


# In which words.


def test_without_a_prompt_the_question_of_the_turn_that_asked_is_repeated(made: Site) -> None:
    made.capture(payload(said(1, "a"), asks(2, "Lyon or Brest?", "city"), said(3, "hm")))
    made.capture(payload(asks(4, "Once more: Lyon or Brest? (Lyon, Brest)", "city"), said(5, "hm")))
    # The first words: those that came again may have the values behind them already.
    assert resolution(made, "hm") == missed("Lyon or Brest? (Lyon, Brest)", 3)


def test_a_question_that_was_answered_in_between_is_not_the_one(made: Site) -> None:
    made.capture(payload(said(1, "a"), asks(2, "Where from?", "city")))
    made.capture(payload(said(3, "Lyon", metadata=memory(params={"city": "Lyon"})), asks(4, "And where to?", "city")))
    assert resolution(made, "hm") == missed("And where to?")


@pytest.mark.parametrize("whole_bytes", [0, 1 << 20])
def test_the_question_of_a_session_that_is_held_without_content_is_read(whole_bytes: int) -> None:
    with site(hints=HINTS, whole_bytes=whole_bytes) as made:
        made.capture(payload(said(1, "a"), asks(2, "Lyon or Brest?", "city"), said(3, "hm")))
        assert resolution(made, "hm", turn_id=turn_id(3)) == missed("Lyon or Brest?")


def test_where_no_assistant_asked_in_words_the_parameter_is_named(made: Site) -> None:
    plain = missed("What is the city?")
    made.capture(payload(said(1, "a"), asks(2, "", "city", "system"), session=turn_id(901)))
    made.capture(payload(asks(1, "I shall tell you my city.", "city", "user"), session=turn_id(902)))
    made.capture(payload(said(1, "a"), asks(2, "", "city"), session=turn_id(903)))
    for number in (901, 902, 903):
        assert resolution(made, "hm", f"/api/conversation/{turn_id(number)}/hydrate") == plain


def test_a_question_that_was_erased_since_is_not_waited_for(made: Site) -> None:
    made.capture(payload(said(1, "a"), asks(2, "Lyon or Brest?", "city")))
    made.client.erasure.turn(turn_id(2))
    assert resolution(made, "Lyon") is None


# Without hints.


def test_a_parameter_that_the_file_does_not_have_is_left_to_the_caller(made: Site) -> None:
    made.capture(payload(said(1, "a"), asks(2, "How old are you?", "age"), said(3, "hm")))
    assert resolution(made, "42") == missed(None, 2)


def test_without_intents_every_parameter_is_left_to_the_caller() -> None:
    with site() as made:
        made.capture(payload(said(1, "a"), asks(2, "Which one?", "order_id")))
        assert resolution(made, "O-12345") == missed(None)
