"""The terms of messages, any script: words, and what stands for them where writers leave no spaces.

The store parts texts for its search (``q``) by the same rule, so each term here is found there: a word is a run of
letters, marks and numbers after NFKC and case folding. Where there are no spaces (Han, kana, Thai, Lao, Khmer, Myanmar
and some more) no dictionary is asked: a term is what comes again, as far as it goes, and of Han what stands alone
between small words. A Korean word loses what it carries behind its noun.

No terms are: words of one or two letters, of more than 64, codes ("O-12345", "fdz0t5"), hiragana, and small words.
Those are listed for few languages, the commonest only; of the others, the other sessions tell that they say nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, NamedTuple
from unicodedata import category, normalize

_SHORTEST: Final = 3
# What is longer is no word that anybody searches for; a store takes so much in any script, marks and all.
_LONGEST: Final = 64

# "don't" and "we'll" are small words; in "Anna's" the name is none.
_CONTRACTION: Final = re.compile(r"\w+'(?:t|ll|ve|re|d|m)\b|'s\b")
# Signs that NFKC spells out, and that are no part of a word beside them: "№5" is two words.
_SPELLED_OUT: Final = "\u20a8\u2116\u2120\u2121\u2122\u213b\ufdfa\ufdfb\ufdfc"
# One letter to the search: the Turkish i's, and an Arabic word that is stretched.
_SPELLINGS: Final = (("i\u0307", "i"), ("\u0131", "i"), ("\u0640", ""))
_SMALL_WORDS: Final = (
    # English
    "about after all also and any anything are been being but can could did does for from get going good great had has "
    "have hello help her here him his how into its just know let like make more need not now okay one only other our "
    "out please really see she should some something such sure than thank thanks that the their them then there these "
    "they this those use very want was well were what when where which who why will with would yes you your "
    # of web addresses
    "com http https org www "
    # Spanish, Portuguese, Italian
    "che com como con del della dia esta este está están favor gracias las los mais mas más muy não para per "
    "pero por puede puedo que qué quiero são ser sin sobre son sono sua sus también tem tiene una uma você "
    # French, German, Dutch
    "aber auch auf aus avec bei bitte ces cette dans das dem den der des dass die ein eine einem einen einer elle est "
    "für hat het ich ihr ist kann les mais man merci mit möchte nach nicht noch nous oder par pas plus pour qui sie "
    "sind sont sur und une van von votre vous was wenn wie wir wird zum zur über "
    # Russian, Arabic, Hindi
    "для если есть еще ещё как меня мне можно мой нет она они при так там только уже что чтобы это этот "
    "إلى التي الذي على كان كيف هذا هذه آپ आप उस और का की के को क्या तो नहीं ने पर भी मुझे में मैं यह लिए वह से है हैं हो"
)
# Han characters that stand between words more often than in one.
_SMALL_HAN: Final = frozenset(
    "的了是在我你您他她它们們这這那和与與或也就还還没沒有不很吗嗎呢吧啊把被给給从從到以及而但可要想请請"
    "让讓什么麼怎谁誰哪几幾个個些其再则則若去该該并並只更最每各"
)
_PARTICLE: Final = re.compile(
    "(?<=..)(?:에서는|에서|에게|으로|이나|까지|부터|하고|해요|했습니다|합니다|입니다|습니다|세요"
    "|은|는|이|가|을|를|에|의|도|로|와|과|만|요)$"
)
_SPACED, _HIRAGANA, _KATAKANA, _HANGUL, _HAN, _UNSPACED = "", "hiragana", "katakana", "hangul", "han", "unspaced"
# Where the store's search finds any two neighbours.
_SCRIPTS: Final = (
    (range(0x0E00, 0x10A0), _UNSPACED),
    (range(0x1100, 0x1200), _HANGUL),
    (range(0x1780, 0x1800), _UNSPACED),
    (range(0x1950, 0x19E0), _UNSPACED),
    (range(0x1A20, 0x1AB0), _UNSPACED),
    (range(0x1B00, 0x1B80), _UNSPACED),
    (range(0x3040, 0x30A0), _HIRAGANA),
    (range(0x30A0, 0x3100), _KATAKANA),
    (range(0x3000, 0xA4D0), _HAN),
    (range(0xA960, 0xA980), _HANGUL),
    (range(0xA980, 0xAA00), _UNSPACED),
    (range(0xAA60, 0xAAE0), _UNSPACED),
    (range(0xAC00, 0xD800), _HANGUL),
    (range(0xF900, 0xFB00), _HAN),
    (range(0x11700, 0x11750), _UNSPACED),
    (range(0x16FE0, 0x1B300), _HAN),
    (range(0x20000, 0x40000), _HAN),
)
# How many characters with their marks what comes again is looked for with. The longest are too long for a term.
_AGAIN: Final = {_HAN: range(2, 9), _UNSPACED: range(4, 17)}
_ALONE: Final = range(2, 5)


class _Run(NamedTuple):
    """Characters without spaces, each with its marks, in which terms are still to be found."""

    script: str
    characters: tuple[str, ...]


class _Message(NamedTuple):
    words: list[str]
    runs: list[_Run]


def terms(messages: Iterable[str]) -> tuple[Counter[str], ...]:
    """How often each message has each of its terms. What comes again is looked for in all of them together."""
    small = frozenset(_SMALL_WORDS.split())
    parted = [_parted(text, small) for text in messages]
    compounds = _compounds([run for message in parted for run in message.runs])
    return tuple(Counter(each for each in _all_of(message, compounds) if len(each) <= _LONGEST) for message in parted)


def is_unspaced(term: str) -> bool:
    """Whether a term is of a script without spaces, or of Hangul."""
    return _script(term) != _SPACED


def _all_of(message: _Message, compounds: frozenset[tuple[str, ...]]) -> Iterator[str]:
    yield from message.words
    yield from ("".join(part) for part in _parts(message.runs) if part in compounds)


def _parted(text: str, small: frozenset[str]) -> _Message:
    message = _Message([], [])
    for word in _words(text):
        for script, group in groupby(_characters(word), _script):
            characters = tuple(group)
            term = "".join(characters)
            if script in _AGAIN:
                message.runs.extend(_between_small(script, characters))
            elif script == _HANGUL and len(characters) > 1:
                message.words.append(_PARTICLE.sub("", term))
            elif (script == _KATAKANA and len(characters) > 1) or (script == _SPACED and _is_term(term, small)):
                message.words.append(term)
    return message


def _words(text: str) -> list[str]:
    """The words as the store parts them, folded."""
    folded = normalize("NFKC", text.translate(dict.fromkeys(map(ord, _SPELLED_OUT), " "))).casefold()
    for spelling, letter in _SPELLINGS:
        folded = folded.replace(spelling, letter)
    folded = normalize("NFKC", folded).replace("\u2019", "'")
    plain = _CONTRACTION.sub(" ", folded)
    # What has no look of its own is in the middle of words; all else that is no letter, mark or number parts them.
    kinds = {ord(character): category(character) for character in set(plain)}
    parting = {code: None if kind == "Cf" else " " for code, kind in kinds.items() if kind[0] not in "LMN"}
    marks = "".join(chr(code) for code, kind in kinds.items() if kind[0] == "M")
    # A mark without a letter before it is of no word.
    return [word for each in plain.translate(parting).split() if (word := each.lstrip(marks))]


def _is_term(word: str, small: frozenset[str]) -> bool:
    """Whether a word may be a term: no code, which has digits in its middle, or more digits than letters."""
    digits = sum(map(str.isnumeric, word))
    at_end = len(word) - len(word.rstrip("0123456789"))
    is_code = digits > 1 and (digits > at_end or 2 * digits >= len(word))
    return len(word) >= _SHORTEST and not is_code and word not in small


def _characters(word: str) -> list[str]:
    """The characters of a word, each with its marks."""
    if word.isascii():
        return list(word)
    characters: list[str] = []
    for character in word:
        if characters and category(character)[0] == "M":
            characters[-1] += character
        else:
            characters.append(character)
    return characters


def _script(character: str) -> str:
    """The script of a character with its marks."""
    code = ord(character[0])
    # A number is a word by itself, whatever stands around it.
    if code < _SCRIPTS[0][0].start or character[0].isdecimal():
        return _SPACED
    return next((script for codes, script in _SCRIPTS if code in codes), _SPACED)


def _between_small(script: str, characters: tuple[str, ...]) -> Iterator[_Run]:
    for is_small, run in groupby(characters, _SMALL_HAN.__contains__):
        if not is_small:
            yield _Run(script, tuple(run))


def _compounds(runs: list[_Run]) -> frozenset[tuple[str, ...]]:
    """What is a term among ``runs``: what comes again and is no part of what comes as often, and what stands alone.

    What comes again and goes on beyond the longest term is a sentence, and none.
    """
    counts = Counter(_parts(runs))
    again = {part: count for part, count in counts.items() if count > 1}
    contained = {part for whole, count in again.items() for part in (whole[1:], whole[:-1]) if again.get(part) == count}
    compounds = {part for part in again.keys() - contained if len(part) < _AGAIN[_script(part[0])].stop - 1}
    alone = [run for run in runs if run.script == _HAN and len(run.characters) in _ALONE]
    return frozenset(compounds).union(run.characters for run in alone if compounds.isdisjoint(_parts([run])))


def _parts(runs: Iterable[_Run]) -> Iterator[tuple[str, ...]]:
    """What in ``runs`` is as long as a term."""
    for script, characters in runs:
        lengths = _AGAIN[script]
        for start in range(len(characters) - lengths.start + 1):
            for end in range(start + lengths.start, min(start + lengths.stop, len(characters) + 1)):
                yield characters[start:end]
