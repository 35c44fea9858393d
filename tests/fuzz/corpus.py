"""What mutation starts from: real bodies of tests/data, examples and the golden vectors, and the texts in them."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from agent.formats import READS, format_named
from agent.formats.conversation.message import Conversation
from tests.conftest import TESTS, vectors
from tests.formats.round_trips import lines
from tests.live.payloads import BASE_TEXT

NATIVE = "native"
# Longer ones cost more than they find: what a reader does it does to two messages, too.
LONGEST_TEXT = 4_000


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
    return native + chats + [(f"/?format={name}", body) for name, body in foreign(1)]


def bodies() -> list[tuple[str, bytes]]:
    """Bodies with the names of their formats; of each foreign one several, the smallest that say something."""
    native = [(NATIVE, body) for path, body in originals() if path == "/"]
    return native + foreign(4)


@functools.cache
def foreign(most: int) -> list[tuple[str, bytes]]:
    """The ``most`` smallest real documents of each format, as they are posted."""
    documents = [document for path in sorted(Path(TESTS, "data").glob("*.json*")) for document in documents_in(path)]
    found = []
    for name in READS:
        detects = format_named(name).detect
        texts = sorted({json.dumps(document) for document in documents if detects(document)}, key=lambda t: (len(t), t))
        known = list(islice((text for text in texts if says_something(name, json.loads(text))), most))
        assert known, name
        for text in known:
            document = json.loads(text)
            body = document if isinstance(document, dict) else {"records": document}
            found.append((name, json.dumps({"session_id": "fuzzed", **body}).encode()))
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


@functools.cache
def texts() -> list[str]:
    """What people, models and tools said: the texts labelled for redaction, and strings of the bodies."""
    labelled = Path(TESTS, "content", "labelled", "development.jsonl")
    found = [json.loads(line)["text"] for line in labelled.read_text().splitlines()]
    for _, body in bodies():
        found += [text for text in strings(json.loads(body)) if len(text) > 40]
    return sorted({text[:LONGEST_TEXT] for text in found})


def strings(value: Any) -> Iterator[str]:
    """All strings in ``value``, no keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from strings(member)


def saved(target: str) -> list[bytes]:
    """Inputs of ``target`` that once failed, and are looked at first from then on."""
    return [path.read_bytes() for path in sorted(Path(__file__).with_name("found").glob(f"{target}-*"))]
