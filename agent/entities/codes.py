"""Codes that somebody gave out: orders, bookings, flights, users. A code is told by what stands before it.

Without such a cue a hash, a call's id and a constant of a program look the same, so only what carries its own mark is
told without one: ``#W2378156``, and a user's id that begins with a given name (``yusuf_rossi_9620``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.entities.mention import Mention
from agent.entities.name_lists import GIVEN_NAMES
from agent.entities.rule import Rule, Rules, Scan, at

_CODE: Final = r"#?[A-Za-z0-9](?:[A-Za-z0-9]|[-_.](?=[A-Za-z0-9])){2,31}"
_MARKED: Final = re.compile(r"#(?<![\w#&/].)[A-Z]{1,3}-?\d{4,12}(?![\w-])")
_NOUNS: Final = (
    "order reservation booking confirmation ticket tracking invoice receipt case reference item product account "
    "customer member membership policy parcel shipment transaction payment certificate gift locator pnr pedido reserva "
    "commande réservation facture ordine prenotazione fattura заказ заказа брони bestellnummer auftragsnummer "
    "buchungsnummer rechnungsnummer kundennummer sendungsnummer bestellung buchung"
)
_CUED: Final = re.compile(
    r"(?<![A-Za-z])[^\W\d_]+(?: card| method)?"
    r"(?:[ _](?:ids?|ID|[Nn]umbers?|[Nn]o\.|nr\.?|[Cc]odes?|n[úu]mero|numéro|n°|номер))?"
    rf"(?: (?:is|of|ist|es|est|è|é))?[ :=№]{{1,3}}[(\"'*`]{{0,2}}({_CODE})(?![\w#/])"
)
_CJK_CUED: Final = re.compile(
    rf"[订訂预注予주예](?:单号?|單|订号?|文番号|約番号|문 ?번호|약 ?번호)[是은는はがは:： ]{{0,3}}({_CODE})"  # noqa: RUF001 - as it is written
)
_FLIGHT: Final = re.compile(
    r"(?<![A-Za-z])[^\W\d_]+(?: (?:[Nn]umber|no\.|n°))?[ :#*(]{1,4}([A-Z]{2,3}[ -]?\d{1,4}|[A-Z]\d[ -]?\d{1,4})(?!\w)"
)
_USER: Final = re.compile(r"(?<![\w./-])[a-z]{2,20}_[a-z]{2,20}(?:_[a-z]{2,20})?_\d{3,8}(?![\w/(-])")
_USER_CUED: Final = re.compile(
    r"(?<![A-Za-z])user(?:[ _-]?(?:id|name))?[\"']?(?: is| of)?[ :=]{1,3}[\"'*`(]{0,2}"
    r"([A-Za-z](?=[\w.-]{0,40}\d)[A-Za-z0-9]{1,30}(?:[_.-][A-Za-z0-9]{1,30}){0,4})(?![\w(])",
    re.IGNORECASE,
)
_CARD_ID: Final = re.compile(r"(?<!\w)(?:credit_card|gift_card|paypal|certificate)_\d{4,10}(?!\w)")
_DIGITS: Final = re.compile(r"\d")
# So many codes of a capture are looked for again where no cue stands before them.
_AGAIN: Final = 64


def _is_code(found: re.Match[str]) -> bool:
    """Whether what follows a cue is a code: digits and no amount, or the six capitals of an airline's record."""
    plain = found[1].lstrip("#")
    if plain.isalpha():
        return len(plain) == 6 and plain.isupper()
    digits = len(_DIGITS.findall(plain))
    # A few digits behind "order" or "item" count something; a version and a date have their own signs.
    if digits == 0 or len(plain) < 4 or plain.replace(".", "").isdigit() != plain.isdigit():
        return False
    return digits > 4 or not plain.replace("-", "").isdigit()


CUED: Final = Rule(4, _CUED, "REFERENCE_CODE", 1, _is_code)
_CARD_IDS: Final = Rule(4, _CARD_ID, "REFERENCE_CODE")
_FLIGHTS: Final = "flight flights flug flugnummer vuelo vol volo voo рейс рейса"
RULES: Final = Rules(
    words={
        **at(_NOUNS, CUED),
        **at(_FLIGHTS, Rule(4, _FLIGHT, "FLIGHT_NUMBER", 1)),
        **at("user", Rule(4, _USER_CUED, "USER_ID", 1)),
        **at("credit paypal", _CARD_IDS),
        **at("gift certificate", _CARD_IDS, CUED),
        **at(" ".join(GIVEN_NAMES), Rule(4, _USER, "USER_ID")),
    },
    numbers={},
    scans=(
        Scan(("#",), Rule(4, _MARKED, "REFERENCE_CODE")),
        Scan(("单", "單", "预订", "番号", "번호"), Rule(4, _CJK_CUED, "REFERENCE_CODE", 1, _is_code)),
    ),
)


def again(text: str, codes: dict[str, str]) -> Iterator[Mention]:
    """Where the ``codes`` of the turns before, with their types, stand by themselves; at most ``_AGAIN`` of them."""
    for code, kind in codes.items():
        start = text.find(code)
        while start >= 0:
            end = start + len(code)
            if _is_apart(text[start - 1 : start] if start else "") and _is_apart(text[end : end + 1]):
                yield Mention(start, end, kind)
            start = text.find(code, end)


def _is_apart(character: str) -> bool:
    return not (character.isalnum() or character in ("_", "-", "/", "@", "#"))


def remember(code: str, kind: str, codes: dict[str, str]) -> None:
    """Keep a code among ``codes``, as long as there is room."""
    if len(codes) < _AGAIN and not code.isdigit():
        codes.setdefault(code, kind)
