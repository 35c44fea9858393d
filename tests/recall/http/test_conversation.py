"""``GET /api/conversation/{session_id}``: what its messages hold, and which of them it gives."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agent.core.ids import conversation_of_session, session_uuid, turn_uuid
from agent.formats import WRITES
from tests.recall.http.site import CONVERSATION, SESSION, Site, error_of, payload, said, site, turn_id

PATH = f"/api/conversation/{SESSION}"
OTHER = "c2c2c2c2-0000-4000-8000-000000000002"
DERIVED = {"capture_options": {"derive_ids": True}}


@pytest.fixture
def made() -> Iterator[Site]:
    with site() as made:
        yield made


def test_a_message_has_what_was_captured_and_nothing_else(made: Site) -> None:
    made.capture(payload(said(1, "Hello?")))
    answer = made.get(PATH)
    assert answer["messages"] == [
        {
            "role": "user",
            "content": "Hello?",
            "timestamp": "2026-03-02T08:00:01Z",
            "turn_id": turn_id(1),
            "seq": 1,
            "conversation_id": CONVERSATION,
        }
    ]
    assert {name: answer[name] for name in ("success", "session_id", "agents_used", "message_count", "version")} == {
        "success": True,
        "session_id": SESSION,
        "agents_used": [],
        "message_count": 1,
        "version": 1,
    }
    assert answer["branches"] == [{"conversation_id": CONVERSATION, "leaf": turn_id(1), "current": True}]
    assert answer["created_at"] == answer["last_activity"]
    assert "native_session_id" not in answer


def test_what_a_turn_says_beside_its_text_is_there_exactly_as_it_was_sent(made: Site) -> None:
    # cases.md H24: signed blocks keep their order and every character.
    blocks = [{"type": "thinking", "thinking": "naïve → check\n", "signature": "EqQB+/a=="}, {"n": 2**70, "x": 1.50}]
    metadata = {"blocks": blocks, "agent": "night desk", "citations": [{"url": "https://x.test"}, 5]}
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 2**63 - 1}
    made.capture(payload(said(1, "a\x00b 🚀", "assistant", metadata=metadata, model="m-1", token_usage=usage)))
    (message,) = made.get(PATH)["messages"]
    assert message["metadata"] == metadata
    assert list(message["metadata"]["blocks"][0]) == ["type", "thinking", "signature"]
    assert (message["content"], message["agent"], message["citations"]) == (
        "a\x00b 🚀",
        "night desk",
        metadata["citations"],
    )
    assert (message["model"], message["token_usage"]) == ("m-1", usage)


def test_citations_that_are_no_list_stay_in_the_metadata_alone(made: Site) -> None:
    made.capture(payload(said(1, "a", metadata={"citations": "one"})))
    (message,) = made.get(PATH)["messages"]
    assert "citations" not in message
    assert message["metadata"] == {"citations": "one"}


def test_an_assistant_speaks_for_the_agent_of_its_capture_unless_its_turn_says_who(made: Site) -> None:
    own = said(3, "c", "assistant", metadata={"agent": "night desk"})
    made.capture(payload(said(1, "a"), said(2, "b", "assistant"), own, context={"agent_id": "desk"}))
    made.capture(payload(said(4, "d", "assistant")))
    answer = made.get(PATH)
    assert [message.get("agent") for message in answer["messages"]] == [None, "desk", "night desk", None]
    assert answer["agents_used"] == ["desk", "night desk"]


def test_the_agent_of_a_capture_is_read_once(made: Site) -> None:
    made.capture(payload(said(1, "b", "assistant"), context={"agent_id": "desk"}))
    before = made.get(PATH)
    remembered = made.source.agents.known([made.client.reads.turns(SESSION).turns[0].execution_ref or ""])
    assert list(remembered.values()) == ["desk"]
    assert made.get(PATH) == before


def test_a_call_and_its_result_are_a_pair_also_across_captures(made: Site) -> None:
    call = {"tool_name": "track", "invocation_id": "call_1", "arguments": {"parcel": 2**70}}
    made.capture(payload(said(1, "Where?"), said(2, "", "assistant", tool_invocations=[call]), **DERIVED))
    done = {"tool_name": "track", "invocation_id": "call_1", "success": True}
    made.capture(payload(said(3, "In Lyon.", "tool", tool_invocations=[done]), **DERIVED))
    _, asks, tells = made.get(PATH)["messages"]
    (made_call,), (result,) = asks["tool_calls"], tells["tool_results"]
    assert made_call == {
        "invocation_id": result["invocation_id"],
        "native_id": "call_1",
        "tool_name": "track",
        "arguments": {"parcel": 2**70},
    }
    assert result == {"invocation_id": made_call["invocation_id"], "tool_name": "track", "success": True}
    assert "tool_results" not in asks
    assert "tool_calls" not in tells


def test_a_result_without_a_call_keeps_its_own_id(made: Site) -> None:
    done = {"tool_name": "track", "invocation_id": turn_id(77)}
    made.capture(payload(said(1, "In Lyon.", "tool", tool_invocations=[done])))
    (message,) = made.get(PATH)["messages"]
    assert message["tool_results"] == [{"invocation_id": turn_id(77), "tool_name": "track"}]


def test_an_erased_turn_keeps_its_place_and_says_nothing(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "secret", metadata={"x": "secret"}), said(3, "c")))
    made.client.erasure.turn(turn_id(2))
    answer = made.get(PATH)
    assert [message["content"] for message in answer["messages"]] == ["a", None, "c"]
    gone = answer["messages"][1]
    assert (gone["erased"], gone["timestamp"], gone["seq"]) == (True, None, 2)
    assert "secret" not in json.dumps(answer)
    assert "erased" not in answer["messages"][0]


def test_a_session_that_is_erased_whole_is_still_there_as_its_skeleton(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "b")))
    made.client.erasure.session(SESSION)
    answer = made.get(PATH)
    assert [(message["content"], message["erased"]) for message in answer["messages"]] == [(None, True)] * 2
    assert made.get("/api/conversations")["sessions"][0]["query"] is None


def test_a_turn_that_carries_state_only_is_no_message(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "", "system", metadata={"memory": {"state_only": True}})))
    answer = made.get(PATH)
    assert (len(answer["messages"]), answer["message_count"]) == (1, 1)


# Which messages.


def test_the_newest_messages_come_in_their_order_with_the_way_to_the_older_ones(made: Site) -> None:
    made.capture(payload(*(said(number, f"t{number}") for number in range(1, 6))))
    page = made.get(f"{PATH}?limit=2")
    assert [message["content"] for message in page["messages"]] == ["t4", "t5"]
    assert (page["has_more"], page["next_before_seq"], page["message_count"]) == (True, 4, 5)
    page = made.get(f"{PATH}?limit=2&before_seq=4")
    assert [message["content"] for message in page["messages"]] == ["t2", "t3"]
    page = made.get(f"{PATH}?limit=2&before_seq=2")
    assert [message["content"] for message in page["messages"]] == ["t1"]
    assert page["has_more"] is False
    assert "next_before_seq" not in page


def test_what_came_since_is_asked_for_by_the_last_seq_that_is_known(made: Site) -> None:
    made.capture(payload(*(said(number, f"t{number}") for number in range(1, 6))))
    assert made.history(query="?after_seq=3") == ["t4", "t5"]
    assert made.history(query="?after_seq=5") == []
    page = made.get(f"{PATH}?after_seq=1&limit=2")
    assert [message["content"] for message in page["messages"]] == ["t2", "t3"]
    assert (page["has_more"], page["next_after_seq"]) == (True, 3)
    assert made.history(query="?after_seq=1&before_seq=4") == ["t2", "t3"]


def test_a_page_between_two_captures_neither_skips_nor_repeats_a_message(made: Site) -> None:
    made.capture(payload(*(said(number, f"t{number}") for number in range(1, 5))))
    first = made.get(f"{PATH}?limit=2")
    made.capture(payload(said(5, "t5")))
    second = made.get(f"{PATH}?limit=2&before_seq={first['next_before_seq']}")
    assert [message["content"] for message in second["messages"]] == ["t1", "t2"]


def test_a_conversation_and_a_branch_are_named_by_their_own_ids_or_by_uuids(made: Site) -> None:
    session = session_uuid("chat 7")
    made.capture({**payload(said(1, "q"), session="chat 7", conversation="main", **DERIVED)})
    answer = {**said(2, "old", "assistant"), "turn_id": "answer-1", "parent_turn_id": turn_id(1)}
    made.capture(payload(answer, session="chat 7", conversation="main", **DERIVED))
    again = {**said(3, "new", "assistant"), "turn_id": "answer-2", "parent_turn_id": turn_id(1)}
    made.capture(payload(again, session="chat 7", conversation="main", **DERIVED))
    made.capture(payload(said(4, "elsewhere"), session="chat 7", conversation="side", **DERIVED))
    assert made.history("chat%207", "?conversation_id=main") == ["q", "new"]
    assert made.history(session, "?leaf=answer-1") == ["q", "old"]
    assert made.history(session.upper(), f"?leaf={turn_uuid(session, 'answer-1').upper()}") == ["q", "old"]
    assert made.history("chat%207", "?conversation_id=main&leaf=answer-1") == ["q", "old"]
    answer = made.get("/api/conversation/chat%207")
    assert (answer["session_id"], answer["native_session_id"]) == (session, "chat 7")
    assert answer["messages"][1]["native_id"] == "answer-2"
    assert [branch["current"] for branch in answer["branches"]] == [False, True, True]


def test_a_conversation_without_an_id_of_its_own_is_the_session_s(made: Site) -> None:
    body = {"session_id": "chat-9", "messages": [{"role": "user", "content": "hi"}]}
    made.capture(body, "openai-chat")
    only = conversation_of_session(session_uuid("chat-9"))
    assert made.history("chat-9", f"?conversation_id={only}") == ["hi"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"?conversation_id={OTHER}", "the session has no such conversation"),
        ("?leaf=nowhere", "the session has no such turn"),
        (f"?conversation_id={CONVERSATION}&leaf=nowhere", "the session has no such turn or conversation"),
    ],
)
def test_what_the_session_does_not_have_is_404_without_a_word_of_what_was_asked(
    made: Site, query: str, message: str
) -> None:
    made.capture(payload(said(1, "a")))
    response = made.ask(PATH + query)
    assert response.status_code == 404
    assert error_of(response)["message"] == message


@pytest.mark.parametrize(
    "asked", ["", "/state", "/summary", "/insights", "/stats", "/graph", "/export", "?format=anthropic"]
)
def test_a_session_that_does_not_exist_is_404(made: Site, asked: str) -> None:
    made.capture(payload(said(1, "a")))
    response = made.ask(f"/api/conversation/nobody{asked}")
    assert response.status_code == 404
    assert error_of(response)["message"] == "there is no such session"


def test_a_session_is_shown_as_it_was(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "b")))
    at = made.get(PATH)["last_activity"]
    made.capture(payload(said(3, "c")))
    assert made.history(query="?at_seq=1") == ["a"]
    assert made.history(query=f"?at={at}") == ["a", "b"]
    assert made.history(query="?at=2000-01-01T00:00:00Z") == []
    then = made.get(f"{PATH}?at={at}")
    assert (then["message_count"], then["branches"][0]["leaf"]) == (2, turn_id(2))
    # The version is the session's: of what was read, not of what is shown.
    assert then["version"] == made.get(PATH)["version"]
    assert made.get(f"{PATH}/state?at_seq=1")["version"] == then["version"]
    assert made.get(f"{PATH}/stats?at_seq=1")["total_messages"] == 1


def test_results_are_paired_as_of_an_instant_too(made: Site) -> None:
    call = {"tool_name": "track", "invocation_id": "call_1"}
    made.capture(payload(said(1, "", "assistant", tool_invocations=[call]), **DERIVED))
    made.capture(payload(said(2, "Lyon", "tool", tool_invocations=[call]), **DERIVED))
    made.capture(payload(said(3, "More?")))
    asks, tells = made.get(f"{PATH}?at_seq=2")["messages"]
    assert tells["tool_results"][0]["invocation_id"] == asks["tool_calls"][0]["invocation_id"]


# Field cases.


def test_equal_timestamps_keep_the_order_of_the_conversation(made: Site) -> None:
    # cases.md H20.
    roles = ("user", "assistant")
    turns = [{**said(9 - n, f"t{n}", roles[n % 2]), "timestamp": "2026-03-02T09:00:00Z"} for n in range(6)]
    made.capture(payload(*turns))
    expected = [f"t{n}" for n in range(6)]
    assert [made.history() for _ in range(50)] == [expected] * 50
    exported = made.get(f"{PATH}/export")
    assert [message["content"] for message in exported["messages"]] == expected


def test_the_two_unicode_forms_of_a_name_stay_apart_and_are_found_by_either(made: Site) -> None:
    # cases.md H16.
    composed, decomposed = "Zo\u00eb", "Zoe\u0308"
    made.capture(payload(said(1, composed), session=turn_id(801)))
    made.capture(payload(said(1, decomposed), session=turn_id(802)))
    for number, text in ((801, composed), (802, decomposed)):
        response = made.ask(f"/api/conversation/{turn_id(number)}")
        assert f'"content":"{text}"'.encode() in response.get_data()
        assert f'"content":"{text}"'.encode() in made.ask(f"/api/conversation/{turn_id(number)}/export").get_data()
    found = [made.get("/api/conversations", query_string={"q": text}) for text in (composed, decomposed)]
    assert [page["total_sessions"] for page in found] == [2, 2]


def test_a_client_that_sends_the_whole_history_again_doubles_nothing(made: Site) -> None:
    # cases.md H29.
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    turns = [said(n, f"t{n}", ("user", "assistant")[n % 2], token_usage=usage) for n in range(1, 7)]
    for count in (2, 4, 6):
        made.capture(payload(*turns[:count]))
    assert made.history() == [f"t{n}" for n in range(1, 7)]
    assert made.get(f"{PATH}/stats")["token_usage"]["total_tokens"] == 12
    assert made.get("/api/stats")["events"] == 3


# Other formats.


@pytest.mark.parametrize("name", WRITES)
def test_the_history_is_given_in_every_format_that_we_write(made: Site, name: str) -> None:
    made.capture(payload(said(1, "Where is parcel 4471?"), said(2, "In Lyon.", "assistant", model="m-1")))
    answer = made.get(f"{PATH}?format={name}")
    assert (answer["success"], answer["format"], answer["version"], answer["erased"]) == (True, name, 1, 0)
    assert answer["session_id"] == SESSION
    assert "In Lyon." in json.dumps({key: value for key, value in answer.items() if key != "left_out"})


def test_no_member_of_a_format_is_one_that_says_how_the_writing_went(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "b", "assistant")))
    for name in WRITES:
        text = made.ask(f"{PATH}?format={name}").get_data()
        pairs = json.loads(text, object_pairs_hook=lambda pairs: [key for key, _ in pairs])
        assert len(pairs) == len(set(pairs)), name


def test_a_format_says_what_it_leaves_out_and_what_is_erased(made: Site) -> None:
    made.capture(payload(said(1, "a", model="m-1"), said(2, "b"), said(3, "c")))
    made.client.erasure.turn(turn_id(2))
    answer = made.get(f"{PATH}?format=openai-chat")
    assert answer["messages"] == [{"role": "user", "content": "a"}, {"role": "user", "content": "c"}]
    assert (answer["erased"], answer["left_out"]["models"]) == (1, 1)


def test_a_limit_of_a_format_keeps_system_turns_and_parts_no_result_from_its_call(made: Site) -> None:
    call = {"tool_name": "track", "invocation_id": turn_id(77)}
    made.capture(
        payload(
            said(1, "Be kind.", "system"),
            said(2, "Where?"),
            said(3, "", "assistant", tool_invocations=[call]),
            said(4, "Lyon", "tool", tool_invocations=[call]),
            said(5, "In Lyon.", "assistant"),
        )
    )
    told = {
        limit: [message["role"] for message in made.get(f"{PATH}?format=openai-chat&limit={limit}")["messages"]]
        for limit in (1, 2, 3, 4, 5)
    }
    assert told == {
        1: ["system", "assistant"],
        2: ["system", "assistant"],
        3: ["system", "assistant", "tool", "assistant"],
        4: ["system", "assistant", "tool", "assistant"],
        5: ["system", "user", "assistant", "tool", "assistant"],
    }


@pytest.mark.parametrize("name", WRITES)
def test_a_history_that_ends_in_results_is_never_an_empty_page(made: Site, name: str) -> None:
    calls = [{"tool_name": "track", "invocation_id": turn_id(70 + n), "arguments": {"parcel": n}} for n in (1, 2)]
    results = [{"tool_name": "track", "invocation_id": call["invocation_id"]} for call in calls]
    made.capture(
        payload(
            said(1, "Where are they?"),
            said(2, "", "assistant", tool_invocations=calls),
            said(3, "in Lyon", "tool", tool_invocations=results[:1]),
            said(4, "in Brest", "tool", tool_invocations=results[1:]),
        )
    )
    for limit in (1, 2, 3):
        text = made.ask(f"{PATH}?format={name}&limit={limit}").get_data(as_text=True)
        assert "in Lyon" in text
        assert "in Brest" in text
        assert "Where are they?" not in text
        assert "results_without_call" not in text


def test_a_result_that_nobody_called_for_is_counted_and_shown_only_with_the_whole_history(made: Site) -> None:
    orphan = [{"tool_name": "t", "invocation_id": turn_id(71)}]
    made.capture(payload(said(1, "a"), said(2, "Lyon", "tool", tool_invocations=orphan)))
    for query, expected in (("", ["a", "Lyon"]), ("&limit=1", ["a"])):
        answer = made.get(f"{PATH}?format=openai-chat{query}")
        assert [message["content"] for message in answer["messages"]] == expected
        assert answer["left_out"]["results_without_call"] == 1


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("erased", [2, 3])
@pytest.mark.parametrize("whole_bytes", [0, 1 << 20])
def test_a_limit_of_a_format_leaves_out_an_exchange_with_an_erased_part(
    name: str, erased: int, whole_bytes: int
) -> None:
    call = {"tool_name": "track", "invocation_id": turn_id(77), "arguments": {"n": 7}}
    with site(whole_bytes=whole_bytes) as made:
        made.capture(
            payload(
                said(1, "Where?"),
                said(2, "Let me look.", "assistant", tool_invocations=[call]),
                said(3, "Found it", "tool", tool_invocations=[{**call}]),
                said(4, "In Lyon.", "assistant"),
            )
        )
        made.client.erasure.turn(turn_id(erased))
        answer = made.get(f"{PATH}?format={name}&limit=4")
        text = json.dumps(answer)
        assert answer["erased"] == 1
        assert ("Let me look." in text, "Found it" in text, "In Lyon." in text) == (erased == 3, False, True)
        assert "track" not in text
        lost = "results_without_call" if erased == 2 else "calls_without_result"
        assert answer["left_out"][lost] == 1


def test_a_limit_of_a_format_keeps_a_call_at_the_end_whose_result_may_be_to_come(made: Site) -> None:
    call = {"tool_name": "track", "invocation_id": turn_id(77), "arguments": {}}
    made.capture(payload(said(1, "Where?"), said(2, "", "assistant", tool_invocations=[call])))
    answer = made.get(f"{PATH}?format=openai-chat&limit=2")
    assert len(answer["messages"][1]["tool_calls"]) == 1
    made.capture(payload(said(3, "Hello?")))
    answer = made.get(f"{PATH}?format=openai-chat&limit=3")
    assert [message["content"] for message in answer["messages"]] == ["Where?", "Hello?"]
    assert answer["left_out"]["calls_without_result"] == 1


@pytest.mark.parametrize("name", ["before_seq", "after_seq"])
def test_a_page_from_the_middle_is_for_the_native_format_alone(made: Site, name: str) -> None:
    made.capture(payload(said(1, "a")))
    response = made.ask(f"{PATH}?format=anthropic&{name}=1")
    assert response.status_code == 400
    assert error_of(response)["details"]["errors"] == [{"path": f"$.{name}", "rule": "unsupported"}]


def test_an_unknown_format_is_refused_by_its_name_and_those_that_there_are(made: Site) -> None:
    made.capture(payload(said(1, "a")))
    response = made.ask(f"{PATH}?format=CANARY")
    error = error_of(response)
    assert (response.status_code, error["details"]["errors"]) == (400, [{"path": "$.format", "rule": "enum"}])
    assert all(name in error["message"] for name in WRITES)
    assert "CANARY" not in response.get_data(as_text=True)


# Telemetry and concurrency.


def test_a_history_is_reported_in_three_lines_without_content(made: Site) -> None:
    memory: dict[str, Any] = {"params": {"order_id": "O-1"}, "waiting_for_param": "city"}
    made.capture(payload(said(1, "secret"), said(2, "b", metadata={"memory": memory}), said(3, "c")))
    made.get(f"{PATH}?limit=2")
    kinds = [name for name, _ in made.telemetry.reports]
    assert kinds == ["begin", "span", "received", "span", "context_loaded", "respond", "end"]
    ((operation, session, found, count),) = made.telemetry.of("received")
    assert (operation, session, count) == ("conversation", SESSION, 3)
    assert (dict(found.params), found.waiting_for_param) == ({"order_id": "O-1"}, "city")
    assert made.telemetry.of("context_loaded") == [(SESSION, 3, ["b", "c"])]
    assert made.telemetry.of("respond") == made.telemetry.of("received")


def test_twenty_readers_at_once_see_the_same(made: Site) -> None:
    made.capture(payload(*(said(number, f"t{number}") for number in range(1, 50))))
    barrier = threading.Barrier(20)

    def read(_: int) -> list[str]:
        barrier.wait()
        return made.history()

    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(read, range(20)))
    assert found == [[f"t{number}" for number in range(1, 50)]] * 20
