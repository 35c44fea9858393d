"""What people, models and tools really said, as texts to write and to read back."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def texts_of(messages: list[Any]) -> list[str]:
    """The contents of a list of messages that are texts."""
    return [message["content"] for message in messages if isinstance(message.get("content"), str)]


def shared_texts(shared: Path) -> Iterator[list[str]]:
    """Every string of every line file of the shared data, whatever it is there: each once, by file."""
    for path in sorted((shared / "data").glob("*.jsonl")):
        found: dict[str, None] = {}
        for line in path.read_text().split("\n"):
            # One of the files ends with an empty line; lone surrogates are no text that a capture takes.
            found.update((text, None) for text in (_strings(json.loads(line)) if line.strip() else ()))
        yield list(found)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if not any("\ud800" <= character <= "\udfff" for character in value):
            yield value
        return
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _strings(member)
