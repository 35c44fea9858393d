"""Whether some words are a value and nothing else, for a parameter that any words may be the value of.

What has pronouns, verbs or anything else of a sentence in it is none; nor is what reads as a yes, a day, a time or a
number, or says only how a thing should be. Only in the languages of ``agent.core.waiting.words`` is that known.
"""

from __future__ import annotations

import re
from typing import Final

from agent.core.waiting.dates import MONTHS_AND_WEEKDAYS, dates
from agent.core.waiting.frames import is_name, is_place
from agent.core.waiting.hint import Hint, is_one_of
from agent.core.waiting.numbers import is_number_word
from agent.core.waiting.times import times
from agent.core.waiting.words import (
    COMMANDS,
    FUNCTION_WORDS,
    IN_NAMES,
    KINDS,
    NO,
    NO_VALUE,
    NOWHERE,
    OTHER_FUNCTION_WORDS,
    POLITE,
    QUALITIES,
    SERVICE,
    TITLES,
    UNDECIDED,
    WEAK_QUALITIES,
    YES,
    words_of,
)

_MOST_WORDS: Final = 5
_MOST_IN_LOWER_CASE: Final = 3
_LONGEST: Final = 60
_NO_ANSWERS: Final = SERVICE | UNDECIDED | TITLES
_ANSWERS: Final = YES | NO | POLITE | NO_VALUE | _NO_ANSWERS
_NO_NAME: Final = NO_VALUE | QUALITIES | MONTHS_AND_WEEKDAYS
_HOW: Final = QUALITIES | WEAK_QUALITIES
_OF_FILES: Final = words_of("file folder directory document user username host branch table code id")
_AGREED: Final = (YES | NO) - IN_NAMES
# "Non-Italian", "drama-free": what it is not.
_AFFIXED: Final = re.compile(r"\b(?:non|anti|un|ex|pseudo)-|-(?:free|less|ish|like)\b", re.IGNORECASE)
_AGREED_IN_SHORT: Final = words_of("nope nah yep yup yeah yea")
_LY: Final = re.compile(r"[a-z]{3,}ly\Z")
_NOT_IN_A_PLACE: Final = re.compile(r"[\d_]|[^\w\s'.&-]")
_CODE: Final = re.compile(r"[A-Za-z]{1,4}[-_ ]?\d{3,}")
_LETTER: Final = re.compile(r"[^\W\d_]")
_FIRST: Final = re.compile(r"\W?\w")
_DRAWN_OUT: Final = re.compile(r"([a-z])\1\1", re.IGNORECASE)
_COUNTED: Final = re.compile(r"\b\d+ [a-z]")
_NOT_IN_A_VALUE: Final = re.compile(r"[,;:!?\"()\[\]{}<>|\n]")
_ING: Final = re.compile(r"[a-z]{2,}ing\Z")
# Scripts that write no blanks: a name in Han or Katakana alone may stand by itself.
_UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
_HAN: Final = re.compile(r"[\u3400-\u9fff\u30a0-\u30ff\u3005]{1,10}\Z")
_HAN_SENTENCE: Final = re.compile(r"[我你您他她它们不是有要想去来在请幫帮給给的了什怎哪谁没能会可就都说知道和或]")
_SPOKEN_HANGUL: Final = re.compile(r"[\uac00-\ud7af]+(?:요|다|까|니|죠|어|아|지)\Z")


def is_bare_value(value: str, hint: Hint, *, is_noun: bool = False) -> bool:
    """Whether ``value`` is nothing but a value; ``is_noun``: an article before it says that it is no verb."""
    words = value.split()
    if not words or len(value) > _LONGEST or len(words) > _MOST_WORDS or not _is_written_as_one(value):
        return False
    if value.casefold().strip(".") in _ANSWERS or is_number_word(value) or dates(value) or times(value):
        return False
    if _UNSPACED.search(value):
        return bool(_HAN.match(value)) and not _HAN_SENTENCE.search(value)
    low = [word.casefold().strip("'.") for word in words]
    says_how = all(is_one_of(word, hint.own_words) or word in _HOW for word in low)
    # "Real person", "refund": said to the service. In a name such a word may stand among others: "Secret Agent".
    is_no_answer = all(word in _NO_ANSWERS or word in _HOW for word in low)
    if says_how or is_no_answer or _is_code(value, hint) or _AFFIXED.search(value):
        return False
    if not is_name(hint) and not _AGREED.isdisjoint(low):
        return False
    return _NO_NAME.isdisjoint(low) and _is_no_sentence(words, low, hint, is_noun=is_noun)


def _is_code(value: str, hint: Hint) -> bool:
    """Whether it is an id or a number with letters, where a place, a kind or a person was asked for."""
    if is_place(hint) or hint.name_words & KINDS:
        return _NOT_IN_A_PLACE.search(value) is not None
    return is_name(hint) and not hint.own_words & _OF_FILES and _CODE.fullmatch(value) is not None


def _is_written_as_one(value: str) -> bool:
    """Whether it has letters and no marks of a sentence, and is no cry ("awww") and no count ("5 lines")."""
    if not _LETTER.search(value) or not _FIRST.match(value) or _NOT_IN_A_VALUE.search(value):
        return False
    return not (_DRAWN_OUT.search(value) or _COUNTED.search(value))


def _is_no_sentence(words: list[str], low: list[str], hint: Hint, *, is_noun: bool) -> bool:
    lower_case = [word for word in words if word.islower()]
    if len(lower_case) == len(words) > _MOST_IN_LOWER_CASE:
        return False
    if is_place(hint) and all(word in NOWHERE or word in _HOW for word in low):
        return False
    # "Paris hopefully", "Paris nah".
    if any(word.islower() and _LY.match(word) for word in words[1:]) or low[-1] in _AGREED_IN_SHORT:
        return False
    if not is_noun and (low[0].removesuffix("ing") in COMMANDS or (_ING.match(low[0]) and _does(words, hint))):
        return False
    if len(words) == 1 and words[0].isupper() and len(words[0]) <= 3 and is_place(hint):
        return low[0] not in FUNCTION_WORDS
    return not any(_is_function_word(low, place, hint) for place in range(len(low)))


def _does(words: list[str], hint: Hint) -> bool:
    """Whether a first word in -ing is what somebody does: "just looking", "Learning new things"; Beijing is none."""
    return words[1].islower() if len(words) > 1 else words[0].islower() and not is_place(hint)


def _is_function_word(low: list[str], place: int, hint: Hint) -> bool:
    """Whether the word is of a sentence: a function word, but where it may stand inside of a name."""
    word = low[place]
    if word not in FUNCTION_WORDS and word not in OTHER_FUNCTION_WORDS:
        return bool(_SPOKEN_HANGUL.match(word) and len(word) > 2)
    inside = word in IN_NAMES and place + 1 < len(low) and (place > 0 or word not in {"of", "the", "and"})
    return not inside or (word in {"and", "y", "&"} and not is_name(hint))
