"""Every event of a store is replayed once, and the walk ends whatever the store answers."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent.bootstrap import store_client
from agent.config import Settings
from agent.core.replay import Reason, Replay, Verdict
from agent.errors import StoreNotFound, StoreWriteError
from agent.recall.replay import PAGE, Replays, Verification, replayed
from agent.ruvector.feed import FEED_PATH, Query, read_event
from agent.ruvector.reads import StoreReads
from store.urls import open_store
from tests.core.stored_events import captured, captured_text
from tests.store.filled import fill
from tests.strategies import fresh_payload

LIST = "/v1/decision-events"


class Asked:
    """A store that answers by ``answer``, and remembers what it was asked for."""

    def __init__(self, answer: Callable[[Query], bytes]) -> None:
        self._answer = answer
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def ask(self, method: str, path: str, query: Query, read: Callable[[bytes], Any]) -> Any:
        assert len(self.asked) < 50, "the walk does not end"
        self.asked.append((path, {name: value for name, value in query.items() if value is not None}))
        return read(self._answer(query))


def walked(answer: Callable[[Query], bytes], **which: Any) -> tuple[list[Any], Verification, Asked]:
    asked = Asked(answer)
    verification = Verification(StoreReads(asked), **which)
    return list(verification), verification, asked


def page(events: list[Any], cursor: Any = None, **more: Any) -> bytes:
    return json.dumps({"events": events, "next_cursor": cursor, **more}, separators=(",", ":")).encode()


def event(position: int | None) -> dict[str, Any]:
    place = {} if position is None else {"position": position}
    return {**place, **captured(fresh_payload(1))}


def by_cursor(pages: dict[Any, bytes]) -> Callable[[Query], bytes]:
    return lambda query: pages[query.get("after", query.get("cursor"))]


def test_pages_are_followed_to_their_end() -> None:
    pages = {None: page([event(1), event(2)], "a"), "a": page([event(5)], "b"), "b": page([], "b")}
    found, verification, asked = walked(by_cursor(pages))
    assert [each.position for each in found] == [1, 2, 5]
    assert {each.replay.verdict for each in found} == {Verdict.IDENTICAL}
    assert [query for _, query in asked.asked] == [
        {"limit": PAGE},
        {"limit": PAGE, "after": "a"},
        {"limit": PAGE, "after": "b"},
    ]
    assert {path for path, _ in asked.asked} == {FEED_PATH}
    assert (verification.is_open, verification.highest) == (False, 5)


def test_filters_are_those_of_the_list() -> None:
    found, _, asked = walked(by_cursor({None: page([event(1)])}), session_id="s", since="2026-01-01T00:00:00Z")
    assert len(found) == 1
    assert asked.asked == [(LIST, {"session_id": "s", "from": "2026-01-01T00:00:00Z", "limit": PAGE})]


def test_a_store_that_writes_pages_in_its_own_way_is_read() -> None:
    body = json.dumps({"next_cursor": None, "events": [event(1), 7, {"position": 3}]}, indent=1).encode()
    found, _, _ = walked(lambda _: body)
    assert [each.replay.verdict.value for each in found] == ["identical", "differs", "not_possible"]


def test_a_damaged_event_is_looked_at_closely() -> None:
    damaged = event(2)
    damaged["payload"]["outputs"]["nodes_created"].pop()
    found, _, _ = walked(lambda _: page([event(1), damaged, event(3)]))
    assert [each.replay.verdict.value for each in found] == ["identical", "differs", "identical"]
    assert [each.path for each in found[1].replay.differences] == ["$.outputs.nodes_created[1]"]


def test_a_page_that_says_nothing_of_what_follows_leaves_that_open() -> None:
    body = json.dumps({"events": [event(number) for number in range(PAGE)]}).encode()
    found, verification, _ = walked(lambda _: body)
    assert (len(found), verification.is_open) == (PAGE, True)


@pytest.mark.parametrize(
    "pages",
    [
        {None: page([event(1)], "a"), "a": page([event(2)], "a")},
        {None: page([event(1)], "a"), "a": page([event(2)], "b"), "b": page([event(3)], "a")},
        {None: page([event(1)], "a"), "a": page([event(1)], "b"), "b": page([event(1)], "c")},
        {None: page([event(None)], "a"), "a": page([event(None)], "a")},
    ],
)
def test_pages_that_do_not_advance_end_the_walk(pages: dict[Any, bytes]) -> None:
    with pytest.raises(StoreWriteError, match="do not advance"):
        walked(by_cursor(pages))


def test_a_page_that_turns_out_to_be_none_ends_the_walk() -> None:
    body = page([event(1), event(2)]).replace(b'{"position":2,', b'{"position":2,,')
    with pytest.raises(StoreWriteError, match="not a page of events"):
        walked(lambda _: body)


def test_a_store_without_a_feed_is_called_so() -> None:
    def answer(_: Query) -> bytes:
        raise StoreNotFound("the store has no such record")

    with pytest.raises(StoreNotFound, match="no list of events"):
        walked(answer)


def test_one_event_is_replayed_from_its_bytes() -> None:
    fed = read_event(captured_text(fresh_payload(2)))
    assert replayed(fed).replay.verdict is Verdict.IDENTICAL
    twice = read_event(fed.text.replace(b'"confidence":1.0', b'"confidence":1.0,"confidence":1.0'))
    assert [each.path for each in replayed(twice).replay.differences] == ["$"]


def test_counts_say_what_came_of_all() -> None:
    replays = Replays()
    for reason in (Reason.ERASED, Reason.NOT_OURS, None):
        replays.add(Replay(Verdict.NOT_POSSIBLE if reason else Verdict.IDENTICAL, reason=reason))
    assert (replays.events, replays.is_whole) == (3, True)
    replays.add(Replay(Verdict.NOT_POSSIBLE, reason=Reason.NEWER_CONTRACT))
    assert not replays.is_whole


def test_in_a_store_with_everything_in_it_nothing_differs(tmp_path: Path) -> None:
    with closing(open_store(f"sqlite:///{tmp_path / 'store.db'}")) as store:
        fill(store)
        expected = store.stats().events
    replays = Replays()
    with closing(
        store_client(Settings.from_env({"RUVECTOR_SERVICE_URL": f"embedded:{tmp_path / 'store.db'}"}))
    ) as client:
        for each in Verification(client.reads):
            replays.add(each.replay)
    assert replays.events == expected > 100
    assert replays.verdicts[Verdict.DIFFERS] == 0
    assert replays.verdicts[Verdict.IDENTICAL] > 60
    assert {Reason.ERASED, Reason.NO_INPUTS, Reason.NOT_OURS, Reason.OTHER_WRITER} == set(replays.reasons)
