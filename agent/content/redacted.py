"""The mode ``redacted`` (CONTRACT 8): what is found is replaced by its kind, a named parameter's value whole.

A number is looked at as its digits, since cards and phones come as JSON integers, too. What is left is looked at again
until nothing more is found, so that what is stored stays as it is when it is captured once more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from agent.content.found import Found
from agent.content.json_text import Edit, edits, is_json_text, with_literals
from agent.content.params_in_text import without_params
from agent.content.placeholder import PARAM, is_placeholder, placeholders_in, redacted

# In order, without overlaps.
Detect = Callable[[str], Sequence[Found]]

# Shorter ones are counts, years, places and amounts.
_FEWEST_DIGITS: Final = 9
# What one look uncovers the next one finds: twice in practice. Hostile texts do not get more looks than this.
_MOST_LOOKS: Final = 8
# Kinds of blocks come again and again, and a format keeps a text as its provider spelled it beside the content.
_MOST_KNOWN: Final = 4096


class Redacting:
    """Replaces what ``detect`` finds and the values of ``params``; ``counts`` says how many of which kind."""

    def __init__(self, detect: Detect, params: frozenset[str]) -> None:
        self._detect = detect
        self._params = params
        self._unchanged: set[str] = set()
        self.counts: Counter[str] = Counter()

    def text(self, content: str) -> str:
        """``content`` with placeholders for what is found in it; a text that is JSON stays JSON."""
        if not content or content in self._unchanged or is_placeholder(content):
            return content
        after = self._text(content)
        if after == content and len(self._unchanged) < _MOST_KNOWN:
            self._unchanged.add(content)
        return after

    def _text(self, content: str) -> str:
        if self._params and '"' in content:
            content, count = without_params(content, self._params)
            self._count(PARAM, count)
        if "\\" in content and is_json_text(content):
            # What its literals say, however it is spelled: an escape may hide what is looked for.
            content = with_literals(content, self.text)
        for _ in range(_MOST_LOOKS):
            found = _outside_placeholders(content, self._detect(content))
            if not found:
                break
            after = self._replaced(content, found)
            if after == content:
                break
            content = after
        return content

    def arguments(self, value: Any) -> Any:
        """``value`` with every string and number of it looked at."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {name: self.member(name, of_name) for name, of_name in value.items()}
        if isinstance(value, list):
            return [self.arguments(item) for item in value]
        return self._number(value)

    def member(self, name: str, value: Any) -> Any:
        """The value of ``name``: one placeholder where it is a parameter's, else as ``arguments``."""
        if name not in self._params:
            return self.arguments(value)
        if value is None or isinstance(value, bool) or (isinstance(value, str) and is_placeholder(value)):
            return value
        self._count(PARAM, 1)
        return redacted(PARAM)

    def _number(self, value: Any) -> Any:
        if value is None or isinstance(value, bool) or value != value // 1:
            return value
        digits = str(abs(int(value)))
        found = self._detect(digits) if len(digits) >= _FEWEST_DIGITS else ()
        if not found:
            return value
        self._count(found[0].kind, 1)
        return redacted(found[0].kind)

    def _replaced(self, text: str, found: Sequence[Found]) -> str:
        is_json = is_json_text(text)
        changes = edits(text, found) if is_json else (Edit(*each, is_number=False) for each in found)
        pieces: list[str] = []
        done = 0
        for start, end, kind, is_number in changes:
            pieces += (text[done:start], f'"{redacted(kind)}"' if is_number else redacted(kind))
            done = end
            self._count(kind, 1)
        return "".join((*pieces, text[done:])) if pieces else text

    def _count(self, kind: str, times: int) -> None:
        if times:
            self.counts[kind] += times


def _outside_placeholders(text: str, found: Sequence[Found]) -> Sequence[Found]:
    """``found`` without what lies inside of a placeholder: a password may be one."""
    placeholders = placeholders_in(text) if found else []
    if not placeholders:
        return found
    starts = [start for start, _ in placeholders]
    # The last one that begins at or before it: no other can hold it.
    return [each for each in found if each.end > _end_before(each.start, starts, placeholders)]


def _end_before(place: int, starts: list[int], placeholders: list[tuple[int, int]]) -> int:
    """Where the last placeholder ends that begins at ``place`` or before; -1 where there is none."""
    index = bisect_right(starts, place) - 1
    return placeholders[index][1] if index >= 0 else -1
