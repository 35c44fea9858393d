"""Token counts as providers write them, as CONTRACT 1 has them: all three, or none."""

from __future__ import annotations

from typing import Any, Final

from agent.core.numbers import whole_number

_OURS: Final = ("prompt_tokens", "completion_tokens", "total_tokens")
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


def turn_usage(usage: Any) -> dict[str, Any] | None:
    """The ``token_usage`` of a turn, its three counts as integers; None where another writer left something else.

    What stands beside the three stays: a writer that cannot say it counts the whole as lost.
    """
    if not isinstance(usage, dict):
        return None
    counts = {name: _tokens(whole_number(usage.get(name))) for name in _OURS}
    return None if None in counts.values() else {**usage, **counts}
