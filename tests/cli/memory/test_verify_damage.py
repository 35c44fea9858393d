"""``verify`` of a store that cannot read an event or has lost one: a finding, and all others are looked at."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.cli.exit_codes import ExitCode
from agent.cli.memory.checking.positions import SeenPositions
from agent.cli.memory.checking.verify import VerifyCommand
from agent.cli.memory.events.retrieve import RetrieveCommand
from agent.cli.memory.sessions.history import HistoryCommand
from agent.cli.output_format import Format
from store.engines.schema import DEFAULT_TENANT_KEY, event_key
from store.engines.sqlite import SqliteStore
from tests.cli.memory.event_store import PLAN, Ended, ran, with_store
from tests.ruvector.peer import Peer, answer
from tests.store.filled import Filling, session
from tests.store.surface import payload, turn

NEWEST = 4


def key(position: int) -> int:
    return event_key(DEFAULT_TENANT_KEY, position)


def flip(path: Path, *positions: int) -> None:
    """Change a bit of the body of each of these events, as a disk does."""
    store = SqliteStore(str(path))
    with store.engine.writing() as connection:
        for position in positions:
            (body,) = connection.execute("SELECT body FROM events WHERE event_key = ?", (key(position),)).fetchone()
            changed = body[:40] + bytes([body[40] ^ 1]) + body[41:]
            connection.execute("UPDATE events SET body = ? WHERE event_key = ?", (changed, key(position)))
    store.close()


def change(path: Path, sql: str, *values: Any) -> None:
    store = SqliteStore(str(path))
    with store.engine.writing() as connection:
        connection.execute(sql, values)
    store.close()


def lose(path: Path, *positions: int) -> None:
    for position in positions:
        change(path, "DELETE FROM events WHERE event_key = ?", key(position))


def four(filling: Filling) -> None:
    """Positions 1 to 4, each of a session of its own; the second is another agent's and of none."""
    for number in (1, 2, 3, 4):
        if number == 2:
            filling.post(PLAN)
        else:
            filling.capture(payload(turn(1, f"text {number} " * 100), session=session(number)))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return with_store(tmp_path / "store.db", four)


def verified(store: Path | str, output_format: Format = Format.JSON, *, limit: int = 100, **which: Any) -> Ended:
    return ran(VerifyCommand(limit, **which), store, output_format)


def found(store: Path | str, **more: Any) -> dict[str, Any]:
    code, out, err = verified(store, **more)
    said: dict[str, Any] = json.loads(out)
    assert (code, said["ok"]) == ((ExitCode.OK, True) if not said["findings"] else (ExitCode.DIFFERS, False))
    assert (err, said["complete"], said["finding_count"]) == ("", True, len(said["findings"]))
    return said


def test_a_damaged_event_is_a_finding_and_all_others_are_looked_at(store: Path) -> None:
    flip(store, 1, 3)
    said = found(store)
    assert said["findings"] == [
        {"kind": "damaged_event", "subject": f"position {at}", "detail": "the store cannot read it", "position": at}
        for at in (1, 3)
    ]
    assert (said["events"], said["verdicts"]["identical"]) == (2, 1)


def test_people_are_told_what_it_is_and_what_looks_further(store: Path) -> None:
    flip(store, 3)
    code, out, err = verified(store, Format.TABLE)
    assert (code, err) == (ExitCode.DIFFERS, "")
    assert "\nresult         1 finding of what is damaged or lost\n" in out
    assert "\ndamaged_event  position 3  the store cannot read it\n" in out
    assert out.endswith("\nbeyond         what the store itself has lost: memory-graph store verify\n")


def test_only_so_many_findings_are_shown_and_all_are_counted(store: Path) -> None:
    flip(store, 1, 3, 4)
    said = json.loads(verified(store, limit=1)[1])
    assert (len(said["findings"]), said["finding_count"]) == (1, 3)
    assert "and 2 more (--limit)" in verified(store, Format.TABLE, limit=1)[1]


def test_a_session_whose_only_event_is_damaged_is_no_session_without_events(store: Path) -> None:
    flip(store, 3)
    said = found(store, session_id=session(3))
    assert [each["position"] for each in said["findings"]] == [3]
    assert (said["events"], said["unexplained_positions"]) == (0, None)


def test_an_event_whose_turns_stand_in_a_damaged_one_says_so(tmp_path: Path) -> None:
    sent = payload(turn(1, "a" * 2000))

    def twice(filling: Filling) -> None:
        filling.capture(sent)
        filling.capture(payload(*sent["turns"], turn(2)))

    path = with_store(tmp_path / "store.db", twice)
    flip(path, 1)
    details = [each["detail"] for each in found(path)["findings"]]
    assert details == ["the store cannot read it", "the store cannot read it, as turns of it stand in position 1"]


@pytest.mark.parametrize("positions", [(1,), (2,), (1, 3), (NEWEST,), (3, NEWEST)])
def test_an_event_that_is_gone_is_found_the_newest_too(positions: tuple[int, ...], store: Path) -> None:
    lose(store, *positions)
    said = found(store)
    gone = [each["subject"] for each in said["findings"]]
    assert gone == (["positions 3 to 4"] if positions == (3, 4) else [f"position {at}" for at in positions])
    assert {each["kind"] for each in said["findings"]} == {"lost_position"}
    assert said["unexplained_positions"] == 0


def test_a_gap_beside_erasures_is_told_from_them(store: Path) -> None:
    with_store(store, lambda filling: filling.erase("session", session(3)))
    with_store(store, lambda filling: filling.capture(payload(turn(1), session=session(6))))
    said = found(store)
    assert (said["findings"], said["unexplained_positions"]) == ([], 0)
    lose(store, 2)
    (finding,) = found(store)["findings"]
    assert (finding["kind"], finding["subject"], finding["position"]) == ("lost_position", "position 2", 2)
    assert finding["detail"] == "no event and no erasure stands there"


def test_an_erasure_of_what_was_erased_hides_no_gap(store: Path) -> None:
    for _ in range(3):
        with_store(store, lambda filling: filling.erase("session", session(3)))
    said = found(store)
    assert (said["findings"], said["unexplained_positions"]) == ([], 0)
    lose(store, 2)
    said = found(store)
    assert ([each["position"] for each in said["findings"]], said["unexplained_positions"]) == ([2], 0)


def test_what_a_restore_left_empty_is_not_lost(store: Path) -> None:
    change(store, "UPDATE events SET event_key = ? WHERE event_key = ?", key(9), key(2))
    change(
        store,
        "INSERT INTO audit (audit_key, tenant, at_us, key_name, action, subject) VALUES (?, ?, 1, ?, ?, ?)",
        *(key(1), DEFAULT_TENANT_KEY, b"k", b"restore", b"4-8"),
    )
    assert [each["subject"] for each in found(store)["findings"]] == ["position 2"]


def test_a_last_event_of_no_session_leaves_no_trace_and_the_line_says_who_sees_it(tmp_path: Path) -> None:
    path = with_store(tmp_path / "store.db", four, lambda filling: filling.post({**PLAN, "runId": "another"}))
    lose(path, 5)
    assert found(path)["findings"] == []
    assert "what the store itself has lost: memory-graph store verify" in verified(path, Format.TABLE)[1]


def test_a_store_whose_audit_may_not_be_read_leaves_gaps_open() -> None:
    page = json.dumps({"events": [{"position": 1}, {"position": 4}], "next_cursor": "a"}, separators=(",", ":"))
    end = b'{"events":[],"next_cursor":"a"}'
    with Peer(answer(200, page.encode()), answer(200, end), answer(404), answer(403)) as peer:
        said = json.loads(verified(peer.url)[1])
    assert (said["findings"], said["unexplained_positions"]) == ([], 2)


def test_what_comes_while_it_looks_is_not_lost() -> None:
    row = {"session_id": "s", "created_at": "", "last_activity": "", "turn_count": 1, "version": 2}
    steps = [
        {"events": [{"position": 1}], "next_cursor": "a"},
        {"events": [], "next_cursor": "a"},
        {"sessions": [row], "next_cursor": None},
        {"events": [{"position": 2}], "next_cursor": "b"},
        {"events": [], "next_cursor": "b"},
    ]
    with Peer(*(answer(200, json.dumps(step, separators=(",", ":")).encode()) for step in steps)) as peer:
        said = json.loads(verified(peer.url)[1])
        assert [request.path for request in peer.received][3] == "/events/decisions?after=a&limit=50"
    assert (said["events"], said["findings"], said["unexplained_positions"]) == (2, [], 0)


def test_a_store_that_says_no_more_than_that_it_is_damaged_leaves_what_was_found() -> None:
    page = json.dumps({"events": [{"position": 1}], "next_cursor": "a"}, separators=(",", ":")).encode()
    damaged = b'{"error":"internal_error","message":"m","details":{"rule":"damaged_database"}}'
    with Peer(answer(200, page), answer(500, damaged)) as peer:
        code, out, err = verified(peer.url)
    said = json.loads(out)
    assert (code, said["complete"], said["findings"][0]["subject"]) == (ExitCode.DIFFERS, False, "the database")
    assert err == "memory-graph: the store cannot read what it keeps: not everything was looked at\n"


READERS: list[Callable[[], Any]] = [
    lambda: RetrieveCommand(100, "asc", session_id=session(3)),
    lambda: HistoryCommand(session(3), None, None, None, verbose=False),
]


@pytest.mark.parametrize("reader", READERS, ids=["retrieve", "history"])
def test_who_reads_a_damaged_event_is_told_which_and_not_that_the_store_is_away(
    reader: Callable[[], Any], store: Path
) -> None:
    flip(store, 3)
    code, out, err = ran(reader(), store, Format.JSON)
    error = json.loads(err)["error"]
    assert (code, out, error["error_code"]) == (ExitCode.STORE, "", "RUVECTOR_WRITE_ERROR")
    assert error["details"] == {"upstream_status": 500, "attempts": 1, "rule": "damaged_event", "position": 3}


def test_positions_that_do_not_grow_say_nothing() -> None:
    for positions in ((1, None), (2, 2), (3, 1), (0,)):
        seen = SeenPositions()
        for position in positions:
            seen.see(position)
        assert not seen.are_told
