"""Moving in, as its page tells it: from the dual write and the backfill to the cut over and back."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import EnvironBuilder

from agent.bootstrap import capture_app
from tests.cli.memory.importing import MESSAGES, chat, imported, lines, said, stored
from tests.cli.streams import command_line, process_environment, run_process
from tests.live.host import free_port
from tests.operate.page import blocks, documents_in, run_script, text_of

PAGE = text_of("moving-in")
SESSION = "support-1"
ROWS = [("1", "user", "Where is it?"), ("2", "assistant", "In Bern."), ("3", "user", "And when?")]


def test_the_page_works_as_written_from_the_dual_write_to_the_way_back(tmp_path):
    words = {port: str(free_port()) for port in ("8080", "8081")}
    ran = run_script("\n".join(blocks(PAGE)), tmp_path, words)
    assert ran.code == 0, ran.err
    capture, receipt, recall, recalled, written = documents_in(ran.out)
    assert [capture["classification"], recall["classification"]] == ["MEMORY_WRITE", "MEMORY_READ"]
    assert receipt["turns"] == {"new": 2, "known": 0, "revised": 0, "erased": 0}
    accounts = re.findall(r"^(file .*)\n(\S+ +native .*)$", ran.out, re.MULTILINE)
    dry, real = [dict(zip(names.split(), row.split(), strict=True)) for names, row in accounts]
    assert (dry["turns"], "new" in dry) == ("5", False)
    assert (real["turns"], real["new"], real["known"]) == ("5", "3", "2")
    # Read twice from the old class, once in the store.
    assert ran.out.count("chat-1 2\n") == 2
    assert re.search(r"^result +nothing differs$", ran.out, re.MULTILINE)
    assert re.search(r"^store +clean$", ran.out, re.MULTILINE)
    shown = re.findall(r"^ +(\d) .* (user|assistant) +(.+)$", ran.out.partition("result")[0], re.MULTILINE)
    texts = ["Where is parcel 4471?", "In Bern.", "When does it come?", "Tomorrow."]
    assert [text for _, _, text in shown[:4]] == texts
    assert [message["content"] for message in recalled["messages"]] == texts[-2:]
    assert [message["content"] for message in written["messages"]] == texts


def test_what_the_dual_write_missed_is_noted_and_imported_later(tmp_path):
    preparation, dual_write, exchange, *_ = blocks(PAGE)
    _, _, exchange = exchange.partition("export CAPTURE_URL=http://127.0.0.1:8080")
    script = f"{preparation}{dual_write}export CAPTURE_URL=http://127.0.0.1:8080{exchange}"
    later = "memory import $W/missed.jsonl --format json\nmemory import $W/missed.jsonl --format json"
    ran = run_script(script + later, tmp_path, {"127.0.0.1:8080": f"127.0.0.1:{free_port()}"})
    assert ran.code == 0, ran.err
    assert ran.out.startswith("null\n")
    assert "not captured: URLError" in ran.err
    first, again = (document["total"] for document in documents_in(ran.out))
    assert (first["new"], again["new"], again["known"]) == (2, 0, 2)


def payload(turns: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    given = {"session_id": SESSION, "conversation_id": SESSION, "capture_options": {"derive_ids": True}}
    return {**given, "turns": turns, **more}


def rows(*places: int, **more: Any) -> list[dict[str, Any]]:
    """The turns of the old memory at ``places``, each with its parent, as the page makes them."""
    return [
        {
            "turn_id": ROWS[place][0],
            "parent_turn_id": ROWS[place - 1][0] if place else None,
            "role": ROWS[place][1],
            "content": ROWS[place][2],
            "timestamp": f"2026-03-02T08:15:0{place}Z",
            **more,
        }
        for place in places
    ]


class Moving:
    """An old memory that is moved into a store of its own: ``backfill`` imports, ``post`` is the dual write."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "new.db"
        self._app = capture_app({"RUVECTOR_SERVICE_URL": f"embedded:{self.store}"})

    def backfill(self, *documents: Any) -> dict[str, int]:
        path = self.folder / "backfill.jsonl"
        path.write_bytes(lines(*documents))
        ended = imported(self.store, path)
        assert ended.kinds == []
        return {name: ended.sum(name) for name in ("new", "known", "revised")}

    def post(self, document: Any, query: str = "") -> dict[str, Any]:
        builder = EnvironBuilder(method="POST", path="/", query_string=query, data=json.dumps(document))
        answer = json.loads(self._app.handle(builder.get_environ()).get_data())
        receipt: dict[str, Any] = answer["receipt"]
        return receipt


@pytest.fixture
def moving(tmp_path) -> Moving:
    return Moving(tmp_path)


def texts(moving: Moving) -> dict[str, list[str | None]]:
    return {name: [text for _, text in turns] for name, turns in said(moving.store).items()}


ALL = [text for _, _, text in ROWS]


def test_what_the_dual_write_brought_first_is_known_to_the_backfill_and_in_its_place(moving):
    assert moving.post(payload(rows(2)))["turns"]["new"] == 1
    assert moving.backfill(payload(rows(0, 1, 2))) == {"new": 2, "known": 1, "revised": 0}
    history = run_process(
        moving.folder, "agent", "conversation-memory", "history", "--session-id", SESSION, "--jsonl",
        "--store", str(moving.store),
    )  # fmt: skip
    assert [json.loads(line)["content"] for line in history.out.splitlines()] == ALL


def test_what_the_backfill_brought_first_is_known_to_the_dual_write(moving):
    assert moving.backfill(payload(rows(0, 1, 2))) == {"new": 3, "known": 0, "revised": 0}
    receipt = moving.post(payload(rows(1, 2), context={"user_id": "ann"}))
    assert (receipt["turns"]["known"], receipt["turns"]["new"], receipt["turns"]["revised"]) == (2, 0, 0)
    assert texts(moving) == {SESSION: ALL}


def test_the_same_payload_twice_is_one_event_with_the_answer_that_it_had(moving):
    first = moving.post(payload(rows(2)))
    again = moving.post(payload(rows(2)))
    assert (first["duplicate"], again["duplicate"]) == (False, True)
    assert (again["event_id"], again["position"]) == (first["event_id"], first["position"])


def test_a_list_meets_itself_by_the_places_of_its_messages(moving):
    chat_list = chat(1, session_id="chat-1")
    moving.post({**chat_list, "messages": chat_list["messages"][:3]}, "format=openai-chat")
    assert moving.backfill(chat_list) == {"new": 2, "known": 3, "revised": 0}
    grown = {**chat_list, "messages": [*chat_list["messages"], {"role": "user", "content": "Thanks"}]}
    assert moving.post(grown, "format=openai-chat")["turns"] == {"new": 1, "known": 5, "revised": 0, "erased": 0}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("content", lambda turn: {**turn, "content": "By train"}),
        ("timestamp", lambda turn: {**turn, "timestamp": "2026-03-02T10:15:02+02:00"}),
        ("parent_turn_id", lambda turn: {name: turn[name] for name in turn if name != "parent_turn_id"}),
        ("metadata", lambda turn: {**turn, "metadata": {"channel": "web"}}),
    ],
)
def test_a_turn_that_says_it_otherwise_is_a_revision_and_no_second_turn(moving, name, change: Callable[..., Any]):
    moving.backfill(payload(rows(0, 1, 2)))
    [turn] = rows(2)
    assert moving.post(payload([change(turn)]))["turns"]["revised"] == 1, name
    assert len(texts(moving)[SESSION]) == len(ROWS)


def test_a_turn_of_another_name_is_doubled(moving):
    moving.backfill(payload(rows(0, 1, 2)))
    assert moving.post(payload(rows(2, turn_id="another")))["turns"]["new"] == 1
    assert texts(moving)[SESSION] == [*ALL, ALL[-1]]


def test_a_list_in_another_conversation_is_doubled(moving):
    moving.backfill({"session_id": "chat-1", "messages": MESSAGES})
    moving.post({"session_id": "chat-1", "conversation_id": "web", "messages": MESSAGES}, "format=openai-chat")
    assert len(texts(moving)["chat-1"]) == 2 * len(MESSAGES)


def test_a_file_without_a_session_is_one_of_its_own(moving):
    moving.backfill({"messages": MESSAGES})
    moving.post({"session_id": "chat-1", "messages": MESSAGES}, "format=openai-chat")
    assert set(stored(moving.store)) == {"backfill.jsonl#0", "chat-1"}


def test_an_interrupted_backfill_that_is_run_again_keeps_each_conversation_once(tmp_path):
    number = 600
    documents = [chat(each, session_id=f"chat-{each}") for each in range(number)]
    (tmp_path / "old.jsonl").write_bytes(lines(*documents))
    arguments = ("agent", "conversation-memory", "import", "old.jsonl", "--store", "new.db", "--jsonl")
    environ = {"XDG_STATE_HOME": str(tmp_path / "state")}
    with subprocess.Popen(
        command_line(*arguments),
        cwd=tmp_path,
        env=process_environment(**environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        # A pipe that nobody reads any longer is full long before the last line: it stops in the middle.
        assert json.loads(process.stdout.readline())["new"] == 5
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(60) == 130
    begun = len(stored(tmp_path / "new.db"))
    assert 0 < begun < number
    again = run_process(tmp_path, *arguments, "--resume", **environ)
    assert again.code == 0, again.err
    assert {name: len(turns) for name, turns in stored(tmp_path / "new.db").items()} == {
        f"chat-{each}": 5 for each in range(number)
    }
    whole = run_process(tmp_path, *arguments, **environ)
    assert sum(json.loads(line)["known"] for line in whole.out.splitlines()) == 5 * number
    assert all(json.loads(line)["duplicate"] for line in whole.out.splitlines())
