"""The mode ``none`` (CONTRACT 8): of every text and number only how long it was, and under a key which one it was.

What is no string counts as its RFC 8785 form. What holds nothing stays: an empty text, booleans, null. A placeholder
that came stays, since an export may be captured again, but its hash goes: whose it is cannot be checked.
"""

from __future__ import annotations

import hmac
from typing import Any

from agent.content.placeholder import is_placeholder, omitted, without_digest
from agent.core.canonical import canonical


class Omitting:
    """Replaces content whole. ``hash_key`` makes an HMAC-SHA-256 of each, by which equal ones are known; None: none."""

    def __init__(self, hash_key: bytes | None) -> None:
        self._hash_key = hash_key

    def text(self, content: str) -> str:
        """The placeholder for a string of so many code points; an empty one is empty (CONTRACT 9 needs it so)."""
        if not content:
            return content
        if is_placeholder(content):
            return without_digest(content)
        return self._placeholder(len(content), content.encode())

    def arguments(self, value: Any) -> Any:
        """One placeholder for arguments of any shape."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self.text(value)
        form = b"%d" % value if isinstance(value, int) else canonical(value)
        return self._placeholder(len(form.decode()), form)

    def member(self, _: str, value: Any) -> Any:
        """``value`` with a placeholder for every string and number in it."""
        if isinstance(value, dict):
            return {name: self.member(name, of_name) for name, of_name in value.items()}
        if isinstance(value, list):
            return [self.member("", item) for item in value]
        return self.arguments(value)

    def _placeholder(self, characters: int, form: bytes) -> str:
        digest = None if self._hash_key is None else hmac.digest(self._hash_key, form, "sha256").hex()
        return omitted(characters, digest)
