"""Documents that a vendor's newest types refuse, each with the reason: nothing else is refused, and each of these is.

By format; the name of a document, how it was written (``tests/formats/for_vendors.py``), and why.
"""

from __future__ import annotations

_MISTRAL = "an answer of Mistral: calls without a type, or null for none, and parts with its thinking"
_XAI = "an answer of xAI: a call of its interpreter as a function's, with arguments and no container"
_OPENROUTER = "sent to OpenRouter, which takes videos"

REFUSED: dict[str, dict[tuple[str, str], str]] = {
    "openai-chat": {
        ("tests/data/api-response__vercel-ai__20.jsonl#13.0", "stored"): _MISTRAL,
        ("shared/data/api-response__vercel-ai__64.jsonl#38.0", "stored"): _MISTRAL,
        ("shared/data/api-response__vercel-ai__64.jsonl#39.0", "stored"): _MISTRAL,
        ("shared/data/api-recording__pydantic-ai__openai-chat__20.jsonl#10.0", "stored"): _MISTRAL,
        ("shared/data/api-recording__pydantic-ai__openai-chat__20.jsonl#18.0", "stored"): _OPENROUTER,
    },
    "openai-responses": {
        ("shared/data/api-response__vercel-ai__64.jsonl#62.0", "stored"): _XAI,
    },
}
