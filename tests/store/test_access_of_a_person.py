"""GET /v1/users/{user_id}/export, and the audit of who did what (CONTRACT 10a)."""

import json
from typing import Any

from tests.store.surface import SESSION, Surface, envelope, payload, turn, turn_id

OTHER_SESSION = "7a7a7a7a-0000-4000-8000-00000000000a"
ANNA, BERT = {"user_id": "anna"}, {"user_id": "bert"}


def export(surface: Surface, user: str = "anna") -> dict[str, Any]:
    answer = surface.client.get(f"/v1/users/{user}/export")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    return dict(json.loads(answer.content))


def test_an_export_has_every_event_of_the_person_whole(surface: Surface) -> None:
    theirs = [
        envelope(payload(turn(1, "\u0000é\U0001f680"), context=ANNA, note=1.5)),
        envelope(payload(turn(2), session=OTHER_SESSION, context=ANNA)),
        envelope(payload(turn(3)), inputs=None, context=ANNA),
    ]
    for body in (*theirs, envelope(payload(turn(4), context=BERT))):
        assert surface.post(body).status_code == 201
    found = export(surface)
    assert found["user_id"] == "anna"
    assert found["events"] == [{**body, "position": position} for position, body in enumerate(theirs, 1)]


def test_an_export_has_the_turns_that_came_with_the_person_as_they_are_now(surface: Surface) -> None:
    surface.capture(payload(turn(1, "bert's"), context=BERT))
    surface.capture(payload(turn(1, "bert's"), turn(2, "part"), context=ANNA))
    surface.capture(payload(turn(2, "part and rest"), context=BERT))
    assert export(surface)["turns"] == [{"session_id": SESSION, **surface.turns()[1]}]


def test_an_export_names_nobody_else_and_shows_nothing_that_another_said(surface: Surface) -> None:
    surface.capture(payload(turn(1, "bert's question"), turn(2), context=BERT))
    surface.capture(payload(turn(3, "anna's question"), context=ANNA))
    surface.capture(payload(turn(5, "anna's too"), turn(7, "and more"), session=OTHER_SESSION, context=ANNA))
    surface.capture(payload(turn(9), session=OTHER_SESSION, context=BERT))
    found = export(surface)
    assert "bert" not in json.dumps([found["sessions"], found["turns"][:2]])
    rows = {row["session_id"]: (row["users"], row["first_user_content"]) for row in found["sessions"]}
    assert rows == {SESSION: (["anna"], None), OTHER_SESSION: (["anna"], "anna's too")}
    assert surface.session()["users"] == ["anna", "bert"]


def test_an_export_leaves_out_what_was_erased(surface: Surface) -> None:
    surface.capture(payload(turn(1, "secret"), turn(2, "stays"), context=ANNA))
    surface.erase("turn", turn_id(1))
    found = json.dumps(export(surface))
    assert "secret" not in found
    assert "stays" in found


def test_an_export_of_nobody_is_404_and_not_noted(surface: Surface) -> None:
    surface.capture(payload(turn(1), context=ANNA))
    answer = surface.client.get("/v1/users/bert/export")
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    assert surface.get("/v1/audit") == {"audit": [], "next_after": None}


def test_an_export_of_more_than_a_page_comes_whole(surface: Surface) -> None:
    for number in range(1, 211):
        surface.capture(payload(turn(number, "x" * 300), context=ANNA))
    found = export(surface)
    assert [event["position"] for event in found["events"]] == list(range(1, 211))
    assert len(found["turns"]) == 210


def test_an_audit_says_who_did_what_to_whom_and_when(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2), context=ANNA))
    surface.capture(payload(turn(3), context=ANNA, session=OTHER_SESSION))
    receipts = [surface.erase("turn", turn_id(1)), surface.erase("session", SESSION)]
    export(surface)
    receipts.append(surface.erase("user", "anna"))
    rows = surface.get("/v1/audit")["audit"]
    assert [row["action"] for row in rows] == ["erase_turn", "erase_session", "export_user", "erase_user"]
    assert [row["subject"] for row in rows][:2] == [turn_id(1), SESSION]
    assert len({row["key_name"] for row in rows}) == 1
    assert [rows[place]["at"] for place in (0, 1, 3)] == [receipt["at"] for receipt in receipts]


def test_an_audit_pages_by_its_numbers(surface: Surface) -> None:
    surface.capture(payload(*[turn(number) for number in range(1, 8)]))
    for number in range(1, 8):
        surface.erase("turn", turn_id(number))
    seen: list[str] = []
    after = 0
    while after is not None:
        page = surface.get("/v1/audit", after=after, limit=3)
        seen += [row["subject"] for row in page["audit"]]
        after = page["next_after"]
    assert seen == [turn_id(number) for number in range(1, 8)]


def test_an_audit_does_not_name_a_person_whose_content_was_erased(surface: Surface) -> None:
    """The receipt of an erasure must not be what keeps the name."""
    surface.capture(payload(turn(1), context={"user_id": "anna@example.org"}))
    surface.erase("user", "anna@example.org")
    assert "anna@example.org" not in json.dumps(surface.get("/v1/audit"))
