"""A message as all providers have it, and what all of them say of calls and results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Spoken:
    """``role`` is user, assistant, tool or system; ``calls`` and ``results`` are ids."""

    role: str
    calls: list[Any] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)


def exchanges(messages: Sequence[Spoken]) -> Iterator[str]:
    """Each call is answered once, by messages of tools right behind its own; at the end answers may still come."""
    open_: list[Any] = []
    for place, message in enumerate(messages):
        if message.role == "tool":
            for each in message.results:
                if each in open_:
                    open_.remove(each)
                else:
                    yield f"{place}: a result of no open call"
            if not message.results:
                yield f"{place}: a result that names no call"
            continue
        if open_:
            yield f"{place}: something else than the results of the calls before it"
        open_ = list(message.calls)
        if len(set(map(str, open_))) < len(open_):
            yield f"{place}: an id twice in one message"


def unique(messages: Sequence[Spoken]) -> Iterator[str]:
    """No id is that of two calls."""
    ids = [each for message in messages for each in message.calls]
    if len(set(map(str, ids))) < len(ids):
        yield "an id of two calls"


def users_first(messages: Sequence[Spoken]) -> Iterator[str]:
    """The first message that is none of the system's is a user's."""
    first = next((message for message in messages if message.role != "system"), None)
    if first is None or first.role != "user":
        yield "the first message is no user's"


def system_first(messages: Sequence[Spoken]) -> Iterator[str]:
    """The system speaks once, before all others."""
    for place, message in enumerate(messages):
        if message.role == "system" and place > 0:
            yield f"{place}: the system within the conversation"


def digests(value: Any) -> Iterator[str]:
    """What stands for binary data in our exports is none."""
    level = [value]
    while level:
        item = level.pop()
        if isinstance(item, dict) and item.keys() >= {"sha256", "bytes"}:
            yield "a digest in place of data"
        elif isinstance(item, dict | list):
            level.extend(item.values() if isinstance(item, dict) else item)


def is_blank(text: Any) -> bool:
    return not isinstance(text, str) or not text.strip()
