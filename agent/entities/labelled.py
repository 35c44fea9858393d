"""Values that stand behind the name of their field: ``"first_name": "Mia"``, ``City: Bern``. So tools answer.

``name`` alone labels products, functions and files as often as people, so it labels nobody here.
"""

from __future__ import annotations

import re
from typing import Final

from agent.entities.rule import Rule, Rules, at, merged

_FIELDS: Final = {
    "PERSON": "first_?name last_?name full_?name given_?name family_?name surname customer_?name passenger_?name "
    "guest_?name contact_?name author_?name Vorname Nachname nombre apellidos? prénom cognome director actors? artist",
    "LOCATION": "city country state province origin destination address_?[12]? street hometown Ort Stadt ciudad ville "
    "città cidade origin_city destination_city departure_city arrival_city birthplace",
    "ORGANIZATION": "company company_?name organi[sz]ation airline employer airlines restaurant_name hotel_name Firma",
    "WORK_OF_ART": "movie_name song_name album book_title movie_title track_name",
    "USER_ID": "user_?id username login customer_id",
    "FLIGHT_NUMBER": "flight_?number",
    "REFERENCE_CODE": "(?:order|reservation|booking|item|product|payment|payment_method|transaction|tracking|invoice"
    "|ticket|confirmation|account|gift_card|certificate|case)_?(?:id|number|code|ids)",
}
_BEGIN: Final = {
    "PERSON": "first firstname last lastname full fullname given family surname customer passenger guest contact "
    "author vorname nachname nombre apellido apellidos prénom cognome director actor actors artist",
    "LOCATION": "city country state province origin destination address street hometown ort stadt ciudad ville città "
    "cidade departure arrival birthplace",
    "ORGANIZATION": "company organization organisation airline airlines employer restaurant hotel firma",
    "WORK_OF_ART": "movie song album book track",
    "USER_ID": "user userid username login customer",
    "FLIGHT_NUMBER": "flight flightnumber",
    "REFERENCE_CODE": "order reservation booking item product payment transaction tracking invoice ticket confirmation "
    "account gift certificate case orderid reservationid itemid productid",
}
_VALUE: Final = r"[^\W_][^\"'\\\n\r\t{}\[\]<>=();|`]{0,79}"
_UNQUOTED: Final = r"[A-ZÀ-ÖØ-ÞА-Я][^\"'\\\n\r\t{}\[\]<>=();|`,:.*]{0,59}[^\W_]"
# What stands where a value would stand in a schema, a form or a program.
_EACH_NO_VALUE: Final = "string str int integer none null true false optional object any number unknown n/a"
_NO_VALUE: Final = frozenset(_EACH_NO_VALUE.split())
_CODE: Final = re.compile(r"#?[\w.-]{3,40}\Z")
_WORDS: Final = re.compile(r"[^\W\d_a-z][^\W\d_]*(?:[ .,'’-]{1,2}[^\W_]+){0,6}\.?\Z")  # noqa: RUF001 - as it is written
_PLACE: Final = re.compile(r"(?:[^\W\d_a-z]|\d{1,5} )[^\W_]*(?:[ .,'’#-]{1,2}[^\W_]+){0,8}\.?\Z")  # noqa: RUF001 - as it is written


def _pattern(names: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w.])(?:{names.replace(' ', '|')})"
        rf"(?:\\?[\"'] ?: {{0,2}}\\?[\"'](#?{_VALUE})\\?[\"']|: {{0,2}}({_UNQUOTED}))",
        re.IGNORECASE,
    )


def _is_code(found: re.Match[str]) -> bool:
    return found[1] is not None and _CODE.match(found[1]) is not None and any(map(str.isdigit, found[1]))


def _is_place(found: re.Match[str]) -> bool:
    return _is_said(found) and _PLACE.match(_value(found)) is not None


def _is_name(found: re.Match[str]) -> bool:
    return _is_said(found) and _WORDS.match(_value(found)) is not None and _value(found).count(" ") < 6


def _is_said(found: re.Match[str]) -> bool:
    value = _value(found)
    # Without quotes, a value in small letters is the rest of a sentence.
    is_value = found[1] is not None or (value[:1].isupper() and value.count(" ") < 4)
    return is_value and len(value) > 1 and value.lower() not in _NO_VALUE


def _value(found: re.Match[str]) -> str:
    return found[1] if found[1] is not None else found[2]


_HOLDS: Final = {"USER_ID": _is_code, "FLIGHT_NUMBER": _is_code, "REFERENCE_CODE": _is_code, "LOCATION": _is_place}
# Group -1 is the last one that matched: a value with quotes or without.
RULES: Final = Rules(
    words=merged(
        *(
            at(_BEGIN[kind], Rule(5, _pattern(names), kind, -1, _HOLDS.get(kind, _is_name)))
            for kind, names in _FIELDS.items()
        )
    ),
    numbers={},
)
