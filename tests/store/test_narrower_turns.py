"""A narrower body never replaces a fuller one of the same turn (CONTRACT 8): it counts as known. On every engine."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.replay import Verdict, replay
from store.upkeep.verify import Finding, verify
from tests.store.engines import EMPTY, opened_empty
from tests.store.surface import SESSION, Surface, envelope, payload, ref_of, turn, turn_id

FULL, REDACTED, OMITTED = MODES = ("full", "redacted", "none")
CONSTRAINTS: dict[str, list[str]] = {FULL: [], REDACTED: ["content_redacted"], OMITTED: ["content_omitted"]}
BODIES = {FULL: "Ask ada@example.org", REDACTED: "Ask [redacted:email]", OMITTED: "[omitted:19]"}
ANNA, BERT = {"user_id": "anna"}, {"user_id": "bert"}


def send(surface: Surface, mode: str, content: str | None = None, **more: Any) -> dict[str, Any]:
    """Turn 1 as a function with this CAPTURE_CONTENT sends it; the counts of the receipt."""
    sent = turn(1, BODIES[mode] if content is None else content, **more.pop("fields", {}))
    counts = surface.capture(payload(sent, note=mode, **more), constraints_applied=CONSTRAINTS[mode])["turns"]
    return {name: count for name, count in counts.items() if count}


def content(surface: Surface) -> Any:
    return surface.turns()[0].get("content")


@pytest.mark.parametrize("narrower", [REDACTED, OMITTED])
def test_a_narrower_body_counts_as_known_and_changes_nothing(narrower: str, surface: Surface) -> None:
    assert send(surface, FULL) == {"new": 1}
    records, row = surface.turns(), surface.session()
    assert send(surface, narrower) == {"known": 1}
    assert surface.turns() == records
    assert surface.session() == row
    assert surface.turns(changed_after=1) == []
    assert row["first_user_content"] == BODIES[FULL]
    assert [found["session_id"] for found in surface.sessions(q="ada")] == [SESSION]
    assert surface.sessions(q="redacted") == surface.sessions(q="omitted") == []


def test_the_log_keeps_what_each_event_said(surface: Surface) -> None:
    for mode in MODES:
        send(surface, mode)
    said = [event["payload"]["inputs"]["turns"][0]["content"] for event in surface.events()]
    assert said == [BODIES[mode] for mode in MODES]


@pytest.mark.parametrize(("narrower", "fuller"), [(OMITTED, REDACTED), (OMITTED, FULL), (REDACTED, FULL)])
def test_a_fuller_body_over_a_narrower_one_is_a_revision(narrower: str, fuller: str, surface: Surface) -> None:
    assert send(surface, narrower) == {"new": 1}
    assert surface.sessions(q="ada") == []
    assert send(surface, fuller) == {"revised": 1}
    assert (content(surface), surface.turns()[0]["revisions"], surface.session()["version"]) == (BODIES[fuller], 2, 2)
    assert surface.session()["first_user_content"] == BODIES[fuller]
    assert [found["session_id"] for found in surface.sessions(q="ask")] == [SESSION]


@pytest.mark.parametrize("mode", MODES)
def test_another_body_of_the_same_mode_is_a_revision(mode: str, surface: Surface) -> None:
    send(surface, mode)
    assert send(surface, mode, "another") == {"revised": 1}
    assert content(surface) == "another"


@pytest.mark.parametrize("order", list(permutations(MODES)))
def test_in_whatever_order_they_come_the_fullest_is_there(order: tuple[str, ...], surface: Surface) -> None:
    for mode in order:
        send(surface, mode)
    assert content(surface) == BODIES[FULL]


def test_a_body_that_also_came_in_full_is_not_replaced_by_a_narrower_one(surface: Surface) -> None:
    """A text without secrets is the same redacted and in full, until a later release finds something in it."""
    send(surface, REDACTED, "Ask Ada")
    assert send(surface, FULL, "Ask Ada") == {"known": 1}
    assert surface.session()["version"] == surface.turns()[0]["version"] == 1
    assert send(surface, REDACTED, "Ask [redacted:name]") == {"known": 1}
    assert content(surface) == "Ask Ada"
    assert send(surface, FULL, "Ask Ada!") == {"revised": 1}


def test_ids_in_the_other_case_bring_the_same_body(surface: Surface) -> None:
    send(surface, REDACTED, "Ask Ada", fields={"turn_id": turn_id(0xA1)})
    assert send(surface, FULL, "Ask Ada", fields={"turn_id": turn_id(0xA1).upper()}) == {"known": 1}
    assert send(surface, REDACTED, "Ask [redacted:name]", fields={"turn_id": turn_id(0xA1)}) == {"known": 1}
    assert content(surface) == "Ask Ada"


def test_a_body_that_came_narrower_too_stays_as_full_as_it_was(surface: Surface) -> None:
    send(surface, FULL, "Ask Ada")
    assert send(surface, OMITTED, "Ask Ada") == {"known": 1}
    assert send(surface, REDACTED, "Ask [redacted:name]") == {"known": 1}
    assert content(surface) == "Ask Ada"


def test_of_a_grown_list_each_turn_is_looked_at_by_itself(surface: Surface) -> None:
    surface.capture(payload(turn(1, "a@b.example"), turn(2, "hi")))
    grown = payload(turn(1, "[redacted:email]"), turn(2, "hi"), turn(3, "new"))
    counts = surface.capture(grown, constraints_applied=CONSTRAINTS[REDACTED])["turns"]
    assert counts == {"new": 1, "known": 2, "revised": 0, "erased": 0}
    assert [record["content"] for record in surface.turns()] == ["a@b.example", "hi", "new"]
    assert [record["version"] for record in surface.turns()] == [1, 1, 2]
    assert surface.turns()[2]["parent_turn_id"] == turn_id(2)


def test_an_erased_turn_stays_erased_in_every_mode(surface: Surface) -> None:
    send(surface, REDACTED)
    surface.erase("turn", turn_id(1))
    for mode in MODES:
        assert send(surface, mode, f"again in {mode}") == {"erased": 1}
    assert content(surface) is None


@given(sent=st.lists(st.tuples(st.sampled_from(MODES), st.sampled_from(["a", "b"])), min_size=1, max_size=7))
@settings(max_examples=60, deadline=None)
def test_the_last_body_of_the_fullest_mode_is_what_is_there(sent: list[tuple[str, str]]) -> None:
    fullest = min((mode for mode, _ in sent), key=MODES.index)
    for engine in EMPTY:
        with opened_empty(engine) as surface:
            for place, (mode, said) in enumerate(sent):
                send(surface, mode, said, place=place)
            assert content(surface) == [said for mode, said in sent if mode == fullest][-1]
            if engine != "postgresql":
                assert found_in(surface) == []


def test_writers_in_all_modes_at_once_leave_the_fullest(surface: Surface) -> None:
    start = threading.Barrier(6)

    def post(number: int) -> int:
        mode = MODES[number % 3]
        body = envelope(payload(turn(1, BODIES[mode]), note=number), constraints_applied=CONSTRAINTS[mode])
        start.wait(timeout=20)
        return surface.post(body).status_code

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(post, range(6))) == [201] * 6
    assert content(surface) == BODIES[FULL]
    assert len(surface.events()) == 6


# What the receipt says of it


def receipt(surface: Surface, mode: str, *turns: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The receipt for ``turns``, as a function with this CAPTURE_CONTENT sends them."""
    return surface.capture(payload(*turns, note=mode, **more), constraints_applied=CONSTRAINTS[mode])


def test_the_receipt_counts_the_turns_that_stay_in_a_fuller_body(surface: Surface) -> None:
    assert "kept_fuller" not in receipt(surface, FULL, turn(1, BODIES[FULL]), turn(2, "hi"), turn(3, "a@b.example"))
    grown = turn(1, BODIES[REDACTED]), turn(2, "hi"), turn(3, "[redacted:email]"), turn(4, "new")
    narrower = receipt(surface, REDACTED, *grown)
    assert narrower["kept_fuller"] == 2, "the second is the same in both"
    assert narrower["turns"] == {"new": 1, "known": 3, "revised": 0, "erased": 0}
    omitted = receipt(surface, OMITTED, *(turn(number, "[omitted:9]") for number in (1, 2, 3, 4)))
    assert (omitted["turns"]["known"], omitted["kept_fuller"]) == (4, 4)


def test_nothing_is_said_of_turns_that_are_the_same_fuller_or_of_another_body_in_the_same_mode(
    surface: Surface,
) -> None:
    for mode in (OMITTED, REDACTED, REDACTED, FULL):
        assert "kept_fuller" not in receipt(surface, mode, turn(1, BODIES[mode]), place=mode)
    assert "kept_fuller" not in receipt(surface, FULL, turn(1, "another"))
    assert "kept_fuller" not in receipt(surface, OMITTED, turn(1, "another"))


def test_a_duplicate_wrote_nothing_and_so_left_nothing_as_it_was(surface: Surface) -> None:
    receipt(surface, FULL, turn(1, BODIES[FULL]))
    first = receipt(surface, REDACTED, turn(1, BODIES[REDACTED]))
    again = receipt(surface, REDACTED, turn(1, BODIES[REDACTED]))
    assert (first["kept_fuller"], again["status"], "kept_fuller" in again) == (1, "duplicate", False)


def test_an_erased_turn_is_not_one_that_stays_in_a_fuller_body(surface: Surface) -> None:
    receipt(surface, FULL, turn(1, BODIES[FULL]), turn(2, BODIES[FULL]))
    surface.erase("turn", turn_id(1))
    narrower = receipt(surface, REDACTED, turn(1, BODIES[REDACTED]), turn(2, BODIES[REDACTED]))
    assert (narrower["turns"]["erased"], narrower["turns"]["known"], narrower["kept_fuller"]) == (1, 1, 1)


def test_of_those_that_share_a_transaction_each_is_told_its_own(surface: Surface) -> None:
    def of(number: int, mode: str) -> dict[str, Any]:
        """The session of this number, which has so many turns."""
        said = [turn(place, BODIES[mode], turn_id=ref_of(f"{number} {place}")) for place in range(number)]
        sent = payload(*said, turn(9, "hi", turn_id=ref_of(f"{number}")), session=ref_of(f"session {number}"))
        return envelope(sent, constraints_applied=CONSTRAINTS[mode])

    start = threading.Barrier(8)

    def post(number: int) -> int:
        body = of(number, REDACTED)
        start.wait(timeout=20)
        said: int = surface.post(body).json().get("kept_fuller", 0)
        return said

    assert [surface.post(of(number, FULL)).status_code for number in range(8)] == [201] * 8
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(post, range(8))) == list(range(8))


# Erasure of a user


def test_what_a_user_said_of_anothers_turn_in_a_narrower_mode_goes_with_the_user(surface: Surface) -> None:
    send(surface, FULL, context=BERT)
    theirs = payload(turn(1, "[redacted:email] asks anna's secret"), turn(2, "anna's"), context=ANNA)
    ref = surface.capture(theirs, constraints_applied=CONSTRAINTS[REDACTED])["executionRef"]
    exported = json.loads(surface.client.get("/v1/users/anna/export").content)
    assert exported["events"][0]["payload"]["inputs"] == theirs
    assert [record["turn_id"] for record in exported["turns"]] == [turn_id(2)]
    receipt = surface.erase("user", "anna")
    assert (receipt["turns"], receipt["events"]) == (1, 1)
    assert content(surface) == BODIES[FULL]
    kept = surface.event(ref)
    assert kept["payload"]["inputs"]["turns"] == [
        {"turn_id": turn_id(1), "role": "user", "erased": True},
        {"turn_id": turn_id(2), "role": "assistant", "erased": True},
    ]
    assert "anna" not in json.dumps([surface.events(), surface.turns(), surface.session()])


def test_what_a_user_said_beside_a_known_body_goes_with_the_user(surface: Surface) -> None:
    def sent(model: str, **more: Any) -> dict[str, Any]:
        return payload(turn(2, model=model, metadata={"derived": ["model"]}), **more)

    surface.capture(sent("bert's"))
    ref = surface.capture(sent("anna's", context=ANNA))["executionRef"]
    assert surface.event(ref)["payload"]["inputs"]["turns"][0]["model"] == "anna's"
    surface.erase("user", "anna")
    assert surface.event(ref)["payload"]["inputs"]["turns"][0]["model"] == "bert's"


@pytest.mark.parametrize("mode", [REDACTED, FULL])
def test_what_was_erased_of_the_fuller_event_leaves_the_turn_as_full(mode: str, in_process: Surface) -> None:
    surface = in_process
    send(surface, OMITTED, "Ask Ada", context=BERT)
    send(surface, mode, "Ask Ada", context=ANNA, fields={"turn_id": turn_id(1)})
    surface.erase("user", "anna")
    assert send(surface, OMITTED, "[omitted:7]") == {"known": 1}
    assert (content(surface), surface.turns()[0]["erased"]) == ("Ask Ada", False)
    if surface.kind != "postgresql":
        assert found_in(surface) == []


# Who folds events again


def found_in(surface: Surface) -> list[Finding]:
    found: list[Finding] = []
    verify(surface.store, found.append)
    return found


def test_a_copy_of_the_log_says_the_same_of_every_turn(in_process: Surface) -> None:
    """As ``store pull`` makes it, and an old database's migration: the events appended in their order."""
    for mode, said in ((REDACTED, "Ask Ada"), (FULL, "Ask Ada"), (REDACTED, "Ask [redacted:name]"), (OMITTED, "[o]")):
        send(in_process, mode, said)
    with opened_empty(EMPTY[0]) as copy:
        for event in in_process.get("/events/decisions")["events"]:
            assert copy.post({name: value for name, value in event.items() if name != "position"}).status_code == 201
        assert copy.turns() == in_process.turns()
        assert send(copy, REDACTED, "later") == send(in_process, REDACTED, "later")
        assert found_in(copy) == []


def test_each_event_of_a_session_in_several_modes_replays(surface: Surface) -> None:
    for mode in (REDACTED, FULL, OMITTED):
        send(surface, mode)
    verdicts = [replay(event) for event in surface.events()]
    assert {found.verdict for found in verdicts} == {Verdict.NOT_POSSIBLE}, "another writer's: no stored_inputs_hash"
    assert {str(found.reason) for found in verdicts} == {"other_writer"}
