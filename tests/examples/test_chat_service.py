"""The chat service as the one command that starts it: what was said before is seen, once, and in its order."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from agent.core.ids import session_uuid
from tests.cli.streams import process_environment
from tests.conftest import REPOSITORY
from tests.live.host import free_port, function_host
from tests.live.stored import stored
from tests.observability.peers import refusing_url

SERVICE = REPOSITORY / "examples" / "chat_service.py"
START_LIMIT_S = 60

pytestmark = pytest.mark.slow


class Chat:
    """A running service."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def post(self, body: bytes) -> tuple[int, dict[str, Any]]:
        status, answer, _ = self.ask("POST", body)
        return status, answer

    def ask(self, method: str, body: bytes | None = None) -> tuple[int, Any, Message]:
        """The status of an answer, its document and its headers."""
        try:
            asked = urllib.request.Request(self.url, body, method=method)
            with urllib.request.urlopen(asked, timeout=60) as answer:
                return answer.status, json.load(answer), answer.headers
        except urllib.error.HTTPError as error:
            with error:
                text = error.read()
                return error.code, json.loads(text) if text else None, error.headers

    def say(self, message: str, **more: str) -> str:
        """The answer to ``message``."""
        status, answer = self.post(json.dumps({"message": message, **more}).encode())
        assert status == 200, answer
        return answer["answer"]


@contextmanager
def running(folder: Path, **variables: str) -> Iterator[Chat]:
    """The service in ``folder``, from its start to Ctrl-C."""
    port, log = free_port(), folder / "chat.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, str(SERVICE)],
            cwd=folder,
            env=process_environment(PORT=str(port), **variables),
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        end = time.monotonic() + START_LIMIT_S
        while f"Try: curl http://127.0.0.1:{port} " not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)  # the service says that it is ready in its log alone, and a file calls nobody
        yield Chat(port)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0, log.read_text()
        assert "Traceback" not in log.read_text()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("chat")


@pytest.fixture(scope="module")
def chat(folder: Path) -> Iterator[Chat]:
    with running(folder) as service:
        yield service


def kept(folder: Path, session_id: str) -> list[tuple[str, str]]:
    """What the store has of a session, in its order."""
    with stored(folder / "memory-graph.db") as reader:
        return [(turn["role"], turn["content"]) for turn in reader.turns(session_uuid(session_id))]


def test_the_second_answer_shows_that_the_first_message_was_seen(chat: Chat, folder: Path) -> None:
    first = chat.say("Where is parcel 4471?", session_id="chat-7")
    assert first == 'I was given 1 of our messages. You said: "Where is parcel 4471?"'
    second = chat.say("And when does it come?", session_id="chat-7")
    assert second == 'I was given 3 of our messages. You said: "Where is parcel 4471?" "And when does it come?"'
    third = chat.say("Thanks.", session_id="chat-7")
    assert third.startswith("I was given 5 of our messages.")
    assert kept(folder, "chat-7") == [
        ("user", "Where is parcel 4471?"),
        ("assistant", first),
        ("user", "And when does it come?"),
        ("assistant", second),
        ("user", "Thanks."),
        ("assistant", third),
    ]


def test_a_session_does_not_see_another(chat: Chat) -> None:
    chat.say("My name is Ann.", session_id="ann")
    assert chat.say("Hello", session_id="bob") == 'I was given 1 of our messages. You said: "Hello"'


def test_the_same_words_said_twice_are_two_messages(chat: Chat, folder: Path) -> None:
    chat.say("Yes", session_id="agreeing")
    again = chat.say("Yes", session_id="agreeing")
    assert again == 'I was given 3 of our messages. You said: "Yes" "Yes"'
    assert [content for role, content in kept(folder, "agreeing") if role == "user"] == ["Yes", "Yes"]


def test_a_message_that_is_sent_again_is_answered_again_and_kept_once(chat: Chat, folder: Path) -> None:
    chat.say("First", session_id="retrying", turn_id="t-1")
    answer = chat.say("Second", session_id="retrying", turn_id="t-2")
    again = chat.say("Second", session_id="retrying", turn_id="t-2")
    assert again == answer == 'I was given 3 of our messages. You said: "First" "Second"'
    assert [content for _, content in kept(folder, "retrying")] == [
        "First",
        'I was given 1 of our messages. You said: "First"',
        "Second",
        answer,
    ]
    assert (
        chat.say("Third", session_id="retrying") == 'I was given 5 of our messages. You said: "First" "Second" "Third"'
    )


@pytest.mark.parametrize("session_id", ["ann@example.org/1 ?#%", "订单", "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61", ".."])
def test_any_text_is_a_session(session_id: str, chat: Chat) -> None:
    chat.say("One", session_id=session_id)
    assert chat.say("Two", session_id=session_id) == 'I was given 3 of our messages. You said: "One" "Two"'


def test_without_a_session_the_message_is_answered_alone_and_nothing_is_kept(chat: Chat, folder: Path) -> None:
    with stored(folder / "memory-graph.db") as reader:
        before = reader.get("/v1/stats")
    for _ in range(2):
        status, answer = chat.post(b'{"message": "Where is parcel 4471?"}')
        assert status == 200
        assert answer == {"answer": 'I was given 1 of our messages. You said: "Where is parcel 4471?"'}
    with stored(folder / "memory-graph.db") as reader:
        assert reader.get("/v1/stats") == before


def test_messages_that_come_at_once_are_all_kept_each_before_its_answer(chat: Chat, folder: Path) -> None:
    messages = [f"message {number}" for number in range(6)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda message: chat.say(message, session_id="busy"), messages))
    turns = [content for _, content in kept(folder, "busy")]
    assert sorted(turns) == sorted(messages + answers)
    assert all(turns.index(answer) == turns.index(said) + 1 for said, answer in zip(messages, answers, strict=True))


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b"5", b"\xff", b'"message"', b"{}", b'{"message": "a", "sesion_id": "b"}'),
        *(b'{"message": 5}', b'{"message": null, "session_id": "b"}', b'{"message": "a", "turn_id": {}}'),
    ],
)
def test_what_is_no_message_is_told_what_one_is(body: bytes, chat: Chat) -> None:
    error = "a message is {message, session_id, turn_id}, each a string, the message alone enough"
    assert chat.post(body) == (400, {"error": error})


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PROPFIND"])
def test_another_method_is_told_in_json_which_one_there_is(method: str, chat: Chat) -> None:
    status, answer, headers = chat.ask(method)
    assert (status, headers["Allow"], headers["Content-Type"]) == (405, "POST", "application/json")
    assert answer == (None if method == "HEAD" else {"error": "Method Not Allowed: this answers POST /"})


def test_every_answer_says_that_it_is_json(chat: Chat) -> None:
    for body in (b'{"message": "Hello"}', b"{"):
        assert chat.ask("POST", body)[2]["Content-Type"] == "application/json"


def test_it_says_in_one_line_what_it_starts_and_then_how_it_is_tried(chat: Chat, folder: Path) -> None:
    first, second, *_ = (folder / "chat.log").read_text().splitlines()
    assert first == "Starting the chat service, and the functions that it is not given the address of ..."
    assert second.startswith(f"Try: curl {chat.url} ")


def test_a_port_that_it_cannot_have_is_one_line_and_exit_code_1(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        asked = str(taken.getsockname()[1])
        ended = subprocess.run(
            [sys.executable, str(SERVICE)],
            cwd=tmp_path,
            env=process_environment(PORT=asked),
            capture_output=True,
            text=True,
            timeout=START_LIMIT_S,
            check=False,
        )
    assert (ended.returncode, ended.stdout) == (1, "")
    (line,) = ended.stderr.splitlines()
    assert line.startswith(f"Port {asked} cannot be used (")
    assert re.search(r"\)\. Choose another one: PORT=\d+$", line)
    assert list(tmp_path.iterdir()) == []


def test_a_message_that_the_memory_refuses_is_refused(chat: Chat) -> None:
    status, _ = chat.post(json.dumps({"message": "a", "session_id": "x" * 257}).encode())
    assert status == 400


def test_it_uses_functions_that_run_already(tmp_path: Path) -> None:
    store = f"embedded:{tmp_path / 'elsewhere.db'}"
    folder = tmp_path / "service"
    folder.mkdir()
    with (
        function_host(tmp_path, store=store) as capture,
        function_host(tmp_path, store=store, target="recall") as recall,
    ):
        for answer in ('I was given 1 of our messages. You said: "Hello"', "I was given 3 of our messages."):
            with running(folder, CAPTURE_URL=capture.url, RECALL_URL=f"{recall.url}/") as service:
                assert service.say("Hello", session_id="s").startswith(answer)
    assert [path.name for path in folder.iterdir()] == ["chat.log"]


def test_it_sends_a_key_to_functions_that_ask_for_one(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("a-key-of-recall-0123456789\nanother-key-of-recall-0123456789\n")
    keys = {"CAPTURE_API_KEYS": "a-key-of-capture-0123456789", "RECALL_API_KEYS_FILE": str(tmp_path / "keys")}
    with running(tmp_path, **keys) as service:
        for answer in ('I was given 1 of our messages. You said: "Hello"', "I was given 3 of our messages."):
            assert service.say("Hello", session_id="s").startswith(answer)


def test_without_its_memory_it_answers_who_asks_for_none(tmp_path: Path) -> None:
    nobody = refusing_url()
    with running(tmp_path, CAPTURE_URL=nobody, RECALL_URL=nobody) as service:
        assert service.say("Hello") == 'I was given 1 of our messages. You said: "Hello"'
        status, answer = service.post(b'{"message": "Hello", "session_id": "s"}')
        assert (status, answer) == (502, {"error": "the memory refused, or did not answer"})


def test_it_is_less_than_120_lines_long() -> None:
    assert len(SERVICE.read_text().splitlines()) < 120
