"""An event replayed from its own inputs is identical, or the difference is named; no damage makes it raise."""

import copy
import json
from collections.abc import Callable
from typing import Any

import jiter
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.canonical import canonical, inputs_hash
from agent.core.contract_version import refuse_newer
from agent.core.difference import Kind
from agent.core.replay import NOT_JSON, Reason, Verdict, replay
from agent.errors import NewerContract
from tests.conftest import vectors
from tests.core.stored_events import at, captured, captured_text, places, removed, replaced, vector
from tests.strategies import fresh_payload, json_values, payloads

OTHER_ID = "00000000-0000-4000-8000-00000000ffff"
SECRET = "the content that nobody may see"
# What the inputs do not determine: measurements, and what this release does not look for.
UNDETERMINED = {("payload", "telemetry"), ("payload", "outputs", "entities")}


def lossless(envelope: Any) -> Any:
    return jiter.from_json(json.dumps(envelope).encode(), float_mode="lossless-float")


def found(envelope: Any) -> list[tuple[str, str]]:
    """The differences by path and kind; the same by either way of reading numbers."""
    differences = replay(envelope).differences
    assert replay(lossless(envelope), exact_numbers=True).differences == differences
    return [(difference.path, difference.kind.value) for difference in differences]


@pytest.mark.parametrize("case", vectors(), ids=lambda case: case["name"])
def test_every_golden_capture_is_identical(case: dict[str, Any]) -> None:
    envelope = captured(case["input"])
    assert replay(envelope).verdict is Verdict.IDENTICAL
    assert replay(lossless(envelope), exact_numbers=True).verdict is Verdict.IDENTICAL
    # A bare DecisionEvent stands for its envelope.
    assert replay(envelope["payload"]).verdict is Verdict.IDENTICAL


@pytest.mark.parametrize("case", vectors("session"), ids=lambda case: case["name"])
def test_every_capture_of_the_golden_sessions_is_identical(case: dict[str, Any]) -> None:
    assert {replay(captured(sent)).verdict for sent in case["captures"]} == {Verdict.IDENTICAL}


def test_a_translated_conversation_is_identical() -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes?"}]
    envelope = captured({"session_id": "chat-1", "messages": messages}, "openai-chat")
    assert envelope["payload"]["inputs_hash"] != envelope["payload"]["stored_inputs_hash"]
    assert replay(envelope).verdict is Verdict.IDENTICAL


@given(payloads())
def test_what_a_capture_writes_is_identical_whatever_was_captured(payload: dict[str, Any]) -> None:
    text = captured_text(payload)
    assert replay(json.loads(text)).verdict is Verdict.IDENTICAL
    assert replay(jiter.from_json(text, float_mode="lossless-float"), exact_numbers=True).verdict is Verdict.IDENTICAL


EVENTS = [vector(case["name"]) for case in vectors()]


def is_undetermined(path: tuple[str | int, ...]) -> bool:
    return any(path[: len(free)] == free for free in UNDETERMINED)


def same(one: Any, other: Any) -> bool:
    """Whether both are one JSON value: 1.0 is 1."""
    try:
        return canonical(one) == canonical(other)
    except (ValueError, TypeError):
        return False


damaged_values = json_values | st.sampled_from(
    [None, True, False, 0, 1, 1.0, -1, "", "x", [], {}, [[]], [{}], "2026-03-02T08:15:00Z", OTHER_ID, "1.0.0", 10**30]
)


@given(st.data())
def test_no_value_of_an_event_can_be_changed_and_the_event_stay_identical(data: st.DataObject) -> None:
    envelope = data.draw(st.sampled_from(EVENTS))
    path = data.draw(st.sampled_from([place for place in places(envelope) if not is_undetermined(place)]))
    other = data.draw(damaged_values)
    damaged = replaced(envelope, path, other)
    verdicts = {replay(damaged).verdict, replay(lossless(damaged), exact_numbers=True).verdict}
    assert len(verdicts) == 1
    may_be_identical = same(at(envelope, path), other) or is_another_version_of_the_contract(path, other)
    if not may_be_identical:
        assert verdicts != {Verdict.IDENTICAL}


def is_another_version_of_the_contract(path: tuple[str | int, ...], other: Any) -> bool:
    return path == ("payload", "agent_version") and isinstance(other, str) and other.startswith(("0.", "1."))


@given(st.data())
def test_no_value_of_an_event_can_be_left_out_and_the_event_stay_identical(data: st.DataObject) -> None:
    envelope = data.draw(st.sampled_from(EVENTS))
    # An envelope need not name its source; without the hash of ours it is of another writer, who is not judged so.
    free = {("source",), ("payload", "stored_inputs_hash"), ("runId",), ("timestamp",), ("type",)}
    among = [place for place in places(envelope) if place and place not in free and not is_undetermined(place)]
    damaged = removed(envelope, data.draw(st.sampled_from(among)))
    assert replay(damaged).verdict is not Verdict.IDENTICAL


@given(json_values)
def test_what_is_no_event_at_all_is_no_failure(value: Any) -> None:
    assert replay(value).verdict is not Verdict.IDENTICAL


@given(st.dictionaries(st.sampled_from(["agent_id", "decision_type", "inputs", "outputs"]), json_values))
def test_an_event_of_anything_is_no_failure(members: dict[str, Any]) -> None:
    event = {**EVENTS[5]["payload"], **members}
    replay({"payload": event, "erased": True})
    assert replay({"payload": event}).verdict in Verdict


def tool_event() -> dict[str, Any]:
    return copy.deepcopy(vector("06-tool-call-and-result"))


def edit(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    envelope = tool_event()
    change(envelope["payload"])
    return envelope


def test_content_that_was_changed_shows_in_both_hashes_and_is_not_repeated() -> None:
    envelope = edit(lambda event: event["inputs"]["turns"][0].update(content=SECRET))
    assert found(envelope) == [("$.stored_inputs_hash", "changed"), ("$.inputs_hash", "changed")]
    difference = replay(envelope).differences[0]
    assert difference.stored == envelope["payload"]["stored_inputs_hash"]
    assert difference.rebuilt == inputs_hash(envelope["payload"]["inputs"])
    assert SECRET not in repr(replay(envelope))


def test_a_turn_that_was_dropped_shows_in_counts_and_graph() -> None:
    envelope = edit(lambda event: event["inputs"]["turns"].pop())
    last = envelope["payload"]["outputs"]["nodes_created"][-1]
    paths = found(envelope)
    assert ("$.outputs.turn_count", "changed") in paths
    place = len(envelope["payload"]["outputs"]["nodes_created"]) - 1
    assert (f"$.outputs.nodes_created[{place}]", "unexpected") in paths
    assert f"node {last['node_id']}" in {difference.subject for difference in replay(envelope).differences}


def nodes(event: dict[str, Any]) -> list[Any]:
    listed: list[Any] = event["outputs"]["nodes_created"]
    return listed


def edges(event: dict[str, Any]) -> list[Any]:
    listed: list[Any] = event["outputs"]["edges_created"]
    return listed


def turn_round(edge: dict[str, Any]) -> None:
    edge["from_node_id"], edge["to_node_id"] = edge["to_node_id"], edge["from_node_id"]


GRAPHS: dict[str, tuple[Callable[[dict[str, Any]], object], list[tuple[str, str]]]] = {
    "node dropped": (lambda event: nodes(event).pop(2), [("$.outputs.nodes_created[2]", "missing")]),
    "node added": (
        lambda event: nodes(event).insert(1, {"node_id": OTHER_ID, "node_type": "prompt", "turn_index": 0}),
        [("$.outputs.nodes_created[1]", "unexpected")],
    ),
    "node twice": (lambda event: nodes(event).append(nodes(event)[1]), [("$.outputs.nodes_created[6]", "repeated")]),
    "node type": (
        lambda event: nodes(event)[1].update(node_type="response"),
        [("$.outputs.nodes_created[1].node_type", "changed")],
    ),
    "turn index": (
        lambda event: nodes(event)[1].update(turn_index=7),
        [("$.outputs.nodes_created[1].turn_index", "changed")],
    ),
    "no turn index": (
        lambda event: nodes(event)[1].pop("turn_index"),
        [("$.outputs.nodes_created[1].turn_index", "changed")],
    ),
    "index of truth": (
        lambda event: nodes(event)[2].update(turn_index=True),
        [("$.outputs.nodes_created[2].turn_index", "changed")],
    ),
    "session with an index": (
        lambda event: nodes(event)[0].update(turn_index=0),
        [("$.outputs.nodes_created[0].turn_index", "changed")],
    ),
    "more members": (
        lambda event: (nodes(event)[1].update({"a b": SECRET}), edges(event)[0].update(weight=1)),
        [('$.outputs.nodes_created[1]["a b"]', "changed"), ("$.outputs.edges_created[0].weight", "changed")],
    ),
    "order": (
        lambda event: (nodes(event).reverse(), edges(event).reverse()),
        [("$.outputs.nodes_created", "order"), ("$.outputs.edges_created", "order")],
    ),
    "edge dropped": (lambda event: edges(event).pop(0), [("$.outputs.edges_created[0]", "missing")]),
    "edge turned": (
        lambda event: turn_round(edges(event)[1]),
        [("$.outputs.edges_created[1]", "turned_round")],
    ),
    "edge added": (
        lambda event: edges(event).append({**edges(event)[0], "to_node_id": OTHER_ID, "edge_type": SECRET}),
        [("$.outputs.edges_created[-]", "unexpected")],
    ),
    "edge without an id added": (
        lambda event: edges(event).insert(0, {"edge_type": "follows", "from_node_id": SECRET, "to_node_id": OTHER_ID}),
        [("$.outputs.edges_created[0]", "unexpected")],
    ),
    "edge twice": (lambda event: edges(event).append(edges(event)[0]), [("$.outputs.edges_created[-]", "repeated")]),
    "edge id": (
        lambda event: edges(event)[2].update(edge_id=OTHER_ID),
        [("$.outputs.edges_created[2].edge_id", "changed")],
    ),
    "no lists": (
        lambda event: event["outputs"].update(nodes_created=SECRET, edges_created=None),
        [("$.outputs.nodes_created", "shape"), ("$.outputs.edges_created", "shape")],
    ),
    "no objects": (
        lambda event: (nodes(event).append(7), edges(event).append([])),
        [("$.outputs.nodes_created[6]", "shape"), ("$.outputs.edges_created[-]", "shape")],
    ),
    "no ids": (
        lambda event: (nodes(event).append({"node_id": 7}), edges(event).append({"edge_type": "follows"})),
        [("$.outputs.nodes_created[6]", "shape"), ("$.outputs.edges_created[-]", "shape")],
    ),
}


@pytest.mark.parametrize("case", GRAPHS)
def test_a_graph_that_was_changed_is_named_by_each_thing_in_it(case: str) -> None:
    change, expected = GRAPHS[case]
    envelope = edit(change)
    last = len(envelope["payload"]["outputs"]["edges_created"] or ()) - 1
    assert sorted(found(envelope)) == sorted((path.replace("[-]", f"[{last}]"), kind) for path, kind in expected)
    assert SECRET not in repr(replay(envelope))


def test_the_order_of_members_and_one_point_zero_are_no_differences() -> None:
    envelope = edit(lambda event: (nodes(event)[2].update(turn_index=1.0), event["outputs"].update(turn_count=4.0)))
    envelope["payload"]["outputs"]["edges_created"] = [
        dict(reversed(edge.items())) for edge in edges(envelope["payload"])
    ]
    assert envelope["payload"]["outputs"]["turn_count"] == len(envelope["payload"]["inputs"]["turns"])
    assert found(envelope) == []


MEMBERS: dict[str, tuple[Callable[[dict[str, Any]], object], list[tuple[str, str]]]] = {
    "turn count": (lambda event: event["outputs"].update(turn_count=9), [("$.outputs.turn_count", "changed")]),
    "no turn count": (lambda event: event["outputs"].pop("turn_count"), [("$.outputs.turn_count", "missing")]),
    "session": (lambda event: event["outputs"].update(session_id=OTHER_ID), [("$.outputs.session_id", "changed")]),
    "tokens": (lambda event: event["outputs"].update(total_tokens=5), [("$.outputs.total_tokens", "changed")]),
    "a member of nobody": (lambda event: event["outputs"].update(note=1), [("$.outputs.note", "unexpected")]),
    "captured at": (
        lambda event: event["outputs"].update(capture_timestamp="2026-01-01T00:00:00Z"),
        [("$.outputs.capture_timestamp", "changed")],
    ),
    "timestamp": (
        lambda event: event.update(timestamp="2026-01-01T00:00:00Z"),
        [("$.outputs.capture_timestamp", "changed"), ("$.timestamp", "changed")],
    ),
    "execution ref": (lambda event: event.update(execution_ref=OTHER_ID), [("$.execution_ref", "changed")]),
    "no execution ref": (lambda event: event.pop("execution_ref"), [("$.execution_ref", "missing")]),
    "outputs": (lambda event: event.update(outputs=[]), [("$.outputs", "shape")]),
    "no outputs": (lambda event: event.pop("outputs"), [("$.outputs", "missing")]),
    "stored hash": (
        lambda event: event.update(stored_inputs_hash="ab" * 32),
        [("$.stored_inputs_hash", "changed")],
    ),
    "hash": (lambda event: event.update(inputs_hash="ab" * 32), [("$.inputs_hash", "changed")]),
    "version": (lambda event: event.update(agent_version=SECRET), [("$.agent_version", "shape")]),
    "no confidence": (lambda event: event.pop("confidence"), [("$.confidence", "changed")]),
    "confidence": (lambda event: event.update(confidence=0.5), [("$.confidence", "changed")]),
    "confidence in words": (lambda event: event.update(confidence="1.0"), [("$.confidence", "changed")]),
    "confidence of many": (lambda event: event.update(confidence=[1.0]), [("$.confidence", "changed")]),
    "confidence of truth": (lambda event: event.update(confidence=True), [("$.confidence", "changed")]),
    "no constraints": (lambda event: event.pop("constraints_applied"), [("$.constraints_applied", "shape")]),
    "constraint": (
        lambda event: event.update(constraints_applied=[SECRET]),
        [("$.constraints_applied", "changed")],
    ),
    "no payload": (
        lambda event: event["inputs"].update(turns=7, capture_options=[]),
        [("$.inputs", "shape"), ("$.inputs_hash", "changed"), ("$.stored_inputs_hash", "changed")],
    ),
    "no inputs at all": (lambda event: event.update(inputs=SECRET), [("$.inputs", "shape")]),
}


@pytest.mark.parametrize("case", MEMBERS)
def test_a_member_that_was_changed_is_named(case: str) -> None:
    change, expected = MEMBERS[case]
    envelope = edit(change)
    assert sorted(found(envelope)) == sorted(expected)
    assert SECRET not in repr(replay(envelope))


@pytest.mark.parametrize("member", ["type", "source", "runId", "timestamp"])
def test_what_the_envelope_says_otherwise_is_a_difference(member: str) -> None:
    envelope = {**tool_event(), member: "another"}
    names = {"type": "decision_type", "source": "agent_id", "runId": "execution_ref"}
    assert found(envelope) == [(f"$.{names.get(member, member)}", "changed")]


@pytest.mark.parametrize(("member", "value"), [("agent_id", "another"), ("decision_type", None)])
def test_an_event_that_its_envelope_and_its_hash_call_ours_differs_where_it_says_otherwise(
    member: str, value: Any
) -> None:
    envelope = edit(lambda event: event.update({member: value}))
    assert found(envelope) == [(f"$.{member}", "changed")]


@pytest.mark.parametrize("turn", [{"token_usage": None}, {"token_usage": {"total_tokens": 1.5}}, {"role": []}])
def test_inputs_that_are_no_payload_differ_even_under_their_own_hash(turn: dict[str, Any]) -> None:
    envelope = tool_event()
    event = envelope["payload"]
    event["inputs"]["turns"][0].update(turn)
    event["inputs_hash"] = event["stored_inputs_hash"] = inputs_hash(event["inputs"])
    assert ("$.inputs", "shape") in found(envelope)


def test_tokens_beyond_64_bits_are_summed() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2**63 - 1}
    payload = fresh_payload(4)
    envelope = captured({**payload, "turns": [{**turn, "token_usage": usage} for turn in payload["turns"]]})
    assert replay(envelope).verdict is Verdict.IDENTICAL
    envelope["payload"]["outputs"]["total_tokens"] -= 1
    difference = replay(envelope).differences[0]
    assert (difference.stored, difference.rebuilt) == (4 * (2**63 - 1) - 1, 4 * (2**63 - 1))


def test_a_sum_of_tokens_that_no_turn_carries_is_not_expected() -> None:
    envelope = captured(fresh_payload(1))
    envelope["payload"]["outputs"]["total_tokens"] = 0
    assert found(envelope) == [("$.outputs.total_tokens", "unexpected")]


def test_ids_that_were_derived_must_be_said_to_be() -> None:
    envelope = copy.deepcopy(vector("21-derived-ids"))
    assert replay(envelope).verdict is Verdict.IDENTICAL
    envelope["payload"]["constraints_applied"].remove("ids_derived")
    assert ("$.constraints_applied", "changed") in found(envelope)


def test_content_that_was_narrowed_is_compared_as_far_as_it_is_there() -> None:
    envelope = tool_event()
    event = envelope["payload"]
    event["inputs"]["turns"][0]["content"] = "[redacted:email]"
    event["stored_inputs_hash"] = inputs_hash(event["inputs"])
    event["constraints_applied"].append("content_redacted")
    assert replay(envelope).verdict is Verdict.IDENTICAL
    event["inputs_hash"] = "no hash"
    assert found(envelope) == [("$.inputs_hash", "shape")]


def test_an_event_without_inputs_says_so() -> None:
    for inputs in ({}, {"inputs": None}):
        event = {name: value for name, value in tool_event()["payload"].items() if name != "inputs"}
        assert replay({**tool_event(), "payload": {**event, **inputs}}).reason is Reason.NO_INPUTS


@pytest.mark.parametrize(
    "payload", [{}, {"agent_id": "another-agent"}, {"agent_id": "conversation-memory-agent", "decision_type": "x"}]
)
def test_an_event_of_another_agent_or_decision_is_not_ours(payload: dict[str, Any]) -> None:
    found = replay({"type": "x", "runId": "r", "timestamp": "t", "payload": payload})
    assert (found.verdict, found.reason) == (Verdict.NOT_POSSIBLE, Reason.NOT_OURS)


def test_a_newer_major_of_the_contract_is_refused_by_type() -> None:
    envelope = edit(lambda event: event.update(agent_version="2.0.0"))
    assert replay(envelope).reason is Reason.NEWER_CONTRACT
    with pytest.raises(NewerContract) as caught:
        refuse_newer("12.3.4")
    assert (caught.value.major, caught.value.status) == (12, 422)
    for version in ("1.9.0", "0.1.0", "one", None, 1, "1", "1.0.0\n"):
        refuse_newer(version)
    assert replay(edit(lambda event: event.update(agent_version="1.7.0"))).verdict is Verdict.IDENTICAL


def other_writers(change: Callable[[dict[str, Any]], object]) -> Any:
    envelope = edit(change)
    del envelope["payload"]["stored_inputs_hash"]
    return replay(envelope)


def test_of_an_event_without_our_hash_what_can_be_judged_is() -> None:
    assert other_writers(lambda event: None).verdict is Verdict.IDENTICAL
    changed = other_writers(lambda event: event["inputs"]["turns"][0].update(content="x"))
    assert [difference.path for difference in changed.differences] == ["$.inputs_hash"]
    # Its graph is its own affair, but not called identical.
    assert other_writers(lambda event: edges(event).pop()).reason is Reason.OTHER_WRITER
    assert other_writers(lambda event: event["constraints_applied"].append("ids_derived")).reason is Reason.OTHER_WRITER


def erased(envelope: dict[str, Any]) -> dict[str, Any]:
    """An event as our store feeds it when all its turns were erased."""
    kept = ("turn_id", "role", "parent_turn_id", "tool_invocations")
    inputs = envelope["payload"]["inputs"]
    turns = [{name: turn[name] for name in kept if name in turn} | {"erased": True} for turn in inputs["turns"]]
    skeleton = {"session_id": inputs["session_id"], "conversation_id": inputs["conversation_id"], "turns": turns}
    return {**envelope, "erased": True, "payload": {**envelope["payload"], "inputs": skeleton}}


@pytest.mark.parametrize("case", vectors(), ids=lambda case: case["name"])
def test_an_erased_event_cannot_be_rebuilt_and_is_not_called_damaged(case: dict[str, Any]) -> None:
    found = replay(erased(captured(case["input"])))
    assert (found.verdict, found.reason, found.differences) == (Verdict.NOT_POSSIBLE, Reason.ERASED, ())


def test_of_an_erased_event_what_is_left_must_fit() -> None:
    envelope = erased(tool_event())
    envelope["payload"]["outputs"]["nodes_created"].pop()
    assert [difference.kind for difference in replay(envelope).differences] == [Kind.MISSING]
    envelope = erased(tool_event())
    envelope["payload"]["outputs"]["turn_count"] = 9
    assert [difference.path for difference in replay(envelope).differences] == ["$.outputs.turn_count"]
    # Whom an assistant answered nobody can tell any more; that its turn belongs to the session, anybody.
    envelope = erased(tool_event())
    listed = envelope["payload"]["outputs"]["edges_created"]
    answers = [edge for edge in listed if edge["edge_type"] == "responds_to"]
    listed.remove(answers[0])
    assert replay(envelope).reason is Reason.ERASED
    listed.remove(next(edge for edge in listed if edge["edge_type"] == "belongs_to"))
    assert replay(envelope).verdict is Verdict.DIFFERS


@pytest.mark.parametrize("kept", [{}, {"metadata": {"memory": {"state_only": True}}}])
def test_an_erased_turn_that_carried_state_only_fits_whether_its_skeleton_says_so_or_not(kept: dict[str, Any]) -> None:
    sent = copy.deepcopy(vectors()[0]["input"])
    state, answer = (dict(sent["turns"][0], turn_id=f"{OTHER_ID[:-1]}{number}") for number in (1, 2))
    state |= {"role": "system", "content": "", "metadata": {"memory": {"state_only": True}}}
    envelope = erased(captured({**sent, "turns": [state, answer | {"role": "assistant"}]}))
    envelope["payload"]["inputs"]["turns"][0] |= kept
    assert not [edge for edge in edges(envelope["payload"]) if edge["edge_type"] == "responds_to"]
    assert (replay(envelope).differences, replay(envelope).reason) == ((), Reason.ERASED)


def test_an_erased_event_that_cannot_be_checked_is_only_erased() -> None:
    envelope = erased(tool_event())
    assert replay({**envelope, "payload": {**envelope["payload"], "inputs": None}}).reason is Reason.ERASED
    del envelope["payload"]["stored_inputs_hash"]
    envelope["payload"]["outputs"]["nodes_created"].pop()
    assert replay(envelope).reason is Reason.ERASED


def test_nodes_and_edges_may_be_texts_where_only_identity_counts() -> None:
    envelope = tool_event()
    outputs = envelope["payload"]["outputs"]
    texts = {name: json.dumps(outputs[name], separators=(",", ":")).encode() for name in list(outputs)[2:4]}
    outputs.update(texts)
    assert replay(envelope).verdict is Verdict.IDENTICAL
    outputs["edges_created"] = texts["edges_created"].replace(b"follows", b"invokes")
    assert replay(envelope).verdict is Verdict.DIFFERS


def test_ids_that_would_read_as_other_members_are_not_taken_for_the_text_of_a_graph() -> None:
    envelope = captured(fresh_payload(1))
    event = envelope["payload"]
    hostile = 'x","node_type":"prompt","turn_index":0},{"node_id":"y'
    event["inputs"]["turns"][0]["turn_id"] = hostile
    event["inputs_hash"] = event["stored_inputs_hash"] = inputs_hash(event["inputs"])
    session = event["inputs"]["session_id"]
    text = f'[{{"node_id":"{session}","node_type":"session"}},'
    event["outputs"]["nodes_created"] = f'{text}{{"node_id":"{hostile}","node_type":"prompt","turn_index":0}}]'.encode()
    edge = event["outputs"]["edges_created"][0]
    event["outputs"]["edges_created"] = json.dumps([edge], separators=(",", ":")).encode()
    assert replay(envelope).verdict is Verdict.DIFFERS


def test_what_is_no_json_is_a_difference_of_the_whole() -> None:
    assert replay(None) == replay([]) == replay({"payload": 7}) == NOT_JSON


@pytest.mark.parametrize("name", ["native_session_id", "native_conversation_id"])
def test_a_native_name_in_a_capture_with_uuids_is_a_field_that_nobody_knows(name: str) -> None:
    assert replay(captured({**fresh_payload(), name: "chat-1"})).verdict is Verdict.IDENTICAL
