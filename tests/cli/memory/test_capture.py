"""``capture`` in this process, on an embedded store of its own."""

import gzip
import io
import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.bootstrap import capture_app, store_client
from agent.cli.exit_codes import ExitCode
from agent.cli.memory.capturing.capture import CaptureCommand
from agent.cli.output_format import Format
from agent.config import Settings
from agent.core.ids import conversation_uuid, session_uuid
from tests.cli.streams import BOOKING, EXAMPLE, Screen, invocation, printed, terminal
from tests.live.host import Reply, stub_store
from tests.strategies import fresh_payload

GOLDEN = Path(__file__).parent / "golden"
_UNSTABLE = (
    (re.compile(r"(execution[ _]ref\W+)[0-9a-f-]{36}"), r"\1<execution ref>"),
    (re.compile(r"(event[ _]id\W+)[0-9a-f-]{36}"), r"\1<event id>"),
    (re.compile(r'(captured at +|timestamp"?: ?")[0-9T:.-]+Z'), r"\1<time>"),
    (re.compile(r'((?:duration_ms|memory_bytes|ruvector_latency_ms)"?: ?)\d+'), r"\1<measured>"),
    (re.compile(r'(release"?: ?)"[^"]+"'), r"\1<release>"),
)


def normalised(text: str) -> str:
    for pattern, replacement in _UNSTABLE:
        text = pattern.sub(replacement, text)
    return text


def captured(
    source: Path | str,
    store: Path,
    output_format: Format = Format.TABLE,
    *,
    form: str = "native",
    key: str | None = None,
    stdin: bytes = b"",
    stdout: Screen | None = None,
) -> tuple[ExitCode, str, str]:
    """Capture and return the exit code, the results, and all else that was printed."""
    at = terminal(stdin=stdin, stdout=stdout)
    command = CaptureCommand(str(source), form, key)
    code = invocation(at, output_format, store=str(store)).run(command, interrupted=command.interrupted)
    return code, *printed(at)


@pytest.mark.parametrize(
    ("source", "form", "output_format"),
    [*((EXAMPLE, "native", each) for each in Format), (BOOKING, "openai-chat", Format.TABLE)],
)
def test_each_format_prints_what_its_golden_file_holds(
    source: Path, form: str, output_format: Format, tmp_path: Path
) -> None:
    code, out, err = captured(source, tmp_path / "store.db", output_format, form=form)
    assert (code, err) == (ExitCode.OK, "")
    assert normalised(out) == (GOLDEN / f"capture-{form}.{output_format.value}.txt").read_text()


def test_a_duplicate_says_that_nothing_was_added(tmp_path: Path) -> None:
    captured(EXAMPLE, tmp_path / "store.db")
    code, out, _ = captured(EXAMPLE, tmp_path / "store.db")
    assert code == ExitCode.OK
    assert out.startswith("captured       duplicate: nothing was added")
    assert "turns          5 (0 new, 5 known)" in out


def over_http(body: bytes, store: Path) -> bytes:
    environ = {"RUVECTOR_SERVICE_URL": f"embedded:{store}"}
    request = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
    }
    with closing(store_client(Settings.from_env(environ))) as client:
        answer = capture_app(environ, lambda: client).handle(request)
        return b"".join(answer.response)  # type: ignore[arg-type]  # the application's answers are bytes


def test_json_is_byte_for_byte_what_http_answers(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    captured(EXAMPLE, store)
    _, out, _ = captured(EXAMPLE, store, Format.JSON)
    # A duplicate's answer holds nothing of the run that asks.
    assert out.encode() == over_http(EXAMPLE.read_bytes(), store) + b"\n"


def test_yaml_says_what_json_says(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    captured(EXAMPLE, store)
    _, as_json, _ = captured(EXAMPLE, store, Format.JSON)
    _, as_yaml, _ = captured(EXAMPLE, store, Format.YAML)
    assert yaml.safe_load(as_yaml) == json.loads(as_json)


def test_standard_input_gzip_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    store, body = tmp_path / "store.db", EXAMPLE.read_bytes()
    receipts = []
    for stdin in (
        body,
        gzip.compress(body),
        b"\xef\xbb\xbf" + body,
        json.dumps({"payload": json.loads(body)}).encode(),
    ):
        code, out, _ = captured("-", store, Format.JSON, stdin=stdin)
        assert code == ExitCode.OK
        receipts.append(json.loads(out)["receipt"])
    assert [receipt["duplicate"] for receipt in receipts] == [False, True, True, True]


def test_a_wrapped_payload_with_derived_ids_is_drawn_from_its_own_turns(tmp_path: Path) -> None:
    turns = [
        {"turn_id": "m1", "role": "user", "content": "hello there", "timestamp": "2026-03-02T08:15:00Z"},
        {
            "turn_id": "m2",
            "role": "assistant",
            "content": "",
            "timestamp": "2026-03-02T08:15:01Z",
            "tool_invocations": [{"tool_name": "look", "invocation_id": "call_1"}],
        },
    ]
    payload = {"session_id": "s", "conversation_id": "c", "capture_options": {"derive_ids": True}, "turns": turns}
    code, out, _ = captured("-", tmp_path / "store.db", stdin=json.dumps({"payload": payload}).encode())
    assert code == ExitCode.OK
    assert "[0] user      hello there" in out
    assert "calls look()  (no result)" in out


def test_warnings_are_listed_and_keys_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    payload = {**fresh_payload(), "tunrs": 1, "\x1b[2J": 2}
    _, out, _ = captured("-", tmp_path / "store.db", stdin=json.dumps(payload).encode())
    assert "warnings       $.tunrs  unknown_field\n" in out
    assert "unknown_field" in out.splitlines()[out.splitlines().index("warnings       $.tunrs  unknown_field") + 1]
    assert "\x1b" not in out


def test_a_revised_turn_is_counted(tmp_path: Path) -> None:
    payload = fresh_payload()
    captured("-", tmp_path / "store.db", stdin=json.dumps(payload).encode())
    payload["turns"][1]["content"] = "another answer"
    _, out, _ = captured("-", tmp_path / "store.db", stdin=json.dumps(payload).encode())
    assert "2 (0 new, 1 known, 1 revised)" in out


def test_a_store_that_says_less_is_shown_as_far_as_it_says() -> None:
    with stub_store() as store:
        at = terminal(stdin=json.dumps(fresh_payload()).encode())
        command = CaptureCommand("-", "native", None)
        run = invocation(at, store=store.url)
        code = run.run(command, interrupted="")
        assert [write.envelope["runId"] for write in store.writes] == [run.execution_ref]
    out, _ = printed(at)
    assert code == ExitCode.OK
    assert "event id       e-1\n" in out
    assert "position" not in out
    assert re.search(r"^turns +2$", out, re.MULTILINE)


def test_a_store_that_says_nothing_and_a_capture_without_constraints_show_no_empty_lines() -> None:
    with stub_store() as store:
        store.reply = lambda _count: Reply(201, b"{}")
        payload = {**fresh_payload(), "capture_options": {"create_lineage": False}}
        at = terminal(stdin=json.dumps(payload).encode())
        assert invocation(at, store=store.url).run(CaptureCommand("-", "native", None), interrupted="") == ExitCode.OK
    names = [line[:13].strip() for line in printed(at)[0].partition("\n\n")[0].splitlines()]
    facts = ["captured", "execution ref", "session", "conversation", "inputs hash", "captured at", "turns", "graph"]
    assert names == facts


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "erased         1 turn was erased before: its content is not stored again\n"),
        (2, "erased         2 turns were erased before: their content is not stored again\n"),
    ],
)
def test_turns_that_were_erased_are_counted_and_it_is_said_what_became_of_them(count: int, said: str) -> None:
    counts = {"new": 2 - count, "known": 0, "revised": 0, "erased": count}
    acknowledged = {"status": "accepted", "eventId": "e", "turns": counts}
    with stub_store() as store:
        store.reply = lambda _count: Reply(201, json.dumps(acknowledged).encode())
        at = terminal(stdin=json.dumps(fresh_payload()).encode())
        invocation(at, store=store.url).run(CaptureCommand("-", "native", None), interrupted="")
    out = printed(at)[0]
    assert f"turns          2 ({2 - count} new, 0 known, {count} erased)\n{said}" in out


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "1 turn is stored with more than this mode keeps, and stays so: erase it to take that away\n"),
        (2, "2 turns are stored with more than this mode keeps, and stay so: erase them to take that away\n"),
    ],
)
def test_turns_that_stay_in_a_fuller_body_are_counted_and_it_is_said_what_takes_it_away(count: int, said: str) -> None:
    counts = {"new": 2 - count, "known": count, "revised": 0, "erased": 0}
    acknowledged = {"status": "accepted", "eventId": "e", "turns": counts, "kept_fuller": count}
    with stub_store() as store:
        store.reply = lambda _count: Reply(201, json.dumps(acknowledged).encode())
        at = terminal(stdin=json.dumps(fresh_payload()).encode())
        invocation(at, store=store.url).run(CaptureCommand("-", "native", None), interrupted="")
    out = printed(at)[0]
    assert f"turns          2 ({2 - count} new, {count} known)\nkept fuller    {said}" in out
    assert "warnings       $.turns  fuller_body_kept\n" in out


def test_a_session_is_shown_with_the_id_that_it_was_captured_by(tmp_path: Path) -> None:
    names = {"session_id": "chat-7", "conversation_id": "Zo\u00eb\x1b[2J"}
    payload = {**fresh_payload(), **names, "capture_options": {"derive_ids": True}}
    _, out, _ = captured("-", tmp_path / "store.db", stdin=json.dumps(payload).encode())
    assert f"session        {session_uuid('chat-7')} (chat-7)\n" in out
    assert f"conversation   {conversation_uuid(names['conversation_id'])} (Zo\u00eb\\x1b[2J)\n" in out
    chat = {"session_id": "chat-8", "messages": [{"role": "user", "content": "hello"}]}
    _, out, _ = captured("-", tmp_path / "store.db", form="openai-chat", stdin=json.dumps(chat).encode())
    assert f"session        {session_uuid('chat-8')} (chat-8)\n" in out


def test_a_key_that_was_used_for_another_payload_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    first, second = (json.dumps(fresh_payload()).encode() for _ in range(2))
    assert captured("-", store, key="k-1", stdin=first)[0] == ExitCode.OK
    code, out, err = captured("-", store, key="k-1", stdin=second)
    assert (code, out) == (ExitCode.USAGE, "")
    assert err == "memory-graph: the Idempotency-Key was used before with another payload\n"


@pytest.mark.parametrize("key", ["", "a b", "é", "x" * 256, "a\n"])
def test_a_key_that_no_header_carries_is_refused_before_anything_is_written(key: str, tmp_path: Path) -> None:
    code, _, err = captured(EXAMPLE, tmp_path / "store.db", key=key)
    assert code == ExitCode.USAGE
    assert err.startswith("memory-graph: the Idempotency-Key must be")
    assert not (tmp_path / "store.db").exists()


def test_the_store_is_closed_so_that_one_file_is_left(tmp_path: Path) -> None:
    captured(EXAMPLE, tmp_path / "store.db")
    assert [file.name for file in tmp_path.iterdir()] == ["store.db"]


def test_hostile_content_neither_moves_the_cursor_nor_breaks_a_line(tmp_path: Path) -> None:
    payload: dict[str, Any] = fresh_payload(2, content="\x1b[2J\b\b\r\n\u202egone\x9b2J\x07")
    _, out, _ = captured("-", tmp_path / "store.db", stdin=json.dumps(payload).encode(), stdout=Screen(tty=True))
    shown = re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert not set(shown) & set("\x1b\b\r\u202e\x9b\x07")
    assert "\\x1b[2J\\x08\\x08 \\u202egone\\x9b2J\\x07" in shown
