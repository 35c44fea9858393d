r"""Which patterns are refused: those that do not compile, and those that can take very long on some text.

The expressions of ``re`` try one way after another. A repeat inside a repeat, ``(\d+)+``, doubles the ways with each
character; so does a repeat over alternatives, ``(a|ab)*``. Both are refused, and so are references back, verbose
patterns, and those whose repeats, options and alternatives together have more ways than three long repeats. A pattern
is still its operator's word: it is not judged further than this. The texts are the users', and 120 characters at most
(``agent.core.waiting.patterns``).
"""

from __future__ import annotations

import re
from typing import Final

_LONGEST: Final = 300
# What a pattern is matched against is no longer.
MOST_CHARACTERS: Final = 120
_MOST_WAYS: Final = 2 * (MOST_CHARACTERS + 1) ** 3
_SET: Final = re.compile(r"\[\^?+\]?+(?:\\.|[^\]\\])*+\]", re.DOTALL)
_NESTED: Final = re.compile(r"\[(?!\Z)|--|&&|~~|\|\|")
_OPENING: Final = re.compile(r"\((?:\?(?:P<\w+>|<?[=!]|:|>|[aiLmsux]*-?[imsx]*:))?")
_FLAGS: Final = re.compile(r"\(\?([aiLmsux]+)\)")
_TIMES: Final = re.compile(r"\{(\d*)(,?)(\d*)\}")
_BACK: Final = re.compile(r"\\[1-9]|\(\?P=|\(\?\(")


def refused(pattern: str) -> str | None:
    """Why ``pattern`` is not taken, or None."""
    if not pattern.strip():
        return "is empty"
    if len(pattern) > _LONGEST:
        return f"is longer than {_LONGEST} characters"
    reason = _Reading(pattern).reason()
    if reason is not None:
        return reason
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return "is no regular expression"
    return None


class _Reading:
    """One walk over a pattern, which remembers for each open group whether what it holds can vary in length or way."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._place = 0
        self._varies = [False]
        self._last_varies = False
        self._ways = 1

    def reason(self) -> str | None:
        while self._place < len(self._pattern):
            found = self._step()
            if found is not None:
                return found
        return "may be matched in too many ways" if self._ways > _MOST_WAYS else None

    def _step(self) -> str | None:
        here = self._pattern[self._place]
        if _BACK.match(self._pattern, self._place):
            return "refers back to a group"
        if here == "\\":
            self._atom(2)
        elif here == "[":
            return self._set()
        elif here == "(":
            return self._open()
        elif here == ")":
            self._close()
        elif here in "*+?{":
            return self._repeat()
        else:
            # Alternatives are several ways through their group.
            self._varies[-1] |= here == "|"
            self._ways += self._ways * (here == "|")
            self._atom(1)
        return None

    def _atom(self, length: int) -> None:
        self._place += length
        self._last_varies = False

    def _set(self) -> str | None:
        whole = _SET.match(self._pattern, self._place)
        if whole is None:
            return "is no regular expression"
        if _NESTED.search(whole[0], 1):
            return "has a set inside a set"
        self._atom(len(whole[0]))
        return None

    def _open(self) -> str | None:
        flags = _FLAGS.match(self._pattern, self._place)
        opening = flags or _OPENING.match(self._pattern, self._place)
        if opening is None or (opening[0] == "(" and self._pattern.startswith("(?", self._place)):
            return "has a group of a kind that is not taken"
        if "x" in opening[0].partition("P<")[0]:
            return "is verbose"
        self._atom(len(opening[0]))
        if flags is None:
            self._varies.append(False)
        return None

    def _close(self) -> None:
        varies = self._varies.pop() if len(self._varies) > 1 else False
        self._varies[-1] |= varies
        self._place += 1
        self._last_varies = varies

    def _repeat(self) -> str | None:
        here = self._pattern[self._place]
        times = _TIMES.match(self._pattern, self._place)
        if here == "{" and (times is None or times[0] in {"{}", "{,}"}):
            self._atom(1)
            return None
        least, most = _bounds(here, times)
        if most > 1 and self._last_varies:
            return "has a repeat inside a repeat, or over alternatives"
        self._ways *= int(min(most - least, MOST_CHARACTERS)) + 1
        self._varies[-1] |= most != least
        self._place += len(times[0]) if times is not None and here == "{" else 1
        # Lazy and possessive marks belong to the repeat.
        self._place += self._pattern[self._place : self._place + 1] in {"?", "+"}
        self._last_varies = most != least
        return None


def _bounds(mark: str, times: re.Match[str] | None) -> tuple[float, float]:
    if mark != "{" or times is None:
        return {"*": (0, float("inf")), "+": (1, float("inf")), "?": (0, 1)}[mark]
    least = float(times[1] or 0)
    if not times[2]:
        return least, least
    return least, float(times[3]) if times[3] else float("inf")
