"""Whatever a session is sent, and whenever it is read, what is held of it comes to what a fresh read has."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.session import fold
from agent.core.turn import SessionTurn
from agent.errors import StoreNotFound
from agent.recall.held import HeldSessions
from agent.recall.held_light import light
from agent.recall.turns import session_turns
from tests.core.session_turns import ONE, TWO, turn_id
from tests.core.test_session import remembering_sessions, seen
from tests.recall.embedded import SESSION, Memory, Watched, embedded
from tests.recall.sent_turns import sent_turn


class Step(NamedTuple):
    """Something that happens to the session, at once, or while it is read the next time."""

    act: Callable[[Memory], object]
    name: str
    is_meanwhile: bool

    def __repr__(self) -> str:
        return f"{self.name}{' meanwhile' if self.is_meanwhile else ''}"


@st.composite
def steps(draw: st.DrawFn) -> Step:
    number = draw(st.integers(1, 9))
    kind = draw(st.sampled_from(["capture", "capture", "capture", "erase turn", "erase session"]))
    if kind == "capture":
        numbers = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4, unique=True))
        turns = [draw(sent_turn(each, numbers[place + 1 :])) for place, each in enumerate(numbers)]
        payload = {"session_id": SESSION, "conversation_id": draw(st.sampled_from([ONE, TWO])), "turns": turns}
        return Step(lambda store: store.capture(payload), f"capture {numbers}", draw(st.booleans()))
    if kind == "erase turn":
        return Step(_erasing_turn(turn_id(number)), f"erase turn {number}", draw(st.booleans()))
    return Step(_erase_session, "erase session", draw(st.booleans()))


def _erasing_turn(name: str) -> Callable[[Memory], None]:
    def erase(store: Memory) -> None:
        with suppress(StoreNotFound):
            store.client.erasure.turn(name)

    return erase


def _erase_session(store: Memory) -> None:
    with suppress(StoreNotFound):
        store.client.erasure.session(SESSION)


@settings(deadline=None, max_examples=120)
@given(st.lists(steps(), min_size=1, max_size=12), st.sampled_from([1, 2, 3, 1000]))
def test_what_is_held_comes_to_what_a_fresh_read_has(done: list[Step], page: int) -> None:
    meanwhile: list[Step] = []
    with embedded() as store:

        def happen(question: str) -> None:
            if question == "turns" and meanwhile:
                meanwhile.pop(0).act(store)

        whole = HeldSessions(Watched(store.client.reads, page=page, before=happen))
        bare = HeldSessions(Watched(store.client.reads, page=page, before=happen), whole_bytes=0)
        for step in done:
            if step.is_meanwhile:
                meanwhile.append(step)
                continue
            step.act(store)
            for held in (whole, bare):
                with suppress(StoreNotFound):
                    held.session(SESSION)
        while meanwhile:
            meanwhile.pop(0).act(store)
        try:
            fresh = session_turns(store.client.reads, SESSION)
        except StoreNotFound:
            return
        assert seen(whole.session(SESSION).state) == seen(fold(fresh))
        held_light = bare.session(SESSION)
        assert seen(held_light.state) == seen(fold(map(light, fresh)))
        assert held_light.whole(held_light.state.turns) == fresh


@settings(deadline=None, max_examples=60)
@given(
    st.lists(steps(), min_size=1, max_size=4),
    st.lists(steps(), min_size=1, max_size=5),
    st.lists(st.lists(steps(), min_size=1, max_size=4), min_size=1, max_size=3),
    st.sampled_from([1, 2, 1000]),
)
def test_what_is_held_of_a_store_that_was_put_back_to_a_backup_comes_to_what_a_fresh_read_has(
    kept: list[Step], lost: list[Step], since: list[list[Step]], page: int
) -> None:
    """Read with what was lost, some of which came while it was read; then again and again as the backup grows.

    Something new is captured each time: an erasure alone may leave the row of the session as another would.
    """
    meanwhile: list[Step] = []
    with tempfile.TemporaryDirectory() as folder:
        path, backup = Path(folder, "store.db"), Path(folder, "backup.db")
        with embedded(str(path)) as store:
            _happen(store, kept)
        shutil.copy(path, backup)
        with embedded(str(path)) as store, embedded(str(backup)) as restored:

            def happen(question: str) -> None:
                if question == "turns" and meanwhile:
                    meanwhile.pop(0).act(store)

            reads = Watched(store.client.reads, page=page, before=happen)
            whole, bare = HeldSessions(reads), HeldSessions(reads, whole_bytes=0)
            _happen(store, [step for step in lost if not step.is_meanwhile])
            meanwhile = [step for step in lost if step.is_meanwhile]
            for held in (whole, bare):
                with suppress(StoreNotFound):
                    held.session(SESSION)
            meanwhile.clear()
            reads.reads = restored.client.reads
            for number, some in enumerate(since, 10):
                _happen(restored, some)
                new = {
                    "turn_id": turn_id(number),
                    "role": "user",
                    "content": "new",
                    "timestamp": "2026-03-02T08:15:00Z",
                }
                restored.capture({"session_id": SESSION, "conversation_id": ONE, "turns": [new]})
                fresh = session_turns(restored.client.reads, SESSION)
                assert seen(whole.session(SESSION).state) == seen(fold(fresh))
                light_session = bare.session(SESSION)
                assert seen(light_session.state) == seen(fold(map(light, fresh)))
                assert light_session.whole(light_session.state.turns) == fresh


def _happen(store: Memory, steps: list[Step]) -> None:
    for step in steps:
        step.act(store)


def _ids(turns: Any) -> list[str]:
    return [each.turn_id for each in turns]


@given(remembering_sessions())
def test_a_session_without_content_folds_as_it_does_with_it(turns: list[SessionTurn]) -> None:
    full, without = fold(turns), fold(map(light, turns))
    assert _ids(without.history) == _ids(full.history)
    assert without.branches() == full.branches()
    assert seen(without)["memory"] == seen(full)["memory"]
    assert [(each.role, each.is_state_only) for each in without.turns] == [
        (each.role, each.is_state_only) for each in full.turns
    ]
