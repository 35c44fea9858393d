"""Finds where the values of a parameter's list are said. Each comes back as it is listed, never anything else.

A value is said by all of its words, or by those that tell it from the others ("kitchen" of "Kitchen speaker" and
"Bedroom speaker"). All that are said are found, so that two are no answer; one that only belongs to a phrase is found
with the value None: "I'm on business".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from agent.core.waiting.beside import PHRASES
from agent.core.waiting.beside_words import BOOKED, OPENING
from agent.core.waiting.hint import Hint, Listed, is_one_of
from agent.core.waiting.numbers import numbers
from agent.core.waiting.said import UNSPACED, WORD, Found, clauses, folded, pieces
from agent.core.waiting.words import CARRIERS, COURTESY, FUNCTION_WORDS, NO, NO_VALUE, POLITE, THINGS, YES, words_of

_WHOLE: Final = re.compile(r"\d+\Z", re.ASCII)
_NONE_OF_THEM: Final = frozenset({"none", "no", "0"})
# Between the words of one value: "Premium-Economy".
_JOINT: Final = re.compile(r"[\s,.'&/-]*\Z")
_SPACE: Final = re.compile(r"\s+\Z")
# A word of fewer letters has no plural here.
_LONG: Final = 4
# A value that is such a word too is one only where nothing but this stands beside it.
_COMMON: Final = FUNCTION_WORDS | CARRIERS | POLITE | YES | NO | NO_VALUE
_BESIDE_COMMON: Final = COURTESY | words_of("it's its it is the a an make one option just ok okay yes so then um uh")
# Before a value of one word: it belongs to the verb, or says what somebody is. "I'm on business", "I'm Italian".
_PREPOSITION: Final = re.compile(
    r"(?:\b(?:i'm|im|i am|we're|we are|he's|she's)(?: an?)?\s+\Z)|"
    r"(?:\b(?:am|are|is|was|were|be|been|i'm|we're|he's|she's|it's|im)\s+(?:on|in|for|at|by|with)"
    r"|\b(?:fly|flying|travel\w*|trip|here|there|away)\s+(?:on|for)|\b(?:go|going)\s+on)\s+\Z",
    re.IGNORECASE,
)
_ALONE: Final = re.compile(r"\s*(?:on|in|for|at|by|with)\s+\Z", re.IGNORECASE)
_DESCRIBES: Final = re.compile(r"([ -])([^\W\d_]+)")
_GOES_THERE: Final = re.compile(r"\b(?:to|from|in)\s+\Z", re.IGNORECASE)


class _Word(NamedTuple):
    start: int
    end: int
    low: str


class _Index(NamedTuple):
    """A parameter's list, made ready once for all that is read of a message: a long list makes no longer search.

    By the words of a value, by those that no other has, and what has no words to be found by.
    """

    full: dict[tuple[str, ...], str]
    part: dict[tuple[str, ...], str]
    unspaced: list[tuple[str, str]]
    bare: dict[str, str]
    counts: dict[float, Listed]


def values_of(hint: Hint) -> Callable[[str], list[Found]]:
    """What finds the values of ``hint`` in a text."""
    index = _index(hint)
    return lambda text: _listed(text, hint, index)


def _index(hint: Hint) -> _Index:
    values = [value for value in hint.values if isinstance(value, str) and not _WHOLE.match(value)]
    words = {value: tuple(word.low for word in _words(folded(value))) for value in values}
    times = Counter(word for each in words.values() for word in set(each))
    full: dict[tuple[str, ...], str] = {}
    part: dict[tuple[str, ...], str] = {}
    for value, each in words.items():
        if each and not (len(each) == 1 and each[0] in _NONE_OF_THEM):
            full.setdefault(("".join(each),), value)
            full[each] = value
        own = tuple(word for word in each if times[word] == 1)
        if own and len(own) < len(each) and FUNCTION_WORDS.isdisjoint(own):
            part[own] = value
    return _Index(
        full,
        part,
        [(folded(value), value) for value in values if UNSPACED.search(value)],
        {value.strip(): value for value in values if not words[value]},
        {float(value): value for value in hint.values if _is_number(value)},
    )


def _listed(text: str, hint: Hint, index: _Index) -> list[Found]:
    """Where ``text`` says a value. A number beside the listed ones is found too, with the value None."""
    plain = PHRASES.sub(lambda match: "\n" * len(match[0]), text)
    said = _words(plain)
    whole = index.full.get(tuple(word.low for word in _words(text)))
    if whole is not None and PHRASES.search(text):
        return [Found(0, len(text), whole)]
    bare = index.bare.get(text.strip())
    found = _longest(
        [
            *_looked_up(plain, said, index.full, _JOINT),
            *_unspaced(plain, index.unspaced),
            *([] if bare is None else [Found(0, len(text), bare)]),
        ]
    )
    parts = _looked_up(plain, said, index.part, _SPACE)
    found += _beside([each for each in parts if not _GOES_THERE.search(plain[: each.start])], found)
    found = _meant(plain, found, hint)
    if index.counts:
        counted = [each._replace(value=_count(each, index.counts)) for each in numbers(plain, hint)]
        found += _beside(counted, found)
    return found


def none_of_them(text: str, hint: Hint) -> Found | None:
    """The listed value "None" where ``text`` says "none", or that there shall be no such thing: "no subtitles"."""
    none = [value for value in hint.values if str(value).casefold() in _NONE_OF_THEM]
    words = [word.casefold() for word in WORD.findall(text) if word.casefold() not in POLITE]
    if len(none) != 1 or not words:
        return None
    said = words == ["none"] or (words[0] in {"no", "without"} and words[1:] and _only_named(words[1:], hint))
    return Found(0, len(text), none[0]) if said else None


def shared_words(hint: Hint) -> frozenset[str]:
    """The words that several values have: they tell none from the others, and say nothing beside one."""
    words = Counter(
        word for value in hint.values if isinstance(value, str) for word in {each.low for each in _words(folded(value))}
    )
    return frozenset(word for word, times in words.items() if times > 1) - FUNCTION_WORDS


def _is_number(value: Listed) -> bool:
    return not isinstance(value, str) or bool(_WHOLE.match(value))


def _count(found: Found, counts: dict[float, Listed]) -> Listed | None:
    return None if found.value is None else counts.get(float(found.value))


def _only_named(words: list[str], hint: Hint) -> bool:
    return all(is_one_of(word, hint.own_words) for word in words)


def _words(text: str) -> list[_Word]:
    return [_Word(match.start(), match.end(), match[0].casefold()) for match in WORD.finditer(text)]


def _looked_up(
    text: str, said: Sequence[_Word], wanted: dict[tuple[str, ...], str], joint: re.Pattern[str]
) -> Iterator[Found]:
    """Where the words of a value stand in a row. Each row is looked up once: a long list makes no longer work."""
    lengths = sorted({len(words) for words in wanted})
    for place, first in enumerate(said):
        for length in lengths:
            row = said[place : place + length]
            if len(row) < length or not all(joint.match(text, one.end, other.start) for one, other in pairwise(row)):
                break
            *before, last = (word.low for word in row)
            value = next((wanted[words] for end in _forms(last) if (words := (*before, end)) in wanted), None)
            if value is not None and not _is_cut(text, first.start, row[-1].end):
                yield Found(first.start, row[-1].end, value)


def _forms(word: str) -> Iterator[str]:
    """The word, and what it is the plural or the genitive of."""
    yield word
    if len(word) > _LONG - 1:
        yield from (word.removesuffix(end) for end in ("'s", "s") if word.endswith(end))


def _is_cut(text: str, start: int, end: int) -> bool:
    """Whether words are the end of another, or a letter of some: "non-Italian", "U.S.", "L'"."""
    return (start > 1 and text[start - 1] in "-'." and text[start - 2].isalnum()) or text[end : end + 1] == "'"


def _unspaced(text: str, values: Sequence[tuple[str, str]]) -> Iterator[Found]:
    """Values of scripts without blanks: they may stand inside of a run of letters."""
    for plain, value in values:
        start = text.find(plain)
        while start >= 0:
            yield Found(start, start + len(plain), value)
            start = text.find(plain, start + len(plain))


def _longest(found: Sequence[Found]) -> list[Found]:
    """``found`` without those that are a part of another: "Economy" of "Premium Economy"."""
    left: list[Found] = []
    for each in sorted(found, key=lambda one: (one.start, -one.end)):
        if not left or each.end > left[-1].end:
            left.append(each)
    return left


def _beside(more: Sequence[Found], found: Sequence[Found]) -> list[Found]:
    """Those of ``more`` that do not overlap with one of ``found``."""
    return [each for each in more if not any(each.start < other.end and other.start < each.end for other in found)]


def _meant(text: str, found: Sequence[Found], hint: Hint) -> list[Found]:
    """``found`` without the words that are no value where they stand, and with None for what belongs to a phrase."""
    spans = [clause for sentence in pieces(text) for clause in clauses(text, *sentence)]
    left: list[Found] = []
    for each in found:
        start, end = next((span for span in spans if span[0] <= each.start < span[1]), (0, len(text)))
        word = text[each.start : each.end].strip()
        if len(WORD.findall(word)) > 1:
            left.append(each)
            continue
        rest = {other.casefold() for other in WORD.findall(f"{text[start : each.start]} {text[each.end : end]}")}
        others = {other.casefold() for other in WORD.findall(f"{text[:start]} {text[end:]}")}
        if not _only_opens(word.casefold(), rest, others) and not _is_common(word, rest, others, hint):
            belongs = _belongs_to_a_phrase(text[start : each.start], str(each.value))
            belongs = belongs or _describes(text, each, hint)
            left.append(each._replace(value=None) if belongs else each)
    return left


def _only_opens(word: str, rest: set[str], others: set[str]) -> bool:
    """Whether "first" opens what is said next: "First, I want ..."."""
    return word in OPENING and not rest and bool(others - POLITE)


def _is_common(word: str, rest: set[str], others: set[str], hint: Hint) -> bool:
    """Whether a word that is in any sentence, or as short as those, is one of this sentence: "a", "fine", "all"."""
    common = word.casefold() in _COMMON or (len(word) == 1 and word.islower())
    return common and not (
        all(each in _BESIDE_COMMON or is_one_of(each, hint.own_words) for each in rest)
        and others <= POLITE | YES | NO | _BESIDE_COMMON
    )


def _describes(text: str, found: Found, hint: Hint) -> bool:
    """Whether a value only says what another thing is like: "a business trip", "Italian-free", "the first one"."""
    noun = _DESCRIBES.match(text, found.end)
    if noun is None or is_one_of(noun[2], hint.own_words | THINGS):
        return False
    is_ordinal = text[found.start : found.end].casefold() in OPENING
    return noun[1] == "-" or is_one_of(noun[2], BOOKED) or (is_ordinal and noun[2].casefold() == "one")


def _belongs_to_a_phrase(before: str, value: str) -> bool:
    """Whether what leads to a value makes a phrase of it; what is written in capitals ("on TV") makes none."""
    return not value.isupper() and bool(_PREPOSITION.search(before) or _ALONE.match(before))
