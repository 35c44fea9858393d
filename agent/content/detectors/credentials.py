"""What opens or pays for something: keys, tokens, passwords, cards, bank accounts; the families of ``find`` for them.

For whoever passes on parts of a text that stays as it is. One look: what stands in a text is not replaced here, so
nothing is uncovered. A card needs no word beside it. Refused: telephones, addresses and ids of persons.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from agent.content.detectors.bearer_tokens import bearer_tokens
from agent.content.detectors.cards import is_card
from agent.content.detectors.cloud_keys import cloud_keys
from agent.content.detectors.connection_strings import connection_strings
from agent.content.detectors.grouped_cards import grouped_cards
from agent.content.detectors.ibans import ibans
from agent.content.detectors.jwts import jwts
from agent.content.detectors.number import Number
from agent.content.detectors.private_keys import private_keys
from agent.content.detectors.told import told_numbers
from agent.content.detectors.url_passwords import url_passwords
from agent.content.detectors.vendor_tokens import vendor_tokens
from agent.content.detectors.view import view_of
from agent.content.found import Found

_Family = Callable[[str], Iterable[Found]]
# What a text has to hold for a family: most have none of it, and each of these is searched for quickly.
_FAMILIES: Final[tuple[tuple[_Family, str], ...]] = (
    (private_keys, "-----BEGIN "),
    (jwts, "eyJ"),
    (connection_strings, "="),
    (url_passwords, "://"),
)
_OF_RUNS: Final[tuple[_Family, ...]] = (vendor_tokens, cloud_keys)
_RUN: Final = re.compile("[A-Za-z0-9_.+/=,-]{20}")
_OF_HEADERS: Final = ("bearer", "authorization")
_BEGINS_IBAN: Final = re.compile("[A-Za-z](?:[0-9]{2}| [0-9] [0-9])")
_FEWEST_DIGITS: Final = 12
_CARD: Final = re.compile(
    "(?<![0-9A-Za-z])"
    "(?:[0-9]{12,19}|[0-9]{4}(?:[ -][0-9]{4}){2,3}(?:[ -][0-9]{1,4})?|[0-9]{4}[ -][0-9]{6}[ -][0-9]{4,5})"
    "(?![0-9A-Za-z])"
)
_GROUP: Final = re.compile("[0-9]+")
_KINDS: Final = frozenset(
    {
        *("private_key", "jwt", "vendor_token", "connection_string", "url_password", "cloud_key"),
        *("iban", "card"),
    }
)
_SHORTEST: Final = 6
# Of a family, in one text; behind more of them all of it is taken for one.
_MOST: Final = 20_000


def credentials_in(text: str) -> list[tuple[int, int]]:
    """From where to where credentials stand in ``text``, in order, without overlaps."""
    if len(text) < _SHORTEST:
        return []
    view = view_of(text)
    seen = view.text
    spans: list[tuple[int, int]] = []
    for family in _families_for(seen):
        found = [each for each in islice(family(seen), _MOST + 1) if each.kind in _KINDS]
        if len(found) > _MOST:
            found = [Found(min(each.start for each in found), len(seen), found[0].kind)]
        spans += [view.found(each)[:2] for each in found]
    return _united(spans)


def _families_for(text: str) -> Iterator[_Family]:
    """Those that may find something in ``text``."""
    yield from (family for family, sign in _FAMILIES if sign in text)
    if _RUN.search(text) is not None:
        yield from _OF_RUNS
    lower = text.lower()
    if any(word in lower for word in _OF_HEADERS):
        yield bearer_tokens
    digits = sum(map(text.count, "0123456789"))
    if digits and _BEGINS_IBAN.search(text) is not None:
        yield ibans
    if digits >= _FEWEST_DIGITS:
        yield from (grouped_cards, told_numbers, _cards)


def _cards(text: str) -> Iterator[Found]:
    """Each number in ``text`` that may be a card's, in one run or in the usual groups."""
    for written in _CARD.finditer(text):
        groups = tuple(_GROUP.findall(written[0]))
        if is_card(Number(text, *written.span(), "".join(groups), groups, ""), has_word=True):
            yield Found(*written.span(), "card")


def _united(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """``spans`` in order; those that overlap are one."""
    held: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if held and start < held[-1][1]:
            held[-1] = held[-1][0], max(end, held[-1][1])
        else:
            held.append((start, end))
    return held
