"""``prune`` in this process, on an embedded store of its own."""

import json
import uuid
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.cli.exit_codes import ExitCode
from agent.cli.output_format import Format
from agent.errors import StoreConnectionError
from tests.cli.memory.taking_away import (
    FIRST,
    GOLDEN,
    ROLES,
    SECOND,
    SESSION,
    at_keyboard,
    capture,
    clear,
    failing,
    normalised,
    prune,
    results,
    run,
    shown_of,
    turns_of,
)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.mark.parametrize("output_format", list(Format))
def test_each_format_prints_what_its_golden_file_holds(output_format: Format, store: Path) -> None:
    capture(store, *ROLES)
    capture(store, "user", conversation=SECOND)
    code, out, err = run(prune(2), store, output_format)
    assert (code, err) == (ExitCode.OK, "")
    assert normalised(out) == (GOLDEN / f"prune.{output_format.value}.txt").read_text()


def test_the_system_turns_and_the_newest_messages_stay_and_the_log_keeps_all(store: Path) -> None:
    turns = capture(store, *ROLES)
    assert run(prune(3), store)[0] == ExitCode.OK
    assert shown_of(store) == shown_of(store, FIRST) == [turns[0], *turns[-3:]]
    *before, marker = turns_of(store)
    assert [turn.content for turn in before] == [f"a text of {role}" for role in ROLES]
    assert (marker.role, marker.content, marker.memory) == ("system", "", {"state_only": True, "keep_last": 3})


def test_what_is_captured_later_comes_on_top(store: Path) -> None:
    turns = capture(store, *ROLES)
    run(prune(1), store)
    later = capture(store, "user", "assistant")
    assert shown_of(store) == [turns[0], turns[-1], *later]


def test_to_none_leaves_the_system_turns(store: Path) -> None:
    system, *_ = capture(store, *ROLES)
    run(prune(0), store)
    assert shown_of(store) == [system]


@pytest.mark.parametrize("keep", [4, 5, 1_000_000])
def test_a_history_that_is_short_already_is_left_alone_and_nothing_is_asked(keep: int, store: Path) -> None:
    capture(store, *ROLES)
    before = turns_of(store)
    code, out, err = run(prune(keep, yes=False), store, at=at_keyboard(b""))
    assert (code, err, results(out)) == (ExitCode.OK, "", {FIRST: "already short"})
    assert turns_of(store) == before


def test_what_a_clear_took_away_needs_no_pruning(store: Path) -> None:
    capture(store, *ROLES)
    run(clear(), store)
    assert results(run(prune(0), store)[1]) == {FIRST: "already short"}


def test_conversations_that_are_short_each_and_long_together_are_cut_in_the_session_s_history(store: Path) -> None:
    first = capture(store, *ROLES)
    second = capture(store, *ROLES, conversation=SECOND)
    assert results(run(prune(4), store)[1]) == {SECOND: "pruned", FIRST: "already short"}
    assert shown_of(store) == [first[0], second[0], *second[1:]]
    assert shown_of(store, FIRST) == first
    assert shown_of(store, SECOND) == second
    assert set(results(run(prune(4), store)[1]).values()) == {"already short"}


def test_one_conversation_is_cut_alone(store: Path) -> None:
    first = capture(store, *ROLES)
    second = capture(store, *ROLES, conversation=SECOND)
    assert results(run(prune(1, conversation=FIRST), store)[1]) == {FIRST: "pruned"}
    assert shown_of(store, SECOND) == second
    assert shown_of(store, FIRST) == [first[0], first[-1]]
    # Each of them is short enough for itself, and only it was asked for.
    assert results(run(prune(4, conversation=SECOND), store)[1]) == {SECOND: "already short"}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    roles=st.lists(st.sampled_from(["system", "user", "assistant"]), min_size=15, max_size=15),
    keep=st.integers(0, 6),
)
def test_no_view_of_a_pruned_session_is_longer_and_pruning_again_appends_nothing(
    lengths: list[int], roles: list[str], keep: int, tmp_path: Path
) -> None:
    store = tmp_path / f"{uuid.uuid4()}.db"
    conversations = [str(uuid.uuid4()) for _ in lengths]
    kind = {}
    for place, (conversation, length) in enumerate(zip(conversations, lengths, strict=True)):
        said = roles[place * 5 : place * 5 + length]
        kind |= dict(zip(capture(store, *said, conversation=conversation), said, strict=True))
    assert run(prune(keep), store)[0] == ExitCode.OK
    for view in (None, *conversations):
        assert sum(kind[turn_id] != "system" for turn_id in shown_of(store, view)) <= keep
    assert sum(kind[turn_id] == "system" for turn_id in shown_of(store)) == list(kind.values()).count("system")
    assert set(results(run(prune(keep), store)[1]).values()) == {"already short"}


CALL = {"tool_name": "look", "invocation_id": "00000000-0000-4000-8000-00000000ca11"}


def capture_calls(store: Path, *, conversation: str = FIRST) -> list[str]:
    """A question, a call, its result, an answer; ids of the turns."""
    asked = capture(store, "user", "assistant", conversation=conversation, tool_invocations=[CALL])
    return [*asked, *capture(store, "tool", conversation=conversation, tool_invocations=[CALL])]


@pytest.mark.parametrize("output_format", list(Format))
def test_a_result_keeps_its_call_and_the_answer_says_so_as_its_golden_file_holds(
    output_format: Format, store: Path
) -> None:
    turns = capture_calls(store)
    code, out, err = run(prune(1), store, output_format)
    assert (code, err) == (ExitCode.OK, "")
    assert normalised(out) == (GOLDEN / f"prune-results.{output_format.value}.txt").read_text()
    assert shown_of(store) == turns[1:]
    assert turns_of(store)[-1].memory == {"state_only": True, "keep_last": 2}
    before = turns_of(store)
    assert run(prune(1), store, Format.TABLE)[1].endswith(
        f"left out       0 turns\nalready short  {FIRST}, 2 kept: results stay with their calls\n"
    )
    assert turns_of(store) == before


def test_what_one_conversation_keeps_for_a_result_leaves_the_session_no_result_without_its_call(store: Path) -> None:
    said = capture(store, "user", "user", "user")
    called = capture_calls(store, conversation=SECOND)
    # One message of the first conversation would be one of the session, and that is the result.
    code, out, _ = run(prune(1), store)
    assert (code, results(out)) == (ExitCode.OK, {FIRST: "pruned", SECOND: "pruned"})
    assert json.loads(out)["turns_left_out"] == 4
    assert [each["kept"] for each in json.loads(out)["conversations"]] == [2, 2]
    assert shown_of(store) == shown_of(store, SECOND) == called[1:]
    assert shown_of(store, FIRST) == said[1:]
    assert set(results(run(prune(1), store)[1]).values()) == {"already short"}


def test_a_failure_in_the_middle_counts_what_was_done_and_leaves_no_result_without_its_call(store: Path) -> None:
    called = capture_calls(store)
    capture(store, "user", "user", conversation=SECOND)
    ids = failing(1, StoreConnectionError("the store could not be reached"))
    code, out, _ = run(prune(1, ids=ids), store, Format.TABLE)
    assert code == ExitCode.PARTLY
    assert out.splitlines()[2:] == [
        "left out       4 turns",
        f"pruned         {SECOND}, 1 kept",
        f"not confirmed  {FIRST}",
    ]
    assert shown_of(store, FIRST) == called
    assert results(run(prune(1), store)[1]) == {FIRST: "pruned", SECOND: "already short"}
    assert shown_of(store, FIRST) == called[1:]


def test_the_question_says_that_results_keep_their_calls(store: Path) -> None:
    capture_calls(store)
    _, _, err = run(prune(1, yes=False), store, at=at_keyboard(b"n\n"))
    assert err.startswith(
        f"prune 1 conversation of session {SESSION} to 1 message, and more where results stay with their calls (1 turn "
    )


def test_a_conversation_that_another_one_cleared_in_the_session_is_counted_for_itself(store: Path) -> None:
    capture(store, *ROLES)
    capture(store, "user", conversation=SECOND)
    run(clear(conversation=SECOND), store)
    _, _, err = run(prune(1, yes=False), store, at=at_keyboard(b"n\n"))
    assert "(3 turns will leave the history)" in err


def test_the_question_counts_what_leaves_the_history(store: Path) -> None:
    capture(store, *ROLES)
    capture(store, *ROLES, conversation=SECOND)
    code, out, err = run(prune(1, yes=False), store, at=at_keyboard(b"n\n"))
    assert (code, out) == (ExitCode.USAGE, "")
    assert err == (
        f"prune 2 conversations of session {SESSION} to 1 message (7 turns will leave the history)? [y/N] "
        "memory-graph: nothing was done\n"
    )
    _, _, err = run(prune(1, conversation=FIRST, yes=False), store, at=at_keyboard(b"n\n"))
    assert err.startswith(f"prune 1 conversation of session {SESSION} to 1 message (3 turns ")
    assert run(prune(1, yes=False), store, Format.TABLE, at=at_keyboard(b"yes\n"))[0] == ExitCode.OK


def test_without_a_terminal_and_without_yes_nothing_is_read(store: Path) -> None:
    code, out, err = run(prune(1, yes=False), store, Format.TABLE)
    assert (code, out, err) == (2, "", "memory-graph: prune needs --yes: there is no terminal to ask at\n")


def test_what_is_not_there_is_5(store: Path) -> None:
    assert run(prune(1), store)[0] == ExitCode.NOT_POSSIBLE
    assert not store.exists()
    capture(store, *ROLES)
    assert run(prune(1, "chat-8"), store)[0] == ExitCode.NOT_POSSIBLE
    assert run(prune(1, conversation="aside"), store)[0] == ExitCode.NOT_POSSIBLE
