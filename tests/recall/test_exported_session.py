"""What is exported of a session beside its turns, whatever its store gives for an event."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.turn import SessionTurn
from agent.recall.exported_session import exported_session
from agent.ruvector.feed import FedEvent, FeedPage

SESSION = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"


class Giving:
    """A store that has one event, with this text."""

    def __init__(self, text: bytes) -> None:
        self._event = FedEvent(text, 1, "r-1", None, None)

    def raw_events(self, **_: Any) -> FeedPage:
        return FeedPage((self._event,), None)


def exported(text: bytes) -> Any:
    turn = SessionTurn("t-1", 1, "c", None, "user", "x", False, {"execution_ref": "r-1"})
    return exported_session(Giving(text), SESSION, None, shown=[turn], turns=[turn])  # type: ignore[arg-type]  # all that it reads


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"payload":NaN}',
        b'{"payload":{"inputs":{"turns":[]},"inputs":{}}}',
        b'{"payload":%s}' % (b"[" * 500 + b"]" * 500),
        b'{"payload":{"inputs":{"n":%s}}}' % (b"9" * 5000),
        b'{"payload":{"inputs":{"turns":[7,{"turn_id":7},{"turn_id":"t-2"}]}}}',
    ],
)
def test_an_event_that_is_none_says_nothing_beside_its_turns(text: bytes) -> None:
    session = exported(text)
    assert [capture.context for capture in session.captures.values()] == [{}]
    assert (session.named_alike, session.without_parent) == ({}, set())


def test_numbers_beside_the_turns_are_numbers() -> None:
    session = exported(b'{"payload":{"inputs":{"temperature":0.7,"turns":[{"turn_id":"T-1","seq":5}]}}}')
    assert session.captures["r-1"].fields == {"temperature": 0.7}
    assert session.named_alike == {"t-1": {"seq": 5}}
    assert session.without_parent == {"t-1"}
