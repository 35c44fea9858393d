"""From conversations to payloads: ids, parents, times and pairs of every foreign format (CONTRACT 3, 3a)."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.ids import conversation_of_session, conversation_uuid, session_uuid, turn_uuid
from agent.formats.conversation.message import Call, Conversation, Message, Result
from agent.formats.conversation.payload import Scope, payloads
from tests.formats.chat_messages import CAPTURED_AT
from tests.formats.round_trips import check_payload

SESSION = session_uuid("s")
NODE = "7b3f0d6e-0000-4000-8000-00000000000a"


def said(place: int | str, role: str = "user", content: str = "", **fields: Any) -> Message:
    return Message(role, content, str(place), **fields)


def built(*messages: Message, conversation: dict[str, Any] | None = None, **scope: Any) -> list[dict[str, Any]]:
    whole = Conversation(messages, **(conversation or {}))
    found = list(payloads(messages, whole, Scope("s", None, CAPTURED_AT, **scope), "a-format"))
    for payload in found:
        check_payload(payload)
    return found


def turns(*messages: Message, conversation: dict[str, Any] | None = None, **scope: Any) -> list[dict[str, Any]]:
    (payload,) = built(*messages, conversation=conversation, **scope)
    return list(payload["turns"])


def test_a_turn_goes_by_its_place_in_the_conversation():
    prefix = conversation_of_session(SESSION)
    assert [turn["turn_id"] for turn in turns(said(0), said("1.1"), said("system"))] == [
        turn_uuid(SESSION, f"{prefix}:{place}") for place in ("0", "1.1", "system")
    ]


def test_a_turn_with_an_id_goes_by_it_wherever_it_stands():
    (turn,) = turns(said(0, native_id="node-1"))
    assert (turn["turn_id"], turn["native_id"]) == (turn_uuid(SESSION, "node-1"), "node-1")


def test_an_id_that_is_a_uuid_stays_what_it_is():
    (turn,) = turns(said(0, native_id=NODE))
    assert turn["turn_id"] == NODE
    assert "native_id" not in turn


@pytest.mark.parametrize("name", ["", "x" * 257, SESSION, "twice"])
def test_what_can_be_no_id_of_a_turn_leaves_it_to_its_place(name):
    first, second = turns(said(0, native_id="twice"), said(1, native_id=name))
    assert first["native_id"] == "twice"
    assert second["turn_id"] == turn_uuid(SESSION, f"{conversation_of_session(SESSION)}:1")
    assert "native_id" not in second


def test_the_first_message_is_a_root_and_every_other_continues_the_one_before():
    first, second = turns(said(0), said(1))
    assert (first["parent_turn_id"], second["parent_turn_id"]) == (None, first["turn_id"])


def test_a_list_that_begins_inside_goes_on_from_the_place_before_or_from_wherever_the_conversation_ends():
    (known,) = turns(said(4), before="3")
    assert known["parent_turn_id"] == turn_uuid(SESSION, f"{conversation_of_session(SESSION)}:3")
    (unknown,) = turns(said(4), before=...)
    assert "parent_turn_id" not in unknown


def test_what_is_only_new_says_no_parents_and_has_names_of_its_own():
    first, second = turns(said(0), said(1), request_id="r")
    assert "parent_turn_id" not in first
    assert "parent_turn_id" not in second
    assert first["turn_id"] == turn_uuid(SESSION, f"{conversation_of_session(SESSION)}:r:0")


def test_branches_name_their_parents_by_id_or_by_place():
    found = turns(said(0, native_id="a", parent=None), said(1, native_id="b", parent="a"), said(2, parent="a"))
    assert [turn["parent_turn_id"] for turn in found] == [None, *[turn_uuid(SESSION, "a")] * 2]
    placed = turns(said(0, parent=None), said(1, parent="0"), said(2, parent="0"))
    assert [turn["parent_turn_id"] for turn in placed] == [None, *[placed[0]["turn_id"]] * 2]


def test_a_parent_that_the_document_does_not_hold_may_have_come_before():
    (turn,) = turns(said(0, native_id="b", parent="a"))
    assert (turn["parent_turn_id"], turn["native_parent_turn_id"]) == (turn_uuid(SESSION, "a"), "a")


def test_where_there_are_branches_a_turn_that_is_no_message_says_which_is_current():
    nodes = [
        said(0, native_id="a", parent=None),
        said(1, native_id="b", parent="a"),
        said(2, native_id="c", parent="a"),
    ]
    *_, carrier = turns(*nodes, conversation={"leaf": "b"})
    assert carrier["metadata"]["memory"] == {"leaf": turn_uuid(SESSION, "b"), "state_only": True}
    assert (carrier["role"], carrier["content"], carrier["parent_turn_id"]) == ("system", "", turn_uuid(SESSION, "b"))
    again = turns(*nodes, said(3, native_id="d", parent="b"), conversation={"leaf": "b"})[-1]
    assert again["turn_id"] != carrier["turn_id"]


@pytest.mark.parametrize("leaf", [None, "b", "nowhere"])
def test_without_branches_nobody_needs_to_say_it(leaf):
    assert len(turns(said(0, native_id="a", parent=None), said(1, native_id="b"), conversation={"leaf": leaf})) == 2


def test_a_missing_time_is_the_nearest_earlier_one_then_the_conversations_then_that_of_capture():
    early, late = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
    found = turns(said(0), said(1, timestamp=late), said(2), conversation={"timestamp": early})
    assert [turn["timestamp"] for turn in found] == [early, late, late]
    assert [turn.get("metadata") for turn in found] == [{"derived": ["timestamp"]}, None, {"derived": ["timestamp"]}]
    assert [turn["timestamp"] for turn in turns(said(0))] == [CAPTURED_AT]


def test_a_model_for_the_whole_list_is_the_assistants_where_they_name_none():
    found = turns(said(0), said(1, "assistant"), said(2, "assistant", model="own"), model="m")
    assert [turn.get("model") for turn in found] == [None, "m", "own"]
    assert "model" not in found[2]["metadata"]["derived"]


def test_results_find_their_calls_where_ids_come_again_and_names_stand_for_missing_ids():
    calls = [Call("track", "track", {"n": 1}), Call("track", "track", {"n": 2})]
    found = turns(
        said(0, "assistant", calls=calls),
        said(1, "tool", results=[Result("track")]),
        said(2, "tool", results=[Result("track", success=False)]),
    )
    made = [entry["invocation_id"] for entry in found[0]["tool_invocations"]]
    answered = [turn["tool_invocations"][0] for turn in found[1:]]
    assert [entry["invocation_id"] for entry in answered] == made
    assert [entry["tool_name"] for entry in answered] == ["track", "track"]
    assert [entry.get("success") for entry in answered] == [None, False]


def test_calls_and_results_that_nothing_names_are_still_calls_and_results():
    found = turns(said(0, "assistant", calls=[Call("", None)]), said(1, "tool", results=[Result(None)]))
    call, result = (turn["tool_invocations"][0] for turn in found)
    assert (call["tool_name"], result["tool_name"]) == ("unknown", "unknown")
    assert call["invocation_id"] != result["invocation_id"]
    assert "arguments" not in call


def test_what_a_capture_cannot_hold_becomes_several_in_order():
    messages = [said(place, calls=[Call("a", f"c{place}")], role="assistant") for place in range(7_000)]
    pieces = built(*messages)
    assert [len(piece["turns"]) for piece in pieces] == [5_000, 2_000]
    assert pieces[1]["turns"][0]["parent_turn_id"] == pieces[0]["turns"][-1]["turn_id"]
    assert len({turn["turn_id"] for piece in pieces for turn in piece["turns"]}) == 7_000


def test_conversations_of_one_session_that_have_no_name_are_told_apart_by_their_number():
    ids = [built(said(0), number=number)[0]["conversation_id"] for number in range(3)]
    assert ids[0] == conversation_of_session(SESSION)
    assert len(set(ids)) == 3


def test_what_stands_beside_the_messages_is_kept_beside_the_format():
    (payload,) = built(said(0), conversation={"native": {"format": "mine", "title": "t"}, "context": {"agent_id": "a"}})
    assert payload["native"] == {"format": "a-format", "beside": {"format": "mine", "title": "t"}}
    assert payload["context"] == {"agent_id": "a"}


def test_the_conversations_own_id_becomes_one():
    whole = Conversation([said(0)], conversation_id="c")
    (payload,) = payloads(whole.messages, whole, Scope("s", "c", CAPTURED_AT), "a-format")
    assert (payload["conversation_id"], payload["native_conversation_id"]) == (conversation_uuid("c"), "c")
