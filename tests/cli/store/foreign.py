"""Other people's stores on a real socket: feeds that page in their own ways, honest and not."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from tests.ruvector.peer import Exchange, Step, response_bytes

# The query of a request to the feed, to the body of its answer.
Feed = Callable[[dict[str, str]], bytes]


def feeding(feed: Feed) -> Step:
    """Answers a GET of the feed by ``feed``, and anything else with 404."""

    def step(exchange: Exchange) -> bool:
        address = urlsplit(exchange.request.path)
        if exchange.request.method != "GET" or address.path != "/events/decisions":
            exchange.connection.sendall(response_bytes(404, b"{}"))
        else:
            query = {name: values[0] for name, values in parse_qs(address.query, keep_blank_values=True).items()}
            exchange.connection.sendall(response_bytes(200, feed(query)))
        return True

    return step


def counting(events: list[bytes]) -> Feed:
    """Pages whose cursor is a number: how many events were read."""

    def feed(query: dict[str, str]) -> bytes:
        start = int(query.get("after", "0"))
        page = events[start : start + int(query["limit"])]
        return page_bytes(page, start + len(page) if page else None)

    return feed


def repeating(events: list[bytes]) -> Feed:
    """Pages whose cursor never moves, however it is asked."""
    return lambda _query: page_bytes(events, "2026-03-02T08:15:00Z")


def page_bytes(events: list[bytes], cursor: object) -> bytes:
    return b'{"events":[%b],"next_cursor":%b}' % (b",".join(events), json.dumps(cursor).encode())
