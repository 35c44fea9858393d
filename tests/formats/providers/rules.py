"""What the provider of a format would refuse of a document that we wrote: ``problems(format_name, document)``.

The vendors' types (``make vendors``) look at one message at a time. Here stands what a provider says of the whole list,
from its documentation and from the errors that it answers. Each reads the document alone, and knows nothing of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.formats.providers import blocks, chat, contents, items, records

_OF: dict[str, Callable[[Any], list[str]]] = {
    "openai-chat": chat.openai_chat,
    "langchain": chat.langchain,
    "openai-responses": items.openai_responses,
    "openai-agents": items.openai_agents,
    "anthropic": blocks.anthropic,
    "bedrock-converse": blocks.bedrock_converse,
    "gemini": contents.gemini,
    "google-adk": contents.google_adk,
    "pydantic-ai": records.pydantic_ai,
    "otel-genai": records.otel_genai,
    "openinference": records.openinference,
    "sharegpt": records.sharegpt,
}
FORMATS = tuple(_OF)


def problems(format_name: str, document: Any) -> list[str]:
    """What is wrong with ``document``; nothing where its provider takes it. LookupError for another format."""
    return _OF[format_name](document)
