"""A query without the names of those who talk: every message says one, so they tell no message from another.

Yet they weigh much in the meaning of a short question, which is then near to whatever says a name. No list of names: a
name is a word with a capital that many messages have. A script without capitals has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

# In a fifth of the texts; and in a short conversation chance would do that.
_SHARE: Final = 5
_LEAST: Final = 10
_WORD: Final = re.compile(r"([^\W_]+)(?:['\u2019]s\b)?")


def nameless(query: str, texts: Sequence[str]) -> str | None:
    """``query`` without the words with a capital that a fifth of ``texts`` have; None where nothing goes, or all."""
    least = max(_LEAST, -(-len(texts) // _SHARE))
    capital = {word for word in _WORD.findall(query) if word[0].isupper()}
    names = {word for word in capital if sum(word in text for text in texts) >= least}
    if not names:
        return None
    left = _WORD.sub(lambda found: "" if found[1] in names else found[0], query)
    return " ".join(left.split()) if _WORD.search(left) else None
