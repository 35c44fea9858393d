"""Hypothesis strategies: JSON values, and capture payloads that the contract accepts."""

import uuid
from typing import Any

from hypothesis import strategies as st

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(text, children, max_size=4),
    max_leaves=20,
)
uuids = st.uuids().map(str) | st.uuids().map(lambda value: str(value).upper())
counts = st.integers(0, 2**63 - 1)
usages = st.fixed_dictionaries({"prompt_tokens": counts, "completion_tokens": counts, "total_tokens": counts})
timestamps = st.sampled_from(
    [
        "2026-03-02T08:15:00Z",
        "2026-03-02t08:15:00.000001z",
        "2016-12-31T23:59:60Z",
        "0001-01-01T00:00:00-00:00",
        "2026-03-02T08:15:00+02:00",
    ]
)


@st.composite
def payloads(draw: st.DrawFn, max_turns: int = 6) -> dict[str, Any]:
    """A native payload: parents earlier or elsewhere, calls and results, any metadata, any unknown field."""
    count = draw(st.integers(1, max_turns))
    ids = draw(st.lists(st.uuids(), min_size=2 * count + 3, max_size=2 * count + 3, unique=True))
    session, conversation, outside, *rest = (str(value) for value in ids)
    turn_ids, invocation_ids = rest[:count], rest[count:]
    turns = [draw(_turn(index, turn_ids, invocation_ids, outside)) for index in range(count)]
    payload: dict[str, Any] = {"session_id": session, "conversation_id": conversation, "turns": turns}
    if draw(st.booleans()):
        payload["capture_options"] = {"create_lineage": draw(st.booleans()), "compute_embeddings": draw(st.booleans())}
    if draw(st.booleans()):
        payload["context"] = {"agent_id": draw(text), "tags": draw(st.lists(text, max_size=2))}
    if draw(st.booleans()):
        payload["x_" + draw(text)] = draw(json_values)
    return payload


@st.composite
def _turn(draw: st.DrawFn, index: int, turn_ids: list[str], invocation_ids: list[str], outside: str) -> dict[str, Any]:
    cased = st.sampled_from([str.lower, str.upper])
    turn: dict[str, Any] = {
        "turn_id": draw(cased)(turn_ids[index]),
        "role": draw(st.sampled_from(["user", "assistant", "system", "tool"])),
        "content": draw(text | st.just("")),
        "timestamp": draw(timestamps),
    }
    parent = draw(st.sampled_from(["absent", "root", "outside", "earlier"]))
    if parent == "root":
        turn["parent_turn_id"] = None
    elif parent == "outside":
        turn["parent_turn_id"] = draw(cased)(outside)
    elif parent == "earlier" and index:
        turn["parent_turn_id"] = draw(cased)(draw(st.sampled_from(turn_ids[:index])))
    if draw(st.booleans()):
        turn["tool_invocations"] = [
            {"tool_name": "t", "invocation_id": draw(cased)(name), "arguments": draw(json_values)}
            for name in draw(st.lists(st.sampled_from(invocation_ids), max_size=3))
        ]
    if draw(st.booleans()):
        turn["token_usage"] = draw(usages)
    if draw(st.booleans()):
        turn["metadata"] = draw(
            st.dictionaries(text, json_values, max_size=3) | st.builds(lambda: {"memory": {"state_only": True}})
        )
    return turn


def reordered(value: Any, order: Any) -> Any:
    """``value`` with the keys of every object in another order; ``order`` shuffles a list in place."""
    if isinstance(value, dict):
        items = [(key, reordered(member, order)) for key, member in value.items()]
        order(items)
        return dict(items)
    if isinstance(value, list):
        return [reordered(member, order) for member in value]
    return value


def fresh_payload(turn_count: int = 2, content: str = "Where is parcel 4471?") -> dict[str, Any]:
    """A valid payload with random ids, for tests that need a capture nobody made before."""
    return {
        "session_id": str(uuid.uuid4()),
        "conversation_id": str(uuid.uuid4()),
        "turns": [
            {
                "turn_id": str(uuid.uuid4()),
                "role": ("user", "assistant")[index % 2],
                "content": content,
                "timestamp": "2026-03-02T08:15:00Z",
            }
            for index in range(turn_count)
        ],
    }
