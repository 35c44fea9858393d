"""Payment cards: an issuer's prefix at its length, and a right Luhn digit (ISO/IEC 7812)."""

from __future__ import annotations

import re
from typing import Final

from agent.content.detectors.number import Number

_ISSUERS: Final = re.compile(
    r"4[0-9]{15}"  # Visa
    r"|(?:5[1-5][0-9]{2}|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}"  # Mastercard
    r"|3[47][0-9]{13}"  # American Express
    r"|3(?:0[0-59]|[689][0-9])[0-9]{11}"  # Diners Club
    r"|35(?:2[89]|[3-8][0-9])[0-9]{12}"  # JCB
    r"|(?:6011|64[4-9][0-9]|65[0-9]{2})[0-9]{12}"  # Discover, RuPay, Elo
    r"|62[0-9]{14}"  # UnionPay
    r"|220[0-4][0-9]{12}"  # Mir
    r"|9792[0-9]{12}"  # Troy
)
# Lengths that other numbers have more often than cards: only where a word says card.
_WITH_WORD: Final = re.compile(r"4[0-9]{12}|4[0-9]{18}|62[0-9]{15,17}|(?:5[06-8]|6[0-9])[0-9]{10,17}|8[12][0-9]{14}")
# How many digits stand together where no word says card.
_USUAL: Final = re.compile(r"1[4-6]|4([ -])(?:4\1(?:4\1(?:[2-4]|4\1[1-3])|4)|6\1[45])")
_LUHN: Final = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def is_card(number: Number, *, has_word: bool) -> bool:
    """Whether ``number`` is a card's; ``has_word``: a word nearby says so."""
    digits = number.digits
    if not 12 <= len(digits) <= 19 or not _adds_up(digits):
        return False
    if _ISSUERS.fullmatch(digits) is not None:
        return has_word or _is_usual(number.shape)
    return has_word and _WITH_WORD.fullmatch(digits) is not None


def may_be_card(number: Number) -> bool:
    """Whether it is worth looking for a word."""
    return 12 <= len(number.digits) <= 19 and _adds_up(number.digits)


def _is_usual(shape: str) -> bool:
    return _USUAL.fullmatch(shape) is not None


def _adds_up(digits: str) -> bool:
    """Luhn's check digit."""
    values = [*map(int, reversed(digits))]
    return (sum(values[::2]) + sum(_LUHN[value] for value in values[1::2])) % 10 == 0
