"""What was cleared stays so when the turn that cleared it is erased (CONTRACT 9 and 10a)."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent.core.history import history
from agent.core.replay import Reason, replay
from agent.core.turn import SessionTurn
from store.upkeep.verify import Finding, verify
from store.urls import open_store
from tests.store.surface import (
    OTHER_CONVERSATION,
    SESSION,
    Surface,
    envelope,
    payload,
    ref_of,
    turn,
    turn_id,
)
from tests.store.test_erasing_turns import with_graph

OTHER_SESSION = "7a7a7a7a-0000-4000-8000-00000000000a"
ERASURES = [("session", SESSION), ("turn", turn_id(3)), ("user", "anna")]
RESET = {"state_only": True, "reset": True}
CUTS = [RESET, {"state_only": True, "reset": "all"}, {"state_only": True, "keep_last": 0}]


def carrier(number: int, memory: dict[str, Any]) -> dict[str, Any]:
    """A turn as ``clear`` appends it, with more than the history needs."""
    more = {"params": {"secret": "secret"}, "secret": "secret"}
    metadata = {"memory": {**memory, **more}, "agent": "secret"}
    return turn(number, "", role="system", metadata=metadata)


def shown(surface: Surface, session: str = SESSION) -> list[str]:
    """The ids of the turns that the session's history shows."""
    records = surface.turns(session)
    return [each.turn_id for each in history([as_read(record) for record in records])]


def as_read(record: dict[str, Any]) -> SessionTurn:
    names = ("turn_id", "seq", "conversation_id", "parent_turn_id")
    place = {name: record[name] for name in names}
    said = {"role": record.get("role", ""), "content": record.get("content"), "erased": record["erased"]}
    return SessionTurn(**place, **said, fields=record)


@pytest.mark.parametrize("memory", CUTS)
@pytest.mark.parametrize(("kind", "name"), ERASURES)
def test_turns_that_were_cleared_do_not_come_back(
    kind: str, name: str, memory: dict[str, Any], surface: Surface
) -> None:
    surface.capture(payload(turn(1), turn(2)))
    surface.capture(payload(carrier(3, memory), context={"user_id": "anna"}))
    surface.capture(payload(turn(4), turn(5)))
    before = shown(surface)
    assert before == [turn_id(4), turn_id(5)]
    surface.erase(kind, name)
    assert shown(surface) == before
    record = surface.turns()[2]
    assert (record["role"], record["metadata"], record["erased"]) == ("system", {"memory": memory}, True)
    assert "secret" not in json.dumps([surface.events(), surface.turns()])


@pytest.mark.parametrize(("kind", "name"), ERASURES)
def test_a_late_redelivery_of_an_erased_reset_still_resets_and_brings_nothing_back(
    kind: str, name: str, surface: Surface
) -> None:
    sent = payload(turn(1), turn(2), carrier(3, RESET), context={"user_id": "anna"})
    surface.capture(sent)
    surface.erase(kind, name)
    assert surface.capture(sent)["status"] == "duplicate"
    # In a grown snapshot, and in a session that never had it.
    surface.capture(payload(turn(1), turn(2), carrier(3, RESET), turn(4)))
    surface.capture(payload(turn(6), carrier(3, RESET), turn(7), session=OTHER_SESSION))
    assert shown(surface) == [turn_id(4)]
    assert shown(surface, OTHER_SESSION) == [turn_id(7)]
    assert surface.turns(OTHER_SESSION)[1]["metadata"] == {"memory": RESET}
    assert "secret" not in json.dumps([surface.events(), surface.turns(), surface.turns(OTHER_SESSION)])


def test_the_latest_revision_of_a_turn_says_what_stays(surface: Surface) -> None:
    surface.capture(payload(turn(1), carrier(3, RESET)))
    surface.capture(payload(carrier(3, {"leaf": turn_id(1).upper()}), turn(4), conversation=OTHER_CONVERSATION))
    surface.erase("turn", turn_id(3))
    assert surface.turns()[1]["metadata"] == {"memory": {"leaf": turn_id(1)}}
    first, second = (event["payload"]["inputs"]["turns"] for event in surface.events())
    assert first[1]["metadata"] == {"memory": RESET}
    assert second[0]["metadata"] == {"memory": {"leaf": turn_id(1)}}


def test_an_erased_event_that_another_store_feeds_keeps_what_it_says_of_the_history(surface: Surface) -> None:
    surface.capture(payload(turn(1), carrier(3, RESET), turn(4)))
    surface.erase("turn", turn_id(3))
    (fed,) = surface.events()
    copy = Surface(open_store("sqlite:///:memory:"))
    # Whoever stands between may have put something in.
    fed["payload"]["inputs"]["turns"][1]["metadata"]["memory"]["params"] = "secret"
    assert copy.post(fed).status_code == 201
    assert shown(copy) == [turn_id(4)]
    assert copy.turns()[1]["metadata"] == {"memory": RESET}
    assert "secret" not in json.dumps([copy.events(), copy.turns()])
    copy.close()


@pytest.mark.parametrize("metadata", [{"memory": RESET}, None])
def test_what_an_earlier_release_erased_without_it_stays_as_it_is(
    metadata: dict[str, Any] | None, surface: Surface
) -> None:
    """A redelivery of such an event is a duplicate, whatever its skeletons keep."""
    body = envelope(payload(turn(1), carrier(3, RESET)), inputs_hash=None)
    earlier: dict[str, Any] = json.loads(json.dumps(body))
    bare = {"turn_id": turn_id(3), "role": "system", "erased": True}
    earlier["payload"]["inputs"]["turns"][1] = bare if metadata is None else {**bare, "metadata": metadata}
    assert surface.post({**earlier, "erased": True}).status_code == 201
    assert surface.post(body).status_code == 200
    assert surface.turns()[1].get("metadata") == metadata
    without_inputs = {name: value for name, value in body["payload"].items() if name != "inputs"}
    for changed in ({**body["payload"], "confidence": 0.5}, without_inputs):
        assert surface.post({**body, "payload": changed}).status_code == 409


def test_a_message_that_is_marked_as_state_is_shown_when_it_is_erased(surface: Surface) -> None:
    words = turn(1, "words", role="system", metadata={"memory": {"state_only": True}})
    surface.capture(payload(words, turn(2)))
    before = shown(surface)
    surface.erase("turn", turn_id(1))
    assert shown(surface) == before == [turn_id(1), turn_id(2)]
    assert "metadata" not in surface.turns()[0]


def test_verify_and_replay_know_what_stays(tmp_path: Path) -> None:
    surface = Surface(open_store(f"sqlite:///{tmp_path}/store.db"))
    surface.post(with_graph(payload(turn(1), carrier(3, {"state_only": True, "leaf": turn_id(1)}), turn(2))))
    surface.post(with_graph(payload(carrier(5, RESET), turn(6), session=OTHER_SESSION)))
    for number in (3, 5):
        surface.erase("turn", turn_id(number))
    # A carrier that comes erased names its leaf too.
    surface.capture(payload(turn(1), turn(4), carrier(3, {"leaf": turn_id(1)}), session=ref_of("third")))
    surface.capture(payload(turn(9), session=ref_of("third")))
    assert surface.turns(ref_of("third"))[3]["parent_turn_id"] == turn_id(1)
    found: list[Finding] = []
    verify(surface.store, found.append)
    assert found == []
    first, second, *_ = surface.events()
    for fed in (first, second):
        assert replay(fed).reason is Reason.ERASED
    surface.close()
