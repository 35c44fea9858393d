"""The words near a place of a text: what speaks for a number, and what speaks against it."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from agent.content.detectors.words import ANY_NUMBER, DOCUMENT, OTHER_NUMBER, Words, words_of

_BEFORE: Final = 48
_AFTER: Final = 32
# So many words may stand between one that says what a number is, and the number.
_WORDS_BEFORE: Final = 4
_WORDS_AFTER: Final = 3
# What ends what a word before a number is said of; not the dot of "Nr. 12".
_END_OF_CLAUSE: Final = re.compile(
    r"[,;()|\n\uFDD0-\uFDEF]|(?<!\b\w)(?<!\b\w{2})(?<!\b\w{3})(?<![Nn]r)[.!?]\s|[。！？；।]"  # noqa: RUF001 - marks of Chinese and Japanese
)
_NEXT_NUMBER: Final = re.compile(r"[\s.:+(=#№-]*[0-9\uFDD0-\uFDEF]")
_END_OF_SENTENCE: Final = re.compile(r"[.!?;。！？；।]\s|\n\s*\n")  # noqa: RUF001 - marks of Chinese and Japanese


class Speaks(Enum):
    """What the words around a number say of it."""

    FOR = "a word for it stands just before or after"
    AGAINST = "the last word before it names another kind of number"
    NOT = "neither"


# The name that a value has in JSON, in a query and in an assignment: it says what the number is, and nothing else does.
_NAME: Final = re.compile(
    r"""(?:["']([^"'\n:{},]{1,40})\\?["']\s{0,2}[:=]\s{0,2}\\?["']?|[?&\s;,]([A-Za-z_]{1,40})=["']?)[+(\[]{0,2}\Z"""
)
# A function, and the number is what it is given: call(1234567).
_CALL: Final = re.compile(r"[A-Za-z_]\([0-9, ]*\Z")
_SHORT: Final = 4
# Of a table as people paste it: comma, semicolon, tab or bar between its columns.
_COLUMN_MARKS: Final = ("\t", "|", ";", ",")
_LONGEST_LINE: Final = 400
_LONGEST_TABLE: Final = 8000


def has_word_near(text: str, start: int, end: int, words: Words) -> bool:
    """Whether one of ``words`` stands near to what stands from ``start`` to before ``end``, on either side."""
    before = text[max(0, start - _BEFORE) : start]
    name = _NAME.search(before)
    if name is not None:
        return any(map(words.has, words_of(name[1] or name[2])))
    if any(map(words.has, words_of(_column(text, start)))):
        return True
    return any(map(words.has, words_of(before))) or any(map(words.has, _said_after(text, end, words)))


def speaks(
    text: str, start: int, end: int, words: Words, stand_in: str, *, reach: int, before: str | None = None
) -> Speaks:
    """What stands near to the number from ``start`` to before ``end`` says of it, the nearest word first.

    ``stand_in`` is what stands for one of its kind that was found already. So many words as ``reach`` says, and three
    short ones more, may be between one that speaks for it and the number. ``before`` is read instead of what is before.
    """
    before = text[max(0, start - _BEFORE) : start] if before is None else before
    name = _NAME.search(before)
    if name is not None:
        return _of_name(name[1] or name[2], words)
    if _CALL.search(before) is not None:
        return Speaks.NOT
    says = _before(before, words, stand_in, reach)
    if says is not Speaks.NOT:
        return says
    column = _column(text, start)
    return _of_name(column, words) if column else _after(text, end, words, reach)


def _before(before: str, words: Words, stand_in: str, reach: int) -> Speaks:
    """What the words before say, the nearest one first."""
    for place, word in enumerate(reversed([*words_of(before)])):
        if word == stand_in:
            # One after another: 0121 234 5678 or 0121 234 5679.
            return Speaks.FOR if _follows(before) else Speaks.NOT
        if words.has(word) and not (ANY_NUMBER.has(word) and _is_of_document(before, place)):
            return Speaks.FOR
        if OTHER_NUMBER.has(word) or DOCUMENT.has(word):
            return Speaks.AGAINST if place < min(_WORDS_BEFORE, len([*words_of(_clause(before))])) else Speaks.NOT
        if place >= reach + (3 if reach > 1 else 0):
            break
    return Speaks.NOT


def _is_of_document(before: str, place: int) -> bool:
    """Whether the word before the one at ``place``, counted from the end, is what another number is called."""
    word = ([*words_of(before)][: -place - 1] or [""])[-1]
    return OTHER_NUMBER.has(word) or DOCUMENT.has(word)


def _after(text: str, end: int, words: Words, reach: int) -> Speaks:
    """What the first words after say, as far as the sentence goes."""
    near = _said_after(text, end, words, sentence=True)[: min(reach, _WORDS_AFTER)]
    return Speaks.FOR if any(map(words.has, near)) else Speaks.NOT


def _said_after(text: str, end: int, words: Words, *, sentence: bool = False) -> list[str]:
    """The words after ``end`` on its line; without one of ``words`` that the next number follows: it is of that one."""
    after = text[end : end + _AFTER].partition("\n")[0]
    said = [*words_of(_END_OF_SENTENCE.split(after, maxsplit=1)[0] if sentence else after)]
    place = 0
    for number, word in enumerate(said):
        place = after.index(word, place) + len(word)
        if words.has(word) and _NEXT_NUMBER.match(text, end + place, end + place + _AFTER) is not None:
            return said[:number]
    return said


def is_named_otherwise(text: str, start: int, words: Words, others: Words) -> bool:
    """Whether the words before a number say that it is a document's or one of ``others``, none of ``words`` nearer."""
    before = text[max(0, start - _BEFORE) : start]
    if _NAME.search(before) is not None:
        return False
    clause = [*words_of(_clause(before))]
    if any(map(DOCUMENT.has, clause[-_WORDS_AFTER:])) and not any(map(words.has, clause)):
        return True
    said = [*words_of(before)]
    place = next(
        (place for place in range(len(said) - 1, -1, -1) if words.has(said[place]) or others.has(said[place])), 0
    )
    # "kimlik numaram" is the number of an id.
    return bool(said) and others.has(said[place]) and not any(map(words.has, said[max(0, place - 1) : place + 1]))


def _clause(before: str) -> str:
    """The end of ``before``, from the last mark on that parts what is said."""
    return _END_OF_CLAUSE.split(before)[-1]


def _of_name(name: str, words: Words) -> Speaks:
    of_name = [*words_of(name)]
    # phoneId is the id of a phone.
    if of_name and OTHER_NUMBER.has(of_name[-1]):
        return Speaks.AGAINST
    if any(map(words.has, of_name)):
        return Speaks.FOR
    return Speaks.AGAINST if any(map(OTHER_NUMBER.has, of_name)) else Speaks.NOT


def _column(text: str, start: int) -> str:
    """What the first line of a table calls the column that ``start`` is in; empty where it is in none."""
    line = max(0, text.rfind("\n", max(0, start - _LONGEST_LINE), start)) + 1
    if line == 1:
        return ""
    mark = next((mark for mark in _COLUMN_MARKS if mark in text[line:start]), None)
    if mark is None:
        return ""
    block = text.rfind("\n\n", max(0, line - _LONGEST_TABLE), line)
    first = block + 2 if block >= 0 else 0
    names = text[first : first + _LONGEST_LINE].partition("\n")[0].split(mark)
    place = text.count(mark, line, start)
    return names[place] if first < line and place < len(names) else ""


def _follows(before: str) -> bool:
    """Whether ``before`` ends with a stand-in and no more than a short word behind it."""
    between = [*words_of(re.split(r"[\uFDD0-\uFDEF]", before)[-1])]
    return len(between) == 0 or (len(between) == 1 and len(between[0]) <= _SHORT)
