"""Which call a result answers, across the captures and branches of a session."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent.core.native import derive_ids
from agent.core.pairs import Place, named_invocations, paired_calls
from agent.core.turn import SessionTurn
from tests.core.call_turns import SESSION, call_id, captured_at_once, invocation, turn, turn_id
from tests.strategies import payloads


def pairs(*turns: SessionTurn) -> dict[tuple[int, int], tuple[int, int]]:
    """Result to call, each as the number of its turn and its place there."""
    numbers = {each.turn_id: each.seq for each in turns}
    return {
        (numbers[result.turn_id], result.number): (numbers[call.place.turn_id], call.place.number)
        for result, call in paired_calls(turns).items()
    }


def test_a_result_that_names_a_call_by_id_answers_it_in_any_case_wherever_the_call_is() -> None:
    call, other = invocation("AA"), invocation("bb")
    assert pairs(
        turn(1, "assistant", other, call),
        turn(2, "tool", invocation("aa"), after=1),
        turn(3, "tool", invocation("Aa")),
    ) == {(2, 0): (1, 1), (3, 0): (1, 1)}


def test_a_result_without_a_call_has_no_pair() -> None:
    assert pairs(turn(1, "assistant", invocation("x", "c")), turn(2, "tool", invocation("y", "d"), after=1)) == {}
    assert pairs(turn(1, "tool", invocation("y"))) == {}


def test_a_result_of_an_earlier_capture_s_call_is_paired_by_its_native_string() -> None:
    assert pairs(turn(1, "assistant", invocation("x", "c")), turn(2, "tool", invocation("s", "c"), after=1)) == {
        (2, 0): (1, 0)
    }


def test_the_nearest_turn_comes_first_and_within_a_turn_the_first_open_call() -> None:
    assert pairs(
        turn(1, "assistant", invocation("x1", "c")),
        turn(2, "assistant", invocation("x2", "c"), invocation("x3", "c"), after=1),
        turn(3, "tool", invocation("s", "c"), invocation("s", "c"), after=2),
        turn(4, "tool", invocation("s", "c"), after=3),
    ) == {(3, 0): (2, 0), (3, 1): (2, 1), (4, 0): (1, 0)}


def test_where_every_call_is_answered_it_is_the_nearest_as_within_one_payload() -> None:
    assert pairs(
        turn(1, "assistant", invocation("x1", "c"), invocation("x2", "c")),
        turn(2, "tool", invocation("s", "c"), invocation("s", "c"), invocation("s", "c"), after=1),
    ) == {(2, 0): (1, 0), (2, 1): (1, 1), (2, 2): (1, 1)}


def test_a_call_that_was_answered_by_its_id_is_open_no_longer() -> None:
    calls = [invocation(f"x{number}", "c") for number in range(4)]
    assert pairs(
        turn(1, "assistant", *calls),
        turn(2, "tool", invocation("x1"), invocation("x3"), invocation("x1"), after=1),
        turn(3, "tool", invocation("s", "c"), invocation("s", "c"), after=2),
    ) == {(2, 0): (1, 1), (2, 1): (1, 3), (2, 2): (1, 1), (3, 0): (1, 0), (3, 1): (1, 2)}


def test_what_one_branch_answers_is_open_on_the_others() -> None:
    assert pairs(
        turn(1, "assistant", invocation("x1", "c")),
        turn(2, "assistant", invocation("x2", "c"), after=1),
        turn(3, "tool", invocation("s", "c"), after=2),
        turn(4, "tool", invocation("s", "c"), after=2),
        turn(5, "tool", invocation("s", "c"), after=4),
        turn(6, "tool", invocation("s", "c"), after=1),
        turn(7, "tool", invocation("x2"), after=2),
        turn(8, "tool", invocation("s", "c"), after=7),
    ) == {(3, 0): (2, 0), (4, 0): (2, 0), (5, 0): (1, 0), (6, 0): (1, 0), (7, 0): (2, 0), (8, 0): (1, 0)}


def test_a_call_on_another_branch_or_after_the_result_is_no_pair_by_its_native_string() -> None:
    assert (
        pairs(
            turn(1, "tool", invocation("s", "c")),
            turn(2, "assistant", invocation("x", "c"), after=1),
            turn(3, "tool", invocation("s", "c"), after=1),
        )
        == {}
    )


def test_a_call_that_came_later_than_its_result_is_found_above_it() -> None:
    assert pairs(turn(1, "tool", invocation("s", "c"), after=2), turn(2, "assistant", invocation("x", "c"))) == {
        (1, 0): (2, 0)
    }


def test_of_several_calls_with_one_id_the_nearest_on_the_path_is_answered_else_the_first() -> None:
    assert pairs(
        turn(1, "assistant", invocation("x"), invocation("x")),
        turn(2, "assistant", invocation("x"), after=1),
        turn(3, "tool", invocation("x"), after=2),
        turn(4, "tool", invocation("x"), after=1),
        turn(5, "tool", invocation("x")),
    ) == {(3, 0): (2, 0), (4, 0): (1, 0), (5, 0): (1, 0)}


def test_an_erased_call_is_not_found_and_a_ring_of_parents_ends() -> None:
    erased = turn(1, "assistant", content=None)
    assert pairs(erased, turn(2, "tool", invocation("s", "c"), after=1)) == {}
    assert pairs(
        turn(1, "tool", invocation("s", "c"), after=2), turn(2, "assistant", invocation("x", "c"), after=1)
    ) == {(1, 0): (2, 0)}


@pytest.mark.parametrize(
    "odd",
    [
        "text",
        7,
        {},
        {"invocation_id": 7},
        {"invocation_id": None, "native_id": "c"},
        ["c"],
        {"invocation_id": "", "native_id": "c"},
        {"invocation_id": "call_1"},
        {"invocation_id": f"{{{call_id('c')}}}"},
        {"invocation_id": call_id("c").replace("-", "")},
    ],
)
def test_what_another_writer_names_an_invocation_is_passed_over_and_stays_in_the_record(odd: Any) -> None:
    assert pairs(turn(1, "assistant", odd), turn(2, "tool", odd, after=1)) == {}
    assert pairs(turn(1, "assistant", odd, invocation("x", 7)), turn(2, "tool", invocation("s", 7), odd, after=1)) == {}
    assert pairs(turn(1, "assistant", tool_invocations=odd), turn(2, "tool", tool_invocations=odd)) == {}
    both = turn(1, "assistant", odd, invocation("x", 7))
    assert [invocation_id for _, invocation_id, _ in named_invocations(both)] == [call_id("x")]
    assert both.fields["tool_invocations"] == [odd, invocation("x", 7)]


def test_ten_thousand_open_calls_with_one_string_are_answered_from_the_nearest_on() -> None:
    calls = [turn(n, "assistant", invocation(f"x{n}", "c"), after=n - 1 or None) for n in range(1, 10_001)]
    results = [turn(n, "tool", invocation("s", "c"), after=n - 1) for n in range(10_001, 20_001)]
    found = pairs(*calls, *results)
    assert found == {(n, 0): (20_001 - n, 0) for n in range(10_001, 20_001)}


@st.composite
def sessions(draw: st.DrawFn) -> list[SessionTurn]:
    """Turns in any tree, whose few ids and native strings come again and again."""
    count = draw(st.integers(1, 12))
    entries = st.builds(invocation, st.sampled_from(["x", "y", "z", "X", "s"]), st.sampled_from([None, "c", "c", "d"]))
    return [
        turn(
            number,
            draw(st.sampled_from(["assistant", "tool", "tool", "user"])),
            *draw(st.lists(entries, max_size=4)),
            after=draw(st.none() | st.integers(1, number - 1)) if number > 1 else None,
        )
        for number in range(1, count + 1)
    ]


def naive(turns: Sequence[SessionTurn]) -> dict[Place, Place]:
    """The pairs by the rule's own words: each path is walked again for each tool turn."""
    by_id = {each.turn_id: each for each in turns}
    found: dict[Place, Place] = {}
    for last in turns:
        path: list[SessionTurn] = []
        above: str | None = last.turn_id
        while above is not None:
            path.insert(0, by_id[above])
            above = by_id[above].parent_turn_id
        found |= _on_path(path, turns)
    return found


def _on_path(path: Sequence[SessionTurn], turns: Sequence[SessionTurn]) -> dict[Place, Place]:
    found: dict[Place, Place] = {}
    calls: list[tuple[Place, str, Any]] = []
    for each in path:
        for number, entry in enumerate(each.invocations):
            place, name = Place(each.turn_id, number), entry["invocation_id"].lower()
            if each.role != "tool":
                if not any(call[0].turn_id == each.turn_id and call[1] == name for call in calls):
                    calls.append((place, name, entry.get("native_id")))
                continue
            nearest_first = sorted(calls, key=lambda call: (-int(call[0].turn_id[-12:], 16), call[0].number))
            elsewhere = [
                Place(other.turn_id, at)
                for other in turns
                for at, its in enumerate(other.invocations)
                if other.role != "tool" and its["invocation_id"].lower() == name
            ]
            same = [call for call in nearest_first if call[2] is not None and call[2] == entry.get("native_id")]
            is_open = [call for call in same if call[0] not in found.values()]
            nearest = [call for call in same if call[0].turn_id == same[0][0].turn_id]
            by_id = [call[0] for call in nearest_first if call[1] == name] + elsewhere
            answered = [*by_id, *(call[0] for call in is_open), *(call[0] for call in nearest[-1:])]
            if answered:
                found[place] = answered[0]
    return found


@settings(deadline=None, max_examples=400)
@given(sessions(), st.randoms(use_true_random=False))
def test_the_pairs_are_those_of_the_rule_walked_path_by_path_in_any_order(
    turns: list[SessionTurn], order: random.Random
) -> None:
    shuffled = order.sample(turns, len(turns))
    assert {result: call.place for result, call in paired_calls(shuffled).items()} == naive(turns)


natives = st.sampled_from(["c", "c", "d", "e"])


@st.composite
def conversations(draw: st.DrawFn) -> list[dict[str, Any]]:
    """One line of turns with native ids, which calls and answers as it likes."""
    return [
        {
            "turn_id": f"t{number}",
            "role": draw(st.sampled_from(["assistant", "tool"])),
            "content": "",
            "timestamp": "2026-03-02T08:15:00Z",
            "tool_invocations": [
                {"tool_name": "look", "invocation_id": native} for native in draw(st.lists(natives, max_size=3))
            ],
        }
        for number in range(draw(st.integers(1, 10)))
    ]


@settings(deadline=None, max_examples=300)
@given(conversations(), st.data())
def test_where_no_call_is_answered_twice_it_makes_no_difference_how_a_conversation_was_cut_into_captures(
    sent: list[dict[str, Any]], data: st.DataObject
) -> None:
    cuts = sorted({0, len(sent), *data.draw(st.sets(st.integers(0, len(sent))))})
    parts = [sent[start:end] for start, end in pairwise(cuts)]
    derived = [each for part in parts for each in derive_ids(_payload(part))["turns"]]
    in_parts = paired_calls(captured_at_once({**_payload(derived), "capture_options": {}}))
    # A second result in one payload names the call that its payload has, though one before it is open.
    assume(len(set(in_parts.values())) == len(in_parts))
    assert in_parts == paired_calls(captured_at_once(_payload(sent)))


def _payload(turns: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "session_id": SESSION,
        "conversation_id": turn_id(0),
        "turns": turns,
        "capture_options": {"derive_ids": True},
    }


@settings(deadline=None)
@given(payloads())
def test_within_one_payload_a_result_answers_the_call_that_has_its_id(payload: dict[str, Any]) -> None:
    turns = captured_at_once(payload)
    made = {entry["invocation_id"].lower() for each in turns if each.role != "tool" for entry in each.invocations}
    by_place = {
        Place(each.turn_id, number): entry["invocation_id"].lower()
        for each in turns
        if each.role == "tool"
        for number, entry in enumerate(each.invocations)
    }
    found = {result: call.invocation_id for result, call in paired_calls(turns).items()}
    assert found == {place: name for place, name in by_place.items() if name in made}


@st.composite
def lines(draw: st.DrawFn) -> list[SessionTurn]:
    """Turns of which each continues the one before it."""
    return [replace(each, parent_turn_id=before) for each, before in _behind_one_another(draw(sessions()))]


def _behind_one_another(turns: Sequence[SessionTurn]) -> list[tuple[SessionTurn, str | None]]:
    return list(zip(turns, [None, *(each.turn_id for each in turns)], strict=False))


@settings(deadline=None)
@given(lines())
def test_the_pairs_of_a_line_are_those_of_its_turns_in_any_order(turns: list[SessionTurn]) -> None:
    assert list(paired_calls(turns).items()) == list(paired_calls(turns[::-1]).items())


@settings(deadline=None)
@given(lines(), st.data())
def test_what_is_nearly_a_line_is_paired_as_in_any_order(turns: list[SessionTurn], data: st.DataObject) -> None:
    last = replace(turns[-1], turn_id=data.draw(st.sampled_from(turns)).turn_id)
    closed = replace(turns[0], parent_turn_id=turns[-1].turn_id)
    for odd in ([*turns[:-1], last], [closed, *turns[1:]], [*turns, turns[0]]):
        assert paired_calls(odd) == paired_calls([*odd[1:], odd[0]])
