"""Where a conversation goes from one task to the next, and which of its tasks are done."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.turn import SessionTurn
from agent.core.window.segment_calls import Task, subjects, values
from agent.core.window.segments import Segment, error_links, segments
from agent.core.window.signals import signals_of
from tests.core.call_turns import CONVERSATION, invocation, turn
from tests.core.window.test_importance import conversations

OTHER = "c7a1e0d4-5c39-4e82-8f16-2d7c9b0a4e14"


def talk(*said: str | tuple[str, str, Any] | dict[str, Any]) -> list[SessionTurn]:
    """Turns of a user ("> ..."), of an assistant, or (role, content, invocation)."""
    turns = []
    for number, each in enumerate(said, 1):
        if isinstance(each, str):
            role, content = ("user", each[2:]) if each.startswith("> ") else ("assistant", each)
            turns.append(turn(number, role, content=content))
        elif isinstance(each, dict):
            turns.append(turn(number, **{"role": "user", **each}))
        else:
            role, content, entry = each
            turns.append(turn(number, role, entry, content=content))
    return turns


def starts(*said: Any) -> list[int]:
    return [segment.start for segment in segments(talk(*said), {})]


def calls(tool: str, result: str = "[]", **arguments: Any) -> tuple[tuple[str, str, Any], tuple[str, str, Any]]:
    entry = invocation(f"{tool} {arguments}", tool_name=tool)
    return ("assistant", "", {**entry, "arguments": arguments}), ("tool", result, entry)


def test_nothing_has_no_tasks_and_one_message_is_one() -> None:
    assert segments([], {}) == []
    assert segments(talk("> Book a table."), {}) == [Segment(0, 1, False)]


def test_what_comes_behind_a_task_that_was_said_to_be_done_is_another() -> None:
    messages = talk(
        "> Book a table for two.",
        "Done.",
        "> Thanks, that's all.",
        "Have a nice day!",
        "> Which films are on?",
        "Three.",
    )
    assert segments(messages, {}) == [Segment(0, 4, True), Segment(4, 6, False)]


def test_a_goodbye_belongs_to_the_task_that_it_ends() -> None:
    messages = talk("> Book a table.", "Done.", "> That's all I needed.", "You're welcome!", "> Bye!", "Goodbye!")
    assert segments(messages, {}) == [Segment(0, 6, True)]


def test_who_goes_on_after_all_has_not_ended_it() -> None:
    assert segments(talk("> A table.", "When?", "> At eight."), {})[-1].complete is False


def test_a_mark_ends_a_task_at_the_next_message_of_a_user() -> None:
    marked = {"role": "assistant", "content": "Here.", "metadata": {"memory": {"task": "complete"}}}
    messages = talk("> A table.", marked, "And a view.", "> And a chair?", "Yes.")
    assert segments(messages, {}) == [Segment(0, 3, True), Segment(3, 5, False)]


def test_a_long_time_without_a_word_parts_tasks_and_ends_none() -> None:
    def at(time: str) -> dict[str, Any]:
        return {"content": "x", "timestamp": time}

    messages = talk(at("2026-03-02T08:00:00Z"), at("2026-03-02T08:30:00Z"), at("2026-03-02T09:00:01Z"))
    assert segments(messages, {}) == [Segment(0, 2, False), Segment(2, 3, False)]
    assert segments(messages, {}, gap=10**9) == [Segment(place, place + 1, False) for place in range(3)]
    assert segments(talk(at("x"), at("2026-03-02T09:00:01Z")), {}) == [Segment(0, 2, False)]


def test_a_conversation_that_begins_is_a_task_of_its_own() -> None:
    messages = [turn(number, "user", conversation=CONVERSATION) for number in (1, 2)]
    merged = [*messages, turn(3, "assistant", conversation=OTHER), turn(4, "user", conversation=CONVERSATION)]
    assert segments(merged, {}) == [Segment(0, 2, False), Segment(2, 4, False)]


@pytest.mark.parametrize(
    "opening",
    [
        "> I'd also like to know the weather in Rome.",
        "> I changed my mind. I would rather hear some music.",
        "> Thanks. Can you now help me find a hotel?",
        "> Außerdem brauche ich ein Hotel. Ich möchte eines am Meer.",
        "> 另外，帮我查一下天气",  # noqa: RUF001 - as it is written
    ],
)
def test_a_turn_to_something_else_opens_a_task(opening: str) -> None:
    assert starts("> Find me a film.", "How about this one?", opening, "Sure.") == [0, 2]


def test_a_request_behind_what_was_done_opens_a_task_and_the_one_before_is_complete() -> None:
    messages = talk("> Book the flight.", "Your flight has been booked.", "> I need a hotel in Rome.", "Which?")
    assert segments(messages, {}) == [Segment(0, 2, True), Segment(2, 4, False)]


def test_a_request_behind_a_question_for_more_opens_a_task() -> None:
    assert starts("> A film.", "Is there anything else I can do?", "> Yes. Find me a pop song.", "Here.") == [0, 2]


@pytest.mark.parametrize(
    "going_on",
    [
        "> What time does it end?",
        "> Rent it with subtitles.",
        "> For two people, please.",
        "> Yes, that one is fine.",
        "> Rome",
    ],
)
def test_what_leans_on_the_task_goes_on_with_it(going_on: str) -> None:
    assert starts("> Find me a film.", "How about this one? It has been added.", going_on, "Sure.") == [0]


def test_calls_that_have_nothing_to_do_with_those_before_are_of_another_task() -> None:
    film = calls("FindMovies", '[{"movie": "Hackers"}]', genre="Drama")
    song = calls("LookupSong", artist="Kane Brown")
    said = ("> Find a drama.", *film, "Hackers?", "> Sure. I want some music by Kane Brown.", *song, "Homesick?")
    assert starts(*said) == [0, 4]


def test_a_call_that_is_about_the_same_goes_on_with_the_task_whatever_is_said() -> None:
    film = calls("FindMovies", '[{"movie": "Hackers"}]', genre="Drama")
    rent = calls("RentMovie", movie="Hackers")
    said = ("> Find a drama.", *film, "It has been found.", "> Now I also want to rent a film.", *rent, "Rented.")
    assert starts(*said) == [0]


def test_a_call_that_is_given_what_another_answered_goes_on_with_the_task() -> None:
    user = calls("get_user", '{"trip": "HXDUBJ"}', name="mia_li")
    trip = calls("show_reservation", number="HXDUBJ")
    assert starts("> I am mia_li.", *user, "Hello.", "> I need a look at some trip.", *trip, "Here.") == [0]


def test_a_task_never_begins_at_a_result() -> None:
    film, song = calls("FindMovies", genre="Drama"), calls("LookupSong", artist="Kane Brown")
    said = ("> Find a drama.", *film, "Here.", "> Play some music.", *song, "Here.", "> That's all.", "Bye.")
    messages = talk(*said)
    assert {messages[segment.start].role for segment in segments(messages, {})} == {"user"}


def test_the_words_of_a_tools_name_say_what_it_is_about() -> None:
    assert subjects("FindMovies") == subjects("rent_movie") == {"movie"}
    assert subjects("get_reservation_details") == {"reservation"}
    assert subjects("search") == {"search"}


def test_a_call_without_anything_that_tells_is_of_any_task() -> None:
    task = Task()
    task.add(turn(1, "assistant", invocation("a", tool_name="FindMovies")))
    assert task.knows({"tool_name": "calculate", "arguments": {"n": 17}}) is None
    assert task.knows({"tool_name": "LookupSong", "arguments": {"artist": "Kane"}}) is False
    assert task.knows({"tool_name": "rent_movie"}) is True


def test_an_error_and_the_same_tools_next_result_belong_together() -> None:
    first, second = calls("book", "Error: not paid", n="a"), calls("book", "booked", n="b")
    messages = talk("> Book it.", *first, "Again.", *second, "Your trip has been booked.")
    assert error_links(messages, {}) == [(2, 5)]


def test_an_error_that_somebody_reports_belongs_to_what_mends_it() -> None:
    messages = talk("> but I get the following error:", "Let me look.", "The file has been fixed.", "> Good.")
    assert error_links(messages, {}) == [(0, 2)]


def test_an_error_that_nothing_mends_stands_alone() -> None:
    assert error_links(talk("> Go.", *calls("book", "Error: no"), "Sorry."), {}) == []
    far = talk("> Go.", *calls("book", "Error: no"), *["Looking."] * 9, *calls("book", "booked", n="b"))
    assert error_links(far, {}) == []


@given(conversations())
def test_tasks_hold_every_message_once_and_in_order(messages: list[SessionTurn]) -> None:
    found = segments(messages, {})
    assert [place for each in found for place in range(each.start, each.end)] == list(range(len(messages)))
    assert all(each.start < each.end for each in found)


@given(conversations())
def test_a_correction_is_behind_its_error(messages: list[SessionTurn]) -> None:
    assert all(0 <= error < correction < len(messages) for error, correction in error_links(messages, {}))


def test_each_of_twenty_thousand_conversations_is_a_task() -> None:
    messages = [turn(number, "user", conversation=f"c{number}", content="x") for number in range(1, 20_001)]
    assert [each.start for each in segments(messages, {}, signals=cache(signals_of))] == list(range(20_000))


def test_of_twenty_thousand_requests_that_turn_away_each_is_a_task() -> None:
    messages = [turn(number, "user", content="Also, find me a song.") for number in range(1, 20_001)]
    assert len(segments(messages, {}, signals=cache(signals_of))) == 20_000


NAMES = st.lists(st.sampled_from(["ab", "abc", "kane", "x", " ", "-", "\n", ".", "é", "_", "7"]), max_size=7).map(
    "".join
)


@given(st.lists(NAMES, max_size=4), NAMES)
def test_a_task_knows_a_name_that_stands_in_what_was_said_and_is_no_part_of_a_word(said: list[str], name: str) -> None:
    task = Task()
    for number, text in enumerate(said, 1):
        task.add(turn(number, "user", content=text))
    given_to = next(values({"n": name}), None)
    found = given_to and any(re.search(rf"(?<!\w){re.escape(given_to)}(?!\w)", text.lower()) for text in said)
    assert task.knows({"tool_name": "look", "arguments": {"n": name}}) is (None if given_to is None else bool(found))


def test_any_of_many_calls_tells_that_a_task_goes_on() -> None:
    task = Task()
    task.add(turn(1, "user", content="a song by Kane Brown"))
    unknown: list[dict[str, Any]] = [
        {"tool_name": f"t{number}", "arguments": {"n": "Brown Kane"}} for number in range(1000)
    ]
    assert task.knows_any(unknown) is False
    assert task.knows_any([*unknown, {"tool_name": "t", "arguments": {"n": "kane brown"}}]) is True
    assert task.knows_any([{"tool_name": "t", "arguments": {"n": 7}}] * 2) is None


def test_calls_beyond_what_is_compared_are_told_by_their_words_and_their_order() -> None:
    task = Task()
    task.add(turn(1, "user", content="Rome or Oslo"))
    near = {"tool_name": "t", "arguments": {"n": "Rome  or  Oslo"}}
    assert task.knows_any([near] * 1000) is False
    assert task.knows_any([near] * 5000) is True
    task.add(turn(2, "user", content="x"))
    assert task.knows(near) is False
