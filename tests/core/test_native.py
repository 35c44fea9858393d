"""Native ids become UUIDs (CONTRACT 3): the golden vectors, the laws, and the pairing of results with calls."""

import copy
import time
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.native import OpenCalls, derive_ids
from tests.conftest import vectors

NS = uuid.uuid5(uuid.NAMESPACE_URL, "https://agentics.dev/contracts/conversation-memory/v1")
UUID = "6F1D2C3A-8B4E-4F70-9A51-0C2D3E4F5A61"


def name(text: str) -> str:
    return str(uuid.uuid5(NS, text))


def turn(turn_id, role="user", calls=(), **fields):
    invocations = {"tool_invocations": [{"tool_name": "t", "invocation_id": call} for call in calls]} if calls else {}
    return {
        "turn_id": turn_id,
        "role": role,
        "content": "",
        "timestamp": "2026-03-02T08:00:00Z",
        **invocations,
        **fields,
    }


def payload(*turns, session="s", conversation="c"):
    return {"session_id": session, "conversation_id": conversation, "turns": list(turns)}


def invocation_ids(derived):
    return [[entry["invocation_id"] for entry in one.get("tool_invocations", [])] for one in derived["turns"]]


def node_ids(derived):
    seen = {derived["session_id"]: None}
    for one in derived["turns"]:
        seen[one["turn_id"]] = None
        seen.update(dict.fromkeys(entry["invocation_id"] for entry in one.get("tool_invocations", [])))
    return [node.lower() for node in seen]


DERIVED = [vector for vector in vectors() if vector["input"].get("capture_options", {}).get("derive_ids")]


@pytest.mark.parametrize("vector", DERIVED, ids=lambda vector: vector["name"])
def test_a_golden_vector_gets_its_ids(vector):
    derived = derive_ids(vector["input"])
    outputs = vector["expected"]["outputs"]
    assert derived["conversation_id"] == outputs["conversation_id"]
    assert node_ids(derived) == [node["node_id"] for node in outputs["nodes_created"]]


def test_the_three_vectors_with_native_ids_are_all_there():
    assert [vector["name"][:2] for vector in DERIVED] == ["21", "22", "25"]


def test_every_native_string_stays_beside_its_uuid():
    derived = derive_ids(payload(turn("m1"), turn("m2", "assistant", ["call_1"], parent_turn_id="m1")))
    session = name("session:s")
    second = name(f"turn:{session}:m2")
    assert derived == {
        "session_id": session,
        "native_session_id": "s",
        "conversation_id": name("conversation:c"),
        "native_conversation_id": "c",
        "turns": [
            turn(name(f"turn:{session}:m1"), native_id="m1"),
            turn(second, "assistant", native_id="m2")
            | {
                "parent_turn_id": name(f"turn:{session}:m1"),
                "native_parent_turn_id": "m1",
                "tool_invocations": [
                    {"tool_name": "t", "invocation_id": name(f"invocation:{second}:0"), "native_id": "call_1"}
                ],
            },
        ],
    }


def test_uuids_stay_as_sent_and_get_no_native_name():
    given_ids = payload(
        turn(UUID[:-1] + "2", "tool", [UUID[:-1] + "3"], parent_turn_id=UUID[:-1] + "4"),
        session=UUID,
        conversation=UUID,
    )
    assert derive_ids(given_ids) == given_ids


def test_an_upper_case_session_names_its_turns_as_the_lower_case_one_does():
    assert (
        derive_ids(payload(turn("a"), session=UUID))["turns"]
        == derive_ids(payload(turn("a"), session=UUID.lower()))["turns"]
    )


def test_a_root_stays_a_root():
    assert derive_ids(payload(turn("a", parent_turn_id=None)))["turns"][0]["parent_turn_id"] is None


def test_a_result_whose_call_is_not_there_is_named_by_the_session():
    derived = derive_ids(payload(turn("a", "tool", ["call_7"])))
    assert invocation_ids(derived) == [[name(f"invocation:{name('session:s')}:call_7")]]


def test_a_call_that_comes_later_is_not_answered_by_an_earlier_result():
    first, _ = invocation_ids(derive_ids(payload(turn("a", "tool", ["x"]), turn("b", "assistant", ["x"]))))
    assert first == [name(f"invocation:{name('session:s')}:x")]


def test_one_tool_turn_may_answer_two_calls_of_one_id_in_their_order():
    calls, results = invocation_ids(
        derive_ids(payload(turn("a", "assistant", ["x", "x"]), turn("b", "tool", ["x", "x"])))
    )
    assert results == calls


def test_any_turn_that_is_no_tool_turn_calls():
    calls, results = invocation_ids(derive_ids(payload(turn("a", "user", ["x"]), turn("b", "tool", ["x"]))))
    assert results == calls


native_turns = st.lists(
    st.tuples(
        st.sampled_from(["assistant", "tool", "user"]), st.lists(st.sampled_from(["a", "b", "", UUID]), max_size=3)
    ),
    min_size=1,
    max_size=12,
)


def oracle(turns):
    """The table of CONTRACT 3 read aloud: looks through everything earlier for each result."""
    session, earlier, answered, named = name("session:s"), [], set(), []
    for place, (role, entries) in enumerate(turns):
        own = name(f"turn:{session}:{place}")
        ids = []
        for index, native in enumerate(entries):
            if native == UUID:
                ids.append(UUID)
            elif role != "tool":
                ids.append(name(f"invocation:{own}:{index}"))
            else:
                calls = [call for call in earlier if call[1] == native]
                waiting = [call for call in calls if call[2] not in answered]
                nearest = [call for call in waiting if call[0] == waiting[-1][0]]
                found = nearest[0] if nearest else calls[-1] if calls else None
                ids.append(found[2] if found else name(f"invocation:{session}:{native}"))
                answered.add(ids[-1])
        if role != "tool":
            earlier.extend((place, native, one) for native, one in zip(entries, ids, strict=True) if native != UUID)
        named.append(ids)
    return named


@given(native_turns)
@settings(deadline=None)
def test_results_are_paired_as_the_table_reads(turns):
    built = payload(*(turn(str(place), role, entries) for place, (role, entries) in enumerate(turns)))
    assert invocation_ids(derive_ids(built)) == oracle(turns)


@given(native_turns)
@settings(deadline=None)
def test_the_argument_is_not_changed_and_a_second_derivation_changes_nothing(turns):
    built = payload(*(turn(str(place), role, entries) for place, (role, entries) in enumerate(turns)))
    before = copy.deepcopy(built)
    derived = derive_ids(built)
    assert built == before
    assert derive_ids(derived) == derived


def test_ten_thousand_turns_with_one_call_id_cost_no_more_a_turn_than_a_thousand():
    def seconds(count):
        open_calls = payload(
            *(turn(str(place), "assistant", ["x"]) for place in range(count // 2)),
            *(turn(f"r{place}", "tool", ["x"]) for place in range(count // 2)),
        )
        best = []
        for _ in range(3):
            start = time.process_time()
            derive_ids(open_calls)
            best.append(time.process_time() - start)
        return min(best)

    # Linear is 10, quadratic 100.
    assert seconds(10_000) < 40 * seconds(1_000)


def test_where_all_calls_are_answered_the_nearest_one_is_meant():
    calls: OpenCalls[str] = OpenCalls()
    calls.call("x", turn=0, value="first")
    calls.call("x", turn=1, value="second")
    assert [calls.answer("x") for _ in range(4)] == ["second", "first", "second", "second"]
    assert calls.answer("y") is None
