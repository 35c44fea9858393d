"""``sessions`` in this process: filters, words, limits, hostile writers, and stores that fail in the middle."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from rich.cells import cell_len

from agent.cli.exit_codes import ExitCode
from agent.cli.memory.sessions.sessions import SessionsCommand
from agent.cli.output_format import Format
from agent.core.ids import conversation_uuid, session_uuid
from tests.cli.memory.event_store import GOLDEN, Ended, ran, with_store
from tests.cli.memory.test_inspect import EVIL, assert_safe
from tests.cli.streams import PREFIX, Screen, run_process, terminal
from tests.ruvector.peer import Peer, answer
from tests.store.filled import MESSAGES, Filling, session
from tests.store.surface import payload, turn

READ = {Format.JSON: json.loads, Format.YAML: yaml.safe_load}
COMPOSED, DECOMPOSED = "Zo\u00eb", "Zoe\u0308"


def three_sessions(filling: Filling) -> None:
    """A chat with an id of its own, a greeting in a conversation of its own, and a session that was erased."""
    context = {"user_id": "anna", "agent_id": "shop", "tags": ["parcels"]}
    filling.capture({"session_id": "chat-7", "messages": MESSAGES, "context": context}, "openai-chat")
    hello = payload(turn(1, f"Hello,\nI am {COMPOSED}"), session=session(1))
    filling.capture(
        {**hello, "conversation_id": "talk", "capture_options": {"derive_ids": True}, "context": {"user_id": "bert"}}
    )
    filling.capture({"session_id": "chat-9", "messages": [{"role": "user", "content": "SECRET-71b"}]}, "openai-chat")
    filling.erase("session", session_uuid("chat-9"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_store(tmp_path_factory.mktemp("sessions") / "store.db", three_sessions)


def listed(
    store: Path | str,
    output_format: Format = Format.JSON,
    *,
    limit: int = 100,
    jsonl: bool = False,
    at: Any = None,
    **which: str | None,
) -> Ended:
    return ran(SessionsCommand(limit, **which), store, output_format, jsonl=jsonl, at=at)


def found(store: Path, **which: str | None) -> list[str]:
    code, out, err = listed(store, **which)
    assert (code, err) == (ExitCode.OK, "")
    return [each["session_id"] for each in json.loads(out)["sessions"]]


CHAT, HELLO, ERASED = session_uuid("chat-7"), session(1), session_uuid("chat-9")


@pytest.mark.parametrize("output_format", list(Format))
def test_each_format_prints_what_its_golden_file_holds(store: Path, output_format: Format) -> None:
    code, out, err = listed(store, output_format)
    assert (code, err) == (ExitCode.OK, "")
    assert out == (GOLDEN / f"sessions.{output_format.value}.txt").read_text()


def test_json_lines_print_what_their_golden_file_holds(store: Path) -> None:
    assert listed(store, jsonl=True)[1] == (GOLDEN / "sessions.jsonl.txt").read_text()


def test_every_session_is_there_as_the_store_gives_it_newest_activity_first(store: Path) -> None:
    rows: list[dict[str, Any]] = []
    with_store(store, lambda filling: rows.extend(filling.get("/v1/sessions")["sessions"]))
    assert [row["session_id"] for row in rows] == [ERASED, HELLO, CHAT]
    for output_format, read in READ.items():
        assert read(listed(store, output_format)[1]) == {"sessions": rows, "more": False, "complete": True}
    assert [json.loads(line) for line in listed(store, jsonl=True)[1].splitlines()] == rows


def test_sessions_are_found_by_what_is_known_of_them(store: Path) -> None:
    assert found(store, user_id="anna") == [CHAT]
    assert found(store, agent_id="shop") == [CHAT]
    assert found(store, tag="parcels") == [CHAT]
    assert found(store, conversation_id="talk") == found(store, conversation_id=conversation_uuid("talk")) == [HELLO]
    assert found(store, search="4471 parcel") == [CHAT]
    assert found(store, since="2026-03-02T08:17:00Z") == [ERASED, HELLO]
    assert found(store, until="2026-03-02T09:17:00+01:00") == [CHAT]
    assert found(store, since="2026-03-02", until="2026-03-03", user_id="bert") == [HELLO]
    assert found(store, user_id="anna", search="Hello") == []


def test_h16_words_are_found_in_both_unicode_forms(tmp_path: Path) -> None:
    def fill(filling: Filling) -> None:
        for number, name in enumerate((COMPOSED, DECOMPOSED), 1):
            filling.capture(payload(turn(1, f"I am {name}."), session=session(number)))

    store = with_store(tmp_path / "store.db", fill)
    for name in (COMPOSED, DECOMPOSED):
        rows = json.loads(listed(store, search=name)[1])["sessions"]
        # Each is shown as it was sent.
        said = [(row["session_id"], row["first_user_content"]) for row in rows]
        assert said == [(session(2), f"I am {DECOMPOSED}."), (session(1), f"I am {COMPOSED}.")]


def test_no_session_is_an_empty_list_and_said_to_people(store: Path) -> None:
    line = "memory-graph: no session found\n"
    code, out, err = listed(store, Format.TABLE, search="nothing")
    assert (code, len(out.splitlines()), err) == (ExitCode.OK, 1, line)
    assert listed(store, jsonl=True, user_id="nobody") == (ExitCode.OK, "", line)
    for output_format, read in READ.items():
        code, out, err = listed(store, output_format, tag="none")
        assert (code, read(out), err) == (ExitCode.OK, {"sessions": [], "more": False, "complete": True}, "")


def test_a_limit_that_cut_the_list_off_is_told(store: Path) -> None:
    line = "memory-graph: these are the newest 2 sessions; there are more (see --limit)\n"
    assert listed(store, Format.TABLE, limit=2)[2] == listed(store, jsonl=True, limit=2)[2] == line
    for output_format, read in READ.items():
        code, out, err = listed(store, output_format, limit=2)
        assert (code, err, read(out)["more"]) == (ExitCode.OK, "", True)
    assert listed(store, Format.TABLE, limit=3)[2] == ""


@pytest.mark.slow
def test_a_limit_beyond_a_page_is_paged_behind_the_scenes(tmp_path: Path) -> None:
    def fill(filling: Filling) -> None:
        for number in range(1, 1101):
            filling.append(payload(turn(1), session=session(number)), execution_ref=f"r-{number}")

    store = with_store(tmp_path / "store.db", fill)
    newest = [session(number) for number in range(1100, 0, -1)]
    for limit in (200, 201, 1050, 5000):
        document = json.loads(listed(store, limit=limit)[1])
        assert [each["session_id"] for each in document["sessions"]] == newest[:limit]
        assert document["more"] is (limit < 1100)


@pytest.mark.parametrize(
    ("which", "line"),
    [
        ({"since": "2026-03-03", "until": "2026-03-02"}, "--from: is after --to"),
        ({"conversation_id": ""}, "--conversation-id: must have 1 to 256 characters"),
        ({"user_id": ""}, "--user-id: is empty"),
        ({"agent_id": "\udcff"}, "--agent-id: is not text in this terminal's encoding"),
        ({"tag": ""}, "--tag: is empty"),
        ({"search": " \n"}, "--search: must have 1 to 500 characters, and not white space alone"),
        ({"search": "x" * 501}, "--search: must have 1 to 500 characters, and not white space alone"),
        ({"search": "\udcff"}, "--search: is not text in this terminal's encoding"),
    ],
)
def test_what_can_name_nothing_is_2_and_one_line(store: Path, which: dict[str, str], line: str) -> None:
    assert listed(store, Format.TABLE, **which) == (ExitCode.USAGE, "", f"memory-graph: {line}\n")


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    assert listed(tmp_path / "none.db")[0] == ExitCode.NOT_POSSIBLE
    assert list(tmp_path.iterdir()) == []


def row(number: int, **members: Any) -> dict[str, Any]:
    times = {"created_at": "2026-03-02T08:15:00Z", "last_activity": "2026-03-02T08:15:00Z"}
    return {"session_id": session(number), **times, "turn_count": number, "version": number, **members}


def page(*rows: dict[str, Any], **members: Any) -> Any:
    return answer(200, json.dumps({"sessions": rows, **members}).encode())


@pytest.mark.parametrize("output_format", list(READ))
def test_a_store_that_fails_in_the_middle_leaves_one_whole_document_and_1(output_format: Format) -> None:
    with Peer(page(row(1), row(2), next_cursor="a"), answer(500, b"SECRET-71b")) as peer:
        code, out, err = listed(peer.url, output_format, limit=1000)
    assert code == ExitCode.STORE
    assert READ[output_format](out) == {"sessions": [row(1), row(2)], "complete": False}
    assert READ[output_format](err)["error"]["error_code"] == "RUVECTOR_WRITE_ERROR"
    assert "SECRET-71b" not in out + err


def test_a_store_without_a_list_says_so() -> None:
    with Peer(answer(404)) as peer:
        line = "memory-graph: this store has no list of sessions\n"
        assert listed(peer.url, Format.TABLE) == (ExitCode.NOT_POSSIBLE, "", line)


def test_a_store_that_does_not_say_whether_more_follows_is_quoted_so() -> None:
    with Peer(page(row(1))) as peer:
        assert json.loads(listed(peer.url, limit=1)[1])["more"] is None
        assert "the store does not say whether there are more" in listed(peer.url, Format.TABLE, limit=1)[2]


def test_what_another_store_adds_or_counts_is_kept_with_every_digit() -> None:
    there = row(2**70, mood="\U0001f680", first_user_content=None, total_tokens=10**30)
    there["session_id"] = session(1)
    with Peer(page(there, next_cursor=None)) as peer:
        assert json.loads(listed(peer.url)[1])["sessions"] == [there]
        assert yaml.safe_load(listed(peer.url, Format.YAML)[1])["sessions"] == [there]


def test_names_and_words_of_other_writers_neither_move_the_cursor_nor_break_a_column() -> None:
    texts = (EVIL, "\u5b8c" * 5000, "e" + "\u0301" * 99, "x" * 10_000, "\u202e" * 50)
    rows = [row(1, native_session_id=text, first_user_content=text) for text in texts]
    rows.append({**row(1), "session_id": EVIL, "last_activity": EVIL, "first_user_content": ""})
    for encoding in ("utf-8", "cp1252"):
        at = terminal(stdout=Screen(encoding, tty=True), environ={"TERM": "xterm", "COLUMNS": "140", "LINES": "24"})
        with Peer(page(*rows, next_cursor=None)) as peer:
            code, out, _ = listed(peer.url, Format.TABLE, at=at)
        assert code == ExitCode.OK
        lines = out.splitlines()
        assert len(lines) == 7
        assert_safe(out)
        assert all(cell_len(line) <= 140 for line in lines)


@pytest.mark.slow
def test_every_option_reaches_the_query(tmp_path: Path) -> None:
    with Peer(page(next_cursor=None)) as peer:
        given = ("--user-id", "a b", "--agent-id", "c&d", "--tag", "t", "--conversation-id", "C", "--search", "x y")
        more = ("--from", "2026-03-02", "--to", "2026-03-03T00:00:00Z", "--limit", "7", "--jsonl", "--store", peer.url)
        done = run_process(tmp_path, *PREFIX, "sessions", *given, *more)
        query = parse_qs(urlsplit(peer.received[0].path).query)
    assert (done.code, done.out, done.err) == (0, b"", "memory-graph: no session found\n")
    assert query == {
        "user_id": ["a b"],
        "agent_id": ["c&d"],
        "tag": ["t"],
        "conversation_id": [conversation_uuid("C")],
        "q": ["x y"],
        "from": ["2026-03-02T00:00:00Z"],
        "to": ["2026-03-03T00:00:00Z"],
        "limit": ["7"],
    }


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["-1", "0", "abc"])
def test_h32_a_limit_that_is_none_is_2_and_one_line(tmp_path: Path, limit: str) -> None:
    done = run_process(tmp_path, *PREFIX, "sessions", "--limit", limit)
    assert (done.code, done.out, done.err.count("\n")) == (2, b"", 1)
    assert "--limit" in done.err
