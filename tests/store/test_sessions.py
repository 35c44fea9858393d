"""GET /v1/sessions and /v1/sessions/{id}: what a session's row says, and who is listed where (CONTRACT 10)."""

from typing import Any

import pytest

from tests.store.surface import CONVERSATION, OTHER_CONVERSATION, SESSION, Surface, envelope, payload, turn, turn_id


def at(minute: int) -> str:
    return f"2026-03-02T08:{minute:02}:00Z"


def session(number: int) -> str:
    return f"5e550000-0000-4000-8000-{number:012x}"


def said(number: int, content: str, time: str = "2026-03-02T08:00:00Z", **more: Any) -> dict[str, Any]:
    return turn(number, content, timestamp=time, **more)


def tokens(total: Any) -> dict[str, Any]:
    return {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": total}


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["session_id"] for row in rows]


def test_a_row_says_all_that_is_known_of_a_session(surface: Surface) -> None:
    first = payload(
        said(2, "a greeting", "2026-03-01T10:00:00+02:00"),
        said(1, "Where is it?", "2026-03-01T08:00:01Z", token_usage=tokens(16)),
        context={"user_id": "bert", "agent_id": "shop", "source_system": "s", "tags": ["parcel", "Bern"]},
        native_session_id="chat/1",
    )
    second = payload(
        said(3, "And now?", "2026-02-01T00:00:00.123456789Z", metadata={"agent": "helper"}),
        said(4, "there", token_usage=tokens(4)),
        context={"user_id": "anna", "tags": ["Bern", "a"]},
        native_session_id="chat/other",
    )
    surface.capture(first, timestamp="2026-03-02T08:15:00Z")
    surface.capture(second, timestamp="2026-03-02T09:14:59.9999999+01:00")
    expected = {
        "session_id": SESSION,
        "native_session_id": "chat/1",
        "first_user_content": "Where is it?",
        "created_at": "2026-03-02T08:14:59.999999Z",
        "last_activity": "2026-03-02T08:15:00.000000Z",
        "first_turn_at": "2026-02-01T00:00:00.123456Z",
        "last_turn_at": "2026-03-02T08:00:00.000000Z",
        "turn_count": 4,
        "agents": ["helper", "shop"],
        "users": ["anna", "bert"],
        "tags": ["Bern", "a", "parcel"],
        "total_tokens": 20,
        "version": 2,
    }
    assert surface.session() == expected
    assert surface.session(SESSION.upper()) == expected
    assert surface.get("/v1/sessions") == {"sessions": [expected], "next_cursor": None}


def test_a_row_of_the_least_that_a_session_can_be(surface: Surface) -> None:
    surface.capture(payload({"turn_id": turn_id(1), "role": "assistant"}))
    assert surface.session() == {
        "session_id": SESSION,
        "first_user_content": None,
        "created_at": "2026-03-02T08:15:00.000000Z",
        "last_activity": "2026-03-02T08:15:00.000000Z",
        "first_turn_at": None,
        "last_turn_at": None,
        "turn_count": 1,
        "agents": [],
        "users": [],
        "tags": [],
        "version": 1,
    }


def test_the_same_session_sent_again_counts_its_tokens_once(surface: Surface) -> None:
    for count in (1, 2, 3):
        surface.capture(payload(*[said(n, f"{n}", token_usage=tokens(10 * n)) for n in range(1, count + 1)]))
    assert (surface.session()["total_tokens"], surface.session()["turn_count"]) == (60, 3)


def test_a_revision_changes_what_the_row_says_of_its_turn(surface: Surface) -> None:
    surface.capture(payload(said(1, "part", token_usage=tokens(10)), said(2, "answer")))
    surface.capture(payload(said(1, "part and the rest", "2026-03-02T08:00:05Z", token_usage=tokens(12))))
    row = surface.session()
    assert (row["first_user_content"], row["total_tokens"], row["turn_count"]) == ("part and the rest", 12, 2)
    assert (row["first_turn_at"], row["last_turn_at"]) == ("2026-03-02T08:00:00.000000Z", "2026-03-02T08:00:05.000000Z")
    assert row["version"] == 2
    surface.capture(payload(said(1, "no usage any more")))
    assert "total_tokens" not in surface.session()


def test_a_revision_that_makes_an_earlier_turn_the_users_makes_it_the_first(surface: Surface) -> None:
    surface.capture(payload(said(2, "who am I"), said(3, "me")))
    assert surface.session()["first_user_content"] == "me"
    surface.capture(payload(turn(2, "who am I", role="user")))
    assert surface.session()["first_user_content"] == "who am I"
    surface.capture(payload(turn(2, "who am I", role="system")))
    assert surface.session()["first_user_content"] == "me"


@pytest.mark.parametrize("content", ["x" * 1001, "\U0001f680" * 1001, "é\u0000\n" * 500])
def test_a_preview_is_cut_at_a_thousand_characters(content: str, surface: Surface) -> None:
    surface.capture(payload(said(1, content)))
    assert surface.session()["first_user_content"] == content[:1000]


def test_tokens_beyond_64_bits_are_summed_exactly(surface: Surface) -> None:
    most = 2**63 - 1
    surface.capture(payload(*[said(n, f"{n}", token_usage=tokens(most)) for n in range(1, 5)]))
    assert surface.session()["total_tokens"] == 4 * most


def test_a_capture_of_known_turns_is_activity_and_no_change(surface: Surface) -> None:
    surface.capture(payload(said(1, "a")), timestamp=at(1))
    surface.capture(payload(said(1, "a"), context={"user_id": "anna"}), timestamp=at(2))
    row = surface.session()
    assert (row["last_activity"], row["version"], row["users"]) == ("2026-03-02T08:02:00.000000Z", 1, ["anna"])


def test_an_event_without_turns_makes_no_session_and_is_no_activity(surface: Surface) -> None:
    surface.post(envelope(payload(turn(1)), inputs=None, timestamp=at(1)))
    assert surface.client.get(f"/v1/sessions/{SESSION}").status_code == 404
    assert surface.sessions() == []
    surface.capture(payload(turn(2)), timestamp=at(2))
    surface.post(envelope(payload(turn(3)), inputs=None, timestamp=at(3)))
    row = surface.session()
    assert (row["created_at"], row["last_activity"]) == ("2026-03-02T08:02:00.000000Z",) * 2
    assert (row["version"], row["turn_count"]) == (2, 1)


@pytest.mark.parametrize("name", ["7a7a7a7a-0000-4000-8000-00000000000a", "abc", "%20"])
def test_a_session_that_is_not_there_is_404(name: str, surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    answer = surface.client.get(f"/v1/sessions/{name}")
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


def test_the_newest_activity_comes_first_and_of_equal_instants_the_session_that_came_last(surface: Surface) -> None:
    for number, minute in enumerate([5, 9, 5, 1, 5]):
        surface.capture(payload(turn(1), session=session(number)), timestamp=at(minute))
    expected = [session(number) for number in (1, 4, 2, 0, 3)]
    assert ids(surface.sessions()) == expected
    for limit in (1, 2, 3):
        assert ids(surface.sessions(limit=limit)) == expected
    surface.capture(payload(turn(2), session=session(3)), timestamp=at(10))
    assert ids(surface.sessions()) == [session(3), *expected[:-1]]


def listed(surface: Surface) -> None:
    """Three sessions: of anna and bert, of bert alone, of nobody."""
    anna = {"user_id": "anna", "agent_id": "shop", "tags": ["a", "é\U0001f680"]}
    bert = {"user_id": "bert", "agent_id": "shop", "tags": ["b"]}
    surface.capture(payload(turn(1), session=session(1), context=anna), timestamp=at(1))
    surface.capture(
        payload(turn(2), session=session(1), context=bert, conversation=OTHER_CONVERSATION), timestamp=at(2)
    )
    surface.capture(payload(turn(1), session=session(2), context=bert), timestamp=at(3))
    surface.capture(payload(turn(1, metadata={"agent": "helper"}), session=session(3)), timestamp=at(4))


FILTERS: list[tuple[dict[str, Any], list[int]]] = [
    ({}, [3, 2, 1]),
    ({"user_id": "anna"}, [1]),
    ({"user_id": "bert"}, [2, 1]),
    ({"user_id": "Bert"}, []),
    ({"user_id": "carla"}, []),
    ({"agent_id": "shop"}, [2, 1]),
    ({"agent_id": "helper"}, [3]),
    ({"tag": "a"}, [1]),
    ({"tag": "é\U0001f680"}, [1]),
    ({"tag": "e\u0301\U0001f680"}, []),
    ({"user_id": "bert", "tag": "a"}, [1]),
    ({"user_id": "anna", "tag": "b"}, [1]),
    ({"conversation_id": CONVERSATION}, [3, 2, 1]),
    ({"conversation_id": OTHER_CONVERSATION.upper()}, [1]),
    ({"conversation_id": session(1)}, []),
    ({"from": at(2)}, [3, 2, 1]),
    ({"from": at(3)}, [3, 2]),
    ({"to": at(3)}, [1]),
    ({"from": at(2), "to": at(4)}, [2, 1]),
    ({"from": at(4), "user_id": "bert"}, []),
]


@pytest.mark.parametrize(("query", "expected"), FILTERS, ids=range(len(FILTERS)))
def test_a_filter_leaves_the_sessions_that_it_names(
    query: dict[str, Any], expected: list[int], surface: Surface
) -> None:
    listed(surface)
    assert ids(surface.sessions(**query)) == [session(number) for number in expected]
    assert ids(surface.sessions(**query, limit=1)) == [session(number) for number in expected]
    page = surface.get("/v1/sessions", **query, limit=1, total="true")
    assert page["total"] == len(expected)


def test_a_filter_finds_what_came_with_a_known_turn_or_a_revision(surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    surface.capture(payload(turn(1), context={"tags": ["late"]}))
    surface.capture(payload(turn(1, "revised", metadata={"agent": "helper"})))
    assert ids(surface.sessions(tag="late")) == ids(surface.sessions(agent_id="helper")) == [SESSION]


def test_an_offset_passes_over_the_first_and_a_total_counts_all(surface: Surface) -> None:
    for number in range(5):
        surface.capture(payload(turn(1), session=session(number)), timestamp=at(number))
    page = surface.get("/v1/sessions", offset=1, limit=2, total="true")
    assert (ids(page["sessions"]), page["total"]) == ([session(3), session(2)], 5)
    assert "total" not in surface.get("/v1/sessions", offset=1)
    assert surface.get("/v1/sessions", offset=7)["sessions"] == []
    rest = surface.get("/v1/sessions", limit=2, cursor=page["next_cursor"])
    assert ids(rest["sessions"]) == [session(1), session(0)]


@pytest.mark.parametrize(("name", "value"), [
    ("offset", "-1"), ("offset", "x"), ("total", "yes please"), ("conversation_id", "x"), ("from", "2026"), ("q", ""),
    ("q", "   "), ("q", "x" * 1001), ("order", "asc"), ("cursor", "x"), ("session_id", SESSION),
])  # fmt: skip
def test_a_query_that_says_nothing_is_400(name: str, value: str, surface: Surface) -> None:
    assert surface.client.get("/v1/sessions", params={name: value}).status_code == 400


def test_odd_contexts_name_nobody(surface: Surface) -> None:
    for number, context in enumerate(
        ["text", [], {"user_id": 7, "agent_id": None, "tags": "x"}, {"tags": [1, "a", []]}]
    ):
        surface.capture(payload(turn(number), context=context))
    row = surface.session()
    assert (row["users"], row["agents"], row["tags"]) == ([], [], ["a"])


@pytest.mark.parametrize("usage", ["text", {"total_tokens": "7"}, {"total_tokens": -1}, {"total_tokens": True}, {}])
def test_an_odd_usage_counts_nothing(usage: Any, surface: Surface) -> None:
    surface.capture(payload(turn(1, token_usage=usage), turn(2, token_usage={"total_tokens": 7.0})))
    assert surface.session()["total_tokens"] == 7


def test_counts_of_the_tenant(surface: Surface) -> None:
    assert surface.get("/v1/stats") == {"sessions": 0, "turns": 0, "events": 0, "bytes": 0}
    listed(surface)
    surface.post(envelope(payload(turn(9), session=session(9)), inputs=None))
    surface.capture(payload(turn(1, "revised"), session=session(1)))
    stats = surface.get("/v1/stats")
    assert {name: stats[name] for name in ("sessions", "turns", "events")} == {"sessions": 3, "turns": 4, "events": 6}
    assert stats["bytes"] > 0
