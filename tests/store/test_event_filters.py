"""GET /v1/decision-events: each filter, all of them together, and cursors that belong to their list (CONTRACT 10)."""

from typing import Any

import pytest

from tests.store.surface import CONVERSATION, OTHER_CONVERSATION, SESSION, Surface, envelope, payload, turn

THIRD_CONVERSATION = "c3c3c3c3-0000-4000-8000-000000000003"
OTHER_SESSION = "7a7a7a7a-0000-4000-8000-00000000000a"
PLAN = {
    "type": "plan_approved",
    "runId": "plan",
    "timestamp": "2026-03-02T08:17:00Z",
    "payload": {"agent_id": "planner", "decision_type": "plan", "outputs": {"session_id": SESSION}},
}
FILTERS: list[tuple[dict[str, str], list[int]]] = [
    ({}, [1, 2, 3, 4, 5, 6, 7]),
    ({"session_id": SESSION}, [1, 2, 5, 6]),
    ({"session_id": OTHER_SESSION.upper()}, [3, 7]),
    ({"conversation_id": CONVERSATION}, [1, 3]),
    ({"conversation_id": THIRD_CONVERSATION}, [6, 7]),
    ({"session_id": SESSION, "conversation_id": THIRD_CONVERSATION}, [6]),
    ({"conversation_id": OTHER_CONVERSATION.upper()}, [2]),
    ({"session_id": SESSION, "conversation_id": CONVERSATION}, [1]),
    ({"agent_id": "conversation-memory-agent"}, [1, 2, 6, 7]),
    ({"agent_id": "another-agent"}, [3]),
    ({"agent_id": "planner", "session_id": SESSION}, [5]),
    ({"agent_id": "Planner"}, []),
    ({"decision_type": "conversation_capture"}, [1, 2, 3, 6, 7]),
    ({"decision_type": "é\U0001f680"}, [4]),
    ({"from": "2026-03-02T08:16:00Z"}, [2, 3, 4, 5, 6, 7]),
    ({"from": "2026-03-02T09:16:00.000001+01:00"}, [3, 4, 5, 6, 7]),
    ({"to": "2026-03-02T08:16:00Z"}, [1]),
    ({"to": "2026-03-02T08:16:00.000001Z"}, [1, 2]),
    ({"from": "2026-03-02T08:16:00Z", "to": "2026-03-02T08:17:00Z"}, [2, 3]),
    ({"from": "2026-03-02T08:17:00Z", "to": "2026-03-02T08:16:00Z"}, []),
    ({"from": "0001-01-01T00:00:00Z", "to": "9999-12-31T23:59:59.999999999Z"}, [1, 2, 3, 4, 5, 6, 7]),
    ({"session_id": SESSION, "from": "2026-03-02T08:16:00Z", "decision_type": "plan"}, [5]),
]


def filled(surface: Surface) -> None:
    """Seven events. The second was captured east of Greenwich, the third a microsecond after it.

    The last two bring no turn to the conversation that they name: one knows its turn, the other has no inputs.
    """
    surface.capture(payload(turn(1)))
    surface.capture(payload(turn(2), conversation=OTHER_CONVERSATION), timestamp="2026-03-02T09:16:00+01:00")
    surface.capture(
        payload(turn(1), session=OTHER_SESSION), agent_id="another-agent", timestamp="2026-03-02T08:16:00.000001999Z"
    )
    other = {"decision_type": "é\U0001f680", "execution_ref": "bare", "timestamp": "2026-03-02T08:17:00Z"}
    assert surface.post(other).status_code == 201
    assert surface.post(PLAN).status_code == 201
    late = {"timestamp": "2026-03-02T08:18:00Z"}
    surface.capture(payload(turn(1), conversation=THIRD_CONVERSATION), **late)
    outputs = {"session_id": OTHER_SESSION, "conversation_id": THIRD_CONVERSATION}
    surface.post(envelope(payload(turn(9)), inputs=None, outputs=outputs, **late))


@pytest.mark.parametrize(("query", "expected"), FILTERS, ids=range(len(FILTERS)))
def test_a_filter_leaves_what_it_names_in_both_orders_and_page_by_page(
    query: dict[str, Any], expected: list[int], surface: Surface
) -> None:
    filled(surface)
    assert [event["position"] for event in surface.events(**query)] == expected
    assert [event["position"] for event in surface.events(**query, limit=1)] == expected
    assert [event["position"] for event in surface.events(**query, limit=2, order="desc")] == expected[::-1]


@pytest.mark.parametrize("changed", [
    {"order": "desc"},
    {"session_id": SESSION},
    {"conversation_id": CONVERSATION},
    {"agent_id": "planner"},
    {"decision_type": "plan"},
    {"from": "2026-03-02T08:15:00Z"},
    {"to": "2027-03-02T08:15:00Z"},
])  # fmt: skip
def test_a_cursor_of_another_list_is_refused(changed: dict[str, str], surface: Surface) -> None:
    filled(surface)
    cursor = surface.get("/v1/decision-events", limit=2)["next_cursor"]
    assert surface.client.get("/v1/decision-events", params={"cursor": cursor, **changed}).status_code == 400


def test_a_cursor_goes_on_in_its_list_with_another_limit_and_in_another_writing_of_the_filter(surface: Surface) -> None:
    filled(surface)
    cursor = surface.get("/v1/decision-events", limit=1, session_id=SESSION)["next_cursor"]
    rest = surface.get("/v1/decision-events", limit=1000, session_id=SESSION.upper(), cursor=cursor)
    assert [event["position"] for event in rest["events"]] == [2, 5, 6]
    assert rest["next_cursor"] is None


def test_a_page_that_ends_with_the_list_has_no_cursor_and_one_that_is_full_before_its_end_has(surface: Surface) -> None:
    filled(surface)
    assert surface.get("/v1/decision-events", limit=7)["next_cursor"] is None
    assert surface.get("/v1/decision-events", limit=6)["next_cursor"] is not None
    assert surface.get("/v1/decision-events", limit=4, agent_id="conversation-memory-agent")["next_cursor"] is None


def test_events_that_come_between_two_pages_are_neither_skipped_nor_repeated(surface: Surface) -> None:
    for number in range(1, 5):
        surface.capture(payload(turn(number)))
    up = surface.get("/v1/decision-events", limit=3)
    down = surface.get("/v1/decision-events", limit=3, order="desc")
    surface.capture(payload(turn(5)))
    up_rest = surface.get("/v1/decision-events", limit=3, cursor=up["next_cursor"])
    down_rest = surface.get("/v1/decision-events", limit=3, order="desc", cursor=down["next_cursor"])
    assert [event["position"] for event in up["events"] + up_rest["events"]] == [1, 2, 3, 4, 5]
    assert [event["position"] for event in down["events"] + down_rest["events"]] == [4, 3, 2, 1]


@pytest.mark.parametrize(("name", "value"), [
    ("from", "2026-03-02"),
    ("to", "2026-03-02T08:15:00"),
    ("from", ""),
    ("to", "yesterday"),
    ("session_id", "x"),
    ("conversation_id", "x"),
    ("order", "up"),
])  # fmt: skip
def test_a_filter_that_says_nothing_is_400(name: str, value: str, surface: Surface) -> None:
    assert surface.client.get("/v1/decision-events", params={name: value}).status_code == 400


@pytest.mark.parametrize(
    "path", ["/v1/decision-events", "/events/decisions", "/v1/sessions", f"/v1/sessions/{SESSION}/turns"]
)
@pytest.mark.parametrize("limit", ["-1", "abc", "0", "1000000"])
def test_h32_a_limit_out_of_range_is_400_and_names_the_range(path: str, limit: str, surface: Surface) -> None:
    answer = surface.client.get(path, params={"limit": limit})
    assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")
    assert answer.json()["message"] == "limit must be a whole number from 1 to 1000"


@pytest.mark.parametrize("path", ["/v1/decision-events", "/events/decisions", "/v1/sessions"])
def test_a_page_has_a_hundred_where_no_limit_is_given_and_at_most_a_thousand(path: str, surface: Surface) -> None:
    for number in range(102):
        session = f"5e550000-0000-4000-8000-{number:012x}"
        assert surface.post(envelope(payload(turn(1), session=session))).status_code == 201
    kept = "sessions" if path == "/v1/sessions" else "events"
    assert len(surface.get(path)[kept]) == 100
    assert len(surface.get(path, limit=1000)[kept]) == 102
    assert len(surface.get(path, limit=1)[kept]) == 1
