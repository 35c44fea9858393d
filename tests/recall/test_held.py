"""A held session is what the store has, at the cost of what changed: new turns, revisions, erasures."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.errors import StoreNotFound, StoreWriteError
from agent.recall.held import HeldSession, HeldSessions
from agent.recall.turns import session_turns
from agent.ruvector.models import SessionRow
from tests.core.session_turns import ONE, turn_id
from tests.recall.embedded import SESSION, Memory, Watched, embedded, nothing
from tests.strategies import fresh_payload


def payload(*numbers: int, content: str = "words", conversation: str = ONE, **more: Any) -> dict[str, Any]:
    """Turns of the session with these numbers; ``more`` stands in each."""
    turns = [
        {
            "turn_id": turn_id(number),
            "role": ("user", "assistant")[number % 2],
            "content": content,
            "timestamp": "2026-03-02T08:15:00Z",
            **more,
        }
        for number in numbers
    ]
    return {"session_id": SESSION, "conversation_id": conversation, "turns": turns}


def contents(held: HeldSession) -> list[str | None]:
    return [turn.content for turn in held.state.history]


@pytest.fixture
def store() -> Iterator[Memory]:
    with embedded() as opened:
        yield opened


@pytest.fixture
def reads(store: Memory) -> Watched:
    return Watched(store.client.reads)


@pytest.fixture
def sessions(reads: Watched) -> HeldSessions:
    return HeldSessions(reads)


def test_a_session_is_read_with_its_row_and_its_turns(store: Memory, reads: Watched, sessions: HeldSessions) -> None:
    store.capture(payload(1, 2))
    held = sessions.session(SESSION)
    assert (held.session_id, held.version, contents(held)) == (SESSION, 1, ["words", "words"])
    assert held.state.turns.as_tuple() == session_turns(store.client.reads, SESSION)
    assert reads.taken() == ["row", "turns"]


def test_an_unchanged_session_costs_one_small_request_and_is_the_same_state(
    store: Memory, reads: Watched, sessions: HeldSessions
) -> None:
    store.capture(payload(1, 2))
    first = sessions.session(SESSION)
    reads.taken()
    assert sessions.session(SESSION).state is first.state
    assert reads.taken() == ["row"]


def test_of_a_session_that_grew_only_what_is_new_is_fetched(
    store: Memory, reads: Watched, sessions: HeldSessions
) -> None:
    store.capture(payload(*range(1, 9)))
    before = sessions.session(SESSION)
    position = store.capture(payload(9, content="new"))
    reads.taken()
    held = sessions.session(SESSION)
    assert (held.version, contents(held)) == (position, ["words"] * 8 + ["new"])
    assert reads.taken() == ["row", "turns"]
    # What was there is not read again, and what was answered before stays as it was.
    assert all(now is then for now, then in zip(held.state.turns, before.state.turns, strict=False))
    assert contents(before) == ["words"] * 8


def test_a_revision_and_an_erasure_are_what_changed(store: Memory, reads: Watched, sessions: HeldSessions) -> None:
    store.capture(payload(1, 2, 3))
    sessions.session(SESSION)
    store.capture(payload(2, content="better words"))
    assert contents(sessions.session(SESSION)) == ["words", "better words", "words"]
    store.client.erasure.turn(turn_id(1))
    held = sessions.session(SESSION)
    assert [(turn.erased, turn.content) for turn in held.state.history] == [
        (True, None),
        (False, "better words"),
        (False, "words"),
    ]
    store.client.erasure.session(SESSION)
    held = sessions.session(SESSION)
    assert [(turn.erased, turn.content, turn.timestamp) for turn in held.state.history] == [(True, None, None)] * 3


def test_a_capture_that_brings_nothing_new_leaves_the_state_as_it_is(
    store: Memory, reads: Watched, sessions: HeldSessions
) -> None:
    store.capture(payload(1, 2))
    before = sessions.session(SESSION)
    assert store.capture({**payload(1, 2), "context": {"agent_id": "other"}}) > before.version
    reads.taken()
    held = sessions.session(SESSION)
    assert held.state is before.state
    assert held.version == before.version
    # The session's row has an agent more: that is looked into once.
    assert reads.taken() == ["row", "turns", "turns"]
    assert sessions.session(SESSION).state is before.state
    assert reads.taken() == ["row"]


def test_a_session_that_the_store_never_had_is_not_found_until_it_comes(store: Memory, sessions: HeldSessions) -> None:
    with pytest.raises(StoreNotFound):
        sessions.session(SESSION)
    store.capture(payload(1))
    assert contents(sessions.session(SESSION)) == ["words"]


def test_a_session_that_is_gone_is_held_no_longer(store: Memory, reads: Watched, sessions: HeldSessions) -> None:
    store.capture(payload(1))
    sessions.session(SESSION)
    with embedded() as other:
        reads.reads = other.client.reads
        with pytest.raises(StoreNotFound):
            sessions.session(SESSION)
    reads.reads = store.client.reads
    reads.taken()
    sessions.session(SESSION)
    assert reads.taken() == ["row", "turns"]


@pytest.mark.parametrize("sizes", [(1, 1), (1, 3), (3, 1)])
def test_a_session_of_a_store_that_was_restored_or_made_anew_is_read_anew(
    sizes: tuple[int, int], store: Memory, reads: Watched, sessions: HeldSessions
) -> None:
    """Its version went on, or back, or is the same again; the log that it counts in is another."""
    first, second = sizes
    for number in range(first):
        store.capture(payload(number + 1))
    sessions.session(SESSION)
    with embedded() as other:
        for number in range(second):
            other.capture(payload(10 * number, content="other"))
        reads.reads = other.client.reads
        assert contents(sessions.session(SESSION)) == ["other"] * second


@pytest.mark.parametrize("captures_since", [[], [(3, 4, 5)], [(3, 4), (5, 6)]])
def test_a_session_of_a_backup_is_read_anew_where_it_shows(
    captures_since: list[tuple[int, ...]], store: Memory, reads: Watched, sessions: HeldSessions
) -> None:
    """Held at version 2 with two turns; the backup has the first, and what came since it was put back."""
    store.capture(payload(1))
    store.capture(payload(2, content="lost"))
    sessions.session(SESSION)
    first, _ = store.client.reads.feed().events
    with embedded() as backup:
        backup.client.append(first.text, idempotency_key=first.key)
        for numbers in captures_since:
            backup.capture(payload(*numbers))
        reads.reads = backup.client.reads
        held = sessions.session(SESSION)
        assert contents(held) == ["words"] * (1 + sum(map(len, captures_since)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with a session of three turns, each of its own capture."""
    path = tmp_path / "store.db"
    with embedded(str(path)) as store:
        for number in (1, 2, 3):
            store.capture(payload(number))
    return path


def _capture_lost(store: Memory) -> None:
    for number in (10, 11, 12):
        store.capture(payload(number, content="lost"))


def _revise_lost(store: Memory) -> None:
    store.capture(payload(3, content="lost"))


def _erase_lost(store: Memory) -> None:
    store.client.erasure.turn(turn_id(2))


def _capture_and_erase_lost(store: Memory) -> None:
    store.capture(payload(10, content="lost"))
    store.client.erasure.turn(turn_id(2))
    store.client.erasure.turn(turn_id(10))


@pytest.mark.parametrize("lost", [_capture_lost, _revise_lost, _erase_lost, _capture_and_erase_lost])
@pytest.mark.parametrize("whole_bytes", [0, 2**20])
@pytest.mark.parametrize("captures", [1, 2, 3, 5])
def test_a_backup_that_has_grown_past_what_is_held_is_not_mixed_with_it(
    lost: Callable[[Memory], None], whole_bytes: int, captures: int, path: Path
) -> None:
    backup = path.with_name("backup.db")
    shutil.copy(path, backup)
    with embedded(str(path)) as store, embedded(str(backup)) as restored:
        reads = Watched(store.client.reads)
        sessions = HeldSessions(reads, whole_bytes=whole_bytes)
        lost(store)
        sessions.session(SESSION)
        for number in range(20, 20 + captures):
            restored.capture(payload(number, content="new"))
        reads.reads = restored.client.reads
        held = sessions.session(SESSION)
        assert [turn.content for turn in held.whole(held.state.history)] == ["words"] * 3 + ["new"] * captures
        reads.taken()
        assert sessions.session(SESSION).state is held.state
        assert reads.taken() == ["row"]


def test_a_backup_in_which_the_erasures_since_were_applied_again_is_not_mixed_with_what_is_held(path: Path) -> None:
    """CONTRACT 10a: at the positions that they had. Then the same turn was erased at the same position in both."""
    backup = path.with_name("backup.db")
    with embedded(str(path)) as store:
        reads = Watched(store.client.reads)
        sessions = HeldSessions(reads)
        shutil.copy(path, backup)
        store.capture(payload(10, content="lost"))
        store.client.erasure.turn(turn_id(2))
        sessions.session(SESSION)
        with embedded(str(backup)) as restored:
            restored.capture({**payload(1), "session_id": SESSION[:-1] + "2"})
            restored.client.erasure.turn(turn_id(2))
            restored.capture(payload(20, content="new"))
            reads.reads = restored.client.reads
            held = sessions.session(SESSION)
            assert contents(held) == ["words", None, "words", "new"]


def test_what_came_while_a_session_was_read_is_not_kept_of_a_store_that_was_put_back(path: Path) -> None:
    """The backup's row is the one that was read before the turns were."""
    backup = path.with_name("backup.db")
    shutil.copy(path, backup)
    with embedded(str(path)) as store, embedded(str(backup)) as restored:

        def come(question: str) -> None:
            if question == "turns":
                reads.before = nothing
                store.capture(payload(3, 10, content="lost"))

        reads = Watched(store.client.reads, before=come)
        sessions = HeldSessions(reads)
        assert contents(sessions.session(SESSION)) == ["words", "words", "lost", "lost"]
        reads.reads = restored.client.reads
        assert contents(sessions.session(SESSION)) == ["words"] * 3


def test_a_turn_that_changes_again_and_again_is_all_that_is_fetched(
    store: Memory, reads: Watched, sessions: HeldSessions
) -> None:
    store.capture(payload(*range(1, 9)))
    store.capture(payload(9))
    sessions.session(SESSION)
    fetched: list[int] = []
    turn_rows = reads.turn_rows

    def counted(session_id: str, **which: Any) -> Any:
        rows = turn_rows(session_id, **which)
        fetched.append(len(rows.turns))
        return rows

    reads.turn_rows = counted  # type: ignore[method-assign]  # a fake of our own
    for number in range(3):
        store.capture(payload(9, content=f"revision {number}"))
        assert contents(sessions.session(SESSION))[-1] == f"revision {number}"
    # Twice, and one turn of those that did not change, which proves that the history is the same.
    assert sum(fetched) == 3 * (2 + 1)


def test_an_erasure_of_all_and_what_comes_after_it_are_read(
    store: Memory, reads: Watched, sessions: HeldSessions
) -> None:
    store.capture(payload(1, 2))
    sessions.session(SESSION)
    store.client.erasure.session(SESSION)
    assert contents(sessions.session(SESSION)) == [None, None]
    store.capture(payload(3))
    assert contents(sessions.session(SESSION)) == [None, None, "words"]
    store.capture(payload(4))
    reads.taken()
    assert contents(sessions.session(SESSION)) == [None, None, "words", "words"]
    assert reads.taken() == ["row", "turns"]


@pytest.mark.parametrize("held_before", [True, False])
def test_a_session_of_which_turns_are_missing_is_not_answered_as_if_it_were_whole(
    held_before: bool, store: Memory, reads: Watched
) -> None:
    class Missing(Watched):
        """A store whose rows count turns that it does not give."""

        def session(self, session_id: str) -> SessionRow:
            row = super().session(session_id)
            return row.model_copy(update={"turn_count": row.turn_count + lost})

    lost = 0
    store.capture(payload(1, 2))
    sessions = HeldSessions(Missing(store.client.reads))
    if held_before:
        sessions.session(SESSION)
    lost = 1
    with pytest.raises(StoreWriteError, match="fewer turns") as caught:
        sessions.session(SESSION)
    assert caught.value.upstream_status == 200
    lost = 0
    assert contents(sessions.session(SESSION)) == ["words", "words"]


def test_a_failure_leaves_what_is_held(store: Memory, reads: Watched, sessions: HeldSessions) -> None:
    store.capture(payload(1))
    sessions.session(SESSION)

    def fail(_: str) -> None:
        raise StoreWriteError("no answer", upstream_status=500)

    reads.before = fail
    with pytest.raises(StoreWriteError):
        sessions.session(SESSION)
    reads.before = nothing
    reads.taken()
    assert contents(sessions.session(SESSION)) == ["words"]
    assert reads.taken() == ["row"]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_pages_that_a_store_ends_early_are_not_the_end(size: int, store: Memory, reads: Watched) -> None:
    reads.page = size
    sessions = HeldSessions(reads)
    store.capture(payload(*range(1, 6)))
    assert len(contents(sessions.session(SESSION))) == 5
    store.capture(payload(2, 4, *range(6, 12), content="later"))
    turns = sessions.session(SESSION).state.turns
    assert [turn.content for turn in turns] == ["words", "later", "words", "later", "words"] + ["later"] * 6


@pytest.mark.parametrize(("count", "questions"), [(999, 1), (1000, 2), (1001, 2)])
def test_a_session_of_more_than_a_page_is_read_to_its_end(
    count: int, questions: int, store: Memory, reads: Watched, sessions: HeldSessions
) -> None:
    store.capture({**fresh_payload(count), "session_id": SESSION})
    assert len(sessions.session(SESSION).state.history) == count
    assert reads.taken() == ["row", *["turns"] * questions]


def test_a_turn_that_is_revised_while_later_pages_are_read_is_not_missed(store: Memory, reads: Watched) -> None:
    reads.page = 2
    sessions = HeldSessions(reads)
    store.capture(payload(*range(1, 6)))
    asked = 0

    def revise_after_the_first_page(question: str) -> None:
        nonlocal asked
        asked += question == "turns"
        if asked == 2:
            # The first page was read before. The turn at the end gets a higher version still.
            store.capture(payload(1, content="revised"))
            store.capture(payload(6, content="new"))
            asked += 1

    reads.before = revise_after_the_first_page
    held = sessions.session(SESSION)
    assert contents(held) == ["words"] * 5 + ["new"]
    assert held.version == 1
    held = sessions.session(SESSION)
    assert contents(held) == ["revised", *["words"] * 4, "new"]
    assert held.version == 3


def test_turns_of_a_store_that_does_not_say_when_they_changed_are_read_anew_each_time(
    store: Memory, reads: Watched
) -> None:
    reads.forgetful = True
    sessions = HeldSessions(reads)
    store.capture(payload(1))
    for content in ("words", "revised"):
        store.capture(payload(1, content=content))
        assert contents(sessions.session(SESSION)) == [content]
        assert reads.taken() == ["row", "turns"]


def test_pages_that_do_not_advance_are_refused(store: Memory, reads: Watched) -> None:
    store.capture(payload(1, 2))

    class Stuck(Watched):
        def turn_rows(self, session_id: str, **which: Any) -> Any:
            return super().turn_rows(session_id, **{**which, "after_seq": 0, "limit": 1})

    with pytest.raises(StoreWriteError, match="do not advance"):
        HeldSessions(Stuck(store.client.reads)).session(SESSION)
