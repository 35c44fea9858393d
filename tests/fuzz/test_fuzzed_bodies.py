"""Mutated real bodies against the running function: no 5xx, no HTML, no long refusal, memory flat.

Half of them are damaged in their bytes, half in their structure, which leaves them JSON and takes them further in.

FUZZ_BODIES says how many (2 000 in the suite; `make fuzz` sends 10 000), FUZZ_SEED which ones.
"""

import copy
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil

from agent.formats import READS, format_named
from agent.formats.conversation.message import Conversation
from tests.conftest import TESTS, vectors
from tests.formats.round_trips import lines
from tests.live.host import function_host, stub_store
from tests.live.payloads import BASE_TEXT
from tests.published import check_response

BODIES = int(os.environ.get("FUZZ_BODIES", "2000"))
SEED = int(os.environ.get("FUZZ_SEED", "20261127"))
TOKENS = [
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\\",
    b"\\u",
    rb"\ud800",
    b"null",
    b"1e999",
    b"NaN",
    b"-",
    b"0",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"e",
    b"true",
    "\U0001f680".encode(),
]


def originals() -> list[tuple[str, bytes]]:
    """Bodies to start from: path and bytes, native and in every foreign format."""
    native = [
        ("/", BASE_TEXT.encode()),
        *(("/", json.dumps(vector["input"], ensure_ascii=False).encode()) for vector in vectors()),
    ]
    chats = [
        ("/?format=openai-chat", path.read_bytes())
        for path in sorted(Path(TESTS.parent, "examples", "data").glob("tau-*.json"))
    ]
    return native + chats + foreign()


def foreign() -> list[tuple[str, bytes]]:
    """The smallest real document of each format, as it is posted."""
    documents = [document for path in sorted(Path(TESTS, "data").glob("*.json*")) for document in documents_in(path)]
    found = []
    for name in READS:
        detects = format_named(name).detect
        known = sorted((json.dumps(document) for document in documents if detects(document)), key=len)
        known = [text for text in known if says_something(name, json.loads(text))]
        assert known, name
        document = json.loads(known[0])
        body = document if isinstance(document, dict) else {"records": document}
        found.append((f"/?format={name}", json.dumps({"session_id": "fuzzed", **body}).encode()))
    return found


def says_something(name: str, document: object) -> bool:
    found = list(format_named(name).read(document))
    return len(found) == 1 and isinstance(found[0], Conversation) and len(found[0].messages) > 1


def documents_in(path: Path) -> Iterator[object]:
    """What an importer might take for a conversation: a file, its elements or lines, and what is wrapped there."""
    documents = list(lines(path)) if path.suffix == ".jsonl" else [json.loads(path.read_text())]
    yield documents
    for document in documents:
        yield document
        yield from document if isinstance(document, list) else document.values() if isinstance(document, dict) else ()


def mutated(body: bytes, rng: random.Random) -> bytes:
    """``body`` with one to four local damages."""
    out = bytearray(body)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(out) + 1)
        kind = rng.randrange(6)
        if kind == 0 and out:
            out[min(at, len(out) - 1)] = rng.randrange(256)
        elif kind == 1:
            del out[at : at + rng.randint(1, 40)]
        elif kind == 2:
            out[at:at] = rng.choice(TOKENS)
        elif kind == 3:
            out[at:at] = out[rng.randrange(len(out) + 1) :][: rng.randint(1, 60)]
        elif kind == 4:
            del out[at:]
        else:
            token = rng.choice(TOKENS)
            out[at : at + len(token)] = token
    return bytes(out)


ODD_VALUES = [None, True, 0, -1, 1.5, 2**70, "", "x", "\u0000", "\U0001f680" * 9, [], {}, [[]], {"": None}, "a" * 300]


def restructured(body: bytes, rng: random.Random) -> bytes:
    """``body`` with one to three of its values replaced, taken away, or put where another stands."""
    document = json.loads(body)
    for _ in range(rng.randint(1, 3)):
        holders = [(holder, key) for holder in nodes(document) for key in keys(holder)]
        if not holders:
            break
        holder, key = rng.choice(holders)
        kind = rng.randrange(4)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            other, other_key = rng.choice(holders)
            holder[key] = copy.deepcopy(other[other_key])
        elif kind == 2 and isinstance(holder, dict):
            holder[rng.choice(["x", "metadata", "turn_id", "native_id", "parent_turn_id"])] = holder[key]
        else:
            holder[key] = copy.deepcopy(rng.choice(ODD_VALUES))
    return json.dumps(document, ensure_ascii=bool(rng.randrange(2))).encode()


def nodes(value: object) -> Iterator[dict | list]:
    """The objects and arrays in ``value``, itself first."""
    if isinstance(value, dict | list):
        yield value
        for member in value.values() if isinstance(value, dict) else value:
            yield from nodes(member)


def keys(holder: dict | list) -> list:
    """The keys or places of ``holder``."""
    return list(holder) if isinstance(holder, dict) else list(range(len(holder)))


def test_a_fuzzed_body_is_captured_or_refused_and_nothing_else(tmp_path):
    rng = random.Random(SEED)
    sources = originals()
    statuses: dict[int, int] = {}
    with (
        stub_store() as store,
        function_host(tmp_path, store=store.url, LOG_LEVEL="ERROR") as host,
        httpx.Client(base_url=host.url, timeout=30, event_hooks={"response": [check_response]}) as client,
    ):
        worker = psutil.Process(host.workers()[0])
        before = 0
        for number in range(BODIES):
            path, body = rng.choice(sources)
            damage = rng.choice([mutated, restructured])
            answer = client.post(path, content=damage(body, rng))
            statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
            assert answer.status_code in {200, 400, 413}, (SEED, number, answer.text[:300])
            assert answer.headers["content-type"] == "application/json"
            if answer.status_code != 200:
                assert len(answer.content) < 16 * 1024
            if number == BODIES // 4:
                before = worker.memory_info().rss
        grown = worker.memory_info().rss - before
    print(f"{BODIES} bodies, seed {SEED}: {statuses}, worker grew {grown / 2**20:.1f} MiB after the first quarter")
    assert len(store.writes) == statuses.get(200, 0)
    assert grown < 16 * 2**20
