"""Which turns of a history a model is shown: the newest, so many of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.core.exchanges import whole_exchanges
from agent.core.pairs import Call, Place, paired_calls
from agent.core.turn import SessionTurn
from agent.recall.hydration import at_least, before, newest


def turn(seq: int, role: str, *calls: int, erased: bool = False) -> SessionTurn:
    """A turn that makes, or on a tool turn answers, the calls of these numbers."""
    invocations = [{"invocation_id": f"00000000-0000-4000-8000-{call:012x}", "tool_name": "t"} for call in calls]
    parent = f"t{seq - 1}" if seq > 1 else None
    content = None if erased else "x"
    return SessionTurn(f"t{seq}", seq, "c", parent, role, content, erased, {"tool_invocations": invocations})


# Numbers of calls come again, so that results find theirs near and far.
spoken = st.tuples(
    st.sampled_from(["user", "assistant", "tool", "system"]), st.lists(st.integers(1, 4), max_size=2), st.booleans()
)
histories = st.lists(spoken, max_size=25).map(
    lambda said: [turn(place, role, *calls, erased=gone) for place, (role, calls, gone) in enumerate(said, 1)]
)


def exchanged(there: list[SessionTurn], pairs: Mapping[Place, Call]) -> list[tuple[SessionTurn, SessionTurn]]:
    """Each call with its result behind it, both among these and not of the system: the two turns."""
    of = {each.turn_id: each for each in there if each.role != "system"}
    places = [(call.place.turn_id, result.turn_id) for result, call in pairs.items()]
    return [(of[call], of[result]) for call, result in places if call in of and result in of]


def room(system: int, messages: int, most: int) -> int:
    """How many system turns are kept: half of the room, or what the messages leave of it."""
    return min(system, max(most // 2, most - messages))


@given(histories, st.integers(0, 12))
def test_it_is_so_many_turns_at_most_in_their_order_the_newest_of_each_kind(
    history: list[SessionTurn], most: int
) -> None:
    found = newest(history, most=most)
    there = [each for each in history if not each.erased]
    messages = [each for each in there if each.role != "system"]
    system = [each for each in there if each.role == "system"]
    of_system = room(len(system), len(messages), most)
    kept = [
        *kept_of_system(system, of_system),
        *messages[max(0, len(messages) - most + of_system) :],
    ]
    assert list(found.turns) == sorted(kept, key=lambda each: each.seq)
    assert len(found.turns) == min(most, len(there))
    assert found.erased == sum(each.erased for each in history)
    assert found.is_truncated is (len(found.turns) + found.erased < len(history))


def kept_of_system(system: list[SessionTurn], room: int) -> list[SessionTurn]:
    """The first, and the newest of the rest."""
    return [*system[: min(room, 1)], *(system[len(system) - room + 1 :] if room > 1 else [])]


@given(histories, st.integers(1, 12))
def test_a_page_that_may_grow_is_the_end_of_the_history_and_as_short_as_its_exchanges_allow(
    history: list[SessionTurn], count: int
) -> None:
    pairs = paired_calls(history)
    found = at_least(history, lambda: pairs, count=count)
    whole = whole_exchanges([each for each in history if not each.erased], pairs, open_end=True)
    there = list(whole.turns)
    messages = [each for each in there if each.role != "system"]
    system = [each for each in there if each.role == "system"]
    kept = [each for each in found.turns if each.role != "system"]
    of_system = room(len(system), len(messages), max(2, count))
    assert list(found.turns) == [each for each in there if each in found.turns]
    assert [each for each in found.turns if each.role == "system"] == kept_of_system(system, of_system)
    assert kept == messages[len(messages) - len(kept) :]
    assert bool(found.turns) is bool(there)

    def parts_none(length: int) -> bool:
        shown = messages[len(messages) - length :]
        return all(call in shown for call, result in exchanged(there, pairs) if result in shown)

    least = min(max(1, count - of_system), len(messages))
    assert len(kept) == next(length for length in range(least, len(messages) + 1) if parts_none(length))
    assert (found.total, found.results, found.calls) == (len(history), whole.results, whole.calls)
    assert found.erased == sum(each.erased for each in history)


def test_a_page_ends_in_whole_exchanges() -> None:
    history = [turn(1, "user"), turn(2, "tool", 1), turn(3, "user"), turn(4, "tool", 2)]
    assert [each.seq for each in at_least(history, lambda: paired_calls(history), count=1).turns] == [3]
    other = [
        turn(1, "assistant", 1),
        turn(2, "assistant", 2),
        turn(3, "tool", 1, 2),
        turn(4, "tool", 2),
        turn(5, "user"),
    ]
    assert [each.seq for each in at_least(other, lambda: paired_calls(other), count=2).turns] == [1, 2, 3, 4, 5]
    parallel = [turn(1, "user"), turn(2, "assistant", 1, 2), turn(3, "tool", 1), turn(4, "tool", 2)]
    for count in (1, 2, 3):
        assert [each.seq for each in at_least(parallel, lambda: paired_calls(parallel), count=count).turns] == [2, 3, 4]


def test_who_has_no_results_needs_no_pairs() -> None:
    def never() -> dict[Any, Any]:
        raise AssertionError

    history = [turn(1, "user"), turn(2, "assistant"), turn(3, "user"), turn(4, "user")]
    assert len(at_least(history, never, count=2).turns) == 2


@given(histories)
def test_a_history_that_fits_is_shown_whole_but_for_what_is_erased(history: list[SessionTurn]) -> None:
    found = newest(history, most=len(history))
    assert list(found.turns) == [each for each in history if not each.erased]


def test_many_system_turns_leave_half_of_the_room() -> None:
    history = [*(turn(place, "system") for place in range(1, 61)), turn(61, "user"), turn(62, "assistant")]
    shown = [each.seq for each in newest(history, most=50).turns]
    assert shown == [1, *range(14, 61), 61, 62]
    assert [each.seq for each in newest(history, most=3).turns] == [1, 61, 62]
    assert [each.seq for each in newest(history, most=1).turns] == [62]
    assert [each.seq for each in at_least(history, dict, count=1).turns] == [1, 62]
    assert newest(history, most=0).turns == ()


def test_what_comes_before_a_message_ends_where_it_stands() -> None:
    history = [turn(1, "user"), turn(2, "assistant"), turn(3, "user")]
    assert before(history, "t3") == history[:2]
    assert before(history, "t1") == []
    assert before(history, "t9") is None
