"""Any interleaving of appends, duplicates, revisions and branches equals the model written from CONTRACT 10."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from store.sqlite import SqliteStore
from tests.store.model import ModelStore
from tests.store.surface import CONVERSATION, OTHER_CONVERSATION, SESSION, Surface, envelope, turn_id

OTHER_SESSION = "7a7a7a7a-0000-4000-8000-00000000000a"
# Letters in the ids, so that their case can differ.
IDS = [turn_id(0xA0 + number) for number in range(7)]
cased = st.sampled_from([str.lower, str.upper])
a_turn_id = st.builds(lambda change, name: change(name), cased, st.sampled_from(IDS))


@st.composite
def turns(draw: st.DrawFn, name: str) -> dict[str, Any]:
    sent: dict[str, Any] = {
        "turn_id": draw(cased)(name),
        "role": "user",
        "content": draw(st.sampled_from(["a", "b", "é\u0000\U0001f680"])),
        "timestamp": draw(st.sampled_from(["2026-03-02T08:00:00Z", "2026-03-02T08:00:01Z"])),
    }
    metadata: dict[str, Any] = {}
    if draw(st.integers(0, 3)) == 0:
        metadata["memory"] = {"leaf": draw(a_turn_id)}
    if draw(st.booleans()):
        metadata["derived"] = ["timestamp"]
    if metadata:
        sent["metadata"] = metadata
    if draw(st.integers(0, 4)) == 0:
        sent["tool_invocations"] = [{"tool_name": "t", "invocation_id": draw(cased)(turn_id(0xBEEF))}]
    if draw(st.integers(0, 2)) == 0:
        sent["parent_turn_id"] = draw(st.none() | a_turn_id)
    return sent


@st.composite
def writes(draw: st.DrawFn) -> tuple[dict[str, Any], str | None]:
    names = draw(st.lists(st.sampled_from(IDS), min_size=1, max_size=4, unique=True))
    payload = {
        "session_id": draw(st.sampled_from([SESSION, SESSION, SESSION, OTHER_SESSION])),
        "conversation_id": draw(st.sampled_from([CONVERSATION, CONVERSATION, OTHER_CONVERSATION])),
        "turns": [draw(turns(name)) for name in names],
    }
    body = envelope(
        payload,
        execution_ref=draw(st.none() | st.sampled_from(["run-1", "run-2", "run-3"])),
        timestamp=draw(st.sampled_from(["2026-03-02T08:15:00Z", "2026-03-02T08:16:00Z"])),
        constraints_applied=draw(st.sampled_from([[], [], ["content_redacted"], ["content_omitted"]])),
    )
    key = draw(st.sampled_from([None, None, body["payload"]["inputs_hash"], "key-1", "key-2"]))
    return body, key


@st.composite
def scripts(draw: st.DrawFn) -> list[tuple[dict[str, Any], str | None]]:
    """Writes, some of them sent again later, perhaps as another invocation."""
    script: list[tuple[dict[str, Any], str | None]] = []
    for _ in range(draw(st.integers(1, 12))):
        if script and draw(st.integers(0, 4)) == 0:
            body, key = draw(st.sampled_from(script))
            script.append((json.loads(json.dumps(body)), draw(st.sampled_from([key, None, "key-1"]))))
        else:
            script.append(draw(writes()))
    return script


@settings(max_examples=300, deadline=None)
@given(scripts())
def test_any_interleaving_of_writes_gives_the_receipts_and_turns_of_the_model(
    script: list[tuple[dict[str, Any], str | None]],
) -> None:
    model, surface = ModelStore(), Surface(SqliteStore(":memory:"))
    try:
        for body, key in script:
            answer, expected = surface.post(body, key=key), model.append(body, key)
            if expected is None:
                assert answer.status_code == 409
                continue
            receipt = answer.json()
            assert answer.status_code == (201 if expected["status"] == "accepted" else 200)
            assert {name: value for name, value in receipt.items() if name != "eventId"} == expected
        for session, kept in model.sessions.items():
            assert surface.turns(session) == [turn.record() for turn in kept]
        events = surface.get("/v1/decision-events")["events"]
        assert events == [{**event.envelope, "position": event.position} for event in model.events]
    finally:
        surface.close()


bounds = st.fixed_dictionaries(
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


@settings(max_examples=150, deadline=None)
@given(scripts(), st.lists(bounds, min_size=1, max_size=6))
def test_any_bounds_leave_the_turns_that_the_model_has_within_them(
    script: list[tuple[dict[str, Any], str | None]], queries: list[dict[str, Any]]
) -> None:
    model, surface = ModelStore(), Surface(SqliteStore(":memory:"))
    try:
        for body, key in script:
            surface.post(body, key=key)
            model.append(body, key)
        for session, kept in model.sessions.items():
            for query in queries:
                left = [
                    turn.record()
                    for turn in kept
                    if query.get("after_seq", 0) < turn.seq < query.get("before_seq", 100)
                    and turn.seq <= query.get("at_seq", 100)
                    and turn.version > query.get("changed_after", 0)
                    and turn.conversation == query.get("conversation_id", turn.conversation).lower()
                ]
                left = left[-query.get("last", 100) :][: query.get("limit", 100)]
                assert surface.turns(session, **query) == left
    finally:
        surface.close()
