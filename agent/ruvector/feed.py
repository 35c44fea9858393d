"""The store's feed as raw envelopes (CONTRACT 10): each event is the very bytes that the store sent.

What is moved from store to store must keep every digit and every unknown member, so an envelope is cut out of the page
and never written again. Of what it holds only what a mover needs is read, and none is refused for what is wrong with
it: that is for the store that takes it. The page itself must be a JSON object with ``events``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from agent.ruvector.client import AnswerTooLong, Query

T = TypeVar("T")
Page_co = TypeVar("Page_co", covariant=True)

FEED_PATH: Final = "/events/decisions"
# Other people's cursors may be longer than ours; beyond this an address is no longer carried.
_LONGEST_CURSOR: Final = 4096
_LARGEST_POSITION: Final = 2**63 - 1
# More digits are no position, and int() refuses more than 4300.
_LONGEST_POSITION: Final = 19
_ABSENT: Final = object()
_AS_IT_IS: Final = "surrogateescape"
_WHITE_SPACE: Final = re.compile(r"[ \t\n\r]*", re.ASCII)
# RFC 9110 5.6.2 and CONTRACT 7: what an Idempotency-Key can be.
_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}\Z", re.ASCII)


class Asked(Protocol):
    """Who asks the store: the client."""

    def ask(self, method: str, path: str, query: Query, read: Callable[[bytes], T]) -> T:
        """What ``read`` makes of the answer."""


class ReadBody(Protocol[Page_co]):
    """Reads the body of an answer that ``limit`` events were asked for. Raises ValueError for what is no page."""

    def __call__(self, body: bytes, *, limit: int) -> Page_co: ...


@dataclass(frozen=True, slots=True)
class FedEvent:
    """One envelope: ``text`` as it came. The rest is None where the envelope does not say it as ours do.

    ``key`` is the event's own Idempotency-Key, its ``inputs_hash``. ``is_erased``: only its skeleton is left.
    """

    text: bytes
    position: int | None
    execution_ref: str | None
    type: str | None
    key: str | None
    is_erased: bool = False


@dataclass(frozen=True, slots=True)
class FeedPage:
    """Envelopes in the order of the feed; ``next_cursor`` is None where the store names none.

    ``is_open``: it names none and does not say null either, and the page is as long as was asked. Nobody knows what
    lies behind it.
    """

    events: tuple[FedEvent, ...]
    next_cursor: str | None
    is_open: bool = False


def read_feed(asked: Asked, after: str | None, limit: int, types: tuple[str, ...], *, shown: bool = False) -> FeedPage:
    """The page of the feed beyond the cursor ``after``; fewer than ``limit`` where that many are too long to receive.

    ``shown``: the envelopes are printed, and must be JSON objects by the letter. Raises as ``RuvectorClient.ask`` does;
    StoreWriteError where one event alone is too long.
    """
    query = {"after": after, "types": ",".join(types) or None}
    return ask_page(asked, FEED_PATH, query, limit, read_shown_page if shown else read_page)


def read_events(asked: Asked, path: str, query: Query, limit: int, *, shown: bool) -> FeedPage:
    """A page of the list of events at ``path``, by the rules of ``read_feed``."""
    return ask_page(asked, path, query, limit, read_shown_page if shown else read_page)


def ask_page(asked: Asked, path: str, query: Query, limit: int, read: ReadBody[T]) -> T:
    """What ``read`` makes of a page at ``path``, by the rules of ``read_feed``."""
    while True:
        try:
            return asked.ask("GET", path, {**query, "limit": limit}, partial(read, limit=limit))
        except AnswerTooLong as error:
            if limit == 1:
                raise error.refused from None
            limit = max(1, limit // 4)


def read_page(body: bytes, *, limit: int) -> FeedPage:
    """The page in an answer's ``body``, when ``limit`` events were asked for. Raises ValueError for what is no page."""
    try:
        # What is no UTF-8 stands for itself, and is cut out again as it came.
        return _Reader(body.decode("utf-8-sig", _AS_IT_IS)).page(limit)
    except RecursionError:
        raise ValueError("nested too deep") from None


def read_shown_page(body: bytes, *, limit: int) -> FeedPage:
    """As ``read_page``, and raises ValueError where an envelope is no JSON object by the letter of RFC 8259."""
    try:
        return _Reader(body.decode("utf-8-sig"), shown=True).page(limit)
    except RecursionError:
        raise ValueError("nested too deep") from None


def read_event(body: bytes, *, shown: bool = False) -> FedEvent:
    """The one envelope that is an answer's ``body``. Raises ValueError for what is no JSON object.

    ``shown``: by the letter of RFC 8259.
    """
    try:
        return _Reader(body.decode("utf-8-sig", "strict" if shown else _AS_IT_IS), shown=shown).event()
    except RecursionError:
        raise ValueError("nested too deep") from None


class _Digits(str):
    """A number that is no position, as it was written. ``FedEvent`` has no use for it; a cursor may be one."""

    __slots__ = ()


class _Reader:
    """Walks the members of a page by hand, and each value by the parser of the standard library, which says its end."""

    def __init__(self, text: str, *, shown: bool = False) -> None:
        self._text = text
        self._place = 0
        self._shown = shown
        constant = _no_json if shown else float
        decoder = json.JSONDecoder(strict=shown, parse_int=_integer, parse_float=_Digits, parse_constant=constant)
        self._decode: Callable[[str, int], tuple[Any, int]] = decoder.raw_decode

    def page(self, limit: int) -> FeedPage:
        events: tuple[FedEvent, ...] | None = None
        cursor: Any = _ABSENT
        self._take("{")
        more = not self._taken("}")
        while more:
            self._skip()
            if not self._text.startswith('"', self._place):
                raise ValueError("no name")
            name = self._value()
            self._take(":")
            if name == "events":
                events = self._events()
            elif name == "next_cursor":
                cursor = self._value()
            else:
                self._value()
            more = self._taken(",")
            if not more:
                self._take("}")
        self._skip()
        if events is None or self._place < len(self._text):
            raise ValueError("no page")
        if cursor is _ABSENT:
            return FeedPage(events, None, is_open=len(events) >= limit)
        return FeedPage(events, cursor_of(cursor))

    def event(self) -> FedEvent:
        self._skip()
        start = self._place
        value = self._value()
        text = self._text[start : self._place].encode(errors=_AS_IT_IS)
        self._skip()
        if not isinstance(value, dict) or self._place < len(self._text):
            raise ValueError("no event")
        return _event(value, text)

    def _events(self) -> tuple[FedEvent, ...]:
        events: list[FedEvent] = []
        self._take("[")
        more = not self._taken("]")
        while more:
            self._skip()
            start = self._place
            value = self._value()
            if self._shown and not isinstance(value, dict):
                raise ValueError("no event")
            events.append(_event(value, self._text[start : self._place].encode(errors=_AS_IT_IS)))
            more = self._taken(",")
            if not more:
                self._take("]")
        return tuple(events)

    def _value(self) -> Any:
        self._skip()
        value, self._place = self._decode(self._text, self._place)
        return value

    def _take(self, character: str) -> None:
        if not self._taken(character):
            raise ValueError(f"no {character}")

    def _taken(self, character: str) -> bool:
        self._skip()
        found = self._text.startswith(character, self._place)
        self._place += found
        return found

    def _skip(self) -> None:
        spaces = _WHITE_SPACE.match(self._text, self._place)
        self._place = spaces.end() if spaces else self._place


def _no_json(word: str) -> float:
    """Refuse NaN and the infinities, which are no JSON (RFC 8259 section 6)."""
    raise ValueError(word)


def _event(value: Any, text: bytes) -> FedEvent:
    envelope = value if isinstance(value, dict) else {}
    event = _decision_event(envelope)
    key = _string(event, "inputs_hash")
    return FedEvent(
        text=text,
        position=position_of(envelope),
        execution_ref=execution_ref_of(envelope),
        type=_string(envelope, "type") or _string(event, "decision_type"),
        key=key if key is not None and _KEY.match(key) else None,
        is_erased=envelope.get("erased") is True,
    )


def position_of(envelope: Any) -> int | None:
    """Where an envelope stands in the log; None where it does not say it as ours do."""
    value = envelope.get("position") if isinstance(envelope, dict) else None
    return value if type(value) is int and 0 <= value <= _LARGEST_POSITION else None


def execution_ref_of(envelope: Any) -> str | None:
    """What an envelope calls itself, fit to be shown; None where it does not."""
    if not isinstance(envelope, dict):
        return None
    return _string(envelope, "runId") or _string(_decision_event(envelope), "execution_ref")


def _decision_event(envelope: dict[str, Any]) -> dict[str, Any]:
    payload = envelope.get("payload")
    # A bare DecisionEvent stands for its envelope (CONTRACT 10).
    return payload if isinstance(payload, dict) else envelope


def _string(members: dict[str, Any], name: str) -> str | None:
    value = members.get(name)
    # It is shown to people and in documents: half a surrogate pair can stand in neither.
    return value.encode(errors="backslashreplace").decode() if type(value) is str and value else None


def cursor_of(value: object) -> str | None:
    """A cursor as text; a store that counts may name a number. An empty one says that nothing follows."""
    if value is None or value == "":
        return None
    if type(value) is int:
        return str(value)
    if not isinstance(value, str) or len(value) > _LONGEST_CURSOR:
        raise ValueError("no cursor")
    # UnicodeEncodeError, a ValueError, for a lone surrogate: no address can hold it.
    return value.encode().decode()


def _integer(digits: str) -> int | _Digits:
    return int(digits) if len(digits) <= _LONGEST_POSITION else _Digits(digits)
