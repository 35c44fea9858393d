"""The values of a query: numbers, ids, instants, flags and words, each read or refused by its name and range.

Refuses with BadRequest; a message names the query name and what it takes, never what was sent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from agent.core.timestamps import instant
from store.errors import BadRequest
from store.log.identifiers import packed
from store.port import DEFAULT_LIMIT, MAX_LIMIT

LARGEST: Final = 2**63 - 1
# Quoted for a URL they fit into the request line that servers take (8190 bytes), in any script.
MAX_SEARCH_CHARACTERS: Final = 500
MAX_TYPES: Final = 20
_NANOSECONDS_A_MICROSECOND: Final = 1000
_DIGITS: Final = re.compile(r"[0-9]{1,19}\Z", re.ASCII)

Query = Mapping[str, str]


def whole_number(query: Query, name: str, *, lowest: int = 0, highest: int = LARGEST) -> int | None:
    """The value of ``name`` in ASCII digits; None where it is absent."""
    text = query.get(name)
    if text is None:
        return None
    if not _DIGITS.match(text) or not lowest <= int(text) <= highest:
        raise BadRequest(f"{name} must be a whole number from {lowest} to {highest}")
    return int(text)


def page_limit(query: Query, name: str = "limit", *, default: int = DEFAULT_LIMIT) -> int:
    """A page's size, 1..1000."""
    value = whole_number(query, name, lowest=1, highest=MAX_LIMIT)
    return default if value is None else value


def identifier(query: Query, name: str) -> bytes | None:
    """The UUID under ``name``, in any case; None where it is absent."""
    text = query.get(name)
    if text is None:
        return None
    value = packed(text)
    if value is None:
        raise BadRequest(f"{name} must be a UUID")
    return value


def instant_us(query: Query, name: str) -> int | None:
    """The instant under ``name`` in microseconds since 1970, cut; None where it is absent."""
    text = query.get(name)
    if text is None:
        return None
    try:
        return instant(text) // _NANOSECONDS_A_MICROSECOND
    except ValueError:
        raise BadRequest(f"{name} must be an RFC 3339 date-time with an offset, its plus sign written %2B") from None


def choice(query: Query, name: str, first: str, second: str) -> bool:
    """Whether ``name`` is ``second``; where it is absent it is ``first``."""
    text = query.get(name, first)
    if text not in (first, second):
        raise BadRequest(f"{name} must be {first} or {second}")
    return text == second


def search_words(query: Query, name: str) -> str | None:
    """The words under ``name``; None where it is absent. Nothing but white space finds nothing and is refused."""
    text = query.get(name)
    if text is not None and (len(text) > MAX_SEARCH_CHARACTERS or not text.strip()):
        raise BadRequest(f"{name} must have 1 to {MAX_SEARCH_CHARACTERS} characters, and not white space alone")
    return text


def names(query: Query, name: str) -> tuple[str, ...] | None:
    """Names with commas between them, each once; None where ``name`` is absent."""
    text = query.get(name)
    if text is None:
        return None
    found = tuple(dict.fromkeys(text.split(",")))
    if "" in found or len(found) > MAX_TYPES:
        raise BadRequest(f"{name} must be 1 to {MAX_TYPES} names with commas between them")
    return found


def is_digits(text: str) -> bool:
    """Whether ``text`` can only be a number."""
    return _DIGITS.match(text) is not None
