"""``POST .../hydrate``: what a model is to be shown, the current message in it exactly once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from agent.core.ids import session_uuid, turn_uuid
from tests.recall.http.site import SESSION, Site, error_of, payload, said, site, turn_id

PATH = f"/api/conversation/{SESSION}/hydrate"
CALL = {"tool_name": "track", "invocation_id": turn_id(77)}


@pytest.fixture
def made() -> Iterator[Site]:
    with site() as made:
        yield made


def hydrated(made: Site, message: str, path: str = PATH, **more: Any) -> Any:
    response = made.post(path, {"user_message": message, **more})
    assert response.status_code == 200, response.get_data(as_text=True)
    return response.get_json()


def contents(answer: Any) -> list[str]:
    return [message["content"] for message in answer["messages"]]


def test_the_first_message_of_a_chat_needs_no_session(made: Site) -> None:
    answer = hydrated(made, "Hello", "/api/conversation/brand%20new/hydrate", turn_id="m-1")
    session = session_uuid("brand new")
    assert answer == {
        "success": True,
        "session_id": session,
        "messages": [
            {"role": "user", "content": "Hello", "turn_id": turn_uuid(session, "m-1"), "current": True},
        ],
        "message_count": 1,
        "truncated": False,
        "erased": 0,
        "left_out": 0,
        "state": {
            "params": {},
            "waiting_for_param": None,
            "last_intent_id": None,
            "last_result": None,
            "plan_execution": None,
        },
        "resolution": None,
        "version": 0,
    }


def test_it_writes_nothing(made: Site) -> None:
    hydrated(made, "Hello")
    assert made.get("/api/stats")["events"] == 0
    assert made.ask(f"/api/conversation/{SESSION}").status_code == 404


def test_prior_messages_come_before_the_current_one_with_the_state(made: Site) -> None:
    memory = {"params": {"order_id": "O-1"}, "waiting_for_param": "city"}
    made.capture(payload(said(1, "a"), said(2, "b", "assistant", metadata={"memory": memory})))
    answer = hydrated(made, "c")
    assert contents(answer) == ["a", "b", "c"]
    assert [message.get("current") for message in answer["messages"]] == [None, None, True]
    assert (answer["message_count"], answer["truncated"], answer["version"]) == (3, False, 1)
    assert (answer["state"]["params"], answer["state"]["waiting_for_param"]) == ({"order_id": "O-1"}, "city")
    assert answer["messages"][1]["metadata"] == {"memory": memory}


def test_a_message_that_was_captured_already_is_there_once(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "b", "assistant"), said(3, "c")))
    answer = hydrated(made, "c", turn_id=turn_id(3))
    assert contents(answer) == ["a", "b", "c"]
    assert answer["messages"][-1] == {
        "role": "user",
        "content": "c",
        "timestamp": "2026-03-02T08:00:03Z",
        "turn_id": turn_id(3),
        "seq": 3,
        "conversation_id": made.get(f"/api/conversation/{SESSION}")["messages"][0]["conversation_id"],
        "current": True,
    }
    assert answer["message_count"] == 3


def test_an_own_id_counts_as_the_uuid_that_it_becomes(made: Site) -> None:
    turn = {**said(1, "a"), "turn_id": "m-1"}
    made.capture(payload(turn, session="chat", capture_options={"derive_ids": True}))
    path = "/api/conversation/chat/hydrate"
    for name in ("m-1", turn_uuid(session_uuid("chat"), "m-1").upper()):
        assert contents(hydrated(made, "a", path, turn_id=name)) == ["a"]
    assert contents(hydrated(made, "a", path, turn_id="m-2")) == ["a", "a"]


def test_equal_text_never_decides(made: Site) -> None:
    made.capture(payload(said(1, "yes"), said(2, "Sure?", "assistant"), said(3, "yes")))
    assert contents(hydrated(made, "yes")) == ["yes", "Sure?", "yes", "yes"]


def test_a_request_that_is_tried_again_after_its_answer_came_is_shown_what_came_before(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "b", "assistant"), said(3, "c"), said(4, "d", "assistant")))
    answer = hydrated(made, "c", turn_id=turn_id(3))
    assert contents(answer) == ["a", "b", "c"]


def test_the_current_message_is_in_the_words_that_the_service_has(made: Site) -> None:
    made.capture(payload(said(1, "my card is [redacted:card]")))
    assert contents(hydrated(made, "my card is 4111", turn_id=turn_id(1))) == ["my card is 4111"]


def test_a_message_on_another_branch_is_shown_what_its_own_path_shows(made: Site) -> None:
    made.capture(payload(said(1, "q"), said(2, "old", "assistant"), said(3, "old question")))
    made.capture(payload({**said(4, "new", "assistant"), "parent_turn_id": turn_id(1)}))
    assert made.history() == ["q", "new"]
    assert contents(hydrated(made, "old question", turn_id=turn_id(3))) == ["q", "old", "old question"]


def test_a_message_that_was_cleared_since_is_still_there_once(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "b")))
    made.capture(payload(said(3, "c", "assistant", metadata={"memory": {"reset": True}})))
    assert contents(hydrated(made, "b", turn_id=turn_id(2))) == ["a", "b"]


def test_the_turn_of_somebody_else_is_no_user_message(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "b", "assistant")))
    response = made.post(PATH, {"user_message": "b", "turn_id": turn_id(2)})
    assert response.status_code == 400
    assert error_of(response)["details"]["errors"] == [{"path": "$.turn_id", "rule": "user_turn"}]


def test_a_conversation_of_the_session_is_asked_for_and_a_new_one_is_empty(made: Site) -> None:
    made.capture(payload(said(1, "mine"), conversation="main", capture_options={"derive_ids": True}))
    made.capture(payload(said(2, "other"), conversation=turn_id(50)))
    assert contents(hydrated(made, "x", f"{PATH}?conversation_id=main")) == ["mine", "x"]
    new = hydrated(made, "x", f"{PATH}?conversation_id=new")
    assert (contents(new), new["version"]) == (["x"], 2)


# How many.


@pytest.fixture
def short() -> Iterator[Site]:
    """A site that gives four prior messages."""
    with site(most=4) as made:
        yield made


def test_at_most_so_many_prior_messages_come_the_newest_ones(short: Site) -> None:
    short.capture(payload(*(said(number, f"t{number}") for number in range(1, 11))))
    answer = hydrated(short, "now")
    assert contents(answer) == ["t7", "t8", "t9", "t10", "now"]
    assert (answer["message_count"], answer["truncated"]) == (11, True)
    assert short.telemetry.of("context_loaded") == [(SESSION, 10, ["t7", "t8", "t9", "t10"])]


def test_system_turns_stay_and_count(short: Site) -> None:
    short.capture(payload(said(1, "Be kind.", "system"), *(said(number, f"t{number}") for number in range(2, 11))))
    assert contents(hydrated(short, "now")) == ["Be kind.", "t8", "t9", "t10", "now"]


def test_a_result_whose_call_is_cut_off_goes_too(short: Site) -> None:
    asks = said(2, "", "assistant", tool_invocations=[CALL])
    tells = said(3, "Lyon", "tool", tool_invocations=[CALL])
    short.capture(payload(said(1, "a"), asks, tells, said(4, "d"), said(5, "e"), said(6, "f")))
    assert contents(hydrated(short, "now")) == ["d", "e", "f", "now"]


def test_of_a_result_that_answers_two_calls_the_call_that_is_not_cut_off_goes_too(short: Site) -> None:
    other = {"tool_name": "track", "invocation_id": turn_id(78)}
    turns = [
        said(1, "a"),
        said(2, "", "assistant", tool_invocations=[CALL]),
        said(3, "", "assistant", tool_invocations=[other]),
        said(4, "Lyon, Brest", "tool", tool_invocations=[CALL, other]),
        said(5, "Both are under way.", "assistant"),
        said(6, "Thanks."),
    ]
    short.capture(payload(*turns))
    answer = hydrated(short, "now")
    assert contents(answer) == ["Both are under way.", "Thanks.", "now"]
    assert (answer["message_count"], answer["truncated"]) == (7, True)


def test_a_result_whose_call_nobody_captured_is_left_out_and_counted(short: Site) -> None:
    turns = [said(number, f"t{number}") for number in (1, 2, 3, 4)]
    short.capture(payload(*turns, said(5, "Lyon", "tool", tool_invocations=[CALL]), said(6, "f")))
    answer = hydrated(short, "now")
    assert contents(answer) == ["t3", "t4", "f", "now"]
    assert (answer["left_out"], answer["truncated"], answer["message_count"]) == (1, True, 7)
    assert "Lyon" in short.history()


@pytest.mark.parametrize(("words", "kept"), [("", []), (" \n", []), ("Let me look.", ["Let me look."])])
@pytest.mark.parametrize("whole_bytes", [0, 1 << 20])
def test_an_exchange_with_an_erased_part_is_left_out_whole(words: str, kept: list[str], whole_bytes: int) -> None:
    other = {"tool_name": "track", "invocation_id": turn_id(78)}
    with site(whole_bytes=whole_bytes) as made:
        made.capture(
            payload(
                said(1, "a"),
                said(2, words, "assistant", tool_invocations=[CALL, other]),
                said(3, "Lyon", "tool", tool_invocations=[CALL]),
                said(4, "Brest", "tool", tool_invocations=[other]),
                said(5, "Both are under way.", "assistant"),
            )
        )
        made.client.erasure.turn(turn_id(4))
        answer = hydrated(made, "now")
        assert contents(answer) == ["a", *kept, "Both are under way.", "now"]
        assert not any("tool_calls" in message for message in answer["messages"])
        assert (answer["erased"], answer["left_out"], answer["truncated"]) == (1, 2, False)
        made.client.erasure.turn(turn_id(2))
        answer = hydrated(made, "now")
        assert contents(answer) == ["a", "Both are under way.", "now"]
        assert (answer["erased"], answer["left_out"]) == (2, 1)


def test_a_call_that_waits_for_its_result_is_not_given(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "Let me look.", "assistant", tool_invocations=[CALL])))
    answer = hydrated(made, "now")
    assert contents(answer) == ["a", "Let me look.", "now"]
    assert "tool_calls" not in answer["messages"][1]
    assert answer["left_out"] == 1


def test_many_system_turns_leave_half_of_the_room_to_what_is_said(short: Site) -> None:
    rules = [said(number, f"rule {number}", "system") for number in range(1, 11)]
    short.capture(payload(*rules, said(11, "q"), said(12, "r", "assistant"), said(13, "s")))
    assert contents(hydrated(short, "now")) == ["rule 1", "rule 10", "r", "s", "now"]


def test_a_turn_that_only_carries_state_is_no_user_message(made: Site) -> None:
    state = said(2, "", "system", metadata={"memory": {"state_only": True, "params": {"a": 1}}})
    made.capture(payload(said(1, "a"), state))
    response = made.post(PATH, {"user_message": "b", "turn_id": turn_id(2)})
    assert response.status_code == 400
    assert error_of(response)["details"]["errors"] == [{"path": "$.turn_id", "rule": "user_turn"}]


def test_the_state_is_that_before_the_message_however_often_it_is_asked_for(made: Site) -> None:
    def of(**params: int) -> dict[str, Any]:
        return {"metadata": {"memory": {"params": params}}}

    made.capture(payload(said(1, "a", **of(a=1)), said(2, "b", "assistant")))
    first = hydrated(made, "c", turn_id=turn_id(3))["state"]
    assert first["params"] == {"a": 1}
    made.capture(payload(said(3, "c", **of(c=3))))
    assert hydrated(made, "c", turn_id=turn_id(3))["state"] == first
    made.capture(payload(said(4, "d", "assistant", **of(d=4))))
    assert hydrated(made, "c", turn_id=turn_id(3))["state"] == first
    assert hydrated(made, "e", turn_id=turn_id(5))["state"]["params"] == {"a": 1, "c": 3, "d": 4}


def test_an_erased_message_says_nothing_and_is_counted(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "secret"), said(3, "c")))
    made.client.erasure.turn(turn_id(2))
    answer = hydrated(made, "now")
    assert contents(answer) == ["a", "c", "now"]
    assert (answer["erased"], answer["truncated"], answer["message_count"]) == (1, False, 4)


def test_a_current_message_that_was_erased_is_still_the_one_to_be_answered(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "b")))
    made.client.erasure.turn(turn_id(2))
    answer = hydrated(made, "b again", turn_id=turn_id(2))
    assert contents(answer) == ["a", "b again"]
    assert (answer["messages"][-1]["timestamp"], answer["erased"], answer["message_count"]) == (None, 0, 2)


def test_agents_and_calls_are_shown_as_in_the_history(made: Site) -> None:
    turns = (
        said(1, "q"),
        said(2, "", "assistant", tool_invocations=[CALL]),
        said(3, "r", "tool", tool_invocations=[CALL]),
    )
    made.capture(payload(*turns, context={"agent_id": "desk"}))
    assert hydrated(made, "now")["messages"][:-1] == made.get(f"/api/conversation/{SESSION}")["messages"]


# The body.


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, [("$.user_message", "required")]),
        ({"user_message": None}, [("$.user_message", "type")]),
        ({"user_message": ["x"]}, [("$.user_message", "type")]),
        ({"user_message": "x", "turn_id": None}, [("$.turn_id", "type")]),
        ({"user_message": "x", "turn_id": 7}, [("$.turn_id", "type")]),
        ({"user_message": "x", "turn_id": ""}, [("$.turn_id", "minLength")]),
        ({"user_message": "x", "turn_id": "x" * 257}, [("$.turn_id", "maxLength")]),
        ({"user_message": "x", "turnId": "m-1"}, [("$.turnId", "additionalProperties")]),
        (
            {"CANARY": 1, "turn_id": 7},
            [("$.CANARY", "additionalProperties"), ("$.user_message", "required"), ("$.turn_id", "type")],
        ),
    ],
)
def test_a_body_is_refused_by_every_finding(made: Site, body: Any, expected: list[tuple[str, str]]) -> None:
    response = made.post(PATH, body)
    error = error_of(response)
    assert (response.status_code, error["error_code"]) == (400, "VALIDATION_ERROR")
    assert [(found["path"], found["rule"]) for found in error["details"]["errors"]] == expected
    assert error["message"] == "the body is {user_message, turn_id?}: a text, and an id of 1 to 256 characters"


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (b"", "empty"),
        (b"[]", "object"),
        (b'{"user_message": "x"', "json"),
        (b'{"user_message": "x", "user_message": "y"}', "duplicate_key"),
        (b'{"user_message": "\\ud83d"}', "surrogate"),
        (b'{"user_message": "\xff"}', "utf8"),
        (b'{"user_message": NaN}', "json"),
        (b'{"user_message": ' + b"[" * 200 + b"]" * 200 + b"}", "depth"),
    ],
)
def test_what_is_no_json_as_the_contract_has_it_is_refused(made: Site, body: bytes, rule: str) -> None:
    response = made.post(PATH, body)
    assert response.status_code == 400
    assert error_of(response)["details"]["errors"] == [{"path": "$", "rule": rule}]


def test_a_body_has_a_bound_and_may_be_compressed(made: Site) -> None:
    import gzip

    response = made.post(PATH, b'{"user_message": "' + b"x" * 11 * 1024 * 1024 + b'"}')
    assert response.status_code == 413
    packed = gzip.compress(json.dumps({"user_message": "x"}).encode())
    response = made.ask(PATH, "POST", data=packed, headers={"Content-Encoding": "gzip"})
    assert response.get_json()["messages"][0]["content"] == "x"
    assert made.ask(PATH, "POST", data=b"x", headers={"Content-Encoding": "br"}).status_code == 400


@pytest.mark.parametrize("content", ["", "a\x00b", "🚀 \u202e", "x" * 100_000])
def test_a_message_may_be_any_text(made: Site, content: str) -> None:
    assert contents(hydrated(made, content)) == [content]


def test_the_label_of_the_body_is_not_looked_at(made: Site) -> None:
    body = b'{"user_message": "x"}'
    for label in ("text/plain", "application/json; charset=utf-8"):
        assert made.ask(PATH, "POST", data=body, content_type=label).status_code == 200
