"""The real messages that are judged by hand: a fixed sample of the shared data, without what is held out.

``python -m tests.content.sampled`` runs the detectors over them and prints each hit in its surroundings, to be judged;
``judged.jsonl`` names the same messages by file and place, and says of each hit what a person said of it.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.content.scoring import labelled

# As in tests/conftest.py.
SHARED = Path(os.environ.get("SHARED_DIR", Path(__file__).parents[3] / "shared")) / "data"
SEED = 9
SHORTEST = 20
OUTSIDE, WITHIN = 300, 100


class Message(NamedTuple):
    """A string of ``file``: ``place`` is its line (none for a file that is one document) and the names down to it."""

    file: str
    place: str
    text: str


def messages(folder: Path) -> Iterator[Message]:
    """Every string of at least ``SHORTEST`` characters in the files of ``folder``, in order."""
    for path in sorted([*folder.glob("*.json"), *folder.glob("*.jsonl")]):
        content = path.read_text(encoding="utf-8")
        lines = (
            [("", content)]
            if path.suffix == ".json"
            else [(str(number), line) for number, line in enumerate(content.split("\n"), 1) if line.strip()]
        )
        for number, line in lines:
            try:
                document = json.loads(line)
            except ValueError:
                continue
            yield from _strings(path.name, number, document)


def _strings(file: str, place: str, value: Any) -> Iterator[Message]:
    if isinstance(value, str) and len(value) >= SHORTEST:
        yield Message(file, place, value)
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _strings(file, f"{place}/{name}", member)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(file, f"{place}/{index}", item)


def sample(folder: Path, count: int) -> list[Message]:
    """``count`` different ones by a fixed seed; none that holds a text of the half that is held out."""
    held_out = [text["text"] for text in labelled("held_out") if text["real"] and len(text["text"]) >= SHORTEST]
    by_text = {message.text: message for message in messages(folder)}
    drawn = sorted(by_text.values())
    random.Random(SEED).shuffle(drawn)
    taken: list[Message] = []
    for message in drawn:
        if len(taken) == count:
            break
        if not any(text in message.text for text in held_out):
            taken.append(message)
    return taken


def main() -> None:
    from agent.content.detectors import find

    folder, count = (SHARED / "nc", WITHIN) if "nc" in sys.argv[1:] else (SHARED, OUTSIDE)
    for number, message in enumerate(sample(folder, count), 1):
        for hit in find(message.text):
            around = message.text[max(0, hit.start - 40) : hit.start], message.text[hit.end : hit.end + 20]
            shown = f"{around[0]}>>>{message.text[hit.start : hit.end]}<<<{around[1]}"
            print(number, message.file, message.place, hit.kind, json.dumps(shown, ensure_ascii=False))


if __name__ == "__main__":
    main()
