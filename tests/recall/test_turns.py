"""The turns of a session read back from the embedded store, and their order held against the store's own."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings

from agent.ambient import new_id
from agent.core.history import history
from agent.core.paths import SessionPaths
from agent.errors import NewerContract, StoreNotFound
from agent.recall.held import HeldSessions
from agent.recall.turns import session_turns
from tests.conftest import vectors
from tests.core.session_turns import ONE, conversations, current_leaf, naive_history, turn_id
from tests.recall.embedded import SESSION, Memory, embedded
from tests.recall.sent_turns import captures
from tests.strategies import fresh_payload

CASES = vectors("session")


@pytest.fixture
def store() -> Iterator[Memory]:
    with embedded() as opened:
        yield opened


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_golden_session_read_back_has_the_histories_of_its_vector(case: dict[str, Any], store: Memory) -> None:
    for payload in case["captures"]:
        store.capture(payload)
    turns, expected = session_turns(store.client.reads, case["captures"][0]["session_id"].lower()), case["expected"]
    assert [turn.turn_id for turn in history(turns)] == expected["history"]
    assert set(conversations(turns)) == set(expected["history_by_conversation"])
    for conversation, names in expected["history_by_conversation"].items():
        assert [turn.turn_id for turn in history(turns, conversation_id=conversation)] == names


def test_a_turn_is_read_as_it_was_captured_with_what_the_store_adds(store: Memory) -> None:
    sent = {
        "turn_id": turn_id(10).upper(),
        "role": "assistant",
        "content": "Zoe\u0308\u0000",
        "timestamp": "2026-03-02T08:15:00.1234567891+02:00",
        "tool_invocations": [{"tool_name": "t", "invocation_id": turn_id(11).upper(), "arguments": {"n": 10**4000}}],
        "metadata": {"memory": {"params": {"x": 1}}, "x": [10**30, 1.5, None]},
        "x_unknown": {"deep": True},
    }
    store.capture({"session_id": SESSION.upper(), "conversation_id": ONE.upper(), "turns": [sent]})
    [turn] = session_turns(store.client.reads, SESSION)
    assert (turn.turn_id, turn.seq, turn.conversation_id, turn.parent_turn_id) == (turn_id(10), 1, ONE, None)
    assert (turn.role, turn.content, turn.timestamp) == ("assistant", sent["content"], sent["timestamp"])
    assert turn.memory == {"params": {"x": 1}}
    assert {name: turn.fields[name] for name in sent} | {"turn_id": turn_id(10)} == sent | {"turn_id": turn_id(10)}
    assert (turn.fields["revisions"], turn.fields["erased"]) == (1, False)


@pytest.mark.parametrize("count", [999, 1000, 1001])
def test_pages_are_turned_behind_the_scenes(count: int, store: Memory) -> None:
    payload = fresh_payload(count)
    store.capture(payload)
    turns = session_turns(store.client.reads, payload["session_id"])
    assert [turn.turn_id for turn in turns] == [turn["turn_id"] for turn in payload["turns"]]
    assert [turn.seq for turn in turns] == list(range(1, count + 1))


def test_a_session_is_read_as_it_was_when_a_turn_came(store: Memory) -> None:
    payload = fresh_payload(5)
    store.capture(payload)
    turns = session_turns(store.client.reads, payload["session_id"], at_seq=3)
    assert [turn.seq for turn in turns] == [1, 2, 3]


def test_an_erased_turn_is_a_skeleton_in_its_place_and_its_reset_holds(store: Memory) -> None:
    payload = fresh_payload(3)
    payload["turns"][1]["metadata"] = {"memory": {"reset": "all"}}
    store.capture(payload)
    assert len(history(session_turns(store.client.reads, payload["session_id"]))) == 2
    store.client.erasure.turn(payload["turns"][1]["turn_id"])
    turns = session_turns(store.client.reads, payload["session_id"])
    assert [(turn.seq, turn.erased, turn.content is None, turn.timestamp is None) for turn in turns] == [
        (1, False, False, False),
        (2, True, True, True),
        (3, False, False, False),
    ]
    assert [turn.role for turn in turns] == ["user", "assistant", "user"]
    assert [turn.seq for turn in history(turns)] == [2, 3]


def test_a_session_that_the_store_never_had_is_not_found(store: Memory) -> None:
    with pytest.raises(StoreNotFound):
        session_turns(store.client.reads, str(uuid.uuid4()))


@settings(deadline=None, max_examples=60)
@given(captures())
def test_the_store_goes_on_at_the_leaf_that_the_reader_finds_and_both_cut_the_same_rings(
    payloads: list[dict[str, Any]],
) -> None:
    with embedded() as store:
        for payload in payloads:
            store.capture(payload)
        turns = session_turns(store.client.reads, SESSION)
        # The parents come resolved: there is no ring left to cut.
        parents = SessionPaths.of(turns).parents
        here = {turn.turn_id for turn in turns}
        assert {turn.turn_id: turn.parent_turn_id for turn in turns if turn.parent_turn_id in here} == {
            name: parent for name, parent in parents.items() if parent is not None
        }
        assert list(history(turns)) == naive_history(turns)
        for conversation in conversations(turns):
            leaf = current_leaf(turns, conversation)
            assert leaf is not None
            follower = {**fresh_payload(1), "session_id": SESSION, "conversation_id": conversation}
            store.capture(follower)
            turns = session_turns(store.client.reads, SESSION)
            assert turns[-1].parent_turn_id == leaf.turn_id


def test_a_page_that_the_store_ends_early_is_not_the_end() -> None:
    """Five turns of 9 MiB are more than a page of the store holds (docs/architecture.md), however few they are."""
    with embedded() as memory:
        for place in range(5):
            turn = {
                "turn_id": str(uuid.UUID(int=place + 1)),
                "role": "user",
                "content": "x" * (9 * 1024 * 1024),
                "timestamp": "2026-03-02T08:15:00Z",
            }
            memory.capture({"session_id": SESSION, "conversation_id": SESSION[:-1] + "2", "turns": [turn]})
        one_page = memory.client.reads.turns(SESSION, limit=1000).turns
        assert len(one_page) < 5
        assert len(session_turns(memory.client.reads, SESSION)) == 5


@pytest.mark.parametrize("version", ["0.9.0", "2.0.0"])
def test_turns_of_an_older_contract_are_read_and_of_a_newer_one_refused(version: str, store: Memory) -> None:
    """The event is another writer's, as far as the store can know: it keeps what it does not understand."""
    payload = fresh_payload(2)
    store.capture(payload)
    [ours] = store.client.reads.feed().events
    theirs = json.loads(ours.text.replace(payload["session_id"].encode(), SESSION.encode()))
    theirs = {**theirs["payload"], "agent_version": version, "inputs_hash": "0" * 64, "execution_ref": new_id()}
    store.client.append(json.dumps(theirs).encode(), idempotency_key=None)
    if version == "0.9.0":
        assert len(session_turns(store.client.reads, SESSION)) == 2
        return
    with pytest.raises(NewerContract):
        session_turns(store.client.reads, SESSION)
    with pytest.raises(NewerContract):
        HeldSessions(store.client.reads).session(SESSION)
    assert len(session_turns(store.client.reads, payload["session_id"])) == 2
