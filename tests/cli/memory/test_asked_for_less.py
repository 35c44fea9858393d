"""Whoever asks for less content in a file is heard by ``import`` and ``capture``, wherever he asks (CONTRACT 8)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.cli.memory.capturing.capture import CaptureCommand
from agent.cli.output_format import Format
from tests.capture.cases import BASE, changed
from tests.cli.memory.importing import events, imported, lines
from tests.cli.streams import invocation, printed, terminal

ADDRESS = "ann.planted@example.org"
ASKS = {"capture_options": {"content": "none"}}
NATIVE = changed("turns", 0, "content", ADDRESS)
CHAT = {"messages": [{"role": "user", "content": ADDRESS}, {"role": "assistant", "content": "Noted."}]}
ANSWER = {"choices": [{"index": 0, "message": {"role": "assistant", "content": ADDRESS}}], "object": "chat.completion"}
CALL = {"request": {"model": "m", **CHAT, **ASKS}, "response": {"id": "c", "model": "m", **ANSWER}}
ASKED: dict[str, dict[str, Any]] = {
    "native": NATIVE | ASKS,
    "native, beside the payload": {"payload": NATIVE} | ASKS,
    "native, in the payload": {"payload": NATIVE | ASKS},
    "without a session": CHAT | ASKS,
    "with a session": {"session_id": "s", **CHAT} | ASKS,
    "of a window": {"session_id": "s", "mode": "delta", "request_id": "r", **CHAT} | ASKS,
    "beside a payload": {"payload": CHAT} | ASKS,
    "beside a payload with a window": {"payload": {"session_id": "s", "start_index": 3, **CHAT}} | ASKS,
    "in a payload": {"payload": CHAT | ASKS},
    "beside what is wrapped": {"task_id": 7, "traj": CHAT["messages"]} | ASKS,
    "in what is wrapped": {"task_id": 7, "data": CHAT | ASKS},
    "in a request": CALL,
    "in a listed request": {"interactions": [CALL]},
    "in a body of text": {**CALL, "request": {"body": json.dumps(CALL["request"])}},
}


def assert_is_heard(store: Path) -> None:
    stored = events(store)
    assert stored
    assert all(event["constraints_applied"][-1] == "content_omitted" for event in stored)
    assert all(b"planted" not in path.read_bytes() for path in store.parent.iterdir() if path.name.startswith("kept"))


@pytest.mark.parametrize("asked", ASKED)
def test_an_import_hears_whoever_asks(asked: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(ASKED[asked]))
    done = imported(tmp_path / "kept.db", tmp_path / "a.jsonl")
    assert (done.code, done.kinds) == (0, [])
    assert_is_heard(tmp_path / "kept.db")
    assert done.taken[0]["ignored"] == {}


@pytest.mark.parametrize(
    "document",
    [
        {"run": {"said": CHAT["messages"]}, **ASKS},
        {"run": {"said": CHAT["messages"], **ASKS}},
        {"run": {"said": CHAT | ASKS}},
    ],
)
def test_an_import_of_what_stands_somewhere_in_a_document_hears_whoever_asks_on_the_way(
    document: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text(json.dumps(document), encoding="utf-8")
    at = "run.said.messages" if "messages" in document["run"]["said"] else "run.said"
    done = imported(tmp_path / "kept.db", tmp_path / "a.json", at=at)
    assert (done.code, done.kinds) == (0, [])
    assert_is_heard(tmp_path / "kept.db")


@pytest.mark.parametrize("asked", [name for name in ASKED if not name.startswith("native")])
def test_an_import_refuses_what_asks_for_what_there_is_not(asked: str, tmp_path: Path) -> None:
    wrong = json.dumps(ASKED[asked]).replace('"none"', '"NONE"').replace('\\"none\\"', '\\"NONE\\"')
    (tmp_path / "a.jsonl").write_text(wrong + "\n", encoding="utf-8")
    done = imported(tmp_path / "kept.db", tmp_path / "a.jsonl")
    assert (done.taken, len(done.kinds)) == ([], 1)


def test_an_import_counts_what_else_stands_beside_a_native_payload(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines({"payload": BASE, "source": "crm", "sent": 1, **ASKS}))
    done = imported(tmp_path / "kept.db", tmp_path / "a.jsonl")
    assert done.taken[0]["ignored"] == {"members beside the conversation": 2}


@pytest.mark.parametrize(
    ("form", "body"),
    [
        ("native", {"payload": NATIVE} | ASKS),
        ("openai-chat", {"payload": {"session_id": "s", **CHAT}} | ASKS),
        ("openai-chat", {"session_id": "s", **CALL}),
    ],
)
@pytest.mark.parametrize("shown", [Format.JSON, Format.TABLE])
def test_a_capture_hears_whoever_asks_and_is_shown(
    form: str, body: dict[str, Any], shown: Format, tmp_path: Path
) -> None:
    at = terminal(stdin=json.dumps(body).encode())
    capturing = CaptureCommand("-", form, None)
    run = invocation(at, shown, store=str(tmp_path / "kept.db"))
    assert run.run(capturing, interrupted=capturing.interrupted) == 0, printed(at)
    assert_is_heard(tmp_path / "kept.db")
