"""What comes after an erasure: late redeliveries, grown snapshots, the turn in another session (CONTRACT 10a)."""

import json
from typing import Any

import pytest

from tests.store.surface import (
    CAPTURED_AT,
    OTHER_CONVERSATION,
    SESSION,
    Surface,
    envelope,
    payload,
    ref_of,
    turn,
    turn_id,
)

OTHER_SESSION = "7a7a7a7a-0000-4000-8000-00000000000a"
ERASURES = [("session", SESSION), ("turn", turn_id(1)), ("user", "anna")]
ANNA = {"context": {"user_id": "anna"}}


def counts(new: int = 0, known: int = 0, revised: int = 0, erased: int = 0) -> dict[str, int]:
    return {"new": new, "known": known, "revised": revised, "erased": erased}


@pytest.mark.parametrize(("kind", "name"), ERASURES)
def test_a_late_redelivery_stays_a_duplicate_and_brings_nothing_back(kind: str, name: str, surface: Surface) -> None:
    body = envelope(payload(turn(1, "secret"), **ANNA))
    first = surface.post(body, key="mine").json()
    surface.erase(kind, name)
    for again, key in (
        (body, "mine"),
        (body, None),
        (envelope(payload(turn(1, "secret"), **ANNA), execution_ref="b"), "c"),
    ):
        answer = surface.post(again, key=key)
        assert answer.status_code == 200
        assert answer.json() == {**first, "status": "duplicate", "turns": counts(erased=1)}
    assert "secret" not in json.dumps(surface.events())
    assert surface.turns()[0]["erased"] is True


@pytest.mark.parametrize(("kind", "name"), ERASURES)
def test_another_body_under_a_key_of_an_erased_event_stays_a_conflict(kind: str, name: str, surface: Surface) -> None:
    body = envelope(payload(turn(1), **ANNA), execution_ref="run-1")
    surface.post(body, key="mine")
    surface.erase(kind, name)
    assert surface.post(envelope(payload(turn(2)), execution_ref="run-1")).status_code == 409
    assert surface.post(envelope(payload(turn(2))), key="mine").status_code == 409
    assert len(surface.events()) == 1


@pytest.mark.parametrize(("kind", "name"), ERASURES[::2])
def test_an_event_without_a_hash_redelivered_late_is_a_duplicate_too(kind: str, name: str, surface: Surface) -> None:
    context = {"user_id": "anna"}
    event = {"outputs": {"session_id": SESSION}, "context": context, "n": 1.50, "secret": "secret"}
    body = {"type": "plan_approved", "runId": "plan", "timestamp": CAPTURED_AT, "payload": event}
    first = surface.post(body).json()
    surface.erase(kind, name)
    answer = surface.post(json.dumps(body).replace("1.5", "1.500").encode())
    assert (answer.status_code, answer.json()) == (200, {**first, "status": "duplicate"})
    assert "secret" not in json.dumps(surface.events())


def test_a_grown_snapshot_does_not_bring_an_erased_turn_back(surface: Surface) -> None:
    surface.capture(payload(turn(1, "secret"), turn(2)))
    surface.erase("session", SESSION)
    grown = envelope(payload(turn(1, "secret"), turn(2), turn(3)))
    receipt = surface.post(grown).json()
    assert (receipt["status"], receipt["turns"]) == ("accepted", counts(new=1, erased=2))
    kept = surface.event(grown["runId"])
    assert kept["erased"] is True
    assert kept["payload"]["inputs"]["turns"] == [
        {"turn_id": turn_id(1), "role": "user", "erased": True},
        {"turn_id": turn_id(2), "role": "assistant", "erased": True},
        turn(3),
    ]
    assert [record["erased"] for record in surface.turns()] == [True, True, False]
    assert [record["version"] for record in surface.turns()] == [2, 2, 3]
    assert surface.turns()[2]["parent_turn_id"] == turn_id(2)
    assert surface.session()["first_user_content"] == "t3"
    assert surface.post(grown).json()["turns"] == counts(known=1, erased=2)


@pytest.mark.parametrize("content", ["secret", "another text"])
def test_an_erased_turn_that_comes_with_another_body_is_no_revision(content: str, surface: Surface) -> None:
    surface.capture(payload(turn(1, "secret")))
    surface.erase("turn", turn_id(1))
    receipt = surface.capture(payload(turn(1, content, metadata={"agent": "secret"}), note="n"))
    assert receipt["turns"] == counts(erased=1)
    record = surface.turns()[0]
    assert (record["revisions"], record["version"], record["erased"]) == (1, 2, True)
    assert "content" not in record
    assert surface.session()["version"] == 2
    assert surface.session()["agents"] == []
    assert surface.sessions(q=content) == surface.sessions(agent_id="secret") == []


@pytest.mark.parametrize(("kind", "name"), ERASURES)
def test_an_erased_turn_that_comes_to_another_session_is_erased_there(kind: str, name: str, surface: Surface) -> None:
    surface.capture(payload(turn(1, "secret"), **ANNA))
    surface.erase(kind, name)
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    agent = {"metadata": {"agent": "secret"}, "token_usage": usage}
    sent = envelope(payload(turn(1, "secret", **agent), turn(2, "new"), session=OTHER_SESSION))
    receipt = surface.post(sent).json()
    assert receipt["turns"] == counts(new=1, erased=1)
    assert surface.post(sent).json()["turns"] == counts(known=1, erased=1)
    first, second = surface.turns(OTHER_SESSION)
    assert first == {
        "turn_id": turn_id(1),
        "seq": 1,
        "parent_turn_id": None,
        "conversation_id": second["conversation_id"],
        "captured_at": CAPTURED_AT,
        "version": 3,
        "execution_ref": sent["runId"],
        "revisions": 1,
        "erased": True,
        "role": "user",
    }
    assert (second["seq"], second["parent_turn_id"], second["content"]) == (2, turn_id(1), "new")
    row = surface.session(OTHER_SESSION)
    assert (row["turn_count"], row["first_user_content"], row["agents"]) == (2, None, [])
    assert "total_tokens" not in row
    assert "secret" not in json.dumps([surface.events(), surface.sessions()])
    assert [found["session_id"] for found in surface.sessions(q="new")] == [OTHER_SESSION]


def test_a_capture_of_erased_turns_alone_makes_their_session(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2)))
    surface.erase("session", SESSION)
    receipt = surface.capture(payload(turn(2), turn(1), session=OTHER_SESSION))
    assert receipt["turns"] == counts(erased=2)
    assert [record["turn_id"] for record in surface.turns(OTHER_SESSION)] == [turn_id(2), turn_id(1)]
    assert surface.session(OTHER_SESSION)["version"] == 3
    assert len(surface.sessions()) == 2


def test_a_turn_that_lives_in_another_session_lives_on_when_one_session_is_erased(surface: Surface) -> None:
    surface.capture(payload(turn(1, "a")))
    surface.capture(payload(turn(1, "b"), session=OTHER_SESSION))
    surface.erase("session", SESSION)
    assert surface.turns(OTHER_SESSION)[0]["content"] == "b"
    receipt = surface.capture(payload(turn(1, "c"), turn(2), session=OTHER_SESSION))
    assert receipt["turns"] == counts(new=1, revised=1)
    assert surface.turns(OTHER_SESSION)[0]["content"] == "c"


def test_a_child_of_an_erased_turn_in_another_conversation_finds_its_parent(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2)))
    surface.erase("turn", turn_id(2))
    surface.capture(payload(turn(3, parent_turn_id=turn_id(2)), conversation=OTHER_CONVERSATION))
    assert surface.turns()[2]["parent_turn_id"] == turn_id(2)


def test_an_erased_turn_that_names_a_leaf_names_it_in_another_session_too(surface: Surface) -> None:
    carrier = turn(5, "", role="system", metadata={"memory": {"leaf": turn_id(1)}})
    surface.capture(payload(carrier))
    surface.erase("turn", turn_id(5))
    surface.capture(payload(turn(1), turn(2), carrier, session=OTHER_SESSION))
    surface.capture(payload(turn(3), session=OTHER_SESSION))
    assert surface.turns(OTHER_SESSION)[3]["parent_turn_id"] == turn_id(1)


def test_a_parent_that_is_awaited_and_comes_erased_ends_the_wait(surface: Surface) -> None:
    surface.capture(payload(turn(1), session=OTHER_SESSION))
    surface.erase("turn", turn_id(1))
    surface.capture(payload(turn(2, parent_turn_id=turn_id(1))))
    surface.capture(payload(turn(1, parent_turn_id=None)))
    surface.capture(payload(turn(3)))
    records = [(r["turn_id"], r["parent_turn_id"], r["erased"]) for r in surface.turns()]
    assert records == [
        (turn_id(2), turn_id(1), False),
        (turn_id(1), None, True),
        (turn_id(3), turn_id(2), False),
    ]


def test_an_erasure_among_many_snapshots_leaves_the_others_as_they_were_sent(surface: Surface) -> None:
    bodies: list[dict[str, Any]] = []
    for number in range(1, 13):
        turns = [turn(n, f"{n}", metadata={"z": 1, "a": n * 1.5}) for n in range(1, number + 1)]
        session = SESSION if number % 3 else OTHER_SESSION
        bodies.append(envelope(payload(*turns, session=session), execution_ref=ref_of(f"{number}")))
        surface.post(bodies[-1])
    surface.erase("session", OTHER_SESSION)
    for position, body in enumerate(bodies, 1):
        if position % 3:
            assert surface.event(body["runId"]) == {**body, "position": position}
        else:
            assert surface.event(body["runId"])["erased"] is True


def test_entities_of_an_erased_turn_are_not_stored_again(surface: Surface) -> None:
    def entity(number: int, text: str) -> dict[str, Any]:
        return {"turn_id": turn_id(number), "type": "t", "start": 0, "end": 1, "text_sha256": text, "text": text}

    surface.capture(payload(turn(0xA1, "secret")))
    surface.erase("turn", turn_id(0xA1))
    for session in (SESSION, OTHER_SESSION):
        entities = [{**entity(0xA1, "secret"), "turn_id": turn_id(0xA1).upper()}, entity(2, "stays")]
        outputs = {"session_id": session, "entities": entities}
        body = envelope(payload(turn(0xA1, "secret"), turn(2), session=session), outputs=outputs)
        surface.post(body)
        assert surface.event(body["runId"])["payload"]["outputs"]["entities"] == [entity(2, "stays")]


@pytest.mark.parametrize("word", [True, "mine", {"position": 1}])
def test_a_word_of_the_stores_in_an_envelope_stands_there_once(word: Any, surface: Surface) -> None:
    """As in what another store fed."""
    body = {**envelope(payload(turn(1))), "erased": word, "position": 4711}
    surface.post(body)
    surface.erase("session", SESSION)
    pairs: list[str] = []
    answer = surface.client.get(f"/v1/decision-events/{body['runId']}").content
    json.loads(answer, object_pairs_hook=lambda members: pairs.extend(name for name, _ in members))
    assert (pairs.count("erased"), pairs.count("position")) == (2, 1), "on the envelope and on its turn"
    assert (surface.event(body["runId"])["erased"], surface.event(body["runId"])["position"]) == (True, 1)
