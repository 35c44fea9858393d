"""That the checks check: each refuses what is wrong deep inside a document."""

from __future__ import annotations

from typing import Any

import pytest
from accepting import ACCEPTING

WRONG: list[tuple[str, Any]] = [
    ("openai-chat", {"messages": [{"role": "assistant", "content": [{"type": "text", "text": 1}]}]}),
    ("openai-chat", {"messages": [{"role": "tool", "content": "no id"}]}),
    ("openai-chat", {"messages": [{"role": "user", "content": "x", "of_ours": 1}]}),
    ("openai-responses", {"input": [{"type": "function_call", "name": "no_call_id", "arguments": "{}"}]}),
    ("openai-responses", {"input": [{"role": "user", "content": [{"type": "input_text", "text": None}]}]}),
    ("anthropic", {"messages": [{"role": "user", "content": [{"type": "tool_result", "content": "no id"}]}]}),
    ("anthropic", {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "b"}]}]}),
    ("anthropic", {"messages": [], "system": [{"text": "no type"}]}),
    ("gemini", {"contents": [{"role": "user", "parts": [{"texts": "x"}]}]}),
    ("bedrock-converse", {"messages": [{"role": "user", "content": [{"text": 1}]}]}),
    ("bedrock-converse", {"messages": [{"role": "user", "content": [{"of_ours": {}}]}]}),
    ("langchain", {"messages": [{"type": "nobody", "data": {"content": "x"}}]}),
    ("openai-agents", {"items": [{"type": "function_call", "name": "no_call_id", "arguments": "{}"}]}),
    ("google-adk", {"session": {"id": "s", "app_name": "a", "events": []}}),
    ("google-adk", {"session": {"id": "s", "app_name": "a", "user_id": "u", "events": [{"author": "a", "ours": 1}]}}),
    ("pydantic-ai", {"messages": [{"kind": "request", "parts": [{"part_kind": "nobody"}]}]}),
]


@pytest.mark.parametrize(("form", "document"), WRONG)
def test_what_is_wrong_inside_a_document_is_refused(form: str, document: Any) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011  # each vendor has its own
        ACCEPTING[form](document, exact=True)


def test_every_vendor_is_shown_to_refuse() -> None:
    assert {form for form, _ in WRONG} == ACCEPTING.keys()
