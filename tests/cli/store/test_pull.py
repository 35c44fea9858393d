"""``store pull`` moves another store's events into ours, each as it came, and ends whatever the other store answers."""

import _thread
import json
from contextlib import closing

import pytest

from agent.cli.exit_codes import ExitCode
from agent.cli.memory.capturing.capture import CaptureCommand
from agent.cli.output_format import Format
from agent.cli.store.pull import PullCommand
from tests.cli.store.foreign import counting, feeding, page_bytes, repeating
from tests.cli.store.pulling import DIGITS, KEY, client_of, counts, note, pulled, stored
from tests.cli.streams import EXAMPLE, invocation, printed, terminal
from tests.live.host import Reply, stub_store
from tests.ruvector.peer import Exchange, Peer, answer, closed_port, reset, response_bytes


def test_a_stream_is_moved_page_by_page_in_its_order(tmp_path):
    events = [note(number) for number in range(5)]
    with Peer(feeding(counting(events))) as peer:
        code, out, err = pulled(peer.url, tmp_path / "s.db")
    assert (code, err) == (ExitCode.OK, "")
    assert json.loads(out) == {
        "dry_run": False,
        "complete": True,
        "read": 5,
        "new": 5,
        "duplicate": 0,
        "refused": 0,
        "refusals": [],
        "cursor": "5",
    }
    assert [json.loads(text)["runId"] for text in stored(tmp_path / "s.db")] == [f"r-{number}" for number in range(5)]
    assert [request.path for request in peer.received] == [
        "/events/decisions?limit=2",
        "/events/decisions?after=2&limit=2",
        "/events/decisions?after=4&limit=2",
        "/events/decisions?after=5&limit=2",
    ]
    assert {request.headers["authorization"] for request in peer.received} == {f"Bearer {KEY}"}


def test_again_stores_nothing_twice_and_a_cursor_goes_on_where_it_ended(tmp_path):
    events = [note(number) for number in range(3)]
    with Peer(feeding(counting(events))) as peer:
        assert counts(pulled(peer.url, tmp_path / "s.db")[1]) == (3, 3, 0, 0)
        assert counts(pulled(peer.url, tmp_path / "s.db")[1]) == (3, 0, 3, 0)
        events.append(note(3))
        code, out, _ = pulled(peer.url, tmp_path / "s.db", after="3")
    assert (code, counts(out), json.loads(out)["cursor"]) == (ExitCode.OK, (1, 1, 0, 0), "4")
    assert len(stored(tmp_path / "s.db")) == 4


def test_every_digit_and_every_unknown_member_arrives(tmp_path):
    raw = (
        b'{"type":"plan_approved","runId":"r","timestamp":"2026-03-02T08:15:00Z","position":77,'
        b'"elsewhere":{"big":12345678901234567890123,"e":1.50E+3},"payload":{"n":%b,"zero":-0.0,"s":"\\u0000"}}'
        % DIGITS
    )
    with Peer(feeding(counting([raw]))) as peer:
        code, _, _ = pulled(peer.url, tmp_path / "s.db")
    assert code == ExitCode.OK
    [text] = stored(tmp_path / "s.db")
    assert DIGITS in text
    assert b'"elsewhere":{"big":12345678901234567890123,"e":1.50E+3}' in text
    assert b'"s":"\\u0000"' in text
    # The position is the store's own.
    assert json.loads(text)["position"] == 1


def test_one_store_of_ours_is_moved_into_another_with_its_turns(tmp_path):

    for _ in range(2):
        at = terminal()
        assert (
            invocation(at, store=str(tmp_path / "old.db")).run(
                CaptureCommand(str(EXAMPLE), "native", None), interrupted=""
            )
            == 0
        )
    code, out, err = pulled(str(tmp_path / "old.db"), tmp_path / "new.db")
    assert (code, err, counts(out)) == (ExitCode.OK, "", (1, 1, 0, 0))
    session = json.loads(EXAMPLE.read_bytes())["session_id"]
    with closing(client_of(tmp_path / "old.db")) as old, closing(client_of(tmp_path / "new.db")) as new:
        assert [turn.content for turn in new.turns(session).turns] == [
            turn.content for turn in old.turns(session).turns
        ]
        assert new.reads.feed().events == old.reads.feed().events


def test_what_is_refused_is_told_and_passed_over(tmp_path):
    events = [
        note(0),
        note(0, payload={"n": "another"}),
        b'{"type":"note","runId":"no-timestamp","payload":{}}',
        b'{"type":"note","runId":"twice","timestamp":"2026-03-02T08:15:00Z","payload":{"a":1,"a":2}}',
        b'"SECRET-71b"',
        note(1),
    ]
    with Peer(feeding(counting(events))) as peer:
        code, out, err = pulled(peer.url, tmp_path / "s.db")
    assert (code, counts(out)) == (ExitCode.PARTLY, (6, 2, 0, 4))
    said = json.loads(out)
    assert said["complete"] is True
    assert [(each["execution_ref"], each["status"]) for each in said["refusals"]] == [
        ("r-0", 409),
        ("no-timestamp", 400),
        ("twice", 400),
        (None, 400),
    ]
    assert err.splitlines() == [
        "memory-graph: refused r-0: 409, its execution_ref is there with another body",
        "memory-graph: refused no-timestamp: 400, the store does not take it as an event",
        "memory-graph: refused twice: 400, the store does not take it as an event",
        "memory-graph: refused an event without one at position None: 400, the store does not take it as an event",
    ]
    assert "SECRET" not in out + err


@pytest.mark.parametrize("output_format", [Format.TABLE, Format.JSON])
def test_a_feed_that_repeats_is_left_and_told(tmp_path, output_format):
    with Peer(feeding(repeating([note(1), note(2)]))) as peer:
        code, out, err = pulled(peer.url, tmp_path / "s.db", output_format)
    assert code == ExitCode.PARTLY
    assert len(peer.received) == 2
    assert err == "memory-graph: the other store's pages do not advance: what is behind them was not read\n"
    if output_format is Format.JSON:
        assert (json.loads(out)["complete"], counts(out)) == (False, (2, 2, 0, 0))


def test_a_feed_without_cursors_is_taken_as_far_as_it_goes(tmp_path):
    with Peer(feeding(lambda _query: b'{"count":1,"events":[%b]}' % note(1))) as peer:
        assert pulled(peer.url, tmp_path / "s.db")[0] == ExitCode.OK
    with Peer(feeding(lambda _query: b'{"events":[%b,%b]}' % (note(1), note(2)))) as peer:
        code, out, _ = pulled(peer.url, tmp_path / "s.db")
    assert (code, counts(out)) == (ExitCode.PARTLY, (2, 1, 1, 0))


def test_a_dry_run_reads_and_counts_and_makes_no_store(tmp_path):
    with Peer(feeding(counting([note(1), note(2), note(3)]))) as peer:
        code, out, _ = pulled(peer.url, tmp_path / "s.db", dry_run=True)
        table = pulled(peer.url, tmp_path / "s.db", Format.TABLE, dry_run=True)[1]
    assert (code, counts(out)) == (ExitCode.OK, (3, 0, 0, 0))
    assert table.splitlines()[0].split(maxsplit=1) == ["read", "3, nothing was written"]
    assert list(tmp_path.iterdir()) == []


def test_only_the_types_that_are_asked_for_are_moved(tmp_path):
    events = [note(1), note(2, type="plan_approved"), note(3, type="x")]
    with Peer(feeding(counting(events))) as peer:
        code, out, _ = pulled(peer.url, tmp_path / "s.db", types="plan_approved,x")
    assert (code, counts(out)) == (ExitCode.OK, (2, 2, 0, 0))
    assert "types=plan_approved%2Cx" in peer.received[0].path


def test_a_source_that_fails_midway_leaves_the_counts_and_the_cursor_to_go_on_from(tmp_path):
    feed = counting([note(number) for number in range(6)])

    def breaking(exchange: Exchange) -> bool:
        if "after=4" in exchange.request.path:
            exchange.connection.sendall(response_bytes(401, b"{}"))
            return True
        return feeding(feed)(exchange)

    with Peer(breaking) as peer:
        code, out, err = pulled(peer.url, tmp_path / "s.db")
    assert (code, counts(out)) == (ExitCode.STORE, (4, 4, 0, 0))
    said = json.loads(out)
    assert (said["complete"], said["cursor"]) == (False, "4")
    error = json.loads(err)["error"]
    assert error["error_code"] == "RUVECTOR_WRITE_ERROR"
    assert error["message"] == "the store refuses the key (401): check PULL_API_KEY"


def test_reads_are_repeated_as_the_client_repeats_them(tmp_path):
    with Peer(reset(), answer(503, b"{}", Retry_After="0"), feeding(counting([note(1)]))) as peer:
        code, out, _ = pulled(peer.url, tmp_path / "s.db", environ={"RUVECTOR_DEADLINE_S": "20"})
    assert (code, counts(out)) == (ExitCode.OK, (1, 1, 0, 0))


def test_a_target_that_refuses_everything_ends_the_pull(tmp_path):
    with Peer(feeding(counting([note(1), note(2)]))) as peer, stub_store() as target:
        target.reply = lambda _count: Reply(403, b"{}")
        code, out, _ = pulled(peer.url, target.url)
        assert len(target.writes) == 1
        target.writes.clear()
    assert (code, counts(out)) == (ExitCode.STORE, (1, 0, 0, 0))


def test_an_event_goes_out_with_the_key_that_is_its_own(tmp_path):
    own = note(1, payload={"n": 1, "inputs_hash": "a" * 64})
    with Peer(feeding(counting([own, note(2)]))) as peer, stub_store() as target:
        assert pulled(peer.url, target.url)[0] == ExitCode.OK
        keys = [write.headers.get("Idempotency-Key") for write in target.writes]
        bodies = [write.body for write in target.writes]
        target.writes.clear()
    assert keys == ["a" * 64, None]
    assert bodies == [own, note(2)]


@pytest.mark.parametrize(
    ("source", "environ", "message"),
    [
        ("ftp://other", {}, "--from: must be an http:// or https:// address, or embedded:PATH"),
        ("https://other.example", {"PULL_API_KEY": ""}, "PULL_API_KEY: is missing: only an embedded or loopback store"),
        ("https://a:b@other.example", {}, "--from: must not hold a user or password: the key goes into PULL_API_KEY"),
        ("https://other.example?x=1", {}, "--from: must not hold a query or fragment"),
        ("", {}, "--from: embedded: needs a path"),
    ],
)
def test_a_source_that_cannot_be_is_refused_by_its_option(tmp_path, source, environ, message):
    code, out, err = pulled(source, tmp_path / "s.db", Format.TABLE, environ=environ)
    assert (code, out) == (ExitCode.USAGE, "")
    assert err.startswith(f"memory-graph: {message}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("source", ["none.db", "embedded:none.db"])
def test_a_file_that_is_not_there_is_no_source_and_none_is_made(tmp_path, source, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = pulled(source, tmp_path / "s.db", Format.TABLE)
    assert (code, out, err) == (ExitCode.STORE, "", "memory-graph: there is no store at none.db\n")
    assert list(tmp_path.iterdir()) == []


def test_a_source_that_is_down_is_1(tmp_path):
    code, out, _ = pulled(f"http://127.0.0.1:{closed_port()}", tmp_path / "s.db")
    assert (code, counts(out)) == (ExitCode.STORE, (0, 0, 0, 0))


def test_ctrl_c_leaves_the_counts_and_the_cursor(tmp_path):
    def interrupting(query: dict[str, str]) -> bytes:
        return page_bytes([note(int(query.get("after", "0")))], int(query.get("after", "0")) + 1)

    with Peer(feeding(interrupting)) as peer, stub_store() as target:
        at = terminal(environ={"RUVECTOR_DEADLINE_S": "5"})

        def reply(count: int) -> Reply:
            if count == 2:
                _thread.interrupt_main()
            return Reply()

        target.reply = reply
        command = PullCommand(peer.url, key_variable="NONE", types="", after=None, page=1, dry_run=False)
        code = invocation(at, Format.TABLE, store=target.url).run(command, interrupted=command.interrupted)
        target.writes.clear()
    out, err = printed(at)
    assert code == ExitCode.INTERRUPTED
    assert [line.split()[0] for line in out.splitlines()] == ["read", "new", "duplicate", "refused", "cursor"]
    assert err == f"memory-graph: {command.interrupted}\n"
