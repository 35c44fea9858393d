"""All rules over one piece of text, each tried where it can hold: in one walk over its words and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from agent.entities import amounts, codes, hidden, identifiers, labelled, moments
from agent.entities.mention import Mention
from agent.entities.rule import OTHER, Rule, Scan, merged

_SOURCES: Final = (hidden.RULES, identifiers.RULES, codes.RULES, labelled.RULES, moments.RULES, amounts.RULES)
_WORDS: Final = merged(*(each.words for each in _SOURCES))
_NUMBERS: Final = merged(*(each.numbers for each in _SOURCES))
_SCANS: Final = tuple(scan for each in _SOURCES for scan in each.scans)
_WORD: Final = re.compile(r"[^\W\d_]+")
_NUMBER: Final = re.compile(r"\d+")


class Candidate(NamedTuple):
    """A mention and the rank of the rule that found it."""

    rank: int
    mention: Mention


class Scanned(NamedTuple):
    """What the rules found in a piece, and its words in lower case."""

    candidates: list[Candidate]
    words: set[str]


def scanned(text: str) -> Scanned:
    """Every rule that holds somewhere in ``text``; what overlaps is still there. The surest come first."""
    lower = _lowered(text)
    words = set(_WORD.findall(lower))
    candidates = [each for scan in _SCANS if _has_sign(text, scan) for each in _searched(text, scan.rule)]
    for word in words & _WORDS.keys():
        end = 0
        for start in _places(word, lower):
            # An address that holds "http" again is one address.
            if start >= end:
                found = _tried(_WORDS[word], text, start)
                end = max((each.mention.end for each in found), default=end)
                candidates += found
    end = 0
    for number in _NUMBER.finditer(text):
        # "05" of a date that was found with its year is no number of its own.
        if number.start() >= end:
            rules = _NUMBERS.get(text[number.end() : number.end() + 1]) or _NUMBERS[OTHER]
            found = _tried(rules, text, number.start())
            end = max((each.mention.end for each in found), default=end)
            candidates += found
    # Whatever order the words came in, the same text has the same candidates in the same order.
    return Scanned(sorted(candidates), words)


def _lowered(text: str) -> str:
    """``text`` in lower case, each character in its place: of some the lower case is two characters."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(map(_one_lower, text))


def _one_lower(character: str) -> str:
    lower = character.lower()
    return lower if len(lower) == 1 else character


def _places(word: str, text: str) -> Iterator[int]:
    """Where ``word`` stands in ``text`` by itself."""
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        if not (text[end : end + 1].isalpha() or (start and text[start - 1].isalpha())):
            yield start
        start = text.find(word, end)


def _tried(rules: tuple[Rule, ...], text: str, start: int) -> list[Candidate]:
    return [
        _candidate(rule, found)
        for rule in rules
        if (found := rule.pattern.match(text, start)) and (rule.holds is None or rule.holds(found))
    ]


def _has_sign(text: str, scan: Scan) -> bool:
    has_one = any(sign in text for sign in scan.signs)
    return has_one and (scan.hint is None or scan.hint.search(text) is not None)


def _searched(text: str, rule: Rule) -> Iterator[Candidate]:
    for found in rule.pattern.finditer(text):
        if rule.holds is None or rule.holds(found):
            yield _candidate(rule, found)


def _candidate(rule: Rule, found: re.Match[str]) -> Candidate:
    group = (found.lastindex or 0) if rule.group < 0 else rule.group
    start, end = found.span(group)
    if rule.without is not None:
        end = start + rule.without(found[group])
    return Candidate(rule.rank, Mention(start, end, rule.type))
