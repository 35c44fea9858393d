"""A held session is what the store has, at the cost of what changed: new turns, revisions, erasures."""

from collections.abc import Iterator
from typing import Any

import pytest

from agent.errors import StoreNotFound, StoreWriteError
from agent.recall.held import HeldSession, HeldSessions
from agent.recall.turns import session_turns
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
    assert (held.state, held.version) == (before.state, before.version)
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
