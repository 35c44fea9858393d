"""Forty real tool-calling conversations, posted twice through the running function."""

import json
from collections import Counter

import httpx
import pytest

from agent.core.ids import called_invocation_uuid, edge_id, orphan_invocation_uuid
from tests.live.host import function_host
from tests.live.payloads import encoded
from tests.live.stored import stored
from tests.published import check_response


@pytest.fixture(scope="module")
def conversations(shared):
    lines = (shared / "data" / "tau-bench__gpt-4o-airline__40.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def posted(conversations, tmp_path_factory):
    """Every conversation posted twice; gives the answers of both rounds and the database."""
    folder = tmp_path_factory.mktemp("tau")
    database = folder / "memory.db"
    with (
        function_host(folder, store=f"embedded:{database}") as host,
        httpx.Client(base_url=host.url, timeout=30, event_hooks={"response": [check_response]}) as client,
    ):
        rounds = []
        for _ in range(2):
            answers = []
            for number, conversation in enumerate(conversations):
                body = {"session_id": f"tau-airline-{number}", "messages": conversation["traj"]}
                answers.append(client.post("/?format=openai-chat", content=encoded(body)))
            rounds.append(answers)
    return rounds, database


def test_every_conversation_becomes_one_event_and_its_retry_a_duplicate(posted, conversations):
    (first, second), database = posted
    assert len(conversations) == 40
    assert [answer.status_code for answer in first + second] == [200] * 80
    assert [answer.json()["receipt"]["duplicate"] for answer in first] == [False] * 40
    assert [answer.json()["receipt"]["duplicate"] for answer in second] == [True] * 40
    with stored(database) as reader:
        for one, two in zip(first, second, strict=True):
            events = reader.events(one.json()["output"]["session_id"])
            assert (
                [event["runId"] for event in events]
                == [one.headers["x-execution-ref"]]
                == [two.headers["x-execution-ref"]]
            )


def expected_pairs(messages, turn_ids, session):
    """An oracle of our own for CONTRACT 3: which call each result answers, as (turn place, invocation id)."""
    pairs = []
    for place, message in enumerate(messages):
        if message["role"] != "tool":
            continue
        calls = [
            (before, index)
            for before in range(place)
            for index, call in enumerate(messages[before].get("tool_calls") or [])
            if call["id"] == message["tool_call_id"]
        ]
        answered = {pair for _, pair, _ in pairs}
        still_open = [call for call in calls if call not in answered]
        candidates = still_open or calls
        if not candidates:
            pairs.append((place, None, orphan_invocation_uuid(session, message["tool_call_id"])))
            continue
        nearest = max(before for before, _ in candidates)
        chosen = min(call for call in candidates if call[0] == nearest)
        pairs.append((place, chosen, called_invocation_uuid(turn_ids[chosen[0]], chosen[1])))
    return pairs


def test_every_result_is_paired_with_its_own_call(posted, conversations):
    (first, _), _ = posted
    results = 0
    for conversation, answer in zip(conversations, first, strict=True):
        output = answer.json()["output"]
        turns = [node for node in output["nodes_created"] if node["node_type"] != "session"]
        named = {node["node_id"] for node in output["nodes_created"]}
        turn_ids = {}
        for node in turns:
            turn_ids.setdefault(node["turn_index"], node["node_id"])
        edges = {
            (edge["from_node_id"], edge["to_node_id"])
            for edge in output["edges_created"]
            if edge["edge_type"] == "responds_to"
        }
        for place, _, invocation in expected_pairs(conversation["traj"], turn_ids, output["session_id"]):
            assert (turn_ids[place], invocation) in edges
            assert invocation in named
            results += 1
    assert results == 253


def test_every_node_and_edge_is_as_the_contract_says(posted, conversations):
    (first, _), _ = posted
    node_type = {"user": "prompt", "system": "prompt", "assistant": "response", "tool": "tool_invocation"}
    for conversation, answer in zip(conversations, first, strict=True):
        output, messages = answer.json()["output"], conversation["traj"]
        session = output["session_id"]
        calls = sum(len(message.get("tool_calls") or []) for message in messages)
        ids = [node["node_id"] for node in output["nodes_created"]]
        assert len(ids) == len(set(ids)) == 1 + len(messages) + calls
        assert output["nodes_created"][0] == {"node_id": session, "node_type": "session"}
        first_at = {}
        for node in output["nodes_created"][1:]:
            first_at.setdefault(node["turn_index"], node)
        assert [first_at[place]["node_type"] for place in range(len(messages))] == [
            node_type[message["role"]] for message in messages
        ]
        for edge in output["edges_created"]:
            assert edge["edge_id"] == edge_id(edge["edge_type"], edge["from_node_id"], edge["to_node_id"])
        kinds = Counter(edge["edge_type"] for edge in output["edges_created"])
        answering = sum(message["role"] == "assistant" for message in messages)
        results = sum(message["role"] == "tool" for message in messages)
        assert kinds == Counter(
            belongs_to=len(messages), follows=len(messages) - 1, responds_to=answering + results, invokes=calls
        )


def test_the_turns_come_back_in_order_with_every_text(posted, conversations):
    (first, _), database = posted
    with stored(database) as reader:
        for conversation, answer in zip(conversations, first, strict=True):
            kept = reader.turns(answer.json()["output"]["session_id"])
            assert [turn["content"] for turn in kept] == [message["content"] or "" for message in conversation["traj"]]
            assert [turn["seq"] for turn in kept] == list(range(1, len(kept) + 1))
            assert [turn["parent_turn_id"] for turn in kept] == [None, *(turn["turn_id"] for turn in kept[:-1])]
