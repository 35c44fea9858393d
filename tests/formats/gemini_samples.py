"""Contents as the API, its Python SDK and the Agent Development Kit write them, and JSON that is nearly that."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from tests.strategies import json_values

PARALLEL: dict[str, Any] = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "contents": [
        {
            "role": "user",
            "parts": [{"text": "Rome and Oslo?"}, {"fileData": {"fileUri": "gs://b/m", "mimeType": "image/png"}}],
        },
        {
            "role": "model",
            "parts": [
                {"text": "They differ.", "thought": True},
                {"text": "Let me look."},
                {
                    "functionCall": {"name": "weather", "args": {"city": "Rome", "days": 1.0}},
                    "thoughtSignature": "c2ln",
                },
                {"functionCall": {"name": "weather", "args": {"city": "Oslo"}}},
                {"functionCall": {"name": "now"}},
            ],
        },
        {
            "role": "function",
            "parts": [
                {"functionResponse": {"name": "weather", "response": {"output": "sun"}}},
                {"functionResponse": {"name": "weather", "response": {"error": "no station"}}},
                {"functionResponse": {"name": "now", "response": {"hour": 7, "minute": 0.0}}},
                {"text": "Hurry."},
            ],
        },
        {
            "role": "model",
            "parts": [
                {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
                {"text": "Sun in Rome."},
                {"text": "Nothing from Oslo."},
            ],
        },
    ],
    "generationConfig": {"temperature": 0},
}

SNAKE: dict[str, Any] = {
    "model": "gemini-2.5-pro",
    "config": {"system_instruction": "Be brief.", "temperature": 0.5},
    "contents": [
        {"parts": [{"text": "Look", "thought": None}, {"inline_data": {"mime_type": "image/png", "data": "_-8="}}]},
        {"role": "model", "parts": [{"function_call": {"id": "c1", "name": "look", "args": {"n": 1}}}]},
        {
            "role": "user",
            "parts": [{"text": "first"}, {"function_response": {"id": "c1", "name": "look", "response": {"a": None}}}],
        },
        {"role": "model", "parts": [{"function_call": {"id": "look", "name": "look", "args": {}}}]},
        {"role": "user", "parts": [{"function_response": {"name": "look", "response": {}}, "part_metadata": {"k": 1}}]},
        {"role": "model", "parts": []},
        {"role": "system", "parts": [{"text": "Stay brief."}]},
        {"role": "model", "parts": None},
        {"role": "model"},
        {"parts": [{"function_call": {"name": "look", "args": "odd"}}, {"text": ""}]},
    ],
}

SAMPLES = [PARALLEL, SNAKE]


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The place of every value in ``value``."""
    found = [at]
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        found += places(member, (*at, key))
    return found


@st.composite
def nearly(draw: st.DrawFn, document: Any, odd: st.SearchStrategy[Any] | None = None) -> Any:
    """``document`` with some values replaced, dropped or doubled."""
    changed = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(places(changed)))
        if not place:
            continue
        holder = changed
        for key in place[:-1]:
            holder = holder[key]
        what = draw(st.sampled_from(["replace", "replace", "drop", "again"]))
        if what == "drop":
            del holder[place[-1]]
        elif what == "again" and isinstance(holder, list):
            holder.insert(place[-1], copy.deepcopy(holder[place[-1]]))
        else:
            holder[place[-1]] = copy.deepcopy(draw(json_values if odd is None else odd | json_values))
    return changed
