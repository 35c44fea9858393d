"""Dates and times of day, as written in some languages. What they mean is not worked out: "next Tuesday" stays that."""

from __future__ import annotations

import re
from typing import Final

from agent.entities.rule import OTHER, Rule, Rules, Scan, at, merged

# English, German, French, Spanish, Italian, Portuguese, Dutch. "may", "mars" and "set" are words too: case decides.
_MONTHS: Final = (
    "January|February|March|April|May|June|July|August|September|October|November|December"
    "|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
    "|january|february|march|april|june|july|august|september|october|november|december"
    "|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC"
    "|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember"
    "|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre"
    "|(?:de )?(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)"
    "|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre"
    "|(?:de )?(?:janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro)"
    "|januari|februari|maart|mei|juni|juli|augustus|oktober"
    "|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря"
)
_DAYS: Final = (
    "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    "|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
    "|lunes|martes|miércoles|jueves|viernes|sábado|domingo|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica"
    "|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag"
    "|понедельник|вторник|среду|четверг|пятницу|субботу|воскресенье"
)
_YEAR: Final = r"(?:19|20)\d\d"
_DAY: Final = r"(?:3[01]|[12]\d|0?[1-9])"
_NUMBERED: Final = rf"{_DAY}(?:st|nd|rd|th)?"
_ORDINAL: Final = rf"{_DAY}(?:st|nd|rd|th|er|º|\.)?"

_INSTANT: Final = re.compile(
    rf"(?<![\w.-]){_YEAR}-[01]\d-[0-3]\d[T ][0-2]\d:[0-5]\d(?::[0-6]\d(?:[.,]\d{{1,9}})?)?"
    r"(?:Z|[+-]\d\d:?\d\d)?(?![\w:])"
)
_DIGITS_DATE: Final = re.compile(
    rf"(?<![\w./-])(?:{_YEAR}([-/.])(?:1[0-2]|0?[1-9])\1{_DAY}"
    rf"|(?:1[0-2]|0?[1-9])/{_DAY}/(?:{_YEAR}|\d\d)|{_DAY}([/-])(?:1[0-2]|0?[1-9])\2(?:{_YEAR}|\d\d)"
    rf"|{_DAY}\.(?:1[0-2]|0?[1-9])\.{_YEAR})(?![\w/-]|\.\d)"
)
_CJK_DATE: Final = re.compile(
    rf"(?:{_YEAR}年)?(?:1[0-2]|0?[1-9])月{_DAY}[日号]|{_YEAR}년 ?\d{{1,2}}월 ?\d{{1,2}}일|{_YEAR}年"
)
_MONTH_FIRST: Final = re.compile(
    rf"(?<![\w.])(?:{_MONTHS})(?:\.? (?:the )?{_NUMBERED}(?!\w|:\d)(?:,? {_YEAR}(?!\w))?|(?:,| of| de)? {_YEAR}(?!\w))"
)
_DAY_FIRST: Final = re.compile(
    rf"(?<![\w.,/-]){_ORDINAL} (?:of )?(?:(?:{_MONTHS})(?!\w)(?:,? (?:de |del )?{_YEAR}(?!\w))?"
    r"|of (?:this|next|last|the) month)"
)
_WEEKDAY: Final = re.compile(
    rf"(?<!\w)(?:{_DAYS})(?!\w)"
    rf"(?:,? (?:the )?(?:(?:{_MONTHS}) {_NUMBERED}|{_ORDINAL} (?:of )?(?:{_MONTHS}))(?!\w|:)(?:,? {_YEAR})?)?"
)
_NEXT: Final = re.compile(
    rf"(?<!\w)(?:next|last|this|coming) (?:(?:{_DAYS})|week|weekend|month|year)(?!\w)", re.IGNORECASE
)
_RELATIVE: Final = re.compile(r"(?<!\w)[^\W\d_]+(?:['’]hui)?(?!\w|['’]s)")  # noqa: RUF001 - as it is written
_CJK_RELATIVE: Final = re.compile("[今明昨后][天日]")
_IN_YEAR: Final = re.compile(
    rf"(?:(?<=\b[Ii]n )|(?<=\bof )|(?<=\b[Ff]rom )|(?<=\byear )|(?<=\b[Ss]ince ))"
    # A card "ending in 2076" is of no year.
    rf"(?<!nding in ){_YEAR}(?![\w-]|[.,:]\d)"
)
_ZONE: Final = r"(?: ?(?:UTC|GMT|EST|EDT|CST|CDT|MST|MDT|PST|PDT|CET|CEST|BST|IST|JST)(?!\w))?"
_PART: Final = r" in the (?:morning|afternoon|evening)| at night| o['’]clock| Uhr|h(?!\w)"  # noqa: RUF001 - as it is written
_CLOCK: Final = re.compile(
    rf"(?<![\w:.,/\[{{#-])(?:2[0-3]|[01]?\d):[0-5]\d(?::[0-5]\d(?:[.,]\d{{1,6}})?)?(?:\+1)?"
    rf"(?: ?[AaPp]\.[Mm]\.| ?[AaPp][Mm](?!\w)|{_PART})?{_ZONE}(?![\w:\]}}-]|\.\d)"
)
_HOUR: Final = re.compile(
    rf"(?<![\w:.,/$-])(?:1[0-2]|0?[1-9])(?: ?[AaPp]\.[Mm]\.| ?[AaPp][Mm](?!\w)|{_PART}){_ZONE}"
    r"|(?<![\w:])(?:2[0-3]|[01]?\d)h[0-5]\d(?!\w)|(?<!\w)(?:1\d|2[0-3]|\d)(?: Uhr|時|点|시)(?:\d\d分)?"
)
_WORD_TIME: Final = re.compile(r"(?<!\w)[a-z]+(?!\w)")

_CLOCKS: Final = (Rule(8, _CLOCK, "TIME"),)
_HOURS: Final = (Rule(8, _HOUR, "TIME"), Rule(7, _DAY_FIRST, "DATE"))
_YEARS: Final = (Rule(9, _IN_YEAR, "DATE"),)
_DATES: Final = (Rule(7, _DIGITS_DATE, "DATE"),)
_EACH_DAY: Final = _DAYS.replace("|", " ").lower()
_EACH_MONTH: Final = re.sub(r"\(\?:de \)\?|[()|?:]", " ", _MONTHS).lower().replace("sept ", "sep sept ")
RULES: Final = Rules(
    words=merged(
        at(" ".join(dict.fromkeys(_EACH_MONTH.split())), Rule(7, _MONTH_FIRST, "DATE")),
        at(" ".join(dict.fromkeys(_EACH_DAY.split())), Rule(7, _WEEKDAY, "DATE")),
        at("next last this coming", Rule(6, _NEXT, "DATE")),
        at("noon midnight", Rule(8, _WORD_TIME, "TIME")),
        at(
            "today tomorrow yesterday heute übermorgen aujourd demain hoy oggi domani hoje amanhã сегодня завтра вчера",
            Rule(9, _RELATIVE, "DATE"),
        ),
    ),
    numbers={
        ":": _CLOCKS,
        "-": (Rule(6, _INSTANT, "DATE_TIME"), *_DATES),
        "/": _DATES,
        ".": (*_DATES, *_HOURS, *_YEARS),
        ",": _YEARS,
        " ": (*_HOURS, *_YEARS),
        OTHER: (*_HOURS, *_YEARS, Rule(7, _CJK_DATE, "DATE")),
    },
    scans=(Scan(("今", "明", "昨", "后"), Rule(9, _CJK_RELATIVE, "DATE")),),
)
