"""Every conversation of the shared data that has tools, as a session: what windows are cut from in the sweep.

What a format reads comes through that format and a store. Three shapes that no format is for are spoken as
openai-chat here: the dialogs of SGD (a service call is a call of the system's turn), BFCL (a user turn and the calls
that answer it), and the messages of Inspect. Nothing that is recorded is made up: a call without a recorded result gets
an empty one, since these files have none.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from agent.formats.writing import Session
from tests.conftest import shared_folder
from tests.formats.corpus import OURS, documents, lines
from tests.formats.whole_sessions import sessions


class Conversation(NamedTuple):
    """A conversation by the name of its file and its place there."""

    name: str
    session: Session

    @property
    def has_tools(self) -> bool:
        return any(turn.invocations for turn in self.session.shown)


def with_tools(folder: Path | None = None) -> Iterator[Conversation]:
    """Those of ``folder`` (the shared data, unless given) that have tools; each once, however often it is recorded."""
    seen: set[tuple[tuple[str, str | None], ...]] = set()
    for found in _all(shared_folder() / "data" if folder is None else folder):
        said = tuple((turn.role, turn.content) for turn in found.session.shown)
        if found.has_tools and said not in seen:
            seen.add(said)
            yield found


def ours() -> Iterator[Conversation]:
    """Those that are committed here."""
    return with_tools(OURS)


def _all(folder: Path) -> Iterator[Conversation]:
    for form, name, document in documents(folder):
        yield from _sessions(form, name, document)
    for path in sorted(folder.glob("sgd__*.jsonl")):
        yield from _spoken(path, _sgd)
    for path in sorted(folder.glob("bfcl__*.jsonl")):
        yield from _spoken(path, _bfcl)
    for path in sorted(folder.glob("inspect-ai__*.json")):
        for number, sample in enumerate(json.loads(path.read_text())):
            messages = [_inspected(message) for message in sample["messages"]]
            yield from _sessions("openai-chat", f"{path.name}#{number}", {"messages": messages})


def _sessions(form: str, name: str, document: Any) -> Iterator[Conversation]:
    for number, session in enumerate(sessions(form, document)):
        yield Conversation(f"{name}.{number}", session)


def _spoken(path: Path, messages_of: Any) -> Iterator[Conversation]:
    for number, dialog in enumerate(lines(path.read_text())):
        yield from _sessions("openai-chat", f"{path.name}#{number}", {"messages": list(messages_of(dialog))})


def _sgd(dialog: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for place, turn in enumerate(dialog["turns"]):
        if turn["speaker"] == "SYSTEM":
            for frame in turn["frames"]:
                if "service_call" in frame:
                    called = frame["service_call"]
                    results = json.dumps(frame.get("service_results", []))
                    yield from _called([(f"call_{place}", called["method"], called["parameters"], results)])
        yield {"role": "user" if turn["speaker"] == "USER" else "assistant", "content": turn["utterance"]}


def _bfcl(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for place, (said, calls) in enumerate(zip(case["question"], case["ground_truth"], strict=False)):
        yield from said
        named = [_parsed(call) for call in calls]
        if named:
            yield from _called([(f"call_{place}_{n}", name, given, "") for n, (name, given) in enumerate(named)])
            yield {"role": "assistant", "content": "Done."}


def _parsed(call: str) -> tuple[str, dict[str, Any]]:
    """Name and arguments of a call that is written as Python."""
    node = ast.parse(call, mode="eval").body
    if not isinstance(node, ast.Call):
        raise TypeError("no call")
    given = {f"arg_{n}": ast.literal_eval(value) for n, value in enumerate(node.args)}
    given |= {word.arg or "": ast.literal_eval(word.value) for word in node.keywords}
    return ast.unparse(node.func), given


def _called(calls: list[tuple[str, str, Any, str]]) -> Iterator[dict[str, Any]]:
    yield {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for call_id, name, given, _ in calls
        ],
    }
    for call_id, _, _, result in calls:
        yield {"role": "tool", "tool_call_id": call_id, "content": result}


def _inspected(message: dict[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message["role"], "content": message.get("content") or ""}
    if message.get("tool_calls"):
        said["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["function"], "arguments": json.dumps(call["arguments"])},
            }
            for call in message["tool_calls"]
        ]
    if message["role"] == "tool":
        said["tool_call_id"] = message.get("tool_call_id", "")
    return said
