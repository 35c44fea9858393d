"""The golden sessions, captured and asked for over HTTP: history, branches and state come out as the vectors say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import vectors
from tests.recall.http.site import Site, site

CASES = vectors("session")


@pytest.fixture(params=CASES, ids=lambda case: case["name"])
def case(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def at(case: Any) -> Iterator[tuple[Site, str]]:
    """The site with the vector's captures, and the path of its session."""
    with site() as made:
        for payload in case["captures"]:
            made.capture(payload)
        yield made, f"/api/conversation/{case['captures'][0]['session_id']}"


def turn_ids(answer: Any) -> list[str]:
    return [message["turn_id"] for message in answer["messages"]]


def test_the_history_of_each_vector_is_its_golden_history(case: Any, at: tuple[Site, str]) -> None:
    made, path = at
    answer = made.get(path)
    expected = case["expected"]
    assert turn_ids(answer) == expected["history"]
    assert answer["message_count"] == len(expected["history"])
    for conversation, history in expected.get("history_by_conversation", {}).items():
        only = made.get(f"{path}?conversation_id={conversation}")
        assert turn_ids(only) == history
        assert {branch["conversation_id"] for branch in only["branches"]} == {conversation}
        assert {branch["leaf"] for branch in only["branches"] if branch["current"]} == {
            branch["leaf"]
            for branch in answer["branches"]
            if branch["current"] and branch["conversation_id"] == conversation
        }


def test_the_state_of_each_vector_is_its_golden_state(case: Any, at: tuple[Site, str]) -> None:
    made, path = at
    found = made.get(f"{path}/state")
    expected = case["expected"].get("state", {})
    assert {name: found[name] for name in expected} == expected


def test_the_messages_of_each_vector_say_what_was_captured_last(case: Any, at: tuple[Site, str]) -> None:
    made, path = at
    golden = {turn["turn_id"]: turn for turn in case["expected"]["turns"]}
    for message in made.get(path)["messages"]:
        turn = golden[message["turn_id"]]
        assert (message["content"], message["seq"]) == (turn["content"], turn["seq"])


def test_a_session_that_is_read_page_by_page_is_the_same_session(case: Any, at: tuple[Site, str]) -> None:
    made, path = at
    whole = made.get(path)["messages"]
    backward: list[Any] = []
    page = made.get(f"{path}?limit=2")
    while True:
        backward = page["messages"] + backward
        if not page["has_more"]:
            break
        page = made.get(f"{path}?limit=2&before_seq={page['next_before_seq']}")
    forward: list[Any] = []
    page = made.get(f"{path}?limit=2&after_seq=0")
    while True:
        forward += page["messages"]
        if not page["has_more"]:
            break
        page = made.get(f"{path}?limit=2&after_seq={page['next_after_seq']}")
    assert sorted(map(json.dumps, backward)) == sorted(map(json.dumps, forward)) == sorted(map(json.dumps, whole))


def test_an_export_captured_again_is_the_same_session(case: Any, at: tuple[Site, str]) -> None:
    made, path = at
    lines = made.ask(f"{path}/export?format=jsonl").get_data().splitlines()
    with site() as copy:
        for line in lines:
            copy.capture(line)
        assert turn_ids(copy.get(path)) == turn_ids(made.get(path))
        state, copied = (dict(each.get(f"{path}/state")) for each in (made, copy))
        assert {**state, "version": 0} == {**copied, "version": 0}
