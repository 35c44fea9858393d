"""How a rule says where in a text it is to be tried: at a word, at a number, or behind a sign that is rarely there.

A pattern that is tried at every character of a text costs a hundred times what it costs at the few places where it can
hold; thirty of them are the difference between a tenth of a millisecond a message and ten.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple


class Rule(NamedTuple):
    """``pattern`` begins where it is tried; ``group`` of it is told as ``type``, if ``holds`` says so.

    ``without`` gives the length of what is told without what follows it in the sentence.
    ``rank``: of what overlaps, the rule with the smaller one is believed. What has no ``type`` is told by nobody.
    """

    rank: int
    pattern: re.Pattern[str]
    type: str
    group: int = 0
    holds: Callable[[re.Match[str]], bool] | None = None
    without: Callable[[str], int] | None = None


class Scan(NamedTuple):
    """A rule that is searched for in a text that has one of ``signs``, and a ``hint`` of it where there is one."""

    signs: tuple[str, ...]
    rule: Rule
    hint: re.Pattern[str] | None = None


class Rules(NamedTuple):
    """``words``: tried at a word, given in lower case. ``numbers``: at a number, by the character that follows it."""

    words: dict[str, tuple[Rule, ...]]
    numbers: dict[str, tuple[Rule, ...]]
    scans: tuple[Scan, ...] = ()


# In place of a character: any that is not among those with rules of their own.
OTHER = ""


def at(words: str, *rules: Rule) -> dict[str, tuple[Rule, ...]]:
    """``rules`` for each of the ``words``, which are parted by white space."""
    return dict.fromkeys(words.split(), rules)


def merged(*each: dict[str, tuple[Rule, ...]]) -> dict[str, tuple[Rule, ...]]:
    """All rules for each key, in order."""
    whole: dict[str, tuple[Rule, ...]] = {}
    for rules in each:
        for key, some in rules.items():
            whole[key] = whole.get(key, ()) + some
    return whole
