"""English words without what changes in them: "What did she buy?" is answered by "I bought two books".

Endings of verbs and plurals, and the commonest verbs and nouns that have none. A word of another language in these
letters may lose an s, an e or an ed; it does so in query and text alike.
"""

from __future__ import annotations

from functools import cache
from typing import Final

# Not among them: forms that are words of their own as often (left, rose, better).
_IRREGULAR: Final = (
    "ate eat eaten eat became become began begin begun begin bought buy broke break broken break brought bring "
    "built build came come caught catch chose choose chosen choose drank drink drawn draw drew draw driven drive "
    "drove drive fallen fall fell fall felt feel flew fly flown fly forgot forget forgotten forget fought fight "
    "found find gave give given give gone go went go grew grow grown grow heard hear held hold hidden hide kept "
    "keep knew know known know led lead lost lose meant mean met meet paid pay ran run ridden ride rode ride sang "
    "sing sung sing saw see seen see sent send shown show slept sleep sold sell spent spend spoke speak spoken "
    "speak stood stand swam swim swum swim taken take took take taught teach thought think threw throw thrown "
    "throw told tell understood understand woke wake won win wore wear worn wear written write wrote write "
    "children child feet foot lives life men man mice mouse people person teeth tooth wives wife women woman"
)
# Below so many letters nothing is taken off.
_LEAST: Final = 4
_LEAST_STEM: Final = 3


def base_form(word: str) -> str:
    """``word``, in small ASCII letters, without its ending; what is left is no word to be shown."""
    return _stem(_irregular().get(word, word))


@cache
def _irregular() -> dict[str, str]:
    forms = _IRREGULAR.split()
    return dict(zip(forms[::2], forms[1::2], strict=True))


def _stem(word: str) -> str:
    if len(word) < _LEAST:
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= _LEAST_STEM:
            word = stem
            break
    if len(word) >= _LEAST:
        word = word.removesuffix("e")
    if len(word) >= _LEAST and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] + "i" if len(word) >= _LEAST and word.endswith("y") else word
