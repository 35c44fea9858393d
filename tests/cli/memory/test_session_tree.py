"""The tree of a session: a flat list with indented branches, safe on every terminal."""

import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.cli.memory.drawings.session_tree import Canvas, session_tree
from agent.core.history import history
from agent.core.session_graph import session_graph
from agent.core.turn import SessionTurn
from tests.cli.memory.hostile import texts
from tests.cli.streams import Screen, printed, terminal
from tests.core.call_turns import CONVERSATION, SESSION, invocation, turn
from tests.core.session_turns import sessions

OTHER = "c2c2c2c2-0000-4000-8000-000000000002"
UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def drawn(*turns: SessionTurn, width: int = 110, encoding: str = "utf-8", tty: bool = False) -> list[str]:
    """The lines of the tree with the session's own history marked."""
    current = {each.turn_id for each in history(turns)}
    page = terminal(stdout=Screen(encoding, tty=tty), environ={"COLUMNS": str(width), "TERM": "xterm"})
    page.show(session_tree(session_graph(SESSION, turns), current, Canvas(width, encoding)))
    return printed(page)[0].splitlines()


def test_a_conversation_without_branches_is_a_flat_list_with_its_calls() -> None:
    assert drawn(
        turn(1, "user", content="Trains to Lyon?"),
        turn(2, "assistant", invocation("x", arguments={"to": "Lyon"}), invocation("y"), after=1, content=""),
        turn(3, "tool", invocation("x"), after=2, content="three"),
        turn(4, "tool", invocation("x"), after=3, content=""),
        turn(5, "assistant", after=4, content="Three."),
    ) == [
        f"session {SESSION}",
        "5 turns, * is the current history",
        "* #1 user      Trains to Lyon?",
        "* #2 assistant  (answers #1)",
        '     calls look(to="Lyon")  (result in #3, #4)',
        "     calls look()  (no result)",
        "* #3 tool      three  (result for #2)",
        "* #4 tool       (result for #2)  (no text)",
        "* #5 assistant Three.  (answers #1)",
    ]


def test_branches_are_indented_and_what_leads_to_the_current_history_goes_on_in_its_column() -> None:
    assert drawn(
        turn(1, "user", content="q"),
        turn(2, "assistant", invocation("x"), after=1, content="old"),
        turn(3, "user", after=2, content="why?"),
        turn(4, "assistant", after=3, content="so"),
        turn(5, "assistant", after=3, content="thus"),
        turn(6, "user", after=5, content="hm"),
        turn(7, "assistant", after=1, content="new"),
    )[2:] == [
        "* #1 user      q",
        "  ├── #2 assistant old  (follows #1)  (answers #1)",
        "  │      calls look()  (no result)",
        "  │   #3 user      why?",
        "  │   ├── #4 assistant so  (follows #3)  (answers #3)",
        "  │   #5 assistant thus  (answers #3)",
        "  │   #6 user      hm",
        "* #7 assistant new  (answers #1)",
    ]


def test_several_conversations_are_named_where_they_begin() -> None:
    assert drawn(
        turn(1, "user", content="a"),
        turn(2, "user", content="what if", after=1, conversation=OTHER),
        turn(3, "assistant", content="b", after=1),
        turn(4, "user", content="anew", conversation=OTHER),
        turn(5, "user", content="back", after=4),
    ) == [
        f"session {SESSION}",
        "5 turns in 3 branches, * is the current history",
        f"  conversation {CONVERSATION}",
        "  #1 user      a",
        f"  ├── conversation {OTHER}",
        "  │   #2 user      what if  (follows #1)",
        "  #3 assistant b  (answers #1)",
        f"  conversation {OTHER}",
        "* #4 user      anew",
        f"  conversation {CONVERSATION}",
        "* #5 user      back",
    ]


def test_what_a_turn_is_beside_its_text_is_said_behind_it() -> None:
    assert drawn(
        turn(1, "user", after=77, content="late"),
        turn(2, "user", content=None),
        turn(3, "system", content="", after=2, metadata={"memory": {"state_only": True}}),
        turn(4, "tool", invocation("gone"), invocation("lost"), after=3),
        turn(5, "", content="", after=4),
        turn(6, "robot with a long name", invocation("z", tool_name=7), content="", after=5),
    )[2:] == [
        "  #1 user      late  (follows a turn that is not here)",
        "* #2 user       (erased)  (a new root)",
        "  #3 system     (state only)",
        "* #4 tool      words  (result of a call that is not here)",
        "* #5            (no text)",
        "* #6 robot...",
        "     calls 7()  (no result)",
    ]


def test_what_a_turn_says_of_the_history_is_said_behind_it_and_nothing_of_what_it_holds() -> None:
    def state(number: int, **memory: Any) -> SessionTurn:
        said = {"memory": {"state_only": True, **memory}}
        return turn(number, "system", content="", after=number - 1, metadata=said)

    assert drawn(
        turn(1, "user"),
        state(2, params={"card": "4111"}, reset=True),
        state(3, reset="all", keep_last=2),
        state(4, leaf="00000000-0000-4000-8000-0000000000AA"),
        turn(5, "user", after=4, metadata={"memory": {"keep_last": 0, "reset": "4111"}}),
        turn(6, "system", content=None, after=5, metadata={"memory": {"reset": True}}),
        state(7, leaf="00000000-0000-4000-8000-000000000005"),
    )[2:] == [
        "  #1 user      words",
        "  #2 system     (state only)  (reset)",
        "  #3 system     (state only)  (reset all)  (keep_last 2)",
        "  #4 system     (state only)  (leaf that is not here)",
        "* #5 user      words  (keep_last 0)",
        "  #6 system     (erased)  (reset)",
        "  #7 system     (state only)  (leaf #5)",
    ]


def test_one_turn_alone_is_one_turn() -> None:
    assert drawn(turn(1, "user"))[1:] == ["1 turn, * is the current history", "* #1 user      words"]


def test_what_a_reset_left_behind_is_not_marked_and_stays_in_its_column() -> None:
    lines = drawn(
        turn(1, "user"),
        turn(2, "assistant", after=1),
        turn(3, "user", after=2, metadata={"memory": {"reset": True}}),
        turn(4, "assistant", after=1),
    )
    assert [line[:9] for line in lines[2:]] == ["* #1 user", "  ├── #2 ", "  │   #3 ", "* #4 assi"]
    lines = drawn(turn(1, "user"), turn(2, "user", after=1, metadata={"memory": {"reset": True}}))
    assert [line[:9] for line in lines[2:]] == ["  #1 user", "* #2 user"]


def test_a_note_names_three_turns_and_counts_the_others() -> None:
    results = [turn(number, "tool", invocation("x"), after=number - 1) for number in range(2, 8)]
    lines = drawn(turn(1, "assistant", invocation("x"), content=""), *results)
    assert lines[3] == "     calls look()  (result in #2, #3, #4 and 3 more)"
    calls = [turn(number, "assistant", invocation(f"x{number}")) for number in range(1, 6)]
    lines = drawn(*calls, turn(6, "tool", *(invocation(f"x{number}") for number in range(1, 6))))
    assert lines[-1] == "* #6 tool      words  (a new root)  (result for #1, #2, #3 and 2 more)"


def test_a_stream_that_cannot_hold_lines_gets_plain_ones() -> None:
    lines = drawn(
        turn(1, "user", content="Zoë ✅"), turn(2, "user", after=1), turn(3, "user", after=1), encoding="cp1252"
    )
    assert lines[2:] == ["* #1 user      Zoë \\u2705", "  |-- #2 user      words  (follows #1)", "* #3 user      words"]


def test_ten_thousand_turns_in_a_line_are_a_flat_list() -> None:
    lines = drawn(*(turn(number, "user", after=number - 1 or None) for number in range(1, 10_001)))
    assert len(lines) == 10_002
    assert lines[2] == "* #1     user      words"
    assert lines[-1] == "* #10000 user      words"


def test_a_branch_of_a_branch_of_a_branch_is_indented_no_further_than_a_third_of_the_width() -> None:
    # From every turn of the line above a longer line goes off.
    turns, number, above = [turn(1, "user")], 1, 1
    for length in range(12):
        first = number + 1
        for place in range(length + 1):
            number += 1
            turns.append(turn(number, "user", after=above if place == 0 else number - 1))
        turns.append(turn(number := number + 1, "user", after=above, conversation=CONVERSATION))
        above = first
    lines = drawn(*turns, width=60)
    assert max(line.count("│") + line.count("├") for line in lines) <= 5
    assert len(lines) == 2 + len(turns)


@pytest.mark.parametrize("tty", [False, True])
@settings(deadline=None, max_examples=80)
@given(
    said=st.lists(st.tuples(texts, texts, st.integers(0, 6)), min_size=1, max_size=6),
    width=st.sampled_from([1, 20, 40, 110]),
    encoding=st.sampled_from(["utf-8", "cp1252", "ascii"]),
)
def test_a_turn_and_a_call_are_a_line_within_the_width_whatever_their_texts_hold(
    said: list[tuple[str, str, int]], width: int, encoding: str, tty: bool
) -> None:
    turns = [
        turn(
            number,
            role if number % 2 else "assistant",
            invocation(f"x{number}", tool_name=text, arguments={role: text}),
            after=after if 0 < after < number else None,
            content=text,
            conversation=("c1", role)[number % 2],
        )
        for number, (text, role, after) in enumerate(said, 1)
    ]
    lines = drawn(*turns, width=width, encoding=encoding, tty=tty)
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    assert len(plain) >= 2 + len(turns) + sum(each.role != "tool" for each in turns)
    assert all(cell_len(line) <= width for line in plain)
    assert not {unicodedata.category(character) for line in plain for character in line} & UNSAFE


@settings(deadline=None, max_examples=200)
@given(sessions())
def test_every_turn_of_any_session_is_drawn_once_and_the_history_is_marked(turns: list[SessionTurn]) -> None:
    lines = drawn(*turns)
    drawn_turns = [found for line in lines if (found := re.match(r"([* ]) (?:[│├─ ]*)#(\d+) ", line))]
    assert sorted(int(found[2]) for found in drawn_turns) == sorted(each.seq for each in turns)
    marked = {int(found[2]) for found in drawn_turns if found[1] == "*"}
    assert marked == {each.seq for each in history(turns)}
