"""``replay``: one event or many rebuilt and compared, and appended again as they came, or not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.cli.exit_codes import ExitCode
from agent.cli.memory.checking.replay import ReplayCommand
from agent.cli.output_format import Format
from agent.core.ids import session_uuid
from tests.cli.memory.event_store import GOLDEN, Ended, envelopes, every_kind, ran, references, with_store
from tests.cli.memory.tampered import DAMAGE, changed_database, lying_store
from tests.cli.streams import run_process, terminal
from tests.ruvector.peer import Exchange, Peer, answer, response_bytes
from tests.store.filled import MESSAGES, Filling, session
from tests.store.surface import envelope, payload, turn

READ: dict[Format, Callable[[str], Any]] = {Format.JSON: json.loads, Format.YAML: yaml.safe_load}
KEPT = ("runId", "timestamp", "type", "source", "payload")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return with_store(tmp_path / "store.db", every_kind)


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Three events as a server gives them, the second with differences of every sort."""
    events = envelopes(with_store(tmp_path_factory.mktemp("damaged") / "store.db", every_kind))[:3]
    outputs = events[1]["payload"]["outputs"]
    edge = outputs["edges_created"][1]
    edge["from_node_id"], edge["to_node_id"] = edge["to_node_id"], edge["from_node_id"]
    outputs["nodes_created"].pop(2)
    outputs["turn_count"] = 9
    events[1]["payload"]["constraints_applied"] = []
    return events


def replayed(
    store: Path | str,
    execution_ref: str | None = None,
    output_format: Format = Format.JSON,
    *,
    dry_run: bool = False,
    into: Path | str | None = None,
    key: str | None = None,
    jsonl: bool = False,
    **filters: str | None,
) -> Ended:
    names = ("session_id", "conversation_id", "since", "until")
    given = {name: filters.get(name) for name in names}
    target = None if into is None else str(into)
    command = ReplayCommand(execution_ref, **given, dry_run=dry_run, into=target, key_variable="INTO_API_KEY")
    at = terminal(environ={"RUVECTOR_DEADLINE_S": "1"} | ({} if key is None else {"INTO_API_KEY": key}))
    return ran(command, store, output_format, jsonl=jsonl, at=at)


def kept(event: dict[str, Any]) -> dict[str, Any]:
    """What a copy keeps: all but the position."""
    return {name: event[name] for name in KEPT}


@pytest.mark.parametrize("output_format", list(Format))
def test_each_format_prints_what_its_golden_file_holds(
    store: Path, damaged: list[dict[str, Any]], output_format: Format
) -> None:
    suffix = f"{output_format.value}.txt"
    code, out, err = replayed(store, references(store)[0], output_format)
    assert (code, err, out) == (ExitCode.OK, "", (GOLDEN / f"replay.{suffix}").read_text())
    code, out, err = replayed(store, None, output_format, since="2026-03-02")
    assert (code, err, out) == (ExitCode.PARTLY, "", (GOLDEN / f"replay-many.{suffix}").read_text())
    with lying_store(damaged) as url:
        code, out, err = replayed(url, damaged[1]["runId"], output_format)
    assert (code, err, out) == (ExitCode.DIFFERS, "", (GOLDEN / f"replay-differs.{suffix}").read_text())


def test_json_lines_print_what_their_golden_file_holds(store: Path) -> None:
    assert replayed(store, jsonl=True, since="2026-03-02")[1] == (GOLDEN / "replay-many.jsonl.txt").read_text()


@pytest.mark.parametrize("output_format", READ)
def test_documents_say_the_same(store: Path, output_format: Format) -> None:
    _, out, _ = replayed(store, None, output_format, dry_run=True, since="2026-03-02")
    said = READ[output_format](out)
    assert (said["events"], said["complete"], "copies" in said) == (4, True, False)
    assert [each["verdict"] for each in said["replays"]] == ["identical", "identical", "not_possible", "not_possible"]
    assert [each.get("reason") for each in said["replays"]] == [None, None, "not_ours", "erased"]
    assert not any("appended" in each for each in said["replays"])


def test_an_event_appended_to_its_own_store_is_a_duplicate_and_adds_nothing(store: Path) -> None:
    before = envelopes(store)
    code, out, _ = replayed(store, references(store)[0])
    assert (code, json.loads(out)["appended"]) == (ExitCode.OK, {"status": "duplicate", "position": 1})
    assert envelopes(store) == before


def test_a_dry_run_appends_nothing_anywhere(store: Path, tmp_path: Path) -> None:
    code, out, _ = replayed(store, references(store)[0], dry_run=True, into=tmp_path / "other.db")
    assert (code, "appended" in json.loads(out)) == (ExitCode.OK, False)
    assert not (tmp_path / "other.db").exists()


def test_a_copy_keeps_all_of_the_event_and_comes_once(store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    reference = references(store)[1]
    codes, said = zip(*(replayed(store, reference, into=other)[:2] for _ in range(2)), strict=True)
    assert codes == (ExitCode.OK, ExitCode.OK)
    assert [json.loads(each)["appended"]["status"] for each in said] == ["new", "duplicate"]
    (copy,) = envelopes(other)
    assert kept(copy) == kept(envelopes(store)[1])
    table = replayed(store, reference, Format.TABLE, into=f"embedded:{other}")[1]
    assert "appended       duplicate: the other store had it, and nothing was added" in table


def test_many_are_copied_but_for_those_that_cannot_be_rebuilt(store: Path, tmp_path: Path) -> None:
    code, out, _ = replayed(store, into=tmp_path / "other.db", since="2026-03-02")
    assert (code, json.loads(out)["copies"]) == (ExitCode.PARTLY, {"new": 2, "not_made": 2})
    assert [kept(each) for each in envelopes(tmp_path / "other.db")] == [kept(each) for each in envelopes(store)[:2]]


def test_the_key_of_the_other_store_stands_in_a_variable_of_its_own(store: Path) -> None:
    def step(exchange: Exchange) -> bool:
        is_known = exchange.request.headers.get("authorization") == "Bearer other-key"
        body = b'{"status":"accepted","eventId":"e-1"}' if is_known else b"{}"
        exchange.connection.sendall(response_bytes(201 if is_known else 401, body))
        return True

    reference = references(store)[0]
    with Peer(step) as peer:
        code, out, _ = replayed(store, reference, into=peer.url, key="other-key")
        assert (code, json.loads(out)["appended"]) == (ExitCode.OK, {"status": "new"})
        code, out, err = replayed(store, reference, into=peer.url, key="another")
    with Peer(answer(403)) as other:
        message = json.loads(replayed(store, reference, into=other.url, key="reads")[2])["error"]["message"]
    assert message.endswith("(403): check INTO_API_KEY, it needs the role write")
    assert (code, out) == (ExitCode.STORE, "")
    assert json.loads(err)["error"]["message"] == "the store refuses the key (401): check INTO_API_KEY"
    sent = peer.received[0]
    assert sent.headers["idempotency-key"] == envelopes(store)[0]["payload"]["inputs_hash"]


def test_a_copy_that_the_other_store_refuses_is_told(store: Path) -> None:
    def step(exchange: Exchange) -> bool:
        exchange.connection.sendall(response_bytes(409, b"{}"))
        return True

    with Peer(step) as peer:
        code, out, _ = replayed(store, references(store)[0], into=peer.url)
        assert (code, json.loads(out)["appended"]) == (ExitCode.PARTLY, {"status": "refused", "upstream_status": 409})
        table = replayed(store, references(store)[0], Format.TABLE, into=peer.url)[1]
        many = replayed(store, into=peer.url, session_id="chat-7")
    assert "appended       no: refused with 409, its execution_ref is there with another body" in table
    assert (many[0], json.loads(many[1])["copies"]) == (ExitCode.PARTLY, {"refused": 1})


@pytest.mark.parametrize(
    ("into", "problem"),
    [
        ("", "--into: embedded: needs a path"),
        ("ftp://other", "--into: must be an http:// or https:// address"),
        ("https://other.example", "INTO_API_KEY: is missing"),
        ("https://a:b@other.example", "--into: must not hold a user or password: the key goes into INTO_API_KEY"),
    ],
)
@pytest.mark.parametrize("dry_run", [True, False])
def test_a_store_that_can_be_none_is_refused_before_anything_is_read(
    store: Path, into: str, problem: str, dry_run: bool
) -> None:
    code, out, err = replayed(store, "r", Format.TABLE, into=into, dry_run=dry_run)
    assert (code, out) == (ExitCode.USAGE, "")
    assert err.startswith(f"memory-graph: {problem}")


def test_a_path_that_can_hold_no_store_takes_no_copies(store: Path, tmp_path: Path) -> None:
    code, _, err = replayed(store, references(store)[0], Format.TABLE, into=tmp_path)
    assert (code, err.endswith("cannot be opened: Is a directory\n")) == (ExitCode.STORE, True)


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_in_a_database_is_found_and_not_copied(case: str, tmp_path: Path) -> None:
    change, path = DAMAGE[case]
    with changed_database(tmp_path) as (file, database):
        position, name = database.event(201)
        database.rewrite(position, lambda document: change(document["payload"]))
        reference = name.partition("(")[2].rstrip(")")
        code, out, _ = replayed(file, reference, into=tmp_path / "other.db")
        many = replayed(file, session_id=session(201), into=tmp_path / "other.db")
    said = json.loads(out)
    assert (code, said["verdict"], said["differences"][0]["path"]) == (ExitCode.DIFFERS, "differs", path)
    assert said["appended"] == {"status": "not_made"}
    assert (many[0], json.loads(many[1])["copies"]) == (ExitCode.DIFFERS, {"not_made": 1})
    assert not (tmp_path / "other.db").exists() or envelopes(tmp_path / "other.db") == []


def test_content_that_was_changed_is_found_and_shown_by_nothing_but_hashes(tmp_path: Path) -> None:
    with changed_database(tmp_path) as (file, database):
        position, name = database.event(200)
        database.retell(position, b"Hello", b"Hellp")
        code, out, err = replayed(file, name.partition("(")[2].rstrip(")"), Format.TABLE, dry_run=True)
    assert code == ExitCode.DIFFERS
    assert "$.stored_inputs_hash  is another: stored " in out
    assert "Hell" not in out + err


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_that_a_server_gives_back_is_found(case: str, tmp_path: Path) -> None:
    change, path = DAMAGE[case]
    sent = payload(turn(1, "What?"), turn(2, "That."), session=session(1))
    events = envelopes(with_store(tmp_path / "store.db", lambda filling: filling.capture(sent)))
    change(events[0]["payload"])
    with lying_store(events) as url:
        code, out, _ = replayed(url, events[0]["runId"], dry_run=True)
        many = replayed(url, dry_run=True, since="2026-01-01")
    assert (code, json.loads(out)["differences"][0]["path"]) == (ExitCode.DIFFERS, path)
    assert many[0] == ExitCode.DIFFERS


def test_an_event_that_is_not_json_by_the_contract_differs(damaged: list[dict[str, Any]]) -> None:
    event = {**damaged[0], "extra": float("nan")}
    with lying_store([event]) as url:
        code, out, _ = replayed(url, event["runId"])
    assert (code, json.loads(out)["differences"]) == (
        ExitCode.DIFFERS,
        [{"path": "$", "kind": "shape", "stored": None, "rebuilt": None}],
    )


def test_an_event_that_is_damaged_all_over_is_shown_by_the_first_hundred(damaged: list[dict[str, Any]]) -> None:
    event = json.loads(json.dumps(damaged[0]))
    event["payload"]["outputs"]["nodes_created"] = [{"node_id": str(number)} for number in range(150)]
    with lying_store([event]) as url:
        _, out, _ = replayed(url, event["runId"])
        _, table, _ = replayed(url, event["runId"], Format.TABLE)
    said = json.loads(out)
    assert (len(said["differences"]), said["difference_count"] > 150) == (100, True)
    assert f"and {said['difference_count'] - 100} more" in table


def test_what_cannot_be_rebuilt_says_why_and_is_5(store: Path) -> None:
    planned, erased = references(store)[2:]
    for reference, reason in ((erased, "its content is erased"), (planned, "it is of another agent")):
        code, out, _ = replayed(store, reference, Format.TABLE)
        assert code == ExitCode.NOT_POSSIBLE
        assert f"not possible: {reason}" in out
        assert "appended       no: it cannot be rebuilt" in out
    assert replayed(store, session_id="chat-9")[0] == ExitCode.NOT_POSSIBLE


def test_a_conversation_names_events_by_its_own_id_too(tmp_path: Path) -> None:
    sent = {**payload(turn(1), session=session(1)), "conversation_id": "talk", "capture_options": {"derive_ids": True}}
    store = with_store(tmp_path / "store.db", lambda filling: filling.capture(sent))
    code, out, _ = replayed(store, dry_run=True, conversation_id="talk")
    assert (code, json.loads(out)["events"]) == (ExitCode.OK, 1)


def test_a_failure_that_concerns_more_than_one_event_ends_the_copying(store: Path) -> None:
    def step(exchange: Exchange) -> bool:
        exchange.connection.sendall(response_bytes(500, b"{}"))
        return True

    with Peer(step) as peer:
        code, out, err = replayed(store, references(store)[0], into=peer.url)
    assert (code, out) == (ExitCode.STORE, "")
    assert "the store answered 500" in json.loads(err)["error"]["message"]


def test_an_event_without_inputs_says_so(tmp_path: Path) -> None:
    sent = envelope(payload(turn(1)), inputs=None)
    store = with_store(tmp_path / "store.db", lambda filling: filling.post(sent))
    code, out, _ = replayed(store, sent["runId"])
    assert (code, json.loads(out)["reason"]) == (ExitCode.NOT_POSSIBLE, "no_inputs")


def test_of_many_all_identical_is_0(tmp_path: Path) -> None:
    def fill(filling: Filling) -> None:
        for count in range(1, 7):
            filling.capture({"session_id": "chat-1", "messages": MESSAGES[:count]}, "openai-chat")

    store = with_store(tmp_path / "store.db", fill)
    code, out, _ = replayed(store, session_id="chat-1")
    assert (code, json.loads(out)["copies"]) == (ExitCode.OK, {"duplicate": 6})


@pytest.mark.parametrize(
    ("arguments", "end"),
    [
        ({}, "; every event is what verify looks at, and --into copies\n"),
        ({"execution_ref": "r", "since": "2026-03-02"}, ", not both\n"),
        ({"execution_ref": "r", "since": "2026-03-02", "into": "other.db"}, ", not both\n"),
    ],
)
def test_exactly_one_of_reference_and_filters_is_needed(store: Path, arguments: dict[str, str], end: str) -> None:
    code, out, err = replayed(store, output_format=Format.TABLE, **arguments)  # type: ignore[arg-type]  # names of options
    assert (code, out) == (ExitCode.USAGE, "")
    assert err.startswith("memory-graph: replay needs either an execution ref or filters")
    assert err.endswith(end)


def test_into_another_store_every_event_is_copied_that_can_be_rebuilt(store: Path, tmp_path: Path) -> None:
    code, out, _ = replayed(store, into=tmp_path / "other.db")
    assert (code, json.loads(out)["copies"]) == (ExitCode.PARTLY, {"new": 2, "not_made": 2})
    assert [kept(each) for each in envelopes(tmp_path / "other.db")] == [kept(each) for each in envelopes(store)[:2]]
    code, out, _ = replayed(tmp_path / "other.db", into=tmp_path / "third.db", dry_run=True)
    assert (code, json.loads(out)["events"]) == (ExitCode.OK, 2)
    assert not (tmp_path / "third.db").exists()


def test_a_store_without_events_has_none_to_copy(tmp_path: Path) -> None:
    empty = with_store(tmp_path / "store.db", lambda filling: filling.get("/v1/stats"))
    line = "memory-graph: there is no event in this store\n"
    assert replayed(empty, None, Format.TABLE, into=tmp_path / "other.db") == (ExitCode.NOT_POSSIBLE, "", line)


def test_what_is_not_there_is_named(store: Path) -> None:
    code, out, err = replayed(store, "nothing \x1b[2J", Format.TABLE)
    assert (code, out) == (ExitCode.NOT_POSSIBLE, "")
    assert err == "memory-graph: there is no event nothing \\x1b[2J in this store; retrieve lists every event\n"
    for ref in ("x" * 6000, "\udcff", "", ".", ".."):
        code, out, err = replayed(store, ref, Format.TABLE)
        assert (code, out) == (ExitCode.NOT_POSSIBLE, "")
        assert err == "memory-graph: no address can hold this execution ref; retrieve lists every event\n"
    code, out, err = replayed(store, None, Format.TABLE, session_id="nobody")
    assert (code, out) == (ExitCode.NOT_POSSIBLE, "")
    assert err == f"memory-graph: there is no event of session nobody ({session_uuid('nobody')}) in this store\n"
    code, _, err = replayed(store, None, Format.TABLE, session_id="chat-7", conversation_id="none", since="2027-01-01")
    session, conversation = (f"of {kind}" for kind in ("session chat-7", "conversation none"))
    assert code == ExitCode.NOT_POSSIBLE
    assert err.startswith(f"memory-graph: there is no event {session} (")
    assert f") {conversation} (" in err
    assert err.endswith(") in this range\n")


def test_a_store_that_is_not_there_is_told_and_none_is_made(tmp_path: Path) -> None:
    code, _, err = replayed(tmp_path / "none.db", "r", Format.TABLE)
    assert (code, "there is no store at" in err) == (ExitCode.NOT_POSSIBLE, True)
    assert list(tmp_path.iterdir()) == []


def test_an_event_that_names_itself_by_nothing_is_shown_all_the_same() -> None:
    event = {"runId": "", "type": "x", "payload": {}}

    def step(exchange: Exchange) -> bool:
        body = b'{"events":[%b],"next_cursor":null}' % json.dumps(event).encode()
        is_list = "?" in exchange.request.path
        exchange.connection.sendall(response_bytes(200, body if is_list else json.dumps(event).encode()))
        return True

    with Peer(step) as peer:
        assert replayed(peer.url, "r", Format.TABLE)[1].startswith("execution ref  (none)\nverdict")
        row = replayed(peer.url, None, Format.TABLE, dry_run=True, since="2026-03-02")[1].splitlines()[1]
    assert row.split()[:3] == ["-", "-", "-"]


def test_it_runs_from_the_command_line(store: Path, tmp_path: Path) -> None:
    command = ("agent", "conversation-memory", "replay", "--store", str(store), "--format", "json")
    done = run_process(tmp_path, *command, references(store)[0], "--dry-run")
    assert (done.code, done.err, json.loads(done.out)["verdict"]) == (0, "", "identical")
    done = run_process(tmp_path, *command, "--session-id", "chat-7", "--into", "other.db", "--jsonl")
    assert (done.code, json.loads(done.out)["appended"]["status"]) == (0, "new")
