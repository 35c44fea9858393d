"""Finds which of a parameter's listed values is said, and returns it as it is listed, never anything else.

A value is said by all of its words, or by those that tell it from the others ("kitchen" of "Kitchen speaker" and
"Bedroom speaker"). A value of one word says nothing where it only describes another thing: "a business trip".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from agent.core.waiting.hint import Hint, Listed, is_one_of
from agent.core.waiting.numbers import numbers
from agent.core.waiting.said import UNSPACED, Found, clause_of, folded
from agent.core.waiting.words import CARRIERS, FUNCTION_WORDS, OTHER_FUNCTION_WORDS, POLITE

_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_WHOLE: Final = re.compile(r"\d+\Z", re.ASCII)
_SAYING_NOTHING: Final = CARRIERS | FUNCTION_WORDS | OTHER_FUNCTION_WORDS | POLITE
_NONE_OF_THEM: Final = frozenset({"none", "no", "0"})


def listed(text: str, hint: Hint) -> list[Found]:
    """Where ``text`` says one of ``hint.values``. A number beside the listed ones is found too, with the value None."""
    counts = {float(value): value for value in hint.values if _is_number(value)}
    words = [value for value in hint.values if not _is_number(value)]
    found = [each for value in words for each in _in_full(text, value, hint)]
    found = [each for each in found if not any(_holds(other, each) for other in found)]
    if counts:
        counted = (each._replace(value=_count(each, counts)) for each in numbers(text, hint))
        found += [each for each in counted if not any(_holds(other, each) for other in found)]
    return found or _in_part(text, words, hint)


def _is_number(value: Listed) -> bool:
    return not isinstance(value, str) or bool(_WHOLE.match(value))


def _count(found: Found, counts: dict[float, Listed]) -> Listed | None:
    return None if found.value is None else counts.get(float(found.value))


def none_of_them(text: str, hint: Hint) -> list[Found]:
    """The listed value "None" where ``text`` says "none", or that there shall be no such thing: "no subtitles"."""
    none = [value for value in hint.values if str(value).casefold() in _NONE_OF_THEM]
    words = [word.casefold() for word in _WORD.findall(text) if word.casefold() not in POLITE]
    if len(none) != 1 or not words:
        return []
    said = words == ["none"] or (words[0] in {"no", "without"} and words[1:] and _only_named(words[1:], hint))
    return [Found(0, len(text), none[0])] if said else []


def _only_named(words: list[str], hint: Hint) -> bool:
    return all(is_one_of(word, hint.own_words) for word in words)


def _holds(longer: Found, shorter: Found) -> bool:
    return (longer.start, longer.end) != (shorter.start, shorter.end) and (
        longer.start <= shorter.start and shorter.end <= longer.end
    )


def _in_full(text: str, value: Listed, hint: Hint) -> list[Found]:
    words = _WORD.findall(folded(str(value)))
    if not words:
        return [Found(0, len(text), value)] if text.strip() == str(value).strip() else []
    if len(words) == 1 and words[0].casefold() in _NONE_OF_THEM:
        return []
    expression = r"[\s,.'&/-]*".join(map(re.escape, words))
    plural = "s?" if len(words[-1]) > 3 else ""
    found = [Found(match.start(), match.end(), value) for match in _finditer(expression + plural, text)]
    return found if len(words) > 1 else [each for each in found if _is_meant(text, each, hint)]


def _finditer(expression: str, text: str) -> list[re.Match[str]]:
    """Where a value stands as whole words, as far as its script has any."""
    found = re.finditer(expression, text, re.IGNORECASE)
    return [
        match
        for match in found
        if _is_whole(text, match.start() - 1, match.start()) and _is_whole(text, match.end(), match.end() - 1)
    ]


def _is_whole(text: str, outer: int, inner: int) -> bool:
    if not 0 <= outer < len(text):
        return True
    outside, inside = text[outer], text[inner]
    return not outside.isalnum() or bool(UNSPACED.match(inside) or UNSPACED.match(outside))


def _is_meant(text: str, found: Found, hint: Hint) -> bool:
    """Whether a value of one word is what its clause is about: "a business trip" and "my own business" are not.

    What it is called stands behind it ("business class"), or nothing but names stands beside it.
    """
    start, end = clause_of(text, found.start)
    before, after = _WORD.findall(text[start : found.start]), _WORD.findall(text[found.end : end])
    if before and not _is_known(before[-1], hint):
        return False
    if after and is_one_of(after[0], hint.own_words):
        return True
    follows = after[:1] and text[found.end] in " -" and not _is_known(after[0], hint)
    return not follows and all(_is_known(word, hint) or word[0].isupper() for word in [*before[1:], *after])


def _is_known(word: str, hint: Hint) -> bool:
    """Whether the word says nothing of its own beside a value; of scripts without blanks that is not known."""
    if word.casefold() in _SAYING_NOTHING or UNSPACED.match(word) or is_one_of(word, hint.own_words):
        return True
    return any(word.casefold() in str(value).casefold().split() for value in hint.values)


def _in_part(text: str, values: Sequence[Listed], hint: Hint) -> list[Found]:
    """Values by the words that no other value has, where some of their words are shared."""
    words = {value: [word.casefold() for word in _WORD.findall(folded(str(value)))] for value in values}
    times = Counter(word for each in words.values() for word in set(each))
    found = []
    for value, each in words.items():
        own = [word for word in each if times[word] == 1]
        if not own or len(own) == len(each) or any(word in FUNCTION_WORDS for word in own):
            continue
        for match in _finditer(r"\s+".join(map(re.escape, own)), text):
            part = Found(match.start(), match.end(), value)
            if _stands_alone(text, part, each, hint):
                found.append(part)
    return found


def _stands_alone(text: str, found: Found, words: list[str], hint: Hint) -> bool:
    """Whether its sentence says nothing else of its own, and does not go to or come from what it names."""
    start = text.rfind("\n", 0, found.start) + 1
    end = text.find("\n", found.end)
    before, after = text[start : found.start], text[found.end : end if end >= 0 else len(text)]
    if re.search(r"\b(?:to|from|in)\s+\Z", before, re.IGNORECASE):
        return False
    rest = [word.casefold() for word in _WORD.findall(f"{before} {after}")]
    return all(word in words or _is_known(word, hint) for word in rest)
