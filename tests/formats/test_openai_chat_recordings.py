"""The openai-chat reader on real conversations: three that stand here, and all of the shared ones where at hand."""

import json
import random
from collections import defaultdict
from pathlib import Path

import jsonschema_rs
import pytest

from agent.core.canonical import inputs_hash
from agent.formats import OPENAI_CHAT, reader
from tests.conftest import TESTS
from tests.formats.chat_messages import CAPTURED_AT, check_contract, message_of, same_json

LATER = "2027-01-01T00:00:00.000000Z"


def records(path: Path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def tau_chats(path: Path):
    return [record["traj"] for record in records(path)]


OURS = tau_chats(TESTS / "data" / "tau-bench-airline__3.jsonl")


def read(messages, captured_at=CAPTURED_AT, **fields):
    body = {"session_id": "chat", "messages": messages, **fields}
    payload = reader(OPENAI_CHAT).read(body, captured_at=captured_at).payload
    check_contract(payload)
    for turn, message in zip(payload["turns"], messages, strict=True):
        assert same_json(message_of(turn), message)
    return payload


def pairs(payload):
    """Place of each result -> (place of its turn, place among its calls), by the ids that came out."""
    calls = {
        entry["invocation_id"]: (index, place)
        for index, turn in enumerate(payload["turns"])
        if turn["role"] != "tool"
        for place, entry in enumerate(turn.get("tool_invocations", []))
    }
    return {
        index: calls[turn["tool_invocations"][0]["invocation_id"]]
        for index, turn in enumerate(payload["turns"])
        if turn["role"] == "tool"
    }


def expected_pairs(messages):
    """An oracle that only holds for recorded chats: results follow their calls at once, in the order of the calls."""
    found, waiting = {}, []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            place = next(
                place for place, call in enumerate(waiting) if call is not None and call[0] == message["tool_call_id"]
            )
            found[index] = (waiting[place][1], place)
            waiting[place] = None
        else:
            waiting = [(call["id"], index) for call in message.get("tool_calls") or []]
    return found


def check_pairs(messages):
    payload = read(messages)
    assert pairs(payload) == expected_pairs(messages)
    for index, (turn, place) in pairs(payload).items():
        call = messages[turn]["tool_calls"][place]
        assert call["id"] == messages[index]["tool_call_id"]
        entry = payload["turns"][index]["tool_invocations"][0]
        assert entry["tool_name"] == call["function"]["name"] == messages[index]["name"]


def check_growing(messages):
    whole = read(messages, LATER)["turns"]
    for length in range(1, len(messages) + 1, 3):
        part = read(messages[:length])["turns"]
        assert [turn["turn_id"] for turn in part] == [turn["turn_id"] for turn in whole[:length]]
        assert [compared(turn) for turn in part] == [compared(turn) for turn in whole[:length]]


def compared(turn):
    derived = turn["metadata"].get("derived", [])
    return inputs_hash({name: value for name, value in turn.items() if name not in {"turn_id", *derived}})


@pytest.mark.parametrize("chat", OURS, ids=["1", "7", "32"])
def test_every_result_is_paired_with_its_own_call(chat):
    check_pairs(chat)


@pytest.mark.parametrize("chat", OURS, ids=["1", "7", "32"])
def test_growing_prefixes_keep_the_ids_and_bodies_of_their_turns(chat):
    check_growing(chat)


def test_two_of_our_three_chats_use_a_call_id_again():
    again = [[call["id"] for message in chat for call in message.get("tool_calls") or []] for chat in OURS]
    assert [len(ids) - len(set(ids)) for ids in again] == [1, 1, 0]


def test_window_and_whole_agree_on_the_names_of_turns():
    chat = OURS[0]
    whole = read(chat)["turns"]
    window = read(chat[10:], start_index=10)["turns"]
    assert [turn["turn_id"] for turn in window] == [turn["turn_id"] for turn in whole[10:]]


@pytest.mark.parametrize("seed", range(20))
def test_however_ids_are_shared_each_result_that_follows_its_calls_finds_its_own(seed):
    chance = random.Random(seed)
    chat = json.loads(json.dumps(OURS[0]))
    named = defaultdict(lambda: chance.choice(["call_a", "call_b", "call_c"]))
    for message in chat:
        for call in message.get("tool_calls") or []:
            named.pop(call["id"], None)
            call["id"] = named[call["id"]]
        if message["role"] == "tool":
            message["tool_call_id"] = named[message["tool_call_id"]]
    check_pairs(chat)


@pytest.mark.parametrize("seed", range(20))
def test_results_of_parallel_calls_in_any_order_find_their_own_calls(seed):
    chance = random.Random(seed)
    chat, truth = [], {}
    for _ in range(5):
        ids = chance.sample(["a", "b", "c", "d"], 3)
        calls = [{"id": one, "type": "function", "function": {"name": one, "arguments": "{}"}} for one in ids]
        start = len(chat)
        chat.append({"role": "assistant", "content": None, "tool_calls": calls})
        for place in chance.sample(range(3), 3):
            truth[len(chat)] = (start, place)
            chat.append({"role": "tool", "tool_call_id": ids[place], "content": ""})
    assert pairs(read(chat)) == truth


def test_all_40_shared_chats_pair_every_result_with_its_own_call(shared):
    chats = tau_chats(shared / "data" / "tau-bench__gpt-4o-airline__40.jsonl")
    assert len(chats) == 40
    for chat in chats:
        check_pairs(chat)
    assert sum(len(expected_pairs(chat)) for chat in chats) == 253


def test_growing_prefixes_of_all_40_shared_chats_keep_ids_and_bodies(shared):
    for chat in tau_chats(shared / "data" / "tau-bench__gpt-4o-airline__40.jsonl"):
        check_growing(chat)


def recorded_requests(shared):
    for record in records(shared / "data" / "api-recording__pydantic-ai__openai-chat__20.jsonl"):
        for interaction in record["interactions"]:
            body = interaction["request"].get("body")
            if isinstance(body, dict) and "messages" in body:
                answer = interaction["response"].get("body")
                choices = answer.get("choices", []) if isinstance(answer, dict) else []
                yield body, [choice["message"] for choice in choices if "message" in choice]


def test_every_recorded_request_is_read_whole_with_the_answer_it_got(shared):
    count = 0
    for body, answers in recorded_requests(shared):
        fields = {name: value for name, value in body.items() if name != "messages"}
        payload = read([*body["messages"], *answers], **fields)
        assert payload["native"]["model"] == body["model"]
        assert {name: payload[name] for name in fields if name != "model"} == {
            name: value for name, value in fields.items() if name != "model"
        }
        count += 1
    assert count == 37


def test_old_function_call_lists_are_read_and_paired(shared):
    count = 0
    for record in records(shared / "data" / "toolbench__dfs-trees__5.jsonl"):
        for messages in record["answer_generation"]["train_messages"]:
            payload = read(messages)
            for index, (turn, place) in pairs(payload).items():
                assert messages[turn]["function_call"]["name"] == messages[index]["name"]
                assert (place, turn) == (0, index - 1)
                count += 1
    assert count == 24


def test_agent_histories_with_fields_of_their_own_are_read_whole(shared):
    histories = [record["history"] for record in records(shared / "data" / "swe-agent__histories__5.jsonl")]
    assert [len(read(history)["turns"]) for history in histories] == [len(history) for history in histories]


def test_payloads_are_valid_by_the_published_contract(shared, published_schema):
    schema = {**published_schema, "$ref": "#/definitions/ConversationCaptureInput"}
    validator = jsonschema_rs.validator_for(schema, validate_formats=True)
    assert not validator.is_valid({})
    for chat in tau_chats(shared / "data" / "tau-bench__gpt-4o-airline__40.jsonl"):
        assert validator.is_valid(read(chat))
    for body, answers in recorded_requests(shared):
        assert validator.is_valid(read([*body["messages"], *answers], model=body["model"]))
