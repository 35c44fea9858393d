r"""Patterns for many values, each of which has to stand in a text as a word or phrase of its own, in every script.

Values share what they begin with, and branches are looked up by their first characters: so a place of a text takes
about as long for a thousand values as for one, and of two with the same borders that begin alike the longer is found.

What ends a word is a matter of scripts. Latin letters, digits and ``_`` go together (``A4711`` is not ``4711``).
Letters of the other scripts that have spaces go together and not with those, since particles stand before and behind
digits without a space. Scripts without spaces, and Korean, whose particles follow without one, have no borders to look
for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

_CODE: Final = r"\d_A-Za-z\xaa\xba\xc0-\xd6\xd8-\xf6\xf8-\u02af\u1e00-\u1eff\u2c60-\u2c7f\ua722-\ua7ff"
# Thai, Lao, Tibetan, Burmese, Hangul, Khmer, Tai and Javanese, Han, kana and Yi.
_UNSPACED: Final = (
    r"\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u2e80-\ua4cf\ua960-\ua9ff"
    r"\uaa60-\uaadf\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
# What no letter is for ``re``, and is a part of one: accents, points, vowel signs.
_MARKS: Final = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0971-\u0df3"
)
_IN_CODE: Final = re.compile(f"[{_CODE}]")
_IN_WORD: Final = re.compile(rf"(?![{_CODE}{_UNSPACED}])[\w{_MARKS}]")
# A value without any letter or digit: a line of dashes is no four of them.
_SIGN: Final = r"[^\w\s]"
_ANY_IN_WORD: Final = re.compile(r"\w")
# How many branches are tried one after the other.
_FAN: Final = 16
_LONGEST_KEPT: Final = 4_000
# How an atom for white space begins: nothing else that stands for one character is longer than an escape of two.
_LONGEST_CHARACTER: Final = 2


class _Node(dict[str, "_Node"]):
    """What may follow, by atoms; ``is_end`` where a value ends here."""

    is_end = False


def value_patterns(values: Iterable[tuple[str, Sequence[str]]]) -> list[re.Pattern[str]]:
    """Patterns that together find each of ``values``: its text, and the atoms of the pattern that it is found by."""
    by_borders: dict[tuple[str, str], _Node] = {}
    for text, atoms in values:
        node = by_borders.setdefault(_borders(text), _Node())
        for atom in atoms:
            node = node.setdefault(atom, _Node())
        node.is_end = True
    patterns = [re.compile(f"{before}{_written(node)}{behind}") for (before, behind), node in by_borders.items()]
    if any(len(each.pattern) > _LONGEST_KEPT for each in patterns):
        # The library keeps the last 512, which are of one capture each: they would take more memory than there is.
        re.purge()
    return patterns


def _borders(text: str) -> tuple[str, str]:
    """What stands before and behind ``text`` in a pattern: that no word goes on there."""
    if _ANY_IN_WORD.search(text) is None:
        return f"(?<!{_SIGN})", f"(?!{_SIGN})"
    return _before(text[0]), _behind(text[-1])


def _before(first: str) -> str:
    if _IN_CODE.match(first):
        return f"(?<![{_CODE}])"
    return f"(?<!{_IN_WORD.pattern})" if _IN_WORD.match(first) else ""


def _behind(last: str) -> str:
    if _IN_CODE.match(last):
        return rf"(?![{_CODE}\u0300-\u036f])"
    return f"(?!{_IN_WORD.pattern})" if _IN_WORD.match(last) else ""


def _written(node: _Node) -> str:
    """The pattern of what follows: the longer before the shorter."""
    told: list[tuple[str, str]] = []
    others: list[str] = []
    for atom, after in sorted(node.items()):
        if len(atom) <= _LONGEST_CHARACTER:
            told.append((atom, atom + _written(after)))
        else:
            others.append(atom + _written(after))
    if node.is_end:
        others.append("")
    return _either([*_fanned(told), *others])


def _fanned(branches: Sequence[tuple[str, str]]) -> list[str]:
    """``branches`` by the characters that they begin with: not more than are tried one after the other."""
    if len(branches) <= _FAN:
        return [branch for _, branch in branches]
    size = -(-len(branches) // _FAN)
    parts = [branches[start : start + size] for start in range(0, len(branches), size)]
    return [f"(?=[{''.join(first for first, _ in part)}]){_either(_fanned(part))}" for part in parts]


def _either(branches: Sequence[str]) -> str:
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
