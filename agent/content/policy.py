"""How much of the content an operator lets be stored (CONTRACT 8)."""

from __future__ import annotations

from typing import Final, NamedTuple

# From the widest to the narrowest.
MODES: Final = ("full", "redacted", "none")


class ContentPolicy(NamedTuple):
    """The operator's ``mode``; ``hash_key`` is that of the HMAC in what is omitted, None where none is set.

    ``params`` are the names of parameters whose values are redacted, whatever they look like (``redaction.params``).
    """

    mode: str = "full"
    hash_key: bytes | None = None
    params: frozenset[str] = frozenset()

    def held(self, asked: str | None) -> str:
        """The mode that holds for a capture that asks for ``asked``: the narrower of both."""
        if asked is None or asked == self.mode:
            return self.mode
        return max(self.mode, asked, key=MODES.index)


FULL: Final = ContentPolicy()
