"""DELETE /v1/users/{user_id}: all that came in events with this ``context.user_id`` (CONTRACT 10a)."""

import json
from urllib.parse import quote

import pytest

from tests.store.surface import SESSION, Surface, envelope, payload, turn, turn_id

OTHER_SESSION = "7a7a7a7a-0000-4000-8000-00000000000a"
ANNA, BERT = {"user_id": "anna", "tags": ["a"], "agent_id": "agent of anna"}, {"user_id": "bert", "tags": ["b"]}


def test_all_turns_of_a_users_events_go_whatever_their_role(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2), context=ANNA, note="secret"))
    surface.capture(payload(turn(3), session=OTHER_SESSION, context=ANNA))
    surface.capture(payload(turn(4), session=OTHER_SESSION, context=BERT))
    receipt = surface.erase("user", "anna")
    assert (receipt["kind"], receipt["sessions"], receipt["turns"], receipt["events"]) == ("user", 2, 3, 2)
    assert [record["erased"] for record in surface.turns()] == [True, True]
    assert [record["erased"] for record in surface.turns(OTHER_SESSION)] == [True, False]
    assert [event.get("erased", False) for event in surface.events()] == [True, True, False]
    assert "secret" not in json.dumps(surface.events())


def test_the_users_name_and_what_else_the_events_said_is_gone_from_the_sessions(surface: Surface) -> None:
    surface.capture(payload(turn(1), context=ANNA))
    surface.capture(payload(turn(2), turn(3), context=BERT))
    surface.erase("user", "anna")
    row = surface.session()
    assert (row["users"], row["tags"], row["agents"], row["version"]) == (["bert"], ["b"], [], 3)
    assert row["first_user_content"] == "t3"
    assert surface.sessions(user_id="anna") == surface.sessions(tag="a") == surface.sessions(q="t1") == []
    assert surface.sessions(user_id="bert", q="t3") == [row]


def test_turns_of_others_that_a_users_event_knew_stay_in_both(surface: Surface) -> None:
    surface.capture(payload(turn(1, "bert's"), context=BERT))
    theirs = envelope(payload(turn(1, "bert's"), turn(2, "anna's"), context=ANNA, note="secret"))
    surface.post(theirs)
    receipt = surface.erase("user", "anna")
    assert (receipt["turns"], receipt["events"]) == (1, 1)
    kept = surface.event(theirs["runId"])
    assert kept["erased"] is True
    assert kept["payload"]["inputs"] == {
        "session_id": SESSION,
        "conversation_id": theirs["payload"]["inputs"]["conversation_id"],
        "turns": [turn(1, "bert's"), {"turn_id": turn_id(2), "role": "assistant", "erased": True}],
    }
    assert [record.get("content") for record in surface.turns()] == ["bert's", None]


def test_a_users_turns_go_from_the_events_of_others_too(surface: Surface) -> None:
    surface.capture(payload(turn(1, "anna's"), context=ANNA))
    others = envelope(payload(turn(1, "anna's"), turn(2, "bert's"), context=BERT, note="stays"))
    surface.post(others)
    receipt = surface.erase("user", "anna")
    assert (receipt["turns"], receipt["events"]) == (1, 2)
    kept = surface.event(others["runId"])
    assert kept["payload"]["inputs"] == {
        **others["payload"]["inputs"],
        "turns": [{"turn_id": turn_id(1), "role": "user", "erased": True}, turn(2, "bert's")],
    }
    assert kept["erased"] is True


def test_a_turn_that_a_user_only_revised_goes_with_all_its_revisions(surface: Surface) -> None:
    first = envelope(payload(turn(1, "bert's"), turn(2, "stays"), context=BERT))
    surface.post(first)
    surface.capture(payload(turn(1, "anna's"), context=ANNA))
    surface.capture(payload(turn(1, "bert's again"), context=BERT))
    surface.erase("user", "anna")
    assert [record["erased"] for record in surface.turns()] == [True, False]
    assert "bert's" not in json.dumps(surface.events())
    assert surface.event(first["runId"])["payload"]["inputs"]["turns"][1] == turn(2, "stays")


def test_a_user_who_sent_known_turns_alone_loses_the_event_and_the_turn_stays(surface: Surface) -> None:
    surface.capture(payload(turn(1), context=BERT))
    surface.capture(payload(turn(1), context=ANNA))
    receipt = surface.erase("user", "anna")
    assert (receipt["sessions"], receipt["turns"], receipt["events"]) == (1, 0, 1)
    assert surface.turns()[0]["content"] == "t1"
    assert (surface.session()["users"], surface.session()["tags"]) == (["bert"], ["b"])


def test_a_user_is_known_by_a_context_beside_the_inputs_too(surface: Surface) -> None:
    body = envelope(payload(turn(1)), inputs=None, context={"user_id": "anna"}, note="secret")
    plan = {"type": "plan", "runId": "p", "timestamp": body["timestamp"], "payload": {"context": ANNA, "n": "secret"}}
    surface.post(body)
    surface.post(plan)
    receipt = surface.erase("user", "anna")
    assert (receipt["turns"], receipt["events"]) == (0, 2)
    assert "secret" not in json.dumps(surface.events())
    assert "anna" not in json.dumps(surface.events())


@pytest.mark.parametrize("name", ["anna/export", "é\U0001f680", "a b", "../x", "%", "a?b#c", "\u0000", "x" * 3000])
def test_a_user_of_any_name_is_erased_and_nobody_else(name: str, surface: Surface) -> None:
    surface.capture(payload(turn(1), context={"user_id": name}))
    surface.capture(payload(turn(2), context={"user_id": f"{name}x"}))
    assert surface.erase("user", name)["turns"] == 1
    assert [record["erased"] for record in surface.turns()] == [True, False]
    assert surface.session()["users"] == [f"{name}x"]


def test_names_are_compared_as_they_are(surface: Surface) -> None:
    surface.capture(payload(turn(1), context={"user_id": "Zo\u00eb"}))
    for name in ("Zoe\u0308", "zo\u00eb", "Zo\u00eb "):
        assert surface.client.delete(f"/v1/users/{quote(name)}").status_code == 404
    assert surface.turns()[0]["erased"] is False


def test_an_unknown_user_is_404(surface: Surface) -> None:
    surface.capture(payload(turn(1), context=ANNA))
    answer = surface.client.delete("/v1/users/bert")
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    assert surface.capture(payload(turn(2)))["position"] == 2


def test_a_user_erased_again_loses_what_came_since(surface: Surface) -> None:
    surface.capture(payload(turn(1), context=ANNA))
    surface.erase("user", "anna")
    surface.capture(payload(turn(2), context=ANNA))
    receipt = surface.erase("user", "anna")
    assert (receipt["turns"], receipt["events"], receipt["sessions"]) == (1, 1, 1)
    assert [record["erased"] for record in surface.turns()] == [True, True]
    assert surface.session()["users"] == []


def test_a_session_erased_before_counts_nothing_for_its_user(surface: Surface) -> None:
    surface.capture(payload(turn(1), context=ANNA))
    surface.capture(payload(turn(2), session=OTHER_SESSION, context=ANNA))
    surface.erase("session", SESSION)
    receipt = surface.erase("user", "anna")
    assert (receipt["sessions"], receipt["turns"], receipt["events"]) == (1, 1, 1)
