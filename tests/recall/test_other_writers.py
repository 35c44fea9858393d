"""What another writer left in the store, which takes it as it is, is read, and never stands in a reader's way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from agent.bootstrap import new_id
from agent.core.pairs import paired_calls
from agent.core.summary import statistics
from agent.errors import NewerContract
from agent.recall.exported_session import exported_session
from agent.recall.held import HeldSessions
from agent.recall.speakers import speakers
from agent.recall.turns import session_turns
from tests.core.session_turns import ONE, turn_id
from tests.recall.embedded import SESSION, Memory, embedded


@pytest.fixture
def store() -> Iterator[Memory]:
    with embedded() as opened:
        yield opened


def sent(number: int, **members: Any) -> dict[str, Any]:
    fields = {"role": "assistant", "content": f"words {number}", "timestamp": "2026-03-02T08:15:00Z"}
    return {"turn_id": turn_id(number), **fields, **members}


def append(store: Memory, *turns: dict[str, Any], run_id: str | None = None, **event: Any) -> None:
    """An event of another writer, which keeps to nothing but the envelope."""
    inputs = {"session_id": SESSION, "conversation_id": ONE, "turns": turns, "context": {"agent_id": "theirs"}}
    envelope = {
        "type": "conversation_capture",
        "runId": run_id or new_id(),
        "timestamp": "2026-03-02T08:15:00Z",
        "payload": {"inputs": inputs, **event},
    }
    store.client.append(json.dumps(envelope).encode(), idempotency_key=None)


PARTS = [{"type": "text", "text": "hi"}]


def test_a_turn_of_any_shape_is_read_and_so_are_those_beside_it(store: Memory) -> None:
    odd = [
        sent(2, content=PARTS),
        sent(3, role=None, content=7),
        sent(4, role=["user"], timestamp=1767200000),
        sent(5, timestamp={"at": "noon"}, tool_invocations="none", metadata=5),
    ]
    append(store, sent(1), *odd, sent(6))
    expected = [
        ("assistant", "words 1", "2026-03-02T08:15:00Z"),
        ("assistant", '[{"text":"hi","type":"text"}]', "2026-03-02T08:15:00Z"),
        ("", "7", "2026-03-02T08:15:00Z"),
        ("", "words 4", None),
        ("assistant", "words 5", None),
        ("assistant", "words 6", "2026-03-02T08:15:00Z"),
    ]
    for whole_bytes in (0, 2**20):
        held = HeldSessions(store.client.reads, whole_bytes=whole_bytes).session(SESSION)
        turns = held.whole(held.state.history)
        assert [(turn.role, turn.content, turn.timestamp) for turn in turns] == expected
    # Nothing is lost, and the model reads them too.
    assert session_turns(store.client.reads, SESSION)[1].fields["content"] == PARTS
    assert store.client.reads.turns(SESSION).turns[1].content == PARTS


def test_a_turn_that_is_revised_to_another_shape_changes_what_is_held(store: Memory) -> None:
    append(store, sent(1), sent(2))
    held = HeldSessions(store.client.reads)
    held.session(SESSION)
    append(store, sent(1, content=PARTS), inputs_hash="2")
    contents = [turn.content for turn in held.session(SESSION).state.history]
    assert contents == ['[{"text":"hi","type":"text"}]', "words 2"]


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("revised", [True, False])
def test_who_spoke_is_known_in_whatever_case_an_event_was_named(store: Memory, upper: bool, revised: bool) -> None:
    for content in ("first", "second")[: 1 + revised]:
        name = new_id()
        append(store, sent(1, content=content), run_id=name.upper() if upper else name, inputs_hash=content)
    turns = session_turns(store.client.reads, SESSION)
    assert speakers(store.client.reads, SESSION, turns) == {turn_id(1): "theirs"}
    exported = exported_session(store.client.reads, SESSION, None, shown=turns, turns=turns)
    assert exported.capture_of(turns[0]).context == {"agent_id": "theirs"}
    assert exported.without_parent == {turn_id(1)}


@pytest.mark.parametrize("version", ["2.0.0-rc.1", "2.0.0+b1", "2.0", "v2", 2, "20000000000.0.0"])
def test_turns_of_a_newer_contract_are_refused_however_it_is_spelt(store: Memory, version: Any) -> None:
    append(store, sent(1), agent_version=version)
    with pytest.raises(NewerContract):
        session_turns(store.client.reads, SESSION)
    with pytest.raises(NewerContract):
        HeldSessions(store.client.reads).session(SESSION)


def test_invocations_whose_ids_are_none_are_in_the_record_and_in_no_pair(store: Memory) -> None:
    named = [{"tool_name": "look", "invocation_id": "call_1"}]
    append(store, sent(1, tool_invocations=named), sent(2, role="tool", tool_invocations=named))
    turns = session_turns(store.client.reads, SESSION)
    assert paired_calls(turns) == {}
    assert [turn.fields["tool_invocations"] for turn in turns] == [named, named]


def test_tokens_beyond_any_count_are_no_tokens(store: Memory) -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 10**4300 - 1, "total_tokens": 0}
    append(store, *(sent(number, token_usage=usage) for number in range(1, 4)))
    counted = statistics(session_turns(store.client.reads, SESSION)).token_usage
    assert counted == {"prompt_tokens": 3, "completion_tokens": 0, "total_tokens": 0}
