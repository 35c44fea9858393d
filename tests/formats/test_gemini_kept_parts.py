"""What was kept of a Gemini content may have been changed since: then the content is made of what the turn says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.round_trips import again, spoken, stored, written
from tests.formats.test_otel_genai import with_natives

CALLED = {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {"city": "Oslo"}}}]}
ANSWERED = {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"output": "dry"}}}]}
CHAT = {"contents": [{"role": "user", "parts": [{"text": "Weather?"}]}, CALLED, ANSWERED]}


def response(name: str) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": "dry"}}}


@pytest.mark.parametrize(
    "kept",
    [
        {"at": "0"},
        {"at": [0, 1, 2]},
        {"at": [True]},
        {"fields": ["role"]},
        {"parts": "dry"},
        {"parts": [None, None]},
        {"parts": [7]},
        {"parts": [{"text": "dry"}], "fields": {"role": "function"}},
        {"parts": [response("news")]},
        {"parts": [{"functionResponse": {"name": "weather", "response": {"error": "dry"}}}]},
    ],
    ids=[
        "places that are no list",
        "more places than parts",
        "places that are no numbers",
        "members that are no object",
        "parts that are no list",
        "more parts than the turn makes",
        "a part that is no object",
        "text where there was a result",
        "the result of another function",
        "an error where there was none",
    ],
)
def test_what_is_kept_and_says_something_else_than_the_turn_is_not_given_back(kept):
    with stored("gemini", CHAT) as session:
        changed = with_natives(session, lambda native: {**(native or {}), **kept})
        document, _ = written("gemini", changed)
        assert document["contents"][2] == ANSWERED
        assert again("gemini", document) == spoken(session)
