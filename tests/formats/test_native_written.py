"""``native`` on its way out: captured again, in order, it is the same session."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.capture.validation import validate_payload
from agent.formats import native_out
from agent.formats.native_out import write
from agent.formats.writers import writer
from agent.formats.writing import Capture, Session
from tests.conftest import REPOSITORY, TESTS, vectors
from tests.formats.sessions import (
    CONVERSATION,
    OTHER_CONVERSATION,
    SESSION,
    hostile,
    known_by,
    memory,
    session_of,
    turn,
    turn_name,
)
from tests.strategies import json_values, timestamps

LAW = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
CASES = vectors("session")
IDS = [turn_name(number) for number in range(1, 8)]
CALLS = ["00000000-0000-4000-9000-000000000001", "00000000-0000-4000-9000-00000000000A", *IDS]
ALIKE = ["seq", "conversation_id", "captured_at", "version", "execution_ref", "revisions", "erased", "native_id"]


def payloads_of(session: Session) -> list[dict[str, Any]]:
    return [json.loads(document) for document in write(session).documents]


def check_same_again(before: Session) -> int:
    """Capture what is written into an empty store and compare; how many payloads it took."""
    written = write(before)
    with memory() as again:
        for document in written.documents:
            assert document.count("\n") == 1
            validate_payload(json.loads(document))
            again.capture(document)
        after = again.session(before.session_id)
        assert json.dumps(known_by(after), sort_keys=True) == json.dumps(known_by(before), sort_keys=True)
        assert write(after).documents == written.documents
        # The very same payloads: nothing is added.
        assert all(again.capture(document)["duplicate"] for document in written.documents)
    return len(written.documents)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_every_golden_session_is_the_same_again(case: dict) -> None:
    with memory() as store:
        for payload in case["captures"]:
            store.capture(payload)
        check_same_again(store.session(case["captures"][0]["session_id"]))


@pytest.mark.parametrize("case", vectors(), ids=[case["name"] for case in vectors()])
def test_every_golden_capture_is_the_same_session_again(case: dict) -> None:
    with memory() as store:
        store.capture(case["input"])
        assert check_same_again(store.session(case["input"]["session_id"])) == 1


def chats(path: Any) -> list[Any]:
    return [json.loads(line)["traj"] for line in path.read_text().splitlines()]


def check_chats(conversations: list[Any]) -> None:
    with memory() as store:
        for number, messages in enumerate(conversations):
            # Grown once, so that there are two captures.
            for count in (len(messages) // 2, len(messages)):
                store.capture({"session_id": f"chat-{number}", "messages": messages[:count]}, "openai-chat")
        for number in range(len(conversations)):
            session = store.session(f"chat-{number}")
            assert session.native_session_id == f"chat-{number}"
            assert check_same_again(session) == 1


def test_real_chats_are_the_same_sessions_again() -> None:
    check_chats(chats(TESTS / "data" / "tau-bench-airline__3.jsonl"))


def test_all_40_shared_chats_are_the_same_sessions_again(shared) -> None:
    check_chats(chats(shared / "data" / "tau-bench__gpt-4o-airline__40.jsonl"))


@st.composite
def captures(draw: st.DrawFn) -> dict[str, Any]:
    """A capture of one session: any of its turns in any order, old ones too, parents early, late or elsewhere."""
    ids = draw(st.lists(st.sampled_from(IDS), min_size=1, max_size=5, unique=True))
    turns = []
    for place, turn_id in enumerate(ids):
        sent: dict[str, Any] = {
            "turn_id": draw(st.sampled_from([turn_id, turn_id.upper()])),
            "role": draw(st.sampled_from(["user", "assistant", "system", "tool"])),
            "content": draw(hostile),
            "timestamp": draw(timestamps),
        }
        allowed = [each for each in [*IDS, "00000000-0000-4000-8000-0000000000ff"] if each not in ids[place:]]
        if draw(st.booleans()):
            sent["parent_turn_id"] = draw(st.none() | st.sampled_from(allowed))
        if draw(st.booleans()):
            named = draw(st.lists(st.sampled_from([each for each in CALLS if each not in ids]), max_size=2))
            sent["tool_invocations"] = [
                {"tool_name": "t", "invocation_id": each, "arguments": draw(json_values)} for each in named
            ]
        if draw(st.booleans()):
            memory_of = {
                "leaf": st.sampled_from(IDS),
                "reset": st.sampled_from([True, "all"]),
                "keep_last": st.integers(0, 2),
            }
            sent["metadata"] = {"memory": draw(st.fixed_dictionaries({}, optional=memory_of))}
            if draw(st.booleans()):
                sent["metadata"]["derived"] = ["timestamp"]
        sent |= draw(st.dictionaries(st.sampled_from(ALIKE), json_values, max_size=2))
        turns.append(sent)
    beside = {
        "context": st.sampled_from([{"agent_id": "a"}, {"agent_id": "b", "tags": ["x"]}, {"x": 1}, {"x": True}]),
        "capture_options": st.sampled_from([{}, {"create_lineage": False}, {"content": "full"}]),
        "x_request": st.sampled_from([1, 1.0, "\u2028"]),
        "native_session_id": st.just("no name of this session"),
    }
    return {
        "session_id": draw(st.sampled_from([SESSION, SESSION.upper()])),
        "conversation_id": draw(st.sampled_from([CONVERSATION, OTHER_CONVERSATION])),
        **draw(st.fixed_dictionaries({}, optional=beside)),
        "turns": turns,
    }


@given(st.lists(captures(), min_size=1, max_size=4))
@LAW
def test_whatever_was_captured_is_the_same_session_again(sent: list[dict[str, Any]]) -> None:
    with memory() as store:
        for payload in sent:
            store.capture(payload)
        check_same_again(store.session())


@given(st.lists(captures(), min_size=1, max_size=4))
@LAW
def test_a_conversation_alone_has_the_same_history_again(sent: list[dict[str, Any]]) -> None:
    with memory() as store, memory() as again:
        for payload in sent:
            store.capture(payload)
        conversation = store.session().all[0].conversation_id
        before = store.session(conversation=conversation)
        for document in write(before).documents:
            again.capture(document)
        after = again.session(conversation=conversation)
        assert [turn.turn_id for turn in after.shown] == [turn.turn_id for turn in before.shown]
        assert [turn.content for turn in after.shown] == [turn.content for turn in before.shown]


def test_a_native_session_id_and_derived_ids_are_kept_without_asking_to_derive_again() -> None:
    turns = [
        {"turn_id": "m1", "role": "user", "content": "hello", "timestamp": "2026-03-02T08:15:00Z"},
        {
            "turn_id": "m2",
            "role": "assistant",
            "content": "",
            "timestamp": "2026-03-02T08:15:01Z",
            "tool_invocations": [{"tool_name": "look", "invocation_id": "call_1"}],
        },
    ]
    sent = {"session_id": "s", "conversation_id": "c", "capture_options": {"derive_ids": True}, "turns": turns}
    with memory() as store:
        store.capture(sent)
        session = store.session("s")
        (payload,) = payloads_of(session)
        assert (payload["native_session_id"], payload["native_conversation_id"]) == ("s", "c")
        assert payload["capture_options"] == {}
        assert [each["native_id"] for each in payload["turns"]] == ["m1", "m2"]
        assert payload["turns"][1]["tool_invocations"][0]["native_id"] == "call_1"
        check_same_again(session)


def test_a_payload_starts_anew_only_where_it_must() -> None:
    one, two = Capture(CONVERSATION, {"context": {"x": 1}}), Capture(CONVERSATION, {"context": {"x": True}})
    same = Capture(CONVERSATION, {"context": {"x": 1}})
    captured = {"1": one, "2": same, "3": two}
    session = session_of(
        turn(1, execution_ref="1"),
        turn(2, execution_ref="2", parent_turn_id=turn_name(4)),
        turn(3, execution_ref="3"),
        turn(4, execution_ref="3", parent_turn_id=None),
        turn(5, execution_ref="3", conversation_id=OTHER_CONVERSATION),
        captures=captured,
    )
    parts = [[each["turn_id"] for each in payload["turns"]] for payload in payloads_of(session)]
    assert parts == [[turn_name(1), turn_name(2)], [turn_name(3), turn_name(4)], [turn_name(5)]]


def test_a_turn_waits_for_the_next_payload_where_it_is_the_parent_of_an_earlier_one() -> None:
    session = session_of(turn(1, parent_turn_id=turn_name(2)), turn(2, parent_turn_id=None))
    assert [len(payload["turns"]) for payload in payloads_of(session)] == [1, 1]


@pytest.mark.parametrize("clashing_first", [True, False])
def test_a_call_and_a_turn_of_one_id_stand_in_two_payloads(clashing_first: bool) -> None:
    call = [{"tool_name": "t", "invocation_id": turn_name(2 if clashing_first else 1).upper()}]
    calling = 1 if clashing_first else 2
    session = session_of(*(turn(n, tool_invocations=call if n == calling else []) for n in (1, 2)))
    assert [len(payload["turns"]) for payload in payloads_of(session)] == [1, 1]


def test_no_payload_holds_more_than_a_capture_may() -> None:
    many = session_of(*(turn(number) for number in range(1, 10_003)))
    assert [len(payload["turns"]) for payload in payloads_of(many)] == [10_000, 2]
    called = session_of(
        *(turn(n, tool_invocations=[{"tool_name": "t", "invocation_id": CALLS[0]}] * 3000) for n in (1, 2, 3, 4))
    )
    assert [len(payload["turns"]) for payload in payloads_of(called)] == [3, 1]
    # Each of these characters takes two bytes as text, and six where it is safe to read.
    long = session_of(*(turn(n, "\x85" * 800_000) for n in (1, 2, 3)))
    assert [len(payload["turns"]) for payload in payloads_of(long)] == [2, 1]
    assert all(len(document.encode()) <= native_out.MAX_BYTES for document in write(long).documents)
    rich = session_of(*(turn(n, metadata={"list": [0] * 100_000}) for n in (1, 2, 3)))
    assert [len(payload["turns"]) for payload in payloads_of(rich)] == [2, 1]
    assert write(rich).lost == {}


def test_a_turn_that_no_capture_takes_is_counted() -> None:
    written = write(session_of(turn(1, "x" * native_out.MAX_BYTES), turn(2)))
    assert (len(written.documents), written.lost) == (2, {"too_large_to_capture": 1})


def test_earlier_revisions_are_counted() -> None:
    assert write(session_of(turn(1, revisions=3), turn(2, revisions=1))).lost == {"revisions": 2}


def test_what_continued_an_erased_turn_continues_what_that_turn_did() -> None:
    session = session_of(turn(1), turn(2, None, erased=True), turn(3, None, erased=True), turn(4))
    written = write(session)
    assert (written.turns, written.erased, written.lost) == (4, 2, {})
    (payload,) = payloads_of(session)
    assert [each["parent_turn_id"] for each in payload["turns"]] == [None, turn_name(1)]


@pytest.mark.parametrize("cut", [{"reset": True}, {"reset": "all"}, {"keep_last": 1}])
@pytest.mark.parametrize("carrier", [{"role": "system", "state_only": True}, {"role": "user"}])
def test_what_was_cleared_does_not_come_back_with_a_copy_when_the_clearing_turn_is_erased(
    cut: dict[str, Any], carrier: dict[str, Any]
) -> None:
    marks = {name: value for name, value in carrier.items() if name != "role"}
    role = carrier["role"]
    clearing = {
        "turn_id": turn_name(3),
        "role": role,
        "content": "" if marks else "start over",
        "timestamp": "2026-03-02T08:15:03Z",
        "metadata": {"memory": {**cut, **marks}},
    }
    said = [
        {"turn_id": turn_name(n), "role": "user", "content": f"said {n}", "timestamp": f"2026-03-02T08:15:0{n}Z"}
        for n in (1, 2, 4)
    ]
    turns = [said[0], said[1], clearing, said[2]]
    with memory() as original, memory() as copy:
        original.capture({"session_id": SESSION, "conversation_id": CONVERSATION, "turns": turns})
        before = [each.turn_id for each in original.session().shown if each.turn_id != turn_name(3)]
        original.client.erasure.turn(turn_name(3))
        written = write(original.session())
        assert (written.turns, written.erased) == (4, 1)
        for document in written.documents:
            copy.capture(document)
        assert [each.turn_id for each in copy.session().shown] == before
        assert turn_name(1) not in before


def test_a_ring_of_erased_turns_ends_a_path() -> None:
    session = session_of(
        turn(1, None, erased=True, parent_turn_id=turn_name(2)), turn(2, None, erased=True), turn(3, "x")
    )
    (payload,) = payloads_of(session)
    assert payload["turns"][0]["parent_turn_id"] is None


def test_a_conversation_takes_along_what_its_paths_go_through() -> None:
    turns = (
        turn(1),
        turn(2),
        turn(3, conversation_id=OTHER_CONVERSATION, parent_turn_id=turn_name(1)),
        turn(4, conversation_id=OTHER_CONVERSATION),
    )
    session = session_of(*turns, conversation=OTHER_CONVERSATION)
    assert [[each["turn_id"] for each in payload["turns"]] for payload in payloads_of(session)] == [
        [turn_name(1)],
        [turn_name(3), turn_name(4)],
    ]


def test_integers_of_any_size_keep_every_digit() -> None:
    huge = 10**4000 + 1
    with memory() as store:
        text = {"turn_id": turn_name(1), "role": "user", "content": "", "timestamp": "2026-03-02T08:15:00Z"}
        store.capture({"session_id": SESSION, "conversation_id": CONVERSATION, "turns": [{**text, "x": huge}]})
        assert payloads_of(store.session())[0]["turns"][0]["x"] == huge
        check_same_again(store.session())


def test_each_format_has_its_writer_and_another_name_has_none() -> None:
    names = ["native", "openai-chat", "markdown", "text"]
    assert [writer(name).__module__ for name in names] == [
        "agent.formats.native_out",
        "agent.formats.openai_chat",
        "agent.formats.markdown",
        "agent.formats.text",
    ]
    with pytest.raises(LookupError):
        writer("nobody's")


def test_a_store_that_has_the_session_already_knows_what_is_exported_from_it() -> None:
    with memory() as store:
        sent = json.loads((REPOSITORY / "examples" / "native.json").read_text())
        store.capture(sent)
        (document,) = write(store.session(sent["session_id"])).documents
        assert store.capture(document)["duplicate"]
    with memory() as store:
        case = next(case for case in CASES if case["name"] == "01-grown-snapshots")
        for payload in case["captures"]:
            store.capture(payload)
        turns = [store.capture(document)["turns"] for document in write(store.session(SESSION)).documents]
        assert {name: sum(each[name] for each in turns) for name in ("new", "revised")} == {"new": 0, "revised": 0}


def test_the_first_turn_of_a_later_payload_names_its_parent() -> None:
    with memory() as store:
        for number in (1, 2, 3):
            said = {"role": "user", "content": "x", "timestamp": "2026-03-02T08:15:00Z"}
            payload = {"session_id": SESSION, "conversation_id": CONVERSATION, "context": {"x": number},
                       "turns": [{"turn_id": turn_name(2 * number + place), **said} for place in (0, 1)]}  # fmt: skip
            store.capture(payload)
        parents = [[each.get("parent_turn_id", "-") for each in payload["turns"]]
                   for payload in payloads_of(store.session())]  # fmt: skip
        assert parents == [["-", "-"], [turn_name(3), "-"], [turn_name(5), "-"]]
