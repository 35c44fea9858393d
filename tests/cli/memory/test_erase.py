"""``erase`` in this process, on an embedded store and on servers."""

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from werkzeug.serving import WSGIRequestHandler, make_server

from agent.bootstrap import new_id, utc_now
from agent.cli.exit_codes import ExitCode
from agent.cli.memory.taking_away.erase import EraseCommand
from agent.cli.output_format import Format
from store.engines.sqlite import SqliteStore
from store.http.access import Guard, Key
from store.http.quotas import Quotas
from store.server import create_app
from tests.cli.memory.taking_away import (
    GOLDEN,
    ROLES,
    SESSION,
    at_keyboard,
    capture,
    normalised,
    run,
    turns_of,
)

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication

RECEIPT = {
    "status": "erased",
    "kind": "user",
    "position": 2**70,
    "sessions": 1,
    "turns": 3,
    "events": 2,
    "at": "2026-03-02T08:15:00Z",
    "key_name": "acme-1\x1b[2J",
    "files": "pending",
}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


class Quiet(WSGIRequestHandler):
    def log(self, *args: Any) -> None:
        """Say nothing: the tests read results."""


@contextmanager
def answering(application: "WSGIApplication") -> Iterator[str]:
    """A server on loopback; gives its URL."""
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def with_receipt(environ: dict[str, Any], start_response: "StartResponse") -> Iterable[bytes]:
    """A store that answers whatever it is asked with the same receipt."""
    assert environ["REQUEST_METHOD"] == "DELETE"
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(RECEIPT).encode()]


def erase(
    *, session: str | None = None, turn: str | None = None, user: str | None = None, yes: bool = True
) -> EraseCommand:
    return EraseCommand(session, turn, user, yes=yes)


@pytest.mark.parametrize("output_format", list(Format))
def test_each_format_prints_what_its_golden_file_holds(output_format: Format, store: Path) -> None:
    capture(store, *ROLES)
    code, out, err = run(erase(session=SESSION), store, output_format)
    assert (code, err) == (ExitCode.OK, "")
    assert normalised(out) == (GOLDEN / f"erase.{output_format.value}.txt").read_text()


def test_what_a_session_said_is_gone_from_the_file_and_its_skeleton_stays(store: Path) -> None:
    capture(store, *ROLES, session="chat-7", content="SECRET-71b")
    document = json.loads(run(erase(session="chat-7"), store)[1])
    assert (document["kind"], document["turns"], document["files"]) == ("session", len(ROLES), "rewritten")
    assert b"SECRET-71b" not in store.read_bytes()
    assert {(turn.erased, turn.content) for turn in turns_of(store, document["session_id"])} == {(True, None)}


def test_a_turn_is_erased_and_its_neighbours_stay(store: Path) -> None:
    turns = capture(store, *ROLES)
    document = json.loads(run(erase(turn=turns[1].upper()), store)[1])
    assert (document["turn_id"], document["kind"], document["turns"]) == (turns[1], "turn", 1)
    assert [turn.erased for turn in turns_of(store)] == [False, True, False, False, False]


def test_what_came_from_a_user_is_erased(store: Path) -> None:
    capture(store, *ROLES)
    document = json.loads(run(erase(user="ann"), store)[1])
    assert (document["user_id"], document["kind"], document["turns"]) == ("ann", "user", len(ROLES))


def test_erasing_again_is_no_fault_and_the_receipt_says_that_nothing_was_left(store: Path) -> None:
    capture(store, *ROLES)
    run(erase(session=SESSION), store)
    code, out, _ = run(erase(session=SESSION), store)
    assert (code, json.loads(out)["turns"]) == (ExitCode.OK, 0)


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (erase(session="chat-8"), "there is no session chat-8 ("),
        (erase(session=SESSION), f"there is no session {SESSION} in this store\n"),
        (erase(turn=SESSION), f"there is no turn {SESSION} in this store\n"),
        (erase(user="Zoë"), "there is no user of this name in this store\n"),
        (erase(user=".."), "there is no user of this name in this store\n"),
    ],
)
def test_what_is_not_there_is_5_and_said_so(command: EraseCommand, line: str, store: Path) -> None:
    capture(store, *ROLES, session=str(uuid.uuid4()))
    code, out, err = run(command, store, Format.TABLE)
    assert (code, out) == (ExitCode.NOT_POSSIBLE, "")
    assert err.startswith(f"memory-graph: {line}")


def test_a_session_that_is_not_there_is_5_before_anything_is_asked(store: Path) -> None:
    capture(store, *ROLES)
    code, _, err = run(erase(session="chat-8", yes=False), store, Format.TABLE, at=at_keyboard(b"y\n"))
    assert (code, err.count("[y/N]")) == (ExitCode.NOT_POSSIBLE, 0)


def test_a_store_that_is_not_there_is_5_and_not_made(store: Path) -> None:
    assert run(erase(user="ann"), store)[0] == ExitCode.NOT_POSSIBLE
    assert not store.exists()


@pytest.mark.parametrize(
    "command", [erase(), erase(session="a", turn=SESSION), erase(session="a", turn=SESSION, user="b")]
)
def test_not_exactly_one_subject_is_2(command: EraseCommand, store: Path) -> None:
    code, out, err = run(command, store, Format.TABLE)
    assert (code, out) == (ExitCode.USAGE, "")
    assert err == "memory-graph: erase needs exactly one of --session-id, --turn-id and --user-id\n"


@pytest.mark.parametrize("command", [erase(session=""), erase(turn="m1"), erase(user="")])
def test_what_can_be_no_name_is_2(command: EraseCommand, store: Path) -> None:
    assert run(command, store)[0] == ExitCode.USAGE
    assert not store.exists()


@pytest.mark.parametrize(
    ("subject", "question"),
    [
        ({"session": SESSION}, f"erase 5 turns of session {SESSION}? [y/N] "),
        ({"turn": SESSION}, f"erase turn {SESSION} in every session that has it? [y/N] "),
        (
            {"user": "ann\x1b[2J"},
            "erase everything that came from user ann\\x1b[2J? How much it is cannot be counted before. [y/N] ",
        ),
    ],
)
def test_the_question_says_what_would_be_erased(subject: dict[str, str], question: str, store: Path) -> None:
    capture(store, *ROLES)
    code, out, err = run(erase(**subject, yes=False), store, at=at_keyboard(b"\n"))
    assert (code, out, err) == (ExitCode.USAGE, "", f"{question}memory-graph: nothing was done\n")
    assert not any(turn.erased for turn in turns_of(store))


def test_who_agrees_gets_the_receipt(store: Path) -> None:
    capture(store, *ROLES)
    code, out, _ = run(erase(user="ann", yes=False), store, Format.TABLE, at=at_keyboard(b"y\n"))
    assert (code, "user ann" in out) == (ExitCode.OK, True)


def test_without_a_terminal_and_without_yes_it_is_2(store: Path) -> None:
    code, out, err = run(erase(user="ann", yes=False), store, Format.TABLE)
    assert (code, out, err) == (2, "", "memory-graph: erase needs --yes: there is no terminal to ask at\n")


@pytest.mark.parametrize(("output_format", "read"), [(Format.JSON, json.loads), (Format.YAML, yaml.safe_load)])
def test_a_receipt_is_passed_on_whole_whatever_it_counts(
    output_format: Format, read: Callable[[str], Any], store: Path
) -> None:
    with answering(with_receipt) as url:
        code, out, err = run(erase(user="ann"), url, output_format)
    assert (code, read(out)) == (ExitCode.OK, {"user_id": "ann", **RECEIPT})
    assert err == (
        "memory-graph: the erased content may still lie in the database's files: whoever runs the store rewrites them "
        "with memory-graph store scrub\n"
    )
    assert not store.exists()


def test_a_receipt_for_people_cannot_act_on_their_terminal() -> None:
    with answering(with_receipt) as url:
        _, out, _ = run(erase(turn=SESSION), url, Format.TABLE)
    assert f"position  {2**70}\n" in out
    assert "by key    acme-1\\x1b[2J\n" in out
    assert "files     pending\n" in out


def test_a_key_that_may_not_erase_is_1_with_what_the_store_says(store: Path) -> None:
    capture(store, *ROLES)
    database = SqliteStore(store)
    guard = Guard(
        (Key.of("default", "a-secret-that-may-write", "write"),),
        quotas=Quotas(monotonic_ns=time.monotonic_ns, clock=utc_now),
    )
    application = create_app(database, clock=utc_now, new_id=new_id, guard=guard)
    at = at_keyboard(b"", RUVECTOR_API_KEY="a-secret-that-may-write")
    with answering(application) as url:
        code, out, err = run(erase(session=SESSION), url, Format.TABLE, at=at)
    database.close()
    assert (code, out) == (ExitCode.STORE, "")
    line = "the store says that the key may not do this (403): check RUVECTOR_API_KEY, it needs the role admin"
    assert err == f"memory-graph: {line}\n"
    assert not any(turn.erased for turn in turns_of(store))
