"""Which model takes how many tokens, by names as providers and gateways write them."""

from __future__ import annotations

import pytest

from agent.recall.tokens.exact import ENCODINGS
from agent.recall.tokens.models import AS_OF, TABLE, UNKNOWN_LIMIT, limit_of


@pytest.mark.parametrize(
    ("name", "tokens", "encoding"),
    [
        ("gpt-4o", 128_000, "o200k_base"),
        ("gpt-4o-2024-08-06", 128_000, "o200k_base"),
        ("openai/gpt-4o-mini", 128_000, "o200k_base"),
        ("openai:gpt-5-mini", 400_000, "o200k_base"),
        ("ft:gpt-4o-mini-2024-07-18:org::id", 128_000, "o200k_base"),
        ("gpt-4", 8_192, "cl100k_base"),
        ("gpt-4-0613", 8_192, "cl100k_base"),
        ("gpt-4-1106-preview", 128_000, "cl100k_base"),
        ("gpt-4.1-mini", 1_047_576, "o200k_base"),
        ("azure/gpt-35-turbo-16k", 16_385, "cl100k_base"),
        ("o1", 200_000, "o200k_base"),
        ("o1-mini-2024-09-12", 128_000, "o200k_base"),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", 200_000, None),
        ("claude-opus-4-20250514", 200_000, None),
        ("claude-opus-4-6", 1_000_000, None),
        ("anthropic/claude-opus-4.6", 1_000_000, None),
        ("models/gemini-2.5-pro", 1_048_576, None),
        ("google-gla:gemini-1.5-pro-002", 2_097_152, None),
        ("meta.llama3-1-70b-instruct-v1:0", 131_072, None),
        ("meta-llama/Meta-Llama-3-8B", 8_192, None),
        ("mistral.mistral-large-2402-v1:0", 32_768, None),
        ("deepseek-ai/DeepSeek-V3.2", 128_000, None),
        ("Qwen/Qwen2.5-72B-Instruct", 32_768, None),
        ("cohere.command-r-plus-v1:0", 128_000, None),
    ],
)
def test_a_model_is_known_by_its_longest_known_beginning(name: str, tokens: int, encoding: str | None) -> None:
    assert limit_of(name) == (tokens, True, encoding)


@pytest.mark.parametrize("name", ["", "my-own-model", "gpt-4omega", "gpt", "o11", "not-gpt-4o", "/", "us.anthropic."])
def test_a_model_that_is_not_known_has_the_smallest_usual_limit_and_no_encoding(name: str) -> None:
    assert limit_of(name) == (UNKNOWN_LIMIT, False, None)


def test_a_newer_model_of_a_known_family_has_no_more_than_the_family() -> None:
    assert limit_of("claude-opus-9").tokens == 200_000
    assert limit_of("gpt-5.9").tokens == 400_000


def test_every_row_is_found_by_its_own_beginning_and_has_a_source_and_a_date() -> None:
    assert AS_OF == "2026-11-28"
    for row in TABLE:
        assert limit_of(row.beginning) == (row.tokens, True, row.encoding)
        assert row.source.startswith("https://")
        assert row.beginning == row.beginning.lower()
        assert row.encoding is None or row.encoding in ENCODINGS
        assert row.tokens >= 4096


def test_no_beginning_stands_twice() -> None:
    assert len({row.beginning for row in TABLE}) == len(TABLE)
