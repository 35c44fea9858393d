"""How many tokens a model takes, question and answer together, and which encoding it counts by: a table with sources.

A name is found by its longest known beginning that ends where a part of the name does, so that dates and suffixes need
no row of their own: ``gpt-4o-2024-08-06`` is a ``gpt-4o``, and no ``gpt-4``. Names with their provider before them, as
gateways and Bedrock write them, are the same names. A newer model of a known family has its family's smallest limit.
An encoding is named only where it is known to be the model's own: what Claude and Gemini count by is not published.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

UNKNOWN_LIMIT: Final = 8192
# The day of the table. Not every address could be read on it: ``source`` is where the provider says it, and a row of an
# older model is as it was published.
AS_OF: Final = "2026-11-28"

_O200K: Final = "o200k_base"
_CL100K: Final = "cl100k_base"
# Encodings: openai/tiktoken, tiktoken/model.py; for those after gpt-5 nothing is published there.
_OPENAI: Final = "https://platform.openai.com/docs/models"
_GPT_OSS: Final = "https://openai.com/index/gpt-oss-model-card/"
_CLAUDE: Final = "https://platform.claude.com/docs/en/build-with-claude/context-windows"
_GEMINI: Final = "https://ai.google.dev/gemini-api/docs/models"
_LLAMA: Final = "https://huggingface.co/meta-llama"
_MISTRAL: Final = "https://docs.mistral.ai/getting-started/models/models_overview/"
_DEEPSEEK: Final = "https://api-docs.deepseek.com/quick_start/pricing"
_QWEN: Final = "https://www.alibabacloud.com/help/en/model-studio/models"
_COHERE: Final = "https://docs.cohere.com/docs/models"
_XAI: Final = "https://docs.x.ai/docs/models"


class ModelLimit(NamedTuple):
    """``tokens`` that the model takes; where it is not ``known``, the smallest usual number. ``encoding``: its own."""

    tokens: int
    known: bool
    encoding: str | None


class Row(NamedTuple):
    """A line of the table. ``beginning`` is that of the names, in lower case; ``source`` an address."""

    beginning: str
    tokens: int
    encoding: str | None
    source: str


TABLE: Final = (
    Row("gpt-3.5-turbo", 16_385, _CL100K, _OPENAI),
    Row("gpt-3.5-turbo-0613", 4_096, _CL100K, _OPENAI),
    Row("gpt-3.5-turbo-instruct", 4_096, _CL100K, _OPENAI),
    # As Azure spells it.
    Row("gpt-35-turbo", 16_385, _CL100K, _OPENAI),
    Row("gpt-4", 8_192, _CL100K, _OPENAI),
    Row("gpt-4-32k", 32_768, _CL100K, _OPENAI),
    Row("gpt-4-turbo", 128_000, _CL100K, _OPENAI),
    Row("gpt-4-1106-preview", 128_000, _CL100K, _OPENAI),
    Row("gpt-4-0125-preview", 128_000, _CL100K, _OPENAI),
    Row("gpt-4-vision-preview", 128_000, _CL100K, _OPENAI),
    Row("gpt-4o", 128_000, _O200K, _OPENAI),
    Row("chatgpt-4o", 128_000, _O200K, _OPENAI),
    Row("gpt-4.1", 1_047_576, _O200K, _OPENAI),
    Row("gpt-4.5", 128_000, _O200K, _OPENAI),
    Row("o1", 200_000, _O200K, _OPENAI),
    Row("o1-mini", 128_000, _O200K, _OPENAI),
    Row("o1-preview", 128_000, _O200K, _OPENAI),
    Row("o3", 200_000, _O200K, _OPENAI),
    Row("o4-mini", 200_000, _O200K, _OPENAI),
    Row("codex-mini", 200_000, None, _OPENAI),
    Row("gpt-5", 400_000, _O200K, _OPENAI),
    Row("gpt-5-chat", 128_000, _O200K, _OPENAI),
    Row("gpt-5.1", 400_000, None, _OPENAI),
    Row("gpt-5.1-chat", 128_000, None, _OPENAI),
    Row("gpt-5.2", 400_000, None, _OPENAI),
    Row("gpt-5.2-chat", 128_000, None, _OPENAI),
    Row("gpt-5.3", 400_000, None, _OPENAI),
    Row("gpt-5.4", 1_050_000, None, _OPENAI),
    Row("gpt-5.4-mini", 400_000, None, _OPENAI),
    Row("gpt-5.4-nano", 400_000, None, _OPENAI),
    Row("gpt-5.5", 1_000_000, None, _OPENAI),
    Row("gpt-5.6", 1_050_000, None, _OPENAI),
    Row("gpt-oss", 131_072, _O200K, _GPT_OSS),
    Row("claude", 200_000, None, _CLAUDE),
    Row("claude-2", 100_000, None, _CLAUDE),
    Row("claude-2.1", 200_000, None, _CLAUDE),
    Row("claude-instant", 100_000, None, _CLAUDE),
    Row("claude-opus-4.6", 1_000_000, None, _CLAUDE),
    Row("claude-opus-4.7", 1_000_000, None, _CLAUDE),
    Row("claude-opus-4.8", 1_000_000, None, _CLAUDE),
    Row("claude-opus-5", 1_000_000, None, _CLAUDE),
    Row("claude-sonnet-4.6", 1_000_000, None, _CLAUDE),
    Row("claude-sonnet-5", 1_000_000, None, _CLAUDE),
    Row("claude-fable-5", 1_000_000, None, _CLAUDE),
    Row("claude-mythos-5", 1_000_000, None, _CLAUDE),
    Row("gemini", 1_048_576, None, _GEMINI),
    Row("gemini-1.0-pro", 32_760, None, _GEMINI),
    Row("gemini-pro", 32_760, None, _GEMINI),
    Row("gemini-1.5-pro", 2_097_152, None, _GEMINI),
    Row("gemini-2.5-flash-image", 65_536, None, _GEMINI),
    Row("gemini-3-pro-image", 65_536, None, _GEMINI),
    Row("gemma-3", 131_072, None, _GEMINI),
    Row("gemma-3-1b", 32_768, None, _GEMINI),
    Row("llama-2", 4_096, None, _LLAMA),
    Row("llama-3", 8_192, None, _LLAMA),
    Row("llama-3.1", 131_072, None, _LLAMA),
    Row("llama-3.2", 131_072, None, _LLAMA),
    Row("llama-3.3", 131_072, None, _LLAMA),
    Row("llama-4-maverick", 1_048_576, None, _LLAMA),
    Row("llama-4-scout", 10_485_760, None, _LLAMA),
    Row("mistral-7b", 32_768, None, _MISTRAL),
    Row("mixtral-8x7b", 32_768, None, _MISTRAL),
    Row("mixtral-8x22b", 65_536, None, _MISTRAL),
    Row("mistral-nemo", 131_072, None, _MISTRAL),
    Row("open-mistral-nemo", 131_072, None, _MISTRAL),
    Row("mistral-small", 32_768, None, _MISTRAL),
    Row("mistral-small-2503", 131_072, None, _MISTRAL),
    Row("mistral-small-2506", 131_072, None, _MISTRAL),
    Row("mistral-medium", 131_072, None, _MISTRAL),
    Row("mistral-large", 131_072, None, _MISTRAL),
    Row("mistral-large-2402", 32_768, None, _MISTRAL),
    Row("ministral", 131_072, None, _MISTRAL),
    Row("pixtral", 131_072, None, _MISTRAL),
    Row("codestral", 256_000, None, _MISTRAL),
    Row("deepseek", 65_536, None, _DEEPSEEK),
    Row("deepseek-chat", 128_000, None, _DEEPSEEK),
    Row("deepseek-reasoner", 128_000, None, _DEEPSEEK),
    Row("deepseek-v3.1", 128_000, None, _DEEPSEEK),
    Row("deepseek-v3.2", 128_000, None, _DEEPSEEK),
    Row("deepseek-v4", 1_048_576, None, _DEEPSEEK),
    Row("qwen2.5", 32_768, None, _QWEN),
    Row("qwen3", 32_768, None, _QWEN),
    Row("qwen3-max", 262_144, None, _QWEN),
    Row("qwen-max", 32_768, None, _QWEN),
    Row("qwen-plus", 131_072, None, _QWEN),
    Row("qwen-turbo", 131_072, None, _QWEN),
    Row("command-r", 128_000, None, _COHERE),
    Row("command-r-plus", 128_000, None, _COHERE),
    Row("command-r7b", 128_000, None, _COHERE),
    Row("command-a", 256_000, None, _COHERE),
    Row("grok-2", 131_072, None, _XAI),
    Row("grok-3", 131_072, None, _XAI),
    Row("grok-4", 256_000, None, _XAI),
)

# Before a name: paths (``models/``, ``openai/``, ``accounts/x/models/``), ``provider:``, ``ft:``, and on Bedrock the
# region and the vendor (``us.anthropic.``).
_PATH: Final = re.compile(r".*/")
_PROVIDER: Final = re.compile(
    r"(?:ft|openai|azure|azure_openai|anthropic|bedrock|google[a-z_-]*|mistralai|cohere|xai):"
)
_VENDOR: Final = re.compile(r"(?:[a-z]{2,6}\.)?(?:ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen)\.")
# Bedrock and others write ``llama3-1``, where Meta writes ``Llama-3.1``.
_LLAMA_NUMBER: Final = re.compile(r"\A(?:meta-)?llama-?(?=\d)")
_PARTS: Final = re.compile(r"[.@:_-]")


def limit_of(model: str) -> ModelLimit:
    """What is known of ``model``, whoever offers it; one that is not known takes ``UNKNOWN_LIMIT``."""
    name = _plain(model)
    found = max(
        (row for row in TABLE if _begins(name, row.beginning)), key=lambda row: len(row.beginning), default=None
    )
    if found is None:
        return ModelLimit(UNKNOWN_LIMIT, known=False, encoding=None)
    return ModelLimit(found.tokens, known=True, encoding=found.encoding)


def _plain(model: str) -> str:
    name = _PATH.sub("", model.strip().lower())
    for before in (_PROVIDER, _VENDOR):
        found = before.match(name)
        name = name[found.end() :] if found else name
    return _PARTS.sub("-", _LLAMA_NUMBER.sub("llama-", name))


def _begins(name: str, beginning: str) -> bool:
    plain = _PARTS.sub("-", beginning)
    return name.startswith(plain) and not name[len(plain) : len(plain) + 1].isalnum()
