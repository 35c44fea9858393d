"""What is kept at hand of a conversation changes no window, and what nobody can count is counted by its characters."""

from __future__ import annotations

from agent.core.pairs import paired_calls
from agent.core.turn import SessionTurn
from agent.core.window.atoms import atoms
from agent.core.window.counting import counted
from agent.core.window.marker import is_marker
from agent.core.window.policy import Policy
from agent.core.window.prepared import Prepared, prepare
from agent.core.window.segment_calls import Task
from agent.core.window.window import build_window, cut_window
from tests.core.call_turns import invocation
from tests.core.window.turns import Failing, Quarters, assistant, numbered, said, tool, user, with_tools

COUNT = Quarters()


def by_importance(ready: Prepared, marker: str = "[{count} gone]") -> str:
    return cut_window(ready, Policy("importance", max_tokens=400, min_recent=0, marker=marker)).manifest.hash


def test_more_settings_than_are_kept_at_hand_change_no_window() -> None:
    turns = with_tools(6, 200)
    ready = prepare(turns, COUNT)
    markers = [f"[{{count}} gone, {number}]" for number in range(80)]
    found = [by_importance(ready, marker) for marker in markers]
    assert found == [by_importance(ready, marker) for marker in markers]
    assert found == [by_importance(prepare(turns, COUNT), marker) for marker in markers]


def test_what_was_found_in_a_conversation_holds_for_it_when_it_is_longer_or_shorter() -> None:
    turns = [*with_tools(6, 200), said(90, "user", "No, that is wrong. Always answer in German.")]
    before = prepare(turns[:-4], COUNT)
    by_importance(before)
    for messages in (turns, turns[:3], [said(91, "user", "Hello")]):
        after = prepare(messages, COUNT)
        after.remember(before)
        assert by_importance(after) == by_importance(prepare(messages, COUNT))
    unused, after = prepare(turns, COUNT), prepare(turns, COUNT)
    after.remember(unused)
    assert by_importance(after) == by_importance(unused)


class Textless:
    """A value of a reader's own that cannot be written."""

    def __str__(self) -> str:
        raise ZeroDivisionError


def test_of_what_the_estimator_fails_for_every_character_is_a_token() -> None:
    arguments = {"of": ["four", Textless()], "n": 12}
    turn = said(1, "assistant", "words", {"tool_name": "look", "arguments": arguments})
    written = "wordstool_namelookargumentsoffourn"
    # One each for the value, the number, and for the metadata that is not there.
    assert counted(turn, Failing(word="words")) == (len(written) + 3, True)
    manifest = build_window([turn], Policy(max_tokens=1000), Failing(word="words")).manifest
    assert (manifest.kept, manifest.estimated, manifest.is_exact) == (1, 1, False)


def test_of_two_messages_that_cost_less_than_one_and_its_marker_one_is_kept_where_one_may_be() -> None:
    history = numbered(user(1), user(200))
    both = sum(map(COUNT, history))

    def kept(most: int) -> list[SessionTurn]:
        policy = Policy(max_history_tokens=both, max_messages=most, min_recent=1)
        return [*build_window(history, policy, COUNT).messages]

    assert kept(2) == history
    marker, last = kept(1)
    assert is_marker(marker)
    assert (last.seq, len(last.content or "") < 200) == (2, True)


def test_a_result_of_a_call_that_is_not_there_is_an_atom_of_its_own() -> None:
    turns = numbered(user(), assistant(10, "x"), tool(10, "gone"), tool(10, "x"))
    assert atoms(turns[:1] + turns[2:3], paired_calls(turns[:1] + turns[2:3])).starts == [0, 1, 2]
    # Between a call and its result it stays with them.
    assert atoms(turns, paired_calls(turns)).starts == [0, 1, 4]


def test_a_task_knows_the_calls_that_are_given_what_was_in_a_list_before() -> None:
    task = Task()
    task.add(said(1, "assistant", "", invocation("1", tool_name="find_flights", arguments={"to": ["Zurich", "Bern"]})))
    assert task.knows({"tool_name": "get_weather", "arguments": {"city": "Bern"}})
    assert not task.knows({"tool_name": "get_weather", "arguments": {"city": "Oslo"}})


def test_a_call_without_a_name_is_about_anything() -> None:
    task = Task()
    task.add(said(1, "assistant", "", {"tool_name": None, "arguments": {"city": "Bern"}}))
    assert not task
    assert task.knows({"arguments": {}})
    assert task.knows({"tool_name": "get_weather", "arguments": {"city": "Bern"}})
