"""Hypothesis strategies for what happens to a store: captures and other events, sent again, erasures, reads.

Few ids, users and words, so that everything meets everything.
"""

import json
from typing import Any

from hypothesis import strategies as st

from agent.core.decision import Outputs
from tests.store.surface import CAPTURED_AT, CONVERSATION, OTHER_CONVERSATION, SESSION, envelope, turn_id

OTHER_SESSION = "7a7a7a7a-0000-4000-8000-00000000000a"
SESSIONS = [SESSION, SESSION, OTHER_SESSION]
# Letters in the ids, so that their case can differ.
IDS = [turn_id(0xA0 + number) for number in range(7)]
USERS = ["anna", "bert"]
CALL = {"tool_name": "t", "invocation_id": turn_id(0xBEEF)}
TIMES = ["2026-03-02T08:15:00Z", "2026-03-02T09:16:00.5+01:00", "2026-03-01T00:00:00.000000001Z"]
cased = st.sampled_from([str.lower, str.upper])
a_turn_id = st.builds(lambda change, name: change(name), cased, st.sampled_from(IDS))
# Of the contract's shape or not; what is said of the history outlasts an erasure, what else there is does not.
memories = st.fixed_dictionaries(
    {},
    optional={
        "state_only": st.just(True),
        "leaf": a_turn_id | st.just("no id"),
        "reset": st.sampled_from([True, "all", False, "a secret"]),
        "keep_last": st.sampled_from([0, 2, 2**53, 2**53 + 1, -1, True, "2"]),
        "params": st.just({"a": "b"}),
    },
)
usages = st.integers(0, 3).map(lambda total: {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": total})


@st.composite
def turns(draw: st.DrawFn, name: str) -> dict[str, Any]:
    sent: dict[str, Any] = {
        "turn_id": draw(cased)(name),
        "role": draw(st.sampled_from(["user", "user", "assistant", "system"])),
        "content": draw(st.sampled_from(["a", "b", "é\u0000\U0001f680"])),
        "timestamp": draw(st.sampled_from(["2026-03-02T08:00:00Z", "2026-03-02T08:00:01Z"])),
    }
    metadata: dict[str, Any] = {}
    if draw(st.integers(0, 3)) == 0:
        metadata["memory"] = draw(memories)
        if sent["role"] == "system" and "state_only" in metadata["memory"]:
            sent["content"] = draw(st.sampled_from(["", "", "a"]))
    if draw(st.booleans()):
        metadata["derived"] = ["timestamp"]
    if draw(st.integers(0, 4)) == 0:
        metadata["agent"] = draw(st.sampled_from(["x", "y"]))
    if metadata:
        sent["metadata"] = metadata
    if draw(st.integers(0, 3)) == 0:
        sent["token_usage"] = draw(usages)
    if draw(st.integers(0, 4)) == 0:
        sent["tool_invocations"] = [{**CALL, "invocation_id": draw(cased)(CALL["invocation_id"])}]
    if draw(st.integers(0, 2)) == 0:
        sent["parent_turn_id"] = draw(st.none() | a_turn_id)
    return sent


@st.composite
def contexts(draw: st.DrawFn) -> dict[str, Any]:
    tags = draw(st.lists(st.sampled_from(["p", "q", "r"]), max_size=2))
    context: dict[str, Any] = {"tags": tags} if tags else {}
    for name, values in (("user_id", USERS), ("agent_id", ["x", "z"])):
        if draw(st.integers(0, 2)):
            context[name] = draw(st.sampled_from(values))
    return context


@st.composite
def payloads(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.lists(st.sampled_from(IDS), min_size=1, max_size=4, unique=True))
    payload: dict[str, Any] = {
        "session_id": draw(cased)(draw(st.sampled_from(SESSIONS))),
        "conversation_id": draw(st.sampled_from([CONVERSATION, CONVERSATION, OTHER_CONVERSATION])),
        "turns": [draw(turns(name)) for name in names],
    }
    if draw(st.integers(0, 2)):
        payload["context"] = draw(contexts())
    if draw(st.integers(0, 3)) == 0:
        payload["note"] = draw(st.sampled_from(["n", 1.5, None]))
    if draw(st.integers(0, 5)) == 0:
        payload["native_session_id"] = draw(st.sampled_from(["chat-1", "chat-2"]))
    return payload


@st.composite
def captures(draw: st.DrawFn) -> dict[str, Any]:
    """The write of a capture, with the graph that the function would make of it or with none."""
    payload = draw(payloads())
    timestamp = draw(st.sampled_from(TIMES))
    outputs: dict[str, Any] = {"session_id": payload["session_id"], "nodes_created": [], "edges_created": []}
    if draw(st.booleans()):
        outputs = json.loads(Outputs.of(payload).encode(CAPTURED_AT))
    if draw(st.integers(0, 3)) == 0:
        outputs["entities"] = [
            {"turn_id": sent["turn_id"].lower(), "type": "t", "start": 0, "end": 1, "text_sha256": "ab"}
            for sent in payload["turns"]
        ]
    return envelope(
        payload,
        execution_ref=draw(st.none() | st.sampled_from(["run-1", "run-2", "run-3"])),
        timestamp=timestamp,
        outputs=outputs,
        constraints_applied=draw(st.sampled_from([[], [], [], ["content_redacted"], ["content_omitted"]])),
        agent_version=draw(st.sampled_from(["1.0.0", "1.0.0", "1.0.0", "1.2.0", "2.0.0"])),
    )


@st.composite
def others(draw: st.DrawFn) -> dict[str, Any]:
    """An event that makes no turns: without inputs, or of another type."""
    kind = draw(st.sampled_from(["conversation_capture", "plan_approved"]))
    number = draw(st.integers(0, 3))
    payload = {
        "agent_id": draw(st.sampled_from(["conversation-memory-agent", "planner"])),
        "decision_type": kind,
        "inputs_hash": f"{number}",
        "outputs": {"session_id": draw(st.sampled_from(SESSIONS)), "n": number},
        "context": draw(contexts()),
    }
    return {
        "type": kind,
        "runId": f"other-{kind}-{number}",
        "timestamp": draw(st.sampled_from(TIMES)),
        "payload": payload,
        "extra": draw(st.sampled_from([1, "é\u0000"])),
    }


writes = st.tuples(
    captures() | captures() | captures() | others(), st.sampled_from([None, None, None, "key-1", "key-2"])
)
erasures = (
    st.tuples(st.just("session"), st.sampled_from(SESSIONS))
    | st.tuples(st.just("turn"), a_turn_id)
    | st.tuples(st.just("user"), st.sampled_from(USERS))
)
event_queries = st.fixed_dictionaries(
    {},
    optional={
        "session_id": st.sampled_from(SESSIONS).flatmap(lambda name: cased.map(lambda change: change(name))),
        "conversation_id": st.sampled_from([CONVERSATION, OTHER_CONVERSATION]),
        "agent_id": st.sampled_from(["conversation-memory-agent", "planner"]),
        "decision_type": st.sampled_from(["conversation_capture", "plan_approved"]),
        "from": st.sampled_from(TIMES),
        "to": st.sampled_from(TIMES),
        "order": st.sampled_from(["asc", "desc"]),
        "limit": st.integers(1, 4),
    },
)
session_queries = st.fixed_dictionaries(
    {},
    optional={
        "user_id": st.sampled_from(USERS),
        "agent_id": st.sampled_from(["x", "y", "z"]),
        "tag": st.sampled_from(["p", "q"]),
        "from": st.sampled_from(TIMES),
        "to": st.sampled_from(TIMES),
        "limit": st.integers(1, 2),
    },
)
turn_queries = st.fixed_dictionaries(
    {},
    optional={
        "after_seq": st.integers(0, 8),
        "before_seq": st.integers(0, 9),
        "at_seq": st.integers(0, 8),
        "changed_after": st.integers(0, 8),
        "last": st.integers(1, 8),
        "limit": st.integers(1, 8),
        "conversation_id": st.sampled_from([CONVERSATION, OTHER_CONVERSATION.upper()]),
    },
)
