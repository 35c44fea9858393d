"""Events to be looked at and not moved, read in the quickest way that can be trusted.

A page of our own store is cut where its events begin, and each piece has to prove by itself that it is JSON: then the
pieces are what a parser of the page would have found. Nodes and edges are half of an event and follow from the other
half. Who only wants to know whether they are what they should be is spared to parse them: in a *sketch* they are text.
Any other page goes to the reader that takes everything, and has no sketches.

Numbers with a fraction or an exponent stay the text that was sent (jiter's lossless-float).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import jiter

from agent.ruvector.feed import FeedPage, cursor_of, execution_ref_of, position_of, read_page

_EVENT: Final = b'{"position":'
_START: Final = b'{"events":['
_END: Final = b'],"next_cursor":'
_NODES: Final = b'"nodes_created":['
_EDGES: Final = b'],"edges_created":['
# They stand in the places of nodes and edges, in an event that has them nowhere else.
_NODES_CUT: Final = 715_827_882_517_093_641
_EDGES_CUT: Final = 715_827_882_517_093_642
_CUT: Final = b'"nodes_created":%d,"edges_created":%d' % (_NODES_CUT, _EDGES_CUT)
_MARK: Final = b"71582788251709364"


class ParsedEvent(NamedTuple):
    """One envelope as it came. ``sketch`` is what it holds, its nodes and edges perhaps as bytes; None: not looked at.

    ``position`` and ``execution_ref`` as ``FedEvent`` has them.
    """

    text: bytes
    sketch: dict[str, Any] | None
    position: int | None
    execution_ref: str | None


class ParsedPage:
    """The page in an answer's ``body``, when ``limit`` events were asked for. Raises ValueError for what is no page.

    ``is_empty``, ``next_cursor`` and ``is_open`` as ``FeedPage`` has them.
    """

    def __init__(self, body: bytes, *, limit: int) -> None:
        self._body = body
        self._limit = limit
        self._pieces: list[bytes] = []
        self._cut: FeedPage | None = None
        end = body.rfind(_END)
        more = parsed(b"{" + body[end + 2 :]) if end > 0 and body.startswith(_START + _EVENT) else None
        if isinstance(more, dict) and more.keys() == {"next_cursor"}:
            self._pieces = body[len(_START) + len(_EVENT) : end].split(b"," + _EVENT)
            self.next_cursor, self.is_open, self.is_empty = cursor_of(more["next_cursor"]), False, False
        else:
            self._cut = page = read_page(body, limit=limit)
            self.next_cursor, self.is_open, self.is_empty = page.next_cursor, page.is_open, not page.events

    def events(self) -> Iterator[ParsedEvent]:
        """The events, each parsed when it is asked for. Raises ValueError where the body turns out to be no page."""
        good = 0
        for piece in self._pieces:
            text = _EVENT + piece
            sketch = _sketch(text)
            if sketch is None:
                # Damaged, or cut in the middle. Those before it are whole: an object says itself where it ends.
                self._cut = read_page(self._body, limit=self._limit)
                break
            yield ParsedEvent(text, sketch, position_of(sketch), execution_ref_of(sketch))
            good += 1
        if self._cut is not None:
            for event in self._cut.events[good:]:
                yield ParsedEvent(event.text, None, event.position, event.execution_ref)


def parsed(text: bytes) -> Any:
    """The value of JSON ``text``; None for what is not JSON in the sense of CONTRACT 2, and for null."""
    try:
        return jiter.from_json(
            text, allow_inf_nan=False, catch_duplicate_keys=True, float_mode="lossless-float", cache_mode="keys"
        )
    except ValueError:
        return None


def _sketch(text: bytes) -> dict[str, Any] | None:
    """What ``text`` holds, nodes and edges as bytes where they can be cut out; None where it is no JSON object."""
    start = text.find(_NODES)
    middle = text.find(_EDGES, start)
    # Neither list of ours holds a bracket. Another's may: then it ends too early, and is not what it should be.
    end = text.find(b"]", middle + len(_EDGES))
    if start >= 0 and middle >= 0 and end >= 0:
        rest = text[:start] + _CUT + text[end + 1 :]
        value = parsed(rest) if rest.count(_MARK) == 2 else None
        outputs = _member(_member(value, "payload"), "outputs")
        # Numbers that stood nowhere came out where nodes and edges belong: so it was these that were cut out.
        if (outputs.get("nodes_created"), outputs.get("edges_created")) == (_NODES_CUT, _EDGES_CUT):
            outputs["nodes_created"] = text[start + len(_NODES) - 1 : middle + 1]
            outputs["edges_created"] = text[middle + len(_EDGES) - 1 : end + 1]
            return _object(value)
    return _object(parsed(text))


def _object(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _member(value: Any, name: str) -> dict[str, Any]:
    return (_object(value) and _object(value.get(name))) or {}
