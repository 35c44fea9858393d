"""``clear`` in this process, on an embedded store of its own."""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

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
    assert run(clear(conversation=FIRST), store)[0] == ExitCode.OK
    capture(store, "user", conversation=SECOND)
    code, out, err = run(clear(), store, output_format)
    assert (code, err) == (ExitCode.OK, "")
    assert normalised(out) == (GOLDEN / f"clear.{output_format.value}.txt").read_text()


def test_the_history_keeps_the_system_turns_and_the_log_keeps_all(store: Path) -> None:
    system, *_ = capture(store, *ROLES)
    assert run(clear(), store)[0] == ExitCode.OK
    assert shown_of(store) == shown_of(store, FIRST) == [system]
    *before, marker = turns_of(store)
    assert [turn.content for turn in before] == [f"a text of {role}" for role in ROLES]
    assert (marker.role, marker.content, marker.memory) == ("system", "", {"state_only": True, "reset": True})
    assert marker.parent_turn_id == before[-1].turn_id


def test_with_all_the_system_turns_leave_too_also_after_a_clear_without(store: Path) -> None:
    capture(store, *ROLES)
    assert results(run(clear(), store)[1]) == {FIRST: "cleared"}
    assert results(run(clear(everything=True), store)[1]) == {FIRST: "cleared"}
    assert shown_of(store) == []
    assert turns_of(store)[-1].memory == {"state_only": True, "reset": "all"}


def test_what_is_captured_later_is_the_whole_history(store: Path) -> None:
    capture(store, *ROLES)
    run(clear(everything=True), store)
    later = capture(store, "user", "assistant")
    assert shown_of(store) == later
    assert results(run(clear(), store)[1]) == {FIRST: "cleared"}


def test_every_conversation_is_cleared_and_so_is_every_view(store: Path) -> None:
    first = capture(store, *ROLES)
    second = capture(store, *ROLES, conversation=SECOND)
    third = str(uuid.uuid4())
    capture(store, "user", conversation=third, parent_turn_id=first[2])
    assert set(results(run(clear(), store)[1]).values()) == {"cleared"}
    assert shown_of(store) == [first[0], second[0]]
    assert shown_of(store, FIRST) == shown_of(store, third) == [first[0]]
    assert shown_of(store, SECOND) == [second[0]]


def test_a_conversation_by_its_own_name_is_cleared_alone(store: Path) -> None:
    capture(store, *ROLES, session="chat-7", conversation="main")
    other = capture(store, *ROLES, session="chat-7", conversation="aside")
    code, out, _ = run(clear("chat-7", "main"), store)
    assert (code, list(results(out).values())) == (ExitCode.OK, ["cleared"])
    left = turns_of(store, json.loads(out)["session_id"])
    assert len(left) == len(ROLES) * 2 + 1
    assert len({turn.conversation_id for turn in left}) == 2
    assert len(other) == len(ROLES)


@pytest.mark.parametrize("everything", [False, True])
def test_what_is_clear_already_is_left_alone_and_nothing_is_asked(everything: bool, store: Path) -> None:
    capture(store, *ROLES)
    run(clear(everything=True), store)
    before = turns_of(store)
    code, out, err = run(clear(everything=everything, yes=False), store, at=at_keyboard(b""))
    assert (code, err, results(out)) == (ExitCode.OK, "", {FIRST: "already clear"})
    assert turns_of(store) == before


@pytest.mark.parametrize(
    "last",
    [
        {"metadata": {"memory": {"reset": True}}},
        {"role": "system", "metadata": {"memory": {"reset": True, "params": {"city": "Lyon"}}}},
        {"role": "system", "content": "", "metadata": {"memory": {"state_only": True, "params": {"city": "Lyon"}}}},
        {"role": "system", "content": "", "metadata": {"memory": {"state_only": True, "reset": "later"}}},
    ],
)
def test_a_turn_that_leaves_something_to_show_or_state_does_not_count_as_a_clear(
    last: dict[str, Any], store: Path
) -> None:
    capture(store, "user", "user", **last)
    assert results(run(clear(), store)[1]) == {FIRST: "cleared"}
    assert "user" not in {turn.role for turn in turns_of(store) if turn.turn_id in shown_of(store)}


def test_a_system_turn_that_resets_and_says_something_is_a_clear_without_all(store: Path) -> None:
    last = {"metadata": {"memory": {"reset": True}}}
    capture(store, "user", "system", **last)
    assert results(run(clear(), store)[1]) == {FIRST: "already clear"}
    assert results(run(clear(everything=True), store)[1]) == {FIRST: "cleared"}


def test_the_question_counts_what_leaves_the_history(store: Path) -> None:
    capture(store, *ROLES)
    capture(store, "user", conversation=SECOND)
    code, out, err = run(clear(yes=False), store, at=at_keyboard(b"n\n"))
    assert (code, out) == (ExitCode.USAGE, "")
    assert err == (
        f"clear 2 conversations of session {SESSION} (5 turns will leave the history)? [y/N] "
        "memory-graph: nothing was done\n"
    )
    assert len(turns_of(store)) == len(ROLES) + 1
    _, _, err = run(clear(yes=False, everything=True), store, at=at_keyboard(b"n\n"))
    assert "(6 turns" in err
    assert run(clear(yes=False), store, Format.TABLE, at=at_keyboard(b"y\n"))[0] == ExitCode.OK


def test_without_a_terminal_and_without_yes_nothing_is_read(store: Path) -> None:
    code, out, err = run(clear(yes=False), store, Format.TABLE)
    assert (code, out, err) == (2, "", "memory-graph: clear needs --yes: there is no terminal to ask at\n")
    assert not store.exists()


def test_a_failure_in_the_middle_says_what_was_done_and_the_same_command_goes_on(store: Path) -> None:
    third = str(uuid.uuid4())
    for conversation in (FIRST, SECOND, third):
        capture(store, *ROLES, conversation=conversation)
    error = StoreConnectionError("the store could not be reached")
    code, out, err = run(clear(ids=failing(1, error)), store)
    assert code == ExitCode.PARTLY
    assert results(out) == {FIRST: "cleared", SECOND: "not confirmed", third: "not cleared"}
    assert err == (
        "memory-graph: the store could not be reached: 1 of 3 conversations cleared; "
        "the same command goes on with the rest\n"
    )
    assert results(run(clear(), store)[1]) == {SECOND: "cleared", third: "cleared", FIRST: "already clear"}


def test_a_failure_at_the_first_is_the_store_s_and_prints_no_results(store: Path) -> None:
    capture(store, *ROLES)
    code, out, err = run(clear(ids=failing(0, StoreConnectionError("no store"))), store, Format.TABLE)
    assert (code, out, err) == (ExitCode.STORE, "", "memory-graph: no store\n")


@pytest.mark.parametrize(("after", "is_shown"), [(0, False), (1, True)])
def test_ctrl_c_says_that_the_same_command_goes_on(after: int, is_shown: bool, store: Path) -> None:
    capture(store, *ROLES)
    capture(store, "user", conversation=SECOND)
    code, out, err = run(clear(ids=failing(after, KeyboardInterrupt())), store)
    assert (code, bool(out)) == (ExitCode.INTERRUPTED, is_shown)
    assert err == "memory-graph: interrupted: what was cleared stays cleared; the same command goes on with the rest\n"
    if is_shown:
        assert results(out) == {FIRST: "cleared", SECOND: "not confirmed"}


@pytest.mark.parametrize(
    ("session", "conversation", "line"),
    [
        ("chat-8", None, "there is no session chat-8 ("),
        (str(uuid.UUID(int=5)), None, f"there is no session {uuid.UUID(int=5)} in this store"),
        (SESSION, "aside", "there is no conversation aside ("),
        (SESSION, SECOND.upper(), f"there is no conversation {SECOND} in this session"),
    ],
)
def test_what_is_not_there_is_5_and_named(session: str, conversation: str | None, line: str, store: Path) -> None:
    capture(store, *ROLES)
    code, out, err = run(clear(session, conversation), store, Format.TABLE)
    assert (code, out) == (ExitCode.NOT_POSSIBLE, "")
    assert err.startswith(f"memory-graph: {line}")
    assert err.count("\n") == 1


def test_a_store_that_is_not_there_is_5_and_not_made(store: Path) -> None:
    code, _, err = run(clear(), store, Format.TABLE)
    assert (code, err) == (
        ExitCode.NOT_POSSIBLE,
        f"memory-graph: there is no store at {store}: a capture makes one\n",
    )
    assert not store.exists()


def test_a_name_that_can_be_no_id_is_2(store: Path) -> None:
    capture(store, *ROLES)
    assert run(clear(""), store)[0] == ExitCode.USAGE


def test_the_turn_says_where_it_comes_from_and_leaves_users_and_agents_alone(store: Path) -> None:
    capture(store, *ROLES)
    document = json.loads(run(clear(), store)[1])
    (cleared,) = document["conversations"]
    marker = turns_of(store)[-1]
    assert (marker.turn_id, marker.fields["execution_ref"]) == (cleared["turn_id"], cleared["execution_ref"])
    assert marker.timestamp == "2026-03-02T08:15:00.000000Z"
