"""``clear`` and ``prune`` hold for writers that send what is new; who sends its whole list says what its history is.

By CONTRACT 1, 3a and 10: a turn of a snapshot, and a native turn behind another one, continues the turn before it, and
not the turn that carries the reset.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agent.core.history import history
from agent.core.ids import session_uuid
from tests.cli.memory.taking_away import FIRST, SESSION, Command, capture_body, clear, prune, run, turns_of

NATIVE = "chat-7"
COMMANDS = [
    pytest.param(clear, [], id="clear"),
    pytest.param(partial(prune, 1), ["four"], id="prune"),
]
pytestmark = pytest.mark.parametrize(("command", "kept"), COMMANDS)
TakesAway = Callable[[str], Command]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def chat(*texts: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text} for text in texts]
    return {"session_id": NATIVE, "messages": messages, **more}


def native(*texts: str) -> dict[str, Any]:
    turns = [{"turn_id": text, "role": "user", "content": text, "timestamp": "2026-03-02T08:15:00Z"} for text in texts]
    return {
        "session_id": SESSION,
        "conversation_id": FIRST,
        "turns": turns,
        "capture_options": {"derive_ids": True},
    }


def says(store: Path, session: str = session_uuid(NATIVE)) -> list[str | None]:
    return [turn.content for turn in history(turns_of(store, session))]


def test_a_delta_goes_on_from_what_was_taken_away(command: TakesAway, kept: list[str], store: Path) -> None:
    capture_body(store, chat("one", "two", "three", "four"), "openai-chat")
    run(command(NATIVE), store)
    assert says(store) == kept
    capture_body(store, chat("five", mode="delta", request_id="r-5"), "openai-chat")
    assert says(store) == [*kept, "five"]


def test_a_list_that_is_sent_again_brings_back_what_was_taken_away(
    command: TakesAway, kept: list[str], store: Path
) -> None:
    capture_body(store, chat("one", "two", "three", "four"), "openai-chat")
    run(command(NATIVE), store)
    capture_body(store, chat("one", "two", "three", "four", "five"), "openai-chat")
    assert says(store) == ["one", "two", "three", "four", "five"]


def test_the_end_of_a_list_does_so_too_with_its_place_in_the_whole(
    command: TakesAway, kept: list[str], store: Path
) -> None:
    capture_body(store, chat("one", "two", "three", "four"), "openai-chat")
    run(command(NATIVE), store)
    # CONTRACT 3a: what stands at place 4 continues what stands at place 3, in whichever window it comes.
    capture_body(store, chat("five", start_index=4), "openai-chat")
    assert says(store) == ["one", "two", "three", "four", "five"]


def test_a_native_capture_without_a_parent_goes_on_from_what_was_taken_away(
    command: TakesAway, kept: list[str], store: Path
) -> None:
    capture_body(store, native("one", "two", "three", "four"))
    run(command(SESSION), store)
    capture_body(store, native("five"))
    assert says(store, SESSION) == [*kept, "five"]


def test_a_native_capture_that_repeats_what_was_taken_away_brings_it_back(
    command: TakesAway, kept: list[str], store: Path
) -> None:
    capture_body(store, native("one", "two", "three", "four"))
    run(command(SESSION), store)
    capture_body(store, native("one", "two", "three", "four", "five"))
    assert says(store, SESSION) == ["one", "two", "three", "four", "five"]
