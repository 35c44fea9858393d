"""The base payload of the field cases, and one-change variants of it."""

import copy
import json
import uuid
from typing import Any

BASE_TEXT = """{"session_id":"6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61",
"conversation_id":"b7a1e0d4-5c39-4e82-8f16-2d7c9b0a4e13","turns":[
 {"turn_id":"0e9d8c7b-6a54-4321-9fed-cba987654321","role":"user","content":"Where is parcel 4471?",
  "timestamp":"2026-03-02T08:15:00Z"},
 {"turn_id":"1f2e3d4c-5b6a-4798-8a9b-acbdcedfe0f1","role":"assistant","content":"Let me check.",
  "timestamp":"2026-03-02T08:15:02Z","model":"m-1",
  "token_usage":{"prompt_tokens":12,"completion_tokens":4,"total_tokens":16}}]}"""
BASE_HASH = "ab09df12fae55937dc2b7bb2b5d04b73a3a4e5810e4df8ba19087b8f87fb4fe5"


def base() -> dict[str, Any]:
    """The base payload, yours to change."""
    payload: dict[str, Any] = json.loads(BASE_TEXT)
    return payload


def own_session(payload: dict[str, Any] | None = None) -> dict[str, Any]:
    """A copy of ``payload`` (the base) under a session and turns of its own, so that tests do not meet."""
    fresh = copy.deepcopy(payload or base())
    fresh["session_id"] = str(uuid.uuid4())
    for turn in fresh["turns"]:
        turn["turn_id"] = str(uuid.uuid4())
    return fresh


def encoded(payload: Any) -> bytes:
    return json.dumps(payload, ensure_ascii=False).encode()
