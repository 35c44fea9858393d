"""Which events ask for embeddings, and what their turns said."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.recall.semantic.feed import DEFERRED, deferred
from agent.recall.semantic.said import Said
from agent.ruvector.feed import FedEvent, read_event
from tests.recall.semantic.said_turns import SESSION, turn_id


def fed(envelope: Any) -> FedEvent:
    return read_event(json.dumps({"position": 7, **envelope}).encode())


def event(turns: Any, **changes: Any) -> dict[str, Any]:
    inputs = {"session_id": SESSION, "turns": turns}
    return {"payload": {"constraints_applied": [DEFERRED], "inputs": inputs, **changes}}


TURN = {"turn_id": turn_id(1), "role": "user", "content": "hello"}


def test_the_turns_of_an_event_that_asks_are_said_at_its_position() -> None:
    call = {"turn_id": turn_id(10).upper(), "content": "", "tool_invocations": [{"tool_name": "track"}, 5]}
    found = deferred(
        fed(event([TURN, call, {"turn_id": turn_id(3), "content": None}, "no turn", {"content": "no id"}]))
    )
    assert found is not None
    assert found.said == (Said(turn_id(1), 7, "hello"), Said(turn_id(10), 7, "track"))
    assert (found.session_id, found.blank) == (SESSION, 1)


def test_a_bare_event_stands_for_its_envelope() -> None:
    found = deferred(fed(event([TURN])["payload"]))
    assert found is not None
    assert [said.text for said in found.said] == ["hello"]


@pytest.mark.parametrize(
    "envelope",
    [
        event([TURN], constraints_applied=[]),
        event([TURN], constraints_applied=None, note=DEFERRED),
        event([TURN], inputs=None),
        event([TURN], inputs={"session_id": "no uuid", "turns": [TURN]}),
        {**event([TURN]), "erased": True},
        {"payload": DEFERRED},
    ],
)
def test_an_event_that_does_not_ask_is_passed_over(envelope: dict[str, Any]) -> None:
    assert deferred(fed(envelope)) is None


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just(DEFERRED),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["constraints_applied", "inputs", "turns", "turn_id", "content", "tool_invocations"]), inner
        )
    ),
    max_leaves=12,
)


@given(anything, anything)
def test_whatever_another_writer_says_nothing_is_raised(turns: Any, payload: Any) -> None:
    deferred(fed(event(turns)))
    deferred(fed({"payload": payload, "note": DEFERRED}))
    deferred(fed(event([{**TURN, "tool_invocations": turns, "content": payload}])))
