"""The public names are typed, and so are the snippets of docs/python.md: a type checker at its strictest looks."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.streams import process_environment
from tests.conftest import REPOSITORY
from tests.sdk.test_python_page import PROGRAM

TYPED = """\
from typing import Any, assert_type

from agent import ConversationMemory, InMemoryConversationMemory, Message, SessionHandle
from agent.sdk import ToolCall, ToolResult, session_key

memory: ConversationMemory = InMemoryConversationMemory()
with memory as opened:
    assert_type(opened, ConversationMemory)
session = memory.for_session("s")
assert_type(session, SessionHandle)
assert_type(session.history(), list[Message])
message = session.history(limit=3)[0]
assert_type(message.text, str)
assert_type(message.timestamp, str | None)
assert_type(message.tool_calls, tuple[ToolCall, ...])
assert_type(message.tool_results, tuple[ToolResult, ...])
assert_type(session.params(), dict[str, Any])
assert_type(session.waiting(), str | None)
assert_type(session.prune(), int)
assert_type(session_key({"id": "s"}), str)
with session.batch() as inside:
    assert_type(inside, SessionHandle)
found = session.answer("O-12345")
assert_type(found.params, dict[str, Any])
assert_type(found.cleared, bool)
assert_type([row.session_id for row in memory.sessions(limit=3, user_id="ada")], list[str])
"""
WRONG = """\
from agent import InMemoryConversationMemory, Message

memory = InMemoryConversationMemory()
memory.for_session(7)
Message("user", 7)
Message("user", "hi").metadata["a"] = 1
memory.for_session("s").history(limit="3")
memory.sessions(nobody="ada")
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    """The lines of each program that the checker has something to say of; one run for all, since it takes long."""
    folder: Path = tmp_path_factory.mktemp("types")
    programs = {"page": PROGRAM, "typed": TYPED, "wrong": WRONG}
    for name, program in programs.items():
        (folder / f"{name}.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports", "silent", "--cache-dir", str(folder / "cache")]
        + [str(folder / f"{name}.py") for name in programs],
        cwd=REPOSITORY,
        env=process_environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "Found" in done.stdout, done.stdout + done.stderr
    lines = re.findall(r"(\w+)\.py:(\d+): error: ", done.stdout)
    assert {name for name, _ in lines} <= programs.keys(), done.stdout
    return {name: [int(line) for each, line in lines if each == name] for name in programs}


@pytest.mark.slow
def test_the_snippets_of_the_page_are_typed(found: dict[str, list[int]]):
    assert found["page"] == []


@pytest.mark.slow
def test_the_public_names_say_what_they_give(found: dict[str, list[int]]):
    assert found["typed"] == []


@pytest.mark.slow
def test_what_is_given_wrongly_is_seen_on_each_line(found: dict[str, list[int]]):
    assert found["wrong"] == [4, 5, 6, 7, 8]
