"""How many tokens the turns of a capture say that they took, for its span: nothing else is decided by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

# An attribute of a span is a whole number of 64 bits; a sum of such numbers may be none.
_LARGEST: Final = 2**63 - 1


class SpentTokens(NamedTuple):
    """Sums over the turns that carry ``token_usage``; None where none does, or where the sum leaves 64 bits."""

    input: int | None
    output: int | None


def spent_tokens(payload: Mapping[str, Any]) -> SpentTokens:
    """The sums of ``prompt_tokens`` and ``completion_tokens`` in ``payload``, a validated native payload."""
    usages = [usage for turn in payload["turns"] if (usage := turn.get("token_usage")) is not None]
    return SpentTokens(_sum(usages, "prompt_tokens"), _sum(usages, "completion_tokens"))


def _sum(usages: list[Mapping[str, Any]], name: str) -> int | None:
    if not usages:
        return None
    total = sum(int(usage[name]) for usage in usages)
    return total if total <= _LARGEST else None
