"""``embed`` on a store that goes away while it is followed, does not get on, or has more events than one go takes."""

from __future__ import annotations

import json
from pathlib import Path

from agent.cli.exit_codes import ExitCode
from agent.cli.output_format import Format
from tests.cli.memory.event_store import Ended, ran, with_store
from tests.cli.memory.test_embed import ASKS, SESSION, EmbedCommand, counts, embedded, filed
from tests.cli.memory.test_retrieve import answered, page
from tests.cli.memory.test_tail import Waiting
from tests.cli.streams import terminal
from tests.recall.semantic.tiny import TINY
from tests.ruvector.peer import Peer, answer
from tests.store.filled import Filling
from tests.store.surface import payload, turn, turn_id


def run(url: str, cache: Path, *, follow: bool = False, hours: bool = False, sleep: Waiting | None = None) -> Ended:
    settings = {"SEMANTIC_MODEL": str(TINY), "SEMANTIC_CACHE": str(cache), "RUVECTOR_DEADLINE_S": "1"}
    clock = iter(range(1000))
    command = EmbedCommand(follow, None, 1.0, sleep or Waiting(), lambda: 3600.0 * next(clock) if hours else 0.0)
    return ran(command, url, Format.TABLE, at=terminal(environ=settings))


def test_a_store_that_goes_away_is_waited_for_and_the_look_for_erasures_waits_with_it(tmp_path: Path) -> None:
    sessions: list[bytes] = []

    def one(filling: Filling) -> None:
        filling.capture(payload(turn(1, "hello"), session=SESSION, **ASKS))
        sessions.append(json.dumps(filling.get("/v1/sessions")).encode())

    file = with_store(tmp_path / "store.db", one)
    assert counts(embedded(file))["embedded"] == 1
    # Each wait is as long as it takes until erasures are looked for: the store is away then too.
    there, away = answered(page(1, cursor="a")), answer(500)
    script = [*there, *answered(*sessions), *there, *[away] * 2, *there, *answered(*sessions), *there]
    with Peer(*script) as peer:
        code, out, err = run(peer.url, tmp_path / "cache", follow=True, hours=True, sleep=Waiting([lambda: None] * 3))
    assert code == ExitCode.INTERRUPTED
    assert "events" in out
    assert err.count("asking again until it is back\n") == err.count("memory-graph: the store is back\n") == 1
    assert err.endswith("memory-graph: stopped\n")
    assert filed(file) == [turn_id(1)]


def test_pages_that_do_not_advance_end_it_and_what_was_done_is_told(tmp_path: Path) -> None:
    with Peer(*answered(page(1, cursor="a"))) as peer:
        code, out, err = run(peer.url, tmp_path / "cache")
    assert code == ExitCode.STORE
    assert "position 1" in " ".join(out.split())
    assert "do not advance" in err


def test_more_events_than_one_go_takes_are_embedded_in_several(tmp_path: Path) -> None:
    def many(filling: Filling) -> None:
        for number in range(1, 104):
            filling.capture(payload(turn(number, f"parcel {number}"), session=SESSION, **ASKS))

    store = with_store(tmp_path / "store.db", many)
    found = counts(embedded(store))
    assert (found["events"], found["embedded"], found["position"]) == (103, 103, 103)
    assert len(filed(store)) == 103


def test_a_store_that_is_away_at_the_start_is_told_and_no_counts_are(tmp_path: Path) -> None:
    file = with_store(tmp_path / "store.db", lambda filling: filling.capture(payload(turn(1, "hello"), **ASKS)))
    embedded(file)
    with Peer(answer(500)) as peer:
        code, out, _ = run(peer.url, tmp_path / "cache", follow=True)
    assert (code, out) == (ExitCode.STORE, "")


def test_events_that_name_nothing_to_go_on_from_are_looked_at_and_read_again_the_next_time(tmp_path: Path) -> None:
    nameless = b'{"events":[{"position":1,"payload":{}}],"next_cursor":null}'
    for _ in range(2):
        with Peer(*answered(nameless)) as peer:
            code, out, _ = run(peer.url, tmp_path / "cache")
        assert code == ExitCode.OK
        assert "position 1" in " ".join(out.split())
        assert peer.received[0].path.startswith("/events/decisions?after=0")
