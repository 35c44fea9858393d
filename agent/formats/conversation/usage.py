"""Token counts as providers write them, as CONTRACT 1 has them: all three, or none."""

from __future__ import annotations

from typing import Any, Final

MAX_TOKENS: Final = 2**63 - 1


def token_usage(counts: Any, prompt: str, completion: str, total: str | None = None) -> dict[str, int] | None:
    """``{prompt_tokens, completion_tokens, total_tokens}`` from the members of ``counts`` with these names.

    The total is the sum where nobody states it. None where ``counts`` has not both parts as whole numbers.
    """
    if not isinstance(counts, dict):
        return None
    sent, answered = _tokens(counts.get(prompt)), _tokens(counts.get(completion))
    if sent is None or answered is None:
        return None
    stated = None if total is None else _tokens(counts.get(total))
    whole = sent + answered if stated is None else stated
    if whole > MAX_TOKENS:
        return None
    return {"prompt_tokens": sent, "completion_tokens": answered, "total_tokens": whole}


def _tokens(value: Any) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS
    return value if whole else None
