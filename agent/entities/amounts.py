"""Numbers that count something: money, shares, measures, and numbers to call. A bare number is no entity."""

from __future__ import annotations

import re
from typing import Final

from agent.entities.rule import OTHER, Rule, Rules, Scan, at

_SIGNS: Final = "$€£¥₹₽₩₺₪"
_NUMBER: Final = r"\d{1,15}(?:[.,'’]\d{1,9}){0,5}"  # noqa: RUF001 - as it is written
_SIGNED: Final = re.compile(
    rf"[{_SIGNS}](?<![a-z0-9_{_SIGNS}].) ?{_NUMBER}"
    r"(?: ?(?:k|K|[mb]n|[MB]|thousand|million|billion|trillion)(?!\w))?(?![\w$])"
)
_COUNTED: Final = re.compile(
    rf"(?<![\w.,$-]){_NUMBER} ?(?:[€£¥₹₽₩₺₪](?![\w\d])"
    r"|(?:(?:US|Canadian|Australian) )?(?:USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|[Dd]ollars?|[Ee]uros?|pounds sterling"
    r"|[Rr]upees?|pesos?|reais|руб(?:лей|ля|\.)?)(?!\w)|元|円|원)"  # noqa: RUF001 - as it is written
)
_NAMED: Final = re.compile(rf"(?<!\w)[A-Z]{{2,3}} ?[{_SIGNS}]? ?{_NUMBER}(?!\w)")
_PERCENT: Final = re.compile(
    rf"(?<![\w.,$-]){_NUMBER} ?(?:%(?![\w(%])|(?:percent|per ?cent|[Pp]rozent|por ciento|por cento|pour ?cent|per cento"
    r"|процент\w{0,3})(?!\w))"
)
_UNITS: Final = (
    "miles per hour|mph|km/h|kmh|kilometers?|kilometres?|km|miles?|feet|ft|inch(?:es)?|cm|mm|meters?|metres?"
    "|kilograms?|kg|grams?|mg|pounds?|lbs?|ounces?|oz|liters?|litres?|ml|gallons?"
    "|degrees(?: (?:Celsius|Fahrenheit|celsius|fahrenheit|C|F)(?!\\w))?|°[CF]?"
    "|[KMGT]i?B|kWh|kW|GHz|MHz|mAh|megapixels?|MP"
    "|ms|Grad|grados|kilómetros|Kilometer|км|кг"
)
_QUANTITY: Final = re.compile(rf"(?<![\w.,$/-]){_NUMBER}[ -]?(?:{_UNITS})(?![\w/-])")
_ABROAD: Final = re.compile(r"\+(?<![\w+].)\d{1,3}(?:[ .-]?\(?\d{1,5}\)?){2,6}(?![\w-])")
_AREA: Final = re.compile(r"\((?<!\w.)[2-9]\d\d\) ?\d{3}[ .-]\d{4}(?![\w-])")
_PLAIN: Final = re.compile(
    r"(?<![\w+./#(-])(?:1[ .-])?[2-9]\d\d[ .-]\d{3}[ .-]\d{4}(?![\w-]|\.\d)"
    r"|(?<![\w+./#-])0\d{1,4}[ /-]\d{3,4}[ -]?\d{3,5}(?![\w-])"
)
_CALLED: Final = re.compile(
    r"(?:phone(?:[ _]number)?|tel|telephone|mobile|cell|fax|call (?:me|us|them) (?:at|on)|whatsapp|Telefon(?:nummer)?"
    r"|Handy|teléfono|téléphone|telefono|telefone|телефон)[^\w+(]{0,5}(?:number )?(?:is |at |es |ist |est )?"
    r"(\+?\(?\d(?:[ .()-]{0,2}\d){6,14})(?![\w-])",
    re.IGNORECASE,
)
_CJK_CALLED: Final = re.compile(r"[电手電](?:话|机|話)(?:号码)?[是:： ]{0,3}(\+?\d(?:[ -]?\d){6,14})")  # noqa: RUF001 - as it is written
# "$1" between quotes, braces or after a command is the parameter of a script.
_PARAMETER: Final = re.compile(r"\$\d\Z")
_SCRIPT: Final = frozenset("\"'`{(=/}")


def _is_price(found: re.Match[str]) -> bool:
    if not _PARAMETER.match(found[0]):
        return True
    text, start, end = found.string, found.start(), found.end()
    return text[max(0, start - 1) : start] not in _SCRIPT and text[end : end + 1] not in _SCRIPT


def _is_phone(found: re.Match[str]) -> bool:
    return 7 <= sum(map(str.isdigit, found[found.lastindex or 0])) <= 15


_PLAIN_PHONE: Final = Rule(10, _PLAIN, "PHONE_NUMBER", 0, _is_phone)
_AMOUNTS: Final = (
    Rule(11, _COUNTED, "MONEY"),
    Rule(11, _PERCENT, "PERCENT"),
    Rule(12, _QUANTITY, "QUANTITY"),
)
_CALLS: Final = (
    "phone tel telephone mobile cell fax call whatsapp telefon telefonnummer handy teléfono téléphone telefono "
    "telefone телефон"
)
RULES: Final = Rules(
    words={
        **at(_CALLS, Rule(9, _CALLED, "PHONE_NUMBER", 1, _is_phone)),
        **at("usd eur gbp chf jpy cny inr cad aud", Rule(11, _NAMED, "MONEY")),
    },
    numbers={
        "-": (_PLAIN_PHONE, *_AMOUNTS),
        "/": (_PLAIN_PHONE,),
        ".": (_PLAIN_PHONE, *_AMOUNTS),
        ",": _AMOUNTS,
        " ": (_PLAIN_PHONE, *_AMOUNTS),
        OTHER: _AMOUNTS,
    },
    scans=(
        Scan(tuple(_SIGNS), Rule(11, _SIGNED, "MONEY", 0, _is_price)),
        Scan(("+",), Rule(10, _ABROAD, "PHONE_NUMBER", 0, _is_phone)),
        Scan((") ", ")"), Rule(10, _AREA, "PHONE_NUMBER")),
        Scan(("电话", "手机", "電話"), Rule(9, _CJK_CALLED, "PHONE_NUMBER", 1, _is_phone)),
    ),
)
