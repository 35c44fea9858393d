"""Times since 1970 in seconds, ms, us and ns, as records have them: none is an id, a card or a telephone by itself."""

import random

import pytest

from agent.content.detectors import find
from agent.content.redacted import Redacting

# From 2015 to the end of 2039.
FIRST, LAST = 1_420_070_400, 2_208_988_799
# Of September to November 2039: times in us that begin as cards of Mir do.
MIR = 2_200_000_000
NAMES = (
    *("created_at", "updatedAt", "timestamp", "ts", "time", "date", "expires_at", "exp", "iat", "nbf", "last_seen_ms"),
    *("start_time", "endTime", "modified", "mtime", "epoch", "t", "lastLogin", "sent", "received", "_ts", "since"),
)


def times(unit: int, count: int, last: int = LAST) -> list[int]:
    drawn = random.Random(unit)
    return [drawn.randrange(FIRST * unit, last * unit) for _ in range(count)]


def test_no_time_in_ms_is_found_bare_in_json_or_as_an_integer() -> None:
    taken = []
    for place, time in enumerate(times(1000, 20_000)):
        name = NAMES[place % len(NAMES)]
        taken += [text for text in (str(time), f'{{"{name}": {time}}}') if find(text)]
        redacting = Redacting(find, frozenset())
        taken += [name] * (redacting.arguments({name: time, "all": [time]}) != {name: time, "all": [time]})
    assert taken == []


@pytest.mark.parametrize(("unit", "last"), [(1, LAST), (10**3, LAST), (10**6, MIR), (10**9, LAST)])
@pytest.mark.parametrize(
    "text",
    [
        "at {0}, then",
        "[{0}, {1}]",
        "id,created_at,name\n7,{0},Ann",
        "{0} INFO started",
        "<t:{0}>",
        "{0}-{1}",
        '{{"ts": "{0}"}}',
    ],
)
def test_no_time_of_any_unit_is_found_where_texts_have_them(unit: int, last: int, text: str) -> None:
    written = [text.format(time, time + 7) for time in times(unit, 1500, last)]
    assert [each for each in written if find(each)] == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("CNP 1630615123457", "1630615123457"),
        ("CNP: 1630615123457.", "1630615123457"),
        ('{"national_id": 2009416235940}', "2009416235940"),
        ("EMŠO 2009416235940", "2009416235940"),
    ],
)
def test_beside_a_word_what_may_be_a_time_is_an_id(text: str, number: str) -> None:
    assert [text[each.start : each.end] for each in find(text)] == [number]


@pytest.mark.parametrize("text", ["7561813468089", "350304397803175753", "7970603405381", "7503305044089"])
def test_what_cannot_be_a_time_needs_no_word(text: str) -> None:
    assert [(each.kind, text[each.start : each.end]) for each in find(text)] == [("national_id", text)]


def test_a_card_of_mir_that_may_be_a_time_of_2039_is_a_card() -> None:
    assert [each.kind for each in find("2200000000000004")] == ["card"]
