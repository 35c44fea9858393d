"""Real processes on one session: each sees what the others said, and nothing is lost or doubled."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.sdk import ConversationMemory, Message
from tests.cli.store.server import store_server
from tests.cli.streams import process_environment

pytestmark = pytest.mark.slow

WRITERS = 4
MESSAGES = 15
INTENTS = """\
param_mapping:
  order_id:
    type: string
    pattern: 'O-\\d{5}'
    prompt: Which order is it?
    examples: [O-12345]
"""
WRITER = """\
import sys
from agent import ConversationMemory, Message

store, session_id, name, count = sys.argv[1:]
with ConversationMemory(store) as memory:
    session = memory.for_session(session_id)
    for number in range(int(count)):
        session.append(Message("user", f"{name} {number}"))
        session.merge({name: number})
        assert any(message.text == f"{name} {number}" for message in session.history())
"""
ASKING = """\
import sys
from agent import ConversationMemory

with ConversationMemory(sys.argv[1]) as memory:
    session = memory.for_session("shop-7")
    session.append({"role": "user", "content": "I want to check my order"})
    session.update(last_intent_id="order_status", plan_execution={"steps": ["track", "tell"], "next": 0})
    session.ask("order_id", "Which order is it?")
    assert session.resume() is None
"""
ANSWERED = """\
import json, sys
from agent import ConversationMemory

with ConversationMemory(sys.argv[1]) as memory:
    session = memory.for_session("shop-7")
    assert session.waiting() == "order_id"
    found = session.answer("It's O-12345")
    said = [[message.role, message.text] for message in session.history()]
    print(json.dumps([found.cleared, session.params(), session.waiting(), session.resume(), said]))
"""


FORKING = """\
import os, sys
from agent import ConversationMemory
from agent.errors import StoreConnectionError

with ConversationMemory(sys.argv[1]) as memory:
    session = memory.for_session("shared")
    session.append({"role": "user", "content": "parent"})
    child = os.fork()
    if child == 0:
        refused = 0
        for each in (session.history, lambda: session.append({"role": "user", "content": "lost"})):
            try:
                each()
            except StoreConnectionError as error:
                refused += "after the fork" in str(error)
        memory.close()
        with ConversationMemory(sys.argv[1]) as own:
            own.for_session("shared").append({"role": "user", "content": "child"})
        os._exit(0 if refused == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [message.text for message in session.history()] == ["parent", "child"]
"""


@pytest.fixture(params=["file", "server"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A store that processes share: a SQLite file, or a server over HTTP."""
    if request.param == "file":
        yield str(tmp_path / "memory.db")
        return
    with store_server(tmp_path) as server:
        yield server.url


def started(script: str, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        env=process_environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


def test_what_one_process_asks_the_next_one_resumes(store: str, tmp_path: Path):
    (tmp_path / "intents.yaml").write_text(INTENTS)
    settings = {"INTENTS_CONFIG": str(tmp_path / "intents.yaml")}
    ended(started(ASKING, store, **settings))
    cleared, params, waiting, plan, said = json.loads(ended(started(ANSWERED, store, **settings)))
    assert cleared is True
    assert params == {"order_id": "O-12345"}
    assert waiting is None
    assert plan == {"steps": ["track", "tell"], "next": 0}
    assert said == [
        ["user", "I want to check my order"],
        ["assistant", "Which order is it?"],
        ["user", "It's O-12345"],
    ]


def test_a_forked_process_is_told_to_make_a_memory_of_its_own(store: str):
    ended(started(FORKING, store))


def test_several_writers_of_one_session_lose_and_double_nothing(store: str):
    names = [f"writer{number}" for number in range(WRITERS)]
    writing = [started(WRITER, store, "shared", name, str(MESSAGES)) for name in names]
    with ConversationMemory(store, environ={}) as memory:
        session = memory.for_session("shared")
        session.append(Message("user", "first reader"))
        seen = 0
        while any(process.poll() is None for process in writing):
            shown = [message.text for message in session.history()]
            assert len(shown) >= seen
            assert max(Counter(shown).values()) == 1
            seen = len(shown)
        for process in writing:
            ended(process)
        texts = [message.text for message in session.history()]
        expected = {f"{name} {number}" for name in names for number in range(MESSAGES)} | {"first reader"}
        assert len(texts) == len(expected)
        assert set(texts) == expected
        for name in names:
            assert [text for text in texts if text.startswith(f"{name} ")] == [f"{name} {n}" for n in range(MESSAGES)]
        assert session.params() == dict.fromkeys(names, MESSAGES - 1)
        assert [message.seq for message in session.history()] == sorted(m.seq or 0 for m in session.history())
        assert session.history() == memory.for_session("shared").history()


def test_a_process_that_holds_a_session_sees_revisions_and_erasures_of_others(store: str):
    with ConversationMemory(store, environ={}) as one, ConversationMemory(store, environ={}) as other:
        here, there = one.for_session("shared"), other.for_session("shared")
        here.extend([Message("user", "tomorow", turn_id="m1"), Message("user", "secret", turn_id="m2")])
        assert [message.text for message in there.history()] == ["tomorow", "secret"]
        here.append(Message("user", "tomorrow", turn_id="m1"))
        one.store.client.erasure.turn(str(here.history()[1].turn_id))
        assert [message.text for message in there.history()] == ["tomorrow", ""]
        assert there.history()[1].erased
