"""The words of a text for relevance, in any script, brought to the form in which they are compared.

A word is a run of letters, marks and numbers after NFKC and case folding. Where writers leave no spaces (Han, kana,
Thai, Lao, Khmer, Myanmar and some more), and in Hangul, whose words carry their particles, each two neighbours are one.
English verbs and nouns lose their endings. Small words say nothing of what is asked for, and are none; they are listed
for few languages, and of the others their frequency tells. Cut off is what is behind 20 000 characters of a text, and
behind 64 of a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from operator import add
from typing import Final
from unicodedata import category, normalize

from agent.recall.relevance.english import base_form

_LONGEST_TEXT: Final = 20_000
_LONGEST_WORD: Final = 64
_PLAIN: Final = re.compile("[a-z0-9]+")
# Scripts without spaces, and Hangul; what is no letter in these ranges never gets here.
_UNSPACED: Final = re.compile(
    "[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f\u3005-\ua4cf\ua960-\ua9ff"
    "\uaa60-\uaadf\uac00-\ud7ff\uf900-\ufaff\U00011700-\U0001174f\U00016fe0-\U0001b2ff\U00020000-\U0003ffff]+"
)
_SMALL_WORDS: Final = (
    # English, and what is left of its contractions
    "a about after all also am an and any anything are as at be been being but by can could d did didn do does "
    "doesn don done for from get getting going good got great had hadn has hasn have haven having he hello help "
    "her here hers hi him his how i if in into is isn it its just know let like ll m make me more must my need no "
    "not now of okay on one only or other our ours out please re really s see shall she should so some something "
    "such sure t than thank thanks that the their theirs them then there these they this those to us use ve very "
    "want was wasn we well were what when where which who whom whose why will with would yes you your yours "
    # Spanish, Portuguese, Italian
    "al ao às che com como con cuál cuándo da das de del della di dia do donde dónde dos ed el em en entre es "
    "está este están favor foi fue gli gracias ha hay il la las le lo los mais mas más mi muy na não nem nel non "
    "nos num o os para per però pero por porque puede puedo qual quale quando que quem qué quién quiero se ser si "
    "sobre sono sua sus su também te tem tiene um uma un una você y "
    # French, German, Dutch
    "aber als au auf aus aux avec bei bis bitte ce ces cette dans das dem der des dass du ein eine einem einen "
    "einer elle er es est et für geen het hoe ich ihr il im ist je kann l les mais merci möchte nach ne nicht "
    "noch nous oder ou où par pas qu qui sich sie sind sont um und une van von votre vous wann warum wat welche "
    "welcher wenn wer wie wir wird wo zu zum zur über "
    # Russian, Arabic, Hindi
    "а в вы где для до если есть еще ещё же за и из или к как когда кто ли меня мне мой мы на не нет но о он она "  # noqa: RUF001 - Cyrillic it is
    "они от по при с так там то только у уже что чтобы это этот я "  # noqa: RUF001 - Cyrillic it is
    "إلى أن التي الذي على عن في كان كيف ما متى من هذا هذه هل أين "
    "और आप उस का की के को क्या कब कहाँ तो ने नहीं पर भी मुझे में मैं यह लिए वह से है हैं हो"
)


def words(text: str) -> list[str]:
    """The words of ``text`` as they stand, folded, small ones and endings included, in their order."""
    text = text[:_LONGEST_TEXT]
    if text.isascii():
        return _PLAIN.findall(text.lower())
    parted = _parted(text)
    if not _UNSPACED.search(text):
        return parted
    return [piece for word in parted for piece in ((word,) if word.isascii() else _pieces(word))]


def term(word: str) -> str | None:
    """The form in which ``word``, one of ``words``, is compared; None for a small word."""
    if word in _small_words():
        return None
    cut = word[:_LONGEST_WORD]
    return base_form(cut) if cut.isascii() and cut.isalpha() else cut


def terms(text: str) -> list[str]:
    """The terms of ``text``, each as often as it is said."""
    return [found for word in words(text) if (found := term(word)) is not None]


@cache
def _small_words() -> frozenset[str]:
    return frozenset(_SMALL_WORDS.split())


def _parted(text: str) -> list[str]:
    """The words of a text in which there is more than ASCII."""
    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    kinds = {ord(character): category(character) for character in set(folded)}
    # What has no look of its own is in the middle of words; all else that is no letter, mark or number parts them.
    parting = {code: None if kind == "Cf" else " " for code, kind in kinds.items() if kind[0] not in "LMN"}
    return folded.translate(parting).split()


def _pieces(word: str) -> Iterator[str]:
    """``word`` where it changes between scripts with and without spaces; of the latter each two neighbours."""
    end = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > end:
            yield word[end : run.start()]
        end = run.end()
        characters = run.group()
        if len(characters) == 1:
            yield characters
        yield from map(add, characters, characters[1:])
    if end < len(word):
        yield word[end:]
