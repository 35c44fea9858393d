"""Recordings of calls: each call is of exactly one format, and told once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.cli.exit_codes import ExitCode
from tests.cli.memory.event_store import envelopes
from tests.cli.memory.importing import imported, lines, said, stored

ASKED = [{"role": "user", "content": "Hi"}]
OTHERS, UNANSWERED = "calls of something else", "calls without an answer"


def anthropic(*messages: Any, answer: str = "Hello") -> dict[str, Any]:
    return {
        "request": {"model": "claude-x", "max_tokens": 9, "messages": list(messages or ASKED)},
        "response": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": answer}], "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    }  # fmt: skip


def openai(*messages: Any) -> dict[str, Any]:
    answer = {"role": "assistant", "content": "Ho"}
    return {
        "request": {"messages": list(messages or ASKED)},
        "response": {"choices": [{"index": 0, "message": answer}]},
    }


GEMINI = {
    "request": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    "response": {"candidates": [{"content": {"role": "model", "parts": [{"text": "Ha"}]}}]},
}
FAILED = {"request": {"model": "m", "messages": ASKED}, "response": "<html>502</html>"}
LIMITED = {"request": {"messages": ASKED}, "response": {"error": {"message": "slow down"}}}
NOBODYS = {"request": {"q": 1}, "response": {"r": 1}}
A, C, G = ("anthropic", 2), ("openai-chat", 2), ("gemini", 2)


@pytest.mark.parametrize(
    ("calls", "told", "ignored"),
    [
        ([anthropic()], [A], {}),
        ([anthropic(), openai()], [A, C], {}),
        ([openai(), anthropic(), openai()], [C, A], {}),
        # A list of messages that came to nothing is of the format of its neighbour, and folds into its conversation.
        ([FAILED, anthropic()], [A], {UNANSWERED: 1}),
        ([LIMITED, FAILED, anthropic(), GEMINI], [A, G], {UNANSWERED: 2}),
        ([GEMINI, FAILED, anthropic()], [G, A], {UNANSWERED: 1}),
        ([openai(), FAILED, anthropic()], [C, A], {UNANSWERED: 1}),
        ([GEMINI, FAILED], [G, ("openai-chat", 1)], {UNANSWERED: 1}),
        ([FAILED, LIMITED], [("openai-chat", 1)], {UNANSWERED: 2}),
        ([NOBODYS, GEMINI, NOBODYS, anthropic()], [G, A], {OTHERS: 2}),
        ([NOBODYS, GEMINI], [G], {OTHERS: 1}),
    ],
)  # fmt: skip
def test_each_call_is_read_by_one_format_and_what_nobody_reads_is_counted_once(
    calls: list[Any], told: list[tuple[str, int]], ignored: dict[str, int], tmp_path: Path
) -> None:
    store, file = tmp_path / "store.db", tmp_path / "calls.jsonl"
    file.write_bytes(lines({"interactions": calls}))
    done = imported(store, file)
    assert done.code is ExitCode.OK
    assert [(result["format"], result["turns"]) for result in done.taken] == told
    assert len({result["conversation_id"] for result in done.taken}) == len(told)
    assert done.sum("new") == sum(turns for _, turns in told)
    counted: dict[str, int] = {}
    for result in done.taken:
        for kind, count in result["ignored"].items():
            counted[kind] = counted.get(kind, 0) + count
    counted.pop("options of calls", None)
    assert counted == ignored


def test_one_call_alone_is_of_one_format(tmp_path: Path) -> None:
    file = tmp_path / "call.json"
    file.write_bytes(lines(anthropic()))
    done = imported(tmp_path / "store.db", file)
    assert [(result["format"], result["turns"]) for result in done.taken] == [A]
    assert said(tmp_path / "store.db") == {"call.json#0": [("user", "Hi"), ("assistant", "Hello")]}


def test_a_recording_that_goes_on_with_another_provider_keeps_what_it_had(tmp_path: Path) -> None:
    store, file = tmp_path / "store.db", tmp_path / "calls.jsonl"
    file.write_bytes(lines({"interactions": [openai()]}))
    imported(store, file)
    (before,) = stored(store).values()
    for more in ([GEMINI], [GEMINI, anthropic(), NOBODYS]):
        file.write_bytes(lines({"interactions": [openai(), *more]}))
        done = imported(store, file)
        assert (done.taken[0]["format"], done.taken[0]["new"], done.taken[0]["known"]) == ("openai-chat", 0, 2)
    assert done.sum("new") == 2
    (after,) = stored(store).values()
    assert [turn for turn in after if turn.turn_id in {each.turn_id for each in before}] == before
    assert len(after) == 6


def test_what_is_wrong_in_a_call_is_told_by_its_place_in_the_whole_recording(tmp_path: Path) -> None:
    wrong = openai({"role": "user", "content": 7})
    for calls, place in (([anthropic(), wrong], 1), ([openai(), GEMINI, NOBODYS, wrong], 3)):
        (tmp_path / "calls.jsonl").write_bytes(lines({"interactions": calls}))
        done = imported(tmp_path / "store.db", tmp_path / "calls.jsonl")
        (path,) = [each["path"] for result in done.results for each in result.get("error", {}).get("errors", ())]
        assert path == f"$.interactions[{place}].request.messages[0].content"
        # The others' calls are read.
        assert len(done.taken) == 1


def test_what_stands_beside_the_calls_is_kept_or_counted(tmp_path: Path) -> None:
    file = tmp_path / "calls.json"
    file.write_bytes(lines({"source": "a.yaml", "features": ["x"], "interactions": [GEMINI]}))
    done = imported(tmp_path / "store.db", file)
    assert done.taken[0]["ignored"] == {"members beside the conversation": 1}


def test_each_conversation_of_a_recording_is_of_the_user_that_its_calls_name(tmp_path: Path) -> None:
    def call(user: Any, asked: str) -> dict[str, Any]:
        made = openai({"role": "user", "content": asked})
        return {**made, "request": {**made["request"], "user": user}}

    calls = [call("ann-9", "one"), call("bob", "two"), call(5, "three"), call("ann-9", "four"), call("bob", "four")]
    (tmp_path / "calls.json").write_bytes(lines({"interactions": calls}))
    (tmp_path / "chat.json").write_bytes(lines({"messages": ASKED, "user": "ann-9", "safety_identifier": "hash"}))
    store = tmp_path / "store.db"
    done = imported(store, tmp_path / "calls.json", tmp_path / "chat.json")
    assert done.code == ExitCode.OK
    ignored = [result.get("ignored", {}) for result in done.taken]
    assert sum(one.get("end users' ids that are none", 0) for one in ignored) == 1
    assert sum(one.get("end users that differ", 0) for one in ignored) == 1
    inputs = [event["payload"]["inputs"] for event in envelopes(store)]
    assert sorted((each.get("context", {}).get("user_id", ""), each["turns"][0]["content"]) for each in inputs) == [
        ("", "four"),
        ("", "three"),
        ("ann-9", "Hi"),
        ("ann-9", "one"),
        ("bob", "two"),
    ]
    assert [each["native"]["beside"] for each in inputs if each["turns"][0]["content"] == "Hi"] == [
        {"safety_identifier": "hash"}
    ]
