"""What a turn keeps of its message holds nothing that another turn says: erasing that one would leave it there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.formats.corpus import documents, folders
from tests.formats.round_trips import captures

FORMS = ("chatgpt-export", "codex", "gemini", "google-adk")
# Shorter ones are names and states, which messages have of their own.
MIN_CHARACTERS = 12


def strings(value: Any) -> Iterator[str]:
    """All strings in ``value``, names of members too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


def said_by(turn: dict[str, Any]) -> set[str]:
    """The texts of a turn: what it says, and what its calls send."""
    sent = [text for entry in turn.get("tool_invocations", ()) for text in strings(entry.get("arguments"))]
    return {text for text in (turn["content"], *sent) if len(text) >= MIN_CHARACTERS}


@pytest.mark.parametrize("form", FORMS)
def test_no_turn_keeps_what_another_says(form: str) -> None:
    for folder in folders():
        for each in documents(folder, form):
            for payload in captures(form, each.document):
                said = [said_by(turn) for turn in payload["turns"]]
                for turn, own in zip(payload["turns"], said, strict=True):
                    others = {text for texts in said for text in texts if text not in own}
                    kept = set(strings(turn.get("metadata", {}).get("native")))
                    found = {text for text in others for value in kept if text in value and text not in turn["content"]}
                    assert not found, (each.name, turn["turn_id"], found)
