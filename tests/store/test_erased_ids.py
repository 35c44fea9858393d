"""Which ids and names an erasure takes, as docs/security/data-flow.md says it field by field; what stays is looked for.

Looked at are the events, turns and sessions as they are answered, the audit, the ledger, and the bytes of the files.
"""

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from store.privacy.ledger import erasures
from store.urls import open_store
from tests.conftest import REPOSITORY
from tests.store.surface import CONVERSATION, SESSION, Surface, ref_of, turn_id

PAGE = REPOSITORY / "docs/security/data-flow.md"
HEAD = "| field | is content? | `redacted` | `none` | gone after the erasure of |"
ANN = "ann@example.com"
CALL = "00000000-0000-4000-8000-0000000000ca"
RUN = ref_of("a run of ann's")
# A value that is found nowhere else, for each field that the page has a row for.
PLANTED = {
    "turns[].content": "planted-content",
    "metadata.memory.params": "planted-parameter",
    "metadata.agent": "planted-speaker",
    "context.user_id": ANN,
    "context.agent_id": "planted-agent",
    "context.tags": "planted-tag",
    "native_id": "planted-turn",
    "native_parent_turn_id": "planted-parent",
    "native_session_id": "planted-session",
    "native_conversation_id": "planted-conversation",
    "session_id": SESSION,
    "conversation_id": CONVERSATION,
    "turn_id": turn_id(1),
    "parent_turn_id": turn_id(9),
    "invocation_id": CALL,
    "runId": RUN,
    "keys of objects": "planted-key",
}


def captured() -> dict[str, Any]:
    """A capture of ann's that has each of them."""
    call = {"invocation_id": CALL, "native_id": "planted-call", "tool_name": "t", "arguments": {"planted-key": 1}}
    turn = {
        "turn_id": turn_id(1), "native_id": PLANTED["native_id"], "role": "assistant", "tool_invocations": [call],
        "parent_turn_id": turn_id(9), "native_parent_turn_id": PLANTED["native_parent_turn_id"],
        "content": PLANTED["turns[].content"], "timestamp": "2026-03-02T08:15:00Z",
        "metadata": {"agent": PLANTED["metadata.agent"], "memory": {"params": [PLANTED["metadata.memory.params"]]}},
    }  # fmt: skip
    about = {"user_id": ANN, "agent_id": PLANTED["context.agent_id"], "tags": [PLANTED["context.tags"]]}
    names = {name: PLANTED[name] for name in ("native_session_id", "native_conversation_id")}
    return {"session_id": SESSION, "conversation_id": CONVERSATION, **names, "turns": [turn], "context": about}


def said_by_another() -> dict[str, Any]:
    """What bob says in the same session, after ann's turn."""
    turn = {
        "turn_id": turn_id(2), "role": "user", "content": "bob's", "timestamp": "2026-03-02T08:16:00Z",
        "parent_turn_id": turn_id(1), "native_parent_turn_id": PLANTED["native_id"],
    }  # fmt: skip
    names = {name: PLANTED[name] for name in ("native_session_id", "native_conversation_id")}
    return {
        "session_id": SESSION,
        "conversation_id": CONVERSATION,
        **names,
        "turns": [turn],
        "context": {"user_id": "bob"},
    }


@pytest.fixture
def surface(tmp_path: Path) -> Iterator[Surface]:
    with closing(Surface(open_store(f"sqlite:///{tmp_path / 's.db'}"))) as found:
        found.capture(captured(), execution_ref=RUN)
        yield found


def said_of(kind: str) -> str:
    """The last cell of the page's row for a field of ``PLANTED``."""
    rows = PAGE.read_text().partition(f"{HEAD}\n")[2].partition("\n\n")[0].splitlines()[1:]
    named = {name: row.split("|")[5].strip() for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    named |= {row.split("|")[1].strip(): row.split("|")[5].strip() for row in rows}
    return named[kind]


def left(surface: Surface, folder: Path) -> str:
    """All that can be read of the store, and the bytes of its files."""
    answers = [
        surface.events(),
        surface.turns(),
        surface.sessions(),
        surface.get("/v1/audit"),
        [line.decode() for line in erasures(surface.store)],
    ]
    files = b"".join(file.read_bytes() for file in sorted(folder.iterdir()))
    return json.dumps(answers, ensure_ascii=False) + files.decode("latin-1")


@pytest.mark.parametrize("field", PLANTED)
def test_each_field_is_there_before_anything_is_erased(surface: Surface, tmp_path: Path, field: str) -> None:
    assert PLANTED[field] in left(surface, tmp_path)


@pytest.mark.parametrize(("kind", "name"), [("turn", turn_id(1)), ("session", SESSION), ("user", ANN)])
def test_an_erasure_takes_the_fields_that_the_page_says_and_no_other(
    surface: Surface, tmp_path: Path, kind: str, name: str
) -> None:
    assert surface.erase(kind, name)["files"] == "rewritten"
    after = left(surface, tmp_path)
    gone = {field for field, value in PLANTED.items() if value not in after}
    assert gone == {field for field in PLANTED if kind in re.findall(r"\w+", said_of(field))}
    assert "planted-call" not in after


def test_what_another_said_of_the_session_and_of_the_turn_before_stays_after_a_users_erasure(
    surface: Surface, tmp_path: Path
) -> None:
    surface.capture(said_by_another())
    surface.erase("user", ANN)
    after = left(surface, tmp_path)
    stays = {field for field in PLANTED if field.startswith("native_") and PLANTED[field] in after}
    assert stays == {"native_id", "native_session_id", "native_conversation_id"}
    surface.erase("session", SESSION)
    after = left(surface, tmp_path)
    assert [field for field in PLANTED if field.startswith("native_") and PLANTED[field] in after] == []


def test_of_a_users_name_a_digest_stays_which_who_guesses_the_name_can_make(surface: Surface, tmp_path: Path) -> None:
    surface.erase("user", ANN)
    digest = hashlib.sha256(ANN.encode()).hexdigest()[:32]
    (line, *_) = [json.loads(line) for line in erasures(surface.store)]
    (act,) = surface.get("/v1/audit")["audit"]
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        ((beside_the_event,),) = connection.execute("SELECT user_digest FROM events").fetchall()
    assert {line["subject"], act["subject"], beside_the_event.hex()} == {digest}
    assert "first 32 hex digits of the SHA-256" in " ".join(PAGE.read_text().split())
