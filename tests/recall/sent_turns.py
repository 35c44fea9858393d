"""Strategies of what a session may be sent: payloads of one session, whose turns name one another in any way."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.core.session_turns import MISSING, ONE, THREE, TWO, turn_id
from tests.recall.embedded import SESSION

named = st.sampled_from([turn_id(number) for number in range(1, 13)] + [MISSING])
memories = st.fixed_dictionaries(
    {},
    optional={
        "leaf": named | named.map(str.upper) | st.just("no id"),
        "reset": st.sampled_from([True, "all", 5]),
        "keep_last": st.sampled_from([0, 1, 2, -1]),
        "state_only": st.just(True),
    },
)


@st.composite
def captures(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Up to 12 turns in up to 5 payloads of one session: parents given or not, of any turn, there or not."""
    order = draw(st.permutations(range(1, draw(st.integers(1, 12)) + 1)))
    made: list[dict[str, Any]] = []
    left = list(order)
    while left:
        size = draw(st.integers(1, len(left))) if len(made) < 4 else len(left)
        batch, left = left[:size], left[size:]
        turns = [draw(sent_turn(number, batch[place + 1 :])) for place, number in enumerate(batch)]
        made.append(
            {"session_id": SESSION, "conversation_id": draw(st.sampled_from([ONE, TWO, THREE])), "turns": turns}
        )
    return made


@st.composite
def sent_turn(draw: st.DrawFn, number: int, later: list[int]) -> dict[str, Any]:
    role = draw(st.sampled_from(["user", "assistant", "system"]))
    turn: dict[str, Any] = {
        "turn_id": turn_id(number),
        "role": role,
        "content": draw(st.sampled_from(["", "words"])),
        "timestamp": "2026-03-02T08:15:00Z",
    }
    # A parent may be neither the turn itself nor a later one of its payload (CONTRACT 1).
    forbidden = {turn_id(each) for each in [number, *later]}
    if draw(st.booleans()):
        turn["parent_turn_id"] = draw(st.none() | named.filter(lambda name: name not in forbidden))
    if draw(st.booleans()):
        turn["metadata"] = {"memory": draw(memories)}
    return turn
