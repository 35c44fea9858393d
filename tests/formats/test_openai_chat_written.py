"""``openai-chat`` on its way out: what came as messages is those messages again, anything else is said by messages."""

import base64
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from agent.core.canonical import encode
from agent.formats import OPENAI_CHAT, native_out, reader
from agent.formats.openai_chat_out import message_of, write
from agent.formats.writing import Capture, Session
from tests.conftest import REPOSITORY, TESTS
from tests.formats.chat_messages import CAPTURED_AT, bodies, same_json
from tests.formats.sessions import (
    CONVERSATION,
    OTHER_CONVERSATION,
    SESSION,
    Memory,
    memory,
    session_of,
    turn,
    turn_name,
)
from tests.formats.test_openai_chat_recordings import recorded_requests, records, tau_chats

LAW = settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
CALL = "00000000-0000-4000-9000-000000000001"
OTHER_CALL = "00000000-0000-4000-9000-000000000002"


def written(session: Session) -> dict[str, Any]:
    (document,) = write(session).documents
    assert document.count("\n") == 1
    return json.loads(document)


def messages_of(*turns: Any, **more: Any) -> list[dict[str, Any]]:
    return written(session_of(*turns, **more))["messages"]


def check_given_back(store: Memory, messages: list[Any], **fields: Any) -> None:
    body = {"session_id": "chat", "messages": messages, **fields}
    store.capture(encode(body).decode(), "openai-chat")
    session = store.session(str(body["session_id"]))
    document = written(session)
    assert same_json(document["messages"], messages)
    assert document["session_id"].lower() == body["session_id"].lower()
    # What is written is taken again, and says the same.
    again = reader(OPENAI_CHAT).read(document, captured_at=CAPTURED_AT).payload
    assert len(again["turns"]) == len(messages)


@pytest.mark.parametrize("chat", tau_chats(TESTS / "data" / "tau-bench-airline__3.jsonl"), ids=["1", "7", "32"])
def test_real_chats_come_back_as_they_were_sent(chat: list[Any]) -> None:
    with memory() as store:
        check_given_back(store, chat)
        assert write(store.session("chat")).lost == {}


def test_the_example_comes_back_as_it_was_sent() -> None:
    body = json.loads((REPOSITORY / "examples" / "data" / "tau-airline-booking.json").read_text())
    with memory() as store:
        check_given_back(store, **body)
        assert write(store.session(body["session_id"])).lost == {"models": sum(
            message["role"] == "assistant" for message in body["messages"]
        )}  # fmt: skip


def test_all_40_shared_chats_come_back_as_they_were_sent(shared) -> None:
    with memory() as store:
        for number, chat in enumerate(tau_chats(shared / "data" / "tau-bench__gpt-4o-airline__40.jsonl")):
            check_given_back(store, chat, session_id=f"chat-{number}")


def test_every_recorded_request_and_its_answer_come_back_as_they_were_sent(shared) -> None:
    with memory() as store:
        for number, (body, answers) in enumerate(recorded_requests(shared)):
            fields = {name: value for name, value in body.items() if name not in ("messages", "model")}
            messages = [*body["messages"], *answers]
            check_given_back(store, messages, **{**fields, "session_id": f"recorded-{number}"})
            assert "binaries" not in write(store.session(f"recorded-{number}")).lost


def test_old_function_calls_and_histories_of_agents_come_back_as_they_were_sent(shared) -> None:
    with memory() as store:
        chats = [
            messages
            for record in records(shared / "data" / "toolbench__dfs-trees__5.jsonl")
            for messages in record["answer_generation"]["train_messages"]
        ]
        chats += [record["history"] for record in records(shared / "data" / "swe-agent__histories__5.jsonl")]
        for number, chat in enumerate(chats):
            check_given_back(store, chat, session_id=f"chat-{number}")
            assert "results_without_call" not in write(store.session(f"chat-{number}")).lost


@given(bodies())
@LAW
def test_any_messages_come_back_as_they_were_sent(body: dict[str, Any]) -> None:
    with memory() as store:
        fields = {name: value for name, value in body.items() if name != "messages"}
        check_given_back(store, body["messages"], **fields)


@given(bodies())
@LAW
def test_messages_come_back_through_a_native_export_but_for_times_that_nothing_shows(body: dict[str, Any]) -> None:
    for message in body["messages"]:
        message.pop("timestamp", None)
    with memory() as store, memory() as again:
        store.capture(encode(body).decode(), "openai-chat")
        session = store.session(body["session_id"])
        for document in native_out.write(session).documents:
            again.capture(document)
        copy = again.session(session.session_id)
        assert [turn.fields["content"] for turn in copy.shown] == [turn.fields["content"] for turn in session.shown]
        for before, after in zip(session.shown, copy.shown, strict=True):
            given_back = message_of(after, is_translated=False)
            if given_back is not None:
                assert same_json(given_back, message_of(before, is_translated=True))


def test_a_digest_stands_where_binary_data_was_and_is_counted() -> None:
    data = base64.b64encode(bytes(6000)).decode()
    part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    with memory() as store:
        store.capture({"session_id": "s", "messages": [{"role": "user", "content": [part]}]}, "openai-chat")
        session = store.session("s")
        (message,) = written(session)["messages"]
        assert message["content"][0]["image_url"]["url"]["bytes"] == 6000
        assert write(session).lost == {"binaries": 1}


def test_native_calls_and_results_are_paired_by_the_ids_that_the_calls_go_by() -> None:
    calls = [
        {"tool_name": "track", "invocation_id": CALL, "arguments": {"n": 2**70, "é": "\u2028"}, "success": True},
        {"tool_name": "look up!", "invocation_id": OTHER_CALL, "native_id": "call_1"},
    ]
    session = session_of(
        turn(1, "Where?"),
        turn(2, "", "assistant", tool_invocations=calls),
        turn(3, "here", "tool", tool_invocations=[{"tool_name": "track", "invocation_id": CALL}]),
        turn(4, "there", "tool", tool_invocations=[{"tool_name": "x", "invocation_id": turn_name(99),
                                                    "native_id": "call_1", "success": False}]),
        turn(5, "It is here.", "assistant"),
    )  # fmt: skip
    arguments = f'{{"n":{2**70},"é":"\u2028"}}'
    assert written(session) == {
        "session_id": SESSION,
        "conversation_id": CONVERSATION,
        "messages": [
            {"role": "user", "content": "Where?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": CALL, "type": "function", "function": {"name": "track", "arguments": arguments}},
                    {"id": "call_1", "type": "function", "function": {"name": "look up!", "arguments": "{}"}},
                ],
            },
            {"role": "tool", "tool_call_id": CALL, "content": "here"},
            {"role": "tool", "tool_call_id": "call_1", "content": "there"},
            {"role": "assistant", "content": "It is here."},
        ],
    }
    assert write(session).lost == {"times": 5, "calls_without_arguments": 1, "odd_tool_names": 1, "success": 2}


def test_a_native_result_goes_by_the_id_of_a_call_that_came_as_a_message() -> None:
    sent = [
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "call_9", "type": "function", "function": {"name": "track", "arguments": "{}"}}]},
    ]  # fmt: skip
    with memory() as store:
        store.capture({"session_id": SESSION, "conversation_id": CONVERSATION, "messages": sent}, "openai-chat")
        call = store.session().all[0].invocations[0]["invocation_id"]
        answer = {
            "turn_id": turn_name(1),
            "role": "tool",
            "content": "Lyon",
            "timestamp": "2026-03-02T08:15:00Z",
            "tool_invocations": [{"tool_name": "track", "invocation_id": call}],
        }
        store.capture({"session_id": SESSION, "conversation_id": CONVERSATION, "turns": [answer]})
        assert written(store.session())["messages"] == [
            *sent,
            {"role": "tool", "tool_call_id": "call_9", "content": "Lyon"},
        ]


def test_a_result_of_several_calls_answers_each_of_them() -> None:
    named = [{"tool_name": "t", "invocation_id": each} for each in (CALL, OTHER_CALL)]
    turns = turn(1, "look", "assistant", tool_invocations=named), turn(2, "both", "tool", tool_invocations=named)
    assert messages_of(*turns)[1:] == [
        {"role": "tool", "tool_call_id": each, "content": "both"} for each in (CALL, OTHER_CALL)
    ]
    assert write(session_of(*turns)).lost == {"times": 2, "calls_without_arguments": 2, "several_results": 1}


def test_calls_without_results_and_results_without_calls_are_counted_and_not_made_up() -> None:
    named = [{"tool_name": "t", "invocation_id": CALL}]
    turns = (
        turn(1, "look", "assistant", tool_invocations=named),
        turn(2, "orphan", "tool", tool_invocations=[{"tool_name": "t", "invocation_id": OTHER_CALL}]),
        turn(3, "of nothing", "tool"),
        turn(4, "a user calls", "user", tool_invocations=[{"tool_name": "t", "invocation_id": turn_name(77)}]),
    )
    assert [message.get("tool_call_id") for message in messages_of(*turns)] == [None, OTHER_CALL, turn_name(3), None]
    lost = write(session_of(*turns)).lost
    assert lost == {
        "times": 4,
        "calls_without_arguments": 1,
        "calls_without_result": 1,
        "results_without_call": 2,
        "calls_of_others": 1,
    }


def test_what_another_writer_left_open_is_said_as_far_as_it_goes() -> None:
    turns = (
        turn(1, "?", "narrator"),
        turn(2, None, "assistant", tool_invocations=[{"invocation_id": CALL}, {"tool_name": "no id"}]),
    )
    (message,) = messages_of(*turns)
    assert message["tool_calls"][0]["function"] == {"name": "unknown", "arguments": "{}"}
    assert write(session_of(*turns)).lost == {
        "roles": 1,
        "times": 1,
        "calls_without_arguments": 1,
        "calls_without_id": 1,
        "calls_without_result": 1,
    }


def test_what_a_message_cannot_say_of_a_turn_is_counted() -> None:
    said = turn(
        1, "x", "assistant", model="m", token_usage={}, x=1, execution_ref="1", native_id="n",
        metadata={"agent": "planner", "score": 1},
    )  # fmt: skip
    captures = {"1": Capture(CONVERSATION, {"context": {"user_id": "u"}})}
    session = session_of(said, turn(2, "", "system", metadata={"memory": {"state_only": True}}), captures=captures)
    assert write(session).lost == {
        "agents": 1, "contexts": 1, "metadata": 1, "models": 1, "not_in_history": 1, "other_fields": 1, "times": 1,
        "token_usage": 1,
    }  # fmt: skip


def test_several_conversations_are_one_list_that_is_none_of_them() -> None:
    session = session_of(turn(1, "a"), turn(2, "b", conversation_id=OTHER_CONVERSATION, parent_turn_id=None))
    assert "conversation_id" not in written(session)
    assert write(session).lost == {"times": 2, "conversations": 2}


def test_erased_turns_are_left_out() -> None:
    session = session_of(turn(1, "a"), turn(2, None, erased=True))
    result = write(session)
    assert (result.turns, result.erased) == (2, 1)
    assert len(written(session)["messages"]) == 1


@pytest.mark.parametrize(
    "metadata",
    [
        {"native": {"role": "nobody"}},
        {"native": {"role": "developer"}},
        {"native": {"name": "x"}, "native_absent": ["no such field"]},
        {"native": ["name"]},
        {"native": {"name": "x"}, "native_absent": "timestamp"},
        {"native": {"tool_calls": "x"}},
        {"native": {"tool_calls": [None, None]}},
        "metadata",
    ],
)
def test_metadata_that_only_looks_like_a_message_is_no_message(metadata: Any) -> None:
    named = [{"tool_name": "t", "invocation_id": CALL, "arguments": {}}]
    (message,) = messages_of(turn(1, "x", "assistant", metadata=metadata, tool_invocations=named))
    assert set(message) == {"role", "content", "tool_calls"}


def test_without_its_content_a_turn_gives_no_message_back() -> None:
    metadata = {"native": {"role": "[omitted:9]"}}
    assert message_of(turn(1, "[omitted:1]", "system", metadata=metadata), is_translated=True) is None
