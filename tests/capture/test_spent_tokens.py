"""The tokens of a capture are sums over the turns that say any."""

from __future__ import annotations

from typing import Any

import pytest

from agent.capture.spent_tokens import SpentTokens, spent_tokens


def turn(*counts: Any) -> dict[str, Any]:
    return {"token_usage": dict(zip(("prompt_tokens", "completion_tokens", "total_tokens"), counts, strict=True))}


@pytest.mark.parametrize(
    ("turns", "spent"),
    [
        ([{}, {}], SpentTokens(None, None)),
        ([turn(0, 0, 0)], SpentTokens(0, 0)),
        ([turn(12, 4, 16), {}, turn(1.0, 2, 3)], SpentTokens(13, 6)),
        ([turn(2**63 - 1, 1, 0), turn(1, 1, 2)], SpentTokens(None, 2)),
    ],
)
def test_the_tokens_of_a_capture_are_sums_and_none_where_no_turn_says_any(
    turns: list[dict[str, Any]], spent: SpentTokens
) -> None:
    assert spent_tokens({"turns": turns}) == spent
