"""A session that is too large is held without content, which is read when it is asked for."""

from collections.abc import Iterator
from typing import Any

import pytest

from agent.core.session import fold
from agent.errors import StoreNotFound
from agent.recall.held import HeldSession, HeldSessions
from agent.recall.held_light import light
from agent.recall.turns import session_turns
from tests.core.session_turns import ONE, turn, turn_id
from tests.recall.embedded import SESSION, Memory, Watched, embedded


@pytest.fixture
def store() -> Iterator[Memory]:
    with embedded() as opened:
        yield opened


@pytest.fixture
def reads(store: Memory) -> Watched:
    return Watched(store.client.reads)


def sent(number: int, content: str = "words", **more: Any) -> dict[str, Any]:
    role = ("user", "assistant")[number % 2]
    return {
        "turn_id": turn_id(number),
        "role": role,
        "content": content,
        "timestamp": "2026-03-02T08:15:00Z",
        **more,
    }


def payload(*turns: dict[str, Any]) -> dict[str, Any]:
    return {"session_id": SESSION, "conversation_id": ONE, "turns": turns}


def contents(turns: Any) -> list[str | None]:
    return [each.content for each in turns]


def test_up_to_the_bound_everything_is_held_and_costs_no_request(store: Memory, reads: Watched) -> None:
    store.capture(payload(*[sent(number, "x" * 1000) for number in range(10)]))
    held = HeldSessions(reads, whole_bytes=20_000).session(SESSION)
    reads.taken()
    assert contents(held.whole(held.state.history)) == ["x" * 1000] * 10
    assert reads.taken() == []


def test_beyond_the_bound_no_content_is_held_and_what_is_asked_for_is_fetched(store: Memory, reads: Watched) -> None:
    reads.page = 3
    store.capture(payload(*[sent(number, f"text {number} {'x' * 1000}") for number in range(10)]))
    held = HeldSessions(reads, whole_bytes=5_000).session(SESSION)
    assert contents(held.state.turns) == [None] * 10
    reads.page = 1000
    reads.taken()
    assert [text[:6] for text in contents(held.whole(held.state.history[-2:])) if text] == ["text 8", "text 9"]
    assert reads.taken() == ["turns"]
    assert held.whole(held.state.turns) == session_turns(store.client.reads, SESSION)


def test_a_session_that_grows_beyond_the_bound_lets_go_of_its_content(store: Memory, reads: Watched) -> None:
    store.capture(payload(sent(1, "x" * 1000)))
    sessions = HeldSessions(reads, whole_bytes=3_000)
    assert contents(sessions.session(SESSION).state.turns) == ["x" * 1000]
    store.capture(payload(sent(2, "y" * 1000), sent(3, "z" * 1000)))
    held = sessions.session(SESSION)
    assert contents(held.state.turns) == [None] * 3
    assert held.whole(held.state.turns) == session_turns(store.client.reads, SESSION)
    # Light ones are held as whole ones are: what changed is all that is fetched.
    store.capture(payload(sent(4)))
    reads.taken()
    assert contents(sessions.session(SESSION).state.turns) == [None] * 4
    assert reads.taken() == ["row", "turns"]


def test_revisions_do_not_add_up_to_a_large_session(store: Memory, reads: Watched) -> None:
    sessions = HeldSessions(reads, whole_bytes=5_000)
    for number in range(10):
        store.capture(payload(sent(1, f"{number}" * 1000)))
        assert contents(sessions.session(SESSION).state.turns) == [f"{number}" * 1000]


def test_far_turns_are_fetched_each_by_itself_and_near_ones_together(store: Memory, reads: Watched) -> None:
    store.capture(payload(*[sent(number, f"{number}") for number in range(200)]))
    held = HeldSessions(reads, whole_bytes=0).session(SESSION)
    reads.taken()
    asked = [held.state.turns[place] for place in (199, 3, 0, 20, 100, 3)]
    assert contents(held.whole(asked)) == ["199", "3", "0", "20", "100", "3"]
    assert reads.taken() == ["turns"] * 3
    assert held.whole([]) == ()
    assert reads.taken() == []


def test_pages_that_a_store_ends_early_are_no_end_of_what_is_asked_for(store: Memory, reads: Watched) -> None:
    store.capture(payload(*[sent(number, f"{number}") for number in range(7)]))
    held = HeldSessions(reads, whole_bytes=0).session(SESSION)
    reads.page = 2
    assert contents(held.whole(held.state.turns)) == [f"{number}" for number in range(7)]


def test_a_turn_that_changed_since_is_as_it_is_now(store: Memory, reads: Watched) -> None:
    store.capture(payload(*[sent(number) for number in range(3)]))
    held = HeldSessions(reads, whole_bytes=0).session(SESSION)
    store.capture(payload(sent(1, "revised")))
    store.client.erasure.turn(turn_id(2))
    first, second, third = held.whole(held.state.turns)
    assert (first.content, second.content) == ("words", "revised")
    assert (third.erased, third.content, third.timestamp) == (True, None, None)


def test_a_skeleton_is_whole_already(store: Memory, reads: Watched) -> None:
    store.capture(payload(*[sent(number) for number in range(2)]))
    store.client.erasure.session(SESSION)
    held = HeldSessions(reads, whole_bytes=0).session(SESSION)
    reads.taken()
    assert held.whole(held.state.turns) == session_turns(store.client.reads, SESSION)
    assert reads.taken() == []


def test_turns_that_are_not_there_any_more_are_not_found(store: Memory, reads: Watched) -> None:
    store.capture(payload(*[sent(number) for number in range(3)]))
    held = HeldSessions(reads, whole_bytes=0).session(SESSION)
    with embedded() as other:
        other.capture(payload(sent(0)))
        reads.reads = other.client.reads
        assert contents(held.whole(held.state.turns[:1])) == ["words"]
        with pytest.raises(StoreNotFound, match="no such turn"):
            held.whole(held.state.turns)


def test_a_light_turn_keeps_what_a_fold_needs_and_no_text(store: Memory) -> None:
    call = {"tool_name": "t", "invocation_id": turn_id(9), "arguments": {"secret": 1}, "success": True}
    memory = {"params": {"x": 1}, "state_only": False}
    store.capture(
        payload(
            sent(
                1,
                "a secret",
                model="m",
                token_usage={"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
                tool_invocations=[call],
                metadata={"memory": memory, "agent": "a", "citations": ["a secret"]},
                x_unknown="a secret",
            )
        )
    )
    [full] = session_turns(store.client.reads, SESSION)
    without = light(full)
    assert "secret" not in str(without)
    assert (without.timestamp, without.captured_at, without.version) == (full.timestamp, full.captured_at, 1)
    assert without.fields["token_usage"] == full.fields["token_usage"]
    assert without.fields["execution_ref"] == full.fields["execution_ref"]
    assert without.fields["metadata"] == {"memory": memory, "agent": "a"}
    assert without.invocations == ({"tool_name": "t", "invocation_id": turn_id(9), "success": True},)


@pytest.mark.parametrize("metadata", ["text", None, {"memory": "text"}, {"agent": 5}, {"memory": None}])
def test_metadata_of_another_shape_is_left_out_and_ignored_alike(metadata: Any) -> None:
    each = turn(1)
    each = type(each)(**{name: getattr(each, name) for name in each.__slots__} | {"fields": {"metadata": metadata}})
    without = light(each)
    assert "text" not in str(without.fields)
    assert fold([without]).memory.ignored == fold([each]).memory.ignored


def test_a_light_state_only_turn_is_still_told_by_its_empty_content() -> None:
    each = turn(1, role="system", content="", state_only=True)
    assert light(each).is_state_only
    assert not light(turn(1, role="system", content="words", state_only=True)).is_state_only


def test_a_held_session_that_is_whole_is_so_without_a_store() -> None:
    state = fold([turn(1)])
    assert HeldSession(SESSION, state, 1).whole(state.history) == state.history.as_tuple()
