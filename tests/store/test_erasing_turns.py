"""DELETE /v1/turns/{turn_id}: one turn, in every session and every event that has it (CONTRACT 10a)."""

import json
from typing import Any

import pytest

from agent.core.canonical import canonical
from agent.core.decision import Outputs
from tests.store.surface import CAPTURED_AT, OTHER_CONVERSATION, SESSION, Surface, envelope, payload, turn, turn_id

OTHER_SESSION = "7a7a7a7a-0000-4000-8000-00000000000a"
# An odd number, whose id has letters.
ONE = 0xA1


def skeleton(number: int, **more: Any) -> dict[str, Any]:
    return {"turn_id": turn_id(number), "role": "user" if number % 2 else "assistant", **more, "erased": True}


def entity(number: int, text: str) -> dict[str, Any]:
    return {"turn_id": turn_id(number), "type": "city", "start": 0, "end": 4, "text_sha256": "ab", "text": text}


def with_graph(sent: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The event of ``sent`` with the outputs that the capture function gives it."""
    outputs = json.loads(Outputs.of(sent).encode(CAPTURED_AT))
    return envelope(sent, outputs={**outputs, **changes.pop("outputs", {})}, **changes)


def test_an_event_loses_the_turn_and_nothing_else(surface: Surface) -> None:
    sent = payload(turn(1, "Bern"), turn(2, "stays"), context={"user_id": "anna", "tags": ["a"]}, note="stays")
    body = with_graph(sent, outputs={"entities": [entity(1, "Bern"), entity(2, "stays")]}, telemetry={"duration_ms": 1})
    surface.post(body)
    receipt = surface.erase("turn", turn_id(1).upper())
    assert (receipt["kind"], receipt["sessions"], receipt["turns"], receipt["events"]) == ("turn", 1, 1, 1)
    expected = json.loads(json.dumps(body))
    expected["payload"]["inputs"]["turns"][0] = skeleton(1)
    expected["payload"]["outputs"]["entities"] = [entity(2, "stays")]
    assert surface.event(body["runId"]) == {**expected, "position": 1, "erased": True}
    assert surface.sessions(user_id="anna", tag="a") == [surface.session()]


def test_the_turn_goes_from_every_event_that_named_it_as_known_or_revised_it(surface: Surface) -> None:
    bodies = [
        with_graph(payload(turn(ONE, "first"), turn(2))),
        with_graph(payload(turn(ONE, "first"), turn(2), turn(3))),
        with_graph(payload(turn(ONE, "second"), turn(3))),
        with_graph(payload(turn(4))),
        with_graph(payload(turn(ONE, "second", turn_id=turn_id(ONE).upper()), note="x")),
        with_graph(
            payload(turn(ONE, "first"), conversation=OTHER_CONVERSATION), constraints_applied=["content_omitted"]
        ),
    ]
    for body in bodies:
        assert surface.post(body).status_code == 201
    receipt = surface.erase("turn", turn_id(ONE))
    assert (receipt["turns"], receipt["events"]) == (1, 5)
    for position, body in enumerate(bodies, 1):
        expected = {**json.loads(json.dumps(body)), "position": position}
        turns = expected["payload"]["inputs"]["turns"]
        if turns[0]["turn_id"].lower() == turn_id(ONE):
            turns[0] = {**skeleton(ONE), "turn_id": turns[0]["turn_id"]}
            expected["erased"] = True
        assert surface.event(body["runId"]) == expected
    assert [record["erased"] for record in surface.turns()] == [True, False, False, False]


def test_the_turn_goes_from_every_session(surface: Surface) -> None:
    surface.capture(payload(turn(1, "secret"), turn(2)))
    surface.capture(payload(turn(1, "secret"), session=OTHER_SESSION))
    receipt = surface.erase("turn", turn_id(1))
    assert (receipt["sessions"], receipt["turns"], receipt["events"]) == (2, 2, 2)
    assert (surface.turns()[0]["erased"], surface.turns(OTHER_SESSION)[0]["erased"]) == (True, True)
    assert (surface.session()["version"], surface.session(OTHER_SESSION)["version"]) == (3, 3)


def test_the_record_of_an_erased_turn_has_its_place_and_role_alone(surface: Surface) -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    first = surface.capture(payload(turn(1), turn(2, "secret", model="m", token_usage=usage, x=1)))
    surface.erase("turn", turn_id(2))
    assert surface.turns()[1] == {
        "turn_id": turn_id(2),
        "seq": 2,
        "parent_turn_id": turn_id(1),
        "conversation_id": first and surface.turns()[0]["conversation_id"],
        "captured_at": CAPTURED_AT,
        "version": 2,
        "execution_ref": first["executionRef"],
        "revisions": 1,
        "erased": True,
        "role": "assistant",
    }


def test_a_turn_without_a_role_has_none_in_its_skeleton(surface: Surface) -> None:
    receipt = surface.capture(payload({"turn_id": turn_id(1), "content": "secret", "role": 7}))
    surface.erase("turn", turn_id(1))
    (kept,) = surface.event(receipt["executionRef"])["payload"]["inputs"]["turns"]
    assert kept == {"turn_id": turn_id(1), "erased": True}
    assert "role" not in surface.turns()[0]


def test_a_session_row_says_nothing_of_the_turn_any_more(surface: Surface) -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 10}
    early = {"timestamp": "2026-01-01T00:00:00Z"}
    surface.capture(payload(turn(1, "secret", metadata={"agent": "x"}, token_usage=usage, **early), turn(3, "next")))
    assert surface.session()["agents"] == ["x"]
    surface.erase("turn", turn_id(1))
    row = surface.session()
    assert (row["first_user_content"], row["turn_count"], row["version"], row["agents"]) == ("next", 2, 2, [])
    assert row["first_turn_at"] == row["last_turn_at"] == "2026-03-02T08:00:00.000000Z"
    assert "total_tokens" not in row
    assert surface.sessions(agent_id="x") == []


def test_the_last_turn_of_a_session_leaves_what_its_events_say(surface: Surface) -> None:
    surface.capture(payload(turn(1), context={"user_id": "anna", "tags": ["t"]}))
    surface.erase("turn", turn_id(1))
    row = surface.session()
    assert (row["users"], row["tags"], row["first_user_content"], row["first_turn_at"]) == (["anna"], ["t"], None, None)


def test_a_turn_of_no_session_is_404(surface: Surface) -> None:
    surface.capture(payload(turn(1)))
    for name in (turn_id(2), SESSION, "abc"):
        assert surface.client.delete(f"/v1/turns/{name}").status_code == 404
    assert surface.capture(payload(turn(2)))["position"] == 2


def test_a_turn_that_is_only_named_as_a_parent_or_outside_of_turns_is_404(surface: Surface) -> None:
    surface.capture(payload(turn(1, parent_turn_id=turn_id(9))))
    surface.post(envelope(payload(turn(8)), decision_type="another"))
    assert [surface.client.delete(f"/v1/turns/{turn_id(n)}").status_code for n in (8, 9)] == [404, 404]


def test_an_erased_turn_erased_again_empties_nothing(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2)))
    surface.erase("turn", turn_id(1))
    before = (surface.turns(), surface.events(), surface.session())
    receipt = surface.erase("turn", turn_id(1))
    assert (receipt["position"], receipt["sessions"], receipt["turns"], receipt["events"]) == (3, 0, 0, 0)
    assert (surface.turns(), surface.events(), surface.session()) == before


def test_an_erased_turn_stays_a_parent_a_leaf_and_a_step_of_the_path(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2), turn(3)))
    surface.erase("turn", turn_id(2))
    surface.erase("turn", turn_id(3))
    surface.capture(payload(turn(4)))
    assert [record["parent_turn_id"] for record in surface.turns()] == [None, turn_id(1), turn_id(2), turn_id(3)]


def test_a_leaf_that_an_erased_turn_named_stays_named(surface: Surface) -> None:
    surface.capture(payload(turn(1), turn(2), turn(3, "", role="system", metadata={"memory": {"leaf": turn_id(1)}})))
    surface.erase("turn", turn_id(3))
    surface.capture(payload(turn(4)))
    assert surface.turns()[3]["parent_turn_id"] == turn_id(1)


def test_the_graph_of_an_event_stays_when_what_it_was_made_from_is_gone(surface: Surface) -> None:
    """A system turn that carried state alone is no target of ``responds_to``; its skeleton says so too."""
    state = turn(1, "", role="system", metadata={"memory": {"state_only": True, "params": {"a": "secret"}}})
    call = {"tool_name": "track", "invocation_id": turn_id(77)}
    body = with_graph(payload(turn(3, "hello", role="system"), state, turn(2, tool_invocations=[call])))
    bodies = [
        body,
        with_graph(payload(turn(3, "hello", role="system"), state, turn(2, tool_invocations=[call]), turn(4))),
    ]
    for sent in bodies:
        surface.post(sent)
    for number in (1, 2, 3):
        surface.erase("turn", turn_id(number))
    for sent in bodies:
        found = surface.event(sent["runId"])["payload"]["outputs"]
        assert canonical(found) == canonical(sent["payload"]["outputs"])


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ({"role": "robot"}, {"role": "user"}),
        ({"role": "system"}, {"role": "system", "memory": {"state_only": True}}),
        ({"role": "system", "memory": {"state_only": True}}, {"role": "system"}),
    ],
    ids=["a role", "that it is state", "that it is none"],
)
def test_the_graph_stays_when_a_turn_that_is_known_was_derived_otherwise(
    first: dict[str, Any], again: dict[str, Any], surface: Surface
) -> None:
    """What ``metadata.derived`` names is no revision: the event has its own, and its skeleton that of the first."""

    def known(role: str, **metadata: Any) -> dict[str, Any]:
        return turn(1, "", role=role, metadata={"derived": ["role", "metadata"], **metadata})

    surface.capture(payload(known(**first)))
    body = with_graph(payload(known(**again), turn(2)))
    assert surface.post(body).json()["turns"]["known"] == 1
    surface.erase("turn", turn_id(1))
    found = surface.event(body["runId"])["payload"]
    assert canonical(found["outputs"]) == canonical(body["payload"]["outputs"])
    assert found["inputs"]["turns"][0].get("metadata") == surface.turns()[0].get("metadata")


def test_a_part_of_a_grown_snapshot_stays_readable_by_everyone_who_refers_to_it(surface: Surface) -> None:
    """Later events share the turns of earlier ones; emptying one of these must not disturb the others."""
    refs = [surface.capture(payload(*[turn(n, f"text {n}") for n in range(1, count + 1)]))["executionRef"]
            for count in range(1, 8)]  # fmt: skip
    for number in (4, 1, 7):
        surface.erase("turn", turn_id(number))
    for count, ref in enumerate(refs, 1):
        contents = [sent.get("content") for sent in surface.event(ref)["payload"]["inputs"]["turns"]]
        assert contents == [None if n in (4, 1, 7) else f"text {n}" for n in range(1, count + 1)]
    assert [record.get("content") for record in surface.turns()] == contents
