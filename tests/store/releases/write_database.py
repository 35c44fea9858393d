"""Writes the database of a release, and beside it all that the release answers about it.

Run once a release, by its own code: ``git clone --branch vX.Y.Z . /tmp/release``, then
``PYTHONPATH=/tmp/release python tests/store/releases/write_database.py X.Y.Z FOLDER``. Makes ``X.Y.Z.db`` and
``X.Y.Z.json`` in FOLDER, and refuses to write over what is there. What it imports is the release's: nothing of it may
be newer than 0.1.0.
"""

import itertools
import json
import random
import sqlite3
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

import agent
from agent.capture.service import CaptureRequest, CaptureService
from agent.observability.tracing import NoSpans
from agent.ruvector.client import RuvectorClient
from store.engines.sqlite import SqliteStore
from store.server import create_app
from tests.conftest import vectors
from tests.store.surface import SESSION, envelope, payload, ref_of, turn, turn_id

LARGEST_FILE = 200_000
FIRST = datetime(2026, 3, 2, 8, 15, tzinfo=UTC)
CALL = {"id": "call_7", "type": "function", "function": {"name": "track", "arguments": '{"n":4471}'}}
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where is parcel 4471?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_7", "content": "Bern"},
    {"role": "assistant", "content": "It is in Bern.", "timestamp": "2026-03-01T10:00:00+02:00"},
    {"role": "user", "content": "Und Zu\u0308rich? \u5b8c\u6210 \U0001f680"},
]


class Writer:
    """One store, written through its HTTP surface; every instant is a minute after the one before."""

    def __init__(self, path: Path) -> None:
        self.store = SqliteStore(path)
        minutes = itertools.count()
        ids = itertools.count(1)
        self.app = create_app(self.store, clock=self.clock, new_id=lambda: f"00000000-0000-4000-9000-{next(ids):012x}")
        self.http = httpx.Client(transport=httpx.WSGITransport(app=self.app), base_url="http://store.invalid")
        self._minutes = minutes
        self.keys: dict[str, str] = {}

    def clock(self) -> datetime:
        return FIRST + timedelta(minutes=next(self._minutes))

    def time(self) -> str:
        return self.clock().isoformat().replace("+00:00", "Z")

    def post(self, body: dict[str, Any], *, key: str | None = None) -> dict[str, Any]:
        headers = {} if key is None else {"Idempotency-Key": key}
        answer = self.http.post("/v1/decision-events", content=json.dumps(body).encode(), headers=headers)
        assert answer.status_code in (200, 201), answer.text
        receipt: dict[str, Any] = answer.json()
        if key is not None and key != body.get("payload", {}).get("inputs_hash"):
            self.keys[key] = receipt["executionRef"]
        return receipt

    def append(self, sent: dict[str, Any], *, key: str | None = None, **event: Any) -> dict[str, Any]:
        return self.post(envelope(sent, timestamp=self.time(), **event), key=key)

    def capture(self, sent: dict[str, Any], name: str = "native") -> None:
        """A capture through the function's own service: the event that the release makes, graph and all."""
        client = RuvectorClient(
            httpx.WSGITransport(app=self.app), base_url="http://store.invalid", api_key=None, kind="embedded"
        )
        service = CaptureService(
            lambda: client, clock=self.clock, elapsed=lambda: 0.0, peak_memory=lambda: 1, release=agent.__version__
        )
        text = json.dumps(sent)
        service.capture(CaptureRequest(text.encode(), name, None, ref_of(text)), NoSpans())


def write(writer: Writer) -> None:
    for sent in golden_sessions():
        writer.append(sent)
    for count in (2, 4, 6):
        chat = {"session_id": "chat-1", "messages": MESSAGES[:count], "context": context("anna", "parcels")}
        writer.capture(chat, "openai-chat")
    writer.capture({"session_id": "chat-2", "mode": "delta", "request_id": "r-1", "messages": MESSAGES}, "openai-chat")
    revised(writer)
    odd_events(writer)
    large(writer)


def context(user: str, *tags: str) -> dict[str, Any]:
    return {"user_id": user, "agent_id": f"agent of {user}", "source_system": "tests", "tags": list(tags)}


def session(number: int) -> str:
    return f"5e550000-0000-4000-8000-{number:012x}"


def golden_sessions() -> Iterator[dict[str, Any]]:
    """The captures of the golden sessions, each case in a session of its own."""
    for number, case in enumerate(vectors("session"), 1):
        for sent in case["captures"]:
            yield json.loads(json.dumps(sent).replace(SESSION, session(number)))


def revised(writer: Writer) -> None:
    """Revisions, a caller's keys, duplicates, a body narrower than the one that is there, usage."""
    here = {"session": session(100)}
    usage = {"prompt_tokens": 12, "completion_tokens": 4, "total_tokens": 16}
    derived = {"derived": ["timestamp"]}
    first = payload(turn(1), turn(2, "part", metadata=derived, token_usage=usage), **here, context=context("anna", "a"))
    writer.append(first, key="key-1")
    writer.append(first, key="key-2", execution_ref="another-invocation")
    second = payload(
        turn(2, "part and the rest", metadata=derived, timestamp="2027-01-01T00:00:00Z", token_usage=usage),
        turn(3, "ok"),
        **here,
        context=context("bert", "b", "a"),
    )
    writer.append(second, key="key-3")
    writer.append(payload(turn(3, "[redacted:name]"), turn(4), **here), constraints_applied=["content_redacted"])
    writer.append(payload(turn(3, "[omitted:2]"), **here), constraints_applied=["content_omitted"])
    writer.append(payload(turn(1), **here), agent_id="another-agent")
    memory = {"metadata": {"memory": {"leaf": turn_id(2)}}}
    writer.append(payload(turn(5, "", role="system", **memory), **here))
    writer.append(payload(turn(6, conversation="x"), **here))


def odd_events(writer: Writer) -> None:
    """Events without turns: bare, without inputs, of another type, with text that other stores stumble over."""
    bare = envelope(payload(turn(7), session=session(101)), inputs=None, timestamp=writer.time())["payload"]
    writer.post(bare)
    writer.post(envelope(payload(turn(8), session=session(100)), inputs=None, timestamp=writer.time())["payload"])
    text = "".join(map(chr, range(0x20))) + "\x7f\u2028\ufeff\ufffe \U0001f680 Zo\u00eb Zoe\u0308"
    plan = {
        "type": "plan_approved",
        "runId": "any string, even this / one",
        "timestamp": "2026-03-02T10:15:00+02:00",
        "payload": {"n": 1e-7, "big": 10**40, text: [text, None, True]},
        "extra": [1, {"a": None}],
    }
    writer.post(plan, key="key-4")
    writer.append(payload(turn(9, text, metadata={text: [text]}), session=session(102)))
    sent = envelope(payload(turn(10), session=session(103)), timestamp=writer.time())
    writer.post(sent["payload"])


def large(writer: Writer) -> None:
    """An event of more than one chunk (64 KiB), in part compressible."""
    source = random.Random(1)
    words = ["parcel", "Bern", "Z\u00fcrich", "\u5b8c\u6210", "delivered", "lost", "\U0001f680"]
    turns = [
        turn(
            20 + number,
            " ".join(source.choice(words) for _ in range(1500)),
            metadata={"id": source.randbytes(500).hex()},
        )
        for number in range(9)
    ]
    writer.append(payload(*turns, session=session(104), note="x" * 3000, context=context("anna")))


def answers(writer: Writer) -> dict[str, Any]:
    """All that the release says of its database."""
    events: list[Any] = []
    page: dict[str, Any] = {"next_cursor": None}
    while not events or page["next_cursor"]:
        query = {"cursor": page["next_cursor"]} if page["next_cursor"] else {}
        page = writer.http.get("/v1/decision-events", params={"limit": 50, **query}).json()
        events += page["events"]
    named = {read(event, "session_id") for event in events} - {None}
    found = {name: writer.http.get(f"/v1/sessions/{name}/turns", params={"limit": 1000}) for name in sorted(named)}
    turns = {name: answer.json()["turns"] for name, answer in found.items() if answer.status_code == 200}
    receipts = [writer.post({name: event[name] for name in event if name != "position"}) for event in events]
    assert {receipt["status"] for receipt in receipts} == {"duplicate"}
    return {"events": events, "turns": turns, "duplicates": receipts, "keys": writer.keys}


def read(event: dict[str, Any], name: str) -> str | None:
    for place in ("inputs", "outputs"):
        found = event["payload"].get(place)
        if isinstance(found, dict) and isinstance(found.get(name), str):
            return str(found[name]).lower()
    return None


def main(release: str, folder: Path) -> None:
    assert release == agent.__version__, f"this is the code of {agent.__version__}"
    path, beside = folder / f"{release}.db", folder / f"{release}.json"
    assert not path.exists()
    assert not beside.exists()
    writer = Writer(path)
    write(writer)
    beside.write_text(json.dumps(answers(writer), indent=1, ensure_ascii=False) + "\n")
    writer.http.close()
    writer.store.close()
    closed = sqlite3.connect(path)
    assert closed.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    closed.close()
    assert not list(folder.glob(f"{release}.db-*"))
    assert path.stat().st_size < LARGEST_FILE, path.stat().st_size


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
