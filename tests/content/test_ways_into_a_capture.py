"""Whatever brings a capture, what may not be stored is in no byte of the store's files (CONTRACT 8)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flask
import pytest

from agent.bootstrap import capture_function, event_function
from agent.cli.memory.capturing.capture import CaptureCommand
from agent.cli.memory.checking.health import show_health
from agent.cli.memory.checking.verify import VerifyCommand
from agent.cli.memory.importing.import_files import ImportCommand
from agent.cli.output_format import Format
from agent.sdk import ConversationMemory, Message
from tests.capture.events.envelopes import pubsub
from tests.cli.memory.importing import command, events
from tests.cli.streams import invocation, printed, terminal
from tests.closed_clients import clients_closed  # noqa: F401 - a fixture of every test here

# Named, so that it is left out; and what a detector finds, so that it is redacted.
PLANTED = "ann.planted@example.org"
PIN = "pin-planted-4711"
NUMBER = 4929876543210988
INTENTS = "redaction: {params: [pin]}"
KEY = "a key of sixteen characters"
MODES = ("redacted", "none")

Way = Callable[[dict[str, str], Path], None]


def native() -> dict[str, Any]:
    """A capture with something planted wherever content stands."""
    said = f"write to {PLANTED}"
    call = {"tool_name": "t", "invocation_id": str(uuid.uuid4()), "arguments": {"to": PLANTED, "pin": PIN}}
    return {
        "session_id": str(uuid.uuid4()),
        "conversation_id": str(uuid.uuid4()),
        "turns": [
            {"turn_id": str(uuid.uuid4()), "role": role, "content": said, "timestamp": "2026-03-02T08:15:00Z",
             "tool_invocations": [call], "note": said,
             "metadata": {"seen": [PLANTED, NUMBER], "memory": {"params": {"pin": PIN}, "last_result": said}}}
            for role in ("user", "assistant")
        ],
        "trace": {"of": PLANTED},
    }  # fmt: skip


def chat() -> dict[str, Any]:
    """The same as a foreign format has it."""
    function = {"name": "t", "arguments": json.dumps({"to": PLANTED, "pin": PIN})}
    return {
        "session_id": str(uuid.uuid4()),
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": f"I am {PLANTED}", "extra": PLANTED}]},
            {"role": "assistant", "content": None, "name": "helper", "refusal": PLANTED,
             "tool_calls": [{"id": "call_1", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": "call_1", "content": json.dumps({"pin": PIN, "to": PLANTED})},
        ],
        "trace": {"of": PLANTED},
    }  # fmt: skip


def posted(function: Callable[[Any], Any], body: dict[str, Any], query: str = "") -> None:
    with flask.Flask("any").test_request_context(f"/{query}", method="POST", data=json.dumps(body)):
        answer = function(flask.request._get_current_object())  # type: ignore[attr-defined]  # werkzeug's proxy has it
    assert answer.status_code == 200, answer.get_data()


def over_http(environ: dict[str, str], _: Path) -> None:
    posted(capture_function(environ), native())


def over_http_in_a_foreign_format(environ: dict[str, str], _: Path) -> None:
    posted(capture_function(environ), chat(), "?format=openai-chat")


def from_a_queue(environ: dict[str, str], _: Path) -> None:
    function, delivery = event_function(environ), pubsub(json.dumps(native()).encode())
    with flask.Flask("any").test_request_context("/", method="POST", data=delivery.body, headers=delivery.headers):
        answer = function(flask.request._get_current_object())  # type: ignore[attr-defined]  # werkzeug's proxy has it
    assert answer.status_code == 200, answer.get_data()


def by_the_command_line(environ: dict[str, str], _: Path) -> None:
    at = terminal(environ=environ, stdin=json.dumps(native()).encode())
    capturing = CaptureCommand("-", "native", None)
    assert invocation(at, Format.JSON).run(capturing, interrupted=capturing.interrupted) == 0, printed(at)[1]


def by_an_import(environ: dict[str, str], folder: Path) -> None:
    native_file, chat_file = folder / "native.jsonl", folder / "chats.jsonl"
    native_file.write_text(json.dumps(native()) + "\n", encoding="utf-8")
    chat_file.write_text(
        "".join(json.dumps({"messages": chat()["messages"]}) + "\n" for _ in range(2)), encoding="utf-8"
    )
    at = terminal(environ=environ)
    importing = command(native_file, chat_file)
    assert invocation(at, Format.JSON).run(importing, interrupted=ImportCommand.interrupted) == 0, printed(at)[1]


def by_the_sdk(environ: dict[str, str], _: Path) -> None:
    with ConversationMemory(environ=environ) as memory:
        session = memory.for_session("s-1")
        session.append({"role": "user", "content": f"I am {PLANTED}", "seen": PLANTED})
        session.append(Message("assistant", f"Hello {PLANTED}"))
        session.merge({"pin": PIN, "name": PLANTED})


WAYS: tuple[Way, ...] = (
    over_http,
    over_http_in_a_foreign_format,
    from_a_queue,
    by_the_command_line,
    by_an_import,
    by_the_sdk,
)


def environment(folder: Path, mode: str) -> dict[str, str]:
    intents = folder / "intents.yaml"
    intents.write_text(INTENTS, encoding="utf-8")
    return {
        "RUVECTOR_SERVICE_URL": f"embedded:{folder / 'store.db'}",
        "CAPTURE_CONTENT": mode,
        "INTENTS_CONFIG": str(intents),
        "HOME": str(folder),
    }


def planted_bytes(folder: Path) -> list[bytes]:
    """What of the planted things is in the store's files."""
    held = b"".join(path.read_bytes() for path in folder.iterdir() if path.name.startswith("store.db"))
    return [each for each in (b"planted", b"4711", str(NUMBER).encode()) if each in held]


def test_in_full_the_planted_content_is_in_the_stores_files(tmp_path: Path) -> None:
    over_http(environment(tmp_path, "full"), tmp_path)
    assert b"planted" in planted_bytes(tmp_path)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: str(way.__name__))
def test_what_is_planted_is_in_no_byte_of_the_store(way: Way, mode: str, tmp_path: Path) -> None:
    environ = environment(tmp_path, mode)
    way(environ, tmp_path)
    assert planted_bytes(tmp_path) == []
    constraint = {"redacted": "content_redacted", "none": "content_omitted"}[mode]
    stored = events(tmp_path / "store.db")
    assert stored
    assert all(constraint in event["constraints_applied"] for event in stored)
    # Whoever reads the log can check every event, whatever it was narrowed to.
    at = terminal(environ=environ)
    assert invocation(at, Format.JSON).run(VerifyCommand(10), interrupted="") == 0, printed(at)


def test_under_a_key_what_is_alike_is_known_to_be_alike_and_no_more(tmp_path: Path) -> None:
    environ = {**environment(tmp_path, "none"), "CONTENT_HASH_KEY": KEY}
    over_http(environ, tmp_path)
    [event] = events(tmp_path / "store.db")
    first, second = (turn["content"] for turn in event["inputs"]["turns"])
    assert first == second
    assert first.startswith("[omitted:32:")
    assert len(first) == len("[omitted:32:]") + 64


@pytest.mark.parametrize("mode", ["full", *MODES])
def test_health_says_how_much_is_stored(mode: str, tmp_path: Path) -> None:
    environ = environment(tmp_path, mode)
    for make in (capture_function, event_function):
        function = make(environ)
        with flask.Flask("any").test_request_context("/health"):
            answer = function(flask.request._get_current_object())  # type: ignore[attr-defined]  # werkzeug's proxy
        assert json.loads(answer.get_data())["content"] == mode
    at = terminal(environ=environ)
    assert invocation(at, Format.JSON).run(show_health, interrupted="") == 0
    assert json.loads(printed(at)[0])["content"] == mode
