"""Hypothesis strategy: payloads that pass the schema, with ids so few that they clash."""

from typing import Any

from hypothesis import strategies as st

from agent.core.ids import called_invocation_uuid, orphan_invocation_uuid, session_uuid, turn_uuid
from tests.capture.cases import BASE, FIRST, SECOND, SESSION

_UUIDS = [SESSION, SESSION.upper(), FIRST, FIRST.upper(), SECOND]
_TURNS_OF_A = [turn_uuid(session_uuid("a"), name) for name in "ab"]
# Natively named, and the UUIDs that such names become: whoever knows the rules can name them, too.
_NATIVE = [
    *"abc",
    *_UUIDS,
    *_TURNS_OF_A,
    called_invocation_uuid(_TURNS_OF_A[0], 0),
    orphan_invocation_uuid(session_uuid("a"), "a"),
]


@st.composite
def clashing_payloads(draw: st.DrawFn, *, native: bool) -> dict[str, Any]:
    """A payload of up to four turns; with ``native`` it derives ids."""
    ids = st.sampled_from(_NATIVE if native else _UUIDS)
    turns = []
    for _ in range(draw(st.integers(1, 4))):
        turn = {**BASE["turns"][0], "turn_id": draw(ids), "role": draw(st.sampled_from(["user", "tool"]))}
        if draw(st.integers(0, 3)) == 0:
            turn["parent_turn_id"] = draw(ids | st.none())
        if names := draw(st.lists(ids, max_size=2)):
            turn["tool_invocations"] = [{"tool_name": "t", "invocation_id": name} for name in names]
        turns.append(turn)
    session = draw(st.sampled_from(["a", SESSION]) if native else st.just(SESSION))
    options = {"derive_ids": True} if native else {}
    return {"session_id": session, "conversation_id": FIRST, "turns": turns, "capture_options": options}
